"""Class statements: the body is differentiated like a function, of the namespace that it fills."""

from __future__ import annotations

import abc
import types
from collections.abc import Callable
from types import BuiltinMethodType, CellType, FunctionType
from typing import Any

from adjoint.errors import SourceError, UnsupportedSyntaxError
from adjoint.ir import primitives
from adjoint.rules.registry import primitive
from adjoint.run.accumulate import accumulate
from adjoint.run.cells import load_cell, load_global
from adjoint.run.creation import class_problem, make_class
from adjoint.run.dispatch import call_keywords, linked
from adjoint.run.functions import Unit, call_unit, unit_of
from adjoint.run.inert import is_inert
from adjoint.run.items import delete_item, item
from adjoint.run.memory import Memory
from adjoint.run.native import watched
from adjoint.run.reader import take
from adjoint.run.unknown import poison

__all__ = ["CLASSES"]


def build_class(
    record: list[Any], slot: int, body: FunctionType, name: str, /, *bases: Any, **keywords: Any
) -> Any:
    """A ``class`` statement, step by step as Python does it."""
    memory: Memory = record[0]
    unit = _unit_of_body(body)
    inner: list[Any] = [memory, None, None, None, None]
    namespace: Any = None
    rest = {key: value for key, value in keywords.items() if key != "metaclass"}
    problem = class_problem(f"a derivative of what the body of class {name!r} computes is needed")

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
    if unit is not None and isinstance(namespace, dict):
        cell = call_unit(memory, inner, 2, unit, body, (namespace,), {})
    else:
        unit = None
        exec(body.__code__, body.__globals__, namespace, closure=body.__closure__)
        cell = namespace.get("__classcell__") if isinstance(namespace, dict) else None
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    if isinstance(meta, type) and meta is not abc.ABCMeta and is_inert(meta):
        made = make_class(meta, inner, 3, (name, resolved, namespace), rest)
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
