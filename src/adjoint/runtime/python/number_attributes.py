"""Attributes of numbers and arrays: by rule, or methods and constants such as the shape."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.array_memory import note_flag_change
from adjoint.primal.special_methods import class_attribute, quick_special_of, special_of
from adjoint.primal.value_kinds import ATOMS, by_value, defined_by, fields_of
from adjoint.rulekit.loading import load
from adjoint.rulekit.registry import methods
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.python.descriptors import by_descriptor, getter_of, is_bound
from adjoint.runtime.python.missing_attributes import MISSING, found_or_made, missing, to_object
from adjoint.runtime.python.named_parts import read_entry

ndarray = np.ndarray


_EXPOSES_MEMORY = {
    "ctypes": "to ctypes",
    "__array_interface__": "by its '__array_interface__'",
    "__array_struct__": "by its '__array_struct__'",
}
"""Attributes that expose the address of memory, with the words for the message."""


def of_number(record: list[Any], slot: int, obj: Any, name: str, default: tuple[Any, ...]) -> Any:
    """Read an attribute of a number or an array, whose class may compute it in Python."""
    kind = type(obj)
    if not kind.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
        return _of_known_number(record, slot, obj, name, default)
    fetcher: Any = quick_special_of(kind, "__getattribute__")
    if type(fetcher) is FunctionType:
        return found_or_made(record, slot, obj, name, call_keywords, fetcher, (obj, name), {})
    static = class_attribute(kind, name, MISSING)
    if static is MISSING:
        return missing(record, slot, obj, name, default)
    if type(defined_by(type(static), "__get__")) is FunctionType:
        return by_descriptor(record, slot, obj, kind, name, static)
    if type(static) is property and type(special_of(kind, "__getattr__")) is FunctionType:
        return found_or_made(record, slot, obj, name, _of_known_number, obj, name, default)
    if type(static) is staticmethod:
        return static.__func__
    if defined_by(type(static), "__get__") is None:
        owner = next(base for base in kind.__mro__ if name in vars(base))
        return read_entry(record, slot, owner, name, static) if by_value(static) else static
    return _of_known_number(record, slot, obj, name, default)


def _of_known_number(
    record: list[Any], slot: int, obj: Any, name: str, default: tuple[Any, ...]
) -> Any:
    """Read an attribute that C defines: by rule, or a method or a constant such as the shape."""
    if name == "flags" and isinstance(obj, ndarray):
        note_flag_change(obj)
    if issubclass(type(obj), ndarray | np.generic):
        load("numpy")
    for base in type(obj).__mro__:
        known = methods.get(base)
        rules = known.get(name) if known is not None else None
        static = vars(base).get(name)
        if rules is not None and static is not None and not callable(static):
            y = linked(record, slot, to_object, run_rules, getter_of(base, name), rules, (obj,), {})
            if y is not DECLINED:
                return y
        if type(static) is property:
            return linked(record, slot, to_object, call_keywords, static.fget, (obj,), {})
    if name in _EXPOSES_MEMORY and isinstance(obj, ndarray):
        raise refused(
            f"the memory of an ndarray is handed out {_EXPOSES_MEMORY[name]} inside differentiated"
            " code",
            "hand out that of a copy, outside the differentiated function",
        )
    value = getattr(obj, name, *default)
    if is_bound(record, slot, obj, value):
        return value
    if type(value) in ATOMS or isinstance(value, np.integer | np.bool_ | np.dtype):
        return value
    if value is fields_of(obj):
        return value  # the fields have their own shadow
    kind: Any = type(obj)
    getter = getter_of(kind, name)
    return linked(record, slot, to_object, _run_unknown, getter, (obj,))


def _run_unknown(record: list[Any], slot: int, f: Any, args: tuple[Any, ...]) -> Any:
    return run_unknown(record[0], record, slot, f, args, {})
