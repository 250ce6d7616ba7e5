"""The pullbacks of rules on a million elements, beside what one would write by hand for them.

When it is called first, a pullback looks whether its slopes are all finite, unless the sweep that
it is part of looks at what it gives in the end: it is later calls that are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.harness import Line, apart, measure, ratio, show

__all__ = ["run"]

N = 1_000_000
BAR = 1.1

Hand = Callable[..., Any]

ELEMENTWISE: dict[str, tuple[Callable[..., Any], Hand]] = {
    "exp": (np.exp, lambda g, y, x: g * y),
    "log": (np.log, lambda g, y, x: g / x),
    "sin": (np.sin, lambda g, y, x: g * np.cos(x)),
    "tanh": (np.tanh, lambda g, y, x: g * (1 - y * y)),
    "sqrt": (np.sqrt, lambda g, y, x: g / (2 * y)),
    "square": (np.square, lambda g, y, x: g * (2 * x)),
    "arctan": (np.arctan, lambda g, y, x: g / (1 + x * x)),
    "negative": (np.negative, lambda g, y, x: -g),
    "abs": (np.abs, lambda g, y, x: g * np.sign(x)),
    "add": (np.add, lambda g, y, a, b: (g, g)),
    "subtract": (np.subtract, lambda g, y, a, b: (g, -g)),
    "multiply": (np.multiply, lambda g, y, a, b: (g * b, g * a)),
    "divide": (np.divide, lambda g, y, a, b: (g / b, -g * y / b)),
    "maximum": (np.maximum, lambda g, y, a, b: (g * (a > b), g * (b > a))),
    "hypot": (np.hypot, lambda g, y, a, b: (g * a / y, g * b / y)),
}
TWO = frozenset({"add", "subtract", "multiply", "divide", "maximum", "hypot"})

REDUCTIONS: dict[str, tuple[Callable[..., Any], dict[str, int], Hand]] = {
    "sum": (np.sum, {}, lambda g, y, x: np.full(x.shape, g)),
    "sum of rows": (np.sum, {"axis": 1}, lambda g, y, x: _spread(g, x)),
    "mean": (np.mean, {}, lambda g, y, x: np.full(x.shape, g / x.size)),
    "mean of columns": (np.mean, {"axis": 0}, lambda g, y, x: _columns(g / len(x), x)),
    "prod": (np.prod, {}, lambda g, y, x: g * y / x),
    "max": (np.max, {}, lambda g, y, x: g * (x == y)),
    "max of rows": (np.max, {"axis": 1}, lambda g, y, x: g[:, None] * (x == y[:, None])),
    "var": (np.var, {}, lambda g, y, x: g * 2 / x.size * (x - np.mean(x))),
    "std": (np.std, {}, lambda g, y, x: g / (x.size * y) * (x - np.mean(x))),
    "norm": (np.linalg.norm, {}, lambda g, y, x: g / y * x),
    "cumsum": (np.cumsum, {}, lambda g, y, x: np.cumsum(g[::-1])[::-1].reshape(x.shape)),
}


def _spread(g: Any, x: Any) -> Any:
    return np.repeat(g, x.shape[1]).reshape(x.shape)


def _columns(g: Any, x: Any) -> Any:
    return np.tile(g, (len(x), 1))


def run() -> Iterator[Line]:
    """All lines of this module."""
    title = "pullbacks of functions of each element, 1,000,000 of them: over those by hand"
    yield from show(title, apart(_elementwise, ((name,) for name in ELEMENTWISE)))
    title = "pullbacks of reductions of 1,000,000 elements: over those by hand"
    yield from show(title, apart(_reduction, ((name,) for name in REDUCTIONS)))


def _elementwise(name: str) -> Line:
    f, hand = ELEMENTWISE[name]
    return _line(name, f, {}, hand, _points()[: 2 if name in TWO else 1])


def _reduction(name: str) -> Line:
    x, _ = _points()
    if name == "prod":
        x = x / np.exp(np.mean(np.log(x)))  # else the product is too small for a number
    return _line(name, *REDUCTIONS[name], (x,))


def _points() -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    return rng.uniform(0.9, 1.1, (1000, N // 1000)), rng.uniform(0.9, 1.1, (1000, N // 1000))


def _line(
    name: str, f: Callable[..., Any], options: dict[str, int], hand: Hand, args: tuple[Any, ...]
) -> Line:
    applied = ad.rrule(f, *args, **options)
    assert applied is not None
    y, back = applied
    y_bar = np.full(np.shape(y), 1.5) if np.ndim(y) else 1.5
    ours, theirs = measure(lambda: back(y_bar), lambda: hand(y_bar, y, *args))
    detail = f"{1e3 * min(ours):.3g} ms, by hand {1e3 * min(theirs):.3g} ms"
    return Line(name, ratio(ours, theirs), "x", BAR, False, detail)
