"""Rules of eigenvalues and eigenvectors of general matrices, ordinary and generalized.

A v = w B v is the eigenproblem of B⁻¹A. Left eigenvectors are right eigenvectors of the conjugate
transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.eigen import eig_bar, eig_dot, values_and_dot, vectors_of
from adjoint.rules.numpy.linalg.matrices import dagger, rounding, undetermined
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, summed


def _quotient(f: Any, a: Any, b: Any) -> Any:
    """Return B⁻¹A, whose eigenvalues these are."""
    if b is None:
        return a
    try:
        return np.linalg.solve(b, a)
    except np.linalg.LinAlgError:
        raise undetermined(
            f,
            "the matrix b is singular, so that an eigenvalue is infinite",
            "take the reciprocals of the eigenvalues for unknowns: exchange a and b",
        ) from None


def _quotient_bars(a: Any, b: Any, c: Any, c_bar: Any) -> tuple[Any, Any]:
    """Return Ā and B̄ from the cotangent of C = B⁻¹A."""
    if b is None:
        return c_bar, None
    a_bar = np.linalg.solve(dagger(b), c_bar)
    return a_bar, -(a_bar @ dagger(c))


def _quotient_dot(b: Any, c: Any, a_dot: Any, b_dot: Any) -> Any:
    if b is None:
        return a_dot
    moved: Any = 0.0 if a_dot is None else a_dot
    if b_dot is not None:
        moved = moved - b_dot @ c
    return np.linalg.solve(b, moved)


def _adjoint(x: Any) -> Any:
    return None if x is None else dagger(x)


@matrix_rule(sl.eig, "a b")
def _(call: Call) -> Any:
    if call.homogeneous_eigvals:
        return NotImplemented
    if not (call.left or call.right):
        return _values(sl.eig, call)
    a, b = call.a, call.b
    w, *vectors = call.y
    left = vectors[0] if call.left else None
    right = vectors[-1] if call.right else None

    def of_right(w_bar: Any, v_bar: Any) -> tuple[Any, Any]:
        if w_bar is None and v_bar is None:
            return None, None
        c = _quotient(sl.eig, a, b)
        _demand_unit(right, v_bar)
        return _quotient_bars(a, b, c, eig_bar(sl.eig, c, w, right, w_bar, v_bar))

    def of_left(w_bar: Any, v_bar: Any) -> tuple[Any, Any]:
        if w_bar is None and v_bar is None:
            return None, None
        turned, b_turned = dagger(a), _adjoint(b)
        c = _quotient(sl.eig, turned, b_turned)
        _demand_unit(left, v_bar)
        c_bar = eig_bar(sl.eig, c, np.conj(w), left, _conj(w_bar), v_bar)
        bars = _quotient_bars(turned, b_turned, c, c_bar)
        return dagger(bars[0]), _adjoint(bars[1])

    def back(y_bar: Any) -> Any:
        w_bar, *bars = y_bar
        if right is None:
            return of_left(w_bar, bars[0])
        first = of_right(w_bar, bars[-1])
        second = (None, None) if left is None else of_left(None, bars[0])
        return summed(first[0], second[0]), summed(first[1], second[1])

    def push(a_dot: Any, b_dot: Any) -> Any:
        dots: list[Any] = []
        kept = w_dot = None
        if left is not None:
            c = _quotient(sl.eig, dagger(a), _adjoint(b))
            moved = _quotient_dot(_adjoint(b), c, _adjoint(a_dot), _adjoint(b_dot))
            kept, w_dot, v_dot = eig_dot(sl.eig, c, np.conj(w), left, moved)
            kept, w_dot, dots = np.conj(kept), np.conj(w_dot), [_as_real_as(v_dot, left)]
        if right is not None:
            c = _quotient(sl.eig, a, b)
            moved = _quotient_dot(b, c, a_dot, b_dot)
            kept, w_dot, v_dot = eig_dot(sl.eig, c, w, right, moved)
            dots = [*dots, _as_real_as(v_dot, right)]
        call.y = (kept, *vectors)
        return (w_dot, *dots)

    return back, push


def _demand_unit(v: Any, v_bar: Any) -> None:
    """Require unit vectors: before SciPy 1.18, left vectors asked for alone have any length."""
    if v_bar is None:
        return
    if np.any(np.abs(np.sqrt(np.sum(np.abs(v) ** 2, -2)) - 1) > rounding(v)):
        raise undetermined(
            sl.eig,
            "the vectors are not of unit length in this version of SciPy",
            "ask for the right vectors as well",
        )


def _as_real_as(v_dot: Any, v: Any) -> Any:
    """Return the tangent of vectors, real where they are (all eigenvalues are real)."""
    return v_dot if np.iscomplexobj(v) else np.real(v_dot)


def _conj(x: Any) -> Any:
    return None if x is None else np.conj(x)


non_differentiable(_demand_unit)


def _values(f: Any, call: Call) -> Any:
    a, b, w = call.a, call.b, call.y

    def back(w_bar: Any) -> Any:
        c = _quotient(f, a, b)
        return _quotient_bars(a, b, c, eig_bar(f, c, w, vectors_of(c, w), w_bar, None))

    def push(a_dot: Any, b_dot: Any) -> Any:
        c = _quotient(f, a, b)
        moved = _quotient_dot(b, c, a_dot, b_dot)
        call.y, w_dot = values_and_dot(f, c, w, vectors_of(c, w), moved)
        return w_dot

    return back, push


@matrix_rule(sl.eigvals, "a b")
def _(call: Call) -> Any:
    return NotImplemented if call.homogeneous_eigvals else _values(sl.eigvals, call)
