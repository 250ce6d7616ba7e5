"""Subclasses of `numpy.ndarray`, and the methods that they define."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import PLAIN, fields_of


def is_subclassed(value: Any) -> bool:
    """Return whether `value` is an array of a subclass."""
    return issubclass(type(value), ndarray) and type(value) is not ndarray


def plain(value: Any) -> Any:
    """Return an array of a subclass as a plain view, a list of such arrays as a list of views, and
    anything else as it is."""
    if is_subclassed(value):
        return ndarray.view(value, ndarray)
    return list(map(plain, value)) if _is_list_of_subclassed(value) else value


def _is_list_of_subclassed(value: Any) -> bool:
    return type(value) in (list, tuple) and any(map(is_subclassed, value))


def holds_subclassed(values: Iterable[Any]) -> bool:
    """Return whether arrays of subclasses are among `values`, or in lists among them."""
    return any(is_subclassed(value) or _is_list_of_subclassed(value) for value in values)


def has_array_wrap(value: Any) -> bool:
    """Return whether `type(value)` defines `__array_wrap__` in Python."""
    kind = type(value)
    return kind not in PLAIN and type(class_attribute(kind, "__array_wrap__")) is FunctionType


def _has_user_array_wrap(value: Any) -> bool:
    """Return whether a class outside NumPy, whose own keep the numbers, has `__array_wrap__`."""
    if not has_array_wrap(value):
        return False
    method = class_attribute(type(value), "__array_wrap__")
    return not str(method.__module__).startswith("numpy.")


def overrides_method(f: Any, args: Iterable[Any]) -> bool:
    """Return whether a NumPy function calls an overridden method: ``np.sum(a)`` calls ``a.sum``."""
    if type(f) is not _DISPATCHER or type(f.__wrapped__) is not FunctionType:
        return False  # C functions call no methods
    name = getattr(f, "__name__", "")
    name = _METHODS.get(name, name)
    return hasattr(ndarray, name) and any(
        type(arg) not in PLAIN and _has_own(arg, name) for arg in args
    )


def _has_own(value: Any, name: str) -> bool:
    """Return whether Python code determines an attribute of `value`."""
    kind = type(value)
    found = class_attribute(kind, name)
    if found is None:
        if class_attribute(kind, "__getattr__") is not None:
            return True
        fields = fields_of(value)
        return fields is not None and name in fields
    return type(found) in _OF_PYTHON


_METHODS = {"amax": "max", "amin": "min", "around": "round", "permute_dims": "transpose"}
"""Names of the methods that functions of other names call."""


_OF_PYTHON = (FunctionType, property, staticmethod, classmethod)


_DISPATCHER: Any = type(np.mean)
