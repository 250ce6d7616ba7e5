"""Keys of functions in the store of programs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from adjoint.diagnostics.public_function import PublicFunction, plain_function
from adjoint.primal.compiled_functions import python_of
from adjoint.primal.value_kinds import content_of

MOST_CAPTURED = 8
"""Number of captured functions that distinguish functions of the same code."""

Owner: TypeAlias = "tuple[Any, ...]"


def owner_of(f: Any) -> Owner | None:
    """Return the key of the programs of `f`: its code, with that of captured functions, so that
    functions under the same decorator share no programs; ``None`` if it can have none."""
    kind = type(f)
    if kind is FunctionType:
        if FunctionType not in map(type, map(content_of, f.__closure__ or ())):
            return (f.__code__,)  # a shortcut for most calls
        return tuple(_codes((f,)))
    if kind is MethodType and type(f.__func__) is FunctionType:
        return owner_of(f.__func__)
    if kind is PublicFunction:  # what `grad` returned
        asked = vars(f).get("asks_for")
        inner = owner_of(plain_function(f) if asked is None else asked.f)
        return None if inner is None else (PublicFunction, *inner)
    if kind is partial:
        inner = owner_of(f.func)
        return None if inner is None else (partial, *inner)
    if (
        kind is np.ufunc
        or kind is _DISPATCHER
        or (kind is BuiltinFunctionType and type(f.__self__) is ModuleType)
    ):
        return (f,)
    if (python := python_of(f)) is not None:
        return owner_of(python)
    if type(kind) is not type:
        return None
    return (kind, *_codes(getattr(f, "__dict__", {}).values()))


_DISPATCHER: Any = type(np.mean)


def _codes(values: Iterable[Any]) -> list[CodeType]:
    """Return the code of the first `MOST_CAPTURED` functions among `values` and their captured
    variables, each once."""
    found: dict[int, CodeType] = {}
    pending = deque(values)
    while pending and len(found) < MOST_CAPTURED:
        value = pending.popleft()
        if type(value) is PublicFunction and (asked := vars(value).get("asks_for")) is not None:
            value = asked.f  # of what `grad` returned
        elif type(value) is PublicFunction:
            value = plain_function(value)
        if type(value) is FunctionType:
            code = value.__code__
            if id(code) not in found:
                found[id(code)] = code
                pending.extend(map(content_of, value.__closure__ or ()))
    return list(found.values())
