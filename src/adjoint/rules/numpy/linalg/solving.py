"""Rules of solutions of linear equations and of inverses.

Formulas: Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
differentiation* (2008), sections 2.2.3 and 2.3.1. A singular matrix raises NumPy's error in the
call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.projection import project
from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.matrices import dagger
from adjoint.rules.numpy.operands import array_rule, conj

# ---- solve ---------------------------------------------------------------------------------------


@array_rule(np.linalg.solve, operands="a b", exact=True)
def _(a, b):
    """b̄ = a⁻ᴴ x̄ and ā = −b̄ xᴴ."""
    x = np.linalg.solve(a, b)
    vectors = np.ndim(x) < np.ndim(a)

    def solve_back(x_bar):
        if vectors and a.ndim == 2:
            b_bar = np.linalg.solve(dagger(a), x_bar)
            return None, project(-np.outer(b_bar, conj(x)), a), project(b_bar, b)
        columns = x[..., None] if vectors else x
        bar = np.linalg.solve(dagger(a), x_bar[..., None] if vectors else x_bar)
        a_bar = -(bar @ dagger(columns))
        return None, project(a_bar, a), project(bar[..., 0] if vectors else bar, b)

    return x, solve_back


@forward_rule(np.linalg.solve, operands=2)
def _(dots, a, b):
    """ẋ = a⁻¹ (ḃ − ȧ x)."""
    a_dot, b_dot = dots
    x = np.linalg.solve(a, b)
    return x, solve_dot(a, x, a_dot, b_dot)


def solve_dot(a: Any, x: Any, a_dot: Any, b_dot: Any) -> Any:
    vectors = np.ndim(x) < np.ndim(a)
    columns = x[..., None] if vectors else x
    right: Any = None if b_dot is None else b_dot[..., None] if vectors else b_dot
    if a_dot is not None:
        moved = a_dot @ columns
        right = -moved if right is None else right - moved
    x_dot = np.linalg.solve(a, right)
    return x_dot[..., 0] if vectors else x_dot


# ---- inverse -------------------------------------------------------------------------------------


@array_rule(np.linalg.inv, exact=True)
def _(a):
    """ā = −y⁻ᴴ ȳ y⁻ᴴ, with y itself the inverse."""
    y = np.linalg.inv(a)

    def inv_back(y_bar):
        y_h = dagger(y)
        return None, project(-(y_h @ y_bar @ y_h), a)

    return y, inv_back


@forward_rule(np.linalg.inv)
def _(dots, a):
    y = np.linalg.inv(a)
    return y, -(y @ dots[0] @ y)
