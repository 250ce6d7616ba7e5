"""Fields of objects: those of the object itself, or of the dict that is its ``__dict__``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.derived import content_of, derived_instance
from adjoint.fast.evaluate.values import (
    FIELDS,
    Abstract,
    DictOf,
    External,
    FieldsOf,
    Instance,
    Known,
    Later,
    Ref,
)
from adjoint.fast.evaluate.writes.adopted_containers import object_behind, owns_all
from adjoint.fast.evaluate.writes.adoption import ALL_FIELDS, NeedsOwn
from adjoint.fast.not_covered import NotCovered
from adjoint.primal.value_kinds import slots_of


def fields_of(ev: Evaluator, a: External | Ref, cls: type) -> Abstract:
    """Evaluate ``a.__dict__``."""
    if not cls.__dictoffset__ or slots_of(cls):
        raise NotCovered("the fields of an object with slots", ev.span)
    held = ev.held(a)
    if isinstance(held, Instance) and FIELDS in held.names:
        return held.items[held.names.index(FIELDS)]
    outside = a if isinstance(a, External) else object_behind(ev.outside, a)
    if outside is not None:
        ev.outside.fact(outside, names_of_fields)
    if isinstance(a, Ref):
        if outside is not None and not owns_all(ev.outside, outside):
            raise NeedsOwn(outside, "the fields of an object from outside", ev.span, ALL_FIELDS)
        ev.shown_fields.add(a.address)
    return FieldsOf(a)


def names_of_fields(x: Any) -> tuple[str, ...]:
    """Return the names of the fields of an object, in order."""
    return tuple(vars(x))


def set_field(ev: Evaluator, a: Ref, name: str, value: Abstract | None) -> None:
    """Set a field of an object that the program made; remove it if `value` is ``None``."""
    held = ev.held(a)
    assert isinstance(held, Instance)
    ev.demand_own_list(a.address)
    given = given_fields(ev, held)
    known = None if given is None else ev.heap[given.address]
    names, items = (
        (known.keys, known.items) if isinstance(known, DictOf) else (held.names, held.items)
    )
    fields = dict(zip(names, items, strict=True))
    if value is not None:
        fields[name] = value
    else:
        del fields[name]
    now, items = tuple(fields), tuple(fields.values())
    if given is not None and isinstance(known, DictOf):
        ev.demand_own_list(given.address)
        ev.heap[given.address] = replace(known, keys=now, items=items)
    else:
        ev.heap[a.address] = Instance(held.cls, now, items)


def given_fields(ev: Evaluator, held: Instance) -> Ref | None:
    """Return the dict that an object has been given as its ``__dict__``, if it has."""
    if FIELDS not in held.names:
        return None
    given = held.items[held.names.index(FIELDS)]
    derived = derived_instance(ev, given)
    found = given if derived is None else content_of(derived)
    if not isinstance(found, Ref) or not isinstance(ev.heap[found.address], DictOf):
        raise NotCovered("fields that are not known", ev.span)
    return found


def field_of(ev: Evaluator, a: External | Ref | Known, name: str, slot: bool) -> Abstract | None:
    """Return a field of the instance, or ``None``; guard its absence."""
    if isinstance(a, Known):
        return None
    if isinstance(a, Ref):
        held = ev.held(a)
        assert isinstance(held, Instance)
        if (given := given_fields(ev, held)) is not None:
            known = ev.heap[given.address]
            assert isinstance(known, DictOf)
            return known.items[known.keys.index(name)] if name in known.keys else None
        if name in held.names:
            found = held.items[held.names.index(name)]
            if isinstance(found, Later):
                found = ev.call(found.function, (), {})
                set_field(ev, a, name, found)
            return found
        outside = object_behind(ev.outside, a)
        return None if outside is None else field_of(ev, outside, name, slot)
    if slot or name in getattr(a.sample, "__dict__", ()):
        if not hasattr(a.sample, name):
            raise NotCovered(f"the attribute {name!r} has no value", ev.span)
        return ev.outside.read(a.source, "attribute", name, getattr(a.sample, name))
    if hasattr(a.sample, "__dict__"):
        ev.outside.guard(a.source, "no attribute", name)
    return None
