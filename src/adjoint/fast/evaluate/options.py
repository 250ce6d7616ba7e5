"""Operands that decide the type of a result by what they are: axes, lengths, options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.infer import name_of
from adjoint.fast.evaluate.types import Array, has_integer, has_truth_value
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.not_covered import NeedsKnown, NotCovered
from adjoint.ir.single import Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.draft import Draft


def is_elementwise(f: Any) -> bool:
    """Whether all operands of a function are what it calculates with: none is an option."""
    if isinstance(f, np.ufunc) or getattr(f, "__module__", None) in _OF_NUMBERS:
        return True
    return isinstance(f, type) and issubclass(f, np.generic)


_OF_NUMBERS = ("_operator", "math", "cmath")


def with_known_options(ev: Draft, f: Any, a: Abstract, place: int | str) -> Abstract:
    """Integers may be axes or lengths, and truth values options, which decide the type of the
    result."""
    inside = ev.sequence(a) if not isinstance(a, Value | Known) else None
    if inside is not None:
        known = [with_known_options(ev, f, part, place) for part in inside]
        same = all(x is y for x, y in zip(known, inside, strict=True))
        if not same and place == "axis" and not isinstance(a, Tuple):
            raise NotCovered(f"{name_of(f)} with axes in a list", ev.span)
        return a if same else Tuple(tuple(known))
    if isinstance(a, Value) and a not in ev.dims:
        t = ev.types[a]
        if isinstance(t, Array) and t.dtype.kind in "iu" and _is_of_sizes(f, place):
            raise NotCovered(f"{name_of(f)} with lengths or axes in an array", ev.span)
        if has_integer(t) and f not in _OF_INTEGERS:
            if a in ev.outside.fixed:
                if not _is_of_sizes(f, place):
                    raise NotCovered(f"the derivative of {name_of(f)} in an integer", ev.span)
                return Known(int(ev.outside.fixed[a]))
            if f in _OF_LENGTHS and not ev.outside.is_leaf(a):
                return a
            raise NeedsKnown(a, f"{name_of(f)} of an integer that is not known", ev.span)
        if has_truth_value(t) and not _is_content(f, place):
            raise NotCovered(f"{name_of(f)} with an option that is not known", ev.span)
    return a


def _is_content(f: Any, place: int | str) -> bool:
    """Whether a truth value at some place of a call is an element, or chooses among them: options
    such as ``keepdims`` decide the type of the result."""
    return place in (0, "a", "condition") or f in _OF_INTEGERS


_OF_INTEGERS = frozenset({abs, float, int, bool, complex, max, min, divmod, round, pow})
"""The type of their result does not depend on the value of an integer."""


_MADE_OF_SIZES: frozenset[Any] = frozenset(
    {np.zeros, np.ones, np.empty, np.eye, np.identity, np.arange}
)
_OF_LENGTHS: frozenset[Any] = frozenset({np.zeros, np.ones, np.empty, np.eye, np.identity})
"""What they make of an integer that the program computes has a length that is not known."""
_SIZES_BEHIND: frozenset[Any] = frozenset(
    {
        np.reshape,
        np.broadcast_to,
        np.tile,
        np.repeat,
        np.sum,
        np.mean,
        np.max,
        np.min,
        np.cumsum,
        np.expand_dims,
        np.transpose,
        np.swapaxes,
        np.moveaxis,
        np.concatenate,
        np.stack,
        np.flip,
        np.roll,
        np.tril,
        np.triu,
        np.ndarray.reshape,
        np.ndarray.sum,
        np.ndarray.mean,
        np.ndarray.max,
        np.ndarray.min,
        np.ndarray.repeat,
    }
)
"""Functions all of whose operands, or all behind the first, are axes or lengths."""


def _is_of_sizes(f: Any, place: int | str) -> bool:
    """Whether an integer at some place of a call is an axis or a length, not a number."""
    if f in _MADE_OF_SIZES or (f in _SIZES_BEHIND and place not in (0, "a")):
        return True
    return (f is np.full and place in (0, "shape")) or place in ("axis", "shape")
