"""Lists, tuples and deques: where each element came from, and where it went.

Structural rules: the cotangent of a container is its shadow, a list of the same length in
``memory``. The reverse of an operation that changes a list changes the shadow the other way round.

A rule of a base class's method reaches the elements by the base class's own methods, as C does: an
override in a subclass, which may be what has called it, is not run a second time.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from adjoint.rules.registry import non_differentiable, structural, substitute
from adjoint.run.memory import ABSENT, Memory, size_of, swap_end, swap_slice

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


def _base(xs: Any) -> Any:
    """The builtin type that the rules below were written for."""
    return list if isinstance(xs, list) else tuple if isinstance(xs, tuple) else deque


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
    kind = _base(a)
    if not isinstance(b, kind):
        return NotImplemented, None  # the other's own method is asked, or Python's message given
    y = kind.__add__(a, b)
    origins = [(xs, i) for xs in (a, b) for i in range(size_of(xs))]
    return moved(memory, y, origins, 2)


@structural((list, "__mul__"), (tuple, "__mul__"), (list, "__rmul__"), (tuple, "__rmul__"))
def _(memory: Memory, a: Any, k: Any) -> Any:
    if not hasattr(type(k), "__index__"):
        return NotImplemented, None
    y = _base(a).__mul__(a, k)
    return moved(memory, y, [(a, i) for i in range(size_of(a))] * max(operator.index(k), 0), 2)


@structural((list, "__getitem__"), (tuple, "__getitem__"), (deque, "__getitem__"))
def _(memory: Memory, a: Any, index: Any) -> Any:
    y = _base(a).__getitem__(a, index)
    places = range(size_of(a))[index]
    if isinstance(index, slice):
        return moved(memory, y, [(a, i) for i in places], 2)

    def item_back(y_bar: Any) -> tuple[None, ...]:
        memory.add_item(a, places, y_bar)
        return None, None, None

    return y, item_back


@structural((list, "copy"), (deque, "copy"), (list, "__copy__"), (deque, "__copy__"))
def _(memory: Memory, a: Any) -> Any:
    if isinstance(a, deque) and type(a) is not deque:
        return NotImplemented
    return moved(memory, _base(a).copy(a), [(a, i) for i in range(size_of(a))], 1)


# ---- lists changed in place ----------------------------------------------------------------------


@structural((list, "append"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    n = list.__len__(xs)
    list.append(xs, value)
    position = memory.note(swap_slice, xs, n, n + 1, [])

    def append_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        shadow = memory.shadows.get(id(xs))
        return None, None, None if shadow is None else shadow.pop()

    return None, append_back


def replace(memory: Memory, xs: Any, start: int, stop: int, values: Sequence[Any]) -> Any:
    """``xs[start:stop] = values``; returns what takes the cotangents of `values` and puts back room
    for the old."""
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


@structural((list, "extend"), (list, "__iadd__"))
def _(memory: Memory, xs: Any, values: Any) -> Any:
    if type(values) not in (list, tuple):
        return NotImplemented
    n = len(values)
    size = list.__len__(xs)
    undo = replace(memory, xs, size, size, values)

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
    place = slice(i, None).indices(list.__len__(xs))[0]
    undo = replace(memory, xs, place, place, [value])
    return None, lambda _: (None, None, None, undo()[0])


@structural((list, "pop"))
def _(memory: Memory, xs: Any, i: Any = -1) -> Any:
    size, i = list.__len__(xs), operator.index(i)
    if not -size <= i < size:
        list.pop(xs, i)  # Python's own message
    place = range(size)[i]
    value = list.__getitem__(xs, place)
    undo = replace(memory, xs, place, place + 1, ())

    def pop_back(y_bar: Any) -> tuple[None, ...]:
        undo()
        memory.add_item(xs, place, y_bar)
        return None, None, None

    return value, pop_back


@structural((list, "remove"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    place = list.index(xs, value)
    undo = replace(memory, xs, place, place + 1, ())

    def remove_back(_: Any) -> tuple[None, ...]:
        undo()
        return None, None, None

    return None, remove_back


@structural((list, "__delitem__"))
def _(memory: Memory, xs: Any, index: Any) -> Any:
    keep = list(range(list.__len__(xs)))
    del keep[index]
    return None, _rearranged(memory, xs, keep, 2)


def _rearranged(memory: Memory, xs: Any, order: list[int], n: int) -> Any:
    """``xs[:] = [xs[i] for i in order]``."""
    size = list.__len__(xs)
    undo = replace(memory, xs, 0, size, [list.__getitem__(xs, i) for i in order])

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
    return None, _rearranged(memory, xs, list(range(list.__len__(xs)))[::-1], 1)


@structural((list, "sort"))
def _(memory: Memory, xs: Any, **options: Any) -> Any:
    if options.get("key") is not None:
        return NotImplemented
    values = [*list.__iter__(xs)]
    backwards = options.get("reverse", False)
    order = sorted(range(len(values)), key=values.__getitem__, reverse=backwards)
    return None, _rearranged(memory, xs, order, 1 + len(options))


@substitute((list, "sort"))
def sort(xs: Any, *, key: Any = None, reverse: Any = False) -> None:
    values = sorted(list.copy(xs), key=key, reverse=reverse)
    list.__setitem__(xs, slice(None), values)


@structural((list, "__imul__"))
def _(memory: Memory, xs: Any, k: Any) -> Any:
    back = _rearranged(memory, xs, list(range(list.__len__(xs))) * max(operator.index(k), 0), 2)
    return xs, back


@structural((list, "__setitem__"))
def _(memory: Memory, xs: Any, index: Any, values: Any) -> Any:
    if not isinstance(index, slice):
        size = list.__len__(xs)
        if not hasattr(type(index), "__index__") or not -size <= operator.index(index) < size:
            list.__setitem__(xs, index, values)  # Python's own message
        place = operator.index(index) % size
        undo = replace(memory, xs, place, place + 1, [values])
        return None, lambda _: (None, None, None, undo()[0])
    if type(values) not in (list, tuple):
        return NotImplemented
    size = list.__len__(xs)
    start, stop, step = index.indices(size)
    n = len(values)
    if step == 1:
        undo = replace(memory, xs, start, max(start, stop), values)

        def slice_back(_: Any) -> tuple[None, ...]:
            for i, bar in enumerate(undo()[:n]):
                memory.add_item(values, i, bar)
            return None, None, None, None

        return None, slice_back
    places = list(range(size)[index])
    if len(places) != n:
        list.__setitem__(xs, index, values)  # Python's own message
    new = list.copy(xs)
    new[index] = values
    undo = replace(memory, xs, 0, size, new)

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


def _ends(xs: Any, left: bool) -> tuple[Any, Any]:
    """What pushes and what pops at one end."""
    if left:
        return partial(deque.appendleft, xs), partial(deque.popleft, xs)
    return partial(deque.append, xs), partial(deque.pop, xs)


def _maxlen(xs: Any) -> Any:
    """The greatest length, whatever a subclass calls by that name."""
    return _MAXLEN.__get__(xs)


_MAXLEN: Any = vars(deque)["maxlen"]


def _push(memory: Memory, xs: Any, value: Any, left: bool) -> Any:
    size, most = deque.__len__(xs), _maxlen(xs)
    dropped = _pull(memory, xs, not left)[1] if size and size == most else None
    push, pop = _ends(xs, left)
    push(value)
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
    push, pop = _ends(xs, left)
    value = pop()
    position = memory.note(swap_end, push, pop, value)

    def pull_back(y_bar: Any) -> tuple[Any, ...]:
        shadow = _shadow(memory, xs)
        if shadow is None and y_bar is not None:
            shadow = memory.shadows[id(xs)] = deque([None] * deque.__len__(xs))
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
    size = deque.__len__(xs)
    if not size:
        return
    steps = n % size
    if 2 * steps <= size:
        for _ in range(steps):
            deque.appendleft(xs, deque.pop(xs))
    else:
        for _ in range(size - steps):
            deque.append(xs, deque.popleft(xs))


@substitute((deque, "extend"), (deque, "__iadd__"))
def extend_deque(xs: Any, values: Any) -> Any:
    """Its own elements may be what it is extended with."""
    for value in list(values) if values is xs else values:
        deque.append(xs, value)
    return xs


@substitute((deque, "extendleft"))
def extendleft(xs: Any, values: Any) -> None:
    for value in list(values) if values is xs else values:
        deque.appendleft(xs, value)


@substitute((deque, "clear"))
def clear(xs: Any) -> None:
    while deque.__len__(xs):
        deque.pop(xs)


@substitute((deque, "__init__"))
def _(xs: Any, values: Any = (), maxlen: Any = None) -> None:
    deque.clear(xs)
    _limit(xs, maxlen)
    for value in values:
        deque.append(xs, value)


def _limit(xs: Any, maxlen: Any) -> None:
    """Set the greatest length of an empty deque."""
    deque.__init__(xs, (), maxlen)


@substitute((deque, "copy"), (deque, "__copy__"))
def _(xs: Any) -> Any:
    """Of a subclass: made by its own class, as in C."""
    maxlen = _maxlen(xs)
    return type(xs)(xs) if maxlen is None else type(xs)(xs, maxlen)


@substitute((deque, "__setitem__"))
def _(xs: Any, i: Any, value: Any) -> None:
    place = _place(xs, i, "deque index out of range")
    deque.rotate(xs, -place)
    deque.popleft(xs)
    deque.appendleft(xs, value)
    deque.rotate(xs, place)


@substitute((deque, "__delitem__"))
def _(xs: Any, i: Any) -> None:
    place = _place(xs, i, "deque index out of range")
    deque.rotate(xs, -place)
    deque.popleft(xs)
    deque.rotate(xs, place)


@substitute((deque, "insert"))
def insert(xs: Any, i: Any, value: Any) -> None:
    size, most = deque.__len__(xs), _maxlen(xs)
    if most is not None and size >= most:
        raise IndexError("deque already at its maximum size")
    place = min(max(i + size if i < 0 else i, 0), size)
    deque.rotate(xs, -place)
    deque.appendleft(xs, value)
    deque.rotate(xs, place)


@substitute((deque, "remove"))
def remove(xs: Any, value: Any) -> None:
    deque.__delitem__(xs, deque.index(xs, value))


@substitute((deque, "reverse"))
def reverse(xs: Any) -> None:
    for value in [deque.pop(xs) for _ in range(deque.__len__(xs))]:
        deque.append(xs, value)


@substitute((deque, "__add__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, deque):
        return NotImplemented
    made = deque.copy(xs)
    deque.extend(made, other)
    return made


@substitute((deque, "__mul__"), (deque, "__rmul__"))
def _(xs: Any, k: Any) -> Any:
    return deque.__imul__(deque.copy(xs), k)


@substitute((deque, "__imul__"))
def _(xs: Any, k: Any) -> Any:
    values = list(xs)
    if k <= 0:
        deque.clear(xs)
    for _ in range(k - 1):
        deque.extend(xs, values)
    return xs


def _place(xs: Any, i: Any, message: str) -> int:
    place, size = operator.index(i), deque.__len__(xs)
    if not -size <= place < size:
        raise IndexError(message)
    return place % size


non_differentiable(_place, _maxlen, _limit)
