"""Joins of abstract values after branches and in loops.

A *template* is an abstract value with slots for numbers and arrays that differ between branches or
iterations. `instantiate` fills the slots with new values; `match` finds the operands for them.

The template of a variable that holds one list or another is a `Tuple` of kind `list`, that of one
dict or object or another a `CopyOf`. The variable then holds a copy: after a write to one of these,
nothing may read the others (`Heap.link`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.alternative_kinds import DIFFERENT, CopyOf, copy_of, kind_of
from adjoint.fast.evaluate.objects.record_templates import Record, template_of_all
from adjoint.fast.evaluate.objects.templates import alternatives, is_list, items_of, unfolded
from adjoint.fast.evaluate.result_types.lengths import fresh_length
from adjoint.fast.evaluate.types import Array, Dim, Number, Row, Symbol, Type, join, number, type_of
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    TEXT,
    Abstract,
    Bound,
    CellOf,
    Closure,
    DequeOf,
    DictOf,
    Either,
    External,
    FieldsOf,
    HeapObject,
    Instance,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Overtaken,
    Ref,
    RowOf,
    SliceOf,
    Slot,
    TableOf,
    Text,
    Tuple,
    parts,
    rebuild,
    shape_of,
)
from adjoint.fast.not_covered import NotCovered, TooMany
from adjoint.fast.single_assignment.endings import RETURNED
from adjoint.ir.single import Value

Types = dict[Value, Type]
Heap = dict[int, HeapObject]


def same(a: Abstract, b: Abstract) -> bool:
    """Return whether two abstract values are known to be the same."""
    if a is b:
        return True
    if isinstance(a, Known) and isinstance(b, Known):
        return a.value is b.value or (
            type(a.value) is type(b.value)
            and type(a.value) in (int, str, bool)
            and a.value == b.value
        )
    return not isinstance(a, Value) and parts(a) is None and a == b


def _leaf_type(a: Any, types: Types) -> Type | None:
    if isinstance(a, Value):
        t = types[a]
        return None if isinstance(t, Row) else t
    if isinstance(a, Slot):
        return a.type
    if isinstance(a, Known):
        return type_of(a.value) if type(a.value) in (int, float, bool, complex) else None
    return None


ITEM, OWNER = "()", "self()"
"""The names of an item of a container, and of the object of a method."""


def generalise(a: Any, b: Any, ev: Evaluator, before: Heap, after: Heap, name: str = "") -> Any:
    """Return the smallest template that fits `a`, which may be a template, and `b`; `before` and
    `after` are the heaps that they refer to, `name` is that of the variable. An item that is a
    number or ``None`` is an `Either`, which nothing takes for a number.

    Raises
    ------
    NotCovered
        No template fits both.
    """
    if not isinstance(a, Slot) and same(a, b):
        return a
    if a is LOST or b is LOST:
        return LOST
    if isinstance(a, Overtaken) or isinstance(b, Overtaken):
        return a if isinstance(a, Overtaken) else b
    ev.held_in(before, a), ev.held_in(after, b)  # may be overtaken
    a, b = unfolded(a), unfolded(b)
    if a is MISSING or b is MISSING:
        one, heap = (b, after) if a is MISSING else (a, before)
        known = _as_it_is(one, ev, before, after) if name == RETURNED else LOST
        return _uncertain(one, ev, heap, name) if known is LOST else known
    other = _leaf_type(b if _is_none(a) else a, ev.types)
    if name != ITEM and (_is_none(a) or _is_none(b)) and isinstance(other, Number | Array):
        return _number_or_none(a, b, ev, name)
    if (isinstance(a, Text) or isinstance(b, Text)) and _is_text(a) and _is_text(b):
        return _joined_text(a, b, ev, before, after)
    if isinstance(a, Either) or isinstance(b, Either):
        return either(a, b, ev, before, after)
    if isinstance(a, Ref) and isinstance(b, Ref):
        is_apart = a.address not in after and b.address not in before
        is_own = ev.copies.keys().isdisjoint((a.address, b.address))
        if (
            is_apart
            and (is_own or ev.keeps_lists)
            and shape_of(before[a.address]) == shape_of(after[b.address])
        ):
            return _united(ev, a, b, before)
    if _is_passing(a, before, after) or _is_passing(b, before, after):
        left_copy, right_copy = copy_of(ev, a, before), copy_of(ev, b, after)
        if left_copy and right_copy and shape_of(left_copy) == shape_of(right_copy):
            share(ev, a, b)
            a, b = left_copy, right_copy
    is_kept = name == OWNER or (ev.keeps_lists and not _is_passing(a, before, after))
    if (not is_kept or _is_passing(b, before, after)) and is_list(a, before) and is_list(b, after):
        if shape_of(items_of(a, ev, before)) == shape_of(items_of(b, ev, after)):
            a, b = _shared_items(a, ev, before), _shared_items(b, ev, after)
    left, right = _leaf_type(a, ev.types), _leaf_type(b, ev.types)
    if left is not None and right is not None:
        shape, own = _joined_shape(a, left, right)
        joined = (
            join(left, right) if shape is None else join(_with(left, shape), _with(right, shape))
        )
        if joined is None:
            raise NotCovered(f"a variable is {left} in one way, {right} in the other")
        maybe = _may_be_missing(a, ev) or _may_be_missing(b, ev)
        slot = Slot(joined, maybe, own, _demand_one_lack(ev, name, a, b))
        return a if a == slot else slot
    is_alike = left is None and right is None and shape_of(a) is not None
    if isinstance(a, Bound) and isinstance(b, Bound):
        is_alike = kind_of(a) == kind_of(b)
    if is_alike and shape_of(a) == shape_of(b):
        if isinstance(a, Iterating):
            raise NotCovered("an iterator that depends on a branch or an iteration")
        if _has_attributes(a, before) or _has_attributes(b, after):
            raise NotCovered("a function with attributes that depends on a branch")
        left_parts, right_parts = parts(a), parts(b)
        assert left_parts is not None and right_parts is not None
        pairs = [*zip(left_parts, right_parts, strict=True)]
        is_object = isinstance(a, Instance) and a.cls is not dict
        inner = "" if is_object or isinstance(a, CellOf) else ITEM
        if isinstance(a, Bound):
            inner = OWNER
        made = [generalise(x, y, ev, before, after, inner) for x, y in pairs]
        if isinstance(a, SliceOf | FieldsOf) and any(isinstance(x, Either) for x in made):
            raise NotCovered(DIFFERENT)
        is_one = not isinstance(a, Closure) or a.fields is None  # else one of two functions
        if is_one and all(x is y for x, y in zip(made, left_parts, strict=True)):
            return a
        return rebuild(a, iter(made))
    return either(a, b, ev, before, after)


def _joined_text(a: Any, b: Any, ev: Evaluator, before: Heap, after: Heap) -> Any:
    """Return the template of a text; `TEXT` if the numbers in it have none."""
    try:
        if isinstance(a, Text) and isinstance(b, Text) and kind_of(a) == kind_of(b):
            one, other = a.items[0], b.items[0]
            made = generalise(one, other, ev, before, after)
            return a if made is one else Text((made,))
        return either(a, b, ev, before, after)
    except NotCovered:
        return TEXT


def _joined_shape(
    a: Any, left: Type, right: Type
) -> tuple[tuple[Dim, ...] | None, frozenset[Symbol]]:
    """Return the shape of an array that is of type `left` or `right`, with lengths of its own where
    theirs differ, and these lengths; `a` may be the slot of a template. ``None``: theirs are equal,
    or their ranks differ."""
    own = a.own if isinstance(a, Slot) else frozenset()
    if not isinstance(left, Array) or not isinstance(right, Array) or left.shape == right.shape:
        return None, own
    if len(left.shape) != len(right.shape):
        return None, own
    pairs = zip(left.shape, right.shape, strict=True)
    shape = tuple(m if m == n or m in own else fresh_length() for m, n in pairs)
    return shape, own.union(n for n in shape if isinstance(n, Symbol) and n not in left.shape)


def _with(t: Type, shape: tuple[Dim, ...]) -> Type:
    assert isinstance(t, Array)
    return t.with_shape(shape)


def _is_text(a: Any) -> bool:
    if isinstance(a, Either):
        return all(map(_is_text, a.items))
    return isinstance(a, Text) or (isinstance(a, Known) and type(a.value) is str)


def _is_none(a: Any) -> bool:
    return isinstance(a, Known) and a.value is None


def _number_or_none(a: Any, b: Any, ev: Evaluator, name: str) -> Any:
    """Return the template of a variable that is ``None`` in one way, and in the other a number or
    an array."""
    other = b if _is_none(a) else a
    t = _leaf_type(other, ev.types)
    assert t is not None
    _demand_one_lack(ev, name, other, none=True)
    slot = Slot(t, True, other.own if isinstance(other, Slot) else frozenset(), True)
    return a if a == slot else slot


def _may_be_none(a: Any, ev: Evaluator) -> bool:
    return a.none if isinstance(a, Slot) else isinstance(a, Value) and a in ev.nones


def _demand_one_lack(ev: Evaluator, name: str, *joined: Any, none: bool = False) -> bool:
    """Return whether one of the joined values may be ``None``; then no other may be unassigned."""
    none = none or any(_may_be_none(a, ev) for a in joined)
    lacks = any(_may_be_missing(a, ev) and not _may_be_none(a, ev) for a in joined)
    if none and lacks and name != RETURNED:
        raise NotCovered("a variable that is None in one way and has no value in another")
    return none


def _may_be_missing(a: Any, ev: Evaluator) -> bool:
    return a.maybe if isinstance(a, Slot) else a in ev.maybe


def _as_it_is(a: Any, ev: Evaluator, *heaps: Heap) -> Any:
    """Return the template of a structure that is only read where it is assigned; else `LOST`."""
    if isinstance(a, Either):
        return either(a, a, ev, *heaps)
    if not isinstance(a, Known | Ref | External | Tuple | Text) or a is TEXT:
        return LOST
    if _leaf_type(a, ev.types) is not None:
        return LOST
    try:
        return _in_some_ways(a, ev, *heaps)
    except NotCovered:
        return LOST


def _uncertain(a: Any, ev: Evaluator, heap: Heap, name: str = "") -> Any:
    """Return the template of a variable that one branch does not assign, or `LOST` if none exists.

    The program checks each read of such a variable.
    """
    if a is LOST:
        return LOST
    if isinstance(a, Text):
        return _as_it_is(a, ev, heap)  # a read of its numbers checks them
    a = _shared_items(unfolded(a), ev, heap)
    none = _may_be_none(a, ev)
    if (none and name != RETURNED) or isinstance(a, Either):
        return LOST
    if isinstance(a, Slot):
        return a if a.maybe else Slot(a.type, True, a.own)
    known = _leaf_type(a, ev.types)
    if known is not None:
        return Slot(known, True, none=none)
    inside = parts(a)
    if not inside or isinstance(a, Iterating) or _has_attributes(a, heap):
        return LOST
    made = [_uncertain(part, ev, heap) for part in inside]
    return LOST if any(part is LOST for part in made) else rebuild(a, iter(made))


def _has_attributes(a: Any, heap: Heap) -> bool:
    """Return whether a function has attributes that the program has set: a copy has none."""
    fields = heap.get(a.fields.address) if isinstance(a, Closure) and a.fields else None
    return isinstance(fields, DictOf) and bool(fields.keys)


def _shared_items(a: Any, ev: Evaluator, heap: Heap) -> Any:
    """Return `items_of`, and note that a variable holds this list or another."""
    items = items_of(a, ev, heap)
    if items is not a:
        share(ev, a)
    return items


# ---- one of several things -----------------------------------------------------------------------

MOST_ALTERNATIVES = 32


def either(a: Any, b: Any, ev: Evaluator, before: Heap, after: Heap) -> Any:
    """Return the template of a variable that holds an alternative of `a` or one of `b`."""
    one, other = alternatives(a, ev), alternatives(b, ev)
    if _is_passing(a, before, after):
        one = alternatives(_copied(a, ev, before), ev)
    if _is_passing(b, before, after):
        other = alternatives(_copied(b, ev, after), ev)
    left = dict(zip(one.numbers, one.items, strict=True))
    right = dict(zip(other.numbers, other.items, strict=True))
    made = {**left, **right}
    if len(made) > MOST_ALTERNATIVES and all(map(_is_text, made.values())):
        return TEXT
    if len(made) > MOST_ALTERNATIVES:
        raise TooMany(f"a variable that holds one of more than {MOST_ALTERNATIVES} things")
    for n, x in made.items():
        if n in left and n in right:
            x = generalise(left[n], x, ev, before, after, ITEM)
        made[n] = _in_some_ways(x, ev, before, after)
    if a is one and isinstance(a.place, Slot) and left.keys() == made.keys():
        if all(made[n] is x for n, x in left.items()):
            return a
    return Either(Slot(number(int)), tuple(made.values()), tuple(made))


def _copied(a: Any, ev: Evaluator, heap: Heap) -> CopyOf:
    made = copy_of(ev, a, heap)
    if made is None:
        raise NotCovered("an object that is made in one way only")
    share(ev, a)
    return made


def _in_some_ways(a: Any, ev: Evaluator, *heaps: Heap) -> Any:
    """Return the template of an alternative, whose numbers and arrays are unassigned where another
    one is chosen."""
    if isinstance(a, Ref) and _is_passing(a, *heaps):
        a = _copied(a, ev, next(heap for heap in heaps if a.address in heap))
    if isinstance(a, Closure) and any(_is_passing(cell, *heaps) for cell in a.cells):
        raise NotCovered("a function of variables that are made in one way only")
    if isinstance(a, Slot | Value):
        t = _leaf_type(a, ev.types)
        if t is None or _may_be_none(a, ev):
            raise NotCovered(DIFFERENT)
        if isinstance(a, Slot):
            return a if a.maybe else Slot(t, True, a.own)
        return Slot(t, True)
    inside = parts(a) or ()
    made = [_in_some_ways(x, ev, *heaps) for x in inside]
    return a if all(x is y for x, y in zip(made, inside, strict=True)) else rebuild(a, iter(made))


def _is_passing(a: Any, *heaps: Heap) -> bool:
    """Return whether an object is made in one way, or in an iteration, only."""
    if isinstance(a, Ref):
        return not all(a.address in heap for heap in heaps)
    return isinstance(a, CopyOf)


def _united(ev: Evaluator, a: Ref, b: Ref, before: Heap) -> Ref:
    """Return one object for `a`, which one way makes, and `b`, which the other makes."""
    pair = ev.united.setdefault(a.address, b.address), [*ev.united.values()].count(b.address)
    if pair != (b.address, 1) or not ev.copies.keys().isdisjoint((a.address, b.address)):
        raise NotCovered(DIFFERENT)
    if shape_of(before[a.address]) is None or isinstance(before[a.address], IteratorOf):
        raise NotCovered(DIFFERENT)
    return a


def share(ev: Evaluator, *objects: Any) -> None:
    """Note that a variable holds these objects or others, in copies."""
    addresses = {a.address for a in objects if isinstance(a, Ref)}
    if not addresses.isdisjoint((*ev.united, *ev.united.values())):
        raise NotCovered(DIFFERENT)
    for at in addresses:
        ev.link(at)


class Grows(NotCovered):
    """The length of the list of numbers or arrays, or of items of one `template`, at an address
    depends on a branch or an iteration, or a key of the dict or set does."""

    def __init__(self, address: int, template: Record | None = None) -> None:
        super().__init__("a list changes its length in a branch or a loop")
        self.address, self.template = address, template


def is_number(a: Any, types: Types) -> bool:
    """Return whether an abstract value is a number of the program, or a known one."""
    return isinstance(_leaf_type(a, types), Number)


def are_alike(items: Sequence[Any], types: Types) -> bool:
    """Return whether items are arrays that one list of the program may hold."""
    found = {types[x] if isinstance(x, Value) else None for x in items}
    return len(found) == 1 and is_listed(found.pop())


def is_listed(t: Any) -> bool:
    """Return whether lists of the program may hold arrays of a type."""
    return type(t) is Array and t.dtype.char in "dD"


def _record_of(before: Any, after: Any, ev: Evaluator, heap: Heap, other: Heap) -> Any:
    """Return the template of all items of a list in two heaps; ``None`` if they have none, or if
    lists are read item by item, which covers more."""
    found = []
    for held, one in ((before, heap), (after, other)):
        if isinstance(held, ListOf) and held.items:
            found.append(template_of_all(held.items, ev.types, one))
        elif isinstance(held, TableOf) and held.kind is list:
            found.append(held.factory.value)  # type: ignore[union-attr]
        elif not isinstance(held, ListOf):
            return None
    is_one = bool(found) and all(x == found[0] for x in found)
    return found[0] if is_one and ev.outside.rows else None


def contents_template(
    address: int, ev: Evaluator, heap: Heap, other: Heap, in_other: int | None = None
) -> Any:
    """`generalise` the contents of an address in two heaps, `in_other` if it is another in the
    second; raise `Grows` if lengths of lists differ."""
    before, after = heap[address], other[address if in_other is None else in_other]
    if isinstance(before, IteratorOf) and isinstance(after, IteratorOf):
        return before if before.source is None else replace(before, source=None, contents=())
    is_overtaken = Overtaken in (type(before), type(after))
    if shape_of(before) != shape_of(after) and not is_overtaken:
        if all(isinstance(x, ListOf | RowOf) for x in (before, after)):
            items = [y for x in (before, after) if isinstance(x, ListOf) for y in x.items]
            if all(is_number(x, ev.types) for x in items) or are_alike(items, ev.types):
                raise Grows(address)
        if (template := _record_of(before, after, ev, heap, other)) is not None:
            raise Grows(address, template)
        if isinstance(before, DequeOf) and isinstance(after, DequeOf):
            if all(is_number(x, ev.types) for x in (*before.items, *after.items)):
                raise Grows(address)
        if isinstance(before, TableOf) is not isinstance(after, TableOf):
            raise Grows(address)
        raise NotCovered("a container or object changes its size or fields in a branch or a loop")
    return generalise(before, after, ev, heap, other)
