"""Copies of containers and objects of known structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.containers import Element
from adjoint.fast.evaluate.plain_classes import has_own
from adjoint.fast.evaluate.values import (
    HIDDEN,
    Abstract,
    Closure,
    DequeOf,
    DictOf,
    External,
    Instance,
    Known,
    ListOf,
    Ref,
    SetOf,
    Text,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value


def copied(ev: Evaluator, a: Abstract, part: Callable[[Abstract], Abstract]) -> Abstract:
    """Return a new container or object like `a`, with `part` applied to each part."""
    held: Any = ev.held(a)
    if isinstance(a, Tuple):
        return Tuple(tuple(map(part, a.items)), a.kind)
    if isinstance(held, Instance) and any(has_own(held.cls, name) for name in _PROTOCOL):
        raise NotCovered(f"a copy of a {held.cls.__qualname__}, which has a say", ev.span)
    if isinstance(held, Instance) and (
        not HIDDEN.isdisjoint(held.names) or hasattr(held.cls, "__getattr__")
    ):
        raise NotCovered(f"a copy of a {held.cls.__qualname__}", ev.span)
    if isinstance(held, Instance) and has_own(held.cls, "__setattr__"):
        if any("__slots__" in vars(base) for base in held.cls.__mro__):  # which it sets
            raise NotCovered(f"a copy of a {held.cls.__qualname__}, which has a say", ev.span)
    if isinstance(held, DictOf | SetOf) and any(isinstance(k, Element) for k in held.keys):
        raise NotCovered("a copy of a container of objects as keys", ev.span)
    if isinstance(held, ListOf | DequeOf | DictOf | Instance):
        return ev.allocate(replace(held, items=tuple(map(part, held.items))))
    if isinstance(held, SetOf):
        return ev.allocate(held)
    if isinstance(a, External):
        items = ev.sequence(a)
        entries = ev.entries(a)
        if items is not None:
            made = tuple(map(part, items))
            return ev.allocate(ListOf(made)) if ev.is_list(a) else Tuple(made, type(a.sample))
        if entries is not None:
            return ev.allocate(DictOf(tuple(entries), tuple(map(part, entries.values()))))
    if isinstance(a, Ref | External):
        raise NotCovered("a copy of an object of another kind", ev.span)
    return a


_PROTOCOL = tuple(
    f"__{name}__" for name in "copy deepcopy reduce reduce_ex getstate setstate setattr".split()
)


def deep_copy(ev: Evaluator, a: Abstract, known: dict[Any, Abstract], of_value: Any) -> Abstract:
    """Return ``copy.deepcopy(a)``; `known` holds the copies so far, by address or source."""
    if isinstance(a, Ref):
        if a.address not in known:
            known[a.address] = made = ev.allocate(ListOf(()))
            copy = copied(ev, a, lambda x: deep_copy(ev, x, known, of_value))
            assert isinstance(copy, Ref)
            ev.heap[made.address] = ev.heap.pop(copy.address)
        return known[a.address]
    if isinstance(a, External):
        if a.source not in known:
            known[a.source] = copied(ev, a, lambda x: deep_copy(ev, x, known, of_value))
        return known[a.source]
    if isinstance(a, Tuple):
        return copied(ev, a, lambda x: deep_copy(ev, x, known, of_value))
    if not isinstance(a, Known | Value | Closure | Text):
        raise NotCovered("a copy of something else than a container or an object", ev.span)
    return of_value(a)  # type: ignore[no-any-return]
