"""Class statements; the body is differentiated like a function of the namespace that it fills."""

from __future__ import annotations

import types
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from adjoint.errors import SourceError
from adjoint.ir import primitives
from adjoint.rulekit.registry import primitive
from adjoint.runtime.cache.units import unit_of
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.class_creation import class_refused, make_class, without_user_code
from adjoint.runtime.python.subscripts import delete_item, item
from adjoint.runtime.python.variables import load_cell, load_global


def build_class(
    record: list[Any], slot: int, body: FunctionType, name: str, /, *bases: Any, **keywords: Any
) -> Any:
    """Run a ``class`` statement in the steps of Python."""
    memory: Memory = record[0]
    try:
        unit = unit_of(body)
    except SourceError as error:
        raise class_refused(name, f"its body is not plain ({error.problem})") from None
    inner: list[Any] = [memory, None, None]
    rest: dict[str, Any] = {}

    def class_back(y_bar: Any) -> tuple[Any, ...]:
        bars = (None,) * len(rest) if inner[2] is None else inner[2](y_bar)[4:]
        if inner[1] is not None:
            inner[1](None)
        named = dict(zip(rest, bars, strict=True))
        return (*(None,) * (len(bases) + 3), *map(named.get, keywords))

    record[slot] = class_back
    resolved = without_user_code(name, types.resolve_bases, bases)
    meta, namespace, rest = without_user_code(name, types.prepare_class, name, resolved, keywords)
    call_unit(memory, inner, 1, unit, body, (namespace,), {})
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    return make_class(meta, inner, 2, (name, resolved, namespace), rest)


# ---- names in a body ---------------------------------------------------------------------------


def load_class_name(record: list[Any], slot: int, namespace: Any, name: str, outside: Any) -> Any:
    """Read a name in a class body: from the namespace, a captured variable or the globals."""
    if name in namespace:
        return linked(record, slot, _with_none, item, namespace, name)
    load = load_cell if isinstance(outside, CellType) else load_global
    return linked(record, slot, _with_none, load, outside, name)


def _with_none(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*bars, None)


def delete_class_name(record: list[Any], slot: int, namespace: Any, name: str) -> None:
    """``del name`` in a class body."""
    if name not in namespace:
        primitives.delete_class_name(namespace, name)  # Python's own message
    delete_item(record, slot, namespace, name)


primitive(primitives.build_class)(build_class)  # for calls with keywords or stars

CLASSES: dict[Any, Callable[..., Any]] = {
    primitives.build_class: build_class,
    primitives.load_class_name: load_class_name,
    primitives.delete_class_name: delete_class_name,
}
