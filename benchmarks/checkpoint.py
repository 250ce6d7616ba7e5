"""Long loops whose states are not all kept: time and peak memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.harness import CLOCK, Line, apart, show

__all__ = ["run"]

STATE = 1_000
SHORT, LONG = 10_000, 100_000
ROUNDS = 3


def _step(u: Any, i: int, rate: float) -> Any:
    return u + rate * np.sin(u)


def _plain(n: int, u: Any, rate: float) -> Any:
    for i in range(n):
        u = _step(u, i, rate)
    return u.sum()


def _checkpointed(n: int, u: Any, rate: float) -> Any:
    return ad.checkpoint_loop(_step, u, n, rate).sum()


def run() -> Iterator[Line]:
    """All lines of this module."""
    title = f"checkpoint_loop, a state of {STATE:,} numbers: gradient"
    yield from show(title, chain.from_iterable(apart(_lines, [()])))


def _lines() -> list[Line]:
    u, rate = np.linspace(0.1, 1.0, STATE), 1e-5
    plain = min(_seconds(partial(_plain, SHORT), u, rate) for _ in range(ROUNDS)) / SHORT
    short = min(_seconds(partial(_checkpointed, SHORT), u, rate) for _ in range(ROUNDS)) / SHORT
    long = _seconds(partial(_checkpointed, LONG), u, rate) / LONG
    lines = [_time(SHORT, short, plain), _time(LONG, long, plain)]
    full = _peak(partial(_plain, SHORT), u, rate)
    detail = f"{SHORT:,} steps without it {full:.0f}"
    for n in (SHORT, LONG):
        peak = _peak(partial(_checkpointed, n), u, rate)
        lines.append(Line(f"{n:,} steps, peak memory", peak, "MiB", 64, False, detail))
    return lines


def _time(n: int, ours: float, plain: float) -> Line:
    detail = f"{1e6 * ours:.0f} us a step, {1e6 * plain:.0f} without it"
    return Line(f"{n:,} steps, time over {SHORT:,} without it", ours / plain, "x", 3, False, detail)


def _seconds(f: Callable[..., Any], u: Any, rate: float) -> float:
    start = CLOCK()
    ad.gradient(f, u, rate)
    return CLOCK() - start


def _peak(f: Callable[..., Any], u: Any, rate: float) -> float:
    tracemalloc.start()
    try:
        ad.gradient(f, u, rate)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
