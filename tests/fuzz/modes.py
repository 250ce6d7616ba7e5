"""What every generated program with one number as result is held to, in the modes that specialised
programs have of their own: gradient, pushforward, linear map, product with the Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from tests.fuzz.check import (
    AGREES,
    WrongError,
    demand,
    direction_of,
    pairing,
    slope_along,
    slope_of,
)
from tests.fuzz.levels import tangent_along
from tests.fuzz.program import Program
from tests.structures import difference

SECOND_ORDER = 4
"""Of so many programs, one is differentiated twice."""


def check_modes(program: Program, f: Callable[..., Any]) -> None:
    """The value, the caller's data, and the derivative along one direction."""
    args = program.args()
    y_plain = f(*args)
    if not isinstance(y_plain, float):
        return
    left, kept = args, program.kept()
    rng = np.random.default_rng(program.seed)
    direction = direction_of(program, rng)
    slope = slope_of(program, f, 1.0, direction)
    for mode in (_gradient, _pushforward, _linearized):
        args = program.args()
        y, found = mode(program, f, args, direction)
        name = mode.__name__
        demand(f"{name}: result", difference(float(y), float(y_plain), rtol=1e-13))
        demand(f"{name}: globals", difference(program.kept(), kept, rtol=1e-13))
        demand(f"{name}: the caller's data", difference(args, left, rtol=1e-13))
        _demand_close(name, found, slope)
    if program.seed % SECOND_ORDER == 1:
        _check_product(program, f, direction, direction_of(program, rng))


def _gradient(program: Program, f: Any, args: Any, direction: Any) -> tuple[Any, float]:
    y, bars = ad.value_and_grad(f, tuple(range(len(args))))(*args)
    return y, _along(program, bars, direction)


def _pushforward(program: Program, f: Any, args: Any, direction: Any) -> tuple[Any, float]:
    dots = [tangent_along(x, dot, set()) for x, dot in zip(args, direction, strict=True)]
    return ad.pushforward(f, args, dots)


def _linearized(program: Program, f: Any, args: Any, direction: Any) -> tuple[Any, float]:
    """The map is used twice; the second result must be that of the first tangents again."""
    dots = [tangent_along(x, dot, set()) for x, dot in zip(args, direction, strict=True)]
    y, push = ad.linearize(f, *args)
    first, zero = push(*dots), push(*[None] * len(dots))
    if push(*dots) != first or zero:
        raise WrongError(f"linearize: {first!r}, then {push(*dots)!r}, and {zero!r} for zero")
    return y, first


def _check_product(program: Program, f: Any, direction: Any, other: Any) -> None:
    """The product of the Hessian and a direction, along the other one."""

    def packed(args: Any) -> Any:
        return f(*args)

    def slope(args: Any) -> float:
        return pairing(ad.grad(packed)([*args]), [*program.args()], [*other], set(), "of all")

    args, seen = [*program.args()], set[int]()
    dots = [tangent_along(x, dot, seen) for x, dot in zip(args, direction, strict=True)]
    found = pairing(ad.hvp(packed, args, dots), [*program.args()], [*other], set(), "of all")
    _demand_close("hvp", found, slope_along(program, direction, slope, 1e-3))


def _along(program: Program, bars: Any, direction: Any) -> float:
    triples = zip(bars, program.args(), direction, strict=True)
    return sum(pairing(*each, set(), str(n)) for n, each in enumerate(triples))


def _demand_close(name: str, found: float, slope: float) -> None:
    if not abs(found - slope) <= AGREES * max(1.0, abs(slope)):
        raise WrongError(f"{name}: {found!r}, finite differences give {slope!r}")
