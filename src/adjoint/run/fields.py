"""What objects, classes, modules and cells hold by name, where their cotangents go, too."""

from __future__ import annotations

from types import CellType
from typing import Any

from adjoint.run.accumulate import accumulate
from adjoint.run.dispatch import call_keywords
from adjoint.run.kinds import by_value, slot_owner
from adjoint.run.memory import Memory

__all__ = [
    "fill_cached_property",
    "read_cell",
    "read_class_value",
    "read_field",
    "read_global",
    "read_named_item",
    "read_slot",
]

NONE2 = (None, None, None)


def read_field(record: list[Any], slot: int, fields: dict[Any, Any], name: str) -> Any:
    """One entry of an instance dictionary."""
    value = dict.__getitem__(fields, name)
    if by_value(value):
        memory: Memory = record[0]

        def field_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(fields, name, y_bar)
            return NONE2

        record[slot] = field_back
    return value


def read_global(record: list[Any], slot: int, namespace: dict[str, Any], name: str) -> Any:
    """A variable of a module: its cotangent matters only where differentiated code has assigned
    it."""
    memory: Memory = record[0]
    if memory.globals_written and (id(namespace), name) in memory.globals_written:
        return read_field(record, slot, namespace, name)
    return namespace[name]


def read_slot(record: list[Any], slot: int, obj: Any, name: str, static: Any) -> Any:
    """What an object has in a slot."""
    value = static.__get__(obj)
    if by_value(value):
        memory: Memory = record[0]

        def slot_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(slot_owner(memory, obj), name, y_bar)
            return NONE2

        record[slot] = slot_back
    return value


def read_class_value(record: list[Any], slot: int, owner: type, name: str, value: Any) -> Any:
    """What a class holds under a name."""
    memory: Memory = record[0]

    def class_value_back(y_bar: Any) -> tuple[Any, ...]:
        memory.add_entry(owner, name, y_bar)
        return NONE2

    record[slot] = class_value_back
    return value


def read_cell(record: list[Any], slot: int, cell: CellType) -> Any:
    """``cell.cell_contents``"""
    value = cell.cell_contents
    if by_value(value):
        memory: Memory = record[0]

        def contents_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(cell, None, y_bar)
            return NONE2

        record[slot] = contents_back
    return value


def read_named_item(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    """A field of a named tuple."""
    memory, place = record[0], obj._fields.index(name)

    def field_back(y_bar: Any) -> tuple[Any, ...]:
        memory.add_item(obj, place, y_bar)
        return NONE2

    record[slot] = field_back
    return tuple.__getitem__(obj, place)


def fill_cached_property(record: list[Any], slot: int, obj: Any, name: str, static: Any) -> Any:
    """The first read of a `functools.cached_property`, which the object holds from then on."""
    from adjoint.run.items import set_entry

    memory: Memory = record[0]
    inner: list[Any] = [memory, None, None]

    def cached_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            y_bar = accumulate(y_bar, inner[2](None)[-1])
        if inner[1] is not None:
            inner[1](y_bar)
        return NONE2

    record[slot] = cached_back
    value = call_keywords(inner, 1, static.func, (obj,), {})
    set_entry(inner, 2, obj.__dict__, static.attrname, value)  # a frozen class has no say in it
    return value
