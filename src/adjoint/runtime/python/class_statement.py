"""Class statements; the body is differentiated like a function of the namespace that it fills."""

from __future__ import annotations

import abc
import types
from collections.abc import Callable
from types import BuiltinMethodType, CellType, FunctionType, ModuleType
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.cotangents.poison import Poison
from adjoint.errors import SourceError, UnsupportedSyntaxError
from adjoint.ir import primitives
from adjoint.rulekit.registry import primitive
from adjoint.runtime.cache.units import Unit, unit_of
from adjoint.runtime.dispatch.call import call, call_keywords
from adjoint.runtime.dispatch.inert_packages import is_inert
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.memory.collect import collect
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison
from adjoint.runtime.python.class_creation import class_problem, make_class, metaclass_of
from adjoint.runtime.python.subscripts import delete_item, item, set_item
from adjoint.runtime.python.variables import load_cell, load_global


def build_class(
    record: list[Any], slot: int, body: FunctionType, name: str, /, *bases: Any, **keywords: Any
) -> Any:
    """Run a ``class`` statement in the steps of Python."""
    memory: Memory = record[0]
    unit = _unit_of_body(body)
    inner: list[Any] = [memory, None, None, None, None, None]
    namespace: Any = None
    rest = {key: value for key, value in keywords.items() if key != "metaclass"}
    problem = class_problem(f"a derivative of what the body of class {name!r} computes is needed")

    def class_back(y_bar: Any) -> tuple[Any, ...]:
        bars = inner[3](y_bar)[4:] if inner[3] is not None else (None,) * len(rest)
        if inner[5] is not None:
            inner[5](None)
        if unit is None and _take_cotangents(memory, namespace):
            poison(memory, body, problem)
        if inner[2] is not None:
            inner[2](None)
        if inner[1] is not None:
            bars = tuple(map(accumulate, bars, inner[1](None)[3:]))
        if inner[4] is not None:
            inner[4](None)
        named = dict(zip(rest, bars, strict=True))
        base_bars = memory.take_items(bases, len(bases))
        return (None, None, None, *base_bars, *(named.get(key) for key in keywords))

    record[slot] = class_back
    resolved: tuple[Any, ...] = bases
    if not all(isinstance(base, type) for base in bases):
        resolved = call(inner, 4, types.resolve_bases, bases)
    first = type(resolved[0]) if resolved else type
    meta = metaclass_of(resolved, keywords.get("metaclass", first))
    namespace = _prepare(inner, 1, meta, name, resolved, rest)
    if unit is not None:
        cell = call_unit(memory, inner, 2, unit, body, (namespace,), {})
    else:
        cell = _run_unlowered(inner, 2, body, namespace, problem)
    if resolved is not bases:
        set_item(inner, 5, namespace, "__orig_bases__", bases)
    if isinstance(meta, type) and meta is not abc.ABCMeta and is_inert(meta):
        made = make_class(meta, inner, 3, (name, resolved, namespace), rest)
    else:
        made = call_keywords(inner, 3, meta, (name, resolved, namespace), rest)
    _check_cell(cell, name, made)
    return made


def _run_unlowered(
    record: list[Any], slot: int, body: FunctionType, namespace: Any, problem: Poison
) -> Any:
    """Fill the namespace by a body that cannot be lowered, whose other stores are refused; return
    the cell of ``__class__``."""
    code, outside = body.__code__, body.__globals__

    def run() -> None:
        exec(code, outside, namespace, closure=body.__closure__)

    named = [outside[name] for name in code.co_names if name in outside]
    kept = body, *(value for value in named if not isinstance(value, ModuleType))
    run_monitored(record, slot, body, run, (), {}, problem.error, kept=kept)
    return namespace.get("__classcell__") if isinstance(namespace, dict) else None


def _unit_of_body(body: FunctionType) -> Unit | None:
    """Return the unit of a class body, or ``None`` if the body cannot be lowered."""
    try:
        return unit_of(body)
    except (SourceError, UnsupportedSyntaxError):
        return None


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
    """Raise Python's error unless the cell of ``__class__`` holds the new class."""
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


def _take_cotangents(memory: Memory, namespace: Any) -> bool:
    """Remove the cotangents of the values in `namespace`; return whether there was one."""
    if not isinstance(namespace, dict):
        return False
    shadow = memory.shadows.pop(id(namespace), None) or {}
    arrived = any(bar is not None for bar in shadow.values())
    for key, value in dict.items(namespace):
        if isinstance(value, list | tuple | dict | set) and not key.startswith("__"):
            arrived = collect(memory, value, None) is not None or arrived
    return arrived


# ---- names in a body ---------------------------------------------------------------------------


def load_class_name(record: list[Any], slot: int, namespace: Any, name: str, outside: Any) -> Any:
    """Read a name in a class body: from the namespace, a captured variable or the globals."""
    load = load_cell if isinstance(outside, CellType) else load_global
    if type(namespace) is dict:
        if name in namespace:
            return linked(record, slot, _with_none, item, namespace, name)
        return linked(record, slot, _with_none, load, outside, name)
    # The methods of any other mapping may have effects even where the name is missing.
    inner: list[Any] = [record[0], None, None]

    def name_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            inner[2](y_bar)
            y_bar = None
        if inner[1] is not None:
            inner[1](y_bar)
        return None, None, None, None

    record[slot] = name_back
    try:
        return item(inner, 1, namespace, name)
    except KeyError:
        return load(inner, 2, outside, name)


def _with_none(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*bars, None)


def delete_class_name(record: list[Any], slot: int, namespace: Any, name: str) -> None:
    """``del name`` in a class body."""
    if type(namespace) is dict and name not in namespace:
        primitives.delete_class_name(namespace, name)  # Python's own message
    try:
        delete_item(record, slot, namespace, name)
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


primitive(primitives.build_class)(build_class)  # for calls with keywords or stars

CLASSES: dict[Any, Callable[..., Any]] = {
    primitives.build_class: build_class,
    primitives.load_class_name: load_class_name,
    primitives.delete_class_name: delete_class_name,
}
