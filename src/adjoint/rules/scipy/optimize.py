"""Rules of `scipy.optimize`: roots of functions of one variable, and linear programs.

A root x of f(x, θ) = 0 has dx = −(∂f/∂θ) dθ / (∂f/∂x), for every method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from adjoint.levels.foreign.search_state import (
    evaluate_at_end,
    go_back,
    repeated,
    restore_after,
    run_search,
)
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy import (  # noqa: F401  they register
    isotonic,
    linear_programs,
    minimization,
    systems_of_equations,
)
from adjoint.rules.scipy.searches import as_tuple, corrected, corrections, is_near, refused_result
from adjoint.runtime.dispatch.program_call import in_program
from adjoint.runtime.foreign.unknown_call import run_unknown

try:
    from scipy.optimize._pava_pybind import pava
except ImportError:  # SciPy < 1.12
    pava = None

try:
    from scipy.optimize._highspy import _highs_wrapper as highs
except ImportError:  # SciPy < 1.15 has all of it in C
    highs = None


def _slope(f: Any, root: Any) -> tuple[float | None, str]:
    """Return the slope of `f` at its root, or the reason why it is not usable."""
    found = nested.gradient(f, root)[0]
    if found is None or not np.isfinite(found) or not found:
        return None, "has found a root where the slope is zero"
    if not is_near(f(root) / found, root):
        return None, "has not found a root"
    return float(found), ""


def _reported(found: Any, moved: Any) -> Any:
    """Return the root with its derivative, and the report, which `root_scalar` reads it from."""
    report = found[1]
    report.root = moved
    return moved, report


def _moved(find: Any, at: Any, found: Any, search: Any, given: Any, slope: Any, why: str) -> Any:
    """Return what a search has found, with the derivative of the root."""
    root = found[0] if isinstance(found, tuple) else found
    if why:
        root = refused_result(root, find, why, *given)
    else:
        at = repeated(search, at)
        for _ in corrections():
            root = corrected(root, in_program(at, root), slope)
    restore_after(search)
    return _reported(found, root) if isinstance(found, tuple) else root


def _root_of(find: Any) -> None:
    @substitute(find)
    def solve(f, a, b, args=(), *settings, **named):
        others = as_tuple(args)
        at = lambda x: f(x, *others)
        given = (f, a, b, others) + settings
        found, search = run_search(find, given, named, at, a * 1.0)
        root = found[0] if isinstance(found, tuple) else found
        slope, why = evaluate_at_end(search, _slope, at, root)
        return _moved(find, at, found, search, given + tuple(named.values()), slope, why)


_NEWTON = without_rule(optimize.newton)


@substitute(optimize.newton)
def newton(
    func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None, x1=None, rtol=0.0,
    full_output=False, disp=True,
):  # fmt: skip
    given = func, x0, fprime, args, tol, maxiter, fprime2, x1, rtol, full_output, disp
    if np.ndim(x0) or np.iscomplexobj(x0):
        return _NEWTON(*given)
    find, at = optimize.newton, lambda x: func(x, *args)
    found, search = run_search(find, given, {}, at, x0 * 1.0)
    root = found[0] if isinstance(found, tuple) else found
    slope, why = evaluate_at_end(search, _slope, at, root)
    if why:
        go_back(search)
        return _NEWTON(*given)
    return _moved(find, at, found, search, given, slope, why)


for _name in ("bisect", "brenth", "brentq", "ridder"):
    _root_of(getattr(optimize, _name))

non_differentiable(optimize.linear_sum_assignment)
if pava is not None:
    isotonic.register(pava)


def _run_highs(record: list[Any], slot: int, /, *args: Any, **named: Any) -> Any:
    """Run HiGHS as one unknown call, because it stores its arguments in objects of its own."""
    solve, why = highs._highs_wrapper, "solves a linear program, whose basis is not looked into"
    return run_unknown(record[0], record, slot, solve, args, named, why, trusted=True)


if highs is not None:
    primitive(highs._highs_wrapper)(_run_highs)
