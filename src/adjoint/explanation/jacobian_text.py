"""A few words on a Jacobian: its shape, its structure, its norm, its largest entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.explanation.value_text import KEPT, SHOWN, Snapshot, is_finite, text_of

LARGEST = 2
"""How many of the largest entries are written out."""


def jacobian_snapshot(jacobian: Any, rows: int) -> Snapshot:
    """Return the snapshot of a Jacobian, the axes of the result first, which has `rows` numbers.

    Examples
    --------
    >>> print(jacobian_snapshot(np.diag([2.0, 3.0, -4.0]), 3))
    (3, 3), diagonal, norm 5.39, [2, 2] = -4, [1, 1] = 3
    >>> print(jacobian_snapshot(np.eye(4), 4))
    (4, 4), identity
    """
    kept = jacobian if jacobian.size <= KEPT else None
    if jacobian.size <= SHOWN:
        return Snapshot(text_of(jacobian), kept, is_finite(jacobian))
    parts = [str(jacobian.shape)]
    if not is_finite(jacobian):
        parts.append(f"{int(np.sum(~np.isfinite(jacobian)))} entries not finite")
        return Snapshot(", ".join(parts), kept, False)
    structure = _structure(jacobian.reshape(rows, -1))
    parts += [structure] if structure else []
    if structure not in ("identity", "selection", "zero"):
        parts.append(f"norm {np.linalg.norm(jacobian):.3g}")
        places = _largest(jacobian)[: LARGEST if jacobian.ndim == 2 else 1]
        parts += [f"[{_index(place)}] = {jacobian[place]:.3g}" for place in places]
    return Snapshot(", ".join(parts), kept, True)


def product_snapshot(shape: tuple[int | str, ...], product: Snapshot) -> Snapshot:
    """Return the snapshot of a Jacobian that is too large, by what it makes of the cotangent.

    Examples
    --------
    >>> print(product_snapshot((100, 50), Snapshot("[1, 2]", None, True)))
    J (100, 50), cotangent · J = [1, 2]
    """
    return Snapshot(
        f"J ({', '.join(map(str, shape))}), cotangent · J = {product.text}", None, product.is_finite
    )


def _structure(matrix: Any) -> str:
    """Return what the places of the zeros say; empty for a matrix without many. A selection has a
    one in each row, as that of a permutation or a slice."""
    if not matrix.any():
        return "zero"
    if matrix.shape[0] == matrix.shape[1]:
        off = matrix - np.diag(np.diag(matrix))
        if not off.any():
            return "identity" if np.all(np.diag(matrix) == 1) else "diagonal"
        if not np.triu(matrix, 1).any():
            return "lower triangular"
        if not np.tril(matrix, -1).any():
            return "upper triangular"
    count = int(np.count_nonzero(matrix))
    if count == len(matrix) and np.all(np.count_nonzero(matrix == 1, 1) == 1):
        return "selection"
    return f"{count} of {matrix.size} not zero" if 2 * count <= matrix.size else ""


def _largest(jacobian: Any) -> list[tuple[int, ...]]:
    order = np.argsort(-np.abs(jacobian), axis=None, kind="stable")[:LARGEST]
    places = [np.unravel_index(int(i), jacobian.shape) for i in order]
    return [tuple(map(int, place)) for place in places if jacobian[place] != 0]


def _index(place: tuple[int, ...]) -> str:
    return ", ".join(map(str, place))
