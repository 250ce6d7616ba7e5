"""``iter``, ``next``, ``zip``, ``map`` and other iterators, with one pullback per element."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict, deque
from types import FunctionType
from typing import Any

from adjoint.ir.primitives import begin
from adjoint.primal.container_contents import size_of
from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.dispatch.generators import as_type, restarting
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.python.builtin_iterators import (
    COUNTING,
    Entries,
    Enumerated,
    Items,
    Map,
    Repeated,
    UserIterator,
    Zip,
)
from adjoint.runtime.python.loops import first_elements, iterator_of


def _parts(
    record: list[Any], slot: int, iterables: tuple[Any, ...], before: int
) -> list[ActiveIterator]:
    """Return iterators over operands; the pullback in the slot puts `before` None before their
    cotangents.
    """
    memory = record[0]
    inner: list[Any] = [memory, *[None] * len(iterables)]

    def parts_back(_: Any) -> tuple[Any, ...]:
        bars = [back(None)[1] if back is not None else None for back in reversed(inner[1:])]
        return (*(None,) * (1 + before), *reversed(bars))

    record[slot] = parts_back
    return [iterator_of(memory, inner, i + 1, xs) for i, xs in enumerate(iterables)]


@primitive(iter)
def _(record: list[Any], slot: int, xs: Any, *sentinel: Any) -> Any:
    if sentinel:
        if len(sentinel) > 1 or not callable(xs):
            return iter(xs, *sentinel)  # Python's own message
        until = call_function(record, slot, _until, (xs, *sentinel), {})
        return as_type(_BY_SENTINEL, until)
    iterator = _parts(record, slot, (xs,), 0)[0]
    return iterator.iterator if type(iterator) is UserIterator else iterator


_BY_SENTINEL = type(iter(int, 1))


@restarting
def _until(f: Any, sentinel: Any) -> Any:
    while True:
        value = f()
        if value == sentinel:
            return
        yield value


@primitive(next, ActiveIterator.__next__)
def _(record: list[Any], slot: int, iterator: Any, *default: Any) -> Any:
    memory = record[0]
    if len(default) > 1 or not (
        isinstance(iterator, ActiveIterator) or hasattr(type(iterator), "__next__")
    ):
        return next(iterator, *default)  # Python's own message
    step: list[Any] = [memory, None]
    made: list[Any] = [memory, None]
    ended = False

    def next_back(y_bar: Any) -> tuple[Any, ...]:
        if step[1] is not None:
            step[1](None if ended else y_bar)
        bars = (None, made[1](None)[1] if made[1] is not None else None)
        return (*bars, y_bar if ended else None) if default else bars

    record[slot] = next_back
    source = _advancing(record, made, iterator)
    try:
        return source.step(step, 1)
    except StopIteration:
        if not default:
            raise
        ended = True
        return default[0]


def _advancing(record: list[Any], made: list[Any], iterator: Any) -> ActiveIterator:
    if (
        not isinstance(iterator, ActiveIterator)
        and type(special_of(type(iterator), "__next__")) is FunctionType
    ):
        return UserIterator(record[0], iterator)
    return iterator_of(record[0], made, 1, iterator)


@primitive(zip)
def _(record: list[Any], slot: int, /, *iterables: Any, **options: Any) -> Any:
    if options and [*options] != ["strict"]:
        return NotImplemented  # Python's own message
    parts = _parts(record, slot, iterables, 0)
    _pad(record, slot, len(options))
    return Zip(record[0], parts, bool(options.get("strict", False)))


def _pad(record: list[Any], slot: int, n: int) -> None:
    """Append `n` None to the result of the pullback in the slot, for keyword arguments."""
    if n:
        back = record[slot]

        def padded_back(y_bar: Any) -> tuple[Any, ...]:
            return (*back(y_bar), *(None,) * n)

        record[slot] = padded_back


@primitive(enumerate)
def _(record: list[Any], slot: int, /, iterable: Any, *start: Any, **options: Any) -> Any:
    if len(start) + len(options) > 1 or (options and "start" not in options):
        return NotImplemented  # Python's own message
    parts = _parts(record, slot, (iterable,), 0)
    _pad(record, slot, len(start) + len(options))
    first = start[0] if start else options.get("start", 0)
    return Enumerated(record[0], parts[0], first)


@primitive(itertools.repeat)
def _(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
    given = dict(zip(("object", "times"), args, strict=False)) | options
    if len(given) < len(args) + len(options) or not given.keys() <= {"object", "times"}:
        return NotImplemented  # Python's own message
    if "object" not in given:
        return NotImplemented
    times = max(operator.index(given["times"]), 0) if "times" in given else None
    memory, held = record[0], (given["object"],)

    def repeat_back(_: Any) -> tuple[Any, ...]:
        (bar,) = memory.take_items(held, 1)
        return (None, *[bar if name == "object" else None for name in given])

    record[slot] = repeat_back
    return Repeated(memory, held, times)


@primitive(map)
def _(record: list[Any], slot: int, f: Any, iterable: Any, /, *others: Any) -> Any:
    return Map(record[0], f, _parts(record, slot, (iterable, *others), 1))


@primitive(reversed)
def _(record: list[Any], slot: int, xs: Any) -> Any:
    memory = record[0]
    if type(xs) in (list, tuple):
        return ReversedItems(memory, xs)
    if type(xs) is range:
        return reversed(xs)
    if type(xs) is dict or type(xs) is OrderedDict:
        return Entries(memory, xs, type(xs).__reversed__(xs), "keys")
    return NotImplemented


class ReversedItems(Items):
    """An iterator over a list or tuple from its end."""

    i: int

    def __init__(self, memory: Any, xs: Any) -> None:
        super().__init__(memory, xs)
        self.i = size_of(xs) - 1
        self.stands_for: type = type(reversed([])) if self.base is list else reversed

    def __length_hint__(self) -> int:
        return self.i + 1

    def step(self, record: list[Any], slot: int) -> Any:
        xs, i, memory = self.xs, self.i, self.memory
        if not 0 <= i < size_of(xs):
            raise StopIteration
        self.i -= 1

        def step_back(bar: Any) -> None:
            memory.add_item(xs, i, bar)

        record[slot] = step_back
        return self.base.__getitem__(xs, i)


@primitive((list, "__reversed__"))
def _(record: list[Any], slot: int, xs: Any) -> Any:
    return ReversedItems(record[0], xs)


@primitive((list, "__iter__"), (tuple, "__iter__"))
def _(record: list[Any], slot: int, xs: Any) -> Any:
    return Items(record[0], xs)


@primitive((dict, "__iter__"))
def _(record: list[Any], slot: int, xs: Any) -> Any:
    return Entries(record[0], xs, dict.__iter__(xs), "keys")


@primitive((OrderedDict, "__iter__"))
def _(record: list[Any], slot: int, xs: Any) -> Any:
    return Entries(record[0], xs, OrderedDict.__iter__(xs), "keys")


@primitive((set, "__iter__"), (frozenset, "__iter__"))
def _(record: list[Any], slot: int, xs: Any) -> Any:
    elements = set.__iter__(xs) if isinstance(xs, set) else frozenset.__iter__(xs)
    return Entries(record[0], xs, elements, "set")


@substitute(reversed)
def _(xs: Any) -> Any:
    if _overrides_reversed(type(xs)):
        return special_of(type(xs), "__reversed__")(xs)
    if hasattr(xs, "keys") or hasattr(xs, "mapping") or hasattr(xs, "popleft"):
        return iter(list(xs)[::-1])
    _check_sequence(xs)
    return _from_the_end(xs)


def _overrides_reversed(kind: type) -> bool:
    """Return whether a class overrides ``__reversed__``, by a method or by None."""
    of_c = (dict, OrderedDict, deque)
    own = class_attribute(kind, "__reversed__", of_c)
    return own is not of_c and not any(own is vars(base).get("__reversed__") for base in of_c)


def _check_sequence(xs: Any) -> None:
    if not hasattr(type(xs), "__getitem__") or not hasattr(type(xs), "__len__"):
        reversed(xs)  # Python's own message


def _from_the_end(xs: Any) -> Any:
    for i in range(len(xs) - 1, -1, -1):
        yield xs[i]


non_differentiable(_check_sequence, _overrides_reversed)


@substitute(filter)
def _(f: Any, xs: Any, /) -> Any:
    return _filtered(f, begin(xs))


@restarting
def _filtered(f: Any, xs: Any) -> Any:
    for value in xs:
        if value if f is None else f(value):
            yield value


# ---- containers filled from an iterable ----------------------------------------------------------


def has_python_length(xs: Any) -> bool:
    """Return whether the class of an iterable defines its length in Python."""
    kind = type(xs)
    return not issubclass(kind, COUNTING) and any(
        type(class_attribute(kind, name)) is FunctionType for name in ("__len__", "__length_hint__")
    )


def _filled(kind: Any) -> Any:
    def fill(record: list[Any], slot: int, *args: Any) -> Any:
        if not args:
            return kind()
        given = type(args[0])
        if len(args) > 1 or not (hasattr(given, "__iter__") or hasattr(given, "__getitem__")):
            return kind(*args)  # Python's own message
        memory = record[0]
        inner: list[Any] = [memory, None, None, None]
        y: Any = None

        def filled_back(_: Any) -> tuple[Any, ...]:
            bars = memory.take_items(y, len(y)) if y is not None else []
            found = inner[1](*bars) if inner[1] is not None else (None, None)
            if inner[2] is not None:
                inner[2](None)
            return found if inner[3] is None else inner[3](None)

        record[slot] = filled_back
        source = args[0]
        if has_python_length(source):  # C calls it first
            source = _parts(inner, 3, (source,), 0)[0]
            call(inner, 2, operator.length_hint, args[0])
        values, _ = first_elements(memory, inner, 1, source, -1)
        # A new tuple, even where Python would return its argument.
        y = kind([*values])
        return y

    return fill


primitive(list)(_filled(list))
primitive(tuple)(_filled(tuple))


@primitive((tuple, "__new__"))
def _(record: list[Any], slot: int, cls: Any, *values: Any) -> Any:
    """Make an instance of a class derived from `tuple`."""
    inner: list[Any] = [record[0], None]

    def new_back(y_bar: Any) -> tuple[Any, ...]:
        _, *bars = inner[1](y_bar) if inner[1] is not None else (None,) * (1 + len(values))
        return (None, None, *bars)

    record[slot] = new_back
    return _filled(lambda *parts: tuple.__new__(cls, *parts))(inner, 1, *values)
