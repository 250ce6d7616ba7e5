"""SciPy's least squares in terms of operations of programs: the definitions that these inline.

SciPy finds the parameters, and calls the user's functions as they are. The derivative is that of a
minimum of the sum of squares.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import optimize

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import in_programs
from adjoint.fast.evaluate.values import Abstract, Closure, Known
from adjoint.fast.nested.plain_calls import SCALAR, plainly
from adjoint.fast.nested.solvers import (
    DETERMINED,
    condition,
    in_part,
    minimum_at,
    report,
    slopes_at,
    with_slopes,
)
from adjoint.fast.not_covered import Deoptimize, NotCovered
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.minimization import TOUCHING
from adjoint.rules.scipy.searches import as_tuple


def fit_at(residuals, x):
    """Return the minimum `x` of the sum of squares of the residuals."""

    def half_squares(z):
        r = residuals(z)
        return 0.5 * (r @ r)

    demand_regular(slopes_at(residuals, x))
    return minimum_at(half_squares, x)


@result_like(lambda slopes: slopes[0, 0])
@non_differentiable
def demand_regular(slopes: Any) -> Any:
    """Demand that residuals with this Jacobian determine all parameters."""
    normal = slopes.T @ slopes
    if not condition(normal, np.linalg.inv(normal)) < 1e3 * DETERMINED:
        raise Deoptimize("parameters that the residuals do not determine")
    return np.float64(0.0)


def _leastsq(func: Any, x0: Any, args: Any, *settings: Any) -> Any:
    x, *_, end = optimize.leastsq(func, x0, args, None, True, *settings)
    if end not in (1, 2, 3, 4):
        raise Deoptimize("a search that ends otherwise")
    return x, end


@definition(optimize.leastsq)
def leastsq(
    func, x0, args=(), Dfun=None, full_output=False, col_deriv=False, ftol=1.49012e-8,
    xtol=1.49012e-8, gtol=0.0, maxfev=0, epsfcn=None, factor=100, diag=None,
):  # fmt: skip
    if full_output or Dfun is not None or diag is not None:
        raise ValueError("other options")
    others, start = as_tuple(args), np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(func(np.array(z), *others)))
    given = func, x0, others, col_deriv, ftol, xtol, gtol, maxfev, epsfcn, factor
    x, end = plainly(_leastsq, given, (start, 1), at, start)
    return fit_at(at, x), end


def _demand_free(x: Any, bounds: Any) -> None:
    """Demand that no bound touches a minimum."""
    lower, upper = (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds
    for end in (lower, upper):
        if np.any(np.abs(x - end) <= TOUCHING * np.maximum(np.abs(x), 1.0)):
            raise Deoptimize("a minimum at a bound")


def _least_squares(fun: Any, x0: Any, args: Any, jac: Any, bounds: Any, *rest: Any) -> Any:
    method, ftol, xtol, gtol, settings = rest
    found = optimize.least_squares(
        fun, x0, jac, bounds, method, ftol, xtol, gtol, args=args, **settings
    )
    if not found.success:
        raise Deoptimize("a search that ends otherwise")
    _demand_free(found.x, bounds)
    return found.x, found.fun, found.cost, found.nfev, found.status


@definition(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=(-np.inf, np.inf), method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8,
    x_scale=None, loss="linear", *, args=(), max_nfev=None,
):  # fmt: skip
    if loss != "linear":
        raise ValueError("other options")
    others, start = as_tuple(args), np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(fun(np.array(z), *others)))
    settings = {"max_nfev": max_nfev}
    if x_scale is not None:
        settings["x_scale"] = x_scale
    given = fun, x0, others, jac, bounds, method, ftol, xtol, gtol, settings
    every = at if isinstance(jac, str) else with_slopes(at, jac, others)
    like = start, None, SCALAR, 0, 0
    x, left, cost, nfev, status = plainly(_least_squares, given, like, every, start)
    x = fit_at(at, x)
    r = at(x)
    known = {"x": x, "fun": with_derivative(left, r), "cost": with_derivative(cost, 0.5 * (r @ r))}
    return report(_OF_FIT, success=True, nfev=nfev, status=status, **known)


_OF_FIT = tuple(optimize.least_squares(lambda x: x - 0.5, [0.0]))


def _curve_fit(f: Any, x: Any, y: Any, p0: Any, sigma: Any, *options: Any) -> Any:
    absolute_sigma, bounds, method = options
    named = {"bounds": bounds, "method": method}
    found = optimize.curve_fit(f, x, y, p0, sigma, absolute_sigma, **named)[0]
    _demand_free(found, bounds)
    return found


@definition(optimize.curve_fit)
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=None,
    bounds=(-np.inf, np.inf), method=None,
):  # fmt: skip
    if sigma is not None and np.ndim(sigma) > 1:
        raise ValueError("other options")
    start = np.ones(parameters_of(f)) if p0 is None else np.ravel(p0) * 1.0

    def residuals(z):
        r = f(xdata, *z) - ydata
        return r if sigma is None else r / sigma

    given = f, xdata, ydata, p0, sigma, absolute_sigma, bounds, method
    return in_part(fit_at(residuals, plainly(_curve_fit, given, start, residuals, start)), None)


@in_programs
def parameters_of(ev: Evaluator, f: Abstract) -> Abstract:
    """Stand for the number of parameters of a model, without the first."""
    if not isinstance(f, Closure) or f.code.co_flags & inspect.CO_VARARGS or f.defaults:
        raise NotCovered("a model whose parameters are not known", ev.span)
    return Known(f.code.co_argcount - 1)
