"""Iteration: ``for`` loops, ``iter`` and ``next``, and the iterators that builtin functions make.

An `Iterator` stands where Python would have a builtin one (``zip``, ``map``, ``enumerate``, a
list's iterator): each step leaves a pullback, so it can be consumed from several places, in any
order of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.errors import NoDerivativeError
from adjoint.run.accumulate import Poison
from adjoint.run.dispatch import call, call_keywords, method_rules, run_rules
from adjoint.run.iterator import Iterator
from adjoint.run.memory import Memory, size_of
from adjoint.run.place import current_place
from adjoint.run.structure import ATOMS, by_value
from adjoint.run.unknown import poison

__all__ = ["first_elements", "iterate", "iterator_of", "unwind"]

ndarray = np.ndarray
Step = Callable[[Any], Any]


class Items(Iterator):
    """The elements of a list or tuple, by index, as Python's own iterator sees them."""

    def __init__(self, memory: Memory, xs: Any) -> None:
        super().__init__(memory)
        self.xs, self.i = xs, 0
        self.base: Any = list if isinstance(xs, list) else tuple

    def step(self, record: list[Any], slot: int) -> Any:
        xs, i, memory = self.xs, self.i, self.memory
        if i >= size_of(xs):
            self.xs = ()
            raise StopIteration
        self.i += 1

        def step_back(bar: Any) -> None:
            memory.add_item(xs, i, bar)

        record[slot] = step_back
        return self.base.__getitem__(xs, i)


class Rows(Iterator):
    """The elements of an array along its first axis.

    Their cotangents are collected in the shadow of the iterator, and given to the array by the
    pullback of ``iter``.
    """

    def __init__(self, memory: Memory, x: np.ndarray[Any, Any]) -> None:
        super().__init__(memory)
        self.x, self.i = x, 0
        if x.ndim == 0:
            raise TypeError("iteration over a 0-d array")

    def poison(self, bar: Any) -> list[Any]:
        super().poison(bar)
        self.memory.add_entry(self, "x", bar)
        return []

    def step(self, record: list[Any], slot: int) -> Any:
        from adjoint.run.arrays import read_array

        i, x = self.i, self.x
        if i >= len(x):
            raise StopIteration
        self.i += 1
        memory = self.memory
        inner: list[Any] = [memory, None]
        y = read_array(inner, 1, x, i)
        back = inner[1]
        if back is not None:

            def step_back(bar: Any) -> None:
                x_bar = back(bar)[1]
                if x_bar is not None:
                    memory.add_entry(self, "x", x_bar)

            record[slot] = step_back
        return y


class Entries(Iterator):
    """The keys, values or items of a dict, or the elements of a set: `keys` as they were when it
    began."""

    def __init__(self, memory: Memory, owner: Any, view: Iterable[Any], which: str) -> None:
        super().__init__(memory)
        self.owner, self.view, self.which = owner, iter(view), which

    def step(self, record: list[Any], slot: int) -> Any:
        memory, owner, which = self.memory, self.owner, self.which
        element = next(self.view)
        if which == "items":
            key = element[0]
            place = memory.place(owner, key)

            def items_back(_: Any) -> None:
                key_bar, value_bar = memory.take_items(element, 2)
                memory.add_key(owner, key, key_bar)
                memory.add_entry(owner, place, value_bar)

            record[slot] = items_back
        elif which != "keys":
            place = element if which == "set" else memory.place(owner, element[0])

            def value_back(bar: Any) -> None:
                memory.add_entry(owner, place, bar)

            record[slot] = value_back
            return element if which == "set" else element[1]
        elif by_value(element):

            def key_back(bar: Any) -> None:
                memory.add_key(owner, element, bar)

            record[slot] = key_back
        return element


class Zip(Iterator):
    """``zip`` and ``enumerate``: tuples of the elements of other iterators."""

    def __init__(self, memory: Memory, parts: list[Any], strict: bool = False) -> None:
        super().__init__(memory)
        self.parts, self.strict = parts, strict

    def step(self, record: list[Any], slot: int) -> Any:
        memory = self.memory
        inner: list[Any] = [memory, *[None] * len(self.parts)]

        def zip_back(_: Any) -> None:
            bars = memory.take_items(element, len(inner) - 1)
            for back, bar in zip(reversed(inner[1:]), reversed(bars), strict=True):
                if back is not None:
                    back(bar)

        element: Any = (None,) * len(self.parts)
        record[slot] = zip_back
        if not self.parts:
            raise StopIteration
        values = []
        for i, part in enumerate(self.parts):
            try:
                values.append(part.step(inner, i + 1))
            except StopIteration:
                if self.strict:
                    self._check_strict(i, inner)
                raise
        element = tuple(values)
        return element

    def _check_strict(self, i: int, inner: list[Any]) -> None:
        if i:
            raise ValueError(
                f"zip() argument {i + 1} is shorter than argument{'s 1-' if i > 1 else ' '}{i}"
            )
        for j, part in enumerate(self.parts[1:], 1):
            try:
                part.step(inner, j + 1)
            except StopIteration:
                continue
            raise ValueError(
                f"zip() argument {j + 1} is longer than argument{'s 1-' if j > 1 else ' '}{j}"
            )


class Count(Iterator):
    """The numbers that ``enumerate`` puts beside the elements."""

    def __init__(self, memory: Memory, start: Any) -> None:
        super().__init__(memory)
        self.i = start

    def step(self, record: list[Any], slot: int) -> Any:
        self.i += 1
        return self.i - 1


class Map(Iterator):
    """``map(f, *iterables)``."""

    def __init__(self, memory: Memory, f: Any, parts: list[Any]) -> None:
        super().__init__(memory)
        self.f, self.parts = f, parts

    def step(self, record: list[Any], slot: int) -> Any:
        n = len(self.parts)
        inner: list[Any] = [self.memory, *[None] * (n + 1)]

        def map_back(bar: Any) -> None:
            if inner[n + 1] is not None:
                _, *bars = inner[n + 1](bar)
            else:
                bars = [None] * n
            for i in range(n, 0, -1):
                if inner[i] is not None:
                    inner[i](bars[i - 1])

        record[slot] = map_back
        values = [part.step(inner, i + 1) for i, part in enumerate(self.parts)]
        return call(inner, n + 1, self.f, *values)


class Native(Iterator):
    """Any other iterator: what it yields is not known to depend on anything but itself.

    A cotangent that arrives at an element poisons the iterator and what it holds.
    """

    def __init__(self, memory: Memory, source: Any) -> None:
        super().__init__(memory)
        self.source, self.iterator = source, iter(source)

    def step(self, record: list[Any], slot: int) -> Any:
        value = next(self.iterator)
        if type(value) in ATOMS or type(self.source) in PLAIN:
            return value
        memory, source = self.memory, self.source
        function, span = current_place()

        def native_back(bar: Any) -> None:
            from adjoint.run.structure import take

            if bar is None and (by_value(value) or take(memory, value, None) is None):
                return
            bad = Poison(
                NoDerivativeError(
                    f"a derivative of the elements of a '{type(source).__name__}' is needed,"
                    " which was made by code that is not differentiated",
                    hint="make the iterator inside the differentiated function, or give a list",
                    filename=None if function is None else function.filename,
                    span=span,
                )
            )
            poison(memory, source, bad)
            memory.add_entry(source, "*", bad)

        record[slot] = native_back
        return value


PLAIN = frozenset({range, str, bytes, bytearray})


class UserIterator(Iterator):
    """An object of a Python class with ``__next__``."""

    def __init__(self, memory: Memory, iterator: Any) -> None:
        super().__init__(memory)
        self.iterator = iterator

    def step(self, record: list[Any], slot: int) -> Any:
        inner: list[Any] = [self.memory, None]

        def step_back(bar: Any) -> None:
            if inner[1] is not None:
                inner[1](bar)

        record[slot] = step_back
        return call_keywords(inner, 1, type(self.iterator).__next__, (self.iterator,), {})


class BySubscript(Iterator):
    """An object of a Python class with ``__getitem__`` and without ``__iter__``."""

    def __init__(self, memory: Memory, xs: Any) -> None:
        super().__init__(memory)
        self.xs, self.i = xs, 0

    def step(self, record: list[Any], slot: int) -> Any:
        inner: list[Any] = [self.memory, None]

        def step_back(bar: Any) -> None:
            if inner[1] is not None:
                inner[1](bar)

        record[slot] = step_back
        i, self.i = self.i, self.i + 1
        try:
            return call_keywords(inner, 1, type(self.xs).__getitem__, (self.xs, i), {})
        except IndexError:
            raise StopIteration from None


# ---- iter, for, unpacking ------------------------------------------------------------------------


def iterator_of(memory: Memory, record: list[Any], slot: int, xs: Any) -> Iterator:
    """``iter(xs)`` as an `Iterator`; the pullback in the slot takes no cotangent and gives that of
    `xs` by value."""
    kind = type(xs)
    if isinstance(xs, Iterator):
        return xs
    if kind is list or kind is tuple:
        return Items(memory, xs)
    if isinstance(xs, ndarray):
        rows = Rows(memory, xs)

        def rows_back(_: Any) -> tuple[Any, ...]:
            return None, memory.take_entry(rows, "x")

        record[slot] = rows_back
        return rows
    if kind is dict:
        return Entries(memory, xs, xs, "keys")
    if kind is set or kind is frozenset:
        return Entries(memory, xs, xs, "set")
    f = getattr(kind, "__iter__", None)
    if type(f) is FunctionType:
        return _user_iterator(memory, record, slot, f, xs)
    rules = method_rules(kind, "__iter__")
    if rules is not None:
        return _by_rule(memory, record, slot, f, rules, xs)
    if f is None and type(getattr(kind, "__getitem__", None)) is FunctionType:
        return BySubscript(memory, xs)
    return Native(memory, xs)


def _by_rule(memory: Memory, record: list[Any], slot: int, f: Any, rules: Any, xs: Any) -> Iterator:
    inner: list[Any] = [memory, None, None]

    def iter_back(bar: Any) -> tuple[Any, ...]:
        for back in (inner[2], inner[1]):
            if back is not None:
                back(None)
        return None, None

    record[slot] = iter_back
    return iterator_of(memory, inner, 2, run_rules(inner, 1, f, rules, (xs,), {}))


def _user_iterator(
    memory: Memory, record: list[Any], slot: int, f: FunctionType, xs: Any
) -> Iterator:
    inner: list[Any] = [memory, None, None]

    def iter_back(bar: Any) -> tuple[Any, ...]:
        for back in (inner[2], inner[1]):
            if back is not None:
                back(None)
        return None, None

    record[slot] = iter_back
    made = call_keywords(inner, 1, f, (xs,), {})
    if type(getattr(type(made), "__next__", None)) is FunctionType and not isinstance(
        made, Iterator
    ):
        return UserIterator(memory, made)
    if made is xs:
        raise TypeError(f"iter() returned non-iterator of type {type(made).__name__!r}")
    return iterator_of(memory, inner, 2, made)


def iterate(record: list[Any], slot: int, xs: Any, made: int = 0) -> Iterable[Any]:
    """What a ``for`` loop runs over; the slot gets the source of the elements' pullbacks (see
    `unwind`).

    `made` is the slot of the call that `xs` is the nameless result of: a generator which that call
    made is closed when the loop is left, as Python does when nobody holds it any more.
    """
    kind = type(xs)
    if kind is list or kind is tuple:
        record[slot] = ("items", xs)
        return xs  # type: ignore[no-any-return]
    if kind is range or kind is str:
        return xs  # type: ignore[no-any-return]
    return _steps(record, slot, xs, made > 0 and getattr(record[made], "made", None) is xs)


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


def unwind(
    record: list[Any], source: Any, n: int
) -> tuple[Callable[[Any], None], Callable[[], Any]]:
    """The reverse of the elements of a loop of `n` iterations.

    Returns
    -------
    step
        Takes the cotangent of an element, the last one first.
    finish
        Gives the cotangent of what was iterated over, as far as it is by value.
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
    # The steps after the last iteration: the one that found the end, or was left by an exception.
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
    memory: Memory, record: list[Any], slot: int, xs: Any, n: int
) -> tuple[tuple[Any, ...], Callable[..., Any] | None]:
    """The first `n` elements of `xs` and one more if there is one (all for -1), and the pullback of
    taking them."""
    made: list[Any] = [memory, None]
    steps: list[list[Any]] = []

    def elements_back(*bars: Any) -> tuple[Any, Any]:
        padded = [*bars, *[None] * (len(steps) - len(bars))]
        for step, bar in zip(reversed(steps), reversed(padded[: len(steps)]), strict=True):
            if step[1] is not None:
                step[1](bar)
        return None, made[1](None)[1] if made[1] is not None else None

    record[slot] = elements_back
    if not hasattr(type(xs), "__iter__") and not hasattr(type(xs), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(xs).__name__} object")
    iterator = iterator_of(memory, made, 1, xs)
    values: list[Any] = []
    while n < 0 or len(values) <= n:
        step: list[Any] = [memory, None]
        steps.append(step)
        try:
            values.append(iterator.step(step, 1))
        except StopIteration:
            break
    return tuple(values), elements_back
