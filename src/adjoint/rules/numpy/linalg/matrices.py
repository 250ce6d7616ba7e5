"""Parts of matrices, tolerances and refusals for the rules of linear algebra.

The functions act on the last two axes; those before them count matrices. Forward rules use them,
too, so they are Python code that can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import doubt
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import non_differentiable


def dagger(a: Any) -> Any:
    """Return the conjugate transpose."""
    a = np.swapaxes(a, -1, -2)
    return np.conj(a) if np.iscomplexobj(a) else a


def hermitian(a: Any) -> Any:
    """Return the Hermitian part of square matrices."""
    return (a + dagger(a)) / 2


def skew(a: Any) -> Any:
    """Return the skew-Hermitian part of square matrices."""
    return (a - dagger(a)) / 2


def diagonal(a: Any) -> Any:
    return np.diagonal(a, 0, -2, -1)


def diagonal_matrix(d: Any) -> Any:
    return d[..., None] * np.eye(d.shape[-1], dtype=d.dtype)


def floating(a: Any) -> Any:
    """Convert to an array of floating-point numbers."""
    a = np.asarray(a)
    return a if a.dtype.kind in "fc" else a.astype(np.float64)


# ---- matrices of which one triangle is read ------------------------------------------------------


def from_triangle(a: Any, upper: bool) -> Any:
    """Return the Hermitian matrix that LAPACK reads from one triangle and a real diagonal."""
    half = np.triu(a, 1) if upper else np.tril(a, -1)
    return half + dagger(half) + diagonal_matrix(np.real(diagonal(a)))


def to_triangle(bar: Any, upper: bool) -> Any:
    """Apply the transpose of `from_triangle` to a Hermitian cotangent."""
    half = np.triu(bar, 1) if upper else np.tril(bar, -1)
    return 2 * half + diagonal_matrix(np.real(diagonal(bar)))


# ---- rounding errors -----------------------------------------------------------------------------


def rounding(a: Any) -> float:
    """Return the relative error to expect of a factorisation of `a`."""
    return float(10 * max(a.shape[-2:]) * np.finfo(a.dtype).eps)


def noise(a: Any, axis: Any = (-2, -1)) -> Any:
    """Return the absolute error to expect of entries of `a`, along `axis`."""
    return rounding(a) * np.sqrt(np.sum(np.abs(a) ** 2, axis, keepdims=True))


# ---- refusals ------------------------------------------------------------------------------------


def undetermined(f: Any, why: str, hint: str) -> NoDerivativeError:
    """Return the error for a derivative that does not exist at this matrix."""
    return NoDerivativeError(
        f"a derivative of '{name_of(f)}' is needed, which does not exist here: {why}",
        hint=hint,
        place=current_place(),
    )


def poisoned(back: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], tuple[Any, ...]]:
    """Turn a refusal by a pullback into poison, an error only at a differentiated input."""

    def guarded_back(y_bar: Any) -> tuple[Any, ...]:
        try:
            return back(y_bar)
        except NoDerivativeError as error:
            doubt(y_bar)
            return None, Poison(error)

    return guarded_back


non_differentiable(rounding, noise, undetermined)
