"""Rules of the matrix equations of Sylvester, Lyapunov and Riccati.

The tangent of a solution solves the same linear equation (for Riccati's the one of the closed
loop), and the cotangent solves its adjoint (Kao & Hennequin, *Automatic differentiation of
Sylvester, Lyapunov, and algebraic Riccati equations* (2020)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rules.numpy.linalg.matrices import dagger, hermitian
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, summed


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """Return the solution of A X + X B = Q, or of a stack of such equations."""
    if q.size == 0:
        return q
    if max(a.ndim, b.ndim, q.ndim) == 2:
        return sl.solve_sylvester(a, b, q)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2])
    every = [
        np.reshape(np.broadcast_to(m, (*batch, *m.shape[-2:])), (-1, *m.shape[-2:]))
        for m in (a, b, q)
    ]
    found = [sl.solve_sylvester(*parts) for parts in zip(*every, strict=True)]
    return np.reshape(np.stack(found), (*batch, *q.shape[-2:]))


def _both(m: Any) -> Any:
    """Return M + Mᴴ."""
    return None if m is None else m + dagger(m)


# ---- linear equations ----------------------------------------------------------------------------


@matrix_rule(sl.solve_sylvester, "a b q")
def _(call: Call) -> Any:
    a, b, x = call.a, call.b, call.y

    def back(x_bar: Any) -> Any:
        bar = sylvester(dagger(a), dagger(b), x_bar)
        return -(bar @ dagger(x)), -(dagger(x) @ bar), bar

    def push(a_dot: Any, b_dot: Any, q_dot: Any) -> Any:
        of_a = None if a_dot is None else -(a_dot @ x)
        of_b = None if b_dot is None else -(x @ b_dot)
        return sylvester(a, b, summed(q_dot, of_a, of_b))

    return back, push


@matrix_rule(sl.solve_continuous_lyapunov, "a q")
def _(call: Call) -> Any:
    """Differentiate A X + X Aᴴ = Q."""
    a, x = call.a, call.y

    def back(x_bar: Any) -> Any:
        bar = sylvester(dagger(a), a, x_bar)
        return -(bar @ dagger(x) + dagger(bar) @ x), bar

    def push(a_dot: Any, q_dot: Any) -> Any:
        moved = None if a_dot is None else -(a_dot @ x + x @ dagger(a_dot))
        return sylvester(a, dagger(a), summed(q_dot, moved))

    return back, push


@matrix_rule(sl.solve_discrete_lyapunov, "a q")
def _(call: Call) -> Any:
    """Differentiate X = A X Aᴴ + Q."""
    a, x, method = call.a, call.y, call.method

    def back(x_bar: Any) -> Any:
        bar = sl.solve_discrete_lyapunov(dagger(a), x_bar, method)
        return bar @ a @ dagger(x) + dagger(bar) @ a @ x, bar

    def push(a_dot: Any, q_dot: Any) -> Any:
        moved = None
        if a_dot is not None:
            moved = a_dot @ x @ dagger(a) + a @ x @ dagger(a_dot)
        return sl.solve_discrete_lyapunov(a, summed(q_dot, moved), method)

    return back, push


# ---- Riccati's equations: q and r are Hermitian, and so are their cotangents ---------------------


@matrix_rule(sl.solve_continuous_are, "a b q r")
def _(call: Call) -> Any:
    """Differentiate Aᴴ X + X A − X G X + Q = 0 with G = B R⁻¹ Bᴴ; the closed loop is A − G X."""
    if call.e is not None or call.s is not None:
        return NotImplemented
    a, b, r, x = call.a, call.b, call.r, call.y
    gain = np.linalg.solve(r, dagger(b))
    loop = a - b @ gain @ x

    def back(x_bar: Any) -> Any:
        s = -sylvester(loop, dagger(loop), hermitian(x_bar))
        g_bar = -(x @ s @ x)
        b_bar = (g_bar + dagger(g_bar)) @ dagger(gain)
        return x @ (s + dagger(s)), b_bar, s, -(gain @ g_bar @ dagger(gain))

    def push(a_dot: Any, b_dot: Any, q_dot: Any, r_dot: Any) -> Any:
        moved = _both(None if a_dot is None else x @ a_dot)
        turned = _both(None if b_dot is None else -(x @ b_dot @ gain @ x))
        bent = None if r_dot is None else x @ dagger(gain) @ r_dot @ gain @ x
        return sylvester(dagger(loop), loop, -summed(moved, turned, bent, q_dot))

    return back, push


@matrix_rule(sl.solve_discrete_are, "a b q r")
def _(call: Call) -> Any:
    """Differentiate X = Aᴴ X A − Kᴴ (R + Bᴴ X B) K + Q with K = (R + Bᴴ X B)⁻¹ Bᴴ X A. The closed
    loop is A − B K."""
    if call.e is not None or call.s is not None:
        return NotImplemented
    a, b, x = call.a, call.b, call.y
    gain = np.linalg.solve(call.r + dagger(b) @ x @ b, dagger(b) @ x @ a)
    loop = a - b @ gain

    def back(x_bar: Any) -> Any:
        s = sl.solve_discrete_lyapunov(loop, hermitian(x_bar))
        a_bar = x @ loop @ (s + dagger(s))
        return a_bar, -(a_bar @ dagger(gain)), s, gain @ s @ dagger(gain)

    def push(a_dot: Any, b_dot: Any, q_dot: Any, r_dot: Any) -> Any:
        side = dagger(loop) @ x
        moved = _both(None if a_dot is None else side @ a_dot)
        turned = _both(None if b_dot is None else -(side @ b_dot @ gain))
        bent = None if r_dot is None else dagger(gain) @ r_dot @ gain
        return sl.solve_discrete_lyapunov(dagger(loop), summed(moved, turned, bent, q_dot))

    return back, push
