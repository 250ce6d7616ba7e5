"""Attributes that ``__array_finalize__`` sets on new arrays of a subclass.

NumPy calls the method from C. Attributes copied from a source array are linked to it; computed
ones have no derivative.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError
from adjoint.primal.container_contents import entries_of
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import by_value, fields_of
from adjoint.runtime.memory.memory import Memory


def link_attributes(record: list[Any], slot: int, y: Any, sources: Iterable[Any]) -> None:
    """Link the attributes that ``__array_finalize__`` copied onto `y` to those of `sources`, and
    poison computed ones."""
    fields = fields_of(y) if _is_subclassed(y) else None
    if not fields:
        return
    sources = list(sources)
    held = [known for source in sources if _is_subclassed(source) and (known := fields_of(source))]
    links = {
        name: next((known for known in held if known.get(name) is item), None)
        for name, item in entries_of(fields)
        if by_value(item) and type(item) not in (bool, int)
    }
    computed = [
        name
        for name, source in links.items()
        if source is None and _may_be_active(fields[name]) and not _is_constant(y, fields[name])
    ]
    memory: Memory = record[0]
    if memory.level is not None:
        if computed:
            _poison_on_level(memory.level, y, fields, sources, computed)
    elif links:
        _link(record, slot, y, fields, links, computed)


def _link(
    record: list[Any],
    slot: int,
    y: Any,
    fields: dict[str, Any],
    links: dict[str, Any],
    computed: list[str],
) -> None:
    memory, back = record[0], record[slot]
    error = _unknown(y, computed)

    def adopted_back(y_bar: Any) -> Any:
        for name, source in links.items():
            if source is not None:
                memory.add_entry(source, name, memory.take_entry(fields, name))
            elif name in computed and memory.take_entry(fields, name) is not None:
                raise error
        return None if back is None else back(y_bar)

    record[slot] = adopted_back


def _poison_on_level(
    level: Any, y: Any, fields: dict[str, Any], sources: list[Any], computed: list[str]
) -> None:
    if not level.knows(y, *sources):
        return
    error = _unknown(y, computed)
    for name in computed:
        fields[name] = level.own(fields[name])
        for one in level.down():
            one.poison_value(fields[name], error)


def _unknown(y: Any, names: list[str]) -> NoDerivativeError:
    which = " and ".join(map(repr, names)) or "an attribute"
    return NoDerivativeError(
        f"a derivative of the attribute {which} of a {type(y).__name__} is needed, which"
        " '__array_finalize__' has computed",
        hint="set the attribute in the differentiated function",
        place=current_place(),
    )


def _is_subclassed(value: Any) -> bool:
    return issubclass(type(value), ndarray) and type(value) is not ndarray


def _may_be_active(item: Any) -> bool:
    """Return whether an attribute may have a derivative; truth values, as in masks, have none."""
    return not isinstance(item, ndarray | np.generic) or item.dtype.kind != "b"


def _is_constant(y: Any, item: Any) -> bool:
    """Return whether `item` is a constant of the method or a class attribute."""
    method = class_attribute(type(y), "__array_finalize__")
    written = method.__code__.co_consts if type(method) is FunctionType else ()
    return any(item is one for one in written) or any(
        item is one for base in type(y).__mro__ for one in vars(base).values()
    )
