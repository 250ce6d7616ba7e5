"""Lists of numbers or arrays of unknown length, as values of the program that are written to in
place.

The items of a new list are known one by one. If its length comes to depend on a branch or on an
iteration, the branch or loop is specialised again with a list of the program in its place. The item
type includes all numbers that are ever put into the list; arrays are of one dtype and shape. The
list holds the arrays themselves, which nothing may write to (`writes.listed_arrays`).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.indices import index_operand
from adjoint.fast.evaluate.joins import (
    ITEM,
    are_alike,
    either,
    generalise,
    is_listed,
    is_number,
)
from adjoint.fast.evaluate.objects.templates import instantiate, match
from adjoint.fast.evaluate.types import (
    Array,
    Dim,
    Number,
    Row,
    Symbol,
    has_complex,
    is_covered,
    number,
    witnesses,
)
from adjoint.fast.evaluate.values import (
    Abstract,
    Closure,
    Either,
    External,
    Known,
    ListOf,
    Ref,
    RowOf,
    SliceOf,
    Slot,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import walk_ops
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Op, Operand, Value


def row_of(ev: Evaluator, a: Any) -> Value | None:
    """Return the value of the program that a list of numbers or arrays is; ``None`` for anything
    else."""
    if isinstance(a, Value):
        return a if isinstance(ev.types[a], Row) else None
    held = ev.held(a)
    return held.value if isinstance(held, RowOf) else None


def kind_of(ev: Evaluator, a: Abstract) -> type:
    """Return `list` or `tuple`, according to the class of a list of the program."""
    held = ev.held(a)
    return held.kind if isinstance(held, RowOf) else list


def as_row(
    ev: Evaluator, address: int, build: Any = primitives.build_list, *, of_arrays: bool = False
) -> Value:
    """Turn a list of known items into a value of the program, which `build` makes; one of arrays
    if `of_arrays` allows that."""
    held = ev.heap[address]
    assert isinstance(held, ListOf)
    ev.demand_own_list(address)
    made = ev.operation(
        build,
        tuple(map(ev.operand, held.items)),
        Row(_item_type(ev, held.items, of_arrays)),
        name=_name_of(ev, address),
    )
    ev.written.add(made)
    ev.heap[address] = RowOf(made)
    return made


def _name_of(ev: Evaluator, address: int) -> str:
    """Return the name of a user variable that holds the list."""
    for frame in reversed(ev.frames):
        for v, a in frame.values.items():
            if isinstance(a, Ref) and a.address == address and not v.name.startswith("_"):
                return v.name
    return "items"


def _item_type(ev: Evaluator, items: tuple[Abstract, ...], of_arrays: bool) -> Number | Array:
    """Return the type that includes all items of a list."""
    if of_arrays and are_alike(items, ev.types):
        ev.listed.update(x for x in items if isinstance(x, Value))
        return ev.array_type(items[0])  # type: ignore[arg-type]
    kinds: set[type] = set()
    for x in items:
        kinds |= _number_type(ev, x).kinds
    return Number(frozenset(kinds))


def number_of(ev: Evaluator, row: Value) -> Number:
    """Return the type of the items of a list of numbers; refuse a list of arrays."""
    item = ev.row_type(row).item
    if isinstance(item, Array):
        raise NotCovered("an operation on a list of arrays of unknown length", ev.span)
    return item


def _number_type(ev: Evaluator, a: Abstract) -> Number:
    if not is_number(a, ev.types):
        raise NotCovered("a list of unknown length of something else than numbers", ev.span)
    t = ev.types[a] if isinstance(a, Value) else number(type(a.value))  # type: ignore[union-attr]
    assert isinstance(t, Number)
    return t


# ---- writes --------------------------------------------------------------------------------------


def _to_write(ev: Evaluator, a: Abstract) -> Value:
    row = row_of(ev, a)
    if row is None or not isinstance(a, Ref) or kind_of(ev, a) is not list:
        raise NotCovered("a write to a list from outside", ev.span)
    ev.written.add(row)
    ev.row_writes += 1
    return row


def _admit(ev: Evaluator, row: Value, a: Abstract) -> Operand:
    """Widen the item type of a list by a number or an array; return it as an operand."""
    item, t = ev.row_type(row).item, ev.types[a] if isinstance(a, Value) else None
    if is_listed(t) and item in (t, Number(frozenset())):
        assert isinstance(a, Value) and isinstance(t, Array)
        if item != t:
            ev.types[row] = Row(t)
        ev.listed.add(a)
        return a
    known = number_of(ev, row).kinds
    kinds = known | _number_type(ev, a).kinds
    if kinds != known:
        ev.types[row] = Row(Number(kinds))
    return ev.operand(a)


def append(ev: Evaluator, xs: Abstract, value: Abstract) -> None:
    held = ev.held(xs)
    if isinstance(xs, Ref) and isinstance(held, ListOf):
        ev.demand_own_list(xs.address)
        ev.heap[xs.address] = ListOf((*held.items, value))
        return
    _put_in(ev, xs, rows.append, value)


def prepend(ev: Evaluator, xs: Abstract, value: Abstract) -> None:
    """Write ``xs.insert(0, value)`` for a list that the program holds."""
    _put_in(ev, xs, rows.put_first, value)


def _put_in(ev: Evaluator, xs: Abstract, f: Any, value: Abstract) -> None:
    row = _to_write(ev, xs)
    ev.row_lengths.pop(row, None)
    ev.write(Call(None, Const(f), (row, _admit(ev, row, value)), (), ev.span))


def pop(ev: Evaluator, xs: Abstract) -> Abstract:
    held = ev.held(xs)
    if isinstance(xs, Ref) and isinstance(held, ListOf):
        ev.demand_own_list(xs.address)
        if not held.items:
            raise NotCovered("an item of an empty list", ev.span)
        ev.heap[xs.address] = ListOf(held.items[:-1])
        return held.items[-1]
    return _taken(ev, xs, rows.take_last)


def pop_first(ev: Evaluator, xs: Abstract) -> Abstract:
    """Write ``xs.pop(0)`` for a list that the program holds."""
    return _taken(ev, xs, rows.take_first)


def _taken(ev: Evaluator, xs: Abstract, f: Any) -> Value:
    row = _to_write(ev, xs)
    ev.row_lengths.pop(row, None)
    return noted_item(ev, ev.operation(f, (row,), ev.row_type(row).item))


def noted_item(ev: Evaluator, x: Value) -> Value:
    """Return an item of a list; note an array, which may be another one of the list."""
    if isinstance(ev.types[x], Array):
        ev.listed.add(x)
    return x


MOST_REPEATED = 64


def repeated(ev: Evaluator, xs: Abstract, n: Abstract) -> Abstract:
    """Evaluate ``xs * n``."""
    items, row = ev.sequence(xs), row_of(ev, xs)
    if items is not None:
        if isinstance(n, Known) and type(n.value) is int and n.value * len(items) <= MOST_REPEATED:
            return ev.allocate(ListOf(items * n.value))
        row = as_row(ev, ev.allocate(ListOf(items)).address, of_arrays=True)
    if row is None:
        raise NotCovered("a list of something else than numbers or arrays, repeated", ev.span)
    made = ev.operation(rows.repeated, (row, _index(ev, n)), ev.types[row], name="items")
    ev.written.add(made)
    return ev.allocate(RowOf(made))


def put(ev: Evaluator, xs: Ref, index: Abstract, value: Abstract) -> None:
    if isinstance(ev.held(xs), ListOf):
        as_row(ev, xs.address, of_arrays=True)
    row = _to_write(ev, xs)
    at = _index(ev, index)
    ev.write(Call(None, Const(rows.put_item), (row, at, _admit(ev, row, value)), (), ev.span))


def _index(ev: Evaluator, index: Abstract) -> Operand:
    t = ev.types[index] if isinstance(index, Value) else None
    if isinstance(index, Known) and type(index.value) is int:
        return Const(index.value)
    if isinstance(t, Number) and all(kind is int for kind in t.kinds):
        return ev.operand(index)
    raise NotCovered("an index of another kind", ev.span)


# ---- reads ---------------------------------------------------------------------------------------


def item_of(ev: Evaluator, xs: Abstract, row: Value, index: Abstract) -> Abstract:
    """Evaluate ``xs[index]``."""
    if isinstance(index, SliceOf) or (isinstance(index, Known) and isinstance(index.value, slice)):
        return _part(ev, xs, row, index)
    made = ev.operation(rows.item, (row, _index(ev, index)), ev.row_type(row).item)
    return noted_item(ev, made)


def items_at(ev: Evaluator, items: list[Abstract], places: list[Value]) -> list[Abstract]:
    """Return the items at places that the program computes: numbers, arrays, or tuples of these."""
    template: Any = items[0]
    for x in items[1:]:
        if isinstance(x, Ref | External):
            template = either(template, x, ev, ev.heap, ev.heap)
        else:
            template = generalise(template, x, ev, ev.heap, ev.heap, ITEM)
    if not _is_of_values(template):
        raise NotCovered("an item of objects, at a place that depends on numbers", ev.span)
    columns: list[list[Operand]] = []
    for x in items:
        columns.append([])
        match(template, x, columns[-1], ev, ev.heap)
    parts = []
    for column in zip(*columns, strict=True):
        made = ListOf(tuple(Known(x.value) if isinstance(x, Const) else x for x in column))
        parts.append(as_row(ev, ev.allocate(made).address, of_arrays=True))
    found = []
    for place in places:
        found.append(_instance(ev, template, iter(parts), place))
    return found


def _instance(ev: Evaluator, template: Any, parts: Any, place: Value) -> Abstract:
    def read(slot: Slot) -> Value:
        row = next(parts)
        found = item_of(ev, row, row, place)
        assert isinstance(found, Value)
        return found

    return instantiate(template, read, ev)  # type: ignore[no-any-return]


def _is_of_values(template: Any) -> bool:
    """Return whether the parts of items that differ are numbers or arrays, in tuples."""
    if isinstance(template, Tuple):
        return template.kind is not list and all(map(_is_of_values, template.items))
    if isinstance(template, Either):
        return all(isinstance(x, Ref | External | Closure | Known) for x in template.items)
    if isinstance(template, Slot):
        return not template.maybe
    return isinstance(template, Known | Value)


def _part(ev: Evaluator, xs: Abstract, row: Value, index: Abstract) -> Abstract:
    for end in (index.start, index.stop, index.step) if isinstance(index, SliceOf) else ():
        if not (isinstance(end, Known) and end.value is None):
            _index(ev, end)  # demands an integer
    bounds = index_operand(ev, index)
    made = ev.operation(rows.part, (row, bounds), ev.types[row])
    n = length_of_row(ev, row)
    if bounds == Const(slice(None)) and n is not None:
        ev.row_lengths[made] = n
    return ev.allocate(RowOf(made, kind_of(ev, xs)))


def count(ev: Evaluator, row: Value) -> Value:
    """Write ``len(row)``."""
    made = ev.operation(rows.count, (row,), number(int), name="n")
    n = length_of_row(ev, row)
    if n is not None:
        ev.dims[made] = n
    return made


def length_of_row(ev: Evaluator, row: Value) -> Dim | None:
    """Return the dimension that is the length of a list, or ``None``."""
    return ev.row_lengths.get(row) or ev.outside.row_lengths.get(row)


def reduced(ev: Evaluator, f: Any, row: Value) -> Abstract:
    """Write ``sum``, ``math.fsum``, ``max`` or ``min`` of a list."""
    item = ev.row_type(row).item
    if f is rows.total and isinstance(item, Array):
        return ev.operation(f, (row,), item)
    item = number_of(ev, row)
    kinds = item.kinds
    if f is rows.total:
        if not kinds <= {int, bool, float, np.float64, complex, np.complex128}:
            raise NotCovered("a sum of numbers of several classes", ev.span)
        if bool in kinds:
            kinds = kinds - {bool} | {int}
        if not ev.sums_some:
            return ev.operation(rows.total_or_zero, (row,), Number(kinds | {int}))
    elif has_complex(item):
        raise NotCovered("an extremum or exact sum of complex numbers", ev.span)
    return ev.operation(f, (row,), Number(kinds))


def array_of(ev: Evaluator, row: Value, dtype: Any = None) -> Abstract:
    """Write ``np.array(row)``."""
    item = ev.row_type(row).item
    if isinstance(item, Array):
        return _array_of_arrays(ev, row, item, dtype)
    if not item.kinds:
        raise NotCovered("an array of nothing", ev.span)
    if has_complex(item) and dtype is not None and np.dtype(dtype).kind != "c":
        raise NotCovered(f"complex numbers in an array of dtype {np.dtype(dtype)}", ev.span)
    found = {np.array([x], dtype).dtype for x in witnesses(item)}
    of_array = max(found, key=lambda one: one.num)
    if len(found) > 1 and item.kinds <= {int, float, np.float64}:
        ev.operation(rows.demand_float, (row,), number(bool))
    elif len(found) > 1 or not is_covered(of_array.type):
        raise NotCovered("an array of numbers of several classes", ev.span)
    t = Array(of_array, (_length(ev, row),))
    return ev.operation(rows.array_of, (row, Const(of_array)), t)


def _array_of_arrays(ev: Evaluator, row: Value, item: Array, dtype: Any) -> Abstract:
    """Write ``np.array(row)`` of a list of arrays."""
    made = ev.operation(rows.stacked, (row,), item.with_shape((_length(ev, row), *item.shape)))
    if dtype is None or np.dtype(dtype) == item.dtype:
        return made
    if has_complex(item):
        raise NotCovered(f"complex numbers in an array of dtype {np.dtype(dtype)}", ev.span)
    return ev.call(Known(np.ndarray.astype), [made, Known(dtype)], {})


def _length(ev: Evaluator, row: Value) -> Dim:
    """Return the dimension that is the length of a list."""
    n = length_of_row(ev, row)
    if n is None:
        n = ev.row_lengths[row] = Symbol("n", is_argument=False)
    return n


def note_lengths(ev: Evaluator, ops: list[Op], n: Dim) -> None:
    """Record length `n` for empty lists to which each of `n` iterations appends once."""
    made = {
        op.result
        for op in ev.block
        if isinstance(op, Call) and op.callee == Const(primitives.build_list) and not op.operands
    }
    here = {_row_of_resizing(op, rows.append) for op in ops}
    resized = Counter(
        _row_of_resizing(op, *rows.RESIZING) for op in walk_ops([*ops, *ev.block[:-1]])
    )
    ev.row_lengths |= {row: n for row in made & here if row is not None and resized[row] == 1}


def _row_of_resizing(op: Op, *functions: Any) -> Value | None:
    """Return the list that an operation resizes by one of `functions`."""
    if isinstance(op, Call) and op.callee in [*map(Const, functions)]:
        row = op.operands[0]
        return row if isinstance(row, Value) else None
    return None
