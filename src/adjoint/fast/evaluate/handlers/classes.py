"""Handlers of class statements, of what decorates methods and classes, and of `super`."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import functools
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from adjoint.fast.evaluate.attribute_reads import attribute, special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import listed
from adjoint.fast.evaluate.objects.container_copies import copied
from adjoint.fast.evaluate.objects.containers import opened
from adjoint.fast.evaluate.objects.exceptions import PLAIN
from adjoint.fast.evaluate.objects.fields import set_field
from adjoint.fast.evaluate.objects.instances import new_object, set_plainly
from adjoint.fast.evaluate.objects.local_classes import build, note_made, stand_in
from adjoint.fast.evaluate.plain_classes import (
    base_of,
    has_own,
    is_named_tuple,
    is_plain_object,
)
from adjoint.fast.evaluate.values import (
    ARGS,
    MISSING,
    Abstract,
    CellOf,
    Closure,
    DictOf,
    External,
    Instance,
    Known,
    ListOf,
    Ref,
    Super,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import primitives


@handler(primitives.build_class)
def _(
    ev: Evaluator,
    body: Abstract,
    name: Abstract,
    /,
    *bases: Abstract,
    metaclass: Abstract = Known(None),
    **keywords: Abstract,
) -> Abstract:
    operands = (name, metaclass, *bases)
    known: list[Any] = [x.value if isinstance(x, Known) else None for x in operands]
    if keywords or None in known[2:] or not isinstance(body, Closure):
        raise NotCovered("a class with keywords, or with bases that are not known", ev.span)
    namespace = ev.allocate(DictOf((), ()))
    cell = ev.call(body, [namespace], {})
    entries = ev.entries(namespace) or {}
    made = build(ev, known[0], tuple(known[2:]), entries, known[1])
    if isinstance(cell, Ref) and isinstance(ev.held(cell), CellOf):
        ev.heap[cell.address] = CellOf((made,))
    for key, value in entries.items():  # as `type` does when it has made the class
        cls = ev.class_of(value)
        if isinstance(value, Ref | External) and cls is not None and is_plain_object(cls):
            if hasattr(cls, "__set_name__"):
                if isinstance(value, External):
                    raise NotCovered("a descriptor from outside, which is told its name", ev.span)
                method = special_method(ev, cls, "__set_name__")
                ev.call(method, [value, made, Known(key)], {})
    return made


def _namespace(ev: Evaluator, namespace: Abstract) -> DictOf:
    held = ev.held(namespace)
    if not isinstance(held, DictOf):
        raise NotCovered("the body of a class by itself", ev.span)
    return held


@handler(primitives.load_class_name)
def _(ev: Evaluator, namespace: Abstract, name: Abstract, outside: Abstract) -> Abstract:
    held = _namespace(ev, namespace)
    assert isinstance(name, Known)
    if name.value in held.keys:
        return held.items[held.keys.index(name.value)]
    if isinstance(outside, Known) and isinstance(outside.value, dict):
        return ev.global_(outside.value, name.value)
    found = ev.load_cell(outside)
    if found is MISSING:
        raise NotCovered("a variable that may have no value", ev.span)
    return found


@handler(primitives.delete_class_name)
def _(ev: Evaluator, namespace: Abstract, name: Abstract) -> Abstract:
    _namespace(ev, namespace)
    assert isinstance(namespace, Ref) and isinstance(name, Known)
    left = ev.entries(namespace) or {}
    left.pop(name.value, None)
    ev.heap[namespace.address] = DictOf(tuple(left), tuple(left.values()))
    return Known(None)


@handler(enum.auto)
def _(ev: Evaluator) -> Abstract:
    return Known(enum.auto())


@handler(typing.NamedTuple)
def _(ev: Evaluator, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    raise NotCovered("a call of NamedTuple", ev.span)


# ---- functions that run on stand-ins -------------------------------------------------------------


def _of_stand_ins(*functions: Callable[..., Any]) -> None:
    """Register functions that only store their arguments: they run on stand-ins."""
    for f in functions:

        @handler(f)
        def _(ev: Evaluator, /, *args: Abstract, f: Any = f, **keywords: Abstract) -> Abstract:
            named = {k: stand_in(ev, x) for k, x in keywords.items()}
            try:
                return Known(f(*[stand_in(ev, x) for x in args], **named))
            except Exception as error:
                raise NotCovered(f"a call that raises {type(error).__name__}", ev.span) from None


_of_stand_ins(property, staticmethod, classmethod, functools.cached_property, dataclasses.field)
_of_stand_ins(property.getter, property.setter, property.deleter)


def _decorated(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, cls: Abstract = Known(None), /, **options: Abstract) -> Abstract:
        """Decorate a class that the program made."""
        if isinstance(cls, Known) and cls.value is None:
            return Known(functools.partial(f, **{k: stand_in(ev, x) for k, x in options.items()}))
        return _decorate(ev, f, cls, {k: stand_in(ev, x) for k, x in options.items()})


def _decorate(ev: Evaluator, f: Any, cls: Abstract, options: dict[str, Any]) -> Abstract:
    if not isinstance(cls, Known) or id(cls.value) not in ev.outside.made:
        raise NotCovered(f"{f.__name__} of a class from outside", ev.span)
    try:
        return note_made(ev, f(cls.value, **options))
    except Exception as error:
        raise NotCovered(f"a call that raises {type(error).__name__}", ev.span) from None


_DECORATORS = (dataclasses.dataclass, functools.total_ordering)
for _f in _DECORATORS:
    _decorated(_f)


_named_tuple: Any = collections.namedtuple


@handler(collections.namedtuple)
def _(
    ev: Evaluator, name: Abstract, fields: Abstract, *, defaults: Abstract = Known(None)
) -> Abstract:
    names = opened(ev, fields) if not isinstance(fields, Known) else fields.value
    given = ev.sequence(defaults)
    if not isinstance(name, Known) or names is None:
        raise NotCovered("a call of namedtuple", ev.span)
    values = None if given is None else tuple(stand_in(ev, x) for x in given)
    try:
        made = _named_tuple(name.value, names, defaults=values)
    except Exception as error:
        raise NotCovered(f"a call that raises {type(error).__name__}", ev.span) from None
    return note_made(ev, made)


# ---- methods of `object`, and `super` ------------------------------------------------------------


@handler(super)
def _(ev: Evaluator, cls: Abstract, owner: Abstract) -> Abstract:
    kind = owner.value if isinstance(owner, Known) else ev.class_of(owner)
    if not isinstance(cls, Known) or not isinstance(kind, type) or cls.value not in kind.__mro__:
        raise NotCovered("super of what is not known", ev.span)
    return Super(cls.value, owner)


@handler(object.__new__)
def _(ev: Evaluator, cls: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    has_init = isinstance(cls, Known) and cls.value.__init__ is not object.__init__
    if (args or keywords) and not has_init:
        raise NotCovered("arguments that do not fit", ev.span)
    return new_object(ev, cls)


@handler(object.__init__)
def _(ev: Evaluator, a: Abstract, *args: Abstract) -> Abstract:
    if args:
        raise NotCovered("arguments that do not fit", ev.span)
    return Known(None)


@handler(*{kind.__init__ for kind in PLAIN})
def _(ev: Evaluator, a: Abstract, *args: Abstract) -> Abstract:
    assert isinstance(a, Ref)
    set_field(ev, a, ARGS, Tuple(args))
    return Known(None)


@handler(object.__setattr__, BaseException.__setattr__, SimpleNamespace.__setattr__)
def _(ev: Evaluator, a: Abstract, name: Abstract, value: Abstract) -> Abstract:
    return _written(ev, a, name, value)


@handler(object.__delattr__)
def _(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    return _written(ev, a, name, None)


@handler(delattr)
def _(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    cls = ev.class_of(a)
    if cls is None or has_own(cls, "__delattr__"):
        raise NotCovered("a deletion of an attribute", ev.span)
    return _written(ev, a, name, None)


def _written(ev: Evaluator, a: Abstract, name: Abstract, value: Abstract | None) -> Abstract:
    held = ev.held(a)
    if not isinstance(name, Known) or not isinstance(a, Ref) or not isinstance(held, Instance):
        raise NotCovered("a write to an attribute of an object from outside", ev.span)
    set_plainly(ev, a, held, name.value, value)
    return Known(None)


# ---- dataclasses ---------------------------------------------------------------------------------


@handler(dataclasses.replace)
def _(ev: Evaluator, a: Abstract, /, **changes: Abstract) -> Abstract:
    cls: Any = ev.class_of(a)
    if cls is None or not dataclasses.is_dataclass(cls):
        raise NotCovered("replace of something else than a data class", ev.span)
    for one in dataclasses.fields(cls):
        if one.init and one.name not in changes:
            changes[one.name] = attribute(ev, a, one.name)
    return ev.call(Known(cls), [], changes)


@handler(dataclasses.fields)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    cls = a.value if isinstance(a, Known) and isinstance(a.value, type) else ev.class_of(a)
    if cls is None or not dataclasses.is_dataclass(cls):
        raise NotCovered("fields of something else than a data class", ev.span)
    ev.outside.rely_on(cls)
    return Tuple(tuple(map(Known, dataclasses.fields(cls))))


@handler(dataclasses.asdict)
def _(ev: Evaluator, a: Abstract, *, dict_factory: Abstract = Known(dict)) -> Abstract:
    return _deep(ev, a, dict_factory)


@handler(dataclasses.astuple)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return _deep(ev, a, None)


def _deep(ev: Evaluator, a: Abstract, factory: Abstract | None) -> Abstract:
    """Return the fields of a data class, also of those inside of it, in a tuple, or in what
    `factory` makes of pairs."""
    cls: Any = ev.class_of(a)
    if cls is not None and dataclasses.is_dataclass(cls):
        names = tuple(one.name for one in dataclasses.fields(cls))
        items = tuple(_deep(ev, attribute(ev, a, name), factory) for name in names)
        if factory is None:
            return Tuple(items)
        pairs = tuple(Tuple((Known(k), x)) for k, x in zip(names, items, strict=True))
        return ev.call(factory, [ev.allocate(ListOf(pairs))], {})
    if cls is None or not issubclass(cls, list | tuple | dict):
        return ev.call(Known(copy.deepcopy), [a], {})
    return copied(ev, a, lambda x: _deep(ev, x, factory))


@handler(tuple.__new__)
def _(ev: Evaluator, cls: Abstract, xs: Abstract = Tuple(())) -> Abstract:
    items = listed(ev, xs)
    if not isinstance(cls, Known) or items is None:
        raise NotCovered("a new tuple", ev.span)
    if (base := base_of(cls.value)) is not None:
        return new_object(ev, cls, Tuple(tuple(items), base))
    if cls.value is not tuple and not is_named_tuple(cls.value):
        raise NotCovered(f"a new {cls.value.__qualname__}", ev.span)
    return Tuple(tuple(items), cls.value)
