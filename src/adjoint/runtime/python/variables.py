"""Captured and global variables, and nested functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from adjoint.ir import primitives
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import primitive
from adjoint.runtime.cache.units import namespaces_without_builtins
from adjoint.runtime.memory.log_entries import swap_item
from adjoint.runtime.memory.memory import Memory, undone
from adjoint.runtime.python.attribute_writes import change_cell, write_global
from adjoint.runtime.python.named_parts import read_entry, read_global

NONE2 = (None, None, None)


def _loading(load: Callable[[CellType, str], Any]) -> Callable[..., Any]:
    """Return the function that reads a captured variable by `load`."""

    def load_cell(record: list[Any], slot: int, cell: CellType, name: str) -> Any:
        return read_entry(record, slot, cell, None, load(cell, name))

    return load_cell


def store_cell(record: list[Any], slot: int, cell: CellType, value: Any) -> None:
    """Assign a captured variable."""
    change_cell(record, slot, cell, 3)
    cell.cell_contents = value


load_cell: Callable[..., Any] = _loading(primitives.load_cell)


def _deleting(load: Callable[[CellType, str], Any]) -> Callable[..., Any]:
    """Return the function that deletes a captured variable, whose value `load` checks."""

    def delete_cell(record: list[Any], slot: int, cell: CellType, name: str) -> None:
        load(cell, name)
        change_cell(record, slot, cell, 3, is_filled=False)
        del cell.cell_contents

    return delete_cell


def new_cell(record: list[Any], slot: int) -> CellType:
    """Return the empty cell of a captured variable."""
    return CellType()


@primitive(CellType)
def _cell(record: list[Any], slot: int, *args: Any) -> CellType:
    """Run ``types.CellType(…)``."""
    cell = CellType(*args)
    memory: Memory = record[0]
    record[slot] = lambda _: (None, memory.take_entry(cell, None))[: len(args) + 1]
    return cell


def load_global(record: list[Any], slot: int, namespace: Any, name: str) -> Any:
    """Read a global variable or a builtin."""
    if name in namespace:
        return read_global(record, slot, namespace, name)
    return primitives.load_global(namespace, name)


def store_global(record: list[Any], slot: int, namespace: Any, name: str, value: Any) -> None:
    """``name = value`` under ``global name``."""
    write_global(record, slot, namespace, name, value)


def delete_global(record: list[Any], slot: int, namespace: Any, name: str) -> None:
    """``del name`` under ``global name``."""
    memory: Memory = record[0]
    old = namespace.get(name, ABSENT)
    primitives.delete_global(namespace, name)
    record[slot] = undone(memory, memory.note(swap_item, namespace, name, old), NONE2)


def make_function(record: list[Any], slot: int, *operands: Any) -> FunctionType:
    """Make a nested function; the cotangents of its cells and defaults are in memory."""
    return primitives.make_function(*operands)


CELLS: dict[Any, Any] = {
    primitives.load_cell: load_cell,
    primitives.load_own_cell: _loading(primitives.load_own_cell),
    primitives.store_cell: store_cell,
    primitives.delete_cell: _deleting(primitives.load_cell),
    primitives.delete_own_cell: _deleting(primitives.load_own_cell),
    primitives.new_cell: new_cell,
    primitives.load_global: load_global,
    primitives.store_global: store_global,
    primitives.delete_global: delete_global,
    primitives.make_function: make_function,
}


def mark_namespace(memory: Memory, namespace: dict[str, Any]) -> None:
    """Note that a dict serves as globals of functions, so that its numbers may be active."""
    module = sys.modules.get(str(namespace.get("__name__")))
    if module is None or vars(module) is not namespace:
        if "__builtins__" not in namespace:
            namespaces_without_builtins[id(namespace)] = namespace
        for name, value in namespace.items():
            if by_value(value) and type(value) not in (bool, int):
                memory.globals_written[id(namespace), name] = namespace
