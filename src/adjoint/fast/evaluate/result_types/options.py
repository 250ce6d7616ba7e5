"""Operands whose value decides the type of a result: axes, lengths, options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.result_types.ones import name_of
from adjoint.fast.evaluate.types import Array, has_integer, has_truth_value
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.not_covered import NeedsKnown, NotCovered
from adjoint.fast.support.members import members
from adjoint.ir.single import Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.draft import Draft


def is_elementwise(f: Any) -> bool:
    """Return whether all operands of a function are numbers or arrays, and none is an option."""
    if isinstance(f, np.ufunc) or getattr(f, "__module__", None) in _OF_NUMBERS:
        return True
    return isinstance(f, type) and issubclass(f, np.generic)


_OF_NUMBERS = ("_operator", "math", "cmath")


def with_known_options(ev: Draft, f: Any, a: Abstract, place: int | str) -> Abstract:
    """Return the operand `a` of `f` at `place` with known values; raise `NeedsKnown` if it is an
    integer that may be an axis or a length."""
    inside = ev.sequence(a) if not isinstance(a, Value | Known) else None
    if inside is not None:
        known = [with_known_options(ev, f, part, place) for part in inside]
        same = all(x is y for x, y in zip(known, inside, strict=True))
        if not same and place == "axis" and not isinstance(a, Tuple):
            raise NotCovered(f"{name_of(f)} with axes in a list", ev.span)
        return a if same else Tuple(tuple(known))
    if isinstance(a, Value) and a not in ev.dims:
        t = ev.types[a]
        if isinstance(t, Array) and _is_of_sizes(f, place) and t.dtype.kind in "iu":
            raise NotCovered(f"{name_of(f)} with lengths or axes in an array", ev.span)
        if has_integer(t) and f not in _OF_INTEGERS and (f, place) not in _CONTENT:
            if a in ev.outside.fixed or f in _SIZE_OF:
                if not _is_of_sizes(f, place):
                    raise NotCovered(f"the derivative of {name_of(f)} in an integer", ev.span)
            if a in ev.outside.fixed:
                return Known(int(ev.outside.fixed[a]))
            if f in _OF_LENGTHS and not ev.outside.is_leaf(a):
                return a
            raise NeedsKnown(a, f"{name_of(f)} of an integer that is not known", ev.span)
        if has_truth_value(t) and not _is_content(f, place):
            raise NotCovered(f"{name_of(f)} with an option that is not known", ev.span)
    return a


def _is_content(f: Any, place: int | str) -> bool:
    """Return whether a truth value at `place` is an element or a condition, not an option such as
    ``keepdims``."""
    return place in (0, "a", "condition", "where") or f in _OF_INTEGERS


_OF_INTEGERS = frozenset({abs, float, int, bool, complex, max, min, divmod, round, pow})
"""Functions whose result type does not depend on the value of an integer."""


_CONTENT = {
    *((f, 0) for f in (np.unravel_index, np.all, np.any, np.prod, np.broadcast_to, np.reshape)),
    *((f, 1) for f in (np.take, np.ndarray.take, np.roll)),
    (np.roll, "shift"),
    *((f, at) for f in members(np, "sum prod ndarray.sum ndarray.prod") for at in (5, "initial")),
    *(
        (f, at)
        for f in members(np, "max min amax amin ndarray.max ndarray.min")
        for at in (4, "initial")
    ),
}
"""Functions, and places of integers that are elements or indices."""


_OF_LENGTHS = members(np, "zeros ones empty full eye identity arange linspace")
"""Functions that give a result of unknown length for a length that the program computes."""
_MADE_OF_SIZES = _OF_LENGTHS | {np.arange}
_SIZES_BEHIND = members(
    np,
    "reshape broadcast_to tile repeat sum mean max min cumsum expand_dims transpose swapaxes "
    "moveaxis concatenate stack flip tril triu ndarray.reshape ndarray.sum ndarray.mean "
    "ndarray.max ndarray.min ndarray.repeat",
)
"""Functions whose operands after the first are axes or lengths."""


def _is_of_sizes(f: Any, place: int | str) -> bool:
    """Return whether an integer at `place` of a call of `f` is an axis or a length."""
    if f in _SIZE_OF:
        return place in _SIZE_OF[f]
    if f in _MADE_OF_SIZES or (f in _SIZES_BEHIND and place not in (0, "a")):
        return True
    return place in ("axis", "shape")


_SIZE_OF: dict[Any, tuple[int | str, ...]] = {
    np.full: (0, "shape"), np.linspace: (2, "num"), np.roll: (2, "axis")
}  # fmt: skip
"""Places of the lengths and axes of functions that have values beside them."""
