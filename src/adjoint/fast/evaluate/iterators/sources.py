"""Iterables of loops of the program, as columns.

    for i, (x, y) in enumerate(zip(a, b)):        for i, x, y in zip(count(0), a, b):

Iterators within others are one `zip`, so that each pass knows what an iteration takes.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from functools import partial

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.items import item, length_of
from adjoint.fast.evaluate.iterables import UNEVEN, VIEWS, is_some, mapped, opened
from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.objects.records import filled, records
from adjoint.fast.evaluate.rows import as_row, length_of_row, noted_item, row_of
from adjoint.fast.evaluate.types import ANYTHING, Array, Dim, Row, Symbol, Type, number
from adjoint.fast.evaluate.values import Abstract, Iterating, IteratorOf, Known, ListOf, Ref, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.rows import part
from adjoint.ir.node import node
from adjoint.ir.single import Const, Operand, Unpack, Value

Source = tuple[Operand, Type, Callable[[Value], Abstract], "Dim | None"]


@node(eq=False)
class Columns:
    """What an iteration takes: the iterables, with the types of their items; a function from the
    items to the abstract value that they are together; the number of items, or ``None``."""

    operands: tuple[tuple[Operand, Type], ...]
    meaning: Callable[[Sequence[Value]], Abstract]
    length: Dim | None


def source_of(ev: Evaluator, a: Abstract) -> Source | None:
    """Return an iterable of the program, or ``None`` if the loop has to be unrolled.

    The parts are the iterable, the type of its item, a function from the item to its abstract
    value, and the number of items as a dimension, or ``None``.
    """
    found = _columns_of(ev, a)
    if found is None:
        return None
    columns, meaning = found.operands, found.meaning
    if len(columns) == 1:
        ((operand, t),) = columns
        return operand, t, lambda x: meaning([x]), found.length
    operands = [operand for operand, _ in columns]
    first = ev.defined.get(operands[0])  # type: ignore[arg-type]
    if len(columns) == 2 and getattr(first, "callee", None) == Const(itertools.count):
        start = first.operands if first.operands != (Const(0),) else ()  # type: ignore[union-attr]
        iterable = ev.operation(enumerate, (operands[1], *start), ANYTHING, name="steps")
    else:
        iterable = ev.operation(zip, operands, ANYTHING, name="steps")

    def meaning_of(x: Value) -> Abstract:
        items = [ev.value(t, name="x") for _, t in columns]
        ev.write(Unpack(tuple(items), x, None, ev.span))
        return meaning(items)

    return iterable, ANYTHING, meaning_of, found.length


def _one(operand: Operand, t: Type, meaning: Callable[[Value], Abstract], n: Dim | None) -> Columns:
    return Columns(((operand, t),), lambda xs: meaning(xs[0]), n)


def _columns_of(ev: Evaluator, a: Abstract) -> Columns | None:
    a = opened(ev, a)  # type: ignore[assignment]
    if (held := records(ev, a)) is not None:
        inner = _joined([x for x in map(partial(_columns_of, ev), held.items) if x is not None])
        return Columns(inner.operands, lambda xs: filled(ev, held, [*xs]), inner.length)
    row = row_of(ev, a)
    if row is not None:
        if row in ev.keys_of:
            ev.copied.add(ev.keys_of[row])
        meaning = partial(_taken, ev, row)
        return _one(row, ev.row_type(row).item, meaning, length_of_row(ev, row))
    if isinstance(a, Value):
        t = ev.types[a]
        return _of_array(ev, a, t) if isinstance(t, Array) and t.shape else None
    if not isinstance(a, Iterating) or a.kind is filter or a.kind in VIEWS:
        return None
    if a.kind is range:
        operands = tuple(map(ev.operand, a.operands))
        for x in a.operands:
            if isinstance(x, Value) and ev.types[x] != number(int):
                raise NotCovered("range of something else than integers", ev.span)
        n = ev.dims.get(operands[0]) if len(operands) == 1 else None  # type: ignore[arg-type]
        steps = ev.operation(range, operands, ANYTHING, name="steps")
        return _one(steps, number(int), lambda x: x, n)
    return _through(ev, a)


def _through(ev: Evaluator, a: Iterating) -> Columns | None:
    """Return the columns of ``zip``, ``enumerate``, ``map``, ``reversed`` or ``iter``."""
    operands = a.operands[:1] if a.kind is enumerate else a.operands
    runs_code = any(_runs_code(ev, x) for x in operands[:-1])
    sources = [_columns_of(ev, x) for x in operands]
    if all(x is None for x in sources):
        return None
    pairs = zip(operands, sources, strict=True)
    sources = [_of_few(ev, x) if source is None else source for x, source in pairs]
    found = [x for x in sources if x is not None]
    if len(found) < len(sources):
        return None
    if a.strict:
        _demand_same_length(ev, operands)
    lengths = {x.length for x in found}
    if runs_code and (len(lengths) > 1 or None in lengths):
        raise NotCovered(UNEVEN, ev.span)
    if a.kind is iter:
        return found[0]
    if a.kind is reversed:
        turned = tuple((_reversed(ev, x), t) for x, t in found[0].operands)
        return Columns(turned, found[0].meaning, found[0].length)
    if a.kind is enumerate:
        start = tuple(map(ev.operand, a.operands[1:])) or (Const(0),)
        counter = ev.operation(itertools.count, start, ANYTHING, name="steps")
        found.insert(0, _one(counter, number(int), lambda x: x, found[0].length))
    inner = _joined(found)
    if a.kind is not map:
        return inner

    def meaning(xs: Sequence[Value]) -> Abstract:
        items = inner.meaning(xs)
        assert isinstance(items, Tuple)
        return mapped(ev, a, [*items.items])

    return Columns(inner.operands, meaning, inner.length)


def _joined(found: Sequence[Columns]) -> Columns:
    """Return the columns of iterables that are zipped."""

    def meaning(xs: Sequence[Value]) -> Abstract:
        left = iter(xs)
        items = [one.meaning([next(left) for _ in one.operands]) for one in found]
        return Tuple(tuple(items))

    operands = tuple(x for one in found for x in one.operands)
    return Columns(operands, meaning, _least({one.length for one in found}))


def _of_array(ev: Evaluator, a: Value, t: Array) -> Columns:
    """Return the source for an array: of rows that the body writes to, their places."""
    if a in ev.counted:
        steps = ev.operation(range, (ev.operand(length_of(ev, a, 0)),), ANYTHING, name="steps")
        return _one(steps, number(int), lambda i: item(ev, a, i), t.shape[0])
    inner = t.shape[1:]
    if not inner:
        return _one(a, number(t.dtype.type), lambda x: x, t.shape[0])

    def row(x: Value) -> Value:
        ev.rows_of[x] = a
        return x

    return _one(a, Array(t.dtype, inner), row, t.shape[0])


def _runs_code(ev: Evaluator, a: Abstract) -> bool:
    """Return whether an iterable runs a function for each item: then the extra item that Python
    consumes before another iterable ends matters."""
    held = ev.held(a)
    what = held.source if isinstance(held, IteratorOf) else a
    if not isinstance(what, Iterating):
        return False
    return what.kind in (map, filter) or any(_runs_code(ev, x) for x in what.operands)


def _least(lengths: set[Dim | None]) -> Dim | None:
    """Return the least of some lengths, as far as known."""
    if len(lengths) == 1:
        (n,) = lengths
        return n
    if not all(map(is_some, lengths)):
        return None
    known = [n for n in lengths if isinstance(n, int)]
    if len(known) == len(lengths) or 1 in known:
        return min(known)
    of_these = sorted((n for n in lengths if n is not None), key=str)
    return Symbol("least", key=("smaller", *of_these))  # not 1, since none of them is


def _taken(ev: Evaluator, row: Value, x: Value) -> Value:
    """Return an item of a list; note that it is a key of a dict."""
    if ev.keys_of.get(row) is row:
        ev.keys_of[x] = row
    return noted_item(ev, x)


def _of_few(ev: Evaluator, a: Abstract) -> Columns | None:
    """Return the column of a list of known length, to be zipped with an iterable of the program."""
    items = ev.sequence(a) if not isinstance(a, Value | Known) else None
    if not items or not all(is_number(x, ev.types) for x in items):
        return None
    if isinstance(a, Ref):
        ev.copied.add(a.address)
    row = as_row(ev, ev.allocate(ListOf(items)).address)
    return _one(row, ev.row_type(row).item, lambda x: x, len(items))


def _reversed(ev: Evaluator, operand: Operand) -> Operand:
    """Return an iterable in reverse order."""
    assert isinstance(operand, Value)
    t = ev.types[operand]
    if isinstance(t, Row):
        ev.copied.add(operand)
        return ev.operation(part, (operand, Const(slice(None, None, -1))), t)
    if isinstance(t, Array) and operand not in ev.written:
        return ev.operation(operator.getitem, (operand, Const(slice(None, None, -1))), t)
    return ev.operation(reversed, (operand,), ANYTHING, name="steps")


def _demand_same_length(ev: Evaluator, operands: tuple[Abstract, ...]) -> None:
    """Require equal known lengths for ``zip(strict=True)``."""
    lengths = {
        t.shape[0] if isinstance(x, Value) and isinstance(t := ev.types[x], Array) else None
        for x in operands
    }
    if len(lengths) > 1 or None in lengths:
        raise NotCovered("zip(strict=True) of lengths that are not known", ev.span)
