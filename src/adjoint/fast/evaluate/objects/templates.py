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


def unfolded(a: Any) -> Any:
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


def instantiate(
    template: Any, new: Callable[[Slot], Value], ev: Evaluator, copies: list[int] | None = None
) -> Any:
    """Return the template with new values in its slots, and new lists, dicts and objects in the
    heap; append their addresses to `copies`, for a link with those that `match` finds."""
    if isinstance(template, Slot):
        return new(template)
    inside = parts(template)
    if inside is None:
        return template
    made = [instantiate(part, new, ev, copies) for part in inside]
    if _is_copy(template):
        is_list = isinstance(template, Tuple)
        copy = ev.allocate(ListOf(tuple(made)) if is_list else template.content(tuple(made)))
        if copies is None:
            ev.link(copy.address, 0)
        else:
            copies.append(copy.address)
        return copy
    if all(x is y for x, y in zip(made, inside, strict=True)):
        return template
    return rebuild(template, iter(made))


def _is_copy(template: Any) -> bool:
    return isinstance(template, CopyOf) or (isinstance(template, Tuple) and template.kind is list)


def match(
    template: Any,
    a: Any,
    found: list[Operand],
    ev: Evaluator,
    heap: Heap,
    copied: list[int | None] | None = None,
) -> None:
    """Append to `found` the operands in `a`, which refers to `heap`, at the slots of the template,
    in order, and to `copied` the addresses of what the copies in the template are of: 0 for what is
    read from outside, ``None`` if it is missing."""
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
            match(part, MISSING, found, ev, heap, copied)
        if copied is not None and _is_copy(template):
            copied.append(None)
        return
    if isinstance(template, Either):
        one, items = alternatives(unfolded(a), ev), None
        if one.numbers[0] not in template.numbers:
            one, items = alternatives(copy_of(ev, a, heap), ev), (a,)
        match(template.place, one.place, found, ev, heap, copied)
        given = dict(zip(one.numbers, items or one.items, strict=True))
        for n, item in zip(template.numbers, template.items, strict=True):
            match(item, given.get(n, MISSING), found, ev, heap, copied)
        return
    is_object = isinstance(template, CopyOf)
    others = parts(copy_of(ev, a, heap) if is_object else items_of(unfolded(a), ev, heap))  # type: ignore[arg-type]
    assert others is not None
    for part, other in zip(inside, others, strict=True):
        match(part, other, found, ev, heap, copied)
    if copied is not None and _is_copy(template):
        copied.append(a.address if isinstance(a, Ref) else 0)
