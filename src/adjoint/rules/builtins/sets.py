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
    if set.__contains__(xs, value):
        return None, None
    set.add(xs, value)
    position = memory.note(swap_with, partial(set.discard, xs, value), partial(set.add, xs, value))

    def add_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, memory.take_entry(xs, value)

    return None, add_back


def _removed(memory: Memory, xs: Any, value: Any) -> int:
    set.discard(xs, value)
    return memory.note(swap_with, partial(set.add, xs, value), partial(set.discard, xs, value))


@structural((set, "discard"), (set, "remove"))
def _(memory: Memory, xs: Any, value: Any) -> Any:
    if not set.__contains__(xs, value):
        return NotImplemented
    position = _removed(memory, xs, value)

    def discard_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None

    return None, discard_back


@structural((set, "pop"))
def _(memory: Memory, xs: Any) -> Any:
    if not set.__len__(xs):
        set.pop(xs)  # Python's own message
    value = next(set.__iter__(xs))
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


def _values(other: Any) -> Any:
    """The elements of an operand: C does not ask the ``__iter__`` of a set or a dict."""
    if isinstance(other, set):
        return [*set.__iter__(other)]
    if isinstance(other, frozenset):
        return [*frozenset.__iter__(other)]
    if isinstance(other, dict):
        return [*dict.keys(other)]
    return other


@substitute((set, "update"))
def update(xs: Any, *others: Any) -> None:
    for other in others:
        for value in _values(other):
            set.add(xs, value)


@substitute((set, "__init__"))
def _(xs: Any, other: Any = (), /) -> None:
    values = {value for value in _values(other)}
    set.clear(xs)
    set.update(xs, values)


@substitute((set, "difference_update"))
def difference_update(xs: Any, *others: Any) -> None:
    for other in others:
        for value in list(_values(other)):
            set.discard(xs, value)


@substitute((set, "intersection_update"))
def intersection_update(xs: Any, *others: Any) -> None:
    for other in others:
        kept = set(_values(other))
        for value in _values(xs):
            if value not in kept:
                set.discard(xs, value)


@substitute((set, "symmetric_difference_update"))
def symmetric_difference_update(xs: Any, other: Any) -> None:
    for value in set(_values(other)):
        if set.__contains__(xs, value):
            set.discard(xs, value)
        else:
            set.add(xs, value)


@substitute((set, "__ior__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    set.update(xs, other)
    return xs


@substitute((set, "__isub__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    set.difference_update(xs, other)
    return xs


@substitute((set, "__iand__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    set.intersection_update(xs, other)
    return xs


@substitute((set, "__ixor__"))
def _(xs: Any, other: Any) -> Any:
    if not isinstance(other, set | frozenset):
        return NotImplemented
    set.symmetric_difference_update(xs, other)
    return xs


@substitute((set, "clear"))
def clear(xs: Any) -> None:
    for value in _values(xs):
        set.discard(xs, value)


# ---- new sets ------------------------------------------------------------------------------------


@substitute(frozenset)
def _(xs: Any = ()) -> Any:
    return _frozen({value for value in xs})


@substitute((frozenset, "__new__"))
def _(kind: Any, xs: Any = (), /) -> Any:
    return _frozen({value for value in xs}, kind)


def _frozen(xs: Any, kind: Any = frozenset) -> Any:
    return frozenset.__new__(kind, xs)


@structural(_frozen)
def _(memory: Memory, xs: Any, kind: Any = frozenset) -> Any:
    y = frozenset.__new__(kind, xs)

    def frozen_back(_: Any) -> tuple[None, None, None]:
        for value in frozenset.__iter__(y):
            memory.add_entry(xs, value, memory.take_entry(y, value))
        return None, None, None

    return y, frozen_back


def _of_the_kind(xs: Any, values: Any) -> Any:
    """Operations of frozen sets give frozen sets."""
    return _frozen(values) if isinstance(xs, frozenset) else values


@substitute((set, "copy"), (set, "__copy__"))
def copy(xs: Any) -> Any:
    return {value for value in _values(xs)}


@substitute((frozenset, "copy"), (frozenset, "__copy__"))
def _(xs: Any) -> Any:
    return xs if type(xs) is frozenset else _frozen({value for value in _values(xs)})


@substitute((set, "union"), (frozenset, "union"))
def union(xs: Any, *others: Any) -> Any:
    out = {value for value in _values(xs)}
    for other in others:
        for value in _values(other):
            out.add(value)
    return _of_the_kind(xs, out)


@substitute((set, "intersection"), (frozenset, "intersection"))
def intersection(xs: Any, *others: Any) -> Any:
    kept = [set(_values(other)) for other in others]
    return _of_the_kind(
        xs, {value for value in _values(xs) if all([value in other for other in kept])}
    )


@substitute((set, "difference"), (frozenset, "difference"))
def difference(xs: Any, *others: Any) -> Any:
    dropped = [set(_values(other)) for other in others]
    return _of_the_kind(
        xs, {value for value in _values(xs) if not any([value in other for other in dropped])}
    )


@substitute((set, "symmetric_difference"), (frozenset, "symmetric_difference"))
def symmetric_difference(xs: Any, other: Any) -> Any:
    out = {value for value in _values(xs)}
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
