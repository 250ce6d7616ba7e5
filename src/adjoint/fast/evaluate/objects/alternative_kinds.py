"""What a variable may hold in one way, and others in other ways (`joins`): the kinds of such
alternatives, and objects of which it holds copies."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.fields import field_of
from adjoint.fast.evaluate.plain_classes import DATES, is_constant_key, is_plain_outside
from adjoint.fast.evaluate.types import Number
from adjoint.fast.evaluate.values import (
    HIDDEN,
    Bound,
    Closure,
    DictOf,
    External,
    Flag,
    HeapObject,
    Instance,
    Known,
    Later,
    Partial,
    Ref,
    Slot,
    Text,
    Tuple,
    shape_of,
)
from adjoint.fast.evaluate.writes.adopted_containers import object_behind
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value
from adjoint.primal.value_kinds import slots_of

DIFFERENT = "a variable holds different things, depending on a branch or an iteration"


def kind_of(a: Any) -> Any:
    """Return a key that is equal for values that are one alternative of a variable."""
    match a:
        case Flag() | Text(items=None) | Tuple(kind=builtins.list):
            raise NotCovered(DIFFERENT)
        case Text(items=(call,)):
            return Text, kind_of(call)
        case Known(value=value) if value is NotImplemented or type(value) in DATES:
            raise NotCovered(DIFFERENT)  # another method is asked, or a loop is unrolled
        case Known(value=value) if type(value) in (str, bytes):
            return type(value), value
        case Known(value=value) if type(value) not in (int, float, bool, complex):
            return Known, id(value)
        case Ref():
            return a
        case External():
            return External, id(a.source)
        case Bound() | Partial():
            return shape_of(a), kind_of(a.function)
        case Tuple() | Closure() | Instance():
            return shape_of(a)
        case Value() | Slot() | Known():
            return Number
    raise NotCovered(DIFFERENT)


class CopyOf(Instance):
    """The template of a variable that holds one object of a class or another, or one dict or
    another; the names of a dict are its keys and their types."""

    def content(self, items: tuple[Any, ...]) -> Instance | DictOf:
        """Return the content of a copy."""
        if self.cls is dict:
            keys: Any = self.names
            return DictOf(tuple(key for key, _ in keys), items)
        return Instance(self.cls, self.names, items)


def copy_of(ev: Evaluator, a: Any, heap: Mapping[int, HeapObject]) -> CopyOf | None:
    """Return the template of a dict, or of an object, that the program has made or reads from
    outside, and that a copy can stand for; ``None`` for anything else."""
    if isinstance(a, CopyOf):
        return a
    held = heap.get(a.address) if isinstance(a, Ref) else None
    items: tuple[Any, ...] = ()
    if isinstance(a, External) and (entries := ev.entries(a)) is not None:
        held = DictOf(tuple(entries), tuple(entries.values()))
    if isinstance(held, DictOf):
        keys: Any = tuple((key, type(key)) for key in held.keys)
        is_plain = held.kind is dict and all(map(is_constant_key, held.keys))
        return CopyOf(dict, keys, held.items) if is_plain and not ev.keeps_lists else None
    if isinstance(held, Instance) and object_behind(ev.outside, a) is None:
        cls, names, items = held.cls, held.names, held.items
        is_shown = a.address in ev.shown_fields or not HIDDEN.isdisjoint(names)
    elif isinstance(a, External):
        cls, names, is_shown = type(a.sample), (*getattr(a.sample, "__dict__", ()),), False
    else:
        return None
    is_of_library = str(cls.__module__).partition(".")[0] in sys.stdlib_module_names
    is_of_library = is_of_library and cls is not SimpleNamespace
    if is_shown or is_of_library or not is_plain_outside(cls) or slots_of(cls):
        return None
    if isinstance(a, External):
        items = tuple(field_of(ev, a, name, False) for name in names)
    return None if any(isinstance(x, Later) for x in items) else CopyOf(cls, names, items)
