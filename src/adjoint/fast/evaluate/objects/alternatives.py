"""Operations on one of several things, which a number of the program chooses."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from adjoint.fast.evaluate.branches import branch
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.objects.alternative_kinds import copy_of
from adjoint.fast.evaluate.objects.templates import alternatives
from adjoint.fast.evaluate.sample_values import sample_truth
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.values import Abstract, Either, HeapObject, Known, Ref, Tuple
from adjoint.fast.not_covered import CarriedWrite, NotCovered, Raises
from adjoint.fast.single_assignment import primitives
from adjoint.ir.single import Const

Run: TypeAlias = Callable[[Abstract], list[Abstract] | None]


def for_each(ev: Evaluator, a: Either, run: Run) -> list[Abstract]:
    """Evaluate `run` for each alternative, in branches; return the joined results.

    If that is not covered, the program leaves where ``None`` is chosen: most code that works on one
    of several things has excluded ``None`` before, by a test of something else. Without ``None``,
    it leaves where another one is chosen than in the call at specialisation.
    """
    numbers = {*a.numbers}
    with restorable(ev) as restore:
        try:
            return _among(ev, a, run, numbers)
        except NotCovered as error:
            pairs = zip(a.numbers, a.items, strict=True)
            taken = {n for n, x in pairs if not isinstance(x, Known) or x.value is not None}
            restore()
            if taken == numbers:
                taken = _sampled(ev, a)
            if type(error) not in (NotCovered, CarriedWrite) or not taken:
                raise
            reason = error.reason
    return _among(ev, a, run, taken, reason)


def _sampled(ev: Evaluator, a: Either) -> set[int]:
    """Return the number of the alternative that the call at specialisation chooses, if that is
    known."""
    place = ev.operand(a.place)
    with ev.trial():
        tests = [ev.operation(operator.eq, (place, Const(n)), number(bool)) for n in a.numbers]
        pairs = zip(a.numbers, tests, strict=True)
        return {n for n, test in pairs if sample_truth(ev, test)}


def _among(ev: Evaluator, a: Either, run: Run, taken: set[int], reason: str = "") -> list[Abstract]:
    """Evaluate `run` for the alternatives `taken`; the program leaves for others."""

    def among(some: list[tuple[int, Abstract]]) -> list[Abstract] | None:
        if len(some) == 1 and some[0][0] not in taken:
            raise Raises(None, reason, ev.span)
        if len(some) == 1:
            return _with(ev, some[0][1], run)
        middle = len(some) // 2
        least = Const(some[middle][0])
        condition = ev.operation(operator.lt, (ev.operand(a.place), least), number(bool))
        below, others = partial(among, some[:middle]), partial(among, some[middle:])
        return branch(ev, condition, below, others, ev.span)

    found = among(sorted(zip(a.numbers, a.items, strict=True), key=operator.itemgetter(0)))
    if found is None:
        raise NotCovered("an operation that ends in exceptions", ev.span)
    return found


def _with(ev: Evaluator, item: Abstract, run: Run) -> list[Abstract] | None:
    """Evaluate `run` for one alternative, whose numbers and arrays are assigned there."""
    before = ev.held(item)
    item = ev.call(Known(primitives.assigned), [item, Known("an item")], {})
    checked = ev.held(item)
    found = run(item)
    if isinstance(item, Ref) and before is not None and ev.held(item) is checked:
        ev.heap[item.address] = before
    return found


def with_copies(
    ev: Evaluator, found: list[Abstract] | None, before: Mapping[int, HeapObject]
) -> list[Abstract] | None:
    """Return the values at the end of an iteration, with a copy of the object that is chosen in
    place of one of several of which the iteration has made some."""

    def is_made(a: Abstract) -> bool:
        return isinstance(a, Ref) and a.address not in before

    def copied(x: Abstract) -> list[Abstract]:
        made = copy_of(ev, x, ev.heap) if is_made(x) else None
        if made is None:
            return [x]
        ev.link(x.address, 0)  # type: ignore[union-attr]
        return [ev.allocate(made.content(made.items))]

    def settled(a: Abstract) -> Abstract:
        if isinstance(a, Either) and any(map(is_made, a.items)):
            found = for_each(ev, a, copied)[0]
            for x in alternatives(found, ev).items:
                if isinstance(x, Ref):
                    ev.link(x.address, 0)
            return found
        if isinstance(a, Tuple) and a.kind is tuple:
            items = tuple(map(settled, a.items))
            return a if all(x is y for x, y in zip(items, a.items, strict=True)) else Tuple(items)
        return a

    return None if found is None else [*map(settled, found)]
