"""Collect: shadows to plain cotangents, the inverse of `deposit`."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
)
from typing import Any
from weakref import ProxyTypes

import numpy as np

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.public_function import plain_function
from adjoint.errors import ArgumentError, CotangentError
from adjoint.primal.array_memory import root_of
from adjoint.primal.container_contents import base_of, elements_of, entries_of, place_of_held
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.object_array_places import as_objects, elements_in
from adjoint.primal.value_kinds import (
    ATOMS,
    by_value,
    fields_of,
    filled_slots,
    held_by_c,
    is_objects,
    is_partly_c,
    is_plain_object,
    mapping_behind,
    referent_of,
    slots_of,
)
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.shadow_owners import slot_owner
from adjoint.tangent import Tangent, tangent_of

_WITHOUT_FIELDS = (list, tuple, dict, deque, int, float, complex, np.ndarray)
"""Types whose cotangents have no place for the attributes that a subclass adds."""


def attribute_of_container_error(name: str, kind: type, base: type) -> CotangentError:
    """Return the error for a cotangent of an attribute of a subclassed container or number."""
    return CotangentError(
        f"the attribute {name!r} of a {kind.__name__}, which is a kind of {base.__name__}, has a"
        " derivative that cannot be shown beside it",
        hint="keep both in an object or a dict, or give the attribute as an argument",
    )


CONSTANT: list[type] = []
"""Classes whose instances are constants, like text: their cotangent is ``None``."""

_HOLDING = frozenset({FunctionType, slice})
_NOT_HELD = frozenset({type, str, FrameType, TracebackType, CodeType, ModuleType})
"""Types whose contents are not searched: a frame, for example, reaches everything."""

_DICTS: tuple[dict[Any, Any], ...] = ({}, OrderedDict())
_DICT_VIEWS = frozenset(type(view()) for d in _DICTS for view in (d.keys, d.values, d.items))


class Reader:
    """Collects cotangents from shadows as plain structures.

    Parameters
    ----------
    taking
        Whether to remove what is read from memory. The second read of an array then gives zero.
    arrays
        Whether to read the cotangents of written arrays, too.
    shown
        Whether the user receives the result, in which the cotangent of a constant is ``None``.
    instead
        By argument position and identity of a part: the copy that replaced the part while the
        function ran.

    Attributes
    ----------
    totals
        The sum of the cotangents of each array, by argument position and identity, or ``None``.
        While `counting`, the sums are formed; afterwards an array that occurs at several places of
        one argument shows its total at each.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        taking: bool,
        arrays: bool = True,
        shown: bool = False,
        instead: Mapping[int, Mapping[int, Any]] | None = None,
    ) -> None:
        self.memory = self._memory = memory
        self._taking = taking
        self._arrays = arrays
        self._shown = shown
        self._instead = instead or {}
        self._place = 0
        self.totals: dict[tuple[int, int], Any] | None = None
        self.counting = False
        self._open: set[int] = set()
        self._counted: set[tuple[int, int]] = set()
        self._found_at: dict[int, int] = {}

    def read_at(self, place: int, value: Any, bar: Any) -> Any:
        """Return the cotangent of the argument at position `place`."""
        self._place = place
        return self.read(value, bar)

    def read(self, value: Any, bar: Any) -> Any:
        """Return the cotangent of `value`, ``None`` for none: the sum of `bar` and its shadow."""
        memory = self._memory
        if self._instead and self._place in self._instead:
            value = self._instead[self._place].get(id(value), value)
        if by_value(value):
            self._refuse_attributes(value)
            bar = finish(bar)
            if self._open and type(bar) is Poison and type(value) is int:
                return None  # an integer inside a structure is a count, not a variable
            if (
                self._arrays
                and isinstance(value, np.ndarray)
                and memory.written
                and memory.is_written(value)
            ):
                if self.totals is not None:
                    # Cotangents by value from all places belong to the same memory.
                    if self.counting:
                        memory.add_array(value, bar)
                    bar = None
                shadow = memory.take_array(value) if self._taking else self._look(value)
                return accumulate(bar, shadow)
            if self.totals is not None and isinstance(value, np.ndarray):
                place = self._place, id(value)
                if not self.counting:
                    return self.totals.get(place)
                self.totals[place] = accumulate(self.totals.get(place), bar)
            return bar
        if type(bar) is Poison:
            return bar
        if (type(value) in ATOMS and type(value) not in _HOLDING) or id(value) in self._open:
            return None
        if self._shown and CONSTANT and issubclass(type(value), tuple(CONSTANT)):
            return None
        if self.counting and self._is_counted(value):
            return None
        self._open.add(id(value))
        try:
            self._refuse_attributes(value)
            found = self._structure(value)
        finally:
            self._open.discard(id(value))
        if self._shown and found is not None and not self.counting:
            self._demand_one_place(value)
        return found

    def _is_counted(self, value: Any) -> bool:
        """Return whether `value` was met before in this argument; its parts count once."""
        place = self._place, id(value)
        if place in self._counted:
            return True
        self._counted.add(place)
        return False

    def _demand_one_place(self, value: Any) -> None:
        """Refuse one object with a cotangent by identity in two arguments."""
        before = self._found_at.setdefault(id(value), self._place)
        if before != self._place:
            raise ArgumentError(
                f"a {type(value).__name__} is given twice, in arguments {before} and"
                f" {self._place}, whose cotangents in it cannot be told apart",
                hint="give a copy at one of the places: each argument is a variable of its own",
            )

    def _refuse_attributes(self, value: Any) -> None:
        """Refuse cotangents of attributes of list, tuple, dict, number and array subclasses."""
        kind = type(value)
        if not kind.__flags__ & (1 << 9) or not issubclass(kind, _WITHOUT_FIELDS):
            return
        fields = fields_of(value)
        if fields is None or fields is value:
            fields = {}
        shadow = (self._shadow(fields) or {}) if fields else {}
        parts = [(name, item, shadow.get(name)) for name, item in entries_of(fields)]
        own = self._shadow(slot_owner(self._memory, value)) if slots_of(kind) else None
        parts += [(name, None, bar) for name, bar in own.items()] if type(own) is dict else []
        for name, item, bar in parts:
            if (bar if item is None else self.read(item, bar)) is not None:
                base = next(base for base in _WITHOUT_FIELDS if issubclass(kind, base))
                raise attribute_of_container_error(name, kind, base)

    def _look(self, array: np.ndarray[Any, Any]) -> Any:
        memory, root = self._memory, root_of(array)
        bar = memory.shadows.get(("poison", id(root)))
        if bar is None and id(root) in memory.buffers:
            bar = memory.array_shadow(array).copy()
        return bar

    def _shadow(self, owner: Any) -> Any:
        shadows = self._memory.shadows
        return shadows.pop(id(owner), None) if self._taking else shadows.get(id(owner))

    def _structure(self, value: Any) -> Any:
        if type(value) in ProxyTypes and referent_of(value) is None:
            return None  # a proxy whose referent was freed raises on any other access
        if isinstance(value, tuple) and hasattr(value, "_fields") and type(value) is not tuple:
            items = self._items(value)
            return None if items is None else type(value)._make(items)  # type: ignore[attr-defined]
        if isinstance(value, list | tuple | deque):
            items = self._items(value)
            return tuple(items) if items is not None and isinstance(value, tuple) else items
        if isinstance(value, dict):
            return self._entries(value)
        if is_objects(value):
            return self._objects(value)
        if isinstance(value, set | frozenset):
            return self._elements(value)
        if type(value) is MappingProxyType:
            return self.read(mapping_behind(value), None)
        if type(value) in _DICT_VIEWS:
            return self._view(value)
        if isinstance(value, FunctionType):
            return self._cells(value)
        if (plain := plain_function(value)) is not None:
            return self._cells(plain)
        if isinstance(value, MethodType | BuiltinMethodType | MethodWrapperType):
            owner = value.__self__
            bar = (self._shadow(value) or {}).get("__self__")
            return None if isinstance(owner, ModuleType | type) else self.read(owner, bar)
        return None if isinstance(value, np.ufunc | type | EngineObject) else self._fields(value)

    def _items(self, value: Any) -> list[Any] | None:
        shadow = self._shadow(value)
        if isinstance(shadow, dict):
            return shadow.get("*")
        bars = [
            self.read(item, None if shadow is None else shadow[i])
            for i, item in enumerate(elements_of(value))
        ]
        return bars if any(bar is not None for bar in bars) else None

    def _objects(self, value: Any) -> Any:
        """Return an array of objects, shaped like `value`, of the elements' cotangents."""
        places = elements_in(value)
        shadow = self._memory.shadows.get(id(root_of(value))) or {}
        bars = [self.read(item, shadow.get(place)) for place, item in places]
        if self._taking:
            for place, _ in places:
                shadow.pop(place, None)
        if all(bar is None for bar in bars):
            return None
        return as_objects(value.shape, bars)

    def _entries(self, value: dict[Any, Any]) -> dict[Any, Any] | Poison | None:
        if self._taking and self._arrived_at_keys(value):
            return Poison(
                ArgumentError(
                    "the cotangent of a dict has no place for those of its keys",
                    hint="give a list of pairs",
                )
            )
        shadow = self._shadow(value) or {}
        bars = {
            key: self.read(item, shadow.get(place_of_held(key))) for key, item in entries_of(value)
        }
        return bars if any(bar is not None for bar in bars.values()) else None

    def _arrived_at_keys(self, value: dict[Any, Any]) -> bool:
        """Return whether keys of a result have a cotangent; keys of arguments are constants."""
        shadow = self._memory.shadows.pop(("keys", id(value)), {})
        bars = [shadow.get(key) for key in shadow if type(key) not in ATOMS]
        bars += [self.read(key, None) for key in base_of(value).__iter__(value)]
        return any(bar is not None for bar in bars)

    def _elements(self, value: Any) -> Poison | None:
        """Return poison if an element of a set has a cotangent, which a set cannot show."""
        bars = [*(self._shadow(value) or {}).values()]
        elements = set.__iter__(value) if isinstance(value, set) else frozenset.__iter__(value)
        bars += [self.read(item, None) for item in elements if not by_value(item)]
        if all(bar is None for bar in bars):
            return None
        kind = type(value).__name__
        return Poison(
            ArgumentError(f"a {kind} of numbers cannot be differentiated", hint="give a list")
        )

    def _view(self, value: Any) -> Poison | None:
        """Return poison if the dict behind a dict view has a cotangent."""
        if self.read(mapping_behind(value), None) is None:
            return None
        kind = type(value).__name__
        return Poison(ArgumentError(f"a {kind} cannot be differentiated", hint="give the dict"))

    def _cells(self, value: FunctionType) -> Tangent | None:
        bars: dict[str, Any] = {}
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            bars[name] = self.cell(cell)
        return (
            Tangent(value.__name__, bars) if any(bar is not None for bar in bars.values()) else None
        )

    def cell(self, cell: CellType) -> Any:
        """Return the cotangent of the contents of a cell."""
        if self.counting and self._is_counted(cell):
            return None
        shadow = self._shadow(cell) or {}
        try:
            return self.read(cell.cell_contents, shadow.get(None))
        except ValueError:
            return None

    def _fields(self, value: Any) -> Tangent | Any:
        if isinstance(value, Tangent):
            inside = self._structure(value._fields)
            return tangent_of(value, inside) if type(inside) is dict else inside
        fields = fields_of(value)
        shadow = (self._shadow(fields) or {}) if fields is not None else {}
        own = self._shadow(value) or {}
        if isinstance(own, dict) and type(own.get("*")) is Poison:
            return own["*"]
        bars = {name: self.read(item, shadow.get(name)) for name, item in entries_of(fields or {})}
        for name, item in filled_slots(value).items():
            bars[name] = self.read(item, own.get(name))
        if self._holds_more(value, own, bars):
            kind = type(value).__name__
            return Poison(
                ArgumentError(
                    f"a derivative in what a {kind} holds is needed, and its cotangent has no"
                    " place for that",
                    hint="give what it holds as an argument of its own",
                )
            )
        return Tangent(type(value), bars) if any(bar is not None for bar in bars.values()) else None

    def _holds_more(self, value: Any, own: Any, shown: dict[str, Any]) -> bool:
        """Return whether a part of `value` that `shown` omits has a cotangent: a part in C, or the
        cause or context of an exception."""
        arrived = own.items() if isinstance(own, dict) else ()
        if any(bar is not None and name not in shown for name, bar in arrived):
            return True
        if isinstance(value, BaseException):
            held = [value.__cause__, value.__context__]
        elif is_plain_object(value) and not is_partly_c(type(value)):
            return False
        else:
            fields = fields_of(value)
            seen = (fields, *(fields or {}).values(), *filled_slots(value).values())
            known = {id(item) for item in seen}
            held = [item for item in held_by_c(value) if id(item) not in known]
        held = [item for item in held if type(item) not in _NOT_HELD]
        return any(self.read(item, None) is not None for item in held)


def collect(memory: Memory, value: Any, bar: Any, *, arrays: bool = True) -> Any:
    """Collect the whole cotangent of `value`, a new result, and remove it from memory.

    `arrays` is false for new containers of arrays that alias memory of the operands.
    """
    return Reader(memory, taking=True, arrays=arrays).read(value, bar)
