"""What the rules of linear algebra share: parts of matrices, equal values, refusals.

All of it acts on the last two axes; those before them count matrices. The forward rules use these
functions too, so they are ordinary Python that can itself be differentiated.
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
    """The conjugate transpose."""
    a = np.swapaxes(a, -1, -2)
    return np.conj(a) if np.iscomplexobj(a) else a


def hermitian(a: Any) -> Any:
    """The Hermitian part of square matrices."""
    return (a + dagger(a)) / 2


def skew(a: Any) -> Any:
    """The skew-Hermitian part of square matrices."""
    return (a - dagger(a)) / 2


def diagonal(a: Any) -> Any:
    return np.diagonal(a, 0, -2, -1)


def diagonal_matrix(d: Any) -> Any:
    return d[..., None] * np.eye(d.shape[-1], dtype=d.dtype)


def floating(a: Any) -> Any:
    """The array in floating point."""
    a = np.asarray(a)
    return a if a.dtype.kind in "fc" else a.astype(np.float64)


# ---- matrices of which one triangle is read ------------------------------------------------------


def from_triangle(a: Any, upper: bool) -> Any:
    """The Hermitian matrix that LAPACK takes from one triangle of `a` and the real parts of the
    diagonal.
    """
    half = np.triu(a, 1) if upper else np.tril(a, -1)
    return half + dagger(half) + diagonal_matrix(np.real(diagonal(a)))


def to_triangle(bar: Any, upper: bool) -> Any:
    """The transpose of `from_triangle`, of a Hermitian cotangent."""
    half = np.triu(bar, 1) if upper else np.tril(bar, -1)
    return 2 * half + diagonal_matrix(np.real(diagonal(bar)))


# ---- what is zero but for rounding ---------------------------------------------------------------


def rounding(a: Any) -> float:
    """The relative error that one may expect of a factorisation of `a`."""
    return float(10 * max(a.shape[-2:]) * np.finfo(a.dtype).eps)


def noise(a: Any, axis: Any = (-2, -1)) -> Any:
    """The absolute error that one may expect of entries of `a`, along `axis`."""
    return rounding(a) * np.sqrt(np.sum(np.abs(a) ** 2, axis, keepdims=True))


# ---- what has no derivative ----------------------------------------------------------------------


def undetermined(f: Any, why: str, hint: str) -> NoDerivativeError:
    """The error of a derivative that does not exist at this matrix."""
    return NoDerivativeError(
        f"a derivative of '{name_of(f)}' is needed, which does not exist here: {why}",
        hint=hint,
        place=current_place(),
    )


def poisoned(back: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], tuple[Any, ...]]:
    """Let the refusal of a pullback be an error only if a differentiated input is reached."""

    def guarded_back(y_bar: Any) -> tuple[Any, ...]:
        try:
            return back(y_bar)
        except NoDerivativeError as error:
            doubt(y_bar)
            return None, Poison(error)

    return guarded_back


non_differentiable(rounding, noise, undetermined)
