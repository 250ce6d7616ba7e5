"""SciPy's solvers in terms of operations of programs: the definitions that these inline.

A root x of f(x, θ) = 0 is found by SciPy, which calls f as it is. Its derivative is
dx = −(∂f/∂x)⁻¹ (∂f/∂θ) dθ. One Newton step with a constant inverse, of length zero, has this
derivative; each further step makes one more order of derivatives exact. As all definitions, these
raise where the generic tier has to take the call: for options that are not provided for, and where
no root was found.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
from scipy import optimize

from adjoint.fast.evaluate.callees.definitions import constant, definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import LOST, Abstract, Closure, Instance, Known, Later, Tuple
from adjoint.fast.nested.plain_calls import SCALAR, demand, plainly, written_or
from adjoint.fast.not_covered import Deoptimize, NotCovered
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.minimization import TOUCHING
from adjoint.rules.scipy.searches import NEAR, as_tuple, corrections


@handler(corrections)
def _(ev: Evaluator) -> Abstract:
    return Known(range(ev.orders))


# ---- roots of functions of one variable ----------------------------------------------------------


def root_at(f, x):
    """Return the root `x` of a function of one variable, with its derivative."""
    left, slope = f(x), constant(nested.derivative(f)(x))
    demand(abs(constant(left)) <= abs(slope) * (NEAR[0] * abs(x) + NEAR[1]))
    for order in corrections():
        if order:
            left = f(x)
        x = x - float((left - constant(left)) / slope)
    return x


def _bracketed(find: Any) -> None:
    @definition(find)
    def solve(
        f, a, b, args=(), xtol=XTOL, rtol=RTOL, maxiter=MAXITER, full_output=False, disp=True
    ):
        if full_output or not disp:
            raise ValueError("other options")
        others = as_tuple(args)
        at = lambda x: f(x, *others)
        given = f, a, b, others, xtol, rtol, maxiter
        return root_at(at, plainly(find, given, SCALAR, at, a * 1.0))


XTOL, RTOL, MAXITER = (
    inspect.signature(optimize.brentq).parameters[name].default
    for name in ("xtol", "rtol", "maxiter")
)


for _find in (optimize.bisect, optimize.brenth, optimize.brentq, optimize.ridder):
    _bracketed(_find)


@definition(optimize.newton)
def newton(
    func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None, x1=None, rtol=0.0,
    full_output=False, disp=True,
):  # fmt: skip
    if full_output or not disp or np.ndim(x0) or fprime2 is not None:
        raise ValueError("other options")
    at = lambda x: func(x, *args)
    called = at if fprime is None else lambda x: (func(x, *args), fprime(x, *args))
    given = func, x0, fprime, args, tol, maxiter, None, x1, rtol
    return root_at(at, plainly(optimize.newton, given, SCALAR, called, np.float64(0.0)))


# ---- roots of systems ----------------------------------------------------------------------------


def slopes_at(f: Any, x: Any) -> Any:
    """Stand for the Jacobian of a function of a vector that returns one: that of all unit vectors
    at once, or one after the other where the function takes the vector apart."""
    raise NotImplementedError


@handler(slopes_at)
def _(ev: Evaluator, f: Abstract, x: Abstract) -> Abstract:
    return written_or(ev, _rows, _columns, [f, x])


def _rows(f, x):
    return nested.jacobian(f, x)


def _columns(f, x):
    if len(x) > MOST_UNKNOWNS:
        raise ValueError("too many unknowns")
    columns = []
    for i in range(len(x)):
        columns.append(nested.pushforward(f, (x,), (np.eye(len(x))[i],))[1])
    return np.stack(columns, axis=1)


MOST_UNKNOWNS = 16
"""Greatest number of columns of a Jacobian that are written one after the other."""


@result_like(lambda slopes, left, x: slopes)
@non_differentiable
def inverse_at(slopes: Any, left: Any, x: Any) -> Any:
    """Return the inverse of the Jacobian of a system at its root `x`, where `left` is what is left
    of the equations; the generic tier says why there is none."""
    inverse = np.linalg.inv(slopes)
    if not _condition(slopes, inverse) < DETERMINED:
        raise Deoptimize("a root where the Jacobian is nearly singular")
    if not abs(inverse @ left).max() <= NEAR[0] * abs(x).max() + NEAR[1]:
        raise Deoptimize("a search that has not found a root")
    return inverse


def _condition(matrix: Any, inverse: Any) -> Any:
    """Return a bound of the condition number after rows and columns are scaled."""
    rows = abs(matrix).max(1)
    columns = (abs(matrix) / rows[:, None]).max(0)
    return len(matrix) * (abs(inverse) * rows * columns[:, None]).max()


DETERMINED = 1e9
"""Condition number up to which a system is determined."""


def root_of_system(f, x):
    """Return the root `x` of a system, a function of a vector that returns one."""
    left = f(x)
    inverse = inverse_at(slopes_at(f, x), left, x)
    for order in corrections():
        if order:
            left = f(x)
        x = x - inverse @ (left - constant(left))
    return x


def _fsolve(func: Any, x0: Any, args: Any, *settings: Any) -> Any:
    x, _, end, _ = optimize.fsolve(func, x0, args, None, 1, *settings)
    if end != 1:
        raise Deoptimize("a search that ends otherwise")
    return x


@definition(optimize.fsolve)
def fsolve(
    func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-8, maxfev=0,
    band=None, epsfcn=None, factor=100, diag=None,
):  # fmt: skip
    if full_output or fprime is not None or band is not None or diag is not None:
        raise ValueError("other options")
    others = as_tuple(args)
    start = np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(func(np.array(z), *others)))
    given = func, x0, others, col_deriv, xtol, maxfev, None, epsfcn, factor
    return root_of_system(at, plainly(_fsolve, given, start, at, start))


# ---- reports -------------------------------------------------------------------------------------


def report(like: Any, _class: Any = optimize.OptimizeResult, **known: Any) -> Any:
    """Stand for a report of the fields of `like`, of which `known` may be read."""
    raise NotImplementedError


@handler(report)
def _(
    ev: Evaluator,
    like: Abstract,
    _class: Abstract = Known(optimize.OptimizeResult),
    **known: Abstract,
) -> Abstract:
    assert isinstance(like, Known) and isinstance(_class, Known)
    items = tuple(known.get(name, LOST) for name in like.value)
    return ev.allocate(Instance(_class.value, like.value, items))


def later(f: Any) -> Any:
    """Stand for the result of ``f()`` as a field of a report, computed where it is first read."""
    raise NotImplementedError


@handler(later)
def _(ev: Evaluator, f: Abstract) -> Abstract:
    return Later(f)


_OF_ROOT = tuple(optimize.root(lambda x: x, [0.0]))


def _root(fun: Any, x0: Any, args: Any, tol: Any, options: Any) -> Any:
    found = optimize.root(fun, x0, args, tol=tol, options=options)
    if not found.success or tuple(found) != _OF_ROOT:
        raise Deoptimize("a search that ends otherwise")
    return found.x, found.fun, found.nfev, found.status


@definition(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    if method != "hybr" or jac not in (None, False) or callback is not None:
        raise ValueError("other options")
    others = as_tuple(args)
    start = np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(fun(np.array(z), *others)))
    given = fun, x0, others, tol, options
    x, left, count, status = plainly(_root, given, (start, start, 0, 1), at, start)
    x = root_of_system(at, x)  # `fun` is zero, whatever the equations depend on
    return report(_OF_ROOT, x=x, fun=left, success=True, nfev=count, status=status)


# ---- minima --------------------------------------------------------------------------------------


@functools.cache
def _fields(find: Any, *start: Any, **options: Any) -> tuple[str, ...]:
    """Return the names of the fields of what a search for a minimum returns."""
    return tuple(find(_distance, *start, **options))


def _distance(x: Any) -> Any:
    return np.sum(np.square(np.subtract(x, 0.5)))


def _minimize_scalar(*given: Any) -> Any:
    found = optimize.minimize_scalar(*given)
    return found.x, found.fun, bool(found.success), found.nit, found.nfev


@definition(optimize.minimize_scalar)
def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    others = as_tuple(args)
    at = lambda z: fun(z, *others)
    given = fun, bracket, bounds, others, method, tol, options
    like = SCALAR, SCALAR, True, 0, 0
    x, lowest, success, nit, nfev = plainly(_minimize_scalar, given, like, at, np.float64(0.0))
    x = root_at(nested.derivative(at), x)
    if bounds is not None:
        demand(x - bounds[0] > TOUCHING)
        demand(bounds[1] - x > TOUCHING)
    lowest = with_derivative(lowest, at(x))
    fields = fields_of(optimize.minimize_scalar, bounds is not None, method)
    return report(fields, x=x, fun=lowest, success=success, nit=nit, nfev=nfev)


def minimum_at(f, x):
    """Return the minimum `x` of a function of a vector: a root of its gradient."""
    return root_of_system(lambda z: nested.gradient(f, z)[0], x)


def _minimize(fun: Any, x0: Any, args: Any, method: Any, tol: Any, options: Any) -> Any:
    found = optimize.minimize(fun, x0, args, method, tol=tol, options=options)
    return found.x, found.fun, bool(found.success), found.nit, found.nfev


@definition(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, callback=None, options=None,
):  # fmt: skip
    if jac not in (None, False) or bounds is not None or constraints != () or callback is not None:
        raise ValueError("other options")
    others, start = as_tuple(args), np.ravel(x0) * 1.0
    at = lambda z: fun(np.array(z), *others)
    given, like = (fun, x0, others, method, tol, options), (start, SCALAR, True, 0, 0)
    x, lowest, success, nit, nfev = plainly(_minimize, given, like, at, start)
    x = minimum_at(at, x)
    lowest = with_derivative(lowest, at(x))
    fields = fields_of(optimize.minimize, False, method)
    return report(fields, x=x, fun=lowest, success=success, nit=nit, nfev=nfev)


def fields_of(find: Any, is_bounded: Any, method: Any) -> Any:
    """Stand for the names of the fields of what a search for a minimum returns."""
    raise NotImplementedError


@handler(fields_of)
def _(ev: Evaluator, find: Known, is_bounded: Known, method: Known) -> Abstract:
    options = {"method": method.value} | ({"bounds": (0.0, 1.0)} if is_bounded.value else {})
    start = () if find.value is optimize.minimize_scalar else ((0.0,),)
    return Known(_fields(find.value, *start, **options))


# ---- least squares -------------------------------------------------------------------------------


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
    if not _condition(normal, np.linalg.inv(normal)) < 1e3 * DETERMINED:
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


def _least_squares(fun: Any, x0: Any, args: Any, jac: Any, method: Any, *ends: Any) -> Any:
    ftol, xtol, gtol = ends
    found = optimize.least_squares(
        fun, x0, jac, method=method, ftol=ftol, xtol=xtol, gtol=gtol, args=args
    )
    if not found.success:
        raise Deoptimize("a search that ends otherwise")
    return found.x, found.fun, found.cost, found.nfev, found.status


@definition(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=(-np.inf, np.inf), method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8,
    loss="linear", *, args=(), max_nfev=None,
):  # fmt: skip
    if bounds != (-np.inf, np.inf) or loss != "linear" or jac not in ("2-point", "3-point", "cs"):
        raise ValueError("other options")
    others, start = as_tuple(args), np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(fun(np.array(z), *others)))
    given = fun, x0, others, jac, method, ftol, xtol, gtol
    like = start, None, SCALAR, 0, 0
    x, left, cost, nfev, status = plainly(_least_squares, given, like, at, start)
    x = fit_at(at, x)
    r = at(x)
    known = {"x": x, "fun": with_derivative(left, r), "cost": with_derivative(cost, 0.5 * (r @ r))}
    return report(_OF_FIT, success=True, nfev=nfev, status=status, **known)


_OF_FIT = tuple(optimize.least_squares(_distance, [0.0]))


def _curve_fit(f: Any, x: Any, y: Any, p0: Any, sigma: Any, *options: Any) -> Any:
    absolute_sigma, method = options
    return optimize.curve_fit(f, x, y, p0, sigma, absolute_sigma, method=method)[0]


@definition(optimize.curve_fit)
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=None,
    bounds=(-np.inf, np.inf), method=None,
):  # fmt: skip
    if bounds != (-np.inf, np.inf) or (sigma is not None and np.ndim(sigma) > 1):
        raise ValueError("other options")
    start = np.ones(parameters_of(f)) if p0 is None else np.ravel(p0) * 1.0

    def residuals(z):
        r = f(xdata, *z) - ydata
        return r if sigma is None else r / sigma

    given = f, xdata, ydata, p0, sigma, absolute_sigma, method
    return without_rest(fit_at(residuals, plainly(_curve_fit, given, start, residuals, start)))


def parameters_of(f: Any) -> Any:
    """Stand for the number of parameters of a model, without the first."""
    raise NotImplementedError


@handler(parameters_of)
def _(ev: Evaluator, f: Abstract) -> Abstract:
    if not isinstance(f, Closure) or f.code.co_flags & inspect.CO_VARARGS or f.defaults:
        raise NotCovered("a model whose parameters are not known", ev.span)
    return Known(f.code.co_argcount - 1)


def without_rest(x: Any) -> Any:
    """Stand for a pair of `x` and a covariance, which is not provided for."""
    raise NotImplementedError


@handler(without_rest)
def _(ev: Evaluator, x: Abstract) -> Abstract:
    return Tuple((x, LOST))
