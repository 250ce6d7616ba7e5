"""Rules of `scipy.optimize`: minima found by comparing values, or by compiled code.

The gradient is zero at a minimum in the interior, which gives the derivative of x. Python methods
whose steps use slopes (BFGS, CG, Newton-CG, Brent, Powell, least squares) are differentiated step
by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
from scipy import optimize

from adjoint.errors import AdjointError
from adjoint.levels.foreign.search_state import (
    INERT,
    Search,
    evaluate_at_end,
    go_back,
    repeated,
    restore_after,
    restore_before,
    run_search,
    without_levels,
)
from adjoint.levels.transforms import derivative
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.searches import (
    as_tuple,
    capturing,
    corrected,
    corrections,
    is_determined,
    is_near,
    refused_result,
    value_at,
    with_value,
)
from adjoint.runtime.dispatch.program_call import in_program

FOUND = "is found by a search whose steps do not show it"

# ---- derivatives of a minimum --------------------------------------------------------------------


def _curvature(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """Return the second derivative of `f` at a minimum, or the reason why it is not usable."""
    try:
        slope = nested.gradient(f, x)[0]
        if np.ndim(x):
            found = np.asarray(nested.hessian(f, x))
        else:
            found = derivative(lambda z: nested.gradient(f, z)[0])(x)
        if not is_determined(np.atleast_2d(found)):
            return None, f"{FOUND}; the function has no curvature there"
        step = np.linalg.solve(np.atleast_2d(found), np.atleast_1d(slope))
    except AdjointError as error:
        return None, f"{FOUND}, and of the function itself: {error.problem}"
    except TypeError:  # `f` does not depend on x
        return None, f"{FOUND}; the function has no curvature there"
    if not is_near(step, x):
        return None, f"{FOUND}; where it ends, the slope of the function is not zero"
    return found, ""


def minimum_with_derivative(
    find: Any, f: Callable[..., Any], x: Any, search: Search, given: tuple[Any, ...], why: str = ""
) -> Any:
    """Return the minimum `x` of `f` with its derivative, else refuse the derivative. A non-empty
    `why` is the reason of the refusal: a bound or a constraint fixes the minimum."""
    curvature = None
    if not why:
        curvature, why = evaluate_at_end(search, _curvature, f, x)
    if curvature is None:
        return refused_result(x, find, why, *given)
    f = repeated(search, f)
    for _ in corrections():
        x = corrected(x, in_program(capturing(_slope_at, f), x), curvature)
    return x


def _slope_at(f, x):
    return nested.gradient(f, x)[0]


def _report(
    find: Any, f: Callable[..., Any], found: Any, search: Search, args: tuple[Any, ...], named: Any
) -> Any:
    """Attach derivatives to the minimum and its value in a result; refuse them elsewhere."""
    given = (*args, *named.values())
    why = binding_constraint(search, find, found.x, args, named)
    x = minimum_with_derivative(find, f, found.x, search, given, why)
    known = {"x": x}  # before anything is written
    if "fun" in found:
        known["fun"] = value_at(find, f, x, found.fun, search, given)
    if isinstance(found.get("jac"), np.ndarray) and not why and not search.stores:
        known["jac"] = with_value(found.jac, in_program(capturing(_slope_at, f), x))
    for name in list(found):
        if name in known:
            found[name] = known[name]
        elif not isinstance(found[name], INERT):
            found[name] = refused_result(found[name], find, FOUND, *given)
    restore_after(search)
    return found


def _parts(
    find: Any, f: Callable[..., Any], found: Any, search: Search, args: tuple[Any, ...], named: Any
) -> Any:
    """Attach derivatives as `_report` does, to a result that is a minimum or a tuple. The tuple is
    the minimum, its value if the search returns it, and the rest."""
    x, *rest = found if isinstance(found, tuple) else (found,)
    told = optimize.OptimizeResult(x=x)
    if rest and isinstance(rest[0], float | np.ndarray | np.floating):
        told.fun = rest[0]
    report = _report(find, f, told, search, args, named)
    if not isinstance(found, tuple):
        return report.x
    given = (*args, *named.values())
    moving = [report.fun] if "fun" in report else []
    others = rest[len(moving) :]
    return (report.x, *moving, *[_rest(find, part, given) for part in others])


def _rest(find: Any, part: Any, given: tuple[Any, ...]) -> Any:
    return part if isinstance(part, INERT) else refused_result(part, find, FOUND, *given)


# ---- bounds and constraints ----------------------------------------------------------------------

TOUCHING = 1e-6
"""Distance from a bound (relative) or from the edge of a constraint that counts as touching."""


@without_levels
def binding_constraint(search: Search, find: Any, x: Any, args: tuple[Any, ...], named: Any) -> str:
    """Return why the gradient does not determine the minimum `x` of `find`, or ``""``. Reasons are
    a bound that `x` touches, a constraint, or a grid."""
    try:
        return binding(find, x, args, named)
    finally:
        if search.stores:  # a constraint may store something as well
            restore_before(search.before)


def binding(find: Any, x: Any, args: tuple[Any, ...], named: Any) -> str:
    """Return what holds the minimum `x` of a search, or ``""``."""
    given = dict(zip(signature(find).parameters, args, strict=False)) | named
    if np.any(given.get("integrality", False)) or (
        find is optimize.brute and given.get("finish", find) is None
    ):
        return f"{FOUND}; it ends on a grid"
    bounds = given.get("bounds")
    if bounds is not None and len(ends := _bounds(bounds)):
        for bound in ends:
            touching = TOUCHING * np.maximum(np.abs(bound), np.abs(x))
            if np.any(np.isfinite(bound) & (np.abs(x - bound) <= touching)):
                return f"{FOUND}; where it ends, a bound holds it"
    further = as_tuple(given.get("args", ()))
    for slack in _slacks(x, given, further):
        if not np.all(slack > TOUCHING):
            return f"{FOUND}; where it ends, a constraint holds it"
    return ""


def _bounds(bounds: Any) -> Any:
    if isinstance(bounds, optimize.Bounds):
        return [np.asarray(bounds.lb, dtype=float), np.asarray(bounds.ub, dtype=float)]
    ends = (-np.inf, np.inf)
    pairs = [
        [end if b is None else b for b, end in zip(pair, ends, strict=True)]
        for pair in ([bounds] if np.ndim(bounds) == 1 else bounds)  # of one variable
    ]
    return np.array(pairs, dtype=float).T


def _slacks(x: Any, given: Any, further: tuple[Any, ...]) -> Iterator[Any]:
    """Yield for each constraint the distance of `x` from the edge of the feasible set."""
    constraints = given.get("constraints", ())
    one = optimize.LinearConstraint | optimize.NonlinearConstraint
    for constraint in [constraints] if isinstance(constraints, dict | one) else constraints:
        if isinstance(constraint, dict):
            value = constraint["fun"](np.array(x), *as_tuple(constraint.get("args", ())))
            yield -np.inf if constraint["type"].lower() == "eq" else np.asarray(value)
        else:
            if isinstance(constraint, optimize.LinearConstraint):
                value = constraint.A @ x
            else:
                value = np.asarray(constraint.fun(np.array(x)))
            yield np.minimum(value - constraint.lb, constraint.ub - value)
    for name in ("eqcons", "f_eqcons"):
        if _several(given.get(name)):
            yield -np.inf
    inside = _several(given.get("cons")) or _several(given.get("ieqcons"))
    if given.get("consargs") is not None:
        further = as_tuple(given["consargs"])
    for f in inside:
        yield np.asarray(f(np.array(x), *further))
    if given.get("f_ieqcons") is not None:
        yield np.asarray(given["f_ieqcons"](np.array(x), *further))


def _several(constraints: Any) -> list[Any]:
    """Return a list of functions given as ``None``, one function, a list or an array."""
    if constraints is None:
        return []
    return [constraints] if callable(constraints) else list(constraints)


# ---- functions of `scipy.optimize` ---------------------------------------------------------------


def _number(func: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return `func` as a function of `z` that returns a scalar. As in SciPy, `func` may write into
    its operand and return an array of one number."""
    return lambda z: np.reshape(func(np.array(z), *args), ())


def _search(find: Any, before: int, made: Callable[..., Any], starts: bool = False) -> None:
    """Register a search ``find(func, *before, args, ...)``; `made` attaches the derivatives.
    `starts` tells whether the first argument after `func` is where it starts."""

    @substitute(find)
    def search(func, *operands, **named):
        args = named.get("args", operands[before] if len(operands) > before else ())
        f = _number(func, as_tuple(args))
        given = (func, *operands)
        start = np.ravel(operands[0]) * 1.0 if starts else None
        found, search = run_search(find, given, named, f if starts else None, start)
        return made(find, f, found, search, given, named)


_search(optimize.fmin, 1, _parts, True)
_search(optimize.fmin_cobyla, 2, _parts, True)
_search(optimize.fmin_slsqp, 9, _parts, True)
for _find in (
    optimize.differential_evolution,
    optimize.dual_annealing,
    optimize.shgo,
    optimize.direct,  # takes its arguments by keyword
):
    _search(_find, 1, _report)


@substitute(optimize.golden)
def golden(func, args=(), *settings, **named):
    args, find = as_tuple(args), optimize.golden
    given = (func, args) + settings
    found, search = run_search(find, given, named)
    return _parts(find, lambda z: func(z, *args), found, search, given, named)


@substitute(optimize.brute)
def brute(func, ranges, args=(), *settings, **named):
    args, find = as_tuple(args), optimize.brute
    given = (func, ranges, args) + settings

    def f(z):
        return np.reshape(func(np.array(z).ravel(), *args), ())

    found, search = run_search(find, given, named)
    return _parts(find, f, found, search, given, named)


def _quasi_newton(find: Any) -> None:
    """Register a search whose function may return its gradient as well."""

    @substitute(find)
    def search(func, x0, fprime=None, args=(), approx_grad=0, *settings, **named):
        args = as_tuple(args)
        both = fprime is None and not approx_grad
        given, f = (func, x0, fprime, args, approx_grad) + settings, _value(func, args, both)
        found, search = run_search(find, given, named, f, np.ravel(x0) * 1.0)
        return _parts(find, f, found, search, given, named)


def _value(func: Callable[..., Any], args: tuple[Any, ...], both: bool) -> Callable[[Any], Any]:
    return _number(lambda z: func(z, *args)[0], ()) if both else _number(func, args)


_quasi_newton(optimize.fmin_l_bfgs_b)
_quasi_newton(optimize.fmin_tnc)

_STEPWISE = ("bfgs", "cg", "newton-cg", "powell")
"""Methods of `minimize` that are differentiated step by step if they do not end at a minimum."""


def _is_elsewhere(search: Search, f: Callable[..., Any], x: Any) -> bool:
    """Return whether a search whose steps can be followed has ended elsewhere than at a minimum
    whose derivative is known. If so, the state is as before the search."""
    why = evaluate_at_end(search, _curvature, f, x)[1]
    if why:
        go_back(search)
    return bool(why)


non_differentiable(_is_elsewhere)


@substitute(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, callback=None, options=None,
):  # fmt: skip
    args = as_tuple(args)
    given = fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, callback, options
    if callable(method) or str(method).lower() == "_custom":
        return _MINIMIZE(*given)
    find, f = optimize.minimize, _value(fun, args, jac is True)
    found, search = run_search(find, given, {}, f, np.ravel(x0) * 1.0)
    is_bfgs = method is None and bounds is None and not constraints
    is_stepwise = is_bfgs or str(method).lower() in _STEPWISE
    if is_stepwise and _is_elsewhere(search, f, found.x):
        return _MINIMIZE(*given)
    return _report(find, f, found, search, given, {})


@substitute(optimize.minimize_scalar)
def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    args = as_tuple(args)
    given = fun, bracket, bounds, args, method, tol, options
    if callable(method):
        return _MINIMIZE_SCALAR(*given)
    find, f = optimize.minimize_scalar, lambda z: fun(z, *args)
    found, search = run_search(find, given, {}, f, 1.0)
    if str(method).lower() != "golden" and _is_elsewhere(search, f, found.x):
        return _MINIMIZE_SCALAR(*given)
    return _report(find, f, found, search, given, {})


_MINIMIZE, _MINIMIZE_SCALAR = (
    without_rule(optimize.minimize),
    without_rule(optimize.minimize_scalar),
)
