"""Attributes and special methods of classes, found without running descriptors."""

from __future__ import annotations

import types
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

from adjoint.primal.callable_adapter import function_of


def class_attribute(kind: type, name: str, default: Any = None) -> Any:
    """Return a class attribute without running a descriptor."""
    for base in kind.__mro__:
        known = base.__dict__
        if name in known:
            return known[name]
    return default


def special_of(kind: type, name: str) -> Any:
    """Return a special method, as a Python function unless it is of C; ``None`` if there is none.

    It may be any callable: a static method, a partial or cached function.
    """
    static = class_attribute(kind, name)
    if static is None or type(static) in _BOUND_BY_PYTHON or is_cython(static):
        return static
    known = _adapted.get(id(static))
    if known is None:
        if len(_adapted) >= _MOST_ADAPTED:
            _adapted.clear()
        known = _adapted[id(static)] = static, function_of(static)
    return known[1]


def quick_special_of(kind: type, name: str) -> Any:
    """Return `special_of` for a method that every class has."""
    found = getattr(kind, name)
    return found if type(found) in _BOUND_BY_PYTHON else special_of(kind, name)


_adapted: dict[int, tuple[Any, Callable[..., Any]]] = {}
"""Adapters by the identity of the class attribute, which is kept alive."""
_MOST_ADAPTED = 256


def is_cython(f: Any) -> bool:
    """Return whether `f` is a function of Cython, which has a type of its own in each module."""
    return type(f).__name__ == "cython_function_or_method"


C_METHODS = frozenset(
    {types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType}
)


_BOUND_BY_PYTHON = C_METHODS | {FunctionType, BuiltinFunctionType}
