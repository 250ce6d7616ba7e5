"""Objects of user classes: how the program makes them, and how it writes to their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

from adjoint.fast.evaluate.attribute_reads import (
    attribute,
    descriptor_of,
    special_method,
)
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.containers import key_of
from adjoint.fast.evaluate.objects.exceptions import new_exception
from adjoint.fast.evaluate.objects.fields import field_of, given_fields, set_field
from adjoint.fast.evaluate.objects.function_attributes import set_attribute_of_function
from adjoint.fast.evaluate.objects.memory_orders import is_contiguous, set_flag
from adjoint.fast.evaluate.plain_classes import (
    base_of,
    has_own,
    is_enumeration,
    is_named_tuple,
    is_plain_class,
    is_plain_object,
)
from adjoint.fast.evaluate.values import (
    ARGS,
    FIELDS,
    ITEMS,
    Abstract,
    Bound,
    Closure,
    External,
    Instance,
    Known,
    Ref,
    Tuple,
)
from adjoint.fast.evaluate.writes.adopted_containers import object_behind
from adjoint.fast.evaluate.writes.adoption import NeedsOwn
from adjoint.fast.not_covered import NotCovered
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import slots_of
from adjoint.rulekit.registry import lookup

_PLAIN_WRITES = (object.__setattr__, SimpleNamespace.__setattr__)


def instance(
    ev: Evaluator, cls: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Return a new object of a user class."""
    if lookup(cls) is not None:
        raise NotCovered(f"{cls.__qualname__} has a rule", ev.span)
    ev.outside.rely_on(cls)
    if is_enumeration(cls):
        return _member(ev, cls, args, keywords)
    if is_named_tuple(cls):
        return _named_tuple(ev, cls, args, keywords)
    if issubclass(cls, BaseException):
        return new_exception(ev, cls, args, keywords)
    if not _is_made_plainly(cls):
        raise NotCovered(f"a new {cls.__qualname__}", ev.span)
    if cls.__new__ is object.__new__:
        made = new_object(ev, Known(cls))
        if cls.__init__ is object.__init__:
            if args or keywords:
                raise NotCovered("arguments that do not fit", ev.span)
            return made
    else:
        made = ev.call(attribute(ev, Known(cls), "__new__"), [Known(cls), *args], keywords)
        kind = ev.class_of(made)
        if kind is None or not issubclass(kind, cls):
            return made
    if cls.__init__ is not object.__init__:
        _initialise(ev, cls, [made, *args], keywords)
    return made


def _initialise(
    ev: Evaluator, cls: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> None:
    returned = ev.call(special_method(ev, cls, "__init__"), args, keywords)
    if not isinstance(returned, Known) or returned.value is not None:
        raise NotCovered(f"what {cls.__qualname__}.__init__ returns", ev.span)


def object_of_fields(ev: Evaluator, cls: Abstract, names: Abstract, *values: Abstract) -> Abstract:
    """Evaluate `object_of`."""
    made = new_object(ev, cls)
    if not isinstance(names, Known):
        raise NotCovered("a new object of fields that are not known", ev.span)
    for name, value in zip(names.value, values, strict=True):
        ev.outside.rely_on_field(ev.class_of(made), name)  # type: ignore[arg-type]
        set_field(ev, made, name, value)  # type: ignore[arg-type]
    return made


def _member(
    ev: Evaluator, cls: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate ``Color("red")``."""
    is_plain = not any("_missing_" in vars(x) for x in cls.__mro__ if x.__module__ != "enum")
    if not is_plain or keywords or len(args) != 1 or not isinstance(args[0], Known):
        raise NotCovered(f"a new {cls.__qualname__}", ev.span)
    member = cls._value2member_map_.get(key_of(ev, args[0]))
    if member is None:
        raise NotCovered("a value without a member", ev.span)
    return Known(member)


def _is_made_plainly(cls: Any) -> bool:
    """Return whether calls of a class run nothing but its ``__new__`` and ``__init__``."""
    return (
        is_plain_object(cls)
        and is_plain_class(cls)
        and not getattr(cls, "__abstractmethods__", None)
        and not any("__del__" in vars(base) for base in cls.__mro__[:-1])
    )


def new_object(ev: Evaluator, cls: Abstract, content: Abstract | None = None) -> Abstract:
    """Return ``object.__new__(cls)``, or an object of a class that derives from a builtin one, with
    the `content` of that."""
    is_known = isinstance(cls, Known) and _is_made_plainly(cls.value)
    if not is_known or (base_of(cls.value) is None) != (content is None):  # type: ignore[union-attr]
        raise NotCovered("a new object of another kind", ev.span)
    assert isinstance(cls, Known)
    ev.outside.rely_on(cls.value)
    if content is None:
        return ev.allocate(Instance(cls.value, (), ()))
    return ev.allocate(Instance(cls.value, (ITEMS,), (content,)))


def _named_tuple(
    ev: Evaluator, cls: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    fields = cls._fields
    given = dict(zip(fields, args, strict=False))
    if len(given) != len(args) or not given.keys().isdisjoint(keywords):
        raise NotCovered(f"a new {cls.__qualname__}", ev.span)
    given |= keywords
    for name, default in zip(reversed(fields), reversed(_defaults(cls)), strict=False):
        if name not in given:
            given[name] = _default(ev, cls, name, default)
    if set(given) != set(fields):
        raise NotCovered(f"a new {cls.__qualname__}", ev.span)
    return Tuple(tuple(given[name] for name in fields), cls)


def _defaults(cls: Any) -> tuple[Any, ...]:
    return cls.__new__.__defaults__ or ()


def _default(ev: Evaluator, cls: Any, name: str, value: Any) -> Abstract:
    if ev.outside.is_free(cls):
        return ev.outside.own(value)
    root = ev.outside.root("object", cls)
    new: Any = ev.outside.read(root, "class attribute", "__new__", cls.__new__)
    place = cls._fields[len(cls._fields) - len(_defaults(cls)) :].index(name)
    found: Abstract = new.defaults[place]
    return found


# ---- writes --------------------------------------------------------------------------------------


def set_attribute(ev: Evaluator, a: Abstract, name: str, value: Abstract) -> None:
    """Evaluate ``a.name = value``."""
    if isinstance(a, Closure):
        set_attribute_of_function(ev, a, name, value)
        return
    if isinstance(a, Bound) and getattr(a.function, "value", None) is is_contiguous:
        set_flag(ev, a.owner, name, value)
        return
    held = ev.held(a)
    if isinstance(a, External) and is_plain_object(type(a.sample)):
        if class_attribute(type(a.sample), "__setattr__") not in _PLAIN_WRITES:
            raise NotCovered("a write to an attribute by a method", ev.span)
        raise NeedsOwn(a, "a write to an attribute of an object from outside", ev.span, name)
    if not isinstance(a, Ref) or not isinstance(held, Instance):
        raise NotCovered("a write to an attribute of an object from outside", ev.span)
    if has_own(held.cls, "__setattr__"):
        ev.call(special_method(ev, held.cls, "__setattr__"), [a, Known(name), value], {})
    else:
        set_plainly(ev, a, held, name, value)


def set_plainly(ev: Evaluator, a: Ref, held: Instance, name: str, value: Abstract | None) -> None:
    """Evaluate ``object.__setattr__(a, name, value)``; delete the attribute without a value."""
    if value is None and object_behind(ev.outside, a) is not None:
        raise NotCovered("a deletion of an attribute of an object from outside", ev.span)
    found = class_attribute(held.cls, name)
    if found is vars(BaseException)["args"] and value is not None:
        set_field(ev, a, ARGS, ev.call(Known(tuple), [value], {}))
        return
    special = "__set__" if value is not None else "__delete__"
    given = [a] if value is None else [a, value]
    if type(found) is property:
        attribute_of = "fset" if value is not None else "fdel"
        setter = getattr(found, attribute_of)
        if setter is None:
            raise NotCovered(f"a write to the property {name!r}", ev.span)
        ev.call(_accessor(ev, held.cls, name, setter, attribute_of), given, {})
        return
    descriptor = descriptor_of(ev, held.cls, name)
    kind = None if descriptor is None else ev.class_of(descriptor)
    if kind is not None and hasattr(kind, special):
        ev.call(special_method(ev, kind, special), [descriptor, *given], {})  # type: ignore[list-item]
        return
    if name == "__dict__" and value is not None:
        _give_fields(ev, a, held, value)
        return
    if hasattr(type(found), "__set__") and type(found) is not MemberDescriptorType:
        raise NotCovered(f"a write to the descriptor {name!r}", ev.span)
    if not held.cls.__dictoffset__ and type(found) is not MemberDescriptorType:
        raise NotCovered("a write to an attribute of an object without fields", ev.span)
    if value is None and field_of(ev, a, name, False) is None:
        raise NotCovered(f"a deletion of the attribute {name!r}, which has no value", ev.span)
    ev.outside.rely_on_field(held.cls, name)
    set_field(ev, a, name, value)


def _give_fields(ev: Evaluator, a: Ref, held: Instance, value: Abstract) -> None:
    """Evaluate ``a.__dict__ = value`` for a dict, which `a` shares from then on."""
    is_shown = a.address in ev.shown_fields and FIELDS not in held.names
    if is_shown or slots_of(held.cls) or not held.cls.__dictoffset__:
        raise NotCovered("fields that are replaced", ev.span)
    if object_behind(ev.outside, a) is not None:
        raise NotCovered("fields of an object from outside that are replaced", ev.span)
    kept = {n: x for n, x in zip(held.names, held.items, strict=True) if n == ITEMS}
    kept[FIELDS] = value
    made = Instance(held.cls, tuple(kept), tuple(kept.values()))
    given = given_fields(ev, made)
    assert given is not None
    names = ev.heap[given.address].keys  # type: ignore[union-attr]
    if not all(type(name) is str for name in names):
        raise NotCovered("fields with names that are no strings", ev.span)
    ev.demand_own_list(a.address)
    ev.heap[a.address] = made
    for name in names:
        ev.outside.rely_on_field(held.cls, name)


def _accessor(ev: Evaluator, cls: Any, name: str, f: Any, kind: str) -> Abstract:
    owner = next(base for base in cls.__mro__ if name in vars(base))
    if ev.outside.is_free(owner):
        return ev.outside.own(f)
    ev.outside.rely_on_value(owner, name)
    return ev.outside.read(ev.outside.root("object", owner), kind, name, f)
