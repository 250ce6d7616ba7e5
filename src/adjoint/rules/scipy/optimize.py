"""Rules of `scipy.optimize`: roots of functions of one variable.

A root x of f(x, θ) = 0 moves by dx = −(∂f/∂θ) dθ / (∂f/∂x), whatever finds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from adjoint.levels.level import entered
from adjoint.rules.projection import project
from adjoint.rules.refusal import NoDerivative, moves, refusal
from adjoint.rules.registry import entry, frule, leveled, non_differentiable, rrule, substitute
from adjoint.run.accumulate import Poison

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


def _root_of(find: Any) -> None:
    @substitute(find)
    def solve(f, a, b, args=(), *settings, **named):
        others = args if isinstance(args, tuple) else (args,)
        found = _found(find, (f, a, b, others, *settings), named)
        root = found[0] if isinstance(found, tuple) else found
        moved = rooted(root, f(root, *others), _slope(f, root, others))
        return (moved, *found[1:]) if isinstance(found, tuple) else moved

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
        return (moved, *found[1:]) if isinstance(found, tuple) else moved


for _name in ("bisect", "brenth", "brentq", "ridder"):
    _root_of(getattr(optimize, _name))

non_differentiable(_found, _slope)
