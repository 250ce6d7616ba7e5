"""Rules of `astropy.units`: computations with constant units run undifferentiated.

A unit is active only if an active number became its scale, which is noted in
`CompositeUnit.__init__`; such units, and units made of them, are differentiated as other objects
are. The reverse sweep checks that no active unit was missed: a derivative that is needed of a
result is an error where it reaches a differentiated input.

Units as arguments, and within arguments, are constants, as text is.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from adjoint.cotangents.accumulate import is_needed
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import primitive
from adjoint.runtime.foreign.entry_monitor import vouch_for
from adjoint.runtime.memory.collect import CONSTANT
from adjoint.runtime.memory.integers import has_integers
from adjoint.runtime.memory.memory import Memory

_TELLING = (
    "__eq__ __ne__ __hash__ __repr__ __str__ __format__ is_equivalent _is_equivalent is_unity"
    " to_string"
).split()
"""Methods that return truth values, a hash or text."""
_CALCULATING = "__mul__ __rmul__ __truediv__ __rtruediv__ __pow__ _to decompose".split()
"""Methods that return units, or the scale of one unit in another."""
_SEARCHING = "compose _compose to_system".split()
"""Methods that search all enabled units, or a module."""

_WITHOUT_NUMBERS = frozenset({str, bytes, bool, type(None), Fraction, ModuleType})

Scaled = dict[int, "weakref.ref[Any]"]
_scaled: Scaled = {}
"""Units by identity whose scale may be active in some call."""
_named: Scaled = {}
"""The units in `_scaled` that have a name and can be found by it."""


class _Units:
    """Registration of the rules for all unit classes of the package."""

    def __init__(self, units: Any) -> None:
        core = units.core
        self._registry = core.get_current_unit_registry
        self.kinds = frozenset(
            kind
            for kind in vars(core).values()
            if isinstance(kind, type) and issubclass(kind, units.UnitBase)
        )
        for kind in self.kinds:
            for name in _TELLING:
                if type(f := vars(kind).get(name)) is FunctionType:
                    self._tell(f)
                    vouch_for(f.__code__)
            for name in (*_CALCULATING, *_SEARCHING):
                if type(f := vars(kind).get(name)) is FunctionType:
                    self._run(f, name in _SEARCHING)
        for f in (
            self._registry,
            type(self._registry()).equivalencies.fget,
            units.UnitBase._normalize_equivalencies,
            core._normalize_equivalencies,
        ):
            vouch_for(f.__code__)  # equivalent units, needed by every view of a Quantity
        for kind in vars(units.format).values():
            if isinstance(kind, type) and issubclass(kind, units.format.Base):
                for part in vars(kind).values():
                    if type(f := getattr(part, "__func__", part)) is FunctionType:
                        vouch_for(f.__code__)  # formats the text of units
        self._run(type(units.Unit).__call__)
        self._note(core.CompositeUnit.__init__, _scaled)
        self._note(core.Unit.__init__, _scaled, _named)

    def _tell(self, f: Any) -> None:
        @primitive(f)
        def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
            known = all(map(_is_of_the_package, (*args, *kwargs.values())))
            return f(*args, **kwargs) if known else NotImplemented

    def _run(self, f: Any, searches: bool = False) -> None:
        @primitive(f)
        def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
            memory, operands = record[0], (*args, *kwargs.values())
            if searches and not self._finds_constants():
                return NotImplemented
            if not all(self._is_constant(memory, operand) for operand in operands):
                if f.__name__ == "decompose":
                    _forget_decomposed(args[0])
                return NotImplemented
            y = f(*args, **kwargs)
            if memory.level is None:
                self._link(record, slot, y, operands)
            return y

    def _note(self, init: Any, *noted: Scaled) -> None:
        @primitive(init)
        def run(record: list[Any], slot: int, unit: Any, /, *args: Any, **kwargs: Any) -> Any:
            if not all(self._is_constant(record[0], x) for x in (*args, *kwargs.values())):
                for those in noted:
                    those[id(unit)] = weakref.ref(unit, partial(_forget, those, id(unit)))
            return NotImplemented

    def _is_constant(self, memory: Memory, value: Any) -> bool:
        """Return whether an argument holds only units and text, and no possibly active number."""
        kind = type(value)
        if kind in _WITHOUT_NUMBERS:
            return not issubclass(kind, str | bytes) or not self._names_scaled()
        if kind is int:
            return not _may_differ(memory, value)
        if kind in self.kinds:
            if memory.level is not None and _is_active(memory.level, value):
                return False
            return not _scaled or not _is_scaled(value)
        if kind in (list, tuple, set):
            return all(self._is_constant(memory, item) for item in value)
        return issubclass(kind, type) and value in self.kinds

    def _finds_constants(self) -> bool:
        """Return whether all enabled units are constants, and equivalences the package's own."""
        pairs = self._registry().equivalencies
        functions = [part for pair in pairs for part in pair if callable(part)]
        return not _named and all(
            type(f) is FunctionType
            and not f.__closure__
            and f.__module__.partition(".")[0] == "astropy"
            for f in functions
            if not isinstance(f, tuple(self.kinds))
        )

    def _names_scaled(self) -> bool:
        """Return whether text may name a unit whose scale is active."""
        if not _scaled:
            return False
        return bool(_named) or any(map(_is_scaled, self._registry().aliases.values()))

    def _link(self, record: list[Any], slot: int, y: Any, operands: tuple[Any, ...]) -> None:
        """Refuse a derivative that is needed of `y`, for all units and integers in the operands."""
        memory: Memory = record[0]
        given = [*self._among(operands)]
        if not given and int not in map(type, operands):
            return
        known = {id(unit) for unit in given}
        made = [unit for unit in self._among((y,)) if id(unit) not in known]

        def units_back(y_bar: Any) -> tuple[Any, ...]:
            arrived = (_has_cotangent(memory, unit) for unit in made)
            is_asked = is_needed(y_bar) if by_value(y) else any(arrived)
            bad = Poison(_error()) if is_asked else None
            if bad is not None:
                for unit in given:
                    for part in _parts(unit):
                        if "_scale" in (fields := vars(part)):
                            memory.add_entry(fields, "_scale", bad)
            return None, *(bad if type(operand) is int else None for operand in operands)

        record[slot] = units_back

    def _among(self, values: Any) -> Iterator[Any]:
        for value in values:
            if type(value) in self.kinds:
                yield value
            elif type(value) in (list, tuple, set):
                yield from self._among(value)


def _has_cotangent(memory: Memory, unit: Any) -> bool:
    """Return whether the scale or a power of a unit has a cotangent."""
    fields = vars(unit)
    scale = (memory.shadows.get(id(fields)) or {}).get("_scale")
    powers = memory.shadows.get(id(fields.get("_powers"))) or ()
    return scale is not None or any(bar is not None for bar in powers)


def _is_of_the_package(value: Any) -> bool:
    """Return whether a comparison with `value` runs no code outside the package."""
    kind = type(value)
    if kind is list or kind is tuple or kind is set:
        return all(map(_is_of_the_package, value))
    return kind in CHILDLESS_TYPES or kind.__module__.partition(".")[0] == "astropy"


def _error() -> Exception:
    return missing(
        "a derivative of the scale of a unit is needed, which 'astropy.units' has calculated from"
        " constants",
        "give the number to a Quantity, x * units.m, or make a unit of it: units.Unit(x * units.m)",
    )


def _forget(those: Scaled, identity: int, _: Any) -> None:
    those.pop(identity, None)


def _forget_decomposed(unit: Any) -> None:
    """Drop the cached decomposition of a unit, which foreign code may have made."""
    kept = vars(unit).get("_decomposed_cache")
    if kept is not None and kept is not unit and id(kept) not in _scaled:
        vars(unit)["_decomposed_cache"] = None


def _parts(unit: Any) -> Iterator[Any]:
    """Yield a unit and the units that it is made of."""
    waiting, seen = [unit], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += vars(one).get("_bases", ())
            if (made_of := vars(one).get("_represents")) is not None:
                waiting.append(made_of)


def _is_scaled(unit: Any) -> bool:
    """Return whether the scale of a unit, or of one of its parts, may be active."""
    return any(id(part) in _scaled for part in _parts(unit))


def _is_active(level: Any, unit: Any) -> bool:
    """Return whether a level has a tangent of the scale of a unit, or of a power."""
    numbers = [
        number
        for part in _parts(unit)
        for number in (vars(part).get("_scale"), *vars(part).get("_powers", ()))
    ]
    return any(one.holds(number) for one in level.down() for number in numbers)


def _may_differ(memory: Memory, number: int) -> bool:
    """Return whether an integer may be differentiated."""
    if memory.level is not None:
        return any(level.holds(number) for level in memory.level.down())
    return has_integers(memory)


@registering("astropy.units")
def _(units: Any) -> None:
    CONSTANT.append(units.UnitBase)
    _Units(units)
