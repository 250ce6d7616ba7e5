"""Classes derived from `numpy.ndarray`, and what they define themselves."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import PLAIN, fields_of


def is_subclassed(value: Any) -> bool:
    """Whether `value` is an array of a class of its own."""
    return issubclass(type(value), ndarray) and type(value) is not ndarray


def plain(value: Any) -> Any:
    """A plain view of an array of a class of its own, a list of such views; anything else as it
    is."""
    if is_subclassed(value):
        return ndarray.view(value, ndarray)
    return list(map(plain, value)) if _is_list_of_subclassed(value) else value


def _is_list_of_subclassed(value: Any) -> bool:
    return type(value) in (list, tuple) and any(map(is_subclassed, value))


def holds_subclassed(values: Iterable[Any]) -> bool:
    """Whether arrays of classes of their own are among some values, or in lists of them."""
    return any(is_subclassed(value) or _is_list_of_subclassed(value) for value in values)


def says_what_becomes(value: Any) -> bool:
    """Whether the class of an operand has an ``__array_wrap__`` in Python, which NumPy hands its
    results to."""
    kind = type(value)
    return kind not in PLAIN and type(class_attribute(kind, "__array_wrap__")) is FunctionType


def _of_users(value: Any) -> bool:
    """`says_what_becomes`, of a class that is not NumPy's own: what that makes of a result has its
    numbers."""
    if not says_what_becomes(value):
        return False
    method = class_attribute(type(value), "__array_wrap__")
    return not str(method.__module__).startswith("numpy.")


def says_itself(f: Any, args: Iterable[Any]) -> bool:
    """Whether NumPy's function is a method of the class's own: ``np.sum(a)`` asks ``a.sum``."""
    if type(f) is not _DISPATCHER or type(f.__wrapped__) is not FunctionType:
        return False  # what is of C asks no methods
    name = getattr(f, "__name__", "")
    name = _METHODS.get(name, name)
    return hasattr(ndarray, name) and any(
        type(arg) not in PLAIN and _has_own(arg, name) for arg in args
    )


def _has_own(value: Any, name: str) -> bool:
    """Whether Python code says what an attribute of `value` is."""
    kind = type(value)
    found = class_attribute(kind, name)
    if found is None:
        if class_attribute(kind, "__getattr__") is not None:
            return True
        fields = fields_of(value)
        return fields is not None and name in fields
    return type(found) in _OF_PYTHON


_METHODS = {"amax": "max", "amin": "min", "around": "round", "permute_dims": "transpose"}
"""What functions ask for whose methods have other names."""


_OF_PYTHON = (FunctionType, property, staticmethod, classmethod)


_DISPATCHER: Any = type(np.mean)
