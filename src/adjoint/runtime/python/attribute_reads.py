"""Reads of attributes of modules, numbers, classes and objects."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.primal.packages import is_of_a_library
from adjoint.primal.special_methods import class_attribute, quick_special_of, special_of
from adjoint.primal.value_kinds import by_value, defined_by, fields_of, has_field
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.python.attribute_writes import delete_attribute, set_attribute
from adjoint.runtime.python.descriptors import by_class, of_class, of_super
from adjoint.runtime.python.missing_attributes import MISSING, found_or_made, missing
from adjoint.runtime.python.named_parts import read_field, read_global
from adjoint.runtime.python.number_attributes import of_number

ndarray = np.ndarray

_CLASS = vars(object)["__class__"]


def attribute(record: list[Any], slot: int, obj: Any, name: str, *default: Any) -> Any:
    """``obj.name``; the pullback returns ``(None, obj_bar, None)``."""
    kind = type(obj)
    if kind is ModuleType:
        namespace = vars(obj)
        if name not in namespace:
            return _of_module(record, slot, obj, name, default)
        if "__builtins__" not in namespace and namespace.get("__spec__", kind) is None:
            return read_field(record, slot, namespace, name)  # made by user code, like an object
        return read_global(record, slot, namespace, name)
    if kind is ndarray or issubclass(kind, ndarray | np.generic) or by_value(obj):
        if has_field(obj, name):
            return plain_attribute(record, slot, obj, name)
        return of_number(record, slot, obj, name, default)
    if issubclass(kind, type):
        return of_class(record, slot, obj, name, default)
    fetcher: Any = quick_special_of(kind, "__getattribute__")
    if type(fetcher) is FunctionType:
        return found_or_made(record, slot, obj, name, call_keywords, fetcher, (obj, name), {})
    if kind is super:
        return of_super(record, slot, obj, name)
    static = class_attribute(kind, name, MISSING)
    fields = fields_of(obj)
    if fields is not None and name in fields and defined_by(type(static), "__set__") is None:
        return read_field(record, slot, fields, name)
    if static is MISSING:
        return missing(record, slot, obj, name, default)
    if static is _CLASS:
        return kind
    if type(static) is property or (
        type(static) is not FunctionType and type(special_of(kind, "__getattr__")) is FunctionType
    ):
        return found_or_made(record, slot, obj, name, by_class, obj, kind, name, static)
    return by_class(record, slot, obj, kind, name, static)


def plain_attribute(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    """``object.__getattribute__(obj, name)``"""
    kind = type(obj)
    if kind is super:
        return of_super(record, slot, obj, name)
    static = class_attribute(kind, name, MISSING)
    fields = fields_of(obj)
    if fields is not None and name in fields and defined_by(type(static), "__set__") is None:
        return read_field(record, slot, fields, name)
    if static is MISSING:
        return object.__getattribute__(obj, name)
    return by_class(record, slot, obj, kind, name, static)


def _of_module(
    record: list[Any], slot: int, module: ModuleType, name: str, default: tuple[Any, ...]
) -> Any:
    """Read an attribute that a module lacks, by its ``__getattr__`` or the default."""
    maker = vars(module).get("__getattr__")
    owner = maker.__globals__.get("__name__") if type(maker) is FunctionType else None
    if owner is None or owner == "adjoint" or is_of_a_library(owner):
        return getattr(module, name, *default)
    blank = record[slot]
    try:
        return linked(record, slot, lambda _: (None, None, None), call_keywords, maker, (name,), {})
    except AttributeError:
        if not default:
            raise
        record[slot] = blank
        return default[0]


def get_attribute(record: list[Any], slot: int, obj: Any, name: Any, *default: Any) -> Any:
    """Run the builtin ``getattr``, with or without a default."""
    if not default:
        return attribute(record, slot, obj, name)
    blank = record[slot]
    try:
        y = attribute(record, slot, obj, name)
    except AttributeError:
        record[slot] = blank

        def default_back(y_bar: Any) -> tuple[Any, ...]:
            return None, None, None, y_bar

        record[slot] = default_back
        return default[0]
    back = record[slot]
    if back is not blank:

        def found_back(y_bar: Any) -> tuple[Any, ...]:
            return *back(y_bar), None

        record[slot] = found_back
    return y


ATTRIBUTES: dict[Any, Callable[..., Any]] = {
    getattr: get_attribute,
    setattr: set_attribute,
    delattr: delete_attribute,
}
