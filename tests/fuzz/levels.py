"""What every generated program is held to in forward mode, and in reverse mode on a tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.levels.reverse import nested
from tests.fuzz.check import AGREES, WrongError, demand, direction_of, slope_of
from tests.fuzz.program import Program
from tests.levels import paired
from tests.structures import difference, is_leaf, parts
from tests.support import random_cotangent


def check_levels(program: Program, f: Callable[..., Any]) -> None:
    """The value, the caller's data, and the derivative along one direction."""
    rng = np.random.default_rng(program.seed)
    args = program.args()
    y_plain = f(*args)
    left, kept = args, program.kept()
    y_bar, direction = random_cotangent(y_plain, rng), direction_of(program, rng)
    slope = slope_of(program, f, y_bar, direction)
    dots = [
        tangent_along(arg, dot, set()) for arg, dot in zip(program.args(), direction, strict=True)
    ]
    for mode in (_forward, _on_a_tape):
        args = program.args()
        y, found = mode(f, args, dots, y_bar)
        name = mode.__name__
        demand(f"{name}: result", difference(y, y_plain, rtol=1e-13))
        demand(f"{name}: globals", difference(program.kept(), kept, rtol=1e-13))
        demand(f"{name}: the caller's data", difference(args, left, rtol=1e-13))
        if not abs(found - slope) <= AGREES * max(1.0, abs(slope)):
            raise WrongError(f"{name}: {found!r}, finite differences give {slope!r}")


def _forward(f: Callable[..., Any], args: Any, dots: Any, y_bar: Any) -> tuple[Any, float]:
    y, y_dot = ad.pushforward(f, args, dots)
    return y, paired(y_bar, y_dot)


def _on_a_tape(f: Callable[..., Any], args: Any, dots: Any, y_bar: Any) -> tuple[Any, float]:
    y, back = nested(f, tuple(args), {}, of_function=False)
    return y, sum(paired(bar, dot) for bar, dot in zip(back(y_bar)[1:], dots, strict=True))


def tangent_along(x: Any, dot: Any, seen: set[int]) -> Any:
    """A direction as a tangent: what occurs twice in an argument has one, at its
    first place."""
    if isinstance(x, np.ndarray | list | dict) or hasattr(x, "__dict__"):
        if id(x) in seen:
            return None
        seen.add(id(x))
    if is_leaf(x):
        return dot if isinstance(x, np.ndarray | float) else None
    if isinstance(x, list | tuple):
        return [tangent_along(part, move, seen) for part, move in zip(x, dot, strict=True)]
    inside, moves = parts(x), dict(parts(dot) or ())
    return (
        None if inside is None else {k: tangent_along(part, moves[k], seen) for k, part in inside}
    )
