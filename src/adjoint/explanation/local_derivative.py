"""The derivative of one operation in its operands, by its own pullback at unit cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.explanation.jacobian_text import jacobian_snapshot, product_snapshot
from adjoint.explanation.value_text import Snapshot, snapshot
from adjoint.explanation.watch import Node, Probe
from adjoint.levels.sweep import Sweep

ROWS, ENTRIES = 40, 2500
"""The largest result, and the largest Jacobian, of which all rows are asked for."""


def local_derivatives(
    form: str, operands: tuple[Any, ...], y: Any, node: Node, sweep: Sweep
) -> list[Snapshot | None]:
    """Return the derivative of `y` in each operand, ``None`` where it is not a number or an array:
    of an elementwise operation the partials, of a number its gradient, of an array the Jacobian,
    with the axes of the result first. There are none of what is too large."""

    def pulled(y_bar: Any) -> list[Any]:
        probe = Probe(operands, y_bar, sweep)
        node(probe)  # type: ignore[arg-type]
        found = [probe.bars.get(i) for i in range(len(operands))]
        return [None if type(bar) is Poison else bar for bar in found]

    try:
        if isinstance(y, float | complex | np.inexact):
            return _snapshots(pulled(type(y)(1)))
        if not isinstance(y, np.ndarray) or y.dtype.kind not in "fc" or not y.size:
            return []
        if form == "elementwise":
            return _snapshots(pulled(np.ones_like(y)))
        largest = max((np.size(x) for x in operands if _is_plain(x)), default=0)
        if y.size > ROWS or y.size * largest > ENTRIES:
            return []
        units = np.eye(y.size, dtype=y.dtype).reshape(y.size, *y.shape)
        return [_stacked(y, rows) for rows in zip(*map(pulled, units), strict=True)]
    except Exception:  # a pullback that fails tells nothing, and the sweep will say so
        return []


def _snapshots(found: list[Any]) -> list[Snapshot | None]:
    return [None if one is None else snapshot(one) for one in found]


def product_with(y: Any, operand: Any, bar: Snapshot) -> Snapshot:
    """Return a Jacobian that is too large by its product with the cotangent."""
    return product_snapshot((*_shape(y), *_shape(operand)), bar)


def _shape(value: Any) -> tuple[int | str, ...]:
    return np.shape(value) if _is_plain(value) else ("…",)


def _is_plain(x: Any) -> bool:
    return isinstance(x, np.ndarray | float | int)


def _stacked(y: Any, rows: tuple[Any, ...]) -> Snapshot | None:
    if any(row is None or not _is_plain(row) for row in rows):
        return None
    return jacobian_snapshot(np.reshape(np.stack(rows), (*y.shape, *np.shape(rows[0]))), y.size)
