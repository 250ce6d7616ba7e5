"""Loops: unrolled over what is known item by item, kept as loops over everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adjoint.fast.covered import NotCovered
from adjoint.fast.joining import contents_template, generalise, instantiate, match
from adjoint.fast.reading import item
from adjoint.fast.types import ANYTHING, Array, Type, number
from adjoint.fast.values import Abstract, External, Iterating, Known, ListOf, Ref, Slot, Tuple
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Loop, Operand, Unpack, Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate import Evaluator

__all__ = ["iterate", "listed", "loop"]

MOST_UNROLLED = 64
MOST_ROUNDS = 8

Body = Callable[[Abstract, list[Abstract]], "list[Abstract] | None"]


# ---- what is iterated over -----------------------------------------------------------------------


def listed(ev: Evaluator, a: Abstract) -> list[Abstract] | None:
    """The items of an iterable, if it is known which they are; else ``None``."""
    items = ev.sequence(a)
    if items is not None:
        return list(items)
    if isinstance(a, Known) and isinstance(a.value, tuple | str | range):
        return [Known(x) for x in a.value] if len(a.value) <= MOST_UNROLLED else None
    if isinstance(a, External) and type(a.sample) is dict:
        return [Known(key) for key in a.sample]
    if isinstance(a, Ref):
        held = ev.heap[a.address]
        keys = getattr(held, "keys", None)
        return None if keys is None else [Known(key) for key in keys]
    if isinstance(a, Iterating):
        return _listed_iterator(ev, a)
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array) and t.shape:
        if isinstance(t.shape[0], int) and t.shape[0] <= MOST_UNROLLED:
            return [item(ev, a, Known(i)) for i in range(t.shape[0])]
    return None


def _listed_iterator(ev: Evaluator, a: Iterating) -> list[Abstract] | None:
    if a.kind is range:
        if not all(isinstance(x, Known) for x in a.operands):
            return None
        known = range(*[x.value for x in a.operands])  # type: ignore[union-attr]
        return [Known(i) for i in known] if len(known) <= MOST_UNROLLED else None
    operands = a.operands[:1] if a.kind is enumerate else a.operands
    columns = [listed(ev, x) for x in operands]
    if any(column is None for column in columns):
        return None
    rows = list(zip(*columns, strict=False))  # type: ignore[arg-type]
    if a.kind is zip:
        return [Tuple(row) for row in rows]
    if a.kind is enumerate:
        start = a.operands[1] if len(a.operands) > 1 else Known(0)
        if not isinstance(start, Known):
            return None
        return [Tuple((Known(i), row[0])) for i, row in enumerate(rows, start.value)]
    if a.kind is map:
        from adjoint.fast.calls import call

        assert a.function is not None
        return [call(ev, a.function, list(row), {}) for row in rows]
    if a.kind is reversed:
        return [row[0] for row in reversed(rows)]
    return [row[0] for row in rows]


def _source(ev: Evaluator, a: Abstract) -> tuple[Operand, Type, Callable[[Value], Abstract]] | None:
    """An iterable of the program: what is iterated over, the type of the item that the loop takes,
    and what that stands for; ``None`` where it has to be unrolled."""
    if isinstance(a, Value):
        t = ev.types[a]
        if isinstance(t, Array) and t.shape:
            inner = t.shape[1:]
            of_item: Type = Array(t.dtype, inner) if inner else number(t.dtype.type)
            return a, of_item, lambda x: x
        return None
    if not isinstance(a, Iterating):
        return None
    if a.kind is range:
        operands = tuple(map(ev.operand, a.operands))
        for x in a.operands:
            if isinstance(x, Value) and ev.types[x] != number(int):
                raise NotCovered("range of something else than integers", ev.span)
        return ev.operation(range, operands, ANYTHING, name="steps"), number(int), lambda x: x
    operands_ = a.operands[:1] if a.kind is enumerate else a.operands
    inner_sources = [_source(ev, x) for x in operands_]
    if any(x is None for x in inner_sources):
        return None
    sources: list[Any] = inner_sources
    if a.kind in (iter, reversed) or (a.kind is map and len(sources) == 1):
        operand, t, meaning = sources[0]
        if a.kind is reversed:
            operand = ev.operation(reversed, (operand,), ANYTHING, name="steps")
        if a.kind is map:
            return operand, t, lambda x: _mapped(ev, a, [meaning(x)])
        return operand, t, meaning
    if a.kind is enumerate:
        rest = tuple(map(ev.operand, a.operands[1:]))
        sources = [(None, number(int), lambda x: x), *sources]
        iterable = ev.operation(enumerate, (sources[1][0], *rest), ANYTHING, name="steps")
    else:
        iterable = ev.operation(zip, [x[0] for x in sources], ANYTHING, name="steps")

    def meaning_of(x: Value) -> Abstract:
        columns = [ev.value(t, name="x") for _, t, _ in sources]
        ev.write(Unpack(tuple(columns), x, None, ev.span))
        items = [meaning(c) for (_, _, meaning), c in zip(sources, columns, strict=True)]
        return _mapped(ev, a, items) if a.kind is map else Tuple(tuple(items))

    return iterable, ANYTHING, meaning_of


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

    if op.iterable is not None:
        found = _for(ev, ev.read(op.iterable), carried, body, op)
    else:
        found = _while(ev, carried, op, lambda now: body(None, now))
    if found is None:
        return False
    values.update(zip(op.results, found, strict=True))
    return True


def iterate(ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body) -> list[Abstract]:
    """A fold over an iterable, without leaving it early."""
    found = _for(ev, xs, carried, body, None)
    if found is None:
        raise NotCovered("a loop that always raises", ev.span)
    return found


def _for(
    ev: Evaluator,
    xs: Abstract,
    carried: list[Abstract],
    body: Callable[[Any, list[Abstract]], list[Abstract] | None],
    op: Loop | None,
) -> list[Abstract] | None:
    stops = op is not None and op.stops
    span = ev.span if op is None else op.span
    names = ("total",) * len(carried)
    item = "x"
    if op is not None:
        item, *rest = [p.name for p in op.body.parameters]
        names = tuple(rest)
    with _restorable(ev) as restore:
        try:
            source = _source(ev, xs)
            if source is not None:
                return _kept(ev, _Carried(ev, carried, names), body, source, stops, span, item)
        except NotCovered:
            restore()
            items = _unrollable(ev, xs)
            if items is None:
                raise
            return _unrolled(ev, items, carried, body, stops)
    items = listed(ev, xs)
    if items is None:
        raise NotCovered("a loop over something that is not known", ev.span)
    return _unrolled(ev, items, carried, body, stops)


def _unrollable(ev: Evaluator, xs: Abstract) -> list[Abstract] | None:
    """The items of what could not be kept as a loop, if they are few."""
    items = listed(ev, xs)
    return items if items is not None and len(items) <= MOST_UNROLLED else None


@contextmanager
def _restorable(ev: Evaluator) -> Iterator[Callable[[], None]]:
    """A way back to what has been written so far."""
    heap, length, frames, span = dict(ev.heap), len(ev.block), len(ev.frames), ev.span
    block = ev.block

    def restore() -> None:
        ev.heap = dict(heap)
        ev.block = block
        del ev.block[length:]
        del ev.frames[frames:]
        ev.span = span

    yield restore


def _unrolled(
    ev: Evaluator,
    items: list[Abstract],
    carried: list[Abstract],
    body: Callable[[Any, list[Abstract]], list[Abstract] | None],
    stops: bool,
) -> list[Abstract] | None:
    """One iteration after the other; where an iteration may leave the loop, the others are behind
    a test."""
    held = dict(ev.heap)
    for i, x in enumerate(items):
        found = body(x, carried)
        if found is None:
            return None
        _demand_unchanged(ev, held, items)
        if not stops:
            carried = found
            continue
        on, carried = found[0], found[1:]
        if isinstance(on, Known):
            if not on.value:
                return [Known(False), *carried]
            continue
        rest, now = items[i + 1 :], carried
        return ev.branch(
            on,  # type: ignore[arg-type]
            lambda: _unrolled(ev, rest, now, body, True),
            lambda: [Known(False), *now],
            ev.span,
        )
    return [Known(True), *carried] if stops else carried


def _demand_unchanged(ev: Evaluator, held: dict[int, Any], items: list[Abstract]) -> None:
    """A list whose items are known must not change its length while it is iterated over."""
    for address, before in held.items():
        now = ev.heap.get(address)
        if now is not before and isinstance(before, ListOf) and isinstance(now, ListOf):
            same = len(before.items) == len(items) and all(
                x is y for x, y in zip(before.items, items, strict=True)
            )
            if same and items:
                raise NotCovered("a list that changes while it is iterated over", ev.span)


class _Carried:
    """What a loop carries: a template for each variable, and for what it changes in the heap."""

    def __init__(self, ev: Evaluator, carried: list[Abstract], names: tuple[str, ...]) -> None:
        self.ev, self.names = ev, names
        self.initial = carried
        self.templates: list[Any] = list(carried)
        self.before = dict(ev.heap)
        self.heap: dict[int, Any] = {}

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
        now = []
        for template, name in zip(self.templates, self.names, strict=True):  # noqa: B007
            now.append(instantiate(template, new))
        name = "held"
        for address, template in self.heap.items():
            heap[address] = instantiate(template, new)
        self.ev.heap = heap
        return now, tuple(parameters)

    def widen(self, found: list[Abstract]) -> bool:
        """Widen the templates by what an iteration ends with; whether anything was new."""
        types = self.ev.types
        made = [generalise(t, x, types) for t, x in zip(self.templates, found, strict=True)]
        changed = any(x is not y and x != y for x, y in zip(made, self.templates, strict=True))
        self.templates = made
        for address, held in self.before.items():
            after = self.ev.heap[address]
            known = self.heap.get(address)
            if known is None:
                if after is not held:
                    self.heap[address] = contents_template(held, after, types)
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
    source: tuple[Operand, Type, Callable[[Value], Abstract]],
    stops: bool,
    span: Span | None,
    name: str,
) -> list[Abstract] | None:
    """A ``for`` loop of the program."""
    iterable, item_type, meaning = source
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
    return _ended(ev, state, iterable, None, block, stops, span)


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
        heap_tested = ev.heap
        if isinstance(condition, Known) and not condition.value:
            if any(isinstance(p, Value) for p in parameters):
                raise NotCovered("a loop that ends in its second iteration", ev.span)
            ev.block.extend(test_ops)
            return [*([Known(True)] if op.stops else []), *tested[1:]]
        if state.widen(tested[1:]):
            continue
        with ev.writing() as ops:
            inner, inner_parameters = state.begin()
            found = body(inner)
        if found is None:
            raise NotCovered("a loop whose iterations never reach their end", ev.span)
        on, after = (found[0], found[1:]) if op.stops else (None, found)
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
        ev, state, None, test, Block(inner_parameters, tuple(ops), results), op.stops, op.span
    )
