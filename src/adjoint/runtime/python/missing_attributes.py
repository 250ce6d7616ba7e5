"""Missing attributes: ``__getattr__`` and defaults."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.primal.special_methods import C_METHODS, special_of
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.memory.active_iterator import ActiveIterator

MISSING: Any = object()
"""Stands for a missing attribute."""


def found_or_made(
    record: list[Any], slot: int, obj: Any, name: str, find: Callable[..., Any], *operands: Any
) -> Any:
    """Read an attribute by `find`; call ``__getattr__`` if that raises `AttributeError`."""
    fallback = special_of(type(obj), "__getattr__")
    if type(fallback) is not FunctionType:
        return linked(record, slot, to_object, find, *operands)
    inner: list[Any] = [record[0], None, None]

    def found_back(y_bar: Any) -> tuple[Any, ...]:
        obj_bar = None
        for back in (inner[2], inner[1]):
            bars = None if back is None else back(y_bar)
            if bars is not None:
                obj_bar, y_bar = accumulate(obj_bar, bars[1]), None
        return None, obj_bar, None

    record[slot] = found_back
    try:
        return find(inner, 1, *operands)
    except AttributeError:
        pass  # so that the error is not the context of one of the fallback
    return call_keywords(inner, 2, fallback, (obj, name), {})


def missing(record: list[Any], slot: int, obj: Any, name: str, default: tuple[Any, ...]) -> Any:
    """Call ``__getattr__`` for a missing attribute, or return the default, or raise."""
    fallback = special_of(type(obj), "__getattr__")
    if type(fallback) is FunctionType or type(fallback) in C_METHODS:
        if not default:
            return linked(record, slot, to_object, call_keywords, fallback, (obj, name), {})
        try:
            return linked(record, slot, to_object, call_keywords, fallback, (obj, name), {})
        except AttributeError:
            return default[0]
    if not default and issubclass(type(obj), ActiveIterator):
        kind = obj.__class__.__name__
        raise AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=obj)
    return getattr(obj, name, *default)


def to_object(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """Turn the cotangents of a getter's arguments into those of ``getattr(obj, name)``."""
    return None, bars[1], None
