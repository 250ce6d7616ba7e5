"""Parts of values that carry a cotangent by identity, and the arrays in them."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any
from weakref import ProxyTypes

import numpy as np

from adjoint.primal.array_memory import root_of
from adjoint.primal.code_owner import is_user_code
from adjoint.primal.container_contents import elements_of, entries_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.reachability import names_in, spaces_of
from adjoint.primal.value_kinds import (
    by_value,
    content_of,
    fields_of,
    filled_slots,
    is_objects,
    is_plain_object,
    mapping_behind,
    referent_of,
)
from adjoint.rulekit.registry import lookup


class Holdings:
    """Breadth-first search of the parts of `values`, at most `most` parts.

    Attributes
    ----------
    found
        By identity: objects that may hold others.
    carrying
        The identities of those of `found` that hold numbers or arrays at any depth.
    arrays
        By identity: the arrays that own the memory of arrays of numbers.
    functions
        The functions that hold nothing; they may name global variables.
    repeated
        The identities of the tuples that were met more than once.
    """

    def __init__(self, values: Iterable[Any], most: int | None = None) -> None:
        self.found: dict[int, Any] = {}
        self.carrying: set[int] = set()
        self.arrays: dict[int, Any] = {}
        self.functions: list[FunctionType] = []
        self.repeated: set[int] = set()
        around: dict[int, list[int]] = {}
        queue, count = deque(values), 0
        while queue and (most is None or count < most):
            x = queue.popleft()
            kind = type(x)
            if kind in _PLAIN:
                continue
            if (key := key_of(x)) in self.found:
                if issubclass(kind, tuple):
                    self.repeated.add(key)
                continue
            if by_value(x):
                if isinstance(x, np.ndarray) and x.dtype.kind in "fciu":
                    root = root_of(x)
                    self.arrays[id(root)] = root
                continue
            if not _holds(x, kind):
                if kind is FunctionType:
                    self.functions.append(x)
                continue
            self.found[key] = x
            parts = parts_of(x)
            kinds = {*map(type, parts)}
            count += len(parts)
            if any(map(_is_number, kinds)):
                self.carrying.add(key)
            if not kinds <= _PLAIN:
                for part in parts:
                    if type(part) not in _PLAIN:
                        around.setdefault(key_of(part), []).append(key)
                        queue.append(part)
        found = [*self.carrying]
        while found:
            for key in around.get(found.pop(), ()):
                if key not in self.carrying:
                    self.carrying.add(key)
                    found.append(key)


def key_of(x: Any) -> int:
    """Return the identity of `x`; views of one array of objects share an identity."""
    return id(root_of(x)) if is_objects(x) else id(x)


_PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), np.float64, type})


def _is_number(kind: type) -> bool:
    """Return whether instances of `kind` are numbers or arrays with cotangents."""
    return kind is not bool and issubclass(kind, float | int | complex | np.number | np.ndarray)


def _holds(x: Any, kind: type) -> bool:
    """Return whether `x`, which is not a number, may hold parts with cotangents by identity."""
    if kind is FunctionType:
        if not (x.__closure__ or x.__defaults__ or x.__kwdefaults__):
            return False
        return lookup(x) is None
    return not issubclass(kind, type | ModuleType | EngineObject | enum.Enum)


def parts_of(x: Any) -> list[Any]:
    """Return the objects that `x` holds directly."""
    if is_objects(x):
        return [*np.ndarray.view(root_of(x), np.ndarray).flat]
    if type(x) in ProxyTypes and referent_of(x) is None:
        return []  # a proxy whose referent was freed raises on any other access
    if isinstance(x, CellType):
        return [content_of(x)]
    if isinstance(x, MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, BuiltinMethodType | MethodWrapperType):
        return [x.__self__]
    if isinstance(x, MappingProxyType):
        return [mapping_behind(x)]
    if isinstance(x, partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, FunctionType):
        return [*(x.__closure__ or ()), x.__defaults__, x.__kwdefaults__]
    found: list[Any] = []
    if isinstance(x, tuple | list | deque | set | frozenset):
        found += elements_of(x)
    elif isinstance(x, dict):
        found += [value for _, value in entries_of(x)]
    if is_plain_object(x):
        fields = fields_of(x)
        found += fields.values() if fields is not None and fields is not x else ()
        found += filled_slots(x).values()
    return found


def named_by(f: Any, held: Holdings) -> Iterator[Any]:
    """Yield the global variables that `f`, functions that it holds, and their callees name."""
    queue, seen = deque([f, *held.found.values(), *held.functions]), set[int]()
    while queue and len(seen) < _MOST_FUNCTIONS:
        x = queue.popleft()
        x = x.__func__ if isinstance(x, MethodType) else x
        if isinstance(x, type):
            if id(x) not in seen and x.__flags__ & _HEAPTYPE:
                seen.add(id(x))
                queue += [y for y in vars(x).values() if type(y) is FunctionType]
        elif type(x) is not FunctionType:
            if callable(x):
                queue.append(type(x))
        elif id(x.__code__) not in seen and is_user_code(x.__code__, x.__globals__):
            seen.add(id(x.__code__))
            names = names_in(x.__code__)
            values = [x.__globals__[name] for name in names if name in x.__globals__]
            for space in spaces_of(values):
                values += [space[name] for name in names if name in space]
            queue += filter(callable, values)
            yield from values


_MOST_FUNCTIONS = 400
_HEAPTYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
