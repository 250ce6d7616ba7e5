"""Lists, tuples and deques: where each element came from, and where it went.

Structural rules: the cotangent of a container is its shadow, a list of the same length in
``memory``. The reverse of an operation that changes a list changes the shadow the other way round.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Sequence
from typing import Any

from adjoint.rules.registry import non_differentiable, structural, substitute
from adjoint.run.memory import ABSENT, Memory, swap_end, swap_slice

Result = tuple[Any, Any]

non_differentiable(
    (list, "index"),
    (list, "count"),
    (list, "__contains__"),
    (list, "__len__"),
    (list, "__eq__"),
    (list, "__ne__"),
    (list, "__lt__"),
    (list, "__le__"),
    (list, "__gt__"),
    (list, "__ge__"),
    (tuple, "index"),
    (tuple, "count"),
    (tuple, "__contains__"),
    (tuple, "__len__"),
    (tuple, "__eq__"),
    (tuple, "__ne__"),
    (tuple, "__lt__"),
    (tuple, "__le__"),
    (tuple, "__gt__"),
    (tuple, "__ge__"),
    (deque, "index"),
    (deque, "count"),
    (deque, "__contains__"),
    (deque, "__len__"),
    (range, "index"),
    (range, "count"),
    (range, "__len__"),
    (list, "__repr__"),
    (tuple, "__repr__"),
    (tuple, "__hash__"),
)


# ---- new containers made of the elements of others -----------------------------------------------


def moved(memory: Memory, y: Any, origins: Sequence[tuple[Any, int] | None], n: int) -> Result:
    """A new container `y` whose element i is element ``origins[i][1]`` of ``origins[i][0]``; `n`
    operands."""

    def moved_back(_: Any) -> tuple[None, ...]:
        shadow = memory.shadows.pop(id(y), None)
        if shadow is not None:
            for origin, bar in zip(origins, shadow, strict=True):
                if bar is not None and origin is not None:
                    memory.add_item(*origin, bar)
        return (None,) * (n + 1)

    return y, moved_back


@structural((list, "__add__"), (tuple, "__add__"))
def _(memory: Memory, a: Any, b: Any) -> Any:
    y = a + b
    return moved(memory, y, [*((a, i) for i in range(len(a))), *((b, i) for i in range(len(b)))], 2)


@structural((list, "__mul__"), (tuple, "__mul__"), (list, "__rmul__"), (tuple, "__rmul__"))
def _(memory: Memory, a: Any, k: Any) -> Any:
    y = a * k
    return moved(memory, y, [(a, i) for i in range(len(a))] * max(operator.index(k), 0), 2)


@structural((list, "__getitem__"), (tuple, "__getitem__"), (deque, "__getitem__"))
def _(memory: Memory, a: Any, index: Any) -> Any:
    if isinstance(index, slice):
        return moved(memory, a[index], [(a, i) for i in range(len(a))[index]], 2)
    place = range(len(a))[index]

    def item_back(y_bar: Any) -> tuple[None, ...]:
        memory.add_item(a, place, y_bar)
        return None, None, None

    return a[index], item_back


@structural((list, "copy"), (deque, "copy"), (list, "__copy__"), (deque, "__copy__"))
def _(memory: Memory, a: Any) -> Any:
    return moved(
        memory,
        list.copy(a) if isinstance(a, list) else a.copy(),
        [(a, i) for i in range(len(a))],
        1,
    )


# ---- lists changed in place ----------------------------------------------------------------------


@structural((list, "append"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    n = len(xs)
    xs.append(value)
    position = memory.note(swap_slice, xs, n, n + 1, [])

    def append_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        shadow = memory.shadows.get(id(xs))
        return None, None, None if shadow is None else shadow.pop()

    return None, append_back


def replace(memory: Memory, xs: Any, start: int, stop: int, values: Sequence[Any]) -> Any:
    """``xs[start:stop] = values``; returns what takes the cotangents of `values` and puts back room
    for the old."""
    old = xs[start:stop]
    list.__setitem__(xs, slice(start, stop), values)
    position = memory.note(swap_slice, xs, start, start + len(values), old)

    def undo() -> list[Any]:
        memory.rewind(position)
        shadow = memory.shadows.get(id(xs))
        if shadow is None:
            return [None] * len(values)
        taken: list[Any] = shadow[start : start + len(values)]
        shadow[start : start + len(values)] = [None] * len(old)
        return taken

    return undo


@structural((list, "extend"), (list, "__iadd__"))
def _(memory: Memory, xs: Any, values: Any) -> Any:
    if type(values) not in (list, tuple):
        return NotImplemented
    values = list(values) if values is xs else values
    n = len(values)
    undo = replace(memory, xs, len(xs), len(xs), values)

    def extend_back(_: Any) -> tuple[None, ...]:
        for i, bar in enumerate(undo()[:n]):
            memory.add_item(values, i, bar)
        return None, None, None

    return xs, extend_back


@substitute((list, "extend"))
def extend(xs: Any, values: Any) -> None:
    for value in values:
        list.append(xs, value)


@substitute((list, "__init__"))
def _(xs: Any, values: Any = (), /) -> None:
    list.__setitem__(xs, slice(None), [*values])


@substitute((list, "__iadd__"))
def _(xs: Any, values: Any) -> Any:
    for value in values:
        list.append(xs, value)
    return xs


@structural((list, "insert"))
def _(memory: Memory, xs: Any, i: Any, value: Any) -> Any:
    place = slice(i, None).indices(len(xs))[0]
    undo = replace(memory, xs, place, place, [value])
    return None, lambda _: (None, None, None, undo()[0])


@structural((list, "pop"))
def _(memory: Memory, xs: Any, i: Any = -1) -> Any:
    if not xs or not -len(xs) <= i < len(xs):
        xs.pop(i)  # Python's own message
    place = range(len(xs))[i]
    value = xs[place]
    undo = replace(memory, xs, place, place + 1, ())

    def pop_back(y_bar: Any) -> tuple[None, ...]:
        undo()
        memory.add_item(xs, place, y_bar)
        return None, None, None

    return value, pop_back


@structural((list, "remove"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    place = xs.index(value)
    undo = replace(memory, xs, place, place + 1, ())

    def remove_back(_: Any) -> tuple[None, ...]:
        undo()
        return None, None, None

    return None, remove_back


@structural((list, "__delitem__"))
def _(memory: Memory, xs: Any, index: Any) -> Any:
    keep = list(range(len(xs)))
    del keep[index]
    return None, _rearranged(memory, xs, keep, 2)


def _rearranged(memory: Memory, xs: Any, order: list[int], n: int) -> Any:
    """``xs[:] = [xs[i] for i in order]``."""
    size = len(xs)
    undo = replace(memory, xs, 0, size, [xs[i] for i in order])

    def rearranged_back(_: Any) -> tuple[None, ...]:
        for i, bar in zip(order, undo(), strict=True):
            memory.add_item(xs, i, bar)
        return (None,) * (n + 1)

    return rearranged_back


@structural((list, "clear"))
def _(memory: Memory, xs: Any) -> Any:
    return None, _rearranged(memory, xs, [], 1)


@structural((list, "reverse"))
def _(memory: Memory, xs: Any) -> Any:
    return None, _rearranged(memory, xs, list(range(len(xs)))[::-1], 1)


@structural((list, "sort"))
def _(memory: Memory, xs: Any, **options: Any) -> Any:
    if options.get("key") is not None:
        return NotImplemented
    order = sorted(range(len(xs)), key=xs.__getitem__, reverse=options.get("reverse", False))
    return None, _rearranged(memory, xs, order, 1 + len(options))


@substitute((list, "sort"))
def sort(xs: Any, *, key: Any = None, reverse: Any = False) -> None:
    list.__setitem__(xs, slice(None), sorted(xs, key=key, reverse=reverse))


@structural((list, "__imul__"))
def _(memory: Memory, xs: Any, k: Any) -> Any:
    back = _rearranged(memory, xs, list(range(len(xs))) * max(operator.index(k), 0), 2)
    return xs, back


@structural((list, "__setitem__"))
def _(memory: Memory, xs: Any, index: Any, values: Any) -> Any:
    if not isinstance(index, slice):
        place = range(len(xs))[index]
        undo = replace(memory, xs, place, place + 1, [values])
        return None, lambda _: (None, None, None, undo()[0])
    if type(values) not in (list, tuple):
        return NotImplemented
    values = list(values) if values is xs else values
    start, stop, step = index.indices(len(xs))
    n = len(values)
    if step == 1:
        undo = replace(memory, xs, start, max(start, stop), values)

        def slice_back(_: Any) -> tuple[None, ...]:
            for i, bar in enumerate(undo()[:n]):
                memory.add_item(values, i, bar)
            return None, None, None, None

        return None, slice_back
    places = list(range(len(xs))[index])
    if len(places) != n:
        xs[index] = values  # Python's own message
    new = list(xs)
    new[index] = values
    undo = replace(memory, xs, 0, len(xs), new)

    def stepped_back(_: Any) -> tuple[None, ...]:
        bars = undo()
        for i, place in enumerate(places):
            memory.add_item(values, i, bars[place])
            bars[place] = None
        for i, bar in enumerate(bars):
            memory.add_item(xs, i, bar)
        return None, None, None, None

    return None, stepped_back


@substitute((list, "__setitem__"))
def _(xs: Any, index: Any, values: Any) -> None:
    list.__setitem__(xs, index, list(values))


# ---- deques --------------------------------------------------------------------------------------
#
# Both ends cost O(1): the shadow of a deque is a deque, changed at the same end.


def _shadow(memory: Memory, xs: Any) -> Any:
    shadow = memory.shadows.get(id(xs))
    if shadow is not None and type(shadow) is not deque:
        shadow = memory.shadows[id(xs)] = deque(shadow)
    return shadow


def _push(memory: Memory, xs: Any, value: Any, left: bool) -> Any:
    full = xs.maxlen is not None and len(xs) == xs.maxlen
    dropped = _pull(memory, xs, not left)[1] if full and xs else None
    (xs.appendleft if left else xs.append)(value)
    push, pop = (xs.appendleft, xs.popleft) if left else (xs.append, xs.pop)
    position = memory.note(swap_end, push, pop, ABSENT)

    def push_back(_: Any) -> tuple[Any, ...]:
        shadow = _shadow(memory, xs)
        bar = None if shadow is None else shadow.popleft() if left else shadow.pop()
        memory.rewind(position)
        if dropped is not None:
            dropped(None)
        return None, None, bar

    return None, push_back


def _pull(memory: Memory, xs: Any, left: bool) -> Any:
    value = xs.popleft() if left else xs.pop()
    push, pop = (xs.appendleft, xs.popleft) if left else (xs.append, xs.pop)
    position = memory.note(swap_end, push, pop, value)

    def pull_back(y_bar: Any) -> tuple[Any, ...]:
        shadow = _shadow(memory, xs)
        if shadow is None and y_bar is not None:
            shadow = memory.shadows[id(xs)] = deque([None] * len(xs))
        memory.rewind(position)
        if shadow is not None:
            (shadow.appendleft if left else shadow.append)(y_bar)
        return None, None

    return value, pull_back


@structural((deque, "append"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    return _push(memory, xs, value, left=False)


@structural((deque, "appendleft"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    return _push(memory, xs, value, left=True)


@structural((deque, "pop"))
def _(memory: Memory, xs: Any) -> Any:
    return _pull(memory, xs, left=False)


@structural((deque, "popleft"))
def _(memory: Memory, xs: Any) -> Any:
    return _pull(memory, xs, left=True)


@substitute((deque, "rotate"))
def rotate(xs: Any, n: Any = 1) -> None:
    size = len(xs)
    if not size:
        return
    steps = n % size
    if 2 * steps <= size:
        for _ in range(steps):
            xs.appendleft(xs.pop())
    else:
        for _ in range(size - steps):
            xs.append(xs.popleft())


@substitute((deque, "extend"), (deque, "__iadd__"))
def extend_deque(xs: Any, values: Any) -> Any:
    """Its own elements may be what it is extended with."""
    for value in list(values) if values is xs else values:
        xs.append(value)
    return xs


@substitute((deque, "extendleft"))
def extendleft(xs: Any, values: Any) -> None:
    for value in list(values) if values is xs else values:
        xs.appendleft(value)


@substitute((deque, "clear"))
def clear(xs: Any) -> None:
    while xs:
        xs.pop()


@substitute((deque, "__init__"))
def _(xs: Any, values: Any = (), maxlen: Any = None) -> None:
    """The greatest length of a subclass's instance is set by its ``__new__``, which has no rule."""
    for value in values:
        xs.append(value)


@substitute((deque, "__setitem__"))
def _(xs: Any, i: Any, value: Any) -> None:
    place = _place(xs, i, "deque index out of range")
    xs.rotate(-place)
    xs.popleft()
    xs.appendleft(value)
    xs.rotate(place)


@substitute((deque, "__delitem__"))
def _(xs: Any, i: Any) -> None:
    place = _place(xs, i, "deque index out of range")
    xs.rotate(-place)
    xs.popleft()
    xs.rotate(place)


@substitute((deque, "insert"))
def insert(xs: Any, i: Any, value: Any) -> None:
    if xs.maxlen is not None and len(xs) >= xs.maxlen:
        raise IndexError("deque already at its maximum size")
    place = min(max(i + len(xs) if i < 0 else i, 0), len(xs))
    xs.rotate(-place)
    xs.appendleft(value)
    xs.rotate(place)


@substitute((deque, "remove"))
def remove(xs: Any, value: Any) -> None:
    del xs[xs.index(value)]


@substitute((deque, "reverse"))
def reverse(xs: Any) -> None:
    for value in [xs.pop() for _ in range(len(xs))]:
        xs.append(value)


@substitute((deque, "__add__"))
def _(xs: Any, other: Any) -> Any:
    made = xs.copy()
    made.extend(other)
    return made


@substitute((deque, "__mul__"), (deque, "__rmul__"))
def _(xs: Any, k: Any) -> Any:
    made = xs.copy()
    made.clear()
    for _ in range(k):
        made.extend(xs)
    return made


@substitute((deque, "__imul__"))
def _(xs: Any, k: Any) -> Any:
    values = list(xs)
    xs.clear()
    for _ in range(k):
        xs.extend(values)
    return xs


def _place(xs: Any, i: Any, message: str) -> int:
    place = operator.index(i)
    if not -len(xs) <= place < len(xs):
        raise IndexError(message)
    return place % len(xs)


non_differentiable(_place)
