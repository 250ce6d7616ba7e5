"""Subscripts."""

from __future__ import annotations

import operator
from functools import partial
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.ir import primitives
from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.packages import INERT, package
from adjoint.primal.special_methods import C_METHODS, class_attribute, special_of
from adjoint.primal.value_kinds import mapping_behind
from adjoint.rulekit.registry import lookup, method_rules
from adjoint.runtime.arrays.reads import read_array
from adjoint.runtime.arrays.writes import write_array
from adjoint.runtime.cache.units import namespaces_without_builtins
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.number_protocols import has_index
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.foreign.user_code_reach import HASHED
from adjoint.runtime.memory.log_entries import swap_item, swap_slice
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import is_opaque
from adjoint.runtime.python.attribute_writes import set_attribute
from adjoint.runtime.python.displays import _display, build_dict, build_set

ndarray = np.ndarray
NONE2 = (None, None, None)


# ---- subscripts ----------------------------------------------------------------------------------


def item(record: list[Any], slot: int, xs: Any, i: Any) -> Any:
    """``xs[i]``"""
    kind = type(xs)
    memory: Memory = record[0]
    if kind is ndarray:
        return read_array(record, slot, xs, i)
    if kind is list or kind is tuple:
        if type(i) is int or type(i) in CHILDLESS_TYPES:
            value = xs[i]
            place = i if type(i) is int else operator.index(i)
            if place < 0:
                place += len(xs)
            record[slot] = partial(_element_back, memory, xs, place)
            return value
    elif kind is dict:
        if type(i) is not str and type(i) not in CHILDLESS_TYPES and HASHED(i):
            return _special_item(record, slot, xs, i)
        if i in xs:
            value = xs[i]
            key = i if type(i) is str and id(xs) in memory.plain_dicts else memory.shadow_key(xs, i)
            record[slot] = partial(_entry_back, memory, xs, key)
            return value
    elif (kind is str or kind is range) and not has_index(i):
        return xs[i]
    elif kind is bytes and type(i) is int:
        return xs[i]
    return _special_item(record, slot, xs, i)


def _element_back(memory: Memory, xs: Any, place: int, y_bar: Any) -> tuple[Any, ...]:
    memory.add_item(xs, place, y_bar)
    return NONE2


def _entry_back(memory: Memory, xs: Any, key: Any, y_bar: Any) -> tuple[Any, ...]:
    memory.add_entry(xs, key, y_bar)
    return NONE2


def _special_item(record: list[Any], slot: int, xs: Any, i: Any) -> Any:
    kind = type(xs)
    if issubclass(kind, type) and class_attribute(kind, "__getitem__") is None:
        return _class_item(record, slot, xs, i)
    f = special_of(kind, "__getitem__")
    if type(f) is FunctionType:
        return call_keywords(record, slot, f, (xs, i), {})
    if issubclass(kind, ndarray):
        return read_array(record, slot, xs, i)
    if kind is MappingProxyType:
        return item(record, slot, mapping_behind(xs), i)
    rules = method_rules(kind, "__getitem__") or lookup((kind, "__getitem__"))
    if rules is not None:
        y = run_rules(record, slot, f, rules, (xs, i), {})
        if y is not DECLINED:
            return y
    operands, why = (xs, i), "has neither a rule nor Python source"
    if isinstance(xs, np.void):
        why = "reads a row of an array with named fields"
    return run_unknown(record[0], record, slot, operator.getitem, operands, {}, why)


def _class_item(record: list[Any], slot: int, cls: Any, i: Any) -> Any:
    """Run a subscript of a class, such as ``list[int]``, by ``__class_getitem__``."""
    static = class_attribute(cls, "__class_getitem__")
    f = getattr(static, "__func__", None)
    if type(f) is FunctionType and package(f.__module__) not in INERT:
        return call_keywords(record, slot, f, (cls, i), {})
    if static is None or type(static) in C_METHODS or type(f) in (FunctionType, type):
        return cls[i]
    getter = getattr(cls, "__class_getitem__")  # noqa: B009  anything that is called
    return linked(record, slot, lambda bars: (None, None, bars[1]), call_keywords, getter, (i,), {})


_FLAGS = type(np.empty(0).flags)


def set_item(record: list[Any], slot: int, xs: Any, i: Any, value: Any) -> None:
    """``xs[i] = value``"""
    kind = type(xs)
    memory: Memory = record[0]
    if kind is ndarray:
        write_array(record, slot, xs, i, value)
    elif kind is list and (type(i) is int or type(i) in CHILDLESS_TYPES):
        try:
            old = xs[i]
        except IndexError:
            pass
        else:
            place = i if type(i) is int else operator.index(i)
            if place < 0:
                place += len(xs)
            xs[i] = value
            position = memory.note(swap_slice, xs, place, place + 1, [old])

            def set_item_back(_: Any) -> tuple[Any, ...]:
                memory.rewind(position)
                shadow = memory.shadows.get(id(xs))
                if shadow is None:
                    return None, None, None, None
                bar, shadow[place] = shadow[place], None
                return None, None, None, bar

            record[slot] = set_item_back
            return
        xs[i] = value  # Python's own message
    elif kind is dict:
        set_entry(record, slot, xs, i, value)
    elif kind is _FLAGS and i in ("W", "WRITEABLE"):
        set_attribute(record, slot, xs, "writeable", value)
    else:
        _special_write(record, slot, "__setitem__", operator.setitem, xs, i, value)


def set_entry(record: list[Any], slot: int, xs: dict[Any, Any], key: Any, value: Any) -> None:
    """``xs[key] = value`` of a dict."""
    if type(key) is not str and type(key) not in CHILDLESS_TYPES and HASHED(key):
        _special_write(record, slot, "__setitem__", operator.setitem, xs, key, value)
        return
    memory: Memory = record[0]
    if (
        "__builtins__" in xs or id(xs) in namespaces_without_builtins
    ):  # globals of functions, which `read_global` reads
        memory.globals_written[id(xs), key] = xs
    old = xs.get(key, ABSENT)
    xs[key] = value
    position = memory.note(swap_item, xs, key, old)
    known = type(key) is str and id(xs) in memory.plain_dicts
    where = key if known else memory.shadow_key(xs, key)

    def set_entry_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        # If an equal key existed before, the dict keeps the old key object.
        key_bar = memory.take_key(xs, key) if old is ABSENT else None
        return None, None, key_bar, memory.take_entry(xs, where)

    record[slot] = set_entry_back


def delete_item(record: list[Any], slot: int, xs: Any, i: Any) -> None:
    """``del xs[i]``"""
    _special_write(record, slot, "__delitem__", operator.delitem, xs, i)


def _special_write(
    record: list[Any], slot: int, special: str, op: Any, xs: Any, *operands: Any
) -> None:
    kind = type(xs)
    f = special_of(kind, special)
    if type(f) is FunctionType:
        call_keywords(record, slot, f, (xs, *operands), {})
        return
    if issubclass(kind, ndarray) and special == "__setitem__":
        write_array(record, slot, xs, *operands)
        return
    rules = method_rules(kind, special)
    if rules is None or run_rules(record, slot, f, rules, (xs, *operands), {}) is DECLINED:
        if f is not None and (is_opaque(xs) or isinstance(xs, np.void)):
            raise refused(
                f"an element of a '{kind.__name__}' is written inside differentiated code,"
                " whose memory may belong to others",
                "write into an array or a list",
            )
        run_unknown(record[0], record, slot, op, (xs, *operands), {})


ITEMS: dict[Any, Any] = {
    operator.getitem: item,
    operator.setitem: set_item,
    operator.delitem: delete_item,
    primitives.build_tuple: _display(tuple, "build_tuple"),
    primitives.build_list: _display(list, "build_list"),
    primitives.build_set: build_set,
    primitives.build_dict: build_dict,
    primitives.dict_insert: set_entry,
}
