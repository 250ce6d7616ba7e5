"""What can be changed through some values, as it was when it was looked at."""

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
from adjoint.primal.childless_types import LEAVES
from adjoint.primal.container_contents import ABSENT, factory_of
from adjoint.primal.engine_object import Hidden
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.value_kinds import (
    contents_of_cell,
    fields_of,
    has_slots,
    held_by_c,
    mapping_behind,
    referent_of,
    slots_of,
)
from adjoint.runtime.foreign.context_variables import current
from adjoint.runtime.foreign.followed_names import Followed
from adjoint.runtime.memory.saved import Kept
from adjoint.runtime.memory.saved_containers import Global, keep, shows_fields, slots


def _is_the_librarys(kind: type) -> bool:
    """Whether objects of a class are the library's own: programs, their parts, stand-ins."""
    module = str(type.__getattribute__(kind, "__module__"))
    package, _, rest = module.partition(".")
    return issubclass(kind, Hidden | Poison) or (
        package == "adjoint" and rest.partition(".")[0] in _PARTS
    )


_PARTS = frozenset("emit fast frontend ir transform".split())
_IS_THE_LIBRARYS = ByClass(_is_the_librarys)


class Snapshot:
    """What can be changed through some values, as it was when they were added: the nearest first,
    of not more than `most` objects; `is_cut` says whether there are more."""

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self.is_cut = False
        self._kept: dict[Any, list[Kept]] = {}
        self._written: list[tuple[Any, str | None]] = []
        self._twice: dict[int, Any] = {}
        self._unasked: list[list[Kept]] = []

    def add(self, values: Iterable[Any], followed: Followed | None = None) -> list[Any]:
        """Take up what `values` reach, by what a function could follow; gives all that it was."""
        seen: dict[int, Any] = {}
        values = [*values]
        queue = deque(values)
        while queue and len(seen) < self._most:
            value = queue.popleft()
            kind = type(value)
            if kind in LEAVES or id(value) in seen or _IS_THE_LIBRARYS(kind):
                continue  # what is not the user's is rewound by nobody
            if kind is attrgetter and followed is not None and followed.names is not None:
                asked = {part for name in value.__reduce__()[1] for part in name.split(".")}
                if not asked <= followed.names:
                    followed = replace(followed, names=followed.names | asked)
                    queue, seen = deque(values), {}
                    continue
            seen[id(value)] = value
            if id(value) not in self._kept:
                self._keep(id(value), keep(value, kind))
            queue += contents(value, kind) if followed is None else _followed(value, kind, followed)
        self.is_cut |= bool(queue)
        return [*seen.values()]

    def widen(self, most: int) -> None:
        """Take up so many objects from now on."""
        self._most = most

    def add_variable(self, namespace: dict[str, Any], name: str) -> None:
        """Take up a global variable that may be assigned."""
        if (id(namespace), name) not in self._kept:
            variable = Global((namespace, name), namespace.get(name, ABSENT))
            self._keep((id(namespace), name), [variable])

    def _keep(self, place: Any, kept: list[Kept]) -> None:
        self._kept[place] = kept
        self._unasked.append(kept)

    def forget(self, written: Iterable[tuple[Any, str | None]], twice: dict[int, Any]) -> None:
        """When what is different is asked for, take arrays for changed, and numbers in other
        things, or under a name there, for others if they are of `twice`, by identity, which may
        grow until then."""
        self._written += written
        self._twice = twice

    def _forget(self) -> None:
        for owner, name in self._written:
            named = self._kept.get((id(owner), name))
            for kept in self._kept.get(id(owner), ()) if named is None else named:
                kept.forget(name, self._twice)
        self._written = []

    def forget_arrays(self) -> list[Any]:
        """Take all arrays for changed; gives those that were not yet."""
        found = [one for kept in self._unasked for one in kept if one.is_unfilled()]
        self._unasked = []
        return self._forget_all(found)

    def forget_arrays_of(self, owners: set[int]) -> list[Any]:
        """The same of some memory, by identity of the array that it really belongs to."""
        found = [one for kept in self._kept.values() for one in kept if one.is_unfilled()]
        return self._forget_all([one for one in found if id(original_of(one.owner)) in owners])

    def _forget_all(self, found: list[Kept]) -> list[Any]:
        for one in found:
            one.forget(None, {})
        return [one.owner for one in found]

    def release(self) -> None:
        """Hold nothing any more."""
        self._kept, self._written, self._twice, self._unasked = {}, [], {}, []

    def changes(self) -> list[Kept]:
        """What is different now."""
        self._forget()
        return [one for kept in self._kept.values() for one in kept if one.differs()]


def contents(value: Any, kind: type) -> list[Any]:
    """What `value` holds, without what holds nothing."""
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
        held = [contents_of_cell(value)]
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
    elif issubclass(kind, ModuleType | Hidden | Poison):
        return []
    else:
        held = []
    if shows_fields(kind):
        if (fields := fields_of(value)) is not None and kind is not type:
            held = [*held, *fields.values()]
        if has_slots(kind):
            held = [*held, *slots(value)]
    if set(map(type, held)) <= LEAVES:
        return []
    return [item for item in held if type(item) not in LEAVES]


def _followed(value: Any, kind: type, followed: Followed) -> list[Any]:
    """What a function could get at from `value`."""
    names = followed.names
    if names is None:
        return contents(value, kind) or (_given_out(value) if _GIVES_OUT(kind) else [])
    if issubclass(kind, list | tuple | set | frozenset | deque | dict | np.ndarray):
        held = contents(value, kind) if followed.into_containers else []
    elif _GIVES_OUT(kind):
        held = _given_out(value)
    elif issubclass(kind, type):
        held = [found for found in _in_class(value, names) if found is not value]
        held += [own for own in vars(value).values() if type(own) is BuiltinMethodType]
        if followed.into_containers and kind is not type:  # an enumeration, whose members are in it
            held += contents(value, kind)
    elif kind is FunctionType or kind is MethodType:
        fields = fields_of(value) or {}  # what they run is looked at when it is entered
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
    return [item for item in held if type(item) not in LEAVES]


def _gives_out(kind: type) -> bool:
    """Whether objects of a class of C give what they hold, when they are called or asked."""
    if kind in ProxyTypes or issubclass(kind, ReferenceType | functools._lru_cache_wrapper):
        return True
    return kind.__module__ == "builtins" and not issubclass(kind, _GIVE_NOTHING)


_GIVE_NOTHING = (
    *(list, tuple, set, frozenset, dict, str, bytes, int, float, complex, BaseException, type),
    *(FunctionType, ModuleType, CellType, CodeType, FrameType, TracebackType),
)
_GIVES_OUT = ByClass(_gives_out)


def _given_out(value: Any) -> list[Any]:
    """What something of C gives when it is called or asked; a cache holds that in its own dict,
    which nobody else changes."""
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
    """What the classes of an object hold under some names; the class, if that is one of them."""
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
    """The attributes of a class that may be changed, and its bases."""
    held = [
        value
        for name, value in vars(cls).items()
        if type(value) is BuiltinMethodType
        or (not name.startswith("__") and type(value) is not FunctionType)
    ]
    return [*held, *cls.__bases__]
