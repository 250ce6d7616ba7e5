"""Rules of solutions of linear equations and of inverses.

Formulas: Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
differentiation* (2008), sections 2.2.3 and 2.3.1. A singular matrix raises NumPy's error in the
call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.rulekit.projection import project
from adjoint.rules.numpy.linalg.forward import forward_rule
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


# ---- tensors as matrices -------------------------------------------------------------------------


def _moved(ndim: int, axes: Any) -> list[int]:
    """Return the order of axes in which `np.linalg.tensorsolve` takes its tensor."""
    order = list(range(ndim))
    for axis in axes or ():
        order.remove(axis)
        order.insert(ndim, axis)
    return order


def _square(a: Any, size: int, axes: Any) -> Any:
    return np.reshape(np.transpose(a, _moved(np.ndim(a), axes)), (size, size))


@array_rule(np.linalg.tensorsolve, operands="a b")
def _(a, b, axes=None):
    x = np.linalg.tensorsolve(a, b, axes)
    shape, size = np.shape(a), np.size(b)
    order = _moved(len(shape), axes)

    def tensorsolve_back(x_bar):
        bar = np.linalg.solve(dagger(_square(a, size, axes)), np.ravel(x_bar))
        a_bar = np.reshape(-np.outer(bar, conj(np.ravel(x))), [shape[i] for i in order])
        return None, np.transpose(a_bar, np.argsort(order)), np.reshape(bar, np.shape(b))

    return x, tensorsolve_back


@forward_rule(np.linalg.tensorsolve, operands=2)
def _(dots, a, b, axes=None):
    x = np.linalg.tensorsolve(a, b, axes)
    a_dot = None if dots[0] is None else _square(dots[0], np.size(b), axes)
    b_dot = None if dots[1] is None else np.ravel(dots[1])
    x_dot = solve_dot(_square(a, np.size(b), axes), np.ravel(x), a_dot, b_dot)
    return x, np.reshape(x_dot, np.shape(x))


@array_rule(np.linalg.tensorinv)
def _(a, ind=2):
    y = np.linalg.tensorinv(a, ind)
    shape = np.shape(a)
    size = math.prod(shape[ind:])

    def tensorinv_back(y_bar):
        y_h = dagger(np.reshape(y, (size, size)))
        return None, np.reshape(-(y_h @ np.reshape(y_bar, (size, size)) @ y_h), shape)

    return y, tensorinv_back


@forward_rule(np.linalg.tensorinv)
def _(dots, a, ind=2):
    y = np.linalg.tensorinv(a, ind)
    size = math.prod(np.shape(a)[ind:])
    square = np.reshape(y, (size, size))
    y_dot = -(square @ np.reshape(dots[0], (size, size)) @ square)
    return y, np.reshape(y_dot, np.shape(y))
