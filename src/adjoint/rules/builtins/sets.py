"""Sets: the shadow of a set is a dict by element. What is only compared carries no derivative."""

from __future__ import annotations

from functools import partial
from typing import Any

from adjoint.rules.registry import non_differentiable, structural, substitute
from adjoint.run.memory import Memory, swap_with

non_differentiable(
    (set, "__contains__"),
    (set, "__len__"),
    (set, "isdisjoint"),
    (set, "issubset"),
    (set, "issuperset"),
    (set, "__eq__"),
    (set, "__ne__"),
    (set, "__le__"),
    (set, "__lt__"),
    (set, "__ge__"),
    (set, "__gt__"),
    (set, "__repr__"),
    (frozenset, "__contains__"),
    (frozenset, "__len__"),
    (frozenset, "__eq__"),
    (frozenset, "__ne__"),
    (frozenset, "__le__"),
    (frozenset, "__lt__"),
    (frozenset, "__ge__"),
    (frozenset, "__gt__"),
    (frozenset, "__hash__"),
    (frozenset, "__repr__"),
    (frozenset, "isdisjoint"),
    (frozenset, "issubset"),
    (frozenset, "issuperset"),
)


@structural((set, "add"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if value in xs:
        return None, None
    xs.add(value)
    position = memory.note(swap_with, partial(set.discard, xs, value), partial(set.add, xs, value))

    def add_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, memory.take_entry(xs, value)

    return None, add_back


def _removed(memory: Memory, xs: Any, value: Any) -> int:
    xs.discard(value)
    return memory.note(swap_with, partial(set.add, xs, value), partial(set.discard, xs, value))


@structural((set, "discard"), (set, "remove"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if value not in xs:
        return NotImplemented
    position = _removed(memory, xs, value)

    def discard_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None

    return None, discard_back


@structural((set, "pop"))
def _(memory: Memory, xs: Any) -> Any:
    if not xs:
        xs.pop()  # Python's own message
    value = next(iter(xs))
    position = _removed(memory, xs, value)

    def pop_back(y_bar: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        memory.add_entry(xs, value, y_bar)
        return None, None

    return value, pop_back


@substitute((set, "discard"))
def discard(xs: Any, value: Any) -> None:
    return None


@substitute((set, "remove"))
def remove(xs: Any, value: Any) -> None:
    raise KeyError(value)


# ---- in place ------------------------------------------------------------------------------------


@substitute((set, "update"), (set, "__init__"))
def update(xs: Any, *others: Any) -> None:
    for other in others:
        for value in list(other) if other is xs else other:
            set.add(xs, value)


@substitute((set, "difference_update"))
def difference_update(xs: Any, *others: Any) -> None:
    for other in others:
        for value in list(other):
            xs.discard(value)


@substitute((set, "intersection_update"))
def intersection_update(xs: Any, *others: Any) -> None:
    for other in others:
        kept = set(other)
        for value in list(xs):
            if value not in kept:
                xs.discard(value)


@substitute((set, "symmetric_difference_update"))
def symmetric_difference_update(xs: Any, other: Any) -> None:
    for value in set(other):
        if value in xs:
            xs.discard(value)
        else:
            xs.add(value)


@substitute((set, "__ior__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    xs.update(other)
    return xs


@substitute((set, "__isub__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    xs.difference_update(other)
    return xs


@substitute((set, "__iand__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    xs.intersection_update(other)
    return xs


@substitute((set, "__ixor__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    xs.symmetric_difference_update(other)
    return xs


@substitute((set, "clear"))
def clear(xs: Any) -> None:
    for value in list(xs):
        xs.remove(value)


# ---- new sets ------------------------------------------------------------------------------------


@substitute(frozenset)
def _(xs: Any = ()) -> Any:
    return _frozen({value for value in xs})


def _frozen(xs: Any) -> Any:
    return frozenset(xs)


@structural(_frozen)
def _(memory: Memory, xs: Any) -> Any:
    y = frozenset(xs)

    def frozen_back(_: Any) -> tuple[None, None]:
        for value in y:
            memory.add_entry(xs, value, memory.take_entry(y, value))
        return None, None

    return y, frozen_back


def _of_the_kind(xs: Any, values: Any) -> Any:
    """Operations of frozen sets give frozen sets."""
    return _frozen(values) if isinstance(xs, frozenset) else values


@substitute((set, "copy"), (set, "__copy__"))
def copy(xs: Any) -> Any:
    return {value for value in xs}


@substitute((frozenset, "copy"), (frozenset, "__copy__"))
def _(xs: Any) -> Any:
    return xs


@substitute((set, "union"), (frozenset, "union"))
def union(xs: Any, *others: Any) -> Any:
    out = {value for value in xs}
    for other in others:
        for value in other:
            out.add(value)
    return _of_the_kind(xs, out)


@substitute((set, "intersection"), (frozenset, "intersection"))
def intersection(xs: Any, *others: Any) -> Any:
    kept = [set(other) for other in others]
    return _of_the_kind(xs, {value for value in xs if all([value in other for other in kept])})


@substitute((set, "difference"), (frozenset, "difference"))
def difference(xs: Any, *others: Any) -> Any:
    dropped = [set(other) for other in others]
    return _of_the_kind(
        xs, {value for value in xs if not any([value in other for other in dropped])}
    )


@substitute((set, "symmetric_difference"), (frozenset, "symmetric_difference"))
def symmetric_difference(xs: Any, other: Any) -> Any:
    out = {value for value in xs}
    out.symmetric_difference_update(other)
    return _of_the_kind(xs, out)


def _operator(name: str, method: Any) -> None:
    @substitute((set, name), (frozenset, name))
    def _(xs: Any, other: Any) -> Any:
        if not isinstance(xs, set | frozenset) or not isinstance(other, set | frozenset):
            return NotImplemented
        return method(xs, other)


_operator("__or__", union)
_operator("__and__", intersection)
_operator("__sub__", difference)
_operator("__xor__", symmetric_difference)
