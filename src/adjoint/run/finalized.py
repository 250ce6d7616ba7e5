"""``__array_finalize__``: the attributes of an array of a class of its own that NumPy has made.

NumPy calls the method in C. What it hands on is found again where it is from; what it computes is
computed once more, by the method as code like any other, if all that it changes is the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.errors import NoDerivativeError
from adjoint.run.accumulate import accumulate
from adjoint.run.contents import entries_of
from adjoint.run.dispatch import call
from adjoint.run.going import keeps_to_itself
from adjoint.run.kinds import by_value, fields_of
from adjoint.run.memory import Memory
from adjoint.run.place import current_place
from adjoint.run.specials import class_attribute

__all__ = ["adopt"]


def adopt(record: list[Any], slot: int, y: Any, sources: Iterable[Any]) -> None:
    """Know the attributes that ``__array_finalize__`` has set on a new array: their cotangents go
    back to where they are from."""
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
        if source is None and _moves(fields[name]) and not _is_constant(y, fields[name])
    ]
    memory: Memory = record[0]
    if memory.level is not None:
        if computed:
            _know_on_level(memory.level, y, fields, sources, computed)
    elif links:
        _link(record, slot, y, fields, sources, links, computed)


def _link(
    record: list[Any],
    slot: int,
    y: Any,
    fields: dict[str, Any],
    sources: list[Any],
    links: dict[str, Any],
    computed: list[str],
) -> None:
    memory, back = record[0], record[slot]
    error = _unknown(y, computed)
    inner: list[Any] = [memory, None]
    again = bool(computed) and _recomputed(
        lambda f, source: call(inner, 1, f, y, source), y, fields, sources
    )

    def adopted_back(y_bar: Any) -> Any:
        for name, source in links.items():
            if source is not None:
                memory.add_entry(source, name, memory.take_entry(fields, name))
            elif name in computed and not again and memory.take_entry(fields, name) is not None:
                raise error
        bars = inner[1](None) if again and inner[1] is not None else None
        if bars is not None:
            if bars[2] is not None:
                raise error  # nobody takes the cotangent of what it was made of
            y_bar = accumulate(y_bar, bars[1])
        return None if back is None else back(y_bar)

    record[slot] = adopted_back


def _know_on_level(
    level: Any, y: Any, fields: dict[str, Any], sources: list[Any], computed: list[str]
) -> None:
    if not level.knows(y, *sources):
        return
    if _recomputed(lambda f, source: level.run(f, y, source), y, fields, sources):
        return
    error = _unknown(y, computed)
    for name in computed:
        fields[name] = level.own(fields[name])
        for one in level.down():
            one.spoil(fields[name], error)


def _recomputed(
    run: Callable[[Any, Any], Any], y: Any, fields: dict[str, Any], sources: list[Any]
) -> bool:
    """Let the method set the attributes again; whether they are what they were."""
    f = class_attribute(type(y), "__array_finalize__")
    if type(f) is not FunctionType or not keeps_to_itself(f.__code__):
        return False
    arrays = [source for source in sources if isinstance(source, ndarray)]
    arrays.sort(key=lambda source: not _is_subclassed(source))
    if not arrays:
        return False
    before = dict(fields)
    try:
        run(f, arrays[0])
        same = before.keys() == fields.keys() and all(
            _is_equal(old, fields[name]) for name, old in before.items()
        )
    except Exception:
        same = False
    if not same:
        fields.clear()
        fields.update(before)
    return same


def _is_equal(old: Any, new: Any) -> bool:
    if by_value(old) and by_value(new):
        return type(old) is type(new) and np.array_equal(old, new, equal_nan=True)
    return old is new or type(old) is type(new)


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


def _moves(item: Any) -> bool:
    """Whether it may have a derivative: truth values, as in masks, have none."""
    return not isinstance(item, ndarray | np.generic) or item.dtype.kind != "b"


def _is_constant(y: Any, item: Any) -> bool:
    """Whether it stands in the method, or in the class."""
    method = class_attribute(type(y), "__array_finalize__")
    written = method.__code__.co_consts if type(method) is FunctionType else ()
    return any(item is one for one in written) or any(
        item is one for base in type(y).__mro__ for one in vars(base).values()
    )
