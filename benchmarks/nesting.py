"""Derivatives of derivatives: what one more level costs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import adjoint as ad
from benchmarks.harness import CLOCK, Line, apart, show

__all__ = ["run"]

DEPTH = 4
POINT = 0.3
FACTOR = 6
"""The most that each level after the second may multiply the cost by."""


def _program(x: Any) -> Any:
    a = math.sin(x)
    b = a * x + 1.0
    c = math.exp(-b * b)
    d = c / (1.0 + a * a)
    total = 0.0
    for k in range(3):
        total = total + d * x**k
        d = math.tanh(d + total)
    return total * b


def _reverse(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: ad.gradient(f, x)[0]


MODES = {
    "forward": (ad.derivative, ad.derivative),
    "reverse": (_reverse, _reverse),
    "forward over reverse": (_reverse, ad.derivative),
}
"""How the first derivative is made, and how each further one."""


def run() -> Iterator[Line]:
    """All lines of this module."""
    lines = apart(_lines, ((mode,) for mode in MODES))
    yield from show("derivatives of a 10-line function, by depth", chain.from_iterable(lines))


def _lines(mode: str) -> list[Line]:
    first, further = MODES[mode]
    lines: list[Line] = []
    f, before = _program, 0.0
    for depth in range(1, DEPTH + 1):
        f = first(f) if depth == 1 else further(f)
        seconds = _median(f)
        name = f"{mode}, depth {depth}"
        if depth > 2:
            detail = f"{1e6 * seconds:.0f} us"
            lines.append(Line(name, seconds / before, "x", FACTOR, False, detail))
        else:
            lines.append(Line(name, 1e6 * seconds, "us"))
        before = seconds
    return lines


def _median(f: Callable[[Any], Any], rounds: int = 7) -> float:
    f(POINT)
    samples = []
    for _ in range(rounds):
        start = CLOCK()
        f(POINT)
        samples.append(CLOCK() - start)
    return statistics.median(samples)
