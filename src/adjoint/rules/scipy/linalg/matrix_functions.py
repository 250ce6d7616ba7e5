"""Rules of functions of a matrix: exponential, logarithm, roots, powers, trigonometric functions.

The derivative L(A, E) of f at A along E is the upper right block of f([[A, E], [0, A]]), and its
adjoint maps Y to L(A, Yᴴ)ᴴ (Higham, *Functions of matrices* (2008), theorem 3.6 and section 3.2).
The derivative of a root or a sign solves a Sylvester equation (sections 5.1 and 6.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rulekit.projection import project
from adjoint.rules.numpy.linalg.matrices import dagger, rounding, undetermined
from adjoint.rules.scipy.linalg.matrix_equations import sylvester
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule


def _largest(a: Any) -> Any:
    return np.max(np.abs(a), initial=0.0)


def frechet(f: Any, a: Any, e: Any) -> Any:
    """Return the derivative of `f` at `a` along `e`, which is first scaled to the size of `a`."""
    if a.shape[-1] == 0:
        return np.zeros(np.broadcast_shapes(np.shape(a), np.shape(e)), np.result_type(a, e))
    lost = ~np.all(np.isfinite(e), axis=(-2, -1), keepdims=True)
    if not np.any(lost):
        return _along(f, a, e)
    known = _along(f, a, np.where(lost, 0.0, e))
    # The payload of a NaN names its cause, and LAPACK drops it.
    parts = np.real(e) + np.imag(e) if np.iscomplexobj(e) else e
    bad = np.sum(parts, axis=(-2, -1), keepdims=True)
    return np.where(lost, bad * (1 + 1j) if np.iscomplexobj(known) else bad, known)


def _along(f: Any, a: Any, e: Any) -> Any:
    """Return the derivative of `f` along a finite `e`."""
    n, size = a.shape[-1], _largest(e) or 1.0  # a zero `e` may have a derivative as well
    scale = (_largest(a) or 1.0) / size
    a, e = np.broadcast_arrays(a, e * scale)
    top, bottom = np.concatenate([a, e], -1), np.concatenate([np.zeros_like(e), a], -1)
    return f(np.concatenate([top, bottom], -2))[..., :n, n:] / scale


def _by_blocks(f: Any) -> Any:
    def rule(call: Call) -> Any:
        if not call.option("disp", True):
            return NotImplemented  # the result includes an error estimate
        a = call.A
        return (
            lambda y_bar: (dagger(frechet(f, a, dagger(y_bar))),),
            lambda a_dot: frechet(f, a, a_dot),
        )

    return rule


for _f in (sl.expm, sl.logm, sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm, sl.tanhm):
    matrix_rule(_f, "A")(_by_blocks(_f))


@matrix_rule(sl.expm_frechet, "A E")
def _(call: Call) -> Any:
    """Differentiate L(A, E), which is linear in E; the second derivative is a block of blocks."""
    a, e, n = call.A, call.E, call.A.shape[-1]

    def second(first: Any, other: Any) -> Any:
        block = np.concatenate(
            [np.concatenate([a, first], -1), np.concatenate([0 * first, a], -1)], -2
        )
        moved = np.concatenate(
            [np.concatenate([other, 0 * other], -1), np.concatenate([0 * other, other], -1)], -2
        )
        return frechet(sl.expm, block, moved)[..., :n, n:]

    def back(y_bar: Any) -> Any:
        value_bar, bar = y_bar if call.compute_expm else (None, y_bar)
        a_bar = e_bar = None
        if value_bar is not None:
            a_bar = dagger(frechet(sl.expm, a, dagger(value_bar)))
        if bar is not None:
            mirrored = dagger(bar)
            e_bar, turned = dagger(frechet(sl.expm, a, mirrored)), dagger(second(e, mirrored))
            a_bar = turned if a_bar is None else a_bar + turned
        return a_bar, e_bar

    def push(a_dot: Any, e_dot: Any) -> Any:
        value_dot = None if a_dot is None else frechet(sl.expm, a, a_dot)
        dot: Any = 0.0 if a_dot is None else second(e, a_dot)
        if e_dot is not None:
            dot = dot + frechet(sl.expm, a, e_dot)
        return (value_dot, dot) if call.compute_expm else dot

    return back, push


# ---- roots and signs -----------------------------------------------------------------------------


def _require_separated(f: Any, root: Any) -> None:
    """Raise if two eigenvalues of the root are opposite."""
    if root.shape[-1] == 0:
        return
    w = np.linalg.eigvals(root)
    sums = np.abs(w[..., None, :] + w[..., :, None])
    if np.any(sums <= rounding(root) * np.max(np.abs(w), -1)[..., None, None]):
        raise undetermined(
            f,
            "the matrix is singular",
            "at such a matrix the root has no finite derivative; perturb it",
        )


def _double(y: Any) -> Any:
    """Return `y` in double precision: early versions of SciPy return more than LAPACK takes."""
    return y.astype(np.complex128) if y.dtype == np.clongdouble else y


@matrix_rule(sl.sqrtm, "A")
def _(call: Call) -> Any:
    if not call.option("disp", True):
        return NotImplemented
    y = _double(call.y)

    def back(y_bar: Any) -> Any:
        _require_separated(sl.sqrtm, y)
        return (sylvester(dagger(y), dagger(y), y_bar),)

    return back


@matrix_rule(sl.signm, "A")
def _(call: Call) -> Any:
    """Differentiate S by N L + L N = E − S E S with N = A S."""
    if not call.option("disp", True):
        return NotImplemented
    s = call.y
    n = call.A @ s

    def back(y_bar: Any) -> Any:
        s_h = dagger(s)
        bar = sylvester(dagger(n), dagger(n), y_bar)
        return (bar - s_h @ bar @ s_h,)

    return back


@matrix_rule(sl.fractional_matrix_power, "A *t")
def _(call: Call) -> Any:
    """Differentiate Aᵗ; the derivative in t is log(A) Aᵗ, and an integer t is a constant."""
    a, t, y = call.A, call.t, call.y

    def power(x: Any) -> Any:
        return sl.fractional_matrix_power(x, t)

    def slope() -> Any:
        return sl.logm(a) @ y

    def back(y_bar: Any) -> Any:
        t_bar = None
        if isinstance(t, float | np.floating):
            t_bar = project(np.sum(np.real(np.conj(slope()) * y_bar)), t)
        return dagger(frechet(power, a, dagger(y_bar))), t_bar

    return back
