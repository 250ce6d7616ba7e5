"""Rules of `scipy.optimize`: minima that are found by comparing values, or by code in C.

At a minimum inside what is allowed the gradient is zero: x moves as that equation says. Methods
whose steps are made of slopes, in Python (BFGS, CG, Newton-CG, Brent, Powell, least squares), are
differentiated themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from adjoint.errors import AdjointError
from adjoint.rules.again import again
from adjoint.rules.registry import substitute
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

__all__ = ["moved"]

FOUND = "is found by a search whose steps do not show it"


@without_levels
def _curvature(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    """The second derivative of `f` at a minimum, or why there is none."""
    from adjoint.api import gradient
    from adjoint.derivatives.hessians import hessian
    from adjoint.levels.transforms import derivative

    try:
        slope = gradient(f, x)[0]
        if np.ndim(x):
            found = np.asarray(hessian(f, x))
            step = np.linalg.solve(found, slope)
        else:
            found = derivative(lambda z: gradient(f, z)[0])(x)
            with np.errstate(all="ignore"):
                step = slope / found
    except AdjointError as error:
        return None, f"{FOUND}, and of the function itself: {error.problem}"
    except (np.linalg.LinAlgError, ZeroDivisionError, TypeError):
        return None, f"{FOUND}; the function has no curvature there"
    if not is_near(step, x):  # a bound may hold it there
        return None, f"{FOUND}; where it ends, the slope of the function is not zero"
    return found, ""


def moved(find: Any, f: Callable[..., Any], x: Any) -> Any:
    """A minimum of `f`, as it moves with what `f` depends on."""
    from adjoint.api import gradient

    curvature, why = _curvature(f, x)
    if curvature is None:
        return unfollowed(x, find, why, f)
    for _ in corrections():
        x = corrected(x, gradient(f, x)[0], curvature)
    return x


def _report(find: Any, f: Callable[..., Any], found: Any, state: Any) -> Any:
    """The result of a search: the minimum and the value there move, and nothing else is known."""
    x = moved(find, f, found.x) if state is not None else unfollowed(found.x, find, CHANGES, f)
    for name in list(found):
        value = found[name]
        if name == "x":
            found[name] = x
        elif name == "fun" and state is not None:
            found[name] = with_value(value, f(x))
        elif not isinstance(value, INERT):
            found[name] = unfollowed(value, find, FOUND, f)
    if state is not None:
        put_back(state)
    return found


def _parts(find: Any, f: Callable[..., Any], found: Any, state: Any) -> Any:
    """The same of the minimum alone, or of a tuple: the minimum, the value there, and the rest."""
    if not isinstance(found, tuple):
        report = _report(find, f, optimize.OptimizeResult(x=found), state)
        return report.x
    x, value, *rest = found
    report = _report(find, f, optimize.OptimizeResult(x=x, fun=value), state)
    return (report.x, report.fun, *[_rest(find, f, part) for part in rest])


def _rest(find: Any, f: Callable[..., Any], part: Any) -> Any:
    return part if isinstance(part, INERT) else unfollowed(part, find, FOUND, f)


# ---- by name -------------------------------------------------------------------------------------


def _search(find: Any, before: int, made: Callable[..., Any]) -> None:
    """The rule of a search ``find(func, *before, args, ...)``, of whose result `made` makes what
    moves."""

    @substitute(find)
    def search(func, *operands, **named):
        args = named.get("args", operands[before] if len(operands) > before else ())
        args = as_tuple(args)
        found, state = searched(find, (func, *operands), named)
        return made(find, lambda z: func(z, *args), found, state)


_search(optimize.golden, 0, _parts)
for _find in (optimize.fmin, optimize.brute):
    _search(_find, 1, _parts)
_search(optimize.fmin_cobyla, 2, _parts)
_search(optimize.fmin_slsqp, 9, _parts)
for _find in (
    optimize.differential_evolution,
    optimize.dual_annealing,
    optimize.shgo,
    optimize.direct,  # which takes them by name
):
    _search(_find, 1, _report)


def _quasi_newton(find: Any) -> None:
    """The rule of a search whose function gives its slope, too, if nothing else does."""

    @substitute(find)
    def search(func, x0, fprime=None, args=(), approx_grad=0, *settings, **named):
        args = as_tuple(args)
        both = fprime is None and not approx_grad
        given = (func, x0, fprime, args, approx_grad, *settings)
        (x, *rest), state = searched(find, given, named)
        value = (lambda z: func(z, *args)[0]) if both else (lambda z: func(z, *args))
        if find is optimize.fmin_tnc:
            return (_parts(find, value, x, state), *rest)
        return _parts(find, value, (x, *rest), state)


_quasi_newton(optimize.fmin_l_bfgs_b)
_quasi_newton(optimize.fmin_tnc)

_FOLLOWED = ("bfgs", "cg", "newton-cg", "powell", "_custom")
"""Methods of `minimize` whose own steps are differentiated."""


def _is_followed(method: Any, bounds: Any, constraints: Any) -> bool:
    if method is None:
        return bounds is None and not constraints
    return callable(method) or method.lower() in _FOLLOWED


@substitute(optimize.minimize)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, callback=None, options=None,
):  # fmt: skip
    args = as_tuple(args)
    settings = (method, jac, hess, hessp, bounds, constraints, tol, callback, options)
    if _is_followed(method, bounds, constraints):
        return _MINIMIZE(fun, x0, args, *settings)
    find = optimize.minimize
    found, state = searched(find, (fun, x0, args, *settings), {})
    value = (lambda z: fun(z, *args)[0]) if jac is True else (lambda z: fun(z, *args))
    return _report(find, value, found, state)


@substitute(optimize.minimize_scalar)
def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    args = as_tuple(args)
    settings = (bracket, bounds, args, method, tol, options)
    if callable(method) or str(method).lower() != "golden":
        return _MINIMIZE_SCALAR(fun, *settings)
    find = optimize.minimize_scalar
    found, state = searched(find, (fun, *settings), {})
    return _report(find, lambda z: fun(z, *args), found, state)


_MINIMIZE, _MINIMIZE_SCALAR = again(optimize.minimize), again(optimize.minimize_scalar)
