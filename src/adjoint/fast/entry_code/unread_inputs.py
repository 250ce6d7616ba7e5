"""Parts of the arguments that the program does not read (they may alias parts that it does).

An object that occurs twice in one argument shows its whole cotangent at both places, even if the
function reads only one of them: the entry then reads both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.plain_classes import is_plain_outside
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import Source
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.node import node
from adjoint.primal.value_kinds import fields_of, is_objects, slots_of
from adjoint.runtime.leaves import object_fields
from adjoint.runtime.memory.holdings import parts_of
from adjoint.runtime.results import with_zeros
from adjoint.tangent import Tangent

TWICE = "something that occurs twice in an argument, or in the function"
_PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), np.float64, type})
_ITEMS = _PLAIN | {list, tuple}
_READ = frozenset({"item", "attribute", "cell", "cell object"})


@node
class Unread:
    """The places in one container that a program does not read.

    Attributes
    ----------
    owner
        The container, an object or a function.
    keys
        Indices of items, names of fields, or positions of captured variables; may be empty.
    within
        The containers around the places, including the owner.
    """

    owner: Source
    keys: tuple[Any, ...]
    within: tuple[Source, ...]


def inside_of(outside: Outside) -> dict[int, list[Source]]:
    """Return the children of each source, by its identity."""
    inside: dict[int, list[Source]] = {}
    for source in outside.sources:
        inside.setdefault(id(source.parent), []).append(source)
    return inside


def unread(
    outside: Outside, inside: Mapping[int, Sequence[Source]], argument: int | None
) -> tuple[list[Unread], list[Source]]:
    """Return the unread places of an argument, and the arrays and containers that are read.

    Parameters
    ----------
    inside
        What `inside_of` returns.
    argument
        The position of the argument; ``None`` for what the function captures or names.
    """
    arrays = {id(x.source) for x in outside.leaves if isinstance(x.type, Array | Row)}
    places: list[Unread] = []
    held: list[Source] = []

    pending: list[tuple[Source, tuple[Source, ...], bool]] = [
        (source, (), source.kind != "object")
        for source in reversed(outside.sources)
        if source.parent is None and source.argument == argument
    ]
    while pending:
        source, within, is_shown = pending.pop()
        if id(source) in arrays:
            held.append(source)
        sample = outside.samples.get(id(source))
        children = inside.get(id(source), ())
        if sample is not None:
            within = (*within, source)
            if type(sample) is FunctionType:
                is_held = sample.__closure__ is not None
            else:
                is_held = type(sample) is not tuple
            if is_held:
                held.append(source)
            if is_shown:
                read = {child.key for child in children if child.kind in _READ}
                keys = tuple(key for key in keys_of(sample) if key not in read)
                places.append(Unread(source, keys, within))
        pending += [(child, within, is_shown) for child in reversed(children)]
    return places, held


MOST_UNREAD = 8
"""Number of places up to which tests of their classes are faster than to look for what is there."""


def read_small(outside: Outside, argument: int) -> None:
    """Read the unread places of an argument if they hold few numbers, in few objects and
    containers: then the entry writes their zeros."""
    found = []
    for place in unread(outside, inside_of(outside), argument)[0]:
        owner = outside.samples[id(place.owner)]
        parts = [(key, object_at(owner, key)) for key in place.keys]
        found += [(place.owner, owner, key, x) for key, x in parts if type(x) not in _PLAIN]
    ids = {id(x) for *_, x in found}
    once = len(ids) == len(found) and not any(outside.has_read(argument, one) for one in ids)
    if once and len(found) <= MOST_UNREAD and all(_is_small(x, of) for _, of, _, x in found):
        for owner_source, owner, key, _ in found:
            _read_at(outside, owner_source, owner, key)


def _is_small(x: Any, owner: Any) -> bool:
    """Return whether an object or a container has few parts, all of them numbers. A list that is a
    field may grow from call to call, so it is not looked at."""
    kind = type(x)
    if kind in (list, dict) and not isinstance(owner, list | tuple):
        return False
    is_object = kind not in (list, tuple, dict)
    if is_object and (not is_plain_outside(kind) or slots_of(kind) or not fields_of(x)):
        return False
    if kind is dict and not all(type(key) is str for key in x):
        return False
    parts = [object_at(x, key) for key in keys_of(x)]
    return (
        0 < len(parts) <= MOST_UNREAD
        and all(type(part) in (float, int) for part in parts)
        and (not is_object or type(with_zeros(x, None)) is Tangent)
    )


def read_ties(outside: Outside, argument: int | None) -> None:
    """Read the unread places of an argument that hold an object which is read at another place."""
    samples = outside.samples
    count = -1
    while count != len(outside.sources):  # what is read holds further places
        count = len(outside.sources)
        places, held = unread(outside, inside_of(outside), argument)
        leaves = {id(leaf.source): leaf.sample for leaf in outside.leaves}
        objects = [(leaves | samples)[id(source)] for source in held]
        for place in places:
            owner = samples[id(place.owner)]
            within = [samples[id(source)] for source in place.within]
            for key in place.keys:
                if holds_one([object_at(owner, key)], objects, within):
                    _read_at(outside, place.owner, owner, key)


def _read_at(outside: Outside, source: Source, owner: Any, key: Any) -> None:
    """Read a place of a container, an object or a function."""
    kind = "attribute"
    if isinstance(owner, list | tuple | dict):
        kind = "item"
    elif type(owner) is FunctionType:
        kind = "cell"
    else:
        outside.rely_on_field(type(owner), key)
    found = object_at(owner, key)
    outside.read(source, kind, key, found.cell_contents if kind == "cell" else found)
    made = next(x for x in reversed(outside.sources) if x.parent is source and x.key == key)
    if id(made) not in outside.twins and id(made) not in outside.samples:
        raise NotCovered(TWICE)  # what is inside has a cotangent that is not written


def keys_of(sample: Any) -> Iterable[Any]:
    """Return the keys of the places in a container, an object or a function."""
    if isinstance(sample, dict):
        return sample
    if isinstance(sample, list | tuple):
        return range(len(sample))
    if type(sample) is FunctionType:
        return range(len(sample.__closure__ or ()))
    return [*(fields_of(sample) or ()), *slots_of(type(sample))]


def object_at(owner: Any, key: Any) -> Any:
    """Return the object at a place."""
    if isinstance(owner, list | tuple | dict):
        return owner[key]
    if type(owner) is FunctionType:
        return (owner.__closure__ or ())[key]
    return object_fields(owner).get(key)


def holds_one(places: Sequence[Any], held: Iterable[Any], within: Iterable[Any] = ()) -> bool:
    """Return whether one of `held` is one of `places`, or inside one but not through `within`."""
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
        holders = [x for x in level if type(x) not in _PLAIN and id(x) not in seen]
        if np.ndarray in kinds:
            holders = [x for x in holders if type(x) is not np.ndarray or is_objects(x)]
        seen.update(map(id, holders))
        level = [*chain.from_iterable(holders if kinds <= _ITEMS else map(parts_of, holders))]
        kinds = {*map(type, level)}
    return False
