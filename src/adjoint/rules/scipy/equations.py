"""Rules of `scipy.optimize`: roots of systems of equations, and least squares by code in C.

A root moves as its equations say, a fit as it says that the slope of the sum of squares is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize
from scipy.optimize import _minpack_py

from adjoint.errors import AdjointError
from adjoint.rules.again import again
from adjoint.rules.registry import substitute
from adjoint.rules.scipy.minimization import moved
from adjoint.rules.scipy.searches import (
    CHANGES,
    INERT,
    as_tuple,
    corrected,
    corrections,
    is_near,
    put_back,
    searched,
    unfollowed,
    with_value,
    without_levels,
)

__all__: list[str] = []

NO_ROOT = "has not found a root where the equations have a solution nearby"


# ---- systems of equations ------------------------------------------------------------------------


@without_levels
def _slopes(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """The Jacobian of a system at its root, a matrix, or why there is none."""
    from adjoint.derivatives.jacobians import jacobian

    try:
        found = np.reshape(jacobian(f, x), (np.size(x), np.size(x)))
        step = np.linalg.solve(found, np.ravel(f(x)))
    except AdjointError as error:
        return None, f"searches for a root, and of the equations themselves: {error.problem}"
    except np.linalg.LinAlgError:
        return None, "has found a root where the Jacobian is singular"
    if not is_near(step, np.ravel(x)):
        return None, NO_ROOT
    return found, ""


def _root(find: Any, f: Callable[..., Any], x: Any, state: Any) -> Any:
    """The root of a system, as it moves with what that depends on."""
    slopes, why = (None, CHANGES) if state is None else _slopes(f, x)
    if slopes is None:
        return unfollowed(x, find, why, f)
    for _ in corrections():
        x = corrected(x, f(x), slopes)
    return x


def _rest(find: Any, f: Any, found: Any) -> Any:
    """What a report says besides the root: nothing is known of it but integers and words."""
    for name in list(found):
        if name != "x" and not isinstance(found[name], INERT):
            found[name] = unfollowed(found[name], find, "says how it has searched", f)
    return found


def _cleared(x: Any, state: Any) -> Any:
    if state is not None:
        put_back(state)
    return x


@substitute(optimize.fsolve)
def fsolve(func, x0, args=(), fprime=None, full_output=0, *settings, **named):
    args, find = as_tuple(args), optimize.fsolve

    def equations(z):
        return np.ravel(func(z, *args))

    found, state = searched(find, (func, x0, args, fprime, full_output, *settings), named)
    if not full_output:
        return _cleared(_root(find, equations, found, state), state)
    x = _root(find, equations, found[0], state)
    return _cleared((x, _rest(find, equations, found[1]), *found[2:]), state)


def _nonlinear(find: Any) -> None:
    @substitute(find)
    def solve(F, xin, *settings, **named):
        found, state = searched(find, (F, xin, *settings), named)
        return _cleared(_root(find, lambda z: np.reshape(F(z), np.shape(z)), found, state), state)


for _name in (
    "anderson",
    "broyden1",
    "broyden2",
    "diagbroyden",
    "excitingmixing",
    "linearmixing",
    "newton_krylov",
):
    _nonlinear(getattr(optimize, _name))


@substitute(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    args, find = as_tuple(args), optimize.root
    settings = (method, jac, tol, callback, options)
    if callable(method):
        return _ROOT(fun, x0, args, *settings)

    def equations(z):
        return fun(z, *args)[0] if jac is True else fun(z, *args)

    found, state = searched(find, (fun, x0, args, *settings), {})
    if method.lower() == "lm":  # there may be more equations than unknowns
        found.x = _fitted(find, lambda z: np.ravel(equations(z)), found.x, state)
    else:
        found.x = _root(find, lambda z: np.reshape(equations(z), np.shape(z)), found.x, state)
    return _cleared(_rest(find, equations, found), state)


_ROOT = again(optimize.root)


# ---- least squares -------------------------------------------------------------------------------


def _fitted(find: Any, residuals: Callable[..., Any], x: Any, state: Any) -> Any:
    def half_squares(z):
        r = residuals(z)
        return 0.5 * (r @ r)

    return (
        unfollowed(x, find, CHANGES, residuals) if state is None else moved(find, half_squares, x)
    )


@substitute(optimize.leastsq)
def leastsq(func, x0, args=(), Dfun=None, full_output=False, *settings, **named):
    args, find = as_tuple(args), optimize.leastsq

    def residuals(z):
        return np.ravel(func(z, *args))

    found, state = searched(find, (func, x0, args, Dfun, full_output, *settings), named)
    x = _fitted(find, residuals, found[0], state)
    if not full_output:
        return _cleared((x, *found[1:]), state)
    covariance, report = found[1:3]
    r = report["fvec"]
    report = _rest(find, residuals, report)
    if state is not None:
        report["fvec"] = with_value(r, residuals(x))
    covariance = _covariance(find, residuals, x, covariance, state)
    return _cleared((x, covariance, report, *found[3:]), state)


def _covariance(find: Any, residuals: Any, x: Any, value: Any, state: Any) -> Any:
    """(JᵀJ)⁻¹, of which SciPy knows a value by differences."""
    from adjoint.derivatives.jacobians import jacobian

    if value is None or state is None:
        return value if value is None else unfollowed(value, find, CHANGES, residuals)
    slopes = jacobian(residuals, x)
    return with_value(value, np.linalg.inv(slopes.T @ slopes))


@substitute(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=(-np.inf, np.inf), method="trf", *settings,
    args=(), kwargs=None, **named,
):  # fmt: skip
    find, kwargs = optimize.least_squares, kwargs or {}
    if method != "lm":  # those whose steps are in Python
        given = (fun, x0, jac, bounds, method, *settings)
        return _LEAST_SQUARES(*given, args=args, kwargs=kwargs, **named)

    def residuals(z):
        return np.ravel(fun(z, *args, **kwargs))

    named = {"args": args, "kwargs": kwargs, **named}
    found, state = searched(find, (fun, x0, jac, bounds, method, *settings), named)
    found.x = _fitted(find, residuals, found.x, state)
    r, cost = found.fun, found.cost
    found = _rest(find, residuals, found)
    if state is not None:
        found.fun = with_value(r, residuals(found.x))
        found.cost = with_value(cost, 0.5 * (found.fun @ found.fun))
    return _cleared(found, state)


_LEAST_SQUARES = again(optimize.least_squares)

if hasattr(_minpack_py, "_lightweight_memoizer"):

    @substitute(_minpack_py._lightweight_memoizer)
    def _lightweight_memoizer(f):
        return f  # it saves a call


@substitute(optimize.nnls)
def nnls(A, b, *settings, **named):
    (x, distance), _ = searched(optimize.nnls, (A, b, *settings), named)
    free = np.flatnonzero(x)  # what is not held at zero
    A, b = np.asarray(A), np.asarray(b)
    columns, y = A[:, free], x[free]
    normal = columns.T @ columns
    for _ in corrections():
        y = corrected(y, columns.T @ (columns @ y - b), normal)
    x = np.zeros(np.shape(x))
    x[free] = y
    return x, with_value(distance, np.linalg.norm(A @ x - b))
