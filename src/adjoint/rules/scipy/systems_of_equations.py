"""Rules of `scipy.optimize`: roots of systems of equations, and least squares.

The derivative of a root follows from its equations. The derivative of a fit follows from the
gradient of its cost being zero. A coordinate that a bound fixes moves with the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy import optimize
from scipy.optimize import _minpack_py
from scipy.optimize._lsq.common import EPS
from scipy.optimize._lsq.least_squares import construct_loss_function

from adjoint.errors import AdjointError
from adjoint.levels.foreign.search_state import (
    Search,
    evaluate_at_end,
    go_back,
    repeated,
    restore_after,
    run_search,
)
from adjoint.rulekit import nested
from adjoint.rulekit.registry import substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.minimization import FOUND, TOUCHING, minimum_with_derivative
from adjoint.rules.scipy.searches import (
    as_tuple,
    capturing,
    corrected,
    corrections,
    is_determined,
    is_near,
    refuse_rest,
    refused_result,
    value_at,
    with_value,
)
from adjoint.runtime.dispatch.program_call import in_program

UNDETERMINED = "has found a minimum that is not determined by what was given"
NO_ROOT = "has not found a root where the equations have a solution nearby"


# ---- systems of equations ------------------------------------------------------------------------


def _slopes(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """Return the Jacobian of a system at its root as a matrix, or why it is not usable."""
    try:
        found = np.reshape(nested.jacobian(f, x), (np.size(x), np.size(x)))
    except AdjointError as error:
        return None, f"searches for a root, and of the equations themselves: {error.problem}"
    if not is_determined(found):
        return None, "has found a root where the Jacobian is singular"
    if not is_near(np.linalg.solve(found, np.ravel(f(x))), x):
        return None, NO_ROOT
    return found, ""


def _root(find: Any, f: Callable[..., Any], x: Any, search: Search, given: tuple[Any, ...]) -> Any:
    """Return the root `x` with the derivative that its equations give, or refuse that."""
    slopes, why = evaluate_at_end(search, _slopes, f, x)
    if slopes is None:
        return refused_result(x, find, why, *given)
    f = repeated(search, f)
    for _ in corrections():
        x = corrected(x, in_program(f, x), slopes)
    return x


def _restored(found: Any, search: Search) -> Any:
    restore_after(search)
    return found


def _system(func: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return the equations `func` as a function of `z` that returns a vector. As in SciPy, `func`
    may write into its operand and return a list or a number."""
    return lambda z: np.ravel(func(np.array(z), *args))


@substitute(optimize.fsolve)
def fsolve(func, x0, args=(), fprime=None, full_output=0, *settings, **named):
    args, find = as_tuple(args), optimize.fsolve
    given, f = (func, x0, args, fprime, full_output) + settings, _system(func, args)
    found, search = run_search(find, given, named, f, np.ravel(x0) * 1.0)
    given = given + tuple(named.values())
    if not full_output:
        return _restored(_root(find, f, found, search, given), search)
    x = _root(find, f, found[0], search, given)
    return _restored((x, refuse_rest(find, found[1], given), *found[2:]), search)


def _nonlinear(find: Any) -> None:
    @substitute(find)
    def solve(F, xin, *settings, **named):
        given, f = (F, xin) + settings, _shaped(F, ())
        found, search = run_search(find, given, named, f, np.asarray(xin) * 1.0)
        return _restored(_root(find, f, found, search, given), search)


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
    is_fit = method.lower() == "lm"  # there may be more equations than unknowns
    f = _system(func, args) if is_fit else _shaped(func, args)
    found, search = run_search(find, given, {}, f, np.asarray(x0) * 1.0)
    if is_fit:
        found.x = _fitted(find, f, found.x, search, given)
    else:
        found.x = _root(find, f, found.x, search, given)
    found.fun = value_at(find, f, found.x, found.fun, search, given)
    return _restored(refuse_rest(find, found, given, "x", "fun"), search)


_ROOT, _FIXED_POINT = without_rule(optimize.root), without_rule(optimize.fixed_point)


@substitute(optimize.fixed_point)
def fixed_point(func, x0, args=(), *settings, **named):
    find, given = optimize.fixed_point, (func, x0, args) + settings
    f = _shaped(lambda z: z - func(z, *args), ())
    found, search = run_search(find, given, named, f, np.asarray(x0) * 1.0)
    if evaluate_at_end(search, _slopes, f, found)[1]:
        go_back(search)
        return _FIXED_POINT(*given, **named)
    return _restored(_root(find, f, found, search, given + tuple(named.values())), search)


# ---- least squares -------------------------------------------------------------------------------


def _fitted(
    find: Any, residuals: Callable[..., Any], x: Any, search: Search, given: tuple[Any, ...]
) -> Any:
    """Return the minimum `x` of a sum of squares with its derivative."""

    def half_squares(z):
        r = residuals(z)
        return 0.5 * (r @ r)

    _, why = evaluate_at_end(search, _regular, residuals, x)
    return minimum_with_derivative(find, half_squares, x, search, given, why)


def _regular(residuals: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """Return the Jacobian if all parameters are determined by the residuals, else a reason. Second
    derivatives cannot tell: some of theirs are an error that the search left."""
    try:
        slopes = np.reshape(nested.jacobian(residuals, x), (-1, np.size(x)))
    except AdjointError:
        return None, ""  # the sum of squares raises the error
    return (slopes, "") if is_determined(slopes) else (None, UNDETERMINED)


@substitute(optimize.leastsq)
def leastsq(func, x0, args=(), Dfun=None, full_output=False, *settings, **named):
    args, find = as_tuple(args), optimize.leastsq
    given = (func, x0, args, Dfun, full_output) + settings
    residuals = _system(func, args)
    found, search = run_search(find, given, named, residuals, np.ravel(x0) * 1.0)
    given = given + tuple(named.values())
    x = _fitted(find, residuals, found[0], search, given)
    if not full_output:
        return _restored((x, *found[1:]), search)
    covariance, report = found[1:3]
    report["fvec"] = value_at(find, residuals, x, report["fvec"], search, given)
    report = refuse_rest(find, report, given, "fvec")
    covariance = _covariance(find, residuals, x, covariance, search, given)
    return _restored((x, covariance, report, *found[3:]), search)


def _covariance(
    find: Any, residuals: Callable[..., Any], x: Any, value: Any, search: Search, given: Any
) -> Any:
    """Return the covariance (JᵀJ)⁻¹, whose value SciPy computes by finite differences."""
    if value is None:
        return None
    _, why = evaluate_at_end(search, _regular, residuals, x)
    if why or not np.all(np.isfinite(value)):
        return refused_result(value, find, why or UNDETERMINED, *given)
    slopes = jacobian_at(search, residuals, x)
    return with_value(value, np.linalg.inv(slopes.T @ slopes))


def jacobian_at(search: Search, residuals: Callable[..., Any], x: Any) -> Any:
    return in_program(capturing(_jacobian, repeated(search, residuals)), x)


def _jacobian(residuals, x):
    columns = []
    for along in np.eye(len(x)):
        columns.append(nested.pushforward(residuals, (x,), (along,))[1])
    return np.stack(columns, axis=1)


_X_SCALE = signature(optimize.least_squares).parameters["x_scale"].default


@substitute(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=(-np.inf, np.inf), method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8,
    x_scale=_X_SCALE, loss="linear", f_scale=1.0, *settings, args=(), kwargs=None, **named,
):  # fmt: skip
    find, by_name = optimize.least_squares, kwargs or {}
    given = (fun, x0, jac, bounds, method, ftol, xtol, gtol, x_scale, loss, f_scale) + settings
    named = {"args": args, "kwargs": by_name, **named}
    residuals = _system(lambda z: fun(z, *args, **by_name), ())

    def cost(z):
        return _cost(residuals(z), loss, f_scale)

    found, search = run_search(find, given, named, residuals, np.ravel(x0) * 1.0)
    given = given + tuple(named.values())
    x, why = _within(find, residuals, cost, found.x, bounds, search, given)
    at_x = value_at(find, residuals, x, found.fun, search, given)
    lowest = with_value(found.cost, _cost(at_x, loss, f_scale))
    known = ["x", "fun", "cost"]
    if not why and isinstance(found.jac, np.ndarray):
        slopes = jacobian_at(search, residuals, x)
        slope, bend = _weights(at_x, loss, f_scale)
        known = ["x", "fun", "cost", "grad", "jac"]
        found.grad = with_value(found.grad, slopes.T @ slope)
        found.jac = with_value(found.jac, (slopes.T * bend).T)
    found.x, found.fun, found.cost = x, at_x, lowest
    return _restored(refuse_rest(find, found, given, *known), search)


def _cost(r: Any, loss: Any, scale: Any) -> Any:
    """Return the cost that `least_squares` minimizes."""
    if loss == "linear":
        return 0.5 * (r @ r)
    return construct_loss_function(len(r), loss, scale)(r, cost_only=True)


def _weights(r: Any, loss: Any, scale: Any) -> tuple[Any, Any]:
    """Return the slope of the loss in each residual, and the factors of SciPy's Jacobian. The
    factor of each row is the square root of the curvature of the loss."""
    weigh = construct_loss_function(len(r), loss, scale)
    if weigh is None:
        return r, np.ones(len(r))
    rho = weigh(r)
    bend = rho[1] + 2 * rho[2] * r**2
    return rho[1] * r, np.sqrt(np.where(bend > EPS, bend, EPS))


def _within(
    find: Any,
    residuals: Callable[..., Any],
    cost: Callable[..., Any],
    x: Any,
    bounds: Any,
    search: Search,
    given: tuple[Any, ...],
) -> tuple[Any, str]:
    """Return the minimum `x` of a cost within `bounds`, and why its derivative is unknown.
    Coordinates that a bound fixes move with the bound."""
    lower, upper = (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds
    sides, why = evaluate_at_end(search, partial(_sides, (lower, upper)), cost, x)
    if why:
        return refused_result(x, find, why, *given), why
    free, below, above = sides
    if len(free) == len(x):
        _, why = evaluate_at_end(search, _regular, residuals, x)
        return minimum_with_derivative(find, cost, x, search, given, why), why
    held = np.where(below, lower, np.where(above, upper, 0.0))
    order = np.argsort(np.concatenate([free, np.flatnonzero(below | above)]))
    held = with_value(x[below | above], held[below | above])

    def whole(z):
        return np.concatenate([z, held])[order]

    if not len(free):
        return whole(x[free]), ""
    _, why = evaluate_at_end(search, _regular, lambda z: residuals(whole(z)), x[free])
    return whole(
        minimum_with_derivative(find, lambda z: cost(whole(z)), x[free], search, given, why)
    ), why


def _sides(bounds: Any, cost: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """Return indices of free coordinates and masks of those fixed by each bound, or why not."""
    near = [np.abs(x - end) <= TOUCHING * np.maximum(np.abs(x), 1.0) for end in bounds]
    if not np.any(near):
        return (np.arange(len(x)), *near), ""
    try:
        slope = nested.gradient(cost, x)[0]
    except AdjointError as error:
        return None, f"{FOUND}, and of the function itself: {error.problem}"
    least = STEEP * np.max(np.abs(slope), initial=0.0)
    below, above = near[0] & (slope > least), near[1] & (slope < -least)
    if np.any((near[0] | near[1]) & ~(below | above)):
        return None, f"{FOUND}; where it ends, a bound touches it and does not hold it"
    return (np.flatnonzero(~(below | above)), below, above), ""


STEEP = 1e-7
"""Least slope of the cost, relative to its largest slope, at which a bound fixes a coordinate."""


if hasattr(_minpack_py, "_lightweight_memoizer"):

    @substitute(_minpack_py._lightweight_memoizer)
    def _lightweight_memoizer(f):
        return f  # only saves repeated calls


@substitute(optimize.nnls)
def nnls(A, b, *settings, **named):
    (x, distance), _ = run_search(optimize.nnls, (A, b) + settings, named)
    free = np.flatnonzero(x)  # the bound fixes the others at zero
    A, b = np.asarray(A), np.asarray(b)
    columns, y = A[:, free], x[free]
    normal = columns.T @ columns
    if not is_determined(normal):
        x = refused_result(x, optimize.nnls, UNDETERMINED, A, b)
        return x, with_value(distance, np.linalg.norm(A @ x - b))
    for _ in corrections():
        y = corrected(y, columns.T @ (columns @ y - b), normal)
    x = np.zeros(np.shape(x))
    x[free] = y
    return x, with_value(distance, np.linalg.norm(A @ x - b))
