"""Attributes of Python functions."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.values import Abstract, Closure, DictOf
from adjoint.fast.not_covered import NotCovered, Raises

_NAMES = ("__name__", "__qualname__", "__module__", "__doc__")


def of_function(ev: Evaluator, f: Closure, name: str) -> Abstract:
    """Evaluate ``f.name``."""
    given = fields_of_function(ev, f)
    if name in given.keys:
        return given.items[given.keys.index(name)]
    if f.fields is not None and f.fields.address in ev.heap and not hasattr(FunctionType, name):
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
    if f.fields is None or f.fields.address not in ev.heap or hasattr(FunctionType, name):
        raise NotCovered("a write to an attribute of a function from outside", ev.span)
    given = fields_of_function(ev, f)
    made = dict(zip(given.keys, given.items, strict=True)) | {name: value}
    ev.heap[f.fields.address] = DictOf(tuple(made), tuple(made.values()))
