"""Rules of `scipy.optimize`: roots of functions of one variable, and linear programs.

A root x of f(x, θ) = 0 moves by dx = −(∂f/∂θ) dθ / (∂f/∂x), whatever finds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from adjoint.rules.registry import non_differentiable, primitive, substitute
from adjoint.rules.scipy import equations, minimization  # noqa: F401  they register their rules
from adjoint.rules.scipy.searches import (
    CHANGES,
    as_tuple,
    corrected,
    corrections,
    is_near,
    put_back,
    searched,
    unfollowed,
    without_levels,
)
from adjoint.run.unknown import run_unknown

try:
    from scipy.optimize._highspy import _highs_wrapper as highs
except ImportError:  # SciPy < 1.15 has it in C, as a whole
    highs = None

__all__: list[str] = []


@without_levels
def _slope(f: Any, root: Any, args: Any) -> tuple[float, str]:
    """That of the function at its root, or why there is none."""
    from adjoint.api import gradient  # the engine, which loads these rules

    found = gradient(lambda x: f(x, *args), root)[0]
    if found is None or not np.isfinite(found) or not found:
        return 0.0, "has found a root where the slope is zero"
    if not is_near(f(root, *args) / found, root):
        return 0.0, "has not found a root"
    return float(found), ""


def _reported(found: Any, moved: Any) -> Any:
    """The root that moves, also in the report, which is all that `root_scalar` looks at."""
    report = found[1]
    report.root = moved
    return moved, report


def _root_of(find: Any) -> None:
    @substitute(find)
    def solve(f, a, b, args=(), *settings, **named):
        others = as_tuple(args)
        found, state = searched(find, (f, a, b, others, *settings), named)
        root = found[0] if isinstance(found, tuple) else found
        slope, why = (0.0, CHANGES) if state is None else _slope(f, root, others)
        if why:
            root = unfollowed(root, find, why, f, a, b, *others, *settings, *named.values())
        else:
            for _ in corrections():
                root = corrected(root, f(root, *others), slope)
        if state is not None:
            put_back(state)
        return _reported(found, root) if isinstance(found, tuple) else root


for _name in ("bisect", "brenth", "brentq", "ridder"):
    _root_of(getattr(optimize, _name))

non_differentiable(optimize.linear_sum_assignment)


def _run_highs(record: list[Any], slot: int, /, *args: Any, **named: Any) -> Any:
    """As one operation: HiGHS keeps what it is given in objects of its own and in their parts."""
    solve, why = highs._highs_wrapper, "solves a linear program, whose basis is not looked into"
    return run_unknown(record[0], record, slot, solve, args, named, why, trusted=True)


if highs is not None:
    primitive(highs._highs_wrapper)(_run_highs)
