"""How the time per element of loops over n elements grows with n, in each tier: it should not."""

from __future__ import annotations

import inspect
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.harness import Line, apart, measure, ratio, show
from benchmarks.programs import growing

__all__ = ["point", "programs", "run"]

FEW, MANY = 500, 8000


def run() -> Iterator[Line]:
    """All lines of this module."""
    title = f"time per element of gradients of loops: n = {MANY} over n = {FEW}"
    yield from show(title, apart(_line, programs(), "generic"))
    lines = filter(None, apart(_specialised_line, programs(), "fast"))
    yield from show(f"the same in the fast tier, of those that it covers at {MANY}", lines)


def programs() -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """The loops, by name."""
    for name, f in inspect.getmembers(growing, inspect.isfunction):
        if not name.startswith("_"):
            yield name, f


def point(f: Callable[[Any], Any], n: int) -> Any:
    """`n` numbers as `f` takes them."""
    array = np.random.default_rng(n).random(n)
    return array if "array" in inspect.signature(f).parameters else array.tolist()


def _line(name: str, f: Callable[[Any], Any]) -> Line:
    few, many = point(f, FEW), point(f, MANY)
    small, large = measure(lambda: ad.gradient(f, few), lambda: ad.gradient(f, many), rounds=7)
    per_small, per_large = ([t / n for t in s] for s, n in ((small, FEW), (large, MANY)))
    before, after = (statistics.median(s) * 1e6 for s in (per_small, per_large))
    detail = f"{before:.3g} us -> {after:.3g} us"
    return Line(name.replace("_", " "), ratio(per_large, per_small), "x", 1.5, False, detail)


def _specialised_line(name: str, f: Callable[[Any], Any]) -> Line | None:
    covered = all(ad.tier(f, point(f, n)).tier == "fast" for n in (FEW, MANY))
    return _line(name, f) if covered else None
