"""Branches of the program, and their joins."""

from __future__ import annotations

from collections.abc import Callable

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import growing
from adjoint.fast.evaluate.joins import contents_template, generalise, instantiate, match
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.values import Abstract, Slot
from adjoint.fast.not_covered import Raises
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, If, Operand, Value


def branch(
    ev: Evaluator,
    condition: Value,
    body: Callable[[], list[Abstract] | None],
    orelse: Callable[[], list[Abstract] | None],
    span: Span | None,
    names: tuple[str, ...] = (),
) -> list[Abstract] | None:
    """Write both branches, and return the joined results."""
    return growing(ev, lambda: _branch(ev, condition, body, orelse, span, names))


def _side(ev: Evaluator, run: Callable[[], list[Abstract] | None]) -> list[Abstract] | None:
    """Run a branch; one that certainly raises leaves the program."""
    try:
        return run()
    except Raises:
        ev.leave()
        return None


def _branch(
    ev: Evaluator,
    condition: Value,
    body: Callable[[], list[Abstract] | None],
    orelse: Callable[[], list[Abstract] | None],
    span: Span | None,
    names: tuple[str, ...],
) -> list[Abstract] | None:
    before, lengths = dict(ev.heap), dict(ev.row_lengths)
    with ev.writing() as ops_a:
        a = _side(ev, body)
    heap_a, ev.heap = ev.heap, dict(before)
    lengths_a, ev.row_lengths = ev.row_lengths, lengths
    with ev.writing() as ops_b:
        b = _side(ev, orelse)
    heap_b = ev.heap
    if b is None:
        ev.row_lengths = lengths_a
    elif a is not None:
        known_a = lengths_a.items()
        ev.row_lengths = {x: n for x, n in known_a if ev.row_lengths.get(x) is n}
    if a is None or b is None:
        # The operations of the remaining branch follow unconditionally, so no join is needed.
        ev.heap = heap_b if a is None else heap_a
        leaving, rest = (ops_a, ops_b) if a is None else (ops_b, ops_a)
        sides = Block((), tuple(leaving), None), Block((), (), ())
        ev.write(If((), condition, *(sides if a is None else sides[::-1]), span))
        ev.block.extend(rest)
        return b if a is None else a
    pairs = zip(a, b, strict=True)
    templates = [generalise(x, y, ev, heap_a, heap_b) for x, y in pairs]
    left: list[Operand] = []
    right: list[Operand] = []
    for template, x, y in zip(templates, a, b, strict=True):
        match(template, x, left, ev, heap_a)
        match(template, y, right, ev, heap_b)
    results: list[Value] = []
    name = ""

    def new(slot: Slot) -> Value:
        results.append(ev.slot_value(slot, name))
        return results[-1]

    found = []
    for i, template in enumerate(templates):
        name = names[i] if i < len(names) and not names[i].startswith("_") else "t"
        found.append(instantiate(template, new, ev))
    heap = dict(before)
    for address in before:
        one, other = heap_a[address], heap_b[address]
        if one is not other:
            name = getattr(one, "name", "held")
            template = contents_template(address, ev, heap_a, heap_b)
            match(template, one, left, ev, heap_a)
            match(template, other, right, ev, heap_b)
            heap[address] = instantiate(template, new, ev)
    for address, held in (*heap_a.items(), *heap_b.items()):
        if address not in heap:
            heap[address] = held
    ev.heap = heap
    for made, if_true, if_false in zip(results, left, right, strict=True):
        if ev.types[made] == number(int):
            ev.integers[made] = None, (condition, if_true, if_false)
    ev.write(
        If(
            tuple(results),
            condition,
            Block((), tuple(ops_a), tuple(left)),
            Block((), tuple(ops_b), tuple(right)),
            span,
        )
    )
    return found
