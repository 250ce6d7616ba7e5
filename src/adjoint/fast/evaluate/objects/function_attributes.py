"""Attributes of Python functions."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.values import Abstract, Closure, DictOf, Known
from adjoint.fast.not_covered import NotCovered, Raises

_NAMES = ("__name__", "__qualname__", "__module__", "__doc__")
_WRAPPED = "wraps()"
"""The name of the function whose attributes `functools.wraps` has given to one that the program
makes."""


def of_function(ev: Evaluator, f: Closure, name: str) -> Abstract:
    """Evaluate ``f.name``."""
    given = fields_of_function(ev, f)
    if name in given.keys:
        return given.items[given.keys.index(name)]
    return _original(ev, f, name)


def _original(ev: Evaluator, f: Closure, name: str) -> Abstract:
    """Evaluate ``f.name`` of an attribute that the program has not set."""
    given = fields_of_function(ev, f)
    if _WRAPPED in given.keys:
        wrapped = given.items[given.keys.index(_WRAPPED)]
        if isinstance(wrapped, Closure):
            return _original(ev, wrapped, name)
        raise NotCovered(f"the attribute {name!r} of a function", ev.span)
    if f.fields is not None and f.fields.address in ev.heap:
        if name in ("__name__", "__qualname__"):
            return Known(f.code.co_name if name == "__name__" else f.code.co_qualname)
        if hasattr(FunctionType, name):
            raise NotCovered(f"the attribute {name!r} of a function", ev.span)
        raise Raises(AttributeError, f"the attribute {name!r} of a function", ev.span)
    function: Any = f.function
    fields = {} if function is None else vars(function)
    if function is not None and (name in fields or name in _NAMES):
        found = fields[name] if name in fields else getattr(function, name)
        if f.source is not None:
            if not isinstance(found, str | None) and ev.outside.is_wanted(f.source):
                raise NotCovered("an attribute of a function that has a cotangent", ev.span)
            return ev.outside.read(f.source, "attribute", name, found)
        if is_own(f.namespace):
            return ev.outside.own(found)
    elif f.source is not None and not hasattr(function, name):
        ev.outside.guard(f.source, "no attribute", name)
        raise Raises(AttributeError, f"the attribute {name!r} of a function", ev.span)
    raise NotCovered(f"the attribute {name!r} of a function", ev.span)


def fields_of_function(ev: Evaluator, f: Closure) -> DictOf:
    """Return the attributes that the program has set on a function."""
    held = None if f.fields is None else ev.heap.get(f.fields.address)
    return held if isinstance(held, DictOf) else DictOf((), ())


def set_attribute_of_function(ev: Evaluator, f: Closure, name: str, value: Abstract) -> None:
    """Evaluate ``f.name = value``."""
    if hasattr(FunctionType, name) and name not in _NAMES:
        raise NotCovered("a write to an attribute of a function from outside", ev.span)
    _set(ev, f, {name: value})


def wrap_function(ev: Evaluator, f: Closure, wrapped: Abstract) -> None:
    """Evaluate ``functools.update_wrapper(f, wrapped)``."""
    held = fields_of_function(ev, wrapped) if isinstance(wrapped, Closure) else DictOf((), ())
    copied = dict(zip(held.keys, held.items, strict=True))
    _set(ev, f, copied | {"__wrapped__": wrapped, _WRAPPED: wrapped})


def _set(ev: Evaluator, f: Closure, attributes: dict[str, Abstract]) -> None:
    if f.fields is None or f.fields.address not in ev.heap:
        raise NotCovered("a write to an attribute of a function from outside", ev.span)
    given = fields_of_function(ev, f)
    made = dict(zip(given.keys, given.items, strict=True)) | attributes
    ev.heap[f.fields.address] = DictOf(tuple(made), tuple(made.values()))
