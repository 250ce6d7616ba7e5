"""Kinds of calls: calls of one kind are left to the generic tier for the same reason."""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import content_of, fields_of

MOST_SEEN = 48
"""Greatest number of parts of the arguments in a kind."""
_ITEMS, _CHARACTERS = 8, 32


def kinds_of(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the kind of a call: types of the arguments, of other values that the function reads,
    and of their first parts; equal lengths of axes, rough lengths of lists, repeated objects."""
    found: list[Any] = []
    seen: dict[int, int] = {}
    lengths: dict[int, int] = {}
    pending: list[Any] = [*_read_by(f), *reversed(args)]
    while pending and len(found) < MOST_SEEN:
        x = pending.pop()
        kind = type(x)
        if kind is bool or x is None:
            found.append(x)
        elif kind is int:
            found.append((kind, x.bit_length()))
        elif kind is str:
            found.append(x[:_CHARACTERS])
        elif kind is FunctionType:
            found.append((kind, id(x.__code__)))
        elif issubclass(kind, type | ModuleType | BuiltinFunctionType):
            found.append(id(x))
        elif kind is float or kind is complex or issubclass(kind, np.generic):
            found.append(kind)
        elif id(x) in seen:
            found.append(seen[id(x)])
        else:
            seen[id(x)] = len(seen)
            said, parts = _inside(x, lengths)
            found.append((kind, said))
            pending += parts[_ITEMS - 1 :: -1]
    return tuple(found)


def _read_by(f: Any) -> list[Any]:
    """Return the captured variables, defaults and named globals of a function, the object of a
    method, or a callable object."""
    if type(f) is partial:
        return [*f.args, dict(f.keywords), *_read_by(f.func)]
    if type(f) is MethodType:
        return [f.__self__, *_read_by(f.__func__)]
    if type(f) is not FunctionType:
        return [f]
    names = f.__globals__
    found = [names[name] for name in f.__code__.co_names if name in names]
    found += [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    return found + [*map(content_of, f.__closure__ or ())]


def _inside(x: Any, lengths: dict[int, int]) -> tuple[Any, list[Any]]:
    """Return the description of an array, a container or an object, and its parts."""
    if type(x) is np.ndarray:
        axes = [n if n < 2 else lengths.setdefault(n, 2 + len(lengths)) for n in x.shape]
        return (x.dtype, *axes), []
    if type(x) is list or type(x) is tuple:  # `in` would run ``__eq__`` of a metaclass
        n = len(x)
        return (n if n < 2 else n.bit_length() // 3 + 2), [*x[:_ITEMS]]
    if type(x) is dict:
        return tuple(map(type, x)), [*x.values()]
    fields = fields_of(x)
    return (None, []) if fields is None else (tuple(fields), [*fields.values()])
