"""Guards that a program relies on, above all on classes."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from adjoint.fast.evaluate.handlers.table import handlers
from adjoint.fast.evaluate.leaves import Guard
from adjoint.fast.evaluate.plain_classes import is_named_tuple
from adjoint.fast.evaluate.values import Abstract, Closure, Known, Source
from adjoint.rulekit.registry import lookup


def is_own(namespace: dict[str, Any]) -> bool:
    """Return whether the globals are those of a module of this library; these need no guards."""
    return str(namespace.get("__name__", "")).startswith("adjoint.")


def is_of_library(x: Any) -> bool:
    """Return whether a function or class is of NumPy or SciPy: numbers that belong to it have no
    derivatives."""
    return str(x.__module__).partition(".")[0] in ("numpy", "scipy")


@dataclass(eq=False, repr=False)
class Guards:
    """The sources of one program, in the order in which they are read, and the guards on them."""

    guards: list[Guard] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    made: dict[int, tuple[Any, Abstract]] = field(default_factory=dict)
    """Classes that the program makes, and stand-ins for abstract values in them, by identity: the
    object, which is kept alive, and its abstract value."""
    _roots: dict[tuple[str, Any], Source] = field(default_factory=dict)
    _relied: set[type] = field(default_factory=set)
    _fields: set[tuple[type, str]] = field(default_factory=set)
    _kinds: set[tuple[type, str]] = field(default_factory=set)

    def root(self, kind: str, key: Any = None) -> Source:
        known = (kind, id(key) if kind == "object" else key)
        if known not in self._roots:
            self._roots[known] = source = Source(None, kind, key)
            self.sources.append(source)
        return self._roots[known]

    def guard(self, source: Source, kind: str, value: Any) -> None:
        self.guards.append(Guard(source, kind, value))

    def distinguish(self, a: Source, b: Source) -> None:
        """Guard that two objects are not the same."""
        first, last = sorted((a, b), key=self.sources.index)
        self.guard(last, "not same", first)

    def is_free(self, cls: type) -> bool:
        """Return whether a class needs no guards: of this library, or made by the program."""
        return id(cls) in self.made or is_own({"__name__": cls.__module__})

    def own(self, value: Any) -> Abstract:
        """Return the abstract value of an object that needs no guards: it is of this library, or
        part of a class that the program makes."""
        if id(value) in self.made:
            return self.made[id(value)][1]
        if type(value) is FunctionType and lookup(value) is None and value not in handlers:
            return self.own_closure(value)
        return Known(value)

    def own_closure(self, f: FunctionType) -> Closure:
        """Return the closure of a function whose parts need no guards."""
        return Closure(
            f.__code__,
            f.__globals__,
            tuple(map(self.own, f.__defaults__ or ())),
            tuple((k, self.own(v)) for k, v in (f.__kwdefaults__ or {}).items()),
            tuple(map(Known, f.__closure__ or ())),
            f,
        )

    def rely_on(self, cls: type) -> None:
        """Guard the bases of a user class, and the set of attribute names of each of them."""
        if cls in self._relied or not cls.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
            return
        self._relied.add(cls)
        if self.is_free(cls):
            for base in cls.__mro__[1:]:
                self.rely_on(base)
            return
        self.guard(self.root("object", cls), "bases", cls.__mro__)
        for base in cls.__mro__:
            if base.__flags__ & (1 << 9) and not is_own({"__name__": base.__module__}):
                self.guard(self.root("object", base), "attributes", [*vars(base)])
        if is_named_tuple(cls):
            getters = tuple((name, vars(cls)[name]) for name in ("__new__", *vars(cls)["_fields"]))
            self.guard(self.root("object", cls), "getters", getters)

    def rely_on_field(self, cls: type, name: str) -> None:
        """Guard the class attribute with the name of a field: a descriptor may hide the field."""
        if (cls, name) in self._fields:
            return
        self._fields.add((cls, name))
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if self.is_free(cls if owner is None else owner):
            return
        if owner is not None:
            self.guard(self.root("object", owner), "getters", ((name, vars(owner)[name]),))
        elif type(cls) in (type, abc.ABCMeta) and getattr(cls, name, None) is None:
            self.guard(self.root("object", cls), "nothing", name)

    def rely_on_value(self, cls: type, name: str) -> None:
        """Guard the type of a class attribute, since a descriptor decides the result of a read."""
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if (
            (owner, name) not in self._kinds
            and not self.is_free(owner)
            and owner.__flags__ & (1 << 9)
        ):
            self._kinds.add((owner, name))
            self.guard(self.root("object", owner), "kind", (name, type(vars(owner)[name])))

    def rely_on_registrations(self) -> None:
        """Guard that no class is registered with an abstract base class later."""
        self.guard(self.root("object", abc.ABCMeta), "registered", abc.get_cache_token())
