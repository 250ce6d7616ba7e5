"""Saved states of everything that can be changed through some values."""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import replace
from operator import attrgetter
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
)
from typing import Any
from weakref import ProxyTypes, ReferenceType

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
    held_by_c,
    mapping_behind,
    referent_of,
    slots_of,
)
from adjoint.runtime.foreign.context_variables import current
from adjoint.runtime.foreign.followed_names import Followed
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.saved import Saved
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
        self._written: list[tuple[Any, str | None]] = []
        self._twice: dict[int, Any] = {}
        self._unasked: list[list[Saved]] = []

    def add(self, values: Iterable[Any], followed: Followed | None = None) -> list[Any]:
        """Save what `values` reach (by the names that are `followed`); return all of it."""
        seen: dict[int, Any] = {}
        values = [*values]
        queue = deque(values)
        while queue and len(seen) < self._most:
            value = queue.popleft()
            kind = type(value)
            if kind in CHILDLESS_TYPES or id(value) in seen or _IS_THE_LIBRARYS(kind):
                continue  # objects of the library are not rewound
            if kind is attrgetter and followed is not None and followed.names is not None:
                asked = {part for name in value.__reduce__()[1] for part in name.split(".")}
                if not asked <= followed.names:
                    followed = replace(followed, names=followed.names | asked)
                    queue, seen = deque(values), {}
                    continue
            seen[id(value)] = value
            if id(value) not in self._kept:
                self._keep(id(value), save(value, kind))
            queue += contents(value, kind) if followed is None else _followed(value, kind, followed)
        self.is_cut |= bool(queue)
        return [*seen.values()]

    def widen(self, most: int) -> None:
        """Save up to `most` objects from now on."""
        self._most = most

    def add_variable(self, namespace: dict[str, Any], name: str) -> None:
        """Save a global variable that may be assigned."""
        if (id(namespace), name) not in self._kept:
            variable = Global((namespace, name), namespace.get(name, ABSENT))
            self._keep((id(namespace), name), [variable])

    def _keep(self, place: Any, kept: list[Saved]) -> None:
        self._kept[place] = kept
        self._unasked.append(kept)

    def forget(self, written: Iterable[tuple[Any, str | None]], twice: dict[int, Any]) -> None:
        """Mark places as possibly written with their old contents, before the next `changes`: an
        array counts as changed, and a number does if it is one of `twice` (by identity), a dict
        that may still grow."""
        self._written += written
        self._twice = twice

    def _forget(self) -> None:
        for owner, name in self._written:
            named = self._kept.get((id(owner), name))
            for kept in self._kept.get(id(owner), ()) if named is None else named:
                kept.forget(name, self._twice)
        self._written = []

    def forget_arrays(self) -> list[Any]:
        """Count all arrays as changed; return those that did not count so before."""
        found = [one for kept in self._unasked for one in kept if one.is_unfilled()]
        self._unasked = []
        return self._forget_all(found)

    def forget_arrays_of(self, owners: set[int]) -> list[Any]:
        """Count the arrays that own or share the memory of `owners` (identities) as changed."""
        found = [one for kept in self._kept.values() for one in kept if one.is_unfilled()]
        return self._forget_all([one for one in found if id(original_of(one.owner)) in owners])

    def _forget_all(self, found: list[Saved]) -> list[Any]:
        for one in found:
            one.forget(None, {})
        return [one.owner for one in found]

    def release(self) -> None:
        """Drop all references."""
        self._kept, self._written, self._twice, self._unasked = {}, [], {}, []

    def changes(self) -> list[Saved]:
        """Return the saved states that differ from the present ones."""
        self._forget()
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
        held = [current(value)]
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


def _followed(value: Any, kind: type, followed: Followed) -> list[Any]:
    """Return what a function that follows these names may reach from `value`."""
    names = followed.names
    if issubclass(kind, ActiveIterator):
        return [item for name, item in vars(value).items() if name != "memory"]
    if names is None:
        return contents(value, kind) or (_given_out(value) if _GIVES_OUT(kind) else [])
    if issubclass(kind, list | tuple | set | frozenset | deque | dict | np.ndarray):
        held = contents(value, kind) if followed.into_containers else []
    elif _GIVES_OUT(kind):
        held = _given_out(value)
    elif issubclass(kind, type):
        held = [found for found in _in_class(value, names) if found is not value]
        held += [own for own in vars(value).values() if type(own) is BuiltinMethodType]
        if followed.into_containers and kind is not type:  # the members of an enumeration
            held += contents(value, kind)
    elif kind is FunctionType or kind is MethodType:
        fields = fields_of(value) or {}  # what they run is seen when it is entered
        return [fields[name] for name in names if name in fields]
    else:
        held = contents(value, kind) if not _is_record(kind) else []
    if _is_record(kind):
        fields = fields_of(value) or {}
        held += [fields[name] for name in names if name in fields]
        if has_slots(kind):
            named = zip(slots_of(kind), slots(value), strict=True)
            held += [item for name, item in named if name in names]
        if any(type(found) is not FunctionType for found in _in_class(kind, names)):
            held.append(kind)
    return [item for item in held if type(item) not in CHILDLESS_TYPES]


def _gives_out(kind: type) -> bool:
    """Return whether instances of a C class return what they hold, when called or read."""
    if kind in ProxyTypes or issubclass(kind, ReferenceType | functools._lru_cache_wrapper):
        return True
    return kind.__module__ == "builtins" and not issubclass(kind, _GIVE_NOTHING)


_GIVE_NOTHING = (
    *(list, tuple, set, frozenset, dict, str, bytes, int, float, complex, BaseException, type),
    *(FunctionType, ModuleType, CellType, CodeType, FrameType, TracebackType),
)
_GIVES_OUT = ByClass(_gives_out)


def _given_out(value: Any) -> list[Any]:
    """Return what an object of C returns when called or read. The dict of a cache is replaced by
    its results, because only the cache changes it."""
    kind = type(value)
    if kind in ProxyTypes or issubclass(kind, ReferenceType):
        return [referent_of(value)]
    held = held_by_c(value)
    if not issubclass(kind, functools._lru_cache_wrapper):
        return held
    results = [list(one.values()) if type(one) is dict else [one] for one in held]
    return [item for items in results for item in items]


def _is_record(kind: type) -> bool:
    return bool(kind.__flags__ & (1 << 9))  # Py_TPFLAGS_HEAPTYPE


def _in_class(kind: type, names: Iterable[str]) -> list[Any]:
    """Return what the classes of an object hold under `names`, and the class if that is named."""
    found: list[Any] = [kind] if "__class__" in names or "type" in names else []
    for base in kind.__mro__:
        if _is_record(base):
            known = vars(base)
            found += [known[name] for name in names if name in known]
    return found


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
