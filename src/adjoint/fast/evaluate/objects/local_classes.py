"""Classes that the program makes: real classes, with stand-ins for what depends on the call.

A class statement, and the functions that make or decorate classes (`dataclass`, `namedtuple`), run
at specialisation, on functions and values that stand in for abstract ones. `Outside.own` finds the
abstract value of a stand-in. Each evaluation of a class statement makes a class of its own; nothing
outside of the program ever sees it.
"""

from __future__ import annotations

import abc
import types
from enum import EnumMeta
from types import CellType, FunctionType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.containers import Element, opened, opened_element
from adjoint.fast.evaluate.types import Number
from adjoint.fast.evaluate.values import Abstract, Closure, Flag, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value

_METACLASSES = {type, abc.ABCMeta, EnumMeta, type(types.new_class("_", ()))}


class StandIn:
    """Stands for an abstract value in a class that the program makes."""


class UnhashableStandIn:
    """Stands for an array or a container: `dataclass` refuses these as defaults."""

    __hash__ = None  # type: ignore[assignment]


def stand_in(ev: Evaluator, a: Abstract) -> Any:
    """Return a real object that stands for `a`: a constant itself, a function for a closure."""
    made: Any
    if isinstance(a, Known) and not isinstance(a, Flag):
        return a.value
    if isinstance(a, Closure):
        cells = tuple(CellType() for _ in a.code.co_freevars)
        made = FunctionType(a.code, a.namespace, a.code.co_name, None, cells)
        made.__qualname__ = a.code.co_qualname
        defaults = tuple(stand_in(ev, x) for x in a.defaults)
        made.__defaults__ = defaults or None
    else:
        known = opened_element(ev, a)
        if not _has_elements(known):
            return known
        is_number = isinstance(a, Value) and isinstance(ev.types[a], Number)
        cls = ev.class_of(a)
        if hasattr(cls, "__getattr__"):  # what makes the class may ask for any attribute
            raise NotCovered("a class with an object that answers for its attributes", ev.span)
        has_hash = cls is None or cls.__hash__ is not None
        hashable = is_number or (has_hash and not isinstance(a, Value))
        made = StandIn() if hashable else UnhashableStandIn()
    ev.outside.made[id(made)] = made, a
    return made


def _with_constants(x: Any) -> Any:
    """Return a real container with constants in place of the elements that stand for them."""
    if isinstance(x, Element):
        return x.abstract.value if type(x.abstract) is Known else x
    if isinstance(x, dict):
        return {k: _with_constants(y) for k, y in x.items()}
    return type(x)(map(_with_constants, x)) if isinstance(x, list | tuple) else x


def _has_elements(x: Any) -> bool:
    return isinstance(x, Element) or (isinstance(x, tuple) and any(map(_has_elements, x)))


def note_made(ev: Evaluator, cls: type) -> Known:
    """Return a class that was made at specialisation, noted as one that needs no guards."""
    made = Known(cls)
    ev.outside.made[id(cls)] = cls, made
    return made


def build(
    ev: Evaluator, name: str, bases: tuple[Any, ...], namespace: dict[str, Abstract], meta: Any
) -> Known:
    """Return the class of a class statement with an evaluated body."""
    resolved = types.resolve_bases(bases)
    keywords = {} if meta is None else {"metaclass": meta}
    try:
        kind, filled, _ = types.prepare_class(name, resolved, keywords)
    except TypeError:
        raise NotCovered("a class whose bases have metaclasses in conflict", ev.span) from None
    _demand_plain(ev, name, kind, resolved)
    above = {
        name
        for x in resolved
        for one in getattr(x, "__mro__", ())
        if one.__module__ != "enum"
        for name in vars(one)
    }
    if kind is EnumMeta and "_generate_next_value_" in above.union(namespace):
        raise NotCovered("an enumeration that numbers its members itself", ev.span)
    for key, value in namespace.items():
        if key != "__classcell__":
            filled[key] = _attribute(ev, key, value)
    if resolved is not bases:
        filled["__orig_bases__"] = bases
    try:
        made = kind(name, resolved, filled)
    except Exception as error:
        raise NotCovered(f"a class that raises {type(error).__name__}", ev.span) from None
    return note_made(ev, made)


def _demand_plain(ev: Evaluator, name: str, kind: Any, bases: tuple[Any, ...]) -> None:
    """Require that no user code runs while the class is created."""
    is_plain = kind in _METACLASSES or kind.__module__ == "typing"
    for base in bases:
        for one in getattr(base, "__mro__", ()):
            is_plain &= "__init_subclass__" not in vars(one) or one.__module__ in _QUIET
    if not is_plain:
        raise NotCovered(f"the class {name!r}, whose creation runs code of its own", ev.span)


_QUIET = frozenset({"builtins", "typing", "collections.abc", "functools", "dataclasses", "enum"})
"""Modules whose classes run no user code when a class is made."""


_REAL = ("__annotations__", "__slots__", "__match_args__", "_fields", "__static_attributes__")


def _attribute(ev: Evaluator, key: str, value: Abstract) -> Any:
    """Return the value of an entry of the namespace; annotations and slots are real."""
    if key in _REAL:
        made = _with_constants(opened(ev, value))
        if made is None or _has_elements(tuple(made.values() if isinstance(made, dict) else made)):
            raise NotCovered(f"{key} that are not known", ev.span)
        return made
    made = stand_in(ev, value)
    if hasattr(type(made), "__set_name__") and type(made).__module__ not in _QUIET:
        raise NotCovered(f"the attribute {key!r}, which is told its name", ev.span)
    return made
