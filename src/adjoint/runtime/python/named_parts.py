"""Reads of named parts of objects, classes, modules and cells, whose shadows get the cotangents."""

from __future__ import annotations

from typing import Any

from adjoint.primal.value_kinds import by_value
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.shadow_owners import slot_owner

NONE2 = (None, None, None)


def read_entry(record: list[Any], slot: int, owner: Any, key: Any, value: Any) -> Any:
    """Return `value`, a part of `owner`; a cotangent by value goes to the owner's shadow."""
    if by_value(value):
        memory: Memory = record[0]

        def entry_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(owner, key, y_bar)
            return NONE2

        record[slot] = entry_back
    return value


def read_field(record: list[Any], slot: int, fields: dict[Any, Any], name: str) -> Any:
    """Read one entry of an instance dictionary."""
    return read_entry(record, slot, fields, name, dict.__getitem__(fields, name))


def read_global(record: list[Any], slot: int, namespace: dict[str, Any], name: str) -> Any:
    """Read a global variable; it is constant unless differentiated code has assigned it."""
    memory: Memory = record[0]
    if memory.globals_written and (id(namespace), name) in memory.globals_written:
        return read_field(record, slot, namespace, name)
    return namespace[name]


def read_slot(record: list[Any], slot: int, obj: Any, name: str, static: Any) -> Any:
    """Read a slot attribute."""
    value = static.__get__(obj)
    if by_value(value):
        memory: Memory = record[0]

        def slot_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(slot_owner(memory, obj), name, y_bar)
            return NONE2

        record[slot] = slot_back
    return value


def read_named_item(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    """Read a field of a named tuple."""
    memory, place = record[0], obj._fields.index(name)

    def field_back(y_bar: Any) -> tuple[Any, ...]:
        memory.add_item(obj, place, y_bar)
        return NONE2

    record[slot] = field_back
    return tuple.__getitem__(obj, place)
