"""What stands at places of the arguments that a program does not read.

An object that occurs twice among the arguments shows its whole cotangent at both places, also where
the function reads one of them only: then the call is left to the generic tier.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import (
    BuiltinMethodType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from adjoint.fast.evaluate.outside import Outside
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import Source
from adjoint.levels.leaves import record_fields
from adjoint.run.kinds import mapping_behind

__all__ = ["Unread", "holds_one", "others", "unread"]

_PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), np.float64, type})
_SIMPLE = _PLAIN | {np.ndarray}
_ITEMS = _SIMPLE | {list, tuple}


@dataclass(frozen=True, slots=True)
class Unread:
    """The places in one container, or among the arguments, that a program does not read.

    Attributes
    ----------
    owner
        The container, an object or a function; ``None``: the places are whole arguments.
    keys
        The items of a list, tuple or dict; the numbers of arguments.
    read
        The fields of an object, the captured variables of a function, that it reads: the others are
        meant.
    within
        The containers around these places, and the owner.
    """

    owner: Source | None
    keys: tuple[Any, ...] = ()
    read: frozenset[Any] | None = None
    within: tuple[Source, ...] = ()

    def of(self, args: Sequence[Any], samples: Mapping[int, Any]) -> list[Any]:
        """What stands there in the call at hand."""
        if self.owner is None:
            return [args[i] for i in self.keys]
        owner = samples[id(self.owner)]
        return others(owner, self.read) if self.read is not None else [owner[k] for k in self.keys]


def unread(
    outside: Outside, roots: Sequence[Any], wanted: Sequence[Any]
) -> tuple[list[Unread], list[Source]]:
    """What may be one object at two places.

    Parameters
    ----------
    roots
        The arguments, by number, and ``"function"``, if it shows a cotangent.
    wanted
        Those of them whose cotangent is asked for.

    Returns
    -------
    tuple
        The places in `wanted` that the program does not read; and the arrays and containers in
        `roots` that it reads.
    """
    inside: dict[int, list[Source]] = {}
    found: dict[Any, Source] = {}
    for source in outside.sources:
        if source.parent is not None:
            inside.setdefault(id(source.parent), []).append(source)
        elif source.kind == "argument":
            found[source.key] = source
        elif source.kind == "function":
            found["function"] = source
    arrays = {id(x.source) for x in outside.leaves if isinstance(x.type, Array | Row)}
    places: list[Unread] = []
    held: list[Source] = []

    def look(source: Source, within: tuple[Source, ...], is_wanted: bool) -> None:
        if id(source) in arrays:
            held.append(source)
        sample = outside.samples.get(id(source))
        children = inside.get(id(source), ())
        if sample is not None:
            within = (*within, source)
            if type(sample) is not tuple:
                held.append(source)
            place = _places_in(source, sample, children, within)
            if place is not None and is_wanted:
                places.append(place)
        for child in children:
            look(child, within, is_wanted)

    whole = tuple(root for root in wanted if root not in found and root != "function")
    if whole:
        places.append(Unread(None, whole))
    for root in roots:
        if root in found:
            look(found[root], (), root in wanted)
    return places, held


def _places_in(
    source: Source, sample: Any, children: Iterable[Source], within: tuple[Source, ...]
) -> Unread | None:
    read = frozenset(child.key for child in children)
    if isinstance(sample, list | tuple | dict):
        every = sample if isinstance(sample, dict) else range(len(sample))
        keys = tuple(key for key in every if key not in read)
        return Unread(source, keys, None, within) if keys else None
    if type(sample) is FunctionType:
        names = sample.__code__.co_freevars
        read = frozenset(
            names[child.key] for child in children if child.kind in ("cell", "cell object")
        )
        return Unread(source, (), read, within) if len(read) < len(names) else None
    return Unread(source, (), read, within)


def others(owner: Any, read: frozenset[str]) -> list[Any]:
    """What the fields of an object, or the captured variables of a function, hold but `read`."""
    return [x for name, x in record_fields(owner).items() if name not in read]


def holds_one(places: Sequence[Any], held: Iterable[Any], within: Iterable[Any] = ()) -> bool:
    """Whether one of `held` is one of `places`, or is in one; not by way of those of `within`."""
    level: Sequence[Any] = places
    kinds = {*map(type, level)}
    if kinds <= _PLAIN:
        return False
    seen = {*map(id, within)}
    wanted = {id(x): type(x) for x in held if id(x) not in seen}
    wanted_kinds = {*wanted.values()}
    while not kinds <= _PLAIN:  # level by level, so that long lists of numbers cost little
        if not kinds.isdisjoint(wanted_kinds) and not wanted.keys().isdisjoint(map(id, level)):
            return True
        holders = [x for x in level if type(x) not in _SIMPLE and id(x) not in seen]
        seen.update(map(id, holders))
        level = [*chain.from_iterable(holders if kinds <= _ITEMS else map(_inside, holders))]
        kinds = {*map(type, level)}
    return False


def _inside(x: Any) -> Iterable[Any]:
    """What shows cotangents of its own in those of `x`."""
    if isinstance(x, list | tuple | deque):
        return x
    if isinstance(x, dict):
        return x.values()
    if isinstance(x, MethodType | BuiltinMethodType | MethodWrapperType):
        return () if isinstance(x.__self__, ModuleType) else (x.__self__,)
    if isinstance(x, MappingProxyType):
        return _inside(mapping_behind(x))
    if isinstance(x, np.ndarray | np.generic | float | int | complex):
        return ()
    return record_fields(x).values()
