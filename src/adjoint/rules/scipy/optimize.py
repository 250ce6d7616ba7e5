"""Rules of `scipy.optimize`: roots of functions of one variable, and linear programs.

A root x of f(x, θ) = 0 moves by dx = −(∂f/∂θ) dθ / (∂f/∂x), whatever finds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from adjoint.levels.level import entered
from adjoint.rules.projection import project
from adjoint.rules.refusal import NoDerivative, moves, refusal
from adjoint.rules.registry import (
    entry,
    frule,
    leveled,
    non_differentiable,
    primitive,
    rrule,
    substitute,
)
from adjoint.run.accumulate import Poison
from adjoint.run.unknown import run_unknown

try:
    from scipy.optimize._highspy import _highs_wrapper as highs
except ImportError:  # SciPy < 1.15 has it in C, as a whole
    highs = None

__all__ = ["rooted"]

NO_SLOPE = NoDerivative("the function", "has no slope at its root")


def rooted(root: Any, residual: Any, slope: Any) -> Any:
    """The root, which moves against the residual that a function has there."""
    return root


@rrule.register(rooted, alias=True)
def _(root, residual, slope):
    def rooted_back(y_bar):
        if not slope:
            return None, None, Poison(refusal(rooted, NO_SLOPE)) if moves(y_bar) else None, None
        return None, None, project(np.asarray(-y_bar / slope), residual), None

    return root, rooted_back


@frule.register(rooted, alias=True)
def _(dots, root, residual, slope):
    if not moves(dots[1]):
        return root, None
    if not slope:
        raise refusal(rooted, NO_SLOPE)
    return root, -dots[1] / slope


def _found(find: Any, args: Any, kwargs: Any) -> Any:
    return find(*args, **kwargs)


def _slope(f: Any, root: Any, args: Any) -> Any:
    """That of the function at its root; 0 where it has none."""
    from adjoint.api import gradient  # the engine, which loads these rules

    found = gradient(lambda x: f(x, *args), root)[0]
    return 0.0 if found is None or not np.isfinite(found) else float(found)


def _reported(found: Any, moved: Any) -> Any:
    """The root that moves, also in the report, which is all that `root_scalar` looks at."""
    report = found[1]
    report.root = moved
    return moved, report


def _root_of(find: Any) -> None:
    @substitute(find)
    def solve(f, a, b, args=(), *settings, **named):
        others = args if isinstance(args, tuple) else (args,)
        found = _found(find, (f, a, b, others, *settings), named)
        root = found[0] if isinstance(found, tuple) else found
        moved = rooted(root, f(root, *others), _slope(f, root, others))
        return _reported(found, moved) if isinstance(found, tuple) else moved

    @leveled(find)
    def on_level(level, record, slot, f, a, b, args=(), *settings, **named):
        """The root and the slope are those of the level below, where they move as well."""
        from adjoint.levels.transforms import derivative  # the engine, which loads these rules

        others = args if isinstance(args, tuple) else (args,)
        found = level.below(find, f, a, b, others, *settings, **named)
        root = found[0] if isinstance(found, tuple) else found
        residual = level.run(f, root, *others)
        with entered(level.outer):
            slope = derivative(lambda x: f(x, *others))(root)
        moved = level.operate(rooted, entry(rooted), root, residual, slope)
        return _reported(found, moved) if isinstance(found, tuple) else moved


for _name in ("bisect", "brenth", "brentq", "ridder"):
    _root_of(getattr(optimize, _name))

non_differentiable(_found, _slope, optimize.linear_sum_assignment)


def _run_highs(record: list[Any], slot: int, /, *args: Any, **named: Any) -> Any:
    """As one operation: HiGHS keeps what it is given in objects of its own and in their parts."""
    solve, why = highs._highs_wrapper, "solves a linear program, whose basis is not looked into"
    return run_unknown(record[0], record, slot, solve, args, named, why, trusted=True)


if highs is not None:
    primitive(highs._highs_wrapper)(_run_highs)
