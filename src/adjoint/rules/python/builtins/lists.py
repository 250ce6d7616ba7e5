"""In-place methods of lists: each replaces a slice, and a rewind of the log undoes it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adjoint.ir.primitives import begin, is_iterable
from adjoint.rulekit.registry import non_differentiable, structural, substitute
from adjoint.rules.python.builtins.iterators import has_python_length
from adjoint.runtime.memory.log_entries import swap_slice
from adjoint.runtime.memory.memory import Memory


def _replace(memory: Memory, xs: Any, start: int, stop: int, values: Sequence[Any]) -> Any:
    """Run ``xs[start:stop] = values``; return a function that undoes it in `xs` and its shadow and
    returns the cotangents of `values`.
    """
    old = list.__getitem__(xs, slice(start, stop))
    n = len(values)
    list.__setitem__(xs, slice(start, stop), values)
    position = memory.note(swap_slice, xs, start, start + n, old)

    def undo() -> list[Any]:
        memory.rewind(position)
        shadow = memory.shadows.get(id(xs))
        if shadow is None:
            return [None] * n
        taken: list[Any] = shadow[start : start + n]
        shadow[start : start + n] = [None] * len(old)
        return taken

    return undo


def _replace_one(memory: Memory, xs: Any, start: int, stop: int, value: Any, n: int) -> Any:
    """Run ``xs[start:stop] = [value]``; return the pullback of a method of `n` operands that end in
    `value`.
    """
    undo = _replace(memory, xs, start, stop, (value,))
    return lambda _: (*(None,) * n, undo()[0])


def _replace_all(memory: Memory, xs: Any, start: int, stop: int, values: Any, n: int) -> Any:
    """Run ``xs[start:stop] = values``; return the pullback of a method of `n` operands."""
    undo = _replace(memory, xs, start, stop, values)

    def replaced_back(_: Any) -> tuple[None, ...]:
        for i, bar in enumerate(undo()):
            memory.add_item(values, i, bar)
        return (None,) * (n + 1)

    return replaced_back


def _rearrange(memory: Memory, xs: Any, order: list[int], n: int) -> Any:
    """Run ``xs[:] = [xs[i] for i in order]``; return the pullback of a method of `n` operands."""
    values = [list.__getitem__(xs, i) for i in order]
    undo = _replace(memory, xs, 0, list.__len__(xs), values)

    def rearranged_back(_: Any) -> tuple[None, ...]:
        for i, bar in zip(order, undo(), strict=True):
            memory.add_item(xs, i, bar)
        return (None,) * (n + 1)

    return rearranged_back


# ---- more elements -------------------------------------------------------------------------------


@structural((list, "append"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    n = list.__len__(xs)
    return None, _replace_one(memory, xs, n, n, value, 2)


@structural((list, "insert"))
def _(memory: Memory, xs: Any, i: Any, value: Any) -> Any:
    place = slice(operator.index(i), None).indices(list.__len__(xs))[0]
    return None, _replace_one(memory, xs, place, place, value, 3)


def _extended(memory: Memory, xs: Any, values: Any) -> Any:
    """Run ``xs += values`` and return its pullback, or None if `values` is no list or tuple."""
    if type(values) not in (list, tuple):
        return None
    n = list.__len__(xs)
    return _replace_all(memory, xs, n, n, values, 2)


@structural((list, "extend"))
def _(memory: Memory, xs: Any, values: Any) -> Any:
    back = _extended(memory, xs, values)
    return NotImplemented if back is None else (None, back)


@structural((list, "__iadd__"))
def _(memory: Memory, xs: Any, values: Any) -> Any:
    back = _extended(memory, xs, values)
    return NotImplemented if back is None else (xs, back)


@substitute((list, "extend"))
def _(xs: Any, values: Any) -> None:
    iterator = begin(values)
    if has_python_length(values):
        operator.length_hint(values)  # as C does
    for value in iterator:
        list.append(xs, value)


non_differentiable(has_python_length)


@substitute((list, "__init__"))
def _(xs: Any, values: Any = (), /) -> None:
    list.__setitem__(xs, slice(None), [*values])


# ---- fewer elements ------------------------------------------------------------------------------


@structural((list, "pop"))
def _(memory: Memory, xs: Any, i: Any = -1) -> Any:
    size, i = list.__len__(xs), operator.index(i)
    if not -size <= i < size:
        list.pop(xs, i)  # Python's own message
    place = range(size)[i]
    value = list.__getitem__(xs, place)
    undo = _replace(memory, xs, place, place + 1, ())

    def pop_back(y_bar: Any) -> tuple[None, ...]:
        undo()
        memory.add_item(xs, place, y_bar)
        return None, None, None

    return value, pop_back


@structural((list, "remove"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    try:
        place = list.index(xs, value)
    except ValueError:
        place = -1
    if place < 0:
        list.remove(xs, value)  # Python's own message
    return None, _replace_all(memory, xs, place, place + 1, (), 2)


@structural((list, "clear"))
def _(memory: Memory, xs: Any) -> Any:
    return None, _replace_all(memory, xs, 0, list.__len__(xs), (), 1)


@structural((list, "__delitem__"))
def _(memory: Memory, xs: Any, index: Any) -> Any:
    if not isinstance(index, slice):
        size, i = list.__len__(xs), operator.index(index)
        if not -size <= i < size:
            list.__delitem__(xs, i)  # Python's own message
        place = range(size)[i]
        return None, _replace_all(memory, xs, place, place + 1, (), 2)
    start, stop, step = index.indices(list.__len__(xs))
    if step == 1:
        return None, _replace_all(memory, xs, start, max(start, stop), (), 2)
    keep = list(range(list.__len__(xs)))
    del keep[index]
    return None, _rearrange(memory, xs, keep, 2)


# ---- other elements ------------------------------------------------------------------------------


@structural((list, "reverse"))
def _(memory: Memory, xs: Any) -> Any:
    return None, _rearrange(memory, xs, list(range(list.__len__(xs)))[::-1], 1)


@structural((list, "sort"))
def _(memory: Memory, xs: Any, **options: Any) -> Any:
    if options.get("key") is not None:
        return NotImplemented
    values = [*list.__iter__(xs)]
    backwards = options.get("reverse", False)
    order = sorted(range(len(values)), key=values.__getitem__, reverse=backwards)
    return None, _rearrange(memory, xs, order, 1 + len(options))


@substitute((list, "sort"))
def _(xs: Any, *, key: Any = None, reverse: Any = False) -> None:
    """Sort in place; the key function sees an empty list, as in Python."""
    values = list.copy(xs)
    list.clear(xs)
    try:
        values = sorted(values, key=key, reverse=reverse)
    finally:
        list.__setitem__(xs, slice(None), values)


@structural((list, "__imul__"))
def _(memory: Memory, xs: Any, k: Any) -> Any:
    order = list(range(list.__len__(xs))) * max(operator.index(k), 0)
    return xs, _rearrange(memory, xs, order, 2)


@structural((list, "__setitem__"))
def _(memory: Memory, xs: Any, index: Any, values: Any) -> Any:
    size = list.__len__(xs)
    if not isinstance(index, slice):
        if not hasattr(type(index), "__index__") or not -size <= operator.index(index) < size:
            list.__setitem__(xs, index, values)  # Python's own message
        place = operator.index(index) % size
        return None, _replace_one(memory, xs, place, place + 1, values, 3)
    if type(values) not in (list, tuple):
        if not is_iterable(values):
            list.__setitem__(xs, index, values)  # Python's own message
        return NotImplemented
    start, stop, step = index.indices(size)
    if step == 1:
        return None, _replace_all(memory, xs, start, max(start, stop), values, 3)
    return None, _replace_each(memory, xs, range(size)[index], index, values)


def _replace_each(memory: Memory, xs: Any, places: range, index: slice, values: Any) -> Any:
    """Run ``xs[start:stop:step] = values``; return its pullback."""
    if len(places) != len(values):
        list.__setitem__(xs, index, values)  # Python's own message
    undoing = [
        _replace(memory, xs, place, place + 1, (value,))
        for place, value in zip(places, [*values], strict=True)
    ]

    def replaced_back(_: Any) -> tuple[None, ...]:
        bars = [undo()[0] for undo in reversed(undoing)]
        for i, bar in enumerate(reversed(bars)):
            memory.add_item(values, i, bar)
        return None, None, None, None

    return replaced_back


@substitute((list, "__setitem__"))
def _(xs: Any, index: Any, values: Any) -> None:
    list.__setitem__(xs, index, list(iter(values)))  # C calls ``iter`` twice
