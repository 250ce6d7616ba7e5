"""Templates: abstract values with slots for what differs between branches or iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.alternative_kinds import CopyOf, copy_of, kind_of
from adjoint.fast.evaluate.values import (
    MISSING,
    Either,
    External,
    Flag,
    HeapObject,
    Instance,
    Known,
    ListOf,
    Ref,
    Slot,
    Tuple,
    parts,
    rebuild,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Const, Operand, Value

Heap = dict[int, HeapObject]


def opened(a: Any) -> Any:
    """Return a known tuple as a `Tuple`; anything else unchanged."""
    if isinstance(a, Known) and type(a.value) is tuple:
        return Tuple(tuple(map(Known, a.value)))
    return a


def is_list(a: Any, heap: Heap) -> bool:
    match a:
        case Ref():
            return isinstance(heap[a.address], ListOf)
        case External():
            return type(a.sample) is list
    return isinstance(a, Tuple) and a.kind is list


def items_of(a: Any, ev: Evaluator, heap: Heap) -> Any:
    """Return the template of a list; anything else unchanged."""
    if isinstance(a, Tuple) or not is_list(a, heap):
        return a
    held = heap[a.address] if isinstance(a, Ref) else None
    items = held.items if isinstance(held, ListOf) else ev.sequence(a)
    assert items is not None
    return Tuple(items, list)


def alternatives(a: Any, ev: Evaluator) -> Either:
    """Return a value as the only alternative of a variable, unless it is an `Either`."""
    if isinstance(a, Either):
        return a
    n, _ = ev.numbers.setdefault(kind_of(a), (len(ev.numbers), a))
    return Either(Known(n), (a,), (n,))


def instantiate(template: Any, new: Callable[[Slot], Value], ev: Evaluator) -> Any:
    """Return the template with new values in its slots, and new lists in the heap."""
    if isinstance(template, Slot):
        return new(template)
    inside = parts(template)
    if inside is None:
        return template
    made = [instantiate(part, new, ev) for part in inside]
    if isinstance(template, Tuple) and template.kind is list:
        copy = ev.allocate(ListOf(tuple(made)))
        ev.shared_lists.add(copy.address)
        return copy
    if isinstance(template, CopyOf):
        made_object = ev.allocate(Instance(template.cls, template.names, tuple(made)))
        ev.shared_lists.add(made_object.address)
        return made_object
    if all(x is y for x, y in zip(made, inside, strict=True)):
        return template
    return rebuild(template, iter(made))


def match(template: Any, a: Any, found: list[Operand], ev: Evaluator, heap: Heap) -> None:
    """Append to `found` the operands in `a`, which refers to `heap`, at the slots of the template,
    in order."""
    if isinstance(template, Slot):
        if isinstance(a, Value):
            found.append(a)
        else:
            assert isinstance(a, Known), a
            if isinstance(a, Flag):
                raise NotCovered("a truth value that depends on a branch or an iteration")
            found.append(Const(None if a is MISSING else a.value))
        return
    inside = parts(template)
    if inside is None or template is a:
        return
    if a is MISSING:
        for part in inside:
            match(part, MISSING, found, ev, heap)
        return
    if isinstance(template, Either):
        one = alternatives(opened(a), ev)
        if one.numbers[0] not in template.numbers:
            one = alternatives(copy_of(ev, a, heap), ev)
        match(template.place, one.place, found, ev, heap)
        given = dict(zip(one.numbers, one.items, strict=True))
        for n, item in zip(template.numbers, template.items, strict=True):
            match(item, given.get(n, MISSING), found, ev, heap)
        return
    if isinstance(template, CopyOf):
        a = copy_of(ev, a, heap)
    others = parts(items_of(opened(a), ev, heap))
    assert others is not None
    for part, other in zip(inside, others, strict=True):
        match(part, other, found, ev, heap)
