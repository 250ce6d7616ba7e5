"""What every generated program is held to inside another derivative: beside its own arguments it
is given integers in containers, and an array twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import adjoint as ad
from tests.fuzz.check import (
    AGREES,
    CONVERGED,
    DiscardedError,
    WrongError,
    check_pullback,
    demand,
)
from tests.fuzz.kit import digest
from tests.fuzz.modes import check_modes
from tests.fuzz.program import Program
from tests.structures import difference

S = 1.25
STEP = 1e-3
WHOLE: dict[str, Any] = {"n": 3, "by": [2, -5, (7, 7)], "count": 2}
"""Integers that the arguments are multiplied with, to become what they were."""


NESTED = 8
"""Of so many programs, one is differentiated inside another derivative, too."""


def check_all(program: Program, f: Callable[..., Any]) -> None:
    """What ``make fuzz`` holds each program to."""
    check_pullback(program, f)
    check_modes(program, f)
    if program.seed % NESTED == 3:
        check_nested(program, f)
        check_twice(program, f)


def check_nested(program: Program, f: Callable[..., Any]) -> None:
    """The derivative by a variable around a gradient in the program's arguments and in integers,
    by both modes and by differences of the gradient; and what the gradient is inside."""

    def with_integers(s: Any, whole: Any, args: Any) -> Any:
        a, b, c, *rest = args
        a = a * whole["n"] / 3
        b = b * (whole["by"][1] * s * whole["by"][2][0]) / (-35 * S)
        for _ in range(whole["count"]):
            c = c + 0.01 * s * whole["by"][0]
        c = c - 0.04 * S
        return digest(f(a, b, c, *rest))

    def around(s: Any, args: Any, whole: Any = WHOLE) -> Any:
        bars = ad.gradient(lambda whole, *args: with_integers(s, whole, args), whole, *args)
        return total(bars), bars

    def at(s: float) -> float:
        return float(around(s, program.args())[0])

    outside = around(S, program.args())[1]
    _check_integers(program, with_integers, outside[0])
    slope = _slope(at)
    args = program.args()
    (_, inside), (pushed, _) = ad.pushforward(lambda s: around(s, args), (S,), (1.0,))
    demand("the gradient in forward mode", difference(inside, outside, rtol=1e-11))
    args = program.args()
    (_, inside), pulled = ad.value_and_grad(lambda s: around(s, args), has_aux=True)(S)
    demand("the gradient in reverse mode", difference(inside, outside, rtol=1e-11))
    for mode, found in (("forward", pushed), ("reverse", pulled)):
        if not abs(found - slope) <= 10 * AGREES * max(1.0, abs(slope)):
            raise WrongError(f"{mode} over reverse: {found!r}, differences give {slope!r}")


def _check_integers(program: Program, value: Callable[..., Any], bar: Any) -> None:
    """The cotangents of the integers against differences in floats in their places."""

    def moved(h: float) -> Any:
        one, other, (third, fourth) = WHOLE["by"]
        moves = WHOLE["n"] + h, one - h, other + 2 * h, third - 3 * h
        n, one, other, third = moves
        return {**WHOLE, "n": n, "by": [one, other, (third, fourth)]}

    one, other, (third, idle) = bar["by"]
    found = bar["n"] - one + 2 * other - 3 * third
    slope = _slope(lambda h: float(value(S, moved(h), program.args())), 0.0)
    if not abs(found - slope) <= AGREES * max(1.0, abs(slope)) or idle or bar["count"]:
        raise WrongError(f"integers: {bar}, finite differences give {slope!r} along (1, -1, 2, -3)")


def check_twice(program: Program, f: Callable[..., Any]) -> None:
    """An array that is given twice is two variables: as if one of them were a copy."""
    if "x" not in program.parameters:
        return
    place = program.parameters.index("x")

    def value(twin: Any, *args: Any) -> Any:
        return np.sum(np.sin(args[place]) * twin) + digest(f(*args))

    def gradient(way: Callable[..., Any], twice: bool) -> Any:
        args = program.args()
        x = args[place]
        return way(value, x if twice else x.copy(), *args)

    for way in (ad.gradient, _in_the_generic_tier, _inside):
        expected, found = gradient(way, False), gradient(way, True)
        demand(f"{way.__name__}: an array given twice", difference(found, expected, rtol=1e-11))


def _in_the_generic_tier(f: Callable[..., Any], *args: Any) -> Any:
    return ad.grad(f, tuple(range(len(args))), tier="generic")(*args)


def _inside(f: Callable[..., Any], *args: Any) -> Any:
    def found(s: Any) -> Any:
        return ad.gradient(lambda *args: s * f(*args), *args)

    return ad.pushforward(found, (1.0,), (1.0,))[1]


def _slope(at: Callable[[float], float], x: float = S) -> float:
    """The derivative by two five-point stencils."""
    half, one, two = (at(x + k * STEP) - at(x - k * STEP) for k in (0.5, 1.0, 2.0))
    coarse, fine = (8 * one - two) / (12 * STEP), (8 * half - one) / (6 * STEP)
    if not abs(fine - coarse) <= CONVERGED * max(1.0, abs(fine)):
        raise DiscardedError("two step sizes disagree")
    return fine


def total(found: Any) -> Any:
    """A weighted sum of all numbers in a structure, as code that is differentiated."""
    sums, weight = 0.0, 1.0
    for part in _numbers(found):
        sums = sums + weight * np.sum(part)
        weight = 0.1 - 0.7 * weight
    return sums


def _numbers(found: Any) -> list[Any]:
    if found is None:
        return []
    if isinstance(found, Mapping):
        return [number for part in found.values() for number in _numbers(part)]
    if isinstance(found, list | tuple):
        return [number for part in found for number in _numbers(part)]
    return [found]
