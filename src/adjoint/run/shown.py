"""Fields of exceptions that C holds, such as ``StopIteration.value``: they show what was given."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from adjoint.run.accumulate import accumulate
from adjoint.run.kinds import by_value, is_of_builtins
from adjoint.run.memory import Memory

__all__ = ["bars_of_args", "shown_by"]


class Shown(NamedTuple):
    """A field, and which argument it shows: by its position or its name; of a tuple that was given,
    the element at `within`."""

    field: str
    place: int | str
    within: int | None = None


class ShownBy(list[Shown]):
    """All that an exception shows."""

    def hand_back(
        self, memory: Memory, error: Any, args: tuple[Any, ...], bars: list[Any], by_name: Any
    ) -> None:
        """Add the cotangents of the fields to those of the arguments."""
        for field, place, within in self:
            bar = memory.take_entry(error, field)
            if bar is None:
                continue
            if isinstance(place, str):
                by_name[place] = accumulate(by_name.get(place), bar)
            elif within is not None:
                memory.add_item(args[place], within, bar)
            else:
                bars[place] = accumulate(bars[place], bar)


def shown_by(error: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ShownBy:
    """What an exception shows of the arguments that it was just made of."""
    found = ShownBy()
    for name, field in _fields(type(error)):
        value = field.__get__(error)
        if by_value(value):
            found += [Shown(name, *place) for place in _places(name, value, args, kwargs)[:1]]
    return found


def _places(field: str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    named: list[Any] = [(name,) for name, given in kwargs.items() if given is value]
    named.sort(key=lambda place: place[0] != field)
    direct = [(i,) for i, given in enumerate(args) if given is value]
    inner = [
        (i, j)
        for i, given in enumerate(args)
        if type(given) is tuple
        for j, part in enumerate(given)
        if part is value
    ]
    return named + direct + inner


def _fields(kind: type) -> list[tuple[str, Any]]:
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = [
            (name, field)
            for base in kind.__mro__
            if is_of_builtins(base)
            for name, field in vars(base).items()
            if type(field) is MemberDescriptorType
        ]
    return found


_known: WeakKeyDictionary[type, list[tuple[str, Any]]] = WeakKeyDictionary()


def bars_of_args(memory: Memory, held: tuple[Any, ...], args: tuple[Any, ...]) -> list[Any]:
    """The cotangents of what an exception was given, as far as it is in its ``args``, of which C
    makes a new tuple: that of an `OSError` ends before the name of the file."""
    bars: list[Any] = [None] * len(args)
    if all(x is given for x, given in zip(held, args, strict=False)):
        bars[: len(held)] = memory.take_items(held, len(held))
    return bars
