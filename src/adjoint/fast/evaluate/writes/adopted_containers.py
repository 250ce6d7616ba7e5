"""Containers and objects from outside in the heap of a program that writes to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.values import (
    DictOf,
    External,
    HeapObject,
    Instance,
    ListOf,
    Ref,
    Source,
)
from adjoint.fast.evaluate.writes.adoption import (
    ALL_FIELDS,
    Adopted,
    Pattern,
    adopted_fields,
    parts_along,
    pattern_of,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.primal.value_kinds import fields_of


def adopt(
    outside: Outside,
    allocate: Callable[[HeapObject], Ref],
    source: Source,
    value: Any,
    names: set[str],
) -> Ref:
    """Put a container or an object into the heap; `names` are the attributes that are written."""
    inside = value if type(value) is list else (fields_of(value) or {}).values()
    if type(value) is dict:
        inside = value.values()
    if any(hasattr(type(x), "__del__") for x in inside):
        raise NotCovered("a write to what holds an object with __del__")
    held: HeapObject
    read = outside.read
    if type(value) is list:
        held = ListOf(tuple(read(source, "item", i, x) for i, x in enumerate(value)))
    elif type(value) is dict:
        keys = tuple(value)
        held = DictOf(keys, tuple(read(source, "item", k, value[k]) for k in keys))
    else:
        found = adopted_fields(value, names)
        for name in found:
            outside.rely_on_field(type(value), name)
        items = (read(source, "attribute", k, vars(value)[k]) for k in found)
        held = Instance(type(value), tuple(found), tuple(items))
    ref = allocate(held)
    outside.adopted.append(Adopted(source, ref, held))
    return ref


def adopt_all(outside: Outside, roots: Mapping[tuple[str, Any], Any]) -> None:
    """Read the containers that the program writes to, so that they are in the heap from the
    beginning; `roots` are the function and the arguments."""
    for pattern in outside.owned:
        (kind, key), *_ = pattern
        value = key.key if kind == "object" else roots[kind, key.key]
        _adopt_along(outside, pattern, 1, outside.root(kind, key.key), value)


def _adopt_along(outside: Outside, pattern: Pattern, at: int, owner: Source, value: Any) -> None:
    if at == len(pattern):
        return
    for kind, key, part in parts_along(pattern, at, value):
        if kind == "cell":
            outside.of_cell(External(Source(owner, "cell", key), value.__closure__[key]))
        else:
            outside.read(owner, kind, key, part)
        known = (x for x in outside.sources if x.parent is owner and x.kind == kind)
        source = next((x for x in known if x.key == key), None)
        if source is None:
            raise NotCovered("a write to a variable that two functions have captured")
        _adopt_along(outside, pattern, at + 1, source, part)


def object_behind(outside: Outside, ref: Ref) -> External | None:
    """Return the object from outside that is in the heap at an address."""
    found = next((x.source for x in outside.adopted if x.ref == ref), None)
    return None if found is None else External(found, outside.samples[id(found)])


def owns_all(outside: Outside, a: External) -> bool:
    """Return whether all fields of an object that the program writes to are in the heap."""
    return ALL_FIELDS in outside.owned[pattern_of(a.source)]
