"""Deques: both ends cost O(1), so the shadow of a deque is a deque, changed at the same end."""

from __future__ import annotations

import operator
from collections import deque
from functools import partial
from typing import Any

from adjoint.primal.container_contents import ABSENT
from adjoint.rulekit.registry import non_differentiable, primitive, structural, substitute
from adjoint.runtime.memory.log_entries import swap_end, swap_with
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.builtin_iterators import Items


def _shadow(memory: Memory, xs: Any) -> Any:
    shadow = memory.shadows.get(id(xs))
    if shadow is not None and type(shadow) is not deque:
        shadow = memory.shadows[id(xs)] = deque(shadow)
    return shadow


def _maxlen(xs: Any) -> Any:
    """Return the maximum length, even if a subclass overrides ``maxlen``."""
    return _MAXLEN.__get__(xs)


_MAXLEN: Any = vars(deque)["maxlen"]


# ---- the two ends --------------------------------------------------------------------------------


def _ends(xs: Any, left: bool) -> tuple[Any, Any]:
    """Return the functions that push and pop at one end."""
    if left:
        return partial(deque.appendleft, xs), partial(deque.popleft, xs)
    return partial(deque.append, xs), partial(deque.pop, xs)


def _push(memory: Memory, xs: Any, value: Any, left: bool) -> Any:
    size, most = deque.__len__(xs), _maxlen(xs)
    if most == 0:
        return None, None
    dropped = _pull(memory, xs, not left)[1] if size == most else None
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


# ---- emptied, limited ----------------------------------------------------------------------------


@structural((deque, "clear"))
def _(memory: Memory, xs: Any) -> Any:
    return _emptied(memory, xs, _maxlen(xs), 1)


def _limit(xs: Any, maxlen: Any) -> None:
    """Empty a deque and set its maximum length."""
    deque.__init__(xs, (), maxlen)


@structural(_limit)
def _(memory: Memory, xs: Any, maxlen: Any) -> Any:
    return _emptied(memory, xs, maxlen, 2)


def _emptied(memory: Memory, xs: Any, maxlen: Any, n: int) -> Any:
    held, most = tuple(deque.__iter__(xs)), _maxlen(xs)
    empty = partial(deque.__init__, xs, (), maxlen)
    empty()
    position = memory.note(swap_with, partial(deque.__init__, xs, held, most), empty)

    def emptied_back(_: Any) -> tuple[None, ...]:
        memory.rewind(position)
        memory.shadows.pop(id(xs), None)
        return (None,) * (n + 1)

    return None, emptied_back


@substitute((deque, "__init__"))
def _(xs: Any, iterable: Any = (), maxlen: Any = None) -> None:
    _limit(xs, maxlen)
    for value in iterable:
        deque.append(xs, value)


@substitute(deque)
def _(iterable: Any = (), maxlen: Any = None) -> Any:
    made = _new(maxlen)
    for value in iterable:
        deque.append(made, value)
    return made


def _new(maxlen: Any) -> Any:
    return deque(maxlen=maxlen)


# ---- operations built on the ends ----------------------------------------------------------------


def _safe_source(iterable: Any, xs: Any) -> Any:
    """Copy `iterable` if it is `xs`: a deque may be extended by itself."""
    return list(iterable) if iterable is xs else iterable


@substitute((deque, "extend"))
def _(xs: Any, iterable: Any) -> None:
    for value in _safe_source(iterable, xs):
        deque.append(xs, value)


@substitute((deque, "extendleft"))
def _(xs: Any, iterable: Any) -> None:
    for value in _safe_source(iterable, xs):
        deque.appendleft(xs, value)


@substitute((deque, "rotate"))
def _(xs: Any, n: Any = 1) -> None:
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


@structural((deque, "__setitem__"))
def _(memory: Memory, xs: Any, i: Any, value: Any) -> Any:
    """Assign one element in place; operations at the ends would invalidate iterators."""
    place = _place(xs, i)
    put = partial(deque.__setitem__, xs, place)
    undo, redo = partial(put, deque.__getitem__(xs, place)), partial(put, value)
    redo()
    position = memory.note(swap_with, undo, redo)

    def put_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        shadow = _shadow(memory, xs)
        if shadow is None:
            return None, None, None, None
        value_bar, shadow[place] = shadow[place], None
        return None, None, None, value_bar

    return None, put_back


@substitute((deque, "__delitem__"))
def _(xs: Any, i: Any) -> None:
    place = _place(xs, i)
    deque.rotate(xs, -place)
    deque.popleft(xs)
    deque.rotate(xs, place)


def _place(xs: Any, i: Any) -> int:
    place, size = operator.index(i), deque.__len__(xs)
    if not -size <= place < size:
        raise IndexError("deque index out of range")
    return place % size


@substitute((deque, "insert"))
def _(xs: Any, i: Any, value: Any) -> None:
    size, most = deque.__len__(xs), _maxlen(xs)
    if most is not None and size >= most:
        raise IndexError("deque already at its maximum size")
    place = min(max(i + size if i < 0 else i, 0), size)
    deque.rotate(xs, -place)
    deque.appendleft(xs, value)
    deque.rotate(xs, place)


@substitute((deque, "remove"))
def _(xs: Any, value: Any) -> None:
    deque.__delitem__(xs, deque.index(xs, value))


@substitute((deque, "reverse"))
def _(xs: Any) -> None:
    values = [*deque.__iter__(xs)]
    for i, value in enumerate(values, 1):  # not by pops, which invalidate iterators
        deque.__setitem__(xs, -i, value)


# ---- new deques ----------------------------------------------------------------------------------


@substitute((deque, "copy"), (deque, "__copy__"))
def _(xs: Any) -> Any:
    """Copy a deque of a subclass by a call of its class, as C does."""
    maxlen = _maxlen(xs)
    return type(xs)(xs) if maxlen is None else type(xs)(xs, maxlen)


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


non_differentiable(_place, _maxlen, _new)


# ---- iteration -----------------------------------------------------------------------------------


class DequeIterator(Items):
    """An iterator over a deque; Python's own iterator detects changes of its size."""

    def __init__(self, memory: Any, xs: Any) -> None:
        super().__init__(memory, xs)
        self.values: Any = deque.__iter__(xs)

    def step(self, record: list[Any], slot: int) -> Any:
        value, i, memory, xs = next(self.values), self.i, self.memory, self.xs
        self.i += 1

        def step_back(bar: Any) -> None:
            memory.add_item(xs, i, bar)

        record[slot] = step_back
        return value


@primitive((deque, "__iter__"))
def _(record: list[Any], slot: int, xs: Any) -> Any:
    return DequeIterator(record[0], xs)


@substitute((deque, "__reversed__"))
def _(xs: Any) -> Any:
    return iter([*deque.__iter__(xs)][::-1])
