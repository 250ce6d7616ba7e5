"""The check of forward mode at one sample: against reverse mode, which is checked against
differences."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.levels.reverse import nested
from tests.structures import difference, fields_of, is_leaf, mapped
from tests.support import Sample, inner, is_single


def random_tangent(
    x: Any, rng: np.random.Generator, top: bool = True, seen: set[int] | None = None
) -> Any:
    """A tangent of `x`: by field name of objects, ``None`` for what carries none, or has one at
    another place already."""
    above = set() if seen is None else seen
    if isinstance(x, np.ndarray | list | dict) or hasattr(x, "__dict__"):
        if id(x) in above:
            return None
        above.add(id(x))
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc" or isinstance(x, np.inexact):
        dot = rng.normal(size=x.shape)
        dot = dot + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else dot
        return np.asarray(dot, x.dtype)[()] if x.ndim == 0 else np.asarray(dot, x.dtype)
    if isinstance(x, complex):
        return complex(rng.normal(), rng.normal())
    if isinstance(x, float) or (top and type(x) is int):
        return float(rng.normal())
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return rng.normal(size=x.shape) if top else None
    if isinstance(x, list | tuple):
        return [random_tangent(item, rng, False, above) for item in x]
    if isinstance(x, dict):
        return {key: random_tangent(item, rng, False, above) for key, item in x.items()}
    if isinstance(x, set | types.MethodType):
        return None
    fields = None if is_leaf(x) else fields_of(x)
    if not fields:
        return None
    return {name: random_tangent(item, rng, False, above) for name, item in fields.items()}


def tangents(sample: Sample, rng: np.random.Generator) -> list[Any]:
    """A random tangent for each argument that is not fixed."""
    return [
        None if i in sample.fixed else random_tangent(arg, rng) for i, arg in enumerate(sample.args)
    ]


def paired(bar: Any, dot: Any) -> float:
    """⟨x̄, ẋ⟩ of a cotangent and a tangent of one structure."""
    if bar is None or dot is None:
        return 0.0
    if isinstance(dot, Mapping):
        bar = dict(bar)
        return sum(paired(bar.get(key), part) for key, part in dot.items())
    if isinstance(dot, list | tuple):
        return sum(paired(a, b) for a, b in zip(bar, dot, strict=True))
    return inner(bar, dot)


def check_forward(sample: Sample) -> None:
    """The value is that of the plain call, the caller's data are what it leaves, and
    ⟨ȳ, ẏ⟩ = Σ⟨x̄, ẋ⟩ with the cotangents of reverse mode."""
    y_plain, left = sample.plain()
    y_bar = sample.y_bar(y_plain)
    dots = tangents(sample, np.random.default_rng(1))
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    _, back = ad.pullback(f, *args, **sample.kwargs)
    bars = back(mapped(y_bar))
    expected = sum(paired(bar, dot) for bar, dot in zip(bars[1:], dots, strict=True))

    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    y, y_dot = ad.pushforward(f, args, dots, **sample.kwargs)
    real = [float(arg) if type(arg) is int else arg for arg in args]
    if all(a is b for a, b in zip(real, args, strict=True)):
        problem = difference(y, y_plain, rtol=1e-13)
        assert problem is None, f"result: {problem}"
        problem = difference((f, *args), left, rtol=1e-13)
        assert problem is None, f"the caller's data: {problem}"
    found = paired(y_bar, y_dot)
    rtol = 1e-3 if is_single((sample.f, sample.args, y)) else 1e-8
    scale = max(1.0, abs(expected))
    assert abs(found - expected) <= rtol * scale, f"forward {found!r}, reverse {expected!r}"


# ---- second order --------------------------------------------------------------------------------


def along(bar: Any, dot: Any) -> Any:
    """`paired`, as code that is differentiated."""
    if bar is None or dot is None:
        return 0.0
    total = 0.0
    if isinstance(dot, dict):
        for key in dot:
            total = total + along(bar[key], dot[key])
        return total
    if isinstance(dot, list | tuple):
        for part_bar, part in zip(bar, dot, strict=True):
            total = total + along(part_bar, part)
        return total
    return np.sum(np.real(np.conj(bar) * dot))


NESTINGS = (
    "forward_over_forward",
    "forward_over_reverse",
    "reverse_over_forward",
    "reverse_over_reverse",
)


class SecondOrder:
    """vᵀ H u of ⟨ȳ, f⟩ at one sample, by each nesting of the modes."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        y, _ = sample.plain()
        self.y_bar = sample.y_bar(y)
        rng = np.random.default_rng(2)
        self.u, self.v = (tangents(sample, rng) for _ in range(2))

    def fresh(self) -> tuple[Any, list[Any]]:
        self.sample.reset()
        f, *args = mapped((self.sample.f, *self.sample.args))
        return f, args

    def forward_over_forward(self) -> float:
        f, args = self.fresh()
        kwargs, y_bar, u = self.sample.kwargs, self.y_bar, self.u

        def first(*args: Any) -> Any:
            return along(ad.pushforward(f, args, u, **kwargs)[1], y_bar)

        return ad.pushforward(first, args, self.v)[1]

    def forward_over_reverse(self) -> float:
        f, args = self.fresh()
        kwargs, y_bar, u = self.sample.kwargs, self.y_bar, self.u

        def first(*args: Any) -> Any:
            return along(ad.pullback(f, *args, **kwargs)[1](y_bar)[1:], u)

        return ad.pushforward(first, args, self.v)[1]

    def reverse_over_forward(self) -> float:
        f, args = self.fresh()
        kwargs, y_bar, u = self.sample.kwargs, self.y_bar, self.u

        def first(*args: Any) -> Any:
            return along(ad.pushforward(f, args, u, **kwargs)[1], y_bar)

        bars = ad.pullback(first, *args)[1](1.0)
        return sum(paired(bar, dot) for bar, dot in zip(bars[1:], self.v, strict=True))

    def reverse_over_reverse(self) -> float:
        f, args = self.fresh()
        kwargs, y_bar, u = self.sample.kwargs, self.y_bar, self.u

        def first(*args: Any) -> Any:
            return along(ad.pullback(f, *args, **kwargs)[1](y_bar)[1:], u)

        bars = ad.pullback(first, *args)[1](1.0)
        return sum(paired(bar, dot) for bar, dot in zip(bars[1:], self.v, strict=True))

    def differences(self, step: float = 1e-4) -> float | None:
        """The same from two gradients; ``None`` where an argument is more than a number or an
        array."""
        try:
            after, before = (self._gradient(sign * step) for sign in (1, -1))
        except _NotShifted:
            return None
        return (after - before) / (2 * step)

    def _gradient(self, h: float) -> float:
        f, args = self.fresh()
        args = [_shifted(arg, dot, h) for arg, dot in zip(args, self.v, strict=True)]
        bars = ad.pullback(f, *args, **self.sample.kwargs)[1](self.y_bar)
        return sum(paired(bar, dot) for bar, dot in zip(bars[1:], self.u, strict=True))


class _NotShifted(Exception):
    pass


def _shifted(x: Any, dot: Any, h: float) -> Any:
    if dot is None:
        return x
    known = isinstance(x, float | complex | np.inexact | np.ndarray)
    if not known or type(x).__module__ not in ("builtins", "numpy") or is_single(x):
        raise _NotShifted
    return x + h * dot


def check_tape(sample: Sample) -> None:
    """Reverse mode on a tape gives what reverse mode as generated code does, twice."""
    y, _ = sample.plain()
    y_bar = sample.y_bar(y)
    dots = tangents(sample, np.random.default_rng(3))
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    bars = ad.pullback(f, *args, **sample.kwargs)[1](mapped(y_bar))
    expected = sum(paired(bar, dot) for bar, dot in zip(bars[1:], dots, strict=True))
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    wanted = tuple(i for i, dot in enumerate(dots) if dot is not None)
    _, back = nested(f, tuple(args), sample.kwargs, of_function=False, wanted=wanted)
    rtol = 1e-3 if is_single((sample.f, sample.args, y)) else 1e-8
    for _ in range(2):
        found = sum(paired(bar, dot) for bar, dot in zip(back(y_bar)[1:], dots, strict=True))
        assert abs(found - expected) <= rtol * max(1.0, abs(expected)), (found, expected)
