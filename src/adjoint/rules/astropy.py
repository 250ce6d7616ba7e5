"""`astropy.units`: what is calculated with units alone is as constant as they are, and runs as it
is.

A unit carries a derivative only where a number that may carry one became its scale, which
`CompositeUnit.__init__` is told; such units, and what is made of them, are followed as other
objects are.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from adjoint.rules.loading import registering
from adjoint.rules.registry import non_differentiable, primitive
from adjoint.run.holding import parts_of, reached
from adjoint.run.memory import Memory
from adjoint.run.watch import vouch_for

_TELLING = (
    "__eq__ __ne__ __hash__ __repr__ __str__ __format__ is_equivalent _is_equivalent is_unity"
    " to_string"
).split()
"""Methods that give truths, a hash and text."""
_CALCULATING = "__mul__ __rmul__ __truediv__ __rtruediv__ __pow__ _to decompose".split()
"""Methods that give units, or the scale of one in another."""
_SEARCHING = "compose _compose to_system".split()
"""Those that look among all units that are enabled, or in a module."""

_WITHOUT_NUMBERS = frozenset({str, bytes, bool, type(None), Fraction, ModuleType})
_INTEGERS = "integers"
"""In the caches: whether any integer is among what a call is differentiated in."""
_MOST = 256
"""So many parts of that are looked at."""

_scaled: dict[int, weakref.ref[Any]] = {}
"""By identity: units whose scale may carry a derivative, in whichever call they were made."""
_named: dict[int, weakref.ref[Any]] = {}
"""Those among them that have a name, by which they may be found."""


def _runs_with_units(
    f: Any, is_constant: Callable[[Memory, Any], bool], searches: bool = False
) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        memory = record[0]
        if searches and _named:
            return NotImplemented
        if all(is_constant(memory, value) for value in (*args, *kwargs.values())):
            return f(*args, **kwargs)
        if f.__name__ == "decompose":
            _forget_decomposed(args[0])
        return NotImplemented


def _forget_decomposed(unit: Any) -> None:
    """A comparison may have decomposed a unit before, and kept that, where nobody followed."""
    kept = vars(unit).get("_decomposed_cache")
    if kept is not None and kept is not unit and id(kept) not in _scaled:
        vars(unit)["_decomposed_cache"] = None


def _note_scales(
    init: Any,
    is_constant: Callable[[Memory, Any], bool],
    noted: tuple[dict[int, weakref.ref[Any]], ...],
) -> None:
    @primitive(init)
    def run(record: list[Any], slot: int, unit: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not all(is_constant(record[0], value) for value in (*args, *kwargs.values())):
            for those in noted:
                those[id(unit)] = weakref.ref(unit, partial(_forget, those, id(unit)))
        return NotImplemented


def _forget(those: dict[int, weakref.ref[Any]], identity: int, _: Any) -> None:
    those.pop(identity, None)


def _is_constant(base: type, memory: Memory, value: Any) -> bool:
    """Whether an argument holds units and text, and no number that may carry a derivative."""
    kind = type(value)
    if kind in _WITHOUT_NUMBERS:
        return not _named or not issubclass(kind, str | bytes)
    if kind is int:
        return not _may_differ(memory, value)
    if issubclass(kind, base):
        return not _scaled or not _is_scaled(value)
    if kind in (list, tuple, set):
        return all(_is_constant(base, memory, item) for item in value)
    return issubclass(kind, type) and issubclass(value, base)


def _is_scaled(unit: Any) -> bool:
    """Whether the scale of a unit may carry a derivative, or that of one that it is made of."""
    waiting, seen = [unit], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in _scaled:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            waiting += vars(one).get("_bases", ())
            if (made_of := vars(one).get("_represents")) is not None:
                waiting.append(made_of)
    return False


def _may_differ(memory: Memory, number: int) -> bool:
    """Whether an integer may be one that something is differentiated in."""
    if memory.level is not None:
        return any(level.holds(number) for level in memory.level.down())
    known = memory.caches.get(_INTEGERS)
    if known is None:
        known = memory.caches[_INTEGERS] = _has_integers(memory.arguments)
    return bool(known)


def _has_integers(values: tuple[Any, ...]) -> bool:
    if any(type(value) is int for value in values):
        return True
    for count, owner in enumerate(reached(values)):
        if count == _MOST or any(type(item) is int for _, item, _ in parts_of(owner)):
            return True
    return False


@registering("astropy.units")
def _(units: Any) -> None:
    core, base = units.core, units.UnitBase
    is_constant = partial(_is_constant, base)
    for kind in vars(core).values():
        if isinstance(kind, type) and issubclass(kind, base):
            for name in _TELLING:
                if type(f := vars(kind).get(name)) is FunctionType:
                    non_differentiable(f)
                    vouch_for(f.__code__)
            for name in (*_CALCULATING, *_SEARCHING):
                if type(f := vars(kind).get(name)) is FunctionType:
                    _runs_with_units(f, is_constant, name in _SEARCHING)
    _runs_with_units(type(units.Unit).__call__, is_constant)
    _note_scales(core.CompositeUnit.__init__, is_constant, (_scaled,))
    _note_scales(core.Unit.__init__, is_constant, (_scaled, _named))
