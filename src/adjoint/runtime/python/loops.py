"""Iteration: ``iter`` of anything, ``for`` loops and their reverse, unpacking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.ir.primitives import is_iterable
from adjoint.primal.special_methods import special_of
from adjoint.rulekit.registry import method_rules
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.builtin_iterators import (
    BySubscript,
    Entries,
    ForeignIterator,
    Items,
    Rows,
    UserIterator,
)

ndarray = np.ndarray
Step = Callable[[Any], Any]


def iterator_of(memory: Memory, record: list[Any], slot: int, xs: Any) -> ActiveIterator:
    """Return ``iter(xs)`` as an `ActiveIterator`; the pullback ignores its argument and returns the
    cotangent by value of `xs`."""
    kind = type(xs)
    if isinstance(xs, ActiveIterator):
        return xs
    if kind is list or kind is tuple:
        return Items(memory, xs)
    f = special_of(kind, "__iter__")
    if kind is ndarray or (isinstance(xs, ndarray) and type(f) is not FunctionType):
        rows = Rows(memory, xs)

        def rows_back(_: Any) -> tuple[Any, ...]:
            return None, memory.take_entry(rows, "x")

        record[slot] = rows_back
        return rows
    if kind is dict:
        return Entries(memory, xs, xs, "keys")
    if kind is set or kind is frozenset:
        return Entries(memory, xs, xs, "set")
    if type(f) is FunctionType:
        return _user_iterator(memory, record, slot, f, xs)
    if issubclass(kind, np.void):
        return _fields_of_row(memory, record, slot, xs)
    rules = method_rules(kind, "__iter__")
    if rules is not None:
        return _by_rule(memory, record, slot, f, rules, xs)
    if f is None and type(special_of(kind, "__getitem__")) is FunctionType:
        return BySubscript(memory, xs)
    return ForeignIterator(memory, xs)


def _by_rule(
    memory: Memory, record: list[Any], slot: int, f: Any, rules: Any, xs: Any
) -> ActiveIterator:
    inner: list[Any] = [memory, None, None]

    def iter_back(bar: Any) -> tuple[Any, ...]:
        for back in (inner[2], inner[1]):
            if back is not None:
                back(None)
        return None, None

    record[slot] = iter_back
    return iterator_of(memory, inner, 2, run_rules(inner, 1, f, rules, (xs,), {}))


def _fields_of_row(memory: Memory, record: list[Any], slot: int, row: Any) -> ActiveIterator:
    """Return an iterator over the fields of a row of a structured array, which are poisoned."""
    inner: list[Any] = [memory, None]
    why = "reads a row of an array with named fields"
    fields = run_unknown(memory, inner, 1, tuple, (row,), {}, why, trusted=True)

    def row_back(_: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](None)
        return None, None if bars is None else bars[1]

    record[slot] = row_back
    return Items(memory, fields)


def _user_iterator(
    memory: Memory, record: list[Any], slot: int, f: FunctionType, xs: Any
) -> ActiveIterator:
    inner: list[Any] = [memory, None, None]

    def iter_back(bar: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            inner[2](None)
        bars = inner[1](None) if inner[1] is not None else None
        return None, None if bars is None else bars[1]

    record[slot] = iter_back
    made = call_keywords(inner, 1, f, (xs,), {})
    if type(special_of(type(made), "__next__")) is FunctionType and not isinstance(
        made, ActiveIterator
    ):
        return UserIterator(memory, made)
    if not hasattr(type(made), "__next__") or made is xs:
        raise TypeError(f"iter() returned non-iterator of type {type(made).__name__!r}")
    return iterator_of(memory, inner, 2, made)


def iterate(record: list[Any], slot: int, xs: Any, made: int = 0) -> Iterable[Any]:
    """Return the iterable of a ``for`` loop; put the source of the elements' pullbacks in the slot.

    `made` is the slot of the call whose unnamed result is `xs`. If the call made a generator, the
    end of the loop closes the generator, as Python does when the last reference is dropped.
    `unwind` reads the slot.
    """
    kind = type(xs)
    if kind is list or kind is tuple:
        record[slot] = ("items", xs)
        return xs  # type: ignore[no-any-return]
    if kind is range or kind is str:
        return xs  # type: ignore[no-any-return]
    maker = getattr(record[made], "made", None) if made > 0 else None
    return _steps(record, slot, xs, maker is not None and maker() is xs)


def _steps(record: list[Any], slot: int, xs: Any, owned: bool) -> Iterable[Any]:
    memory: Memory = record[0]
    made: list[Any] = [memory, None]
    steps: list[list[Any]] = []
    record[slot] = ("steps", made, steps)
    iterator = iterator_of(memory, made, 1, xs)
    try:
        while True:
            step: list[Any] = [memory, None]
            steps.append(step)
            try:
                value = iterator.step(step, 1)
            except StopIteration:
                return
            yield value
    except GeneratorExit:
        if owned:
            step = [memory, None]
            steps.append(step)
            xs.finish(step, 1)
        raise


STEPS = _steps.__code__


def unwind(
    record: list[Any], source: Any, n: int
) -> tuple[Callable[[Any], None], Callable[[], Any]]:
    """Return the pullbacks of the elements of a loop of `n` iterations.

    Returns
    -------
    step
        Takes the cotangent of an element, the last one first.
    finish
        Returns the cotangent by value of the iterable.
    """
    memory: Memory = record[0]
    if source is None:
        return _ignore, _nothing
    if source[0] == "items":
        _, xs = source
        i = n

        def item_step(bar: Any) -> None:
            nonlocal i
            i -= 1
            if bar is not None:
                memory.add_item(xs, i, bar)

        return item_step, _nothing
    _, made, steps = source
    position = len(steps)
    # Steps after the last iteration found the end, or raised.
    while position > n:
        position -= 1
        if steps[position][1] is not None:
            steps[position][1](None)

    def step(bar: Any) -> None:
        nonlocal position
        position -= 1
        back = steps[position][1]
        if back is not None:
            back(bar)

    def finish() -> Any:
        return made[1](None)[1] if made[1] is not None else None

    return step, finish


def _ignore(_: Any) -> None:
    return None


def _nothing() -> None:
    return None


def first_elements(
    memory: Memory, record: list[Any], slot: int, xs: Any, n: int, again: int = -1
) -> tuple[tuple[Any, ...], Callable[..., Any] | None]:
    """Return the first `n` elements of `xs` (-1: all), plus one if there are more, and their
    pullback. After `again` elements, C calls ``__iter__`` of the iterator, to list the rest."""
    made: list[Any] = [memory, None]
    asked: list[Any] = [memory, None]
    steps: list[list[Any]] = []

    def elements_back(*bars: Any) -> tuple[Any, Any]:
        padded = [*bars, *[None] * (len(steps) - len(bars))]
        for i in range(len(steps) - 1, -1, -1):
            if steps[i][1] is not None:
                steps[i][1](padded[i])
            if i == again and asked[1] is not None:
                asked[1](None)
        return None, made[1](None)[1] if made[1] is not None else None

    record[slot] = elements_back
    if not is_iterable(xs):
        (_,) = xs  # Python's own message
    iterator = iterator_of(memory, made, 1, xs)
    values: list[Any] = []
    while n < 0 or len(values) <= n:
        if len(values) == again and type(iterator) is UserIterator:
            iterator = iterator_of(memory, asked, 1, iterator.iterator)
        step: list[Any] = [memory, None]
        steps.append(step)
        try:
            values.append(iterator.step(step, 1))
        except StopIteration:
            break
    return tuple(values), elements_back
