"""Calls in both tiers: they give the same."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import adjoint as ad
from adjoint.api.program_choice import gradient_mode, pullback_mode
from adjoint.fast.programs import store as tier
from tests.structures import difference, mapped
from tests.support import is_single, materialised, random_cotangent

VALUE, DERIVATIVE = 1e-12, 1e-9
SINGLE, HALF = 1e-5, 1e-2
"""What reordering may change, relatively."""


@contextlib.contextmanager
def generic_tier():
    """No call is specialised."""
    before = tier.is_enabled[0]
    tier.is_enabled[0] = False
    try:
        yield
    finally:
        tier.is_enabled[0] = before


@dataclass
class Agreement:
    """What came of a number of calls.

    Attributes
    ----------
    covered
        How many took the fast tier.
    generic
        Why the others did not.
    problems
        Where the tiers differ.
    """

    covered: int = 0
    generic: Counter = field(default_factory=Counter)
    problems: list = field(default_factory=list)

    @property
    def calls(self):
        return self.covered + self.generic.total()

    def compare(self, name, fresh, kwargs=None, y_bar=None, keep=False):
        """A pullback, or the gradient where the result is a number, in both tiers.

        Parameters
        ----------
        fresh
            Gives the function and its arguments, each time anew.
        keep
            A program that was made for another call may be taken.
        """
        if not keep:
            tier.forget()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problem = self._problem(fresh, kwargs or {}, y_bar)
            except AssertionError as error:
                problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            self.problems.append(f"{name}: {problem}")

    def _problem(self, fresh, kwargs, y_bar):
        f, *args = fresh()
        mode = (gradient_mode if y_bar is None else pullback_mode)(kwargs)
        if tier.run(f, (*args, *kwargs.values()), mode) is tier.MISS:
            self.generic[_reason(f, mode)] += 1
            return None
        fast = outcome(fresh(), kwargs, y_bar)
        with generic_tier():
            generic = outcome(fresh(), kwargs, y_bar)
        for one in (fast, generic):
            if isinstance(one, Exception):
                return f"{fast!r}, where the generic tier has {generic!r}"
        self.covered += 1
        again = outcome(fresh(), kwargs, y_bar)
        return (
            _differs("value", fast.value, generic.value, VALUE)
            or self._cotangents_differ(fast.bars, generic.bars, fast.value)
            or _differs("what the call leaves", fast.left, generic.left, VALUE)
            or _differs("again", (again.value, again.bars), (fast.value, fast.bars), 0.0)
        )

    def _cotangents_differ(self, a, b, value):
        """Compare cotangents, in the precision in which they or the value are computed."""
        a, b = without_zeros(a, b), without_zeros(b, a)
        rtol = DERIVATIVE
        if is_single((a, b, value)):
            rtol = HALF if _is_half((a, b, value)) else SINGLE
        return _differs("cotangents", a, b, rtol)


def _differs(what, a, b, rtol):
    found = difference(a, b, rtol=rtol)
    return f"{what}: {found}" if found else None


@dataclass
class Outcome:
    """What one call gives."""

    value: object
    bars: object
    left: object


def outcome(given, kwargs, y_bar):
    """The value, the cotangents and what the call leaves behind; or the error."""
    f, *args = given
    try:
        if y_bar is None:
            value, bars = ad.withgradient(f, *args, **kwargs)
        else:
            value, back = ad.pullback(f, *args, **kwargs)
            bars = back(mapped(y_bar))
    except Exception as error:
        return error
    return Outcome(value, mapped(materialised(bars)), (f, args))


def cotangent(y, seed=0):
    """A random cotangent; ``None`` where the gradient is asked for."""
    if type(y) in (float, np.float64):
        return None
    return random_cotangent(y, np.random.default_rng(seed))


def _reason(f, mode):
    known = tier.known(f, mode)
    if known is None:
        return "nothing to specialise"
    return next((refused.reason for refused in known.refused.values()), "it fails")


def without_zeros(a, b):
    """`a`, with ``None`` in place of zeros where `b` has that: a pullback may give either."""
    if b is None and _is_zero(a):
        return None
    if type(a) is type(b) and isinstance(a, list | tuple) and len(a) == len(b):
        items = [without_zeros(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if type(a) is dict and type(b) is dict and a.keys() == b.keys():
        return {key: without_zeros(a[key], b[key]) for key in a}
    return a


def _is_zero(x):
    if isinstance(x, list | tuple | dict):
        return all(map(_is_zero, x.values() if isinstance(x, dict) else x))
    return x is None or (isinstance(x, float | complex | np.ndarray | np.inexact) and not np.any(x))


def _is_half(x):
    found = []
    mapped(x, lambda leaf: found.append(getattr(leaf, "dtype", None) == np.float16) or leaf)
    return any(found)
