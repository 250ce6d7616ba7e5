"""Loops: unrolled over what is known item by item, kept as loops over everything else."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjoint.fast.covered import NotCovered
from adjoint.fast.generators import consume, is_pushed, through
from adjoint.fast.joining import contents_template, generalise, instantiate, is_number, match
from adjoint.fast.outside import is_plain_object
from adjoint.fast.primitives import yielded
from adjoint.fast.reading import attribute, item
from adjoint.fast.rows import as_row, growing, length_of_row, note_lengths, restorable, row_of
from adjoint.fast.runtime import WRITES, part
from adjoint.fast.types import ANYTHING, Array, Dim, Row, Symbol, Type, number
from adjoint.fast.values import (
    MISSING,
    Abstract,
    DictOf,
    External,
    Generating,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Ref,
    RowOf,
    Slot,
    Tuple,
)
from adjoint.fast.walk import blocks, walk
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, Loop, Operand, Unpack, Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate import Evaluator

__all__ = ["collected", "iterate", "listed", "loop", "search", "steps_of"]

MOST_UNROLLED = 64
MOST_ROUNDS = 8
MOST_APPENDED = 16
"""A list that grows in a loop is known item by item if the loop is not longer."""

Body = Callable[[Abstract, list[Abstract]], "list[Abstract] | None"]


# ---- what is iterated over -----------------------------------------------------------------------


Step = Callable[[], Abstract]


@dataclass(frozen=True, slots=True)
class Steps:
    """What gives the items of an iterable, one after the other, as they are asked for; and what
    tells whether it is still as long."""

    steps: tuple[Step, ...]
    checks: tuple[Callable[[], bool], ...] = ()

    def after(self, i: int) -> Steps:
        """Those behind the one at `i`."""
        return Steps(self.steps[i + 1 :], self.checks)

    def demand_unchanged(self, ev: Evaluator) -> None:
        """What is iterated over must not change its length meanwhile."""
        if not all(check() for check in self.checks):
            raise NotCovered("a container that changes while it is iterated over", ev.span)


def listed(ev: Evaluator, a: Abstract) -> list[Abstract] | None:
    """The items of an iterable, if it is known which they are; else ``None``."""
    if is_pushed(ev, a):
        made = collected(ev, a)
        held = ev.heap[made.address]
        return list(held.items) if isinstance(held, ListOf) else None
    with restorable(ev) as restore:
        steps = steps_of(ev, a)
        if steps is None:
            restore()
    if steps is None:
        return None
    items = []
    for step in steps.steps:
        items.append(step())
        steps.demand_unchanged(ev)
    return items


def collected(ev: Evaluator, xs: Abstract) -> Ref:
    """A list of the items of an iterable."""
    from adjoint.fast.rows import append

    steps = None if is_pushed(ev, xs) else listed(ev, xs)
    if steps is not None:
        return ev.allocate(ListOf(tuple(steps)))
    made = ev.allocate(ListOf(()))

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        append(ev, made, x)
        return carried

    iterate(ev, xs, [], add)
    return made


def opened(ev: Evaluator, a: Abstract) -> Abstract | Generating:
    """What is iterated over. Of an iterator: what it goes through; it is used up."""
    held = ev.heap[a.address] if isinstance(a, Ref) else None
    if not isinstance(held, IteratorOf):
        return a
    if held.what is None:
        raise NotCovered("an iterator that is used more than once", ev.span)
    ev.heap[a.address] = IteratorOf(None)  # type: ignore[union-attr]
    return held.what


def steps_of(ev: Evaluator, a: Abstract) -> Steps | None:
    """The steps of an iteration, if it is known how many there are."""
    a = opened(ev, a)  # type: ignore[assignment]
    if isinstance(a, Iterating):
        return _of_view(ev, a) if a.kind in VIEWS else _steps_through(ev, a)
    if isinstance(a, Ref) and isinstance(held := ev.heap[a.address], ListOf):
        n = len(held.items)
        live = (functools.partial(_live, ev, a.address, i) for i in range(n))
        return Steps(tuple(live), (functools.partial(_is_long, ev, a.address, n),))
    items = ev.sequence(a)
    if items is None and isinstance(a, Known) and isinstance(a.value, tuple | str | range):
        items = tuple(map(Known, a.value)) if len(a.value) <= MOST_UNROLLED else None
    if isinstance(a, External) and type(a.sample) is dict:
        items = tuple(map(Known, a.sample))
    if isinstance(a, Ref) and isinstance(held := ev.heap[a.address], DictOf):
        keys = held.keys
        check = functools.partial(_has_keys, ev, a, keys)
        return Steps(tuple(functools.partial(_itself, Known(key)) for key in keys), (check,))
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array) and t.shape:
        if isinstance(t.shape[0], int) and t.shape[0] <= MOST_UNROLLED:
            return Steps(tuple(functools.partial(item, ev, a, Known(i)) for i in range(t.shape[0])))
    return None if items is None else Steps(tuple(functools.partial(_itself, x) for x in items))


VIEWS = (dict.items, dict.keys, dict.values)


def _of_view(ev: Evaluator, a: Iterating) -> Steps | None:
    """The steps of an iteration over what a dict gives."""
    (mapping,) = a.operands
    keys = _keys_of(ev, mapping)
    if keys is None:
        return None

    def entry(key: Any) -> Abstract:
        if a.kind is dict.keys:
            return Known(key)
        found = item(ev, mapping, Known(key))
        return found if a.kind is dict.values else Tuple((Known(key), found))

    check = functools.partial(_has_keys, ev, mapping, keys)
    return Steps(tuple(functools.partial(entry, key) for key in keys), (check,))


def _has_keys(ev: Evaluator, mapping: Abstract, keys: tuple[Any, ...]) -> bool:
    return _keys_of(ev, mapping) == keys


def _keys_of(ev: Evaluator, mapping: Abstract) -> tuple[Any, ...] | None:
    """The keys of a dict, if it is one."""
    if isinstance(mapping, External) and type(mapping.sample) is dict:
        return tuple(mapping.sample)
    held = ev.heap.get(mapping.address) if isinstance(mapping, Ref) else None
    return held.keys if isinstance(held, DictOf) else None


def _is_long(ev: Evaluator, address: int, n: int) -> bool:
    held = ev.heap[address]
    return isinstance(held, ListOf) and len(held.items) == n


def _live(ev: Evaluator, address: int, i: int) -> Abstract:
    held = ev.heap[address]
    assert isinstance(held, ListOf)
    return held.items[i]


def _itself(x: Abstract) -> Abstract:
    return x


def _steps_through(ev: Evaluator, a: Iterating) -> Steps | None:
    if a.kind is range:
        if not all(isinstance(x, Known) for x in a.operands):
            return None
        known = range(*[x.value for x in a.operands])  # type: ignore[union-attr]
        if len(known) > MOST_UNROLLED:
            return None
        return Steps(tuple(functools.partial(_itself, Known(i)) for i in known))
    start = a.operands[1] if a.kind is enumerate and len(a.operands) > 1 else Known(0)
    if not isinstance(start, Known) or a.kind is filter:
        return None
    columns: list[tuple[Step, ...]] = []
    checks: list[Callable[[], bool]] = []
    for x in a.operands[:1] if a.kind is enumerate else a.operands:
        column = steps_of(ev, x)
        if column is None:
            return None
        columns.append(column.steps)
        checks += column.checks
    _demand_even(ev, a, columns)
    rows = list(zip(*columns, strict=False))
    if a.kind is reversed:
        rows.reverse()
    made = (functools.partial(_row, ev, a, row, i) for i, row in enumerate(rows, start.value))
    return Steps(tuple(made), tuple(checks))


def _demand_even(ev: Evaluator, a: Iterating, columns: list[tuple[Step, ...]]) -> None:
    """Where columns have different lengths, Python asks some of them for one item more."""
    if len({len(column) for column in columns}) > 1:
        if a.strict:
            raise NotCovered("zip(strict=True) of different lengths", ev.span)
        for x in a.operands:
            held = ev.heap[x.address] if isinstance(x, Ref) else None
            if isinstance(held, IteratorOf):
                raise NotCovered("iterators of different lengths", ev.span)


def _row(ev: Evaluator, a: Iterating, row: tuple[Step, ...], i: int) -> Abstract:
    found = [step() for step in row]
    if a.kind is zip:
        return Tuple(tuple(found))
    if a.kind is enumerate:
        return Tuple((Known(i), *found))
    return _mapped(ev, a, found) if a.kind is map else found[0]


Source = tuple[Operand, Type, Callable[[Value], Abstract], "Dim | None"]


def _source(ev: Evaluator, a: Abstract) -> Source | None:
    """An iterable of the program: what is iterated over, the type of the item that the loop takes,
    what that stands for, and how many there are, if a dimension says so; ``None`` where it has to
    be unrolled."""
    a = opened(ev, a)  # type: ignore[assignment]
    row = row_of(ev, a)
    if row is not None:
        t = ev.types[row]
        assert isinstance(t, Row)
        return row, t.item, lambda x: x, length_of_row(ev, row)
    if isinstance(a, Value):
        t = ev.types[a]
        if isinstance(t, Array) and t.shape:
            inner = t.shape[1:]
            of_item: Type = Array(t.dtype, inner) if inner else number(t.dtype.type)
            return a, of_item, lambda x: x, t.shape[0]
        return None
    if not isinstance(a, Iterating) or a.kind is filter or a.kind in VIEWS:
        return None
    if a.kind is range:
        operands = tuple(map(ev.operand, a.operands))
        for x in a.operands:
            if isinstance(x, Value) and ev.types[x] != number(int):
                raise NotCovered("range of something else than integers", ev.span)
        n = ev.dims.get(operands[0]) if len(operands) == 1 else None  # type: ignore[arg-type]
        steps = ev.operation(range, operands, ANYTHING, name="steps")
        return steps, number(int), lambda x: x, n
    operands_ = a.operands[:1] if a.kind is enumerate else a.operands
    inner_sources = [_source(ev, x) for x in operands_]
    if all(x is None for x in inner_sources):
        return None
    inner_sources = [
        _source_of_few(ev, x) if source is None else source
        for x, source in zip(operands_, inner_sources, strict=True)
    ]
    if any(x is None for x in inner_sources):
        return None
    if a.strict:
        _demand_same_length(ev, operands_)
    sources: list[Any] = inner_sources
    if a.kind in (iter, reversed) or (a.kind is map and len(sources) == 1):
        operand, t, meaning, n = sources[0]
        if a.kind is reversed:
            operand = _turned(ev, operand)
        if a.kind is map:
            return operand, t, lambda x: _mapped(ev, a, [meaning(x)]), n
        return operand, t, meaning, n
    if a.kind is enumerate:
        rest = tuple(map(ev.operand, a.operands[1:]))
        sources = [(None, number(int), lambda x: x, sources[0][3]), *sources]
        iterable = ev.operation(enumerate, (sources[1][0], *rest), ANYTHING, name="steps")
    else:
        iterable = ev.operation(zip, [x[0] for x in sources], ANYTHING, name="steps")

    def meaning_of(x: Value) -> Abstract:
        columns = [ev.value(source[1], name="x") for source in sources]
        ev.write(Unpack(tuple(columns), x, None, ev.span))
        items = [source[2](c) for source, c in zip(sources, columns, strict=True)]
        return _mapped(ev, a, items) if a.kind is map else Tuple(tuple(items))

    lengths = {source[3] for source in sources}
    n = lengths.pop() if len(lengths) == 1 else None
    if n is None and all(map(_is_some, lengths)):
        n = Symbol("least")  # one of them, which nobody is asked for
    return iterable, ANYTHING, meaning_of, n


def _is_some(n: Dim | None) -> bool:
    """Whether a dimension is known not to be zero."""
    return n is not None and (n > 0 if isinstance(n, int) else n.is_argument)


def _source_of_few(ev: Evaluator, a: Abstract) -> Source | None:
    """Numbers that are known one by one, beside an iterable of the program."""
    items = ev.sequence(a) if not isinstance(a, Value | Known) else None
    if not items or not all(is_number(x, ev.types) for x in items):
        return None
    row = as_row(ev, ev.allocate(ListOf(items)).address)
    t = ev.types[row]
    assert isinstance(t, Row)
    return row, t.item, lambda x: x, len(items)


def _turned(ev: Evaluator, operand: Operand) -> Operand:
    """What is iterated over backwards."""
    assert isinstance(operand, Value)
    t = ev.types[operand]
    if isinstance(t, Row):
        if operand in ev.written:
            ev.turned.add(operand)
        return ev.operation(part, (operand, Const(slice(None, None, -1))), t)
    if isinstance(t, Array) and operand not in ev.written:
        return ev.operation(operator.getitem, (operand, Const(slice(None, None, -1))), t)
    return ev.operation(reversed, (operand,), ANYTHING, name="steps")


def _demand_same_length(ev: Evaluator, operands: tuple[Abstract, ...]) -> None:
    """``zip(strict=True)`` raises where that is not so."""
    lengths = {
        t.shape[0] if isinstance(x, Value) and isinstance(t := ev.types[x], Array) else None
        for x in operands
    }
    if len(lengths) > 1 or None in lengths:
        raise NotCovered("zip(strict=True) of lengths that are not known", ev.span)


def _mapped(ev: Evaluator, a: Iterating, items: list[Abstract]) -> Abstract:
    from adjoint.fast.calls import call

    assert a.function is not None
    return call(ev, a.function, items, {})


# ---- loops of the program ------------------------------------------------------------------------


def loop(ev: Evaluator, op: Loop) -> bool:
    """Run a loop of the function; whether its end is ever reached."""
    values = ev.frames[-1].values
    frame = ev.frames[-1]
    carried = [ev.read(x) for x in op.initial]

    def body(x: Abstract | None, now: list[Abstract]) -> list[Abstract] | None:
        given = now if x is None else [x, *now]
        frame.values.update(zip(op.body.parameters, given, strict=True))
        return ev.run(op.body)

    run, stops = body, op.stops
    if frame.consumer is not None and frame.consumer.stops and _yields(op):
        run, stops = frame.consumer.stopping(ev, body, op.stops), True
    if op.iterable is not None:
        found = _for(ev, ev.read(op.iterable), carried, run, stops, op)
    else:
        found = growing(ev, lambda: _while(ev, carried, op, lambda now: run(None, now), stops))
    if found is None:
        return False
    values.update(zip(op.results, found[stops and not op.stops :], strict=True))
    return True


def iterate(ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body) -> list[Abstract]:
    """A fold over an iterable, without leaving it early."""
    found = _for(ev, xs, carried, body, False)
    if found is None:
        raise NotCovered("a loop that always raises", ev.span)
    return found


def search(ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body) -> list[Abstract]:
    """A fold that `body` may end: it gives, in front of what is carried, whether to go on; so does
    this, whether it went on to the end."""
    found = _for(ev, xs, carried, body, True)
    if found is None:
        raise NotCovered("a loop that always raises", ev.span)
    return found


def _yields(op: Loop) -> bool:
    return any(isinstance(x, Call) and x.callee == Const(yielded) for x in walk(op.body))


def _for(
    ev: Evaluator,
    xs: Abstract,
    carried: list[Abstract],
    body: Callable[[Any, list[Abstract]], list[Abstract] | None],
    stops: bool,
    op: Loop | None = None,
) -> list[Abstract] | None:
    xs = _iterator_of(ev, xs)
    if is_pushed(ev, xs):
        variables = op.body.parameters[1:] if op is not None else ()
        return _pushed(ev, xs, carried, body, stops, variables[0].name if variables else "total")
    span = ev.span if op is None else op.span
    names = ("total",) * len(carried)
    item = "x"
    if op is not None:
        item, *rest = [p.name for p in op.body.parameters]
        names = tuple(rest)

    def kept() -> list[Abstract] | None:
        source = _source(ev, xs)
        if source is None:
            raise _Unrolled
        return _kept(ev, _Carried(ev, carried, names), body, source, stops, span, item)

    with restorable(ev) as restore:
        try:
            return growing(ev, kept, lambda: _is_short(ev, xs))
        except NotCovered as error:
            restore()
            steps = None if isinstance(error, _Unrolled) else _unrollable(ev, xs)
            if steps is not None:
                return _unrolled(ev, steps, carried, body, stops)
            if not isinstance(error, _Unrolled):
                raise
    steps = steps_of(ev, xs)
    if steps is None:
        raise NotCovered("a loop over something that is not known", ev.span)
    return _unrolled(ev, steps, carried, body, stops)


def _iterator_of(ev: Evaluator, xs: Abstract) -> Abstract:
    """What an object of the user's gives for ``iter(xs)``."""
    from adjoint.fast.calls import call, class_of

    cls = class_of(ev, xs)
    if cls is None or not is_plain_object(cls) or isinstance(xs, Known):
        return xs
    if "__iter__" not in dir(cls):
        return xs
    return call(ev, attribute(ev, Known(cls), "__iter__"), [xs], {})


class _Unrolled(NotCovered):
    """It is not a loop of the program."""

    def __init__(self) -> None:
        super().__init__("a loop over something that is not known")


def _is_short(ev: Evaluator, xs: Abstract) -> bool:
    """Whether a list that grows in a loop has few items afterwards."""
    with restorable(ev) as restore:
        steps = steps_of(ev, xs)
        restore()
    most = MOST_APPENDED if ev.outside.rows else MOST_UNROLLED
    return steps is not None and len(steps.steps) <= most


def _pushed(
    ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body, stops: bool, name: str
) -> list[Abstract] | None:
    """An iteration over what runs its body by itself."""
    what = opened(ev, xs)
    if isinstance(what, Generating):
        return consume(ev, what, carried, body, stops, name)
    assert isinstance(what, Iterating)
    inner, run = through(ev, what, carried, body, stops)
    found = _for(ev, what.operands[0], inner, run, stops)
    if found is None:
        return None
    return [*found[:stops], *found[stops + len(inner) - len(carried) :]]


def _unrollable(ev: Evaluator, xs: Abstract) -> Steps | None:
    """The items of what could not be kept as a loop, if they are few."""
    steps = steps_of(ev, xs)
    return steps if steps is not None and len(steps.steps) <= MOST_UNROLLED else None


def _unrolled(
    ev: Evaluator,
    steps: Steps,
    carried: list[Abstract],
    body: Callable[[Any, list[Abstract]], list[Abstract] | None],
    stops: bool,
) -> list[Abstract] | None:
    """One iteration after the other; where an iteration may leave the loop, the others are behind
    a test."""
    for i, step in enumerate(steps.steps):
        found = body(step(), carried)
        if found is None:
            return None
        steps.demand_unchanged(ev)
        if not stops:
            carried = found
            continue
        on, carried = found[0], found[1:]
        if isinstance(on, Known):
            if not on.value:
                return [Known(False), *carried]
            continue
        rest, now = steps.after(i), carried
        return ev.branch(
            on,  # type: ignore[arg-type]
            lambda: _unrolled(ev, rest, now, body, True),
            lambda: [Known(False), *now],
            ev.span,
        )
    return [Known(True), *carried] if stops else carried


class _Carried:
    """What a loop carries: a template for each variable, and for what it changes in the heap."""

    def __init__(self, ev: Evaluator, carried: list[Abstract], names: tuple[str, ...]) -> None:
        self.ev, self.names = ev, names
        self.initial = carried
        self.templates: list[Any] = list(carried)
        self.before = dict(ev.heap)
        self.heap: dict[int, Any] = {}
        self.rows: dict[Value, Type] = {}

    def begin(self) -> tuple[list[Abstract], tuple[Value, ...]]:
        """What an iteration begins with, and the parameters that it takes for it."""
        parameters: list[Value] = []
        name = ""

        def new(slot: Slot) -> Value:
            parameters.append(self.ev.value(slot.type, name=name))
            if slot.maybe:
                self.ev.maybe.add(parameters[-1])
            return parameters[-1]

        heap = dict(self.before)
        rows = [held.value for held in heap.values() if isinstance(held, RowOf)]
        self.rows = {row: self.ev.types[row] for row in rows}
        now = []
        for template, name in zip(self.templates, self.names, strict=True):  # noqa: B007
            now.append(instantiate(template, new))
        for address, template in self.heap.items():
            name = getattr(template, "name", "held")
            heap[address] = instantiate(template, new)
        self.ev.heap = heap
        return now, tuple(parameters)

    def widen(self, found: list[Abstract]) -> bool:
        """Widen the templates by what an iteration ends with; whether anything was new."""
        types = self.ev.types
        changed = any(types[row] != t for row, t in self.rows.items())
        made = [generalise(t, x, types) for t, x in zip(self.templates, found, strict=True)]
        changed |= any(x is not y and x != y for x, y in zip(made, self.templates, strict=True))
        self.templates = made
        for address, held in self.before.items():
            after = self.ev.heap[address]
            known = self.heap.get(address)
            if known is None:
                if after is not held:
                    self.heap[address] = contents_template(held, after, types, address)
                    changed = True
                continue
            wider = generalise(known, after, types)
            if wider is not known:
                self.heap[address] = wider
                changed = True
        return changed

    def operands(self, carried: list[Abstract], heap: dict[int, Any]) -> tuple[Operand, ...]:
        """What goes into the slots."""
        found: list[Operand] = []
        for template, x in zip(self.templates, carried, strict=True):
            match(template, x, found)
        for address, template in self.heap.items():
            match(template, heap[address], found)
        return tuple(found)


def _kept(
    ev: Evaluator,
    state: _Carried,
    body: Callable[[Any, list[Abstract]], list[Abstract] | None],
    source: Source,
    stops: bool,
    span: Span | None,
    name: str,
) -> list[Abstract] | None:
    """A ``for`` loop of the program."""
    iterable, item_type, meaning, n = source
    turned, ev.turned = ev.turned, set()
    for _ in range(MOST_ROUNDS):
        with ev.writing() as ops:
            now, parameters = state.begin()
            x = ev.value(item_type, name=name if not name.startswith("_") else "item")
            found = body(meaning(x), now)
        if found is None:
            raise NotCovered("a loop whose iterations never reach their end", ev.span)
        on, after = (found[0], found[1:]) if stops else (None, found)
        heap = ev.heap
        if not state.widen(after):
            break
    else:
        raise NotCovered("a loop whose types do not settle", ev.span)
    results = state.operands(after, heap)
    if on is not None:
        results = (ev.operand(on), *results)
    block = Block((x, *parameters), tuple(ops), results)
    found = _ended(ev, state, iterable, None, block, stops, span)
    if _is_some(n):
        _narrow(ev, found[stops:], after)
    if turned and not turned.isdisjoint(_written_in(ops)):
        raise NotCovered("a list that changes while it is iterated over", ev.span)
    if n is not None and not stops:
        note_lengths(ev, ops, n)
    return found


def _written_in(ops: list[Any]) -> set[Any]:
    """What some operations write to."""
    inner = [op for outer in ops for block in blocks(outer) for op in walk(block)]
    return {
        op.operands[0]
        for op in (*ops, *inner)
        if isinstance(op, Call) and isinstance(op.callee, Const) and op.callee.value in WRITES
    }


def _narrow(ev: Evaluator, results: list[Abstract], after: list[Abstract]) -> None:
    """What a loop of at least one iteration ends with is of the type that an iteration ends
    with."""
    for result, last in zip(results, after, strict=True):
        if isinstance(result, Value) and isinstance(last, Value):
            ev.types[result] = ev.types[last]
            if last not in ev.maybe:
                ev.maybe.discard(result)


def _ended(
    ev: Evaluator,
    state: _Carried,
    iterable: Operand | None,
    test: Block | None,
    body: Block,
    stops: bool,
    span: Span | None,
) -> list[Abstract]:
    """Write the loop; what is known after it."""
    initial = state.operands(state.initial, state.before)
    now, parameters = state.begin()
    on: list[Value] = [ev.value(number(bool), name="done")] if stops else []
    ev.write(Loop((*on, *parameters), initial, iterable, test, body, stops, span))
    return [*on, *now]


def _while(
    ev: Evaluator,
    initial: list[Abstract],
    op: Loop,
    body: Callable[[list[Abstract]], list[Abstract] | None],
    stops: bool,
) -> list[Abstract] | None:
    """A ``while`` loop of the program."""
    from adjoint.fast.calls import truth

    assert op.test is not None
    frame = ev.frames[-1]
    state = _Carried(ev, initial, tuple(p.name for p in op.body.parameters))
    for _ in range(MOST_ROUNDS):
        with ev.writing() as test_ops:
            now, parameters = state.begin()
            frame.values.update(zip(op.test.parameters, now, strict=True))
            tested = ev.run(op.test)
            if tested is None:
                raise NotCovered("a test that always raises", ev.span)
            condition = truth(ev, tested[0])
            # what nothing reads any more is not handed on, but is still there
            passed = [x if y is MISSING else y for x, y in zip(now, tested[1:], strict=True)]
            tested = [tested[0], *passed]
        heap_tested = ev.heap
        if isinstance(condition, Known) and not condition.value:
            if any(isinstance(p, Value) for p in parameters):
                raise NotCovered("a loop that ends in its second iteration", ev.span)
            ev.block.extend(test_ops)
            return [*([Known(True)] if stops else []), *tested[1:]]
        if state.widen(tested[1:]):
            continue
        with ev.writing() as ops:
            inner, inner_parameters = state.begin()
            found = body(inner)
        if found is None:
            raise NotCovered("a loop whose iterations never reach their end", ev.span)
        on, after = (found[0], found[1:]) if stops else (None, found)
        heap = ev.heap
        if not state.widen(after):
            break
    else:
        raise NotCovered("a loop whose types do not settle", ev.span)
    condition_operand = ev.operand(condition)
    if state.operands(tested[1:], heap_tested) != parameters:
        raise NotCovered("a test that assigns variables", op.span)
    test = Block(
        parameters, tuple(test_ops), (condition_operand, *state.operands(tested[1:], heap_tested))
    )
    results = state.operands(after, heap)
    if on is not None:
        results = (ev.operand(on), *results)
    return _ended(
        ev, state, None, test, Block(inner_parameters, tuple(ops), results), stops, op.span
    )
