"""What a program has stored in containers and objects from outside when it has finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, TypeAlias

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.containers import holds_element
from adjoint.fast.evaluate.types import holds_arrays
from adjoint.fast.evaluate.values import (
    HIDDEN,
    LOST,
    MISSING,
    Abstract,
    DictOf,
    External,
    HeapObject,
    Instance,
    Known,
    ListOf,
    Partial,
    Ref,
    RowOf,
    Source,
    Text,
    Tuple,
    parts,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.node import node
from adjoint.ir.single import Value
from adjoint.primal.value_kinds import slots_of


@node
class Stored:
    """The content of a container or an object from outside, before and after the program."""

    source: Source
    before: HeapObject
    after: HeapObject


def stored(ev: Evaluator) -> list[Stored]:
    """Return the containers from outside that the program has changed."""
    found = [Stored(x.source, x.initial, ev.heap[x.ref.address]) for x in ev.outside.adopted]
    return [x for x in found if not _is_same(x.before, x.after)]


def _is_same(before: HeapObject, after: HeapObject) -> bool:
    if type(before) is not type(after) or _keys(before) != _keys(after):
        return False
    pairs = zip(parts(before) or (), parts(after) or (), strict=True)
    return all(x is y or (isinstance(x, Ref) and x == y) for x, y in pairs)


def _keys(held: HeapObject) -> tuple[object, ...]:
    match held:
        case DictOf(keys=keys):
            return tuple((type(key), key) for key in keys)
        case Instance(names=names):
            return names
        case _:
            return (len(parts(held) or ()),)


StoredGlobal: TypeAlias = tuple[dict[str, Any], str, Abstract]
"""A namespace, a name, and the value that the program has stored."""


def globals_stored(ev: Evaluator) -> tuple[StoredGlobal, ...]:
    """Return the global variables that the program has stored."""
    cells = ((ns, key[1], ev.global_cells[key]) for key, ns in ev.outside.stored_globals.items())
    found = ((namespace, name, ev.load_cell(cell)) for namespace, name, cell in cells)
    return tuple(one for one in found if one[2] is not MISSING)


def values_stored(
    ev: Evaluator,
    changed: Iterable[Stored],
    in_globals: Iterable[StoredGlobal],
) -> tuple[Value, ...]:
    """Return the values of the program in what it has stored, each once, and the list of what it
    prints."""
    found: dict[Value, None] = {}
    for _, _, value in in_globals:
        found.update(dict.fromkeys(_values_in(ev, value, ())))
    for one in changed:
        if isinstance(one.after, RowOf):
            found[_row(ev, one.after)] = None
        _demand_plain_keys(one.after)
        for part in parts(one.after) or ():
            found.update(dict.fromkeys(_values_in(ev, part, ())))
    return (*found, ev.lines) if ev.prints else tuple(found)


def _demand_plain_keys(held: HeapObject) -> None:
    """Refuse objects and numbers with derivatives as keys of a dict that is stored outside."""
    if isinstance(held, DictOf) and any(map(holds_element, held.keys)):
        raise NotCovered("a dict with objects or numbers as keys is stored outside")


def _is_of_another_kind(held: HeapObject) -> bool:
    """Return whether an object consists of more than the entries of a dict, or its fields."""
    if isinstance(held, DictOf):
        return held.kind is not dict
    if not isinstance(held, Instance):
        return False
    is_plain = held.cls is not SimpleNamespace and not slots_of(held.cls)
    return not is_plain or not HIDDEN.isdisjoint(held.names)


def _row(ev: Evaluator, held: RowOf) -> Value:
    if holds_arrays(ev.types[held.value]):
        raise NotCovered("a list of arrays of unknown length is stored outside")
    return held.value


def _values_in(ev: Evaluator, a: Abstract, above: tuple[int, ...]) -> Iterator[Value]:
    if isinstance(a, Value):
        if a in ev.maybe:
            raise NotCovered("a value that is stored outside in some ways only")
        yield a
    elif isinstance(a, Ref):
        held = ev.heap[a.address]
        if isinstance(held, Instance | DictOf):
            ev.demand_one(a.address)
        elif isinstance(held, ListOf):
            ev.demand_own_list(a.address)  # refuses what is stored under two names, in copies
        if any(x.ref == a for x in ev.outside.adopted):
            return
        if a.address in above:
            raise NotCovered("a container that holds itself is stored outside")
        if isinstance(held, RowOf):
            yield _row(ev, held)
        elif _is_of_another_kind(held):
            raise NotCovered("an object of a class of another kind is stored outside")
        elif isinstance(held, ListOf | DictOf | Instance):
            _demand_plain_keys(held)
            for part in held.items:
                yield from _values_in(ev, part, (*above, a.address))
        else:
            raise NotCovered("what is stored outside is no number, array or container")
    elif isinstance(a, Tuple | Partial) or (isinstance(a, Text) and a.items):
        for part in parts(a) or ():
            yield from _values_in(ev, part, above)
    elif a is LOST or not isinstance(a, Known | External):
        raise NotCovered("what is stored outside is no number, array or container")
