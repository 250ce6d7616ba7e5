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

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, in_programs
from adjoint.fast.evaluate.values import LOST, Abstract, Instance, Known, Later, Tuple
from adjoint.fast.nested.plain_calls import SCALAR, demand, plainly, written_or
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.minimization import TOUCHING, binding
from adjoint.rules.scipy.searches import NEAR, as_tuple, corrections


@handler(corrections)
def _(ev: Evaluator) -> Abstract:
    return Known(range(ev.orders))


@in_programs
def in_part(ev: Evaluator, *parts: Abstract) -> Abstract:
    """Stand for a tuple of `parts`, of which ``None`` is not provided for."""
    return Tuple(tuple(LOST if getattr(x, "value", ...) is None else x for x in parts))


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
        if not disp:
            raise ValueError("other options")
        others = as_tuple(args)
        at = lambda x: f(x, *others)
        given = f, a, b, others, xtol, rtol, maxiter
        x = root_at(at, plainly(find, given, SCALAR, at, a * 1.0))
        return in_part(x, None) if full_output else x


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


_OF_ROOT_SCALAR = tuple(optimize.root_scalar(lambda x: x - 0.5, bracket=(0.0, 1.0)))


def _root_scalar(f: Any, args: Any, method: Any, bracket: Any, *rest: Any) -> Any:
    fprime, x0, x1, xtol, rtol, maxiter, options = rest
    found = optimize.root_scalar(
        f, args, method, bracket, fprime, None, x0, x1, xtol, rtol, maxiter, options
    )
    if not found.converged:
        raise Deoptimize("a search that ends otherwise")
    return found.root, found.iterations, found.function_calls


@definition(optimize.root_scalar)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None,
    rtol=None, maxiter=None, options=None,
):  # fmt: skip
    if fprime is True or fprime2 is not None or np.ndim(x0 if x0 is not None else 0.0):
        raise ValueError("other options")
    others = as_tuple(args)
    at = lambda x: f(x, *others)
    called = at if fprime is None else lambda x: (f(x, *others), fprime(x, *others))
    given = f, others, method, bracket, fprime, x0, x1, xtol, rtol, maxiter, options
    like = SCALAR, 0, 0
    x, count, calls = plainly(_root_scalar, given, like, called, np.float64(0.0))
    known = {"iterations": count, "function_calls": calls, "converged": True}
    return report(_OF_ROOT_SCALAR, optimize.RootResults, root=root_at(at, x), **known)


# ---- roots of systems ----------------------------------------------------------------------------


@in_programs
def slopes_at(ev: Evaluator, f: Abstract, x: Abstract) -> Abstract:
    """Stand for the Jacobian of a function of a vector that returns one: that of all unit vectors
    at once, or one after the other where the function takes the vector apart."""
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
    if not condition(slopes, inverse) < DETERMINED:
        raise Deoptimize("a root where the Jacobian is nearly singular")
    if not abs(inverse @ left).max() <= NEAR[0] * abs(x).max() + NEAR[1]:
        raise Deoptimize("a search that has not found a root")
    return inverse


def condition(matrix: Any, inverse: Any) -> Any:
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


def _fsolve(func: Any, x0: Any, args: Any, fprime: Any, *settings: Any) -> Any:
    x, _, end, _ = optimize.fsolve(func, x0, args, fprime, 1, *settings)
    if end != 1:
        raise Deoptimize("a search that ends otherwise")
    return x


@definition(optimize.fsolve)
def fsolve(
    func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-8, maxfev=0,
    band=None, epsfcn=None, factor=100, diag=None,
):  # fmt: skip
    if band is not None or diag is not None:
        raise ValueError("other options")
    others = as_tuple(args)
    start = np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(func(np.array(z), *others)))
    given = func, x0, others, fprime, col_deriv, xtol, maxfev, None, epsfcn, factor
    every = with_slopes(at, fprime, others)
    x = root_of_system(at, plainly(_fsolve, given, start, every, start))
    return in_part(x, None, 1, None) if full_output else x


def with_slopes(at, slopes, others):
    """Return the function that calls `at`, and its slopes as the user gives them, if so."""
    if slopes is None or slopes is False:
        return at

    def every(z):
        slopes(np.array(z), *others)
        return at(z)

    return every


# ---- reports -------------------------------------------------------------------------------------


@in_programs
def report(
    ev: Evaluator,
    like: Abstract,
    _class: Abstract = Known(optimize.OptimizeResult),
    **known: Abstract,
) -> Abstract:
    """Stand for a report of the fields of `like`, of which `known` may be read."""
    assert isinstance(like, Known) and isinstance(_class, Known)
    items = tuple(known.get(name, LOST) for name in like.value)
    return ev.allocate(Instance(_class.value, like.value, items))


@in_programs
def later(ev: Evaluator, f: Abstract) -> Abstract:
    """Stand for the result of ``f()`` as a field of a report, computed where it is first read."""
    return Later(f)


_OF_ROOT = tuple(optimize.root(lambda x: x, [0.0]))
_WITH_SLOPES = tuple(optimize.root(lambda x: x, [0.0], jac=lambda x: np.eye(1)))


def _root(fun: Any, x0: Any, args: Any, jac: Any, tol: Any, options: Any) -> Any:
    found = optimize.root(fun, x0, args, jac=jac, tol=tol, options=options)
    if not found.success or tuple(found) not in (_OF_ROOT, _WITH_SLOPES):
        raise Deoptimize("a search that ends otherwise")
    return found.x, found.fun, found.nfev, found.status


@definition(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    if method != "hybr" or jac is True or callback is not None:
        raise ValueError("other options")
    others = as_tuple(args)
    start = np.ravel(x0) * 1.0
    at = lambda z: np.ravel(np.asarray(fun(np.array(z), *others)))
    given, every = (fun, x0, others, jac, tol, options), with_slopes(at, jac, others)
    x, left, count, status = plainly(_root, given, (start, start, 0, 1), every, start)
    x = root_of_system(at, x)  # `fun` is zero, whatever the equations depend on
    fields = _WITH_SLOPES if callable(jac) else _OF_ROOT
    return report(fields, x=x, fun=left, success=True, nfev=count, status=status)


# ---- minima --------------------------------------------------------------------------------------


@functools.cache
def _fields(find: Any, method: Any, has_bounds: bool, has_constraints: bool) -> tuple[str, ...]:
    """Return the names of the fields of what a search for a minimum returns."""
    options: dict[str, Any] = {"method": method}
    if find is optimize.minimize_scalar:
        return tuple(find(_distance, **options | ({"bounds": (0, 1)} if has_bounds else {})))
    if str(method).lower() in ("newton-cg", "dogleg") or "trust-" in str(method).lower():
        options |= {"jac": lambda x: 2 * (x - 0.5), "hess": lambda x: 2 * np.eye(len(x))}
    if has_bounds:
        options["bounds"] = [(0.0, 1.0)]
    if has_constraints:
        options["constraints"] = {"type": "ineq", "fun": lambda x: x[0]}
    return tuple(find(_distance, (0.2,), **options))


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
    fields = fields_of(optimize.minimize_scalar, (bounds is not None, False), method)
    return report(fields, x=x, fun=lowest, success=success, nit=nit, nfev=nfev)


def minimum_at(f, x):
    """Return the minimum `x` of a function of a vector: a root of its gradient."""
    return root_of_system(lambda z: nested.gradient(f, z)[0], x)


def _minimize(fun: Any, x0: Any, args: Any, method: Any, *options: Any) -> Any:
    jac, hess, hessp, bounds, constraints, tol, settings = options
    given = fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, None, settings
    found = optimize.minimize(*given)
    if binding(optimize.minimize, found.x, given, {}):
        raise Deoptimize("a minimum that a bound or a constraint holds")
    return found.x, found.fun, bool(found.success), found.nit, found.nfev


@definition(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, callback=None, options=None,
):  # fmt: skip
    if callback is not None or callable(method):
        raise ValueError("other options")
    others, start = as_tuple(args), np.ravel(x0) * 1.0
    if jac is True:
        at = lambda z: fun(np.array(z), *others)[0]
    else:
        at = lambda z: fun(np.array(z), *others)
    several = [constraints] if isinstance(constraints, dict) else [*constraints]
    slopes = [f for f in (jac, hess) if callable(f)]

    def every(z):
        for one in several:
            one["fun"](np.array(z), *as_tuple(one.get("args", ())))
            if "jac" in one:
                one["jac"](np.array(z), *as_tuple(one.get("args", ())))
        if hessp is not None:
            hessp(np.array(z), np.array(z), *others)
        return fun(np.array(z), *others), [f(np.array(z), *others) for f in slopes]

    given = fun, x0, others, method, jac, hess, hessp, bounds, several, tol, options
    like = start, SCALAR, True, 0, 0
    x, lowest, success, nit, nfev = plainly(_minimize, given, like, every, start)
    x = minimum_at(at, x)
    lowest = with_derivative(lowest, at(x))
    is_held = bounds is not None, len(several) > 0
    fields = fields_of(optimize.minimize, is_held, method)
    return report(fields, x=x, fun=lowest, success=success, nit=nit, nfev=nfev)


@in_programs
def fields_of(ev: Evaluator, find: Known, is_held: Abstract, method: Known) -> Abstract:
    """Stand for the names of the fields of what a search for a minimum returns: `is_held` tells
    whether it has bounds and constraints."""
    held = [x.value for x in ev.sequence(is_held) or ()]  # type: ignore[union-attr]
    return Known(_fields(find.value, method.value, *held))
