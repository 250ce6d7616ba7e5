"""Assignment and deletion of fields, slot attributes, class attributes, properties and globals."""

from __future__ import annotations

import builtins
import functools
import gc
from collections.abc import Callable
from types import CellType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.array_memory import assign_shape
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.special_methods import C_METHODS, class_attribute, quick_special_of
from adjoint.primal.value_kinds import by_value, content_of, defined_by, fields_of
from adjoint.rulekit.loading import load
from adjoint.rulekit.registry import method_rules
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.class_shadow import take_class_entry
from adjoint.runtime.memory.log_entries import swap_cell, swap_item, swap_slot, swap_with
from adjoint.runtime.memory.memory import Memory, undone
from adjoint.runtime.memory.shadow_owners import slot_owner
from adjoint.transform.paths import is_constant

ndarray = np.ndarray
NONE2 = (None, None, None)
_MEMBER: Any = type(property.fget)


def set_attribute(record: list[Any], slot: int, obj: Any, name: str, value: Any) -> None:
    """``obj.name = value``; the pullback returns ``(None, None, None, value_bar)``."""
    kind = type(obj)
    setter: Any = quick_special_of(kind, "__setattr__")
    if type(setter) is FunctionType:
        call_keywords(record, slot, setter, (obj, name, value), {})
        return
    if type(setter) in C_METHODS and setter.__name__ != "__setattr__":  # = dict.__setitem__
        call_keywords(record, slot, setter, (obj, name, value), {})
        return
    if issubclass(kind, ndarray) and name in ("shape", "strides", "dtype", "data"):
        if name != "data" and value == getattr(obj, name):
            return  # nothing changes
        if name == "shape":
            _reshape(record, slot, obj, value)
            return
        raise refused(
            f"'{name}' of an array is assigned inside differentiated code",
            "make a new array: x.reshape(...), x.view(...) or x.astype(...)",
        )
    if issubclass(kind, ndarray) and name in vars(ndarray):
        load("numpy")
        rules = method_rules(ndarray, "__setattr__")
        if (
            rules is not None
            and run_rules(record, slot, setattr, rules, (obj, name, value), {}) is not DECLINED
        ):
            return
    if kind is ModuleType:
        check_replacement(obj, name)
        level = record[0].level
        if is_constant(obj, value) and (level is None or level.knows(value)):
            raise refused(
                f"'{obj.__name__}.{name}' is assigned, and numbers of that library are constants",
                "assign it to a module of your own, or to an object",
            )
        write_global(record, slot, vars(obj), name, value)
        return
    static = class_attribute(kind, name) if issubclass(kind, type) else None
    if issubclass(kind, type) and (
        not hasattr(static, "__set__") or (type(static) is GetSetDescriptorType and name in _FACTS)
    ):
        write_class(record, slot, obj, name, value)
        return
    write_attribute(record, slot, obj, name, value)


_FACTS = ("__annotations__", "__doc__", "__module__")
"""Attributes with a getset descriptor that a class stores in its own dictionary."""


_BUILTINS = frozenset(vars(builtins))
_FREE = frozenset("breakpoint exit help input open print quit".split())


def check_replacement(module: Any, name: str) -> None:
    """Refuse to replace a builtin function that the library itself calls."""
    if module is builtins and name in _BUILTINS and name not in _FREE:
        raise refused(
            f"'builtins.{name}' is exchanged inside differentiated code, which relies on it",
            f"assign a global variable {name!r} of the module in which it is called",
        )


def write_attribute(record: list[Any], slot: int, obj: Any, name: str, value: Any) -> None:
    """Run ``object.__setattr__(obj, name, value)``: descriptors first, then fields."""
    kind = type(obj)
    static = class_attribute(kind, name)
    descriptor = type(static)
    if _sets_as_properties_do(descriptor) and static.fset is not None:
        linked(record, slot, _of_setter, call_keywords, static.fset, (obj, value), {})
        return
    if descriptor is _MEMBER:
        write_slot(record, slot, obj, name, static, value)
        return
    writer = getattr(descriptor, "__set__", None)
    if type(writer) is FunctionType:
        linked(record, slot, _of_setter, call_keywords, writer, (static, obj, value), {})
        return
    if type(obj) is CellType and name == "cell_contents":
        change_cell(record, slot, obj, 4)
        obj.cell_contents = value
        return
    fields = fields_of(obj) if not issubclass(type(obj), type) else None
    if name == "__dict__" and isinstance(value, dict) and fields is not None:
        _replace_fields(record, slot, obj, value)
        return
    if kind is FunctionType and name in _FUNCTION_ATTRIBUTES:
        old = getattr(obj, name)
        if name != "__annotations__":  # calls read defaults like global variables
            memory: Memory = record[0]
            memory.globals_written[id(obj), name] = obj
        setattr(obj, name, value)
        _log_exchange(record, slot, functools.partial(setattr, obj, name), old, value)
        return
    rules = None if descriptor is GetSetDescriptorType else method_rules(descriptor, "__set__")
    if rules is not None:
        args = static, obj, value
        if linked(record, slot, _of_setter, run_rules, writer, rules, args, {}) is not DECLINED:
            return
    if (
        descriptor is GetSetDescriptorType
        and not issubclass(kind, ndarray)  # setters of arrays copy the value into their memory
        and (not by_value(value) or (not _is_real(value) and method_rules(kind, name) is not None))
        and _set_readable(record, slot, obj, name, value)
    ):
        return
    if fields is None or writer is not None:
        run_unknown(record[0], record, slot, setattr, (obj, name, value), {})
        return
    setter: Any = quick_special_of(kind, "__setattr__")
    if setter is not _SETS_FIELDS and type(setter) is not FunctionType:
        _write_by_c(record, slot, obj, name, value, fields)
        return
    old = dict.get(fields, name, ABSENT)
    object.__setattr__(obj, name, value)  # the caller has called an override of the class
    _log_field(record, slot, fields, name, old)


_SETS_FIELDS = object.__setattr__


def _write_by_c(
    record: list[Any], slot: int, obj: Any, name: str, value: Any, fields: dict[str, Any]
) -> None:
    """Assign an attribute of an object whose class has ``__setattr__`` in C, like a proxy; log the
    dictionary, of the object or of its referent, that was written."""
    places = [fields, *(held for held in gc.get_referents(obj) if type(held) is dict)]
    before = [dict.get(place, name, ABSENT) for place in places]
    setattr(obj, name, value)
    for place, old in zip(places, before, strict=True):
        if dict.get(place, name) is value:
            _log_field(record, slot, place, name, old)
            return
    raise refused(
        f"'{name}' of a '{type(obj).__name__}' is assigned inside differentiated code, and kept"
        " out of sight",
        "keep it in an object of a Python class",
    )


def _is_real(value: Any) -> bool:
    """Return whether a number or an array may have a derivative."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "biu"
    return type(value) is not bool


def _set_readable(record: list[Any], slot: int, obj: Any, name: str, value: Any) -> bool:
    """Assign an attribute of an object of C; return whether reading it gives the value back: then
    the object hides nothing."""
    old = getattr(obj, name, ABSENT)
    if old is ABSENT or getattr(obj, name) is not old:
        return False
    setattr(obj, name, value)
    exchange = functools.partial(setattr, obj, name)
    if getattr(obj, name) is not value:
        exchange(old)
        return False
    _log_exchange(record, slot, exchange, old, value)
    return True


def _replace_fields(record: list[Any], slot: int, obj: Any, fields: dict[str, Any]) -> None:
    """Run ``obj.__dict__ = fields``."""
    old = object.__getattribute__(obj, "__dict__")
    assign = functools.partial(object.__setattr__, obj, "__dict__")
    assign(fields)
    _log_exchange(record, slot, assign, old, fields)


_FUNCTION_ATTRIBUTES = ("__annotations__", "__defaults__", "__kwdefaults__")
"""Attributes of functions whose containers own the cotangents of their elements."""


def _log_field(record: list[Any], slot: int, fields: dict[str, Any], name: str, old: Any) -> None:
    memory: Memory = record[0]
    position = memory.note(swap_item, fields, name, old)
    _undo_later(record, slot, position, lambda: memory.take_entry(fields, name))


def change_cell(
    record: list[Any], slot: int, cell: CellType, n: int, is_filled: bool = True
) -> None:
    """Log that a cell is about to change; the pullback returns `n` cotangents, the value's last."""
    memory: Memory = record[0]
    position = memory.note(swap_cell, cell, content_of(cell, ABSENT))

    def change_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        value_bar = memory.take_entry(cell, None)
        return (None,) * (n - 1) + (value_bar if is_filled else None,)

    record[slot] = change_back


def _reshape(record: list[Any], slot: int, array: np.ndarray[Any, Any], shape: Any) -> None:
    """Run ``array.shape = shape``; the array counts as written, so its cotangent is in memory."""
    memory: Memory = record[0]
    if array.dtype.kind in "fc":
        memory.mark_written(array)
    old = array.shape
    array.shape = shape
    if memory.level is not None:
        memory.level.reshaped(array, old)
    exchange = functools.partial(_set_shape, memory, array)
    _log_exchange(record, slot, exchange, old, array.shape)


def _set_shape(memory: Memory, array: Any, shape: Any) -> None:
    assign_shape(array, shape)
    memory.reshape_shadow(array)


def _log_exchange(
    record: list[Any], slot: int, exchange: Callable[[Any], Any], old: Any, new: Any
) -> None:
    """Log that ``exchange(new)`` was called; the pullback, which calls ``exchange(old)``, moves no
    cotangent."""
    undo, redo = functools.partial(exchange, old), functools.partial(exchange, new)
    _undo_later(record, slot, record[0].note(swap_with, undo, redo), lambda: None)


def _undo_later(record: list[Any], slot: int, position: int, take: Callable[[], Any]) -> None:
    """Leave the pullback of an assignment: it undoes the write at `position`, and `take` returns
    the cotangent of the value."""
    memory: Memory = record[0]

    def write_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None, take()

    record[slot] = write_back


def _of_setter(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """Turn the cotangents of a setter, whose last operand is the value, into those of
    `write_attribute`."""
    return None, None, None, bars[-1]


def write_class(record: list[Any], slot: int, cls: type, name: str, value: Any) -> None:
    """``type.__setattr__(cls, name, value)``"""
    memory: Memory = record[0]
    had, old = name in vars(cls), vars(cls).get(name)
    type.__setattr__(cls, name, value)
    undo = (
        (lambda: type.__setattr__(cls, name, old)) if had else (lambda: type.__delattr__(cls, name))
    )
    position = memory.note(swap_with, undo, lambda: type.__setattr__(cls, name, value))
    _undo_later(record, slot, position, lambda: take_class_entry(memory, cls, name))


def write_slot(record: list[Any], slot: int, obj: Any, name: str, static: Any, value: Any) -> None:
    memory: Memory = record[0]
    try:
        old = static.__get__(obj)
    except AttributeError:
        old = ABSENT
    static.__set__(obj, value)
    position = memory.note(swap_slot, static, obj, old)
    _undo_later(record, slot, position, lambda: memory.take_entry(slot_owner(memory, obj), name))


def write_global(
    record: list[Any], slot: int, namespace: dict[str, Any], name: str, value: Any
) -> None:
    """Assign a global variable."""
    memory: Memory = record[0]
    memory.globals_written[id(namespace), name] = namespace
    old = namespace.get(name, ABSENT)
    namespace[name] = value
    _log_field(record, slot, namespace, name, old)


def delete_attribute(record: list[Any], slot: int, obj: Any, name: str) -> None:
    """``del obj.name``"""
    deleter: Any = quick_special_of(type(obj), "__delattr__")
    if type(deleter) is FunctionType or (
        type(deleter) in C_METHODS and deleter.__name__ != "__delattr__"  # = dict.__delitem__
    ):
        call_keywords(record, slot, deleter, (obj, name), {})
        return
    delete_plain(record, slot, obj, name)


def _sets_as_properties_do(descriptor: type) -> bool:
    return descriptor is property or (
        issubclass(descriptor, property) and type(descriptor.__set__) in C_METHODS
    )


def delete_plain(record: list[Any], slot: int, obj: Any, name: str) -> None:
    """``object.__delattr__(obj, name)``"""
    static = class_attribute(type(obj), name)
    if issubclass(type(static), property) and static.fdel is not None:
        linked(record, slot, lambda bars: NONE2, call_keywords, static.fdel, (obj,), {})
        return
    remover = defined_by(type(static), "__delete__")
    if type(remover) is FunctionType:
        linked(record, slot, lambda bars: NONE2, call_keywords, remover, (static, obj), {})
        return
    memory: Memory = record[0]
    if type(obj) is CellType and name == "cell_contents":
        linked(record, slot, lambda bars: NONE2, _delete_content, obj)
        return
    fields = fields_of(obj)
    if issubclass(type(obj), type):
        old = vars(obj).get(name)
        delattr(obj, name)
        undo = functools.partial(type.__setattr__, obj, name, old)
        position = memory.note(swap_with, undo, functools.partial(type.__delattr__, obj, name))
    elif type(static) is _MEMBER:
        delete_slot(record, slot, obj, static)
        return
    else:
        old = fields.get(name, ABSENT) if fields is not None else ABSENT
        remove: Any = quick_special_of(type(obj), "__delattr__")
        (object.__delattr__ if type(remove) is FunctionType else remove)(obj, name)
        if fields is None or old is ABSENT:
            return
        position = memory.note(swap_item, fields, name, old)

    record[slot] = undone(memory, position, NONE2)


def delete_slot(record: list[Any], slot: int, obj: Any, static: Any) -> None:
    """Run ``static.__delete__(obj)`` for the descriptor `static` of a slot attribute."""
    memory: Memory = record[0]
    old = static.__get__(obj)
    static.__delete__(obj)
    record[slot] = undone(memory, memory.note(swap_slot, static, obj, old), NONE2)


def _delete_content(record: list[Any], slot: int, cell: CellType) -> None:
    change_cell(record, slot, cell, 2, is_filled=False)
    del cell.cell_contents
