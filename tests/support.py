"""The check of one function at one point: what a pullback promises, against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.testing import check_gradient
from tests.structures import difference, in_total, mapped, mismatch

check_reverse = partial(check_gradient, modes="reverse")
"""For the many; the nestings are tested over the corpus, and on a line of each rule's table."""

CONVERGED = 1e-7
"""How far two step sizes may disagree, relative to the derivative's scale, away from a kink."""


# ---- finite differences --------------------------------------------------------------------------


def random_cotangent(y: Any, rng: np.random.Generator) -> Any:
    """A cotangent of `y`'s structure; ``None`` for the parts that carry no derivative."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "fc" or isinstance(y, np.inexact):
        bar = rng.normal(size=y.shape)
        bar = bar + 1j * rng.normal(size=y.shape) if y.dtype.kind == "c" else bar
        return np.asarray(bar, y.dtype)[()] if y.ndim == 0 else np.asarray(bar, y.dtype)
    if isinstance(y, complex):
        return complex(rng.normal(), rng.normal())
    if isinstance(y, float):
        return float(rng.normal())
    if isinstance(y, dict):
        return {key: random_cotangent(item, rng) for key, item in y.items()}
    if isinstance(y, list | tuple):
        items = [random_cotangent(item, rng) for item in y]
        return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)
    return None


def inner(y_bar: Any, y: Any) -> float:
    """The real inner product of a cotangent and a value."""
    if y_bar is None:
        return 0.0
    if isinstance(y_bar, dict):
        return sum(inner(y_bar[key], y[key]) for key in y)
    if isinstance(y_bar, list | tuple):
        return sum(inner(a, b) for a, b in zip(y_bar, y, strict=True))
    return float(np.sum(np.real(np.conj(np.asarray(y_bar)) * np.asarray(y))))


def widened(x: Any) -> Any:
    """A leaf in double precision: differences of single-precision results would be noise."""
    if isinstance(x, np.ndarray | np.inexact):
        wide = np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64)
        return wide[()] if isinstance(x, np.generic) else wide
    return x


@dataclass
class FiniteDifferences:
    """The derivative of ``loss(*point)`` along every entry, by two five-point stencils.

    Attributes
    ----------
    reference
        Shaped like the point, each leaf replaced by its derivative.
    error
        How far the two step sizes disagree, relative to the largest derivative (at least 1).
    scale
        The largest derivative.
    """

    loss: Callable[..., float]
    point: tuple[Any, ...]
    step: float = 1e-3
    reference: Any = field(init=False)
    error: float = field(init=False, default=0.0)
    scale: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._seen = 0
        self.reference = mapped(self.point, self._derivative)
        self.error /= max(1.0, self.scale)

    def _derivative(self, leaf: Any) -> Any:
        number, self._seen = self._seen, self._seen + 1
        values = np.asarray(leaf)
        units = (1.0, 1j) if values.dtype.kind == "c" else (1.0,)
        result = np.zeros(values.shape, np.complex128 if len(units) == 2 else np.float64)
        for index in np.ndindex(values.shape):
            h = self.step * max(1.0, float(abs(values[index])))
            for unit in units:
                coarse, fine = self._along(number, index, unit, h)
                result[index] += fine * unit
                self.error = max(self.error, abs(fine - coarse))
                self.scale = max(self.scale, abs(fine))
        if isinstance(leaf, np.ndarray):
            return result.astype(leaf.dtype)
        return type(leaf)(result[()])

    def _along(
        self, number: int, index: tuple[int, ...], unit: complex, h: float
    ) -> tuple[float, float]:
        half, one, two = (
            self._at(number, index, k * unit * h) - self._at(number, index, -k * unit * h)
            for k in (0.5, 1.0, 2.0)
        )
        return (8 * one - two) / (12 * h), (8 * half - one) / (6 * h)

    def _at(self, number: int, index: tuple[int, ...], delta: complex) -> float:
        count = iter(range(1 << 30))

        def perturb(leaf: Any) -> Any:
            if next(count) != number:
                return widened(leaf)
            if isinstance(leaf, np.ndarray):
                moved = np.array(widened(leaf))
                moved[index] += delta
                return moved
            return widened(leaf) + delta

        return self.loss(*mapped(self.point, perturb))


# ---- the check -----------------------------------------------------------------------------------


class UnsoundSampleError(Exception):
    """The sample is no good: differences do not converge, or it is not deterministic."""


def no_reset() -> None:
    """For functions that leave nothing behind."""


@dataclass(frozen=True)
class Sample:
    """One function at one point.

    Attributes
    ----------
    fixed
        Positions of arguments that are not differentiated: their cotangents are not looked at.
    reset
        Puts back the state that the function keeps elsewhere; called before every evaluation.
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    fixed: tuple[int, ...] = ()
    reset: Callable[[], None] = no_reset

    def plain(self) -> tuple[Any, tuple[Any, ...]]:
        """The result of the call, and the function and its arguments as the call leaves them."""
        f, *args = self.fresh()
        return f(*args, **self.kwargs), (f, *args)

    def fresh(self) -> tuple[Any, ...]:
        """The function and its arguments, copied; the state kept elsewhere is put back."""
        self.reset()
        return tuple(mapped((self.f, *self.args)))

    def finite_differences(self, y_bar: Any) -> FiniteDifferences:
        """Derivatives of ``<y_bar, f(*args)>``; integers that are not `fixed` count as real."""

        def loss(f: Callable[..., Any], *args: Any) -> float:
            self.reset()
            held = {i: mapped(self.args[i]) for i in self.fixed}
            args = tuple(held.get(i, arg) for i, arg in enumerate(args))
            return inner(y_bar, f(*args, **self.kwargs))

        point = [None if i in self.fixed else as_real(arg) for i, arg in enumerate(self.args)]
        found = FiniteDifferences(loss, (self.f, *point))
        if found.error > CONVERGED:
            raise UnsoundSampleError(f"two step sizes disagree by {found.error:.1e}")
        return found

    def y_bar(self, y: Any, seed: int = 0) -> Any:
        """A random cotangent of the result."""
        return random_cotangent(float(y) if type(y) is int else y, np.random.default_rng(seed))


def as_real(x: Any) -> Any:
    """An argument as the derivative sees it: an integer is a real number."""
    if type(x) is int:
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return x


def is_single(x: Any) -> bool:
    """Whether a structure holds a leaf in single precision."""
    found = False

    def look(leaf: Any) -> Any:
        nonlocal found
        found = found or (isinstance(leaf, np.ndarray | np.inexact) and leaf.dtype.char in "efF")
        return leaf

    mapped(x, look)
    return found


def check_soundness(sample: Sample) -> FiniteDifferences:
    """Raise `UnsoundSampleError` unless the sample is deterministic and away from kinks."""
    (y, left), (y_again, left_again) = sample.plain(), sample.plain()
    found = difference(y, y_again) or difference(left, left_again)
    if found:
        raise UnsoundSampleError(f"not deterministic: {found}")
    return sample.finite_differences(sample.y_bar(y))


def check_sample(sample: Sample) -> None:
    """Everything that a pullback promises, at one sample; an `AssertionError` says what is broken.

    The result is that of the plain call, the caller's data are what the plain call leaves, the
    cotangents agree with finite differences, a second ``back`` agrees with the first exactly, and
    the cotangent given is not changed.
    """
    y_plain, left = sample.plain()
    y_bar = sample.y_bar(y_plain)
    differences = sample.finite_differences(y_bar)

    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    y, back = ad.pullback(f, *args, **sample.kwargs)
    # Some libraries' kernels round by the alignment of their buffers
    _demand("result", difference(y, y_plain, rtol=1e-13))
    _demand("the caller's data after pullback", difference((f, *args), left, rtol=1e-13))
    y_bar_given = mapped(y_bar)
    bars = back(y_bar_given)
    _demand("y_bar after back", difference(y_bar_given, y_bar))
    _demand("the caller's data after back", difference((f, *args), left, rtol=1e-13))
    assert len(bars) == 1 + len(args), f"{len(bars)} cotangents of {len(args)} arguments"

    rtol = 1e-3 if is_single((sample.f, sample.args, y)) else 1e-6
    atol = rtol * 0.1 * max(1.0, differences.scale)
    found = in_total(bars, (f, *args))
    _demand("gradient", mismatch(found, differences.reference, rtol, atol))
    first = mapped(materialised(bars))
    _demand("the second back", difference(materialised(back(y_bar_given)), first))
    _demand("the first back's result after the second", difference(materialised(bars), first))


def materialised(bar: Any, above: tuple[int, ...] = ()) -> Any:
    """A cotangent with its tangents as dicts, and cycles cut."""
    if id(bar) in above:
        return ...
    above += (id(bar),)
    if isinstance(bar, ad.Tangent | dict):
        return {key: materialised(item, above) for key, item in dict(bar).items()}
    if isinstance(bar, list | tuple):
        return [materialised(item, above) for item in bar]
    return bar


def _demand(what: str, problem: str | None) -> None:
    if problem is not None:
        raise AssertionError(f"{what}: {problem}")
