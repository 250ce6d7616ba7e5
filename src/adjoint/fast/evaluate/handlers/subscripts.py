"""Handlers of reads, writes and deletions of items, and of writes by `ufunc.at`."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any, Generic

import numpy as np

from adjoint.fast.evaluate.attribute_reads import attribute, special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.indices import known_slice
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.objects.containers import (
    guarded,
    key_of,
    opened,
    opened_element,
    run,
)
from adjoint.fast.evaluate.objects.number_keys import call, tabled
from adjoint.fast.evaluate.plain_classes import (
    is_constant_object,
    is_enumeration,
    is_plain_object,
)
from adjoint.fast.evaluate.rows import put as put_into_list
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    DequeOf,
    DictOf,
    Either,
    FieldsOf,
    Known,
    ListOf,
    Ref,
    RowOf,
)
from adjoint.fast.evaluate.writes.adoption import demand_not_written
from adjoint.fast.evaluate.writes.array_writes import add_at, is_alias_of_part, put
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value
from adjoint.primal.special_methods import class_attribute


@handler(operator.getitem)
def _(ev: Evaluator, a: Abstract, index: Abstract) -> Abstract:
    if isinstance(a, Known) and (isinstance(a.value, type) or is_constant_object(type(a.value))):
        return _of_annotation(ev, a.value, index)
    cls = ev.class_of(a)
    if cls is not None and is_plain_object(cls) and hasattr(cls, "__getitem__"):
        return ev.call(special_method(ev, cls, "__getitem__"), [a, index], {})
    return item(ev, a, index)


@handler(np.add.at)
def _(ev: Evaluator, a: Abstract, index: Abstract, value: Abstract) -> Abstract:
    return add_at(ev, a, index, value)


@handler(np.subtract.at)
def _(ev: Evaluator, a: Abstract, index: Abstract, value: Abstract) -> Abstract:
    return add_at(ev, a, index, ev.call(Known(operator.neg), [value], {}))


_WITH_PARAMETERS = ("builtins", "collections", "collections.abc", "typing", "dataclasses")


def _of_annotation(ev: Evaluator, kind: Any, index: Abstract) -> Abstract:
    """Evaluate ``list[float]`` or ``Optional[float]``, and ``Color["RED"]``."""
    key = opened_element(ev, index)
    cls: Any = kind if isinstance(kind, type) else None
    if cls is not None and is_enumeration(cls):
        if isinstance(key, str) and key in cls._member_map_:
            ev.outside.rely_on(cls)
            return Known(cls._member_map_[key])
    elif cls is None or cls.__module__ in _WITH_PARAMETERS:
        if isinstance(index, Known):
            key = index.value
        return Known(guarded(ev, operator.getitem, kind, key))
    elif issubclass(cls, Generic):
        return Known(cls)
    elif type(class_attribute(cls, "__class_getitem__")) in (FunctionType, classmethod):
        found = attribute(ev, Known(cls), "__class_getitem__")
        return ev.call(found, [index] if isinstance(found, Bound) else [Known(cls), index], {})
    raise NotCovered("an index of a class", ev.span)


@handler(operator.setitem)
def _(ev: Evaluator, a: Abstract, index: Abstract, value: Abstract) -> Abstract:
    held = ev.held(a)
    demand_not_written(a, "__setitem__", ev.span)
    if (array := ev.flattened(a)) is not None:
        elements = ev.call(Known(np.reshape), [array, Known(-1)], {})
        ev.call(Known(operator.setitem), [elements, index, value], {})
    elif isinstance(a, Value):
        if not is_alias_of_part(ev, a, index, value):
            put(ev, a, index, value)
    elif isinstance(held, RowOf) or (isinstance(held, ListOf) and isinstance(index, Value)):
        assert isinstance(a, Ref)
        items = (value, *held.items) if isinstance(held, ListOf) else ()
        if isinstance(index, Value) and any(isinstance(x, Ref | Either) for x in items):
            _put(ev, a, len(items) - 1, index, value)
        else:
            put_into_list(ev, a, index, value)
    elif isinstance(held, ListOf) and isinstance(index, Known) and type(index.value) is int:
        assert isinstance(a, Ref)
        if not -len(held.items) <= index.value < len(held.items):
            raise NotCovered("an index out of range", ev.span)
        ev.demand_own_list(a.address)
        changed = [*held.items]
        changed[index.value] = value
        ev.heap[a.address] = ListOf(tuple(changed))
    elif (table := tabled(ev, a, index, value)) is not None:
        call(ev, table, "__setitem__", index, value)
    elif isinstance(held, DictOf) or isinstance(a, FieldsOf):
        run(ev, a, operator.setitem, key_of(ev, index), opened_element(ev, value))
    elif isinstance(held, DequeOf):
        run(ev, a, operator.setitem, opened_element(ev, index), opened_element(ev, value))
    elif isinstance(held, ListOf) and (part := known_slice(index)) is not None:
        run(ev, a, operator.setitem, part, opened(ev, value))
    else:
        cls = ev.class_of(a)
        if cls is None or not is_plain_object(cls) or not hasattr(cls, "__setitem__"):
            raise NotCovered("a write to an item", ev.span)
        ev.call(special_method(ev, cls, "__setitem__"), [a, index, value], {})
    return Known(None)


def _put(ev: Evaluator, xs: Ref, n: int, index: Value, value: Abstract) -> None:
    """Evaluate ``xs[index] = value`` for a list of `n` objects."""
    place = ev.call(ev.outside.own(_place), [index, Known(n)], {})
    for i in range(n):
        ev.call(ev.outside.own(_put_at), [xs, Known(i), place, value], {})


def _place(index: int, n: int) -> int:
    place = index + n if index < 0 else index
    if place < 0 or place >= n:
        raise IndexError("list assignment index out of range")
    return place


def _put_at(xs: Any, i: int, place: int, value: Any) -> None:
    if i == place:
        xs[i] = value


@handler(operator.delitem)
def _(ev: Evaluator, a: Abstract, index: Abstract) -> Abstract:
    held, cls = ev.held(a), ev.class_of(a)
    if isinstance(held, DictOf) or isinstance(a, FieldsOf):
        return run(ev, a, operator.delitem, key_of(ev, index))
    if isinstance(held, ListOf | DequeOf):
        part = known_slice(index)
        return run(ev, a, operator.delitem, opened_element(ev, index) if part is None else part)
    if cls is None or not is_plain_object(cls) or not hasattr(cls, "__delitem__"):
        raise NotCovered("a deletion of an item", ev.span)
    return ev.call(special_method(ev, cls, "__delitem__"), [a, index], {})
