"""Rules of the matrix equations of Sylvester, Lyapunov and Riccati.

The cotangent of a solution solves the adjoint linear equation, for Riccati's that of the closed
loop (Kao & Hennequin, *Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati
equations* (2020)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rules.numpy.linalg.matrices import dagger, hermitian
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule


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


# ---- linear equations ----------------------------------------------------------------------------


@matrix_rule(sl.solve_sylvester, "a b q")
def _(call: Call) -> Any:
    a, b, x = call.a, call.b, call.y

    def back(x_bar: Any) -> Any:
        bar = sylvester(dagger(a), dagger(b), x_bar)
        return -(bar @ dagger(x)), -(dagger(x) @ bar), bar

    return back


@matrix_rule(sl.solve_continuous_lyapunov, "a q")
def _(call: Call) -> Any:
    """Differentiate A X + X Aᴴ = Q."""
    a, x = call.a, call.y

    def back(x_bar: Any) -> Any:
        bar = sylvester(dagger(a), a, x_bar)
        return -(bar @ dagger(x) + dagger(bar) @ x), bar

    return back


@matrix_rule(sl.solve_discrete_lyapunov, "a q")
def _(call: Call) -> Any:
    """Differentiate X = A X Aᴴ + Q."""
    a, x, method = call.a, call.y, call.method

    def back(x_bar: Any) -> Any:
        bar = sl.solve_discrete_lyapunov(dagger(a), x_bar, method)
        return bar @ a @ dagger(x) + dagger(bar) @ a @ x, bar

    return back


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

    return back


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

    return back
