"""Substitutes for builtin iterators: over lists, arrays and dicts; ``zip``, ``map``, ``enumerate``.

Each step leaves a pullback, so that several places of a program can consume one iterator.
"""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Iterable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError
from adjoint.primal.container_contents import size_of
from adjoint.primal.reachability import reached
from adjoint.primal.special_methods import special_of
from adjoint.primal.value_kinds import ATOMS, by_value, held_by_c
from adjoint.runtime.arrays.reads import element_back, read_array
from adjoint.runtime.dispatch.call import call, call_keywords
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.foreign.user_code_reach import reaches
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import parts_have_cotangent, poison

_OF_LISTS: type = type(iter([1]))
_OF_TUPLES: type = type(iter((1,)))
_OF_DEQUES: type = type(iter(deque()))
_BY_SUBSCRIPT: type = type(iter(np.zeros(1)))


class Items(ActiveIterator):
    """The elements of a list, tuple or deque, by index."""

    xs: Any
    i: int

    def __init__(self, memory: Memory, xs: Any) -> None:
        super().__init__(memory)
        self.xs, self.i = xs, 0
        self.base: Any = list if isinstance(xs, list) else tuple
        self.stands_for = _OF_LISTS if self.base is list else _OF_TUPLES
        if isinstance(xs, deque):
            self.stands_for: type = _OF_DEQUES

    def __length_hint__(self) -> int:
        return max(size_of(self.xs) - self.i, 0)

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


class Repeated(ActiveIterator):
    """``itertools.repeat``: the one element of the tuple `held`, `times` times or endlessly."""

    held: tuple[Any]

    stands_for: type = itertools.repeat

    def __init__(self, memory: Memory, held: tuple[Any], times: int | None) -> None:
        super().__init__(memory)
        self.held, self.left = held, times

    def __length_hint__(self) -> Any:
        return NotImplemented if self.left is None else self.left

    def step(self, record: list[Any], slot: int) -> Any:
        memory, held = self.memory, self.held
        if self.left is not None:
            if self.left <= 0:
                raise StopIteration
            self.left -= 1

        def step_back(bar: Any) -> None:
            memory.add_item(held, 0, bar)

        record[slot] = step_back
        return held[0]


class Rows(ActiveIterator):
    """The elements of an array along its first axis.

    Their cotangents accumulate in the shadow of the iterator; the pullback of ``iter`` moves them
    to the array.
    """

    x: Any
    i: int

    stands_for: type = _BY_SUBSCRIPT

    def __init__(self, memory: Memory, x: np.ndarray[Any, Any]) -> None:
        super().__init__(memory)
        self.x, self.i = x, 0
        own = getattr(type(x), "__getitem__", None)
        self.getter: FunctionType | None = own if type(own) is FunctionType else None
        self.is_vector = type(x) is np.ndarray and x.ndim == 1 and x.dtype.char == "d"
        if x.ndim == 0:
            raise TypeError("iteration over a 0-d array")

    def __length_hint__(self) -> int:
        return max(len(self.x) - self.i, 0)

    def poison(self, bar: Any, poison: Any) -> list[Any]:
        super().poison(bar, poison)
        self.memory.add_entry(self, "x", bar)
        return []

    def step(self, record: list[Any], slot: int) -> Any:
        i, x = self.i, self.x
        if i >= x.shape[0]:
            raise StopIteration
        self.i += 1
        memory = self.memory
        if self.is_vector and memory.level is None and not memory.written:
            y = x[i]
            if type(y) is np.float64:
                record[slot] = partial(_element_back, self, x.shape, i)
                return y
        inner: list[Any] = [memory, None]
        if self.getter is None:
            y = read_array(inner, 1, x, i)
        else:
            y = call_keywords(inner, 1, self.getter, (x, i), {})
        back = inner[1]
        if back is not None:

            def step_back(bar: Any) -> None:
                x_bar = back(bar)[1]
                if x_bar is not None:
                    memory.add_entry(self, "x", x_bar)

            record[slot] = step_back
        return y


def _element_back(rows: Rows, shape: tuple[int, ...], i: int, bar: Any) -> None:
    """Pull back one number of an unwritten vector; a lane for the commonest elements."""
    x_bar = element_back(shape, i, bar)[1]
    if x_bar is not None:
        rows.memory.add_entry(rows, "x", x_bar)


class Entries(ActiveIterator):
    """The keys, values or items of a dict, or the elements of a set."""

    owner: Any
    view: Any
    which: str

    def __init__(self, memory: Memory, owner: Any, view: Iterable[Any], which: str) -> None:
        super().__init__(memory)
        self.owner, self.view, self.which = owner, iter(view), which
        self.stands_for: type = type(self.view)

    def __length_hint__(self) -> int:
        return operator.length_hint(self.view)

    def step(self, record: list[Any], slot: int) -> Any:
        memory, owner, which = self.memory, self.owner, self.which
        element = next(self.view)
        if which == "items":
            key = element[0]
            place = memory.shadow_key(owner, key)

            def items_back(_: Any) -> None:
                key_bar, value_bar = memory.take_items(element, 2)
                memory.add_key(owner, key, key_bar)
                memory.add_entry(owner, place, value_bar)

            record[slot] = items_back
        elif which != "keys":
            place = element if which == "set" else memory.shadow_key(owner, element[0])

            def value_back(bar: Any) -> None:
                memory.add_entry(owner, place, bar)

            record[slot] = value_back
            return element if which == "set" else element[1]
        elif by_value(element):

            def key_back(bar: Any) -> None:
                memory.add_key(owner, element, bar)

            record[slot] = key_back
        return element


class Zip(ActiveIterator):
    """``zip``: tuples of the elements of other iterators."""

    parts: list[Any]
    strict: bool

    stands_for: type = zip

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
                if not self.strict:
                    raise
                break
        else:
            element = tuple(values)
            return element
        self._check_strict(len(values), inner)
        raise StopIteration

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


class Enumerated(ActiveIterator):
    """``enumerate``; a step that raises is not counted."""

    part: Any
    i: int

    stands_for: type = enumerate

    def __init__(self, memory: Memory, part: Any, start: Any) -> None:
        super().__init__(memory)
        self.part, self.i = part, operator.index(start) + 0  # on a level, another integer

    def step(self, record: list[Any], slot: int) -> Any:
        memory = self.memory
        inner: list[Any] = [memory, None]

        def enumerate_back(_: Any) -> None:
            bars = (None, None) if element is None else memory.take_items(element, 2)
            if inner[1] is not None:
                inner[1](bars[1])

        element: Any = None
        record[slot] = enumerate_back
        value = self.part.step(inner, 1)
        element = self.i, value
        self.i += 1
        return element


class Map(ActiveIterator):
    """``map(f, *iterables)``."""

    f: Any
    parts: list[Any]

    stands_for: type = map

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


class ForeignIterator(ActiveIterator):
    """Any other iterator: foreign code makes its elements.

    A cotangent of an element poisons the iterator and the objects that it holds.
    """

    iterator: Any
    source: Any

    def __init__(self, memory: Memory, source: Any) -> None:
        super().__init__(memory)
        self.source, self.iterator = source, iter(source)
        self.stands_for: type = type(self.iterator)
        self.enters: bool = type(source) not in PLAIN and reaches((source,))
        self._known: frozenset[int] | None = None
        self._arrays: list[Any] = []
        """On a level: the arrays that the iterator holds."""

    def __length_hint__(self) -> Any:
        hint = getattr(type(self.iterator), "__length_hint__", None)
        return NotImplemented if hint is None else hint(self.iterator)

    def step(self, record: list[Any], slot: int) -> Any:
        if self.memory.level is not None:
            self._parts()  # before the step: a generator also holds what it makes
        if self.enters:
            value = run_monitored(record, slot, next, next, (self.iterator,), {})
        else:
            value = next(self.iterator)
        if type(value) in ATOMS or type(self.source) in PLAIN:
            return value
        memory, source = self.memory, self.source
        if memory.level is not None:
            arrays = [*self._arrays, *memory.level.elsewhere((source, self.iterator))]
            memory.level.note_taken_out(source, value, self._parts(), arrays, self._problem)
            return value
        blank = record[slot]
        known: frozenset[int] = frozenset() if by_value(value) else self._parts()
        if type(value) is tuple and any(value is one for one in held_by_c(self.iterator)):
            known -= {id(value)}  # ``zip`` reuses its tuple

        def native_back(bar: Any) -> None:
            if blank is not None:
                blank(None)
            if bar is None and (
                by_value(value) or not parts_have_cotangent(memory, (value,), known)
            ):
                return
            bad = Poison(self._problem())
            poison(memory, source, bad)
            memory.add_entry(source, "*", bad)

        record[slot] = native_back
        return value

    def _problem(self) -> NoDerivativeError:
        return NoDerivativeError(
            f"a derivative of the elements of a '{type(self.source).__name__}' is needed,"
            " which was made by code that is not differentiated",
            hint="make the iterator inside the differentiated function, or give a list",
            place=current_place(),
        )

    def _parts(self) -> frozenset[int]:
        """Return the identities of the objects that the source holds at its first element, whose
        cotangents are in memory."""
        if self._known is None:
            held = [*reached((self.source, self.iterator))]
            self._known = frozenset(map(id, held))
            if self.memory.level is not None:
                self._arrays = [one for one in held if issubclass(type(one), np.ndarray)]
        return self._known


PLAIN = frozenset({range, str, bytes, bytearray})


def _by_method(memory: Memory, record: list[Any], slot: int, name: str, *operands: Any) -> Any:
    """Return the next element by a special method of the class of the first operand."""
    inner: list[Any] = [memory, None]

    def step_back(bar: Any) -> None:
        if inner[1] is not None:
            inner[1](bar)

    record[slot] = step_back
    return call_keywords(inner, 1, special_of(type(operands[0]), name), operands, {})


class UserIterator(ActiveIterator):
    """An object of a Python class with ``__next__``."""

    def __init__(self, memory: Memory, iterator: Any) -> None:
        super().__init__(memory)
        self.iterator = iterator

    def step(self, record: list[Any], slot: int) -> Any:
        return _by_method(self.memory, record, slot, "__next__", self.iterator)


class BySubscript(ActiveIterator):
    """An object of a Python class with ``__getitem__`` and without ``__iter__``."""

    xs: Any
    i: int

    stands_for: type = _BY_SUBSCRIPT

    has_ended: bool

    def __init__(self, memory: Memory, xs: Any) -> None:
        super().__init__(memory)
        self.xs, self.i, self.has_ended = xs, 0, False

    def step(self, record: list[Any], slot: int) -> Any:
        if self.has_ended:
            raise StopIteration
        i, self.i = self.i, self.i + 1
        try:
            return _by_method(self.memory, record, slot, "__getitem__", self.xs, i)
        except (IndexError, StopIteration):
            self.has_ended = True  # even if the object gets more elements later
            raise StopIteration from None


COUNTING = (Items, Repeated, Rows, Entries)
"""Iterators whose length hint calls no user code."""

# Python's own error messages use these names.
Items.__name__, Zip.__name__, Map.__name__ = "list_iterator", "zip", "map"
