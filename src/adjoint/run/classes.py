"""Class statements: the body is differentiated like a function, of the namespace that it fills.

A class copies its namespace, so what arrives at an attribute of the class belongs to the entry of
the namespace that holds the same object.
"""

from __future__ import annotations

import abc
import types
from collections.abc import Callable
from types import BuiltinMethodType, CellType, FunctionType
from typing import Any

from adjoint.errors import NoDerivativeError, SourceError, UnsupportedSyntaxError
from adjoint.ir import primitives
from adjoint.rules.registry import primitive
from adjoint.run.accumulate import Poison, accumulate
from adjoint.run.attribute_writes import class_dict
from adjoint.run.cells import load_cell, load_global
from adjoint.run.dispatch import INERT, call_keywords, linked
from adjoint.run.functions import Unit, call_unit, unit_of
from adjoint.run.items import delete_item, item
from adjoint.run.memory import ABSENT, Memory
from adjoint.run.native import watched
from adjoint.run.place import current_module, current_place
from adjoint.run.reach import reaches
from adjoint.run.structure import by_value, take
from adjoint.run.unknown import poison

__all__ = ["CLASSES", "hand_over_defaults"]


def build_class(
    record: list[Any], slot: int, body: FunctionType, name: str, /, *bases: Any, **keywords: Any
) -> Any:
    """A ``class`` statement, step by step as Python does it."""
    memory: Memory = record[0]
    unit = _unit_of_body(body)
    inner: list[Any] = [memory, None, None, None, None]
    namespace: Any = None
    rest = {key: value for key, value in keywords.items() if key != "metaclass"}
    problem = _problem(f"a derivative of what the body of class {name!r} computes is needed")

    def class_back(y_bar: Any) -> tuple[Any, ...]:
        bars = inner[3](y_bar)[4:] if inner[3] is not None else (None,) * len(rest)
        if inner[2] is not None:
            inner[2](None)
        elif _arrived(memory, namespace):
            poison(memory, body, problem)
        if inner[1] is not None:
            bars = tuple(map(accumulate, bars, inner[1](None)[3:]))
        if inner[4] is not None:
            inner[4](None)
        named = dict(zip(rest, bars, strict=True))
        return (*(None,) * (3 + len(bases)), *(named.get(key) for key in keywords))

    record[slot] = class_back
    resolved: tuple[Any, ...] = bases
    if not all(isinstance(base, type) for base in bases):
        resolve = types.resolve_bases
        resolved = watched(inner, 4, resolve, resolve, (bases,), {})
    meta = _metaclass(resolved, keywords)
    namespace = _prepare(inner, 1, meta, name, resolved, rest)
    if unit is not None and type(namespace) is dict:
        cell = call_unit(memory, inner, 2, unit, body, (namespace,), {})
    else:
        unit = None
        exec(body.__code__, body.__globals__, namespace, closure=body.__closure__)
        cell = namespace.get("__classcell__") if isinstance(namespace, dict) else None
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    if isinstance(meta, type) and meta.__module__.partition(".")[0] in INERT:
        made = _make_class(meta, inner, 3, (name, resolved, namespace), rest)
    else:
        made = call_keywords(inner, 3, meta, (name, resolved, namespace), rest)
    _check_cell(cell, name, made)
    return made


def _unit_of_body(body: FunctionType) -> Unit | None:
    """``None``: it cannot be lowered, so it runs as it is, and what it computes is poisoned."""
    try:
        return unit_of(body)
    except (SourceError, UnsupportedSyntaxError):
        return None


def _metaclass(bases: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The most derived of the metaclass that is given and those of the bases."""
    meta = keywords["metaclass"] if "metaclass" in keywords else type(bases[0]) if bases else type
    if not isinstance(meta, type):
        return meta
    for base in bases:
        if not issubclass(meta, type(base)):
            if not issubclass(type(base), meta):
                raise TypeError(
                    "metaclass conflict: the metaclass of a derived class must be a (non-strict)"
                    " subclass of the metaclasses of all its bases"
                )
            meta = type(base)
    return meta


def _prepare(
    record: list[Any], slot: int, meta: Any, name: str, bases: tuple[Any, ...], rest: dict[str, Any]
) -> Any:
    prepare = getattr(meta, "__prepare__", None)
    if prepare is None or type(prepare) is BuiltinMethodType:
        return {} if prepare is None else prepare(name, bases, **rest)
    namespace = call_keywords(record, slot, prepare, (name, bases), rest)
    if not hasattr(type(namespace), "__getitem__"):
        owner = meta.__name__ if isinstance(meta, type) else "<metaclass>"
        kind = type(namespace).__name__
        raise TypeError(f"{owner}.__prepare__() must return a mapping, not {kind}")
    return namespace


def _check_cell(cell: Any, name: str, made: Any) -> None:
    """The cell of ``__class__``, which ``type.__new__`` fills."""
    if not isinstance(cell, CellType) or not isinstance(made, type):
        return
    try:
        held = cell.cell_contents
    except ValueError:
        raise RuntimeError(
            f"__class__ not set defining {name!r} as {made!r}."
            " Was __classcell__ propagated to type.__new__?"
        ) from None
    if held is not made:
        raise TypeError(f"__class__ set to {held!r} defining {name!r} as {made!r}")


# ---- cotangents of attributes ------------------------------------------------------------------


def _hand_over(memory: Memory, made: type, namespace: Any) -> bool:
    """Move what arrived at the attributes of a class to its namespace; whether something arrived
    that the namespace does not hold: it was computed while the class was created."""
    attributes = vars(made)
    held = dict(namespace) if isinstance(namespace, dict) else {}
    lost = False
    # A named tuple keeps the defaults of its fields in a dictionary of its own.
    defaults = attributes.get("_field_defaults", {})
    hand_over_defaults(memory, made, defaults)
    for owner, values in (
        (made, attributes),
        (class_dict(made), attributes),
        (defaults, defaults),
    ):
        for key, bar in (memory.shadows.pop(id(owner), None) or {}).items():
            if bar is None:
                continue
            if key in held and values.get(key, ABSENT) is held[key]:
                memory.add_entry(namespace, key, bar)
            else:
                lost = True
    known = {id(value) for value in held.values()}
    for key, value in attributes.items():
        if (
            isinstance(value, list | tuple | dict | set)
            and id(value) not in known
            and not key.startswith("__")
        ):
            lost = take(memory, value, None) is not None or lost
    return lost


def hand_over_defaults(memory: Memory, made: Any, defaults: dict[str, Any]) -> None:
    """What arrived at the defaults of the ``__new__`` of a named tuple belongs to its fields."""
    given = getattr(made.__new__, "__defaults__", None) or ()
    if defaults and len(given) == len(defaults):
        bars = memory.take_items(given, len(given))
        for name, bar in zip(defaults, bars, strict=True):
            memory.add_entry(defaults, name, bar)


def _arrived(memory: Memory, namespace: Any) -> bool:
    """Whether something arrived at what a body that ran as it is has put into its namespace."""
    if not isinstance(namespace, dict):
        return False
    shadow = memory.shadows.pop(id(namespace), None) or {}
    arrived = any(bar is not None for bar in shadow.values())
    for key, value in dict.items(namespace):
        if isinstance(value, list | tuple | dict | set) and not key.startswith("__"):
            arrived = take(memory, value, None) is not None or arrived
    return arrived


def _problem(text: str) -> Poison:
    return Poison(
        NoDerivativeError(
            text,
            hint="compute the value before the class statement, or set the attribute after it",
            place=current_place(),
        )
    )


def _make_class(
    make: Callable[..., Any], record: list[Any], slot: int, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """``make(…, name, bases, namespace, **kwargs)``, where `make` itself is left alone."""
    memory: Memory = record[0]
    name, _, namespace = args[-3:]
    problem = _problem(f"a derivative of what the creation of class {name!r} computes is needed")
    # A class belongs to the module whose name the calling frame's globals have.
    call: Any = FunctionType(_call.__code__, {"__name__": current_module()})
    inner: list[Any] = [memory, None]
    asked = (*args[-2], *namespace.values()) if isinstance(namespace, dict) else args
    if reaches(asked):
        made = watched(inner, 1, make, call, (make, args, kwargs), {}, problem.error)
    else:
        made = call(make, args, kwargs)

    def made_back(_: Any) -> tuple[Any, ...]:
        if inner[1] is not None:
            inner[1](None)
        bars: tuple[Any, ...] = (None,) * len(kwargs)
        if _hand_over(memory, made, namespace):
            for source in (namespace, *kwargs.values()):
                if not by_value(source):
                    poison(memory, source, problem)
            bars = tuple(problem if by_value(value) else None for value in kwargs.values())
        return (*(None,) * (len(args) + 1), *bars)

    record[slot] = made_back
    return made


def _call(make: Any, args: Any, kwargs: Any) -> Any:
    return make(*args, **kwargs)


@primitive((type, "__new__"))
def _new(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 4:
        return NotImplemented
    return _make_class(type.__new__, record, slot, args, kwargs)


@primitive(abc.ABCMeta.__new__)
def _new_abstract(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 4:
        return NotImplemented
    return _make_class(abc.ABCMeta.__new__, record, slot, args, kwargs)


@primitive(type)
def _type(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1:
        return type(args[0])
    if len(args) != 3:
        return NotImplemented
    return _make_class(type, record, slot, args, kwargs)


# ---- names in a body ---------------------------------------------------------------------------


def load_class_name(
    record: list[Any], slot: int, namespace: dict[str, Any], name: str, outside: Any
) -> Any:
    """A name read in a class body: from the namespace, a captured variable or the globals."""
    if name in namespace:
        return linked(record, slot, _one_more, item, namespace, name)
    load = load_cell if isinstance(outside, CellType) else load_global
    return linked(record, slot, _one_more, load, outside, name)


def _one_more(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*bars, None)


def delete_class_name(record: list[Any], slot: int, namespace: dict[str, Any], name: str) -> None:
    """``del name`` in a class body."""
    if name in namespace:
        delete_item(record, slot, namespace, name)
    else:
        primitives.delete_class_name(namespace, name)


primitive(primitives.build_class)(build_class)  # with keywords or stars

CLASSES: dict[Any, Callable[..., Any]] = {
    primitives.build_class: build_class,
    primitives.load_class_name: load_class_name,
    primitives.delete_class_name: delete_class_name,
}
