"""What the items of a list of unknown length have in common: tuples, lists and dicts of one
structure, with numbers and arrays, the *columns*, and constants that are equal in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adjoint.fast.evaluate.types import Array, Number, Type
from adjoint.fast.evaluate.values import Abstract, DictOf, HeapObject, Known, ListOf, Ref, Tuple
from adjoint.ir.node import node
from adjoint.ir.single import Value

COLUMN = "column"


@node
class Record:
    """The structure of a tuple (`kind`: its class), a list or a dict; `parts` are templates."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]


def template_of(a: Abstract, types: Mapping[Value, Type], heap: Mapping[int, HeapObject]) -> Any:
    """Return the template of an item, or of a part of one; ``None`` if it has none."""
    if isinstance(a, Value):
        t = types[a]
        is_listed = type(t) is Array and t.dtype.char in "dD"
        return COLUMN if is_listed or isinstance(t, Number) else None
    if isinstance(a, Known) and type(a.value) is tuple:
        a = Tuple(tuple(map(Known, a.value)))
    if isinstance(a, Known):
        if type(a.value) in (int, float, bool, complex):
            return COLUMN
        return a.value if type(a.value) is str else None
    held = heap[a.address] if isinstance(a, Ref) else a
    if not isinstance(held, Tuple | ListOf | DictOf):
        return None
    parts = tuple(template_of(x, types, heap) for x in held.items)
    if None in parts:
        return None
    if isinstance(held, DictOf):
        is_plain = held.kind is dict and all(type(key) in (int, str) for key in held.keys)
        return Record(dict, held.keys, parts) if is_plain else None
    return Record(held.kind if isinstance(held, Tuple) else list, (), parts)


def template_of_all(
    items: tuple[Abstract, ...], types: Mapping[Value, Type], heap: Mapping[int, HeapObject]
) -> Record | None:
    """Return the template of all items of a list; ``None`` if they have none."""
    found = [template_of(x, types, heap) for x in items]
    first = found[0] if found else None
    if not isinstance(first, Record) or COLUMN not in leaves_of(first):
        return None
    return first if all(x == first for x in found) else None


def leaves_of(template: Any) -> Iterator[Any]:
    """Yield the columns and constants of a template, in order."""
    if isinstance(template, Record):
        for part in template.parts:
            yield from leaves_of(part)
    else:
        yield template
