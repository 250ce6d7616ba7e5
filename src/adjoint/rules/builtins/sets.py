"""Sets: the shadow of a set is a dict by element. What is only compared carries no derivative."""

from __future__ import annotations

from typing import Any

from adjoint.rules.registry import non_differentiable, structural, substitute
from adjoint.run.memory import Memory, swap_whole

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
    (frozenset, "__contains__"),
    (frozenset, "__len__"),
    (frozenset, "__eq__"),
    (frozenset, "__hash__"),
)


@structural((set, "add"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if value in xs:
        return None, None
    position = memory.note(swap_whole, xs, set(xs))
    xs.add(value)

    def add_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, memory.take_entry(xs, value)

    return None, add_back


@structural((set, "discard"), (set, "remove"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if value not in xs:
        return NotImplemented
    position = memory.note(swap_whole, xs, set(xs))
    xs.remove(value)

    def discard_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None

    return None, discard_back


@structural((set, "pop"))
def _(memory: Memory, xs: Any) -> Any:
    position = memory.note(swap_whole, xs, set(xs))
    value = xs.pop()

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


@substitute((set, "update"))
def update(xs: Any, *others: Any) -> None:
    for other in others:
        for value in other:
            xs.add(value)


@substitute((set, "__ior__"))
def _(xs: Any, other: Any) -> Any:
    for value in other:
        xs.add(value)
    return xs


@substitute((set, "clear"))
def clear(xs: Any) -> None:
    for value in list(xs):
        xs.remove(value)


@substitute((set, "copy"), (frozenset, "copy"))
def copy(xs: Any) -> Any:
    return {value for value in xs}


@substitute((set, "union"), (set, "__or__"))
def union(xs: Any, *others: Any) -> Any:
    out = {value for value in xs}
    for other in others:
        for value in other:
            out.add(value)
    return out


@substitute((set, "intersection"), (set, "__and__"))
def intersection(xs: Any, *others: Any) -> Any:
    return {value for value in xs if all([value in other for other in others])}


@substitute((set, "difference"), (set, "__sub__"))
def difference(xs: Any, *others: Any) -> Any:
    return {value for value in xs if not any([value in other for other in others])}
