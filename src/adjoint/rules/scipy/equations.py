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
    as_tuple,
    corrected,
    corrections,
    is_determined,
    is_near,
    rest_of,
    unfollowed,
    value_there,
    with_value,
)
from adjoint.rules.scipy.stored import Search, leave, looked, repeated, searched

__all__: list[str] = []

UNDETERMINED = "has found a minimum that is not determined by what was given"
NO_ROOT = "has not found a root where the equations have a solution nearby"


# ---- systems of equations ------------------------------------------------------------------------


def _slopes(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """The Jacobian of a system at its root, a matrix, or why there is none."""
    from adjoint.derivatives.jacobians import jacobian

    try:
        found = np.reshape(jacobian(f, x), (np.size(x), np.size(x)))
    except AdjointError as error:
        return None, f"searches for a root, and of the equations themselves: {error.problem}"
    if not is_determined(found):
        return None, "has found a root where the Jacobian is singular"
    if not is_near(np.linalg.solve(found, np.ravel(f(x))), x):
        return None, NO_ROOT
    return found, ""


def _root(find: Any, f: Callable[..., Any], x: Any, search: Search, given: tuple[Any, ...]) -> Any:
    """The root of a system, as it moves with what that depends on; where there is none, it depends
    on all that was given."""
    slopes, why = looked(search, _slopes, f, x)
    if slopes is None:
        return unfollowed(x, find, why, *given)
    f = repeated(search, f)
    for _ in corrections():
        x = corrected(x, f(x), slopes)
    return x


def _left(found: Any, search: Search) -> Any:
    leave(search)
    return found


def _system(func: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The equations as SciPy takes them: they may write into what they are given, and give a list,
    or a number."""
    return lambda z: np.ravel(func(np.array(z), *args))


@substitute(optimize.fsolve)
def fsolve(func, x0, args=(), fprime=None, full_output=0, *settings, **named):
    args, find = as_tuple(args), optimize.fsolve
    given = (func, x0, args, fprime, full_output, *settings)
    found, search = searched(find, given, named)
    given = (*given, *named.values())
    f = _system(func, args)
    if not full_output:
        return _left(_root(find, f, found, search, given), search)
    x = _root(find, f, found[0], search, given)
    return _left((x, rest_of(find, found[1], given), *found[2:]), search)


def _nonlinear(find: Any) -> None:
    @substitute(find)
    def solve(F, xin, *settings, **named):
        given = (F, xin, *settings)
        found, search = searched(find, given, named)
        return _left(_root(find, _shaped(F, ()), found, search, given), search)


def _shaped(func: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any], Any]:
    return lambda z: np.reshape(func(np.array(z), *args), np.shape(z))


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
    given = (fun, x0, args, method, jac, tol, callback, options)
    if callable(method):
        return _ROOT(*given)
    func = (lambda *z: fun(*z)[0]) if jac is True else fun
    found, search = searched(find, given, {})
    if method.lower() == "lm":  # there may be more equations than unknowns
        f = _system(func, args)
        found.x = _fitted(find, f, found.x, search, given)
    else:
        f = _shaped(func, args)
        found.x = _root(find, f, found.x, search, given)
    found.fun = value_there(find, f, found.x, found.fun, search, given)
    return _left(rest_of(find, found, given, "x", "fun"), search)


_ROOT = again(optimize.root)


# ---- least squares -------------------------------------------------------------------------------


def _fitted(
    find: Any, residuals: Callable[..., Any], x: Any, search: Search, given: tuple[Any, ...]
) -> Any:
    """Where a sum of squares is lowest."""

    def half_squares(z):
        r = residuals(z)
        return 0.5 * (r @ r)

    _, why = looked(search, _regular, residuals, x)
    return moved(find, half_squares, x, search, given, why)


def _regular(residuals: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """The Jacobian, if all parameters matter, each in its way: second derivatives do not tell, of
    which some are what is left of a search."""
    from adjoint.derivatives.jacobians import jacobian

    try:
        slopes = np.reshape(jacobian(residuals, x), (-1, np.size(x)))
    except AdjointError:
        return None, ""  # the sum of squares will say why
    return (slopes, "") if is_determined(slopes) else (None, UNDETERMINED)


@substitute(optimize.leastsq)
def leastsq(func, x0, args=(), Dfun=None, full_output=False, *settings, **named):
    args, find = as_tuple(args), optimize.leastsq
    given = (func, x0, args, Dfun, full_output, *settings)
    found, search = searched(find, given, named)
    given = (*given, *named.values())
    residuals = _system(func, args)
    x = _fitted(find, residuals, found[0], search, given)
    if not full_output:
        return _left((x, *found[1:]), search)
    covariance, report = found[1:3]
    report["fvec"] = value_there(find, residuals, x, report["fvec"], search, given)
    report = rest_of(find, report, given, "fvec")
    covariance = _covariance(find, residuals, x, covariance, search, given)
    return _left((x, covariance, report, *found[3:]), search)


def _covariance(
    find: Any, residuals: Callable[..., Any], x: Any, value: Any, search: Search, given: Any
) -> Any:
    """(JᵀJ)⁻¹, of which SciPy knows a value by differences."""
    from adjoint.derivatives.jacobians import jacobian

    if value is None:
        return None
    _, why = looked(search, _regular, residuals, x)
    if why or not np.all(np.isfinite(value)):
        return unfollowed(value, find, why or UNDETERMINED, *given)
    slopes = jacobian(repeated(search, residuals), x)
    return with_value(value, np.linalg.inv(slopes.T @ slopes))


@substitute(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=(-np.inf, np.inf), method="trf", *settings,
    args=(), kwargs=None, **named,
):  # fmt: skip
    find, kwargs = optimize.least_squares, kwargs or {}
    given = (fun, x0, jac, bounds, method, *settings)
    named = {"args": args, "kwargs": kwargs, **named}
    if method != "lm":  # those whose steps are in Python
        return _LEAST_SQUARES(*given, **named)
    found, search = searched(find, given, named)
    given = (*given, *named.values())
    residuals = _system(lambda z: fun(z, *args, **kwargs), ())
    found.x = _fitted(find, residuals, found.x, search, given)
    found.fun = value_there(find, residuals, found.x, found.fun, search, given)
    found.cost = with_value(found.cost, 0.5 * (found.fun @ found.fun))
    return _left(rest_of(find, found, given, "x", "fun", "cost"), search)


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
    if not is_determined(normal):
        x = unfollowed(x, optimize.nnls, UNDETERMINED, A, b)
        return x, with_value(distance, np.linalg.norm(A @ x - b))
    for _ in corrections():
        y = corrected(y, columns.T @ (columns @ y - b), normal)
    x = np.zeros(np.shape(x))
    x[free] = y
    return x, with_value(distance, np.linalg.norm(A @ x - b))
