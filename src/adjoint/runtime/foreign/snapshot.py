"""Saved states of everything that can be changed through some values."""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Iterable
from contextvars import ContextVar
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
from weakref import ReferenceType

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.primal.array_memory import original_of
from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.container_contents import ABSENT, factory_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.value_kinds import (
    content_of,
    fields_of,
    has_slots,
    mapping_behind,
)
from adjoint.runtime.memory.saved import Saved
from adjoint.runtime.memory.saved_arrays import SavedArray
from adjoint.runtime.memory.saved_containers import Global, has_assignable_attributes, save, slots


def _is_the_librarys(kind: type) -> bool:
    """Return whether instances of a class belong to the library: programs, their parts, proxies."""
    module = str(type.__getattribute__(kind, "__module__"))
    package, _, rest = module.partition(".")
    return issubclass(kind, EngineObject | Poison) or (
        package == "adjoint" and rest.partition(".")[0] in _PARTS
    )


_PARTS = frozenset("emit fast frontend ir transform".split())
_IS_THE_LIBRARYS = ByClass(_is_the_librarys)


class Snapshot:
    """Saved states of what can be changed through the values added, at most `most` objects, the
    nearest first; `is_cut` says whether there are more."""

    is_cut: bool

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self.is_cut = False
        self._kept: dict[Any, list[Saved]] = {}

    def add(self, values: Iterable[Any]) -> list[Any]:
        """Save what `values` reach; return all of it."""
        seen: dict[int, Any] = {}
        queue = deque(values)
        while queue and len(seen) < self._most:
            value = queue.popleft()
            kind = type(value)
            if kind in CHILDLESS_TYPES or id(value) in seen or _IS_THE_LIBRARYS(kind):
                continue  # objects of the library are not rewound
            seen[id(value)] = value
            if id(value) not in self._kept:
                self._kept[id(value)] = save(value, kind)
            queue += contents(value, kind)
        self.is_cut |= bool(queue)
        return [*seen.values()]

    def add_variable(self, namespace: dict[str, Any], name: str) -> None:
        """Save a global variable that may be assigned."""
        if (id(namespace), name) not in self._kept:
            variable = Global((namespace, name), namespace.get(name, ABSENT))
            self._kept[id(namespace), name] = [variable]

    def count_as_changed(self, owners: set[int]) -> None:
        """Count the arrays that own or share the memory of `owners` (identities) as changed."""
        for kept in self._kept.values():
            for one in kept:
                if isinstance(one, SavedArray) and id(original_of(one.owner)) in owners:
                    one.filled = True

    def release(self) -> None:
        """Drop all references."""
        self._kept = {}

    def changes(self) -> list[Saved]:
        """Return the saved states that differ from the present ones."""
        return [one for kept in self._kept.values() for one in kept if one.differs()]


def contents(value: Any, kind: type) -> list[Any]:
    """Return what `value` holds, without values that hold nothing."""
    if issubclass(kind, np.ndarray):
        held = value.ravel().tolist() if value.dtype.kind == "O" else []
    elif issubclass(kind, list | tuple | set | frozenset | deque):
        held = _elements(value, kind)
    elif issubclass(kind, dict):
        held = [*dict.values(value), *dict.keys(value)]
        if issubclass(kind, defaultdict):
            held.append(factory_of(value))
    elif kind is FunctionType:
        defaults = value.__defaults__ or (), value.__kwdefaults__ or {}
        held = [*(value.__closure__ or ()), *defaults]
    elif kind is CellType:
        held = [content_of(value, ABSENT)]
    elif kind in (MethodType, BuiltinMethodType, MethodWrapperType):
        held = [value.__self__, getattr(value, "__func__", None)]
    elif kind is functools.partial:
        held = [value.func, value.args, value.keywords]
    elif issubclass(kind, ReferenceType):
        held = [ReferenceType.__call__(value)]
    elif kind is slice:
        held = [value.start, value.stop, value.step]
    elif kind is ContextVar:
        held = [value.get(None)]
    elif kind is MappingProxyType:
        held = [mapping_behind(value)]
    elif issubclass(kind, type):
        held = [] if not value.__flags__ & (1 << 9) else _attributes(value)
    elif issubclass(kind, ModuleType | EngineObject | Poison):
        return []
    else:
        held = []
    if has_assignable_attributes(kind):
        if (fields := fields_of(value)) is not None and kind is not type:
            held = [*held, *fields.values()]
        if has_slots(kind):
            held = [*held, *slots(value)]
    if set(map(type, held)) <= CHILDLESS_TYPES:
        return []
    return [item for item in held if type(item) not in CHILDLESS_TYPES]


def _elements(value: Any, kind: type) -> list[Any]:
    for base in (list, tuple, set, frozenset, deque):
        if issubclass(kind, base):
            return [*base.__iter__(value)]
    return []


def _attributes(cls: type) -> list[Any]:
    """Return the attributes of a class that may be changed, and its bases."""
    held = [
        value
        for name, value in vars(cls).items()
        if type(value) is BuiltinMethodType
        or (not name.startswith("__") and type(value) is not FunctionType)
    ]
    return [*held, *cls.__bases__]
