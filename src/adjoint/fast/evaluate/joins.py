"""Joins of abstract values after branches and in loops.

A *template* is an abstract value with slots for numbers and arrays that differ between branches or
iterations. `instantiate` fills the slots with new values; `match` finds the operands for them.

The template of a variable that holds one list or another is a `Tuple` of kind `list`. The variable
then holds a copy, so none of these lists may be written to (`Draft.demand_own_list`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.record_templates import Record, template_of_all
from adjoint.fast.evaluate.result_types.lengths import fresh_length
from adjoint.fast.evaluate.types import Array, Dim, Number, Row, Symbol, Type, join, type_of
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    TEXT,
    Abstract,
    CellOf,
    Closure,
    DequeOf,
    DictOf,
    External,
    Flag,
    HeapObject,
    Instance,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Ref,
    RowOf,
    Slot,
    TableOf,
    Text,
    Tuple,
    parts,
    rebuild,
    shape_of,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Const, Operand, Value

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


def generalise(a: Any, b: Any, ev: Evaluator, before: Heap, after: Heap) -> Any:
    """Return the smallest template that fits `a`, which may be a template, and `b`; `before` and
    `after` are the heaps that they refer to.

    Raises
    ------
    NotCovered
        No template fits both.
    """
    if not isinstance(a, Slot) and same(a, b):
        return a
    if a is LOST or b is LOST:
        return LOST
    a, b = _opened(a), _opened(b)
    if a is MISSING or b is MISSING:
        return _uncertain(b, ev, after) if a is MISSING else _uncertain(a, ev, before)
    if _is_none(a) or _is_none(b):
        return _number_or_none(a, b, ev)
    if all(isinstance(x, Text) or type(getattr(x, "value", None)) is str for x in (a, b)):
        return TEXT
    if _is_list(a, before) and _is_list(b, after):
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
        slot = Slot(joined, maybe, own, _demand_one_lack(ev, a, b))
        return a if a == slot else slot
    if left is None and right is None and shape_of(a) is not None and shape_of(a) == shape_of(b):
        if isinstance(a, Iterating):
            raise NotCovered("an iterator that depends on a branch or an iteration")
        if _has_attributes(a, before) or _has_attributes(b, after):
            raise NotCovered("a function with attributes that depends on a branch")
        left_parts, right_parts = parts(a), parts(b)
        assert left_parts is not None and right_parts is not None
        pairs = [*zip(left_parts, right_parts, strict=True)]
        is_fields = isinstance(a, Instance | CellOf)
        if not is_fields and any(_is_none(x) != _is_none(y) for x, y in pairs):
            raise NotCovered("an item that is None in some ways")
        made = [generalise(x, y, ev, before, after) for x, y in pairs]
        is_one = not isinstance(a, Closure) or a.fields is None  # else one of two functions
        if is_one and all(x is y for x, y in zip(made, left_parts, strict=True)):
            return a
        return rebuild(a, iter(made))
    raise NotCovered("a variable holds different things, depending on a branch or an iteration")


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


def _is_none(a: Any) -> bool:
    return isinstance(a, Known) and a.value is None


def _number_or_none(a: Any, b: Any, ev: Evaluator) -> Any:
    """Return the template of a variable that is ``None`` in one way: of a number or an array."""
    if _is_none(a) and _is_none(b):
        return a
    other = b if _is_none(a) else a
    t = _leaf_type(other, ev.types)
    if not isinstance(t, Number | Array):
        raise NotCovered("a variable holds different things, depending on a branch or an iteration")
    if _may_be_missing(other, ev) and not _may_be_none(other, ev):
        raise NotCovered("a variable that is None in one way and has no value in another")
    slot = Slot(t, True, other.own if isinstance(other, Slot) else frozenset(), True)
    return a if a == slot else slot


def _may_be_none(a: Any, ev: Evaluator) -> bool:
    return a.none if isinstance(a, Slot) else isinstance(a, Value) and a in ev.nones


def _demand_one_lack(ev: Evaluator, *joined: Any) -> bool:
    """Return whether one of the joined values may be ``None``; then no other may be unassigned."""
    found = [_may_be_none(a, ev) for a in joined]
    if any(found) and any(
        _may_be_missing(a, ev) and not none for a, none in zip(joined, found, strict=True)
    ):
        raise NotCovered("a variable that is None in one way and has no value in another")
    return any(found)


def _may_be_missing(a: Any, ev: Evaluator) -> bool:
    return a.maybe if isinstance(a, Slot) else a in ev.maybe


def _uncertain(a: Any, ev: Evaluator, heap: Heap) -> Any:
    """Return the template of a variable that one branch does not assign, or `LOST` if none exists.

    The program checks each read of such a variable.
    """
    if a is LOST:
        return LOST
    a = _shared_items(_opened(a), ev, heap)
    if _may_be_none(a, ev):
        return LOST
    if isinstance(a, Slot):
        return a if a.maybe else Slot(a.type, True, a.own)
    known = _leaf_type(a, ev.types)
    if known is not None:
        return Slot(known, True)
    inside = parts(a)
    if not inside or isinstance(a, Iterating) or _has_attributes(a, heap):
        return LOST
    made = [_uncertain(part, ev, heap) for part in inside]
    return LOST if any(part is LOST for part in made) else rebuild(a, iter(made))


def _has_attributes(a: Any, heap: Heap) -> bool:
    """Return whether a function has attributes that the program has set: a copy has none."""
    fields = heap.get(a.fields.address) if isinstance(a, Closure) and a.fields else None
    return isinstance(fields, DictOf) and bool(fields.keys)


def _opened(a: Any) -> Any:
    """Return a known tuple as a `Tuple`; anything else unchanged."""
    if isinstance(a, Known) and type(a.value) is tuple:
        return Tuple(tuple(map(Known, a.value)))
    return a


def _is_list(a: Any, heap: Heap) -> bool:
    match a:
        case Ref():
            return isinstance(heap[a.address], ListOf)
        case External():
            return type(a.sample) is list
    return isinstance(a, Tuple) and a.kind is list


def _items_of(a: Any, ev: Evaluator, heap: Heap) -> Any:
    """Return the template of a list; anything else unchanged."""
    if isinstance(a, Tuple) or not _is_list(a, heap):
        return a
    held = heap[a.address] if isinstance(a, Ref) else None
    items = held.items if isinstance(held, ListOf) else ev.sequence(a)
    assert items is not None
    return Tuple(items, list)


def _shared_items(a: Any, ev: Evaluator, heap: Heap) -> Any:
    """`_items_of`, and note that a variable holds this list or another."""
    items = _items_of(a, ev, heap)
    if items is not a and isinstance(a, Ref):
        ev.shared_lists.add(a.address)
    return items


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
    others = parts(_items_of(_opened(a), ev, heap))
    assert others is not None
    for part, other in zip(inside, others, strict=True):
        match(part, other, found, ev, heap)


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


def contents_template(address: int, ev: Evaluator, heap: Heap, other: Heap) -> Any:
    """`generalise` the contents of an address in two heaps; raise `Grows` if lengths of lists
    differ."""
    before, after = heap[address], other[address]
    if isinstance(before, IteratorOf) and isinstance(after, IteratorOf):
        return before if before.source is None else replace(before, source=None, contents=())
    if shape_of(before) != shape_of(after):
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
