"""Branches of the program, and their joins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.call_frames import Choice, Undecided
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import growing, restorable
from adjoint.fast.evaluate.joins import (
    Grows,
    contents_template,
    generalise,
)
from adjoint.fast.evaluate.objects.choices import MOST, REASON
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.objects.templates import instantiate, match
from adjoint.fast.evaluate.sample_values import sample_truth
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.values import LOST, Abstract, HeapObject, Known, Slot
from adjoint.fast.not_covered import NeedsSize, NotCovered, Raises
from adjoint.fast.single_assignment.endings import RETURNED
from adjoint.fast.single_assignment.walk import walk
from adjoint.fast.support import functions as runtime
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, If, Op, Operand, Raise, Value


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


def _side(
    ev: Evaluator, run: Callable[[], list[Abstract] | None], condition: Value, side: bool
) -> list[Abstract] | None:
    """Run the branch where `condition` is `side`. One that certainly raises leaves the program; so
    does one that is not covered, or that needs a length in a rule of this library, if the call at
    specialisation does not take it."""
    heap = dict(ev.heap)
    try:
        return run()
    except Raises:
        ev.leave()
    except NotCovered as error:
        is_rare = isinstance(error, NeedsSize) and is_own(ev.frames[-1].namespace)
        is_left = not ev.keeps_branches and (is_rare or type(error) is NotCovered)
        if not is_left or sample_truth(ev, condition) is not (not side):
            raise
        ev.block.clear()
        ev.heap = heap
        ev.leave(error)
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
        a = _side(ev, body, condition, True)
    heap_a, ev.heap = ev.heap, dict(before)
    lengths_a, ev.row_lengths = ev.row_lengths, lengths
    with ev.writing() as ops_b:
        b = _side(ev, orelse, condition, False)
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
    a, b = _assigned(ev, a, b, ops_a), _assigned(ev, b, a, ops_b)
    try:
        variables = zip(a, b, (*names, *[""] * (len(a) - len(names))), strict=True)
        templates = [generalise(x, y, ev, heap_a, heap_b, name) for x, y, name in variables]
        _demand_returned(templates, a, b, names)
        contents = {
            address: contents_template(address, ev, heap_a, heap_b)
            for address in before
            if heap_a[address] is not heap_b[address]
        }
        while united := [at for at in ev.united.items() if at[0] not in contents]:
            for address, other in united:
                contents[address] = _united_contents(ev, address, other, heap_a, heap_b)
    except NotCovered as error:
        return _taken_only(ev, error, condition, (a, ops_a, heap_a), (b, ops_b, heap_b), span)
    finally:
        others, ev.united = ev.united, {}
    left: list[Operand] = []
    right: list[Operand] = []
    copied_left: list[int | None] = []
    copied_right: list[int | None] = []
    copies: list[int] = []
    for template, x, y in zip(templates, a, b, strict=True):
        match(template, x, left, ev, heap_a, copied_left)
        match(template, y, right, ev, heap_b, copied_right)
    results: list[Value] = []
    name = ""

    def new(slot: Slot) -> Value:
        results.append(ev.slot_value(slot, name))
        return results[-1]

    found = []
    for i, template in enumerate(templates):
        name = names[i] if i < len(names) and not names[i].startswith("_") else "t"
        found.append(instantiate(template, new, ev, copies))
    heap = dict(before)
    for address, template in contents.items():
        name = getattr(heap_a[address], "name", "held")
        match(template, heap_a[address], left, ev, heap_a, copied_left)
        other = others.get(address, address)
        match(template, heap_b[other], right, ev, heap_b, copied_right)
        heap[address] = instantiate(template, new, ev, copies)
    for copy, *of in zip(copies, copied_left, copied_right, strict=True):
        ev.link(copy, *(at for at in of if at is not None))
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


def _assigned(
    ev: Evaluator, side: list[Abstract], other: list[Abstract], ops: list[Op]
) -> list[Abstract]:
    """Write, at the end of one side of a branch, the checks that its variables have values where
    they are ``None`` in the other: the joined ones may be either ``None`` or unassigned."""
    with ev.writing() as more:
        found = [
            ev.operation(runtime.assigned, (x,), ev.types[x])
            if isinstance(x, Value)
            and x in ev.maybe
            and x not in ev.nones
            and isinstance(y, Known)
            and y.value is None
            else x
            for x, y in zip(side, other, strict=True)
        ]
    ops += more
    return found


def _united_contents(
    ev: Evaluator,
    address: int,
    other: int,
    body: dict[int, HeapObject],
    orelse: dict[int, HeapObject],
) -> Any:
    try:
        return contents_template(address, ev, body, orelse, other)
    except Grows as error:
        raise NotCovered(error.reason, ev.span) from None


_Side = tuple[list[Abstract], list[Op], dict[int, HeapObject]]


def _taken_only(
    ev: Evaluator,
    error: NotCovered,
    condition: Value,
    body: _Side,
    orelse: _Side,
    span: Span | None,
) -> list[Abstract]:
    """Keep the branch that the call at specialisation takes, and leave the program in the other
    one, since `error` says why their results have no join."""
    found = sample_truth(ev, condition) if type(error) is NotCovered else None
    if found is None:
        raise error
    with ev.writing() as leaving:
        ev.leave(error)
    sides = Block((), (), ()), Block((), tuple(leaving), None)
    results, ops, ev.heap = body if found else orelse
    ev.write(If((), condition, *(sides if found else sides[::-1]), span))
    ev.block.extend(ops)
    return results


def _demand_returned(
    templates: list[Any], body: list[Abstract], orelse: list[Abstract], names: tuple[str, ...]
) -> None:
    """Refuse a join that has lost what one of the branches returns."""
    for name, template, a, b in zip(names, templates, body, orelse, strict=False):
        if name == RETURNED and template is LOST and a is not LOST and b is not LOST:
            raise NotCovered("a function without a result in some way")


# ---- comparisons of elements ------------------------------------------------------------------


def choosing(
    ev: Evaluator, run: Callable[[], Abstract], outcomes: tuple[bool, ...] = ()
) -> Abstract:
    """Evaluate `run` for each outcome of its comparisons."""
    choice, block, start = Choice(outcomes), ev.block, len(ev.block)
    with restorable(ev) as restore:
        ev.choices.append(choice)
        try:
            return run()
        except Undecided as error:
            if error.choice is not choice:
                raise
            before, condition = block[start:], error.condition
            restore()
        finally:
            ev.choices.pop()
    if len(outcomes) == MOST or any(map(_acts, walk(Block((), tuple(before), None)))):
        raise NotCovered(REASON, ev.span)
    block.extend(before)
    found = branch(
        ev,
        condition,
        lambda: [choosing(ev, run, (*outcomes, True))],
        lambda: [choosing(ev, run, (*outcomes, False))],
        ev.span,
    )
    if found is None:
        raise NotCovered("comparisons that end in exceptions", ev.span)
    return found[0]


def _acts(op: Op) -> bool:
    """Return whether an operation must not run twice."""
    if not isinstance(op, Call):
        return isinstance(op, Raise)
    return op.result is None or op.callee in (Const(runtime.draw), Const(runtime.read_clock))
