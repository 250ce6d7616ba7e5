"""Saved states of containers, fields, slot attributes, variables and class attributes."""

from __future__ import annotations

import array
import functools
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from types import CellType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from adjoint.primal.container_contents import (
    ABSENT,
    any_compares_by_user_code,
    base_of,
    elements_of,
    entries_of,
)
from adjoint.primal.value_kinds import content_of, fields_of, has_slots, slots_of
from adjoint.runtime.memory.class_shadow import take_class_entry
from adjoint.runtime.memory.log_entries import (
    swap_cell,
    swap_item,
    swap_slice,
    swap_slot,
    swap_with,
)
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.saved import Saved, same_items
from adjoint.runtime.memory.saved_arrays import SavedBuffer, save_array
from adjoint.runtime.memory.shadow_owners import slot_owner

# ---- sequences -----------------------------------------------------------------------------------


class _List(Saved):
    __slots__ = ("now",)

    def differs(self) -> bool:
        return not same_items([*elements_of(self.owner)], self.saved)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        now = elements_of(self.owner)
        for old, new in zip_longest(self.saved, now, fillvalue=ABSENT):
            if old is not new:
                yield old, new

    def log(self, memory: Memory) -> None:
        self.now = [*list.__iter__(self.owner)]
        self.position = memory.note(swap_slice, self.owner, 0, len(self.now), list(self.saved))

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        shadow = memory.shadows.get(id(self.owner))
        memory.rewind(self.position)
        if shadow is None or isinstance(shadow, dict):
            return
        bars: Any = [None] * len(self.saved)
        for i, bar in enumerate(shadow):
            if i < len(bars) and self.saved[i] is self.now[i]:
                bars[i] = bar
            else:
                yield self.now[i], bar
        memory.shadows[id(self.owner)] = type(shadow)(bars)


def _refill(xs: Any, kind: Any, values: list[Any]) -> None:
    kind.clear(xs)
    (kind.update if kind is set else kind.extend)(xs, values)


class _Deque(_List):
    __slots__ = ()

    def log(self, memory: Memory) -> None:
        self.now = [*deque.__iter__(self.owner)]
        undo = partial(_refill, self.owner, deque, self.saved)
        self.position = memory.note(swap_with, undo, partial(_refill, self.owner, deque, self.now))


class _Set(Saved):
    __slots__ = ("put",)

    def hashes(self) -> bool:
        return True

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        now, before = [*set.__iter__(self.owner)], set(map(id, self.saved))
        yield from ((ABSENT, value) for value in now if id(value) not in before)
        after = set(map(id, now))
        yield from ((value, ABSENT) for value in self.saved if id(value) not in after)

    def differs(self) -> bool:
        return not same_items([*set.__iter__(self.owner)], self.saved)

    def log(self, memory: Memory) -> None:
        self.put = [new for _, new in self.pairs() if new is not ABSENT]
        now = [*set.__iter__(self.owner)]
        undo = partial(_refill, self.owner, set, self.saved)
        self.position = memory.note(swap_with, undo, partial(_refill, self.owner, set, now))

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        for value in self.put:
            yield value, memory.take_entry(self.owner, value)


# ---- named values --------------------------------------------------------------------------------


class _Dict(Saved):
    __slots__ = ("changed",)

    def differs(self) -> bool:
        d, saved = self.owner, self.saved
        return not (
            len(saved) == dict.__len__(d)
            and same_items([*dict.__iter__(d)], [*saved])
            and all(map(operator.is_, dict.values(d), saved.values()))
        )

    def _changes(self) -> list[tuple[Any, Any, Any]]:
        """Return key, old and new value of each difference."""
        before = {id(key): value for key, value in self.saved.items()}
        now = {id(key): value for key, value in entries_of(self.owner)}
        keys = {id(key): key for key in (*self.saved, *base_of(self.owner).keys(self.owner))}
        changes = [
            (key, before.get(place, ABSENT), now.get(place, ABSENT)) for place, key in keys.items()
        ]
        return [change for change in changes if change[1] is not change[2]]

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield from ((old, new) for _, old, new in self._changes())

    def hashes(self) -> bool:
        return any_compares_by_user_code(self.owner) or any_compares_by_user_code(self.saved)

    def log(self, memory: Memory) -> None:
        d, changes = self.owner, self._changes()
        self.changed = [
            (key, new, memory.shadow_key(d, key), old is ABSENT)
            for key, old, new in changes
            if new is not ABSENT
        ]
        now = dict(entries_of(d))
        if isinstance(d, OrderedDict) or _moved(self.saved, now):
            undo = partial(_refill_dict, d, self.saved)
            self.position = memory.note(swap_with, undo, partial(_refill_dict, d, now))
            return
        self.position = memory.position
        # The log is undone backwards, so deleted keys are logged in reverse of their order.
        changes.sort(key=lambda change: change[2] is not ABSENT)
        gone = sum(new is ABSENT for _, _, new in changes)
        for key, old, _ in (*reversed(changes[:gone]), *changes[gone:]):
            memory.note(swap_item, d, key, old)

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        for key, value, place, is_new in self.changed:
            yield value, memory.take_entry(self.owner, place)
            if is_new:
                yield key, memory.take_key(self.owner, key)


def _moved(before: dict[Any, Any], now: dict[Any, Any]) -> bool:
    """Return whether the new order is not the old one with the new keys appended."""
    old, new = [*map(id, before)], [*map(id, now)]
    after, known = set(new), set(old)
    kept = [key for key in old if key in after]
    return kept + [key for key in new if key not in known] != new


def _refill_dict(d: Any, items: dict[Any, Any]) -> None:
    base: Any = OrderedDict if isinstance(d, OrderedDict) else dict
    base.clear(d)
    for key, value in items.items():
        base.__setitem__(d, key, value)


class _Variable(Saved):
    """The saved state of a variable."""

    __slots__ = ("now",)

    def present(self) -> Any:
        """Return the value of the variable, or `ABSENT`."""
        raise NotImplementedError

    def differs(self) -> bool:
        return self.present() is not self.saved

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield self.saved, self.present()


class Global(_Variable):
    """The saved state of a global variable; `owner` is ``(namespace, name)``."""

    __slots__ = ()

    def present(self) -> Any:
        namespace, name = self.owner
        return namespace.get(name, ABSENT)

    def log(self, memory: Memory) -> None:
        namespace, name = self.owner
        self.now: Any = self.present()
        memory.globals_written[id(namespace), name] = namespace
        self.position: int = memory.note(swap_item, namespace, name, self.saved)

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        yield self.now, memory.take_entry(*self.owner)


class _Cell(_Variable):
    """The saved state of a captured variable."""

    __slots__ = ()

    def present(self) -> Any:
        return content_of(self.owner, ABSENT)

    def log(self, memory: Memory) -> None:
        self.now = self.present()
        self.position = memory.note(swap_cell, self.owner, self.saved)

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        yield self.now, memory.take_entry(self.owner, None)


class _Slots(Saved):
    """The saved state of the slot attributes of an object."""

    __slots__ = ("names",)

    def differs(self) -> bool:
        return any(
            a is not b and not (type(a) is int and a == b)  # C returns a new int on each read
            for a, b in zip(slots(self.owner), self.saved, strict=True)
        )

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        for old, new in zip(self.saved, slots(self.owner), strict=True):
            if old is not new:
                yield old, new

    def log(self, memory: Memory) -> None:
        now = slots(self.owner)
        self.position, self.names = memory.position, []
        for i, (name, descriptor) in enumerate(slots_of(type(self.owner)).items()):
            if now[i] is not self.saved[i] and _is_writable(descriptor, self.owner, now[i]):
                memory.note(swap_slot, descriptor, self.owner, self.saved[i])
                self.names.append((name, now[i]))

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        for name, value in self.names:
            yield value, memory.take_entry(slot_owner(memory, self.owner), name)


def _is_writable(descriptor: Any, obj: Any, value: Any) -> bool:
    """Return whether Python code can set a slot attribute."""
    try:
        if value is not ABSENT:
            descriptor.__set__(obj, value)
    except (AttributeError, TypeError):
        return False
    return True


def slots(obj: Any) -> list[Any]:
    values = []
    for descriptor in slots_of(type(obj)).values():
        try:
            values.append(descriptor.__get__(obj))
        except AttributeError:
            values.append(ABSENT)
    return values


class _Class(Saved):
    """The saved state of the attributes of a class."""

    __slots__ = ("names",)

    def _changes(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield name, old and new value of each difference."""
        now: Any = vars(self.owner)
        for name in {**self.saved, **now}:
            old, new = self.saved.get(name, ABSENT), now.get(name, ABSENT)
            if old is not new and not name.startswith(("__", "_abc_")):
                yield name, old, new

    def differs(self) -> bool:
        return any(True for _ in self._changes())

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield from ((old, new) for _, old, new in self._changes())

    def log(self, memory: Memory) -> None:
        self.position, self.names = memory.position, []
        for name, old, new in [*self._changes()]:
            exchange = partial(_set_class, self.owner, name)
            memory.note(swap_with, partial(exchange, old), partial(exchange, new))
            self.names.append((name, new))

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        for name, value in self.names:
            yield value, take_class_entry(memory, self.owner, name)


def _set_class(cls: type, name: str, value: Any) -> None:
    if value is ABSENT:
        type.__delattr__(cls, name)
    else:
        type.__setattr__(cls, name, value)


# ---- any of them ---------------------------------------------------------------------------------


def save(value: Any, kind: type) -> list[Saved]:
    """Save the mutable parts of `value` itself."""
    if issubclass(kind, np.ndarray):
        return save_array(value)
    if kind is CellType:
        return [_Cell(value, content_of(value, ABSENT))]
    if issubclass(kind, type):
        return [_Class(value, dict(vars(value)))] if value.__flags__ & (1 << 9) else []
    kept: list[Saved] = []
    for base, make in SAVERS.items():
        if issubclass(kind, base):
            kept.append(make(value))
            break
    if has_assignable_attributes(kind):
        if (fields := fields_of(value)) is not None:
            kept.append(_Dict(fields, dict(fields)))
        if has_slots(kind):
            kept.append(_Slots(value, slots(value)))
    return kept


SAVERS: dict[type, Callable[[Any], Saved]] = {
    list: lambda xs: _List(xs, [*list.__iter__(xs)]),
    dict: lambda d: _Dict(d, dict(dict.items(d))),
    set: lambda xs: _Set(xs, [*set.__iter__(xs)]),
    deque: lambda xs: _Deque(xs, [*deque.__iter__(xs)]),
    array.array: lambda xs: SavedBuffer(xs, xs[:]),
}
"""Functions that save an instance, by base class."""

_WITH_FIELDS = (
    BaseException,
    FunctionType,
    OrderedDict,
    SimpleNamespace,
    functools.partial,
)
"""Classes of C whose instances have assignable attributes."""


def has_assignable_attributes(kind: type) -> bool:
    """Return whether instances of `kind` have assignable attributes."""
    return bool(kind.__flags__ & (1 << 9)) or issubclass(kind, _WITH_FIELDS)  # HEAPTYPE
