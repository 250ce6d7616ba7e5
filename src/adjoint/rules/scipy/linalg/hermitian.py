"""Rules of eigenvalues and eigenvectors of Hermitian matrices, banded or not, and of pairs.

Formulas: Giles (2008), section 3.1, extended to Vᴴ B V = 1 (or Vᴴ B⁻¹ V = 1). For a subset of the
eigenvalues all are computed, because eigenvectors turn into those outside the subset. For phases
and equal eigenvalues see `adjoint.rules.numpy.linalg.gauges`. In generalized problems LAPACK makes
one component of each vector real only if the triangular factor of B keeps it so; otherwise results
that depend on a phase are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.bases import Turn, between_equals, parting_basis, turn_of
from adjoint.rules.numpy.linalg.eigen import equal_values
from adjoint.rules.numpy.linalg.gauges import (
    differences,
    in_any_basis,
    in_phase,
    nan_beyond_first,
    nan_beyond_first_pair,
    over,
    parting,
    phased,
    row,
    squared,
)
from adjoint.rules.numpy.linalg.matrices import (
    dagger,
    diagonal,
    diagonal_matrix,
    from_triangle,
    hermitian,
    skew,
    to_triangle,
)
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.linalg.structured import stored, whole


@dataclass(frozen=True, slots=True)
class _Problem:
    """An eigenproblem with all its eigenpairs.

    Attributes
    ----------
    f
        The function that was called.
    w, v
        All eigenvalues and eigenvectors; the requested ones as `f` returned them.
    first, count
        Index of the first requested pair, and number of requested pairs.
    mask
        The component of each vector that LAPACK makes real.
    b, kind
        The other matrix, and the number of SciPy's generalized problem.
    turn
        Basis change that a trial run has applied to the vectors.
    """

    f: Any
    w: Any
    v: Any
    first: int
    count: int
    mask: Any
    b: Any = None
    kind: int = 1
    turn: Turn | None = None

    @property
    def equal(self) -> Any:
        return equal_values(self.w, self.v)

    @property
    def has_all(self) -> bool:
        """Return whether all vectors were requested."""
        return bool(self.count == self.w.shape[-1])

    def bars(self, w_bar: Any, v_bar: Any) -> tuple[Any, Any]:
        """Return the cotangents of A and B before they are made Hermitian."""
        w_bar, v_bar = self._embedded(w_bar), self._embedded(v_bar)
        v = self.v
        stretch: Any = 0.0
        if v_bar is not None:
            equal = self.equal
            turning = skew(dagger(v) @ v_bar)
            values = in_any_basis(
                self.f, equal, self.turn, w_bar, turning, (v, v), (v_bar,), self.has_all
            )
            if np.iscomplexobj(v):
                turn = np.imag(np.sum(np.conj(v) * v_bar, -2))
                v_bar = in_phase(self.f, v_bar, turn, squared(v_bar), v, self.mask)
            mixed = dagger(v) @ v_bar
            inner = over(mixed, differences(self.w), equal) + values
            stretch = hermitian(np.where(equal, mixed, 0)) / 2
        else:
            inner = diagonal_matrix(nan_beyond_first(w_bar, self.equal))
        return self._of_matrices(inner, stretch)

    def _embedded(self, bar: Any) -> Any:
        n = self.w.shape[-1]
        if bar is None or self.count == n:
            return bar
        after = n - self.first - self.count
        return np.pad(bar, [(0, 0)] * (np.ndim(bar) - 1) + [(self.first, after)])

    def _of_matrices(self, inner: Any, stretch: Any) -> tuple[Any, Any]:
        v, w = self.v, self.w
        if self.b is None:
            return v @ inner @ dagger(v), None
        across = inner * w[..., None, :]
        if self.kind == 1:
            return v @ inner @ dagger(v), -(v @ (across + stretch) @ dagger(v))
        if self.kind == 2:
            s = self.b @ v
            return s @ inner @ dagger(s), v @ (inner * w[..., :, None] - stretch) @ dagger(v)
        s = np.linalg.solve(self.b, v)
        return v @ inner @ dagger(v), s @ (across + stretch) @ dagger(s)

    def dots(self, a_dot: Any, b_dot: Any) -> tuple[Any, Any, Any, Any]:
        """Return ẇ, V̇, the mask of values that part, and V, for Hermitian tangents."""
        v, w, equal = self.v, self.w, self.equal
        of_a, of_b = self._in_basis(a_dot, b_dot)
        inner, stretch = of_a, 0.0
        if of_b is not None:
            across = of_b * w[..., None, :]
            moved = {1: -across, 2: of_b * w[..., :, None], 3: across}[self.kind]
            inner = moved if inner is None else inner + moved
            stretch = hermitian(np.where(equal, of_b, 0)) / 2
            stretch = stretch if self.kind == 3 else -stretch
        basis = parting_basis(inner, equal, v) if self.has_all else None
        if basis is not None:
            v = v @ basis
            inner, stretch = (dagger(basis) @ m @ basis for m in (inner, stretch + 0 * inner))
        v_dot = over(inner, differences(w), equal) + between_equals(inner, equal, basis)
        v_dot = v @ (v_dot + stretch)
        v_dot = v_dot + phased(v_dot, v, self.mask) * v
        w_dot, shared = parting(np.real(diagonal(inner)), inner, equal)
        if self.has_all:
            return w_dot, v_dot, shared, v
        chosen = slice(self.first, self.first + self.count)
        return w_dot[..., chosen], v_dot[..., :, chosen], shared[..., chosen], v[..., :, chosen]

    def _in_basis(self, a_dot: Any, b_dot: Any) -> tuple[Any, Any]:
        v = self.v
        left = self.b @ v if self.kind == 2 and self.b is not None else v
        right = np.linalg.solve(self.b, v) if self.kind == 3 and self.b is not None else v
        of_a = None if a_dot is None else dagger(left) @ a_dot @ left
        return of_a, None if b_dot is None else dagger(right) @ b_dot @ right


def _among(w: Any, all_w: Any) -> int:
    """Return the index at which the consecutive eigenvalues `w` begin in `all_w`."""
    k = w.shape[-1]
    starts = range(all_w.shape[-1] - k + 1)
    return min(starts, key=lambda s: float(np.sum(np.abs(all_w[..., s : s + k] - w))), default=0)


def _problem(f: Any, y: Any, every: Callable[[], Any], mask: Any, **pair: Any) -> _Problem:
    """Build the problem from a result `y`; `every` computes all eigenpairs if `y` lacks some."""
    w, v = y if isinstance(y, tuple | list) else (y, None)  # a list for stacks
    if v is not None and v.shape[-2] == v.shape[-1]:
        return _Problem(f, w, v, 0, w.shape[-1], mask(v), **pair)
    all_w, all_v = every()
    k = w.shape[-1]
    if k == all_w.shape[-1]:
        return _Problem(f, all_w, all_v, 0, k, mask(all_v), **pair)
    first = _among(w, all_w)
    if v is not None:
        all_v = np.concatenate([all_v[..., :first], v, all_v[..., first + k :]], -1)
    return _Problem(f, all_w, all_v, first, k, mask(all_v), **pair)


def _answer(call: Call, dots: tuple[Any, Any, Any, Any], values_only: bool) -> Any:
    """Return the tangent of the result; pass the values and their tangents to
    `nan_beyond_first_pair`."""
    w_dot, v_dot, shared, v = dots
    if values_only:
        call.y, w_dot = nan_beyond_first_pair(call.y, w_dot, shared)
        return w_dot
    w, w_dot = nan_beyond_first_pair(call.y[0], w_dot, shared)
    call.y = type(call.y)((w, v))
    return w_dot, v_dot


def _turned(call: Call, values_only: bool) -> Turn | None:
    """Turn the vectors in `call.y` as the running trial requires, if all were requested."""
    if values_only or call.y[1].shape[-2] != call.y[1].shape[-1]:
        return None
    w, v = call.y
    turn = turn_of(equal_values(w, v), v)
    if turn is not None:
        call.y = type(call.y)((w, v @ turn.matrix))
    return turn


def _parts(y_bar: Any) -> tuple[Any, Any]:
    return tuple(y_bar) if isinstance(y_bar, tuple | list) else (y_bar, None)


def _none(v: Any) -> Any:
    return np.zeros((v.shape[-2], 1), bool)


non_differentiable(_among, _none)


# ---- full matrices -------------------------------------------------------------------------------


def _whole_rule(f: Any, call: Call, values_only: bool) -> Any:
    upper, kind = not call.lower, call.type if call.b is not None else 1
    turn = _turned(call, values_only)

    def mask(v: Any) -> Any:
        """Return the first component, or the last of an upper triangle, where B keeps it real."""
        if call.b is not None and upper != (kind != 3):
            return _none(v)
        return row(v, -1 if upper else 0)

    def every() -> Any:
        return sl.eigh(call.a, call.b, lower=call.lower, type=call.type)

    def problem() -> _Problem:
        b = None if call.b is None else from_triangle(call.b, upper)
        return _problem(f, call.y, every, mask, b=b, kind=kind, turn=turn)

    def back(y_bar: Any) -> Any:
        w_bar, v_bar = _parts(y_bar)
        if w_bar is None and v_bar is None:
            return None, None
        return tuple(
            [
                None if bar is None else to_triangle(hermitian(bar), upper)
                for bar in problem().bars(w_bar, v_bar)
            ]
        )

    def push(a_dot: Any, b_dot: Any) -> Any:
        a_dot, b_dot = (
            None if dot is None else from_triangle(dot, upper) for dot in (a_dot, b_dot)
        )
        dots = problem().dots(a_dot, b_dot)
        return _answer(call, dots, values_only)

    return back, push


def _register(f: Any, values_only: Any, operands: str, rule: Any, **options: Any) -> None:
    """Register the rules of `f`, and of `values_only`, which returns its eigenvalues alone."""
    matrix_rule(f, operands, **options)(lambda call: rule(f, call, bool(call.eigvals_only)))
    matrix_rule(values_only, operands, **options)(lambda call: rule(values_only, call, True))


_register(sl.eigh, sl.eigvalsh, "a b", _whole_rule)


# ---- bands ---------------------------------------------------------------------------------------


def _banded_rule(f: Any, call: Call, values_only: bool) -> Any:
    if call.a_band.ndim != 2:
        return NotImplemented
    band, lower = call.a_band, bool(call.lower)
    width = band.shape[0] - 1
    turn = _turned(call, values_only)

    def problem() -> _Problem:
        every: Any = lambda: sl.eig_banded(band, lower)
        return _problem(f, call.y, every, lambda v: row(v, 0 if lower else -1), turn=turn)

    def back(y_bar: Any) -> Any:
        w_bar, v_bar = _parts(y_bar)
        if w_bar is None and v_bar is None:
            return (None,)
        bar = to_triangle(hermitian(problem().bars(w_bar, v_bar)[0]), not lower)
        return (stored(bar, width, lower),)

    def push(band_dot: Any) -> Any:
        dots = problem().dots(from_triangle(whole(band_dot, lower), not lower), None)
        return _answer(call, dots, values_only)

    return back, push


_register(sl.eig_banded, sl.eigvals_banded, "a_band", _banded_rule, one_by_one=True)


def _tridiagonal_rule(f: Any, call: Call, values_only: bool) -> Any:
    if call.d.ndim != 1:
        return NotImplemented
    d, e, turn = call.d, call.e, _turned(call, values_only)

    def problem() -> _Problem:
        return _problem(f, call.y, lambda: sl.eigh_tridiagonal(d, e), _none, turn=turn)

    def back(y_bar: Any) -> Any:
        w_bar, v_bar = _parts(y_bar)
        if w_bar is None and v_bar is None:
            return None, None
        bar = problem().bars(w_bar, v_bar)[0]
        return diagonal(bar), np.diagonal(bar, 1) + np.diagonal(bar, -1)

    def push(d_dot: Any, e_dot: Any) -> Any:
        dot: Any = 0.0 if d_dot is None else np.diag(d_dot)
        if e_dot is not None:
            dot = dot + np.diag(e_dot, 1) + np.diag(e_dot, -1)
        dots = problem().dots(dot, None)
        return _answer(call, dots, values_only)

    return back, push


_register(sl.eigh_tridiagonal, sl.eigvalsh_tridiagonal, "d e", _tridiagonal_rule, one_by_one=True)
