"""Reads of attributes of known objects, of outside objects, and of numbers and arrays."""

from __future__ import annotations

import sys
from collections import deque, namedtuple
from enum import Enum
from functools import cached_property
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.objects.constants import TEXT_METHODS, of_constant
from adjoint.fast.evaluate.objects.containers import KINDS
from adjoint.fast.evaluate.objects.derived import content_of, derived_instance
from adjoint.fast.evaluate.objects.fields import field_of, fields_of, set_field
from adjoint.fast.evaluate.objects.function_attributes import of_function
from adjoint.fast.evaluate.objects.guards import is_of_library, is_own
from adjoint.fast.evaluate.objects.memory_orders import flag, is_contiguous
from adjoint.fast.evaluate.parts_of_numbers import attribute_of_value
from adjoint.fast.evaluate.plain_classes import is_enumeration, is_named_tuple, is_plain_object
from adjoint.fast.evaluate.types import Array
from adjoint.fast.evaluate.values import (
    ARGS,
    Abstract,
    Bound,
    Closure,
    DequeOf,
    External,
    FieldsOf,
    Flag,
    Instance,
    IteratorOf,
    Known,
    Ref,
    SliceOf,
    Super,
    TableOf,
    Text,
    Tuple,
)
from adjoint.fast.evaluate.writes.adoption import demand_not_written
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.fast.support.functions import conjugate
from adjoint.ir.single import Value
from adjoint.primal.special_methods import class_attribute

_Fields = namedtuple("_Fields", "x")
_FIELD: Any = type(_Fields.x)
"""The class of the descriptors of the fields of a named tuple."""
_OF_GENERATORS = {
    "__next__": next,
    "__iter__": iter,
    "send": GeneratorType.send,
    "close": GeneratorType.close,
}
_OF_RANDOM_NUMBERS = ("numpy.random._generator", "numpy.random.mtrand", "random")
"""Modules of generators of random numbers, whose attributes are methods."""
_LOADING_PARTS = ("adjoint", "numpy", "scipy")
"""Modules that import some of their parts when these are first read."""


def attribute(ev: Evaluator, a: Abstract, name: str) -> Abstract:
    """Evaluate ``a.name``."""
    if isinstance(a, Value):
        found = attribute_of_value(ev, a, name)
        if found is None:
            kind = np.ndarray if isinstance(ev.types[a], Array) else ev.class_of(a)
            raise _missing_in(ev, kind, name)
        return found
    if isinstance(a, Known):
        if isinstance(a, Flag):
            raise NotCovered("a truth value as a number", ev.span)
        if not isinstance(a.value, tuple):
            return _of_known(ev, a.value, name)
        a = Tuple(tuple(map(Known, a.value)), type(a.value))
    cls = ev.class_of(a) if isinstance(a, External | Ref | FieldsOf) else None
    if cls is not None and cls.__module__ in _OF_RANDOM_NUMBERS:
        return Bound(Known(getattr(cls, name, None)), a)
    if isinstance(a, External):
        return _of_object(ev, a, type(a.sample), name)
    if isinstance(a, Ref | FieldsOf):
        held = ev.held(a)
        if isinstance(a, Ref) and isinstance(held, Instance):
            return _of_object(ev, a, held.cls, name)
        if isinstance(held, IteratorOf) and name in _OF_GENERATORS:
            return Bound(Known(_OF_GENERATORS[name]), a)
        if isinstance(held, DequeOf | TableOf) and cls is deque and name == "maxlen":
            return Known(held.most) if isinstance(held, DequeOf) else held.factory
        if cls is dict and name == "fromkeys":
            return Known(dict.fromkeys)
        if cls not in KINDS or not _is_method(cls, name):
            raise _missing_in(ev, cls, name)
        return Bound(Known(getattr(cls, name)), a)
    if isinstance(a, Tuple):
        fields = getattr(a.kind, "_fields", ())
        if name in fields:
            return a.items[fields.index(name)]
        if name in ("index", "count"):
            return Bound(Known(getattr(tuple, name)), a)
        if a.kind is not tuple:
            return _of_named_tuple(ev, a, name)
    if isinstance(a, Text) and name in TEXT_METHODS:
        return Bound(Known(getattr(str, name)), a)
    if isinstance(a, SliceOf) and name in ("start", "stop", "step"):
        return getattr(a, name)  # type: ignore[no-any-return]
    if isinstance(a, Super):
        return _above(ev, a, name)
    if isinstance(a, Closure):
        return of_function(ev, a, name)
    if isinstance(a, Bound) and getattr(a.function, "value", None) is is_contiguous:
        return Known(flag(ev, a.owner, name))
    raise _missing_in(ev, ev.class_of(a), name)


def _missing_in(ev: Evaluator, cls: type | None, name: str) -> NotCovered:
    """Return the error of a read of an attribute of a builtin class, which no object of it has
    unless the class has it."""
    reason = f"the attribute {name!r}" + (f" of a {cls.__qualname__}" if cls is not None else "")
    if cls is None or cls.__module__ not in ("builtins", "numpy") or _has(cls, name):
        return NotCovered(reason, ev.span)
    return Raises(AttributeError, reason, ev.span)


def _of_named_tuple(ev: Evaluator, a: Tuple | External, name: str) -> Abstract:
    """Return a method, property or attribute of the class of a named tuple."""
    kind = a.kind if isinstance(a, Tuple) else type(a.sample)
    found = class_attribute(kind, name)
    if type(found) is property and found.fget is not None:
        return ev.call(_of_class(ev, kind, name, found.fget, "getter"), [a], {})
    if type(found) in (WrapperDescriptorType, MethodDescriptorType):
        return Bound(Known(getattr(kind, name)), a)
    read = _through_class(ev, kind, name)
    return Bound(read, a) if type(found) is FunctionType else read


def _above(ev: Evaluator, a: Super, name: str) -> Abstract:
    """Return an attribute of ``super(cls, owner)``."""
    kind = a.owner.value if isinstance(a.owner, Known) else ev.class_of(a.owner)
    assert isinstance(kind, type)
    bases = kind.__mro__[kind.__mro__.index(a.cls) + 1 :]
    base = next((base for base in bases if name in vars(base)), object)
    found = class_attribute(base, name)
    ev.outside.rely_on(kind)
    if type(found) is property and found.fget is not None:
        return ev.call(_of_class(ev, base, name, found.fget, "getter"), [a.owner], {})
    if type(found) is classmethod and type(found.__func__) is FunctionType:
        return Bound(_of_class(ev, base, name, found.__func__), Known(kind))
    read = _through_class(ev, base, name)
    is_bound = type(found) in (FunctionType, WrapperDescriptorType, MethodDescriptorType)
    return Bound(read, a.owner) if is_bound else read


def _of_known(ev: Evaluator, value: Any, name: str) -> Abstract:
    if isinstance(value, ModuleType):
        if name not in vars(value) and value.__name__ in _LOADING_PARTS:
            getattr(value, name, None)  # as the function itself will do
        if name not in vars(value):
            reason = f"{value.__name__}.{name}"
            if "__getattr__" in vars(value) or hasattr(type(value), name):
                raise NotCovered(reason, ev.span)
            for missing in (name, "__getattr__"):
                ev.outside.guard(ev.outside.root("object", value), "no attribute", missing)
            raise Raises(AttributeError, reason, ev.span)
        found = vars(value)[name]
        if (id(vars(value)), name) in ev.global_cells:
            return ev.global_(vars(value), name)
        if is_own(vars(value)):
            return ev.outside.own(found)
        if ev.frames and is_own(ev.frames[-1].namespace):
            return Known(found)  # library code relies on it without a guard
        if type(found) in (int, float, complex) and value.__name__ in ("math", "cmath", "numpy"):
            return ev.outside.constant(ev.outside.root("object", value), "member", name, found)
        return ev.outside.read(ev.outside.root("object", value), "member", name, found)
    if name in ("conjugate", "conj") and isinstance(value, int | float | complex | np.number):
        if hasattr(value, name):
            return Bound(Known(conjugate), Known(value))
    if isinstance(value, np.dtype | np.generic | int | float | complex):
        names = ("real", "imag", "kind", "itemsize", "type", "dtype", "shape", "ndim", "size")
        if name in names and hasattr(value, name):
            found = getattr(value, name)
            return Tuple(()) if type(found) is tuple and not found else Known(found)
    if (found := of_constant(ev, value, name)) is not None:
        return found
    if isinstance(value, type) and type(value).__getattribute__ is type.__getattribute__:
        return _through_class(ev, value, name)
    if isinstance(value, Enum) and is_enumeration(type(value)):
        return _of_member(ev, value, name)
    if isinstance(value, property) and name in ("getter", "setter", "deleter"):
        return Bound(Known(getattr(property, name)), Known(value))
    if value is sys.modules and name == "get":
        return Bound(Known(dict.get), Known(value))
    if callable(getattr(value, name, None)) and isinstance(value, str | np.ufunc):
        return Known(getattr(value, name))
    if isinstance(value, _PLAIN) and not hasattr(value, name):
        raise Raises(AttributeError, f"the attribute {name!r} of {value!r}", ev.span)
    raise NotCovered(f"the attribute {name!r} of {value!r}", ev.span)


_PLAIN = (str, int, float, complex, type(None), tuple)


def _through_class(ev: Evaluator, cls: Any, name: str) -> Abstract:
    """Evaluate ``cls.name``."""
    if is_enumeration(cls) and name in cls._member_map_:
        ev.outside.rely_on(cls)
        return Known(cls._member_map_[name])
    found = class_attribute(cls, name, _NOTHING)
    owner = next((base for base in cls.__mro__ if name in vars(base)), object)
    if name in ("__name__", "__qualname__", "__module__"):
        found = getattr(cls, name)
        if ev.outside.is_free(cls):
            return Known(found)
        return ev.outside.read(ev.outside.root("object", cls), "class attribute", name, found)
    if name in ("__flags__", "__mro__", "__class__"):
        ev.outside.rely_on(cls)
        return Known(getattr(cls, name))
    if type(found) in (staticmethod, classmethod):
        return _unbound(ev, cls, name, found)
    if type(found) is FunctionType:
        return _of_class(ev, cls, name, found)
    if type(found) in _OF_C and owner.__flags__ & IMMUTABLE_TYPE:
        return Known(getattr(cls, name))
    if found is _NOTHING and type(cls) is type and not hasattr(type, name):
        ev.outside.rely_on(cls)
        raise Raises(AttributeError, f"the attribute {name!r} of {cls.__qualname__}", ev.span)
    if found is _NOTHING or hasattr(type(found), "__get__"):
        raise NotCovered(f"the attribute {name!r} of {cls.__qualname__}", ev.span)
    read = _of_class(ev, cls, name, found)
    if _descriptor(ev, read, "__get__"):
        get = special_method(ev, ev.class_of(read), "__get__")  # type: ignore[arg-type]
        return ev.call(get, [read, Known(None), Known(cls)], {})
    return read


_NOTHING = object()
_OF_C = (
    WrapperDescriptorType,
    MethodDescriptorType,
    BuiltinFunctionType,
    ClassMethodDescriptorType,
)
IMMUTABLE_TYPE = 1 << 8
"""The flag of classes of C, whose attributes nobody can set (``Py_TPFLAGS_IMMUTABLETYPE``)."""


def _of_member(ev: Evaluator, member: Enum, name: str) -> Abstract:
    """Return an attribute of a member of an enumeration."""
    cls = type(member)
    name = {"value": "_value_", "name": "_name_"}.get(name, name)
    if name in vars(member):
        found = vars(member)[name]
        if id(member) in ev.outside.shown_members and not isinstance(found, str | None):
            raise NotCovered("the value of a member of an enumeration from outside", ev.span)
        if ev.outside.is_free(cls):
            return ev.outside.own(found)
        ev.outside.rely_on(cls)
        source = ev.outside.root("object", member)
        ev.outside.samples[id(source)] = member
        return ev.outside.read(source, "attribute", name, found)
    return _of_object(ev, Known(member), cls, name)


def _descriptor(ev: Evaluator, a: Abstract, method: str) -> bool:
    """Return whether `a` is a descriptor of a user class with such a method."""
    cls = ev.class_of(a)
    is_object = isinstance(a, Ref | External) and cls is not None and is_plain_object(cls)
    return is_object and hasattr(cls, method)


def _is_method(kind: type, name: str) -> bool:
    found = class_attribute(kind, name)
    return type(found) in (MethodDescriptorType, WrapperDescriptorType, FunctionType)


def _of_class(
    ev: Evaluator, cls: type, name: str, found: Any, kind: str = "class attribute"
) -> Abstract:
    """Return an attribute of a class, or the getter of a property, guarded unless the class is of
    this library."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
    if ev.outside.is_free(owner):
        return ev.outside.own(found)
    return _guarded(ev, owner if ev.outside.is_free(cls) else cls, name, found, kind)


def _guarded(ev: Evaluator, cls: type, name: str, found: Any, kind: str) -> Abstract:
    for meta in type.mro(type(cls)):
        if hasattr(type(vars(meta).get(name)), "__set__"):  # it hides the attribute of the class
            raise NotCovered(f"the attribute {name!r} of {cls.__qualname__}", ev.span)
    ev.outside.rely_on_value(cls, name)
    is_constant = is_of_library(cls) and _is_of_numbers(found)
    read = ev.outside.constant if is_constant else ev.outside.read
    return read(ev.outside.root("object", cls), kind, name, found)


def _is_of_numbers(found: Any) -> bool:
    if type(found) is tuple:
        return all(map(_is_of_numbers, found))
    return type(found) in (int, float, str)


def _unbound(ev: Evaluator, cls: type, name: str, found: Any) -> Abstract:
    """Return a static method as its function, a class method bound to the class."""
    if type(found.__func__) is not FunctionType:
        raise NotCovered(f"the method {name!r} of {cls.__qualname__}", ev.span)
    function = _of_class(ev, cls, name, found.__func__)
    return Bound(function, Known(cls)) if type(found) is classmethod else function


def _of_object(ev: Evaluator, a: External | Ref | Known, cls: Any, name: str) -> Abstract:
    """Return an attribute of an object; ask ``__getattr__`` for one that it does not have."""
    try:
        found = _in_object(ev, a, cls, name)
    except Raises as error:
        if hasattr(cls, "__getattr__") and error.kind is not None:
            raise NotCovered("__getattr__ after an error of a getter", ev.span) from None
        raise
    if found is not None:
        return found
    ev.outside.rely_on(cls)
    if hasattr(cls, "__getattr__"):
        return ev.call(special_method(ev, cls, "__getattr__"), [a, Known(name)], {})
    raise Raises(AttributeError, f"the attribute {name!r} of a {cls.__qualname__}", ev.span)


def _in_object(ev: Evaluator, a: External | Ref | Known, cls: type, name: str) -> Abstract | None:
    """Return an attribute of an object, looked up as by `object.__getattribute__`; ``None`` for one
    that it does not have."""
    if name == "__class__":
        return Known(cls)
    if name == "__traceback__" and issubclass(cls, BaseException):
        return ev.allocate(Instance(TracebackType, (), ()))
    if (
        name == "__dict__"
        and (is_plain_object(cls) or issubclass(cls, tuple))
        and not isinstance(a, Known)
    ):
        return fields_of(ev, a, cls)
    if isinstance(a, External) and not is_plain_object(cls):
        if isinstance(a.sample, tuple) and name in getattr(cls, "_fields", ()):
            return item(ev, a, Known(cls._fields.index(name)))  # type: ignore[attr-defined]
        if cls in (list, dict, tuple, set, frozenset) and _is_method(cls, name):
            demand_not_written(a, name, ev.span)
            return Bound(Known(getattr(cls, name)), a)
        if is_named_tuple(cls):
            return _of_named_tuple(ev, a, name)
        raise NotCovered(f"the attribute {name!r} of a {cls.__qualname__}", ev.span)
    found = class_attribute(cls, name)
    if type(found) is _FIELD and (held := derived_instance(ev, a)) is not None:
        return item(ev, content_of(held), Known(cls._fields.index(name)))  # type: ignore[attr-defined]
    if issubclass(cls, BaseException) and type(found) is GetSetDescriptorType:
        return _of_exception(ev, a, name)
    if type(found) is property:
        if found.fget is None:
            raise NotCovered(f"the property {name!r}", ev.span)
        return ev.call(_of_class(ev, cls, name, found.fget, "getter"), [a], {})
    slot = type(found) is MemberDescriptorType
    descriptor = descriptor_of(ev, cls, name)
    if descriptor is None and found is not None and not slot and hasattr(type(found), "__set__"):
        raise NotCovered(f"the descriptor {name!r}", ev.span)
    if descriptor is None or not _descriptor(ev, descriptor, "__set__"):
        own = field_of(ev, a, name, slot)
        if own is not None:
            ev.outside.rely_on_field(cls, name)
            return own
    if descriptor is not None and _descriptor(ev, descriptor, "__get__"):
        get = special_method(ev, ev.class_of(descriptor), "__get__")  # type: ignore[arg-type]
        return ev.call(get, [descriptor, a, Known(cls)], {})
    if type(found) is cached_property and isinstance(a, Ref):
        value = ev.call(_of_class(ev, cls, name, found.func, "cached"), [a], {})
        set_field(ev, a, name, value)
        return value
    if type(found) is FunctionType:
        return Bound(_of_class(ev, cls, name, found), a)
    if type(found) in (staticmethod, classmethod):
        return _unbound(ev, cls, name, found)
    if found is None and not _has(cls, name):
        return None
    if type(found) in _OF_C:
        return Bound(_through_class(ev, cls, name), a)
    if hasattr(type(found), "__get__"):
        raise NotCovered(f"the attribute {name!r} of a {cls.__qualname__}", ev.span)
    return _of_class(ev, cls, name, found)


def _of_exception(ev: Evaluator, a: External | Ref | Known, name: str) -> Abstract:
    """Return what an exception is made of, or its cause."""
    held = ev.held(a)
    names = held.names if isinstance(held, Instance) else ()
    key = ARGS if name == "args" else name
    if key in names:
        return held.items[names.index(key)]  # type: ignore[union-attr]
    if name == "__cause__" and ARGS in names:
        return Known(None)
    raise NotCovered(f"the attribute {name!r} of an exception", ev.span)


def descriptor_of(ev: Evaluator, cls: type, name: str) -> Abstract | None:
    """Return the object of a user class that a class holds under a name; ``None`` for others."""
    found = class_attribute(cls, name)
    kind = type(found)
    is_user = not kind.__flags__ & IMMUTABLE_TYPE and kind is not cached_property
    return _of_class(ev, cls, name, found) if is_user and is_plain_object(kind) else None


def _has(cls: type, name: str) -> bool:
    return any(name in vars(base) for base in cls.__mro__)


def special_method(ev: Evaluator, cls: type, name: str) -> Abstract:
    """Return a special method of `cls`; Python looks it up in the class, not the object."""
    found = class_attribute(cls, name)
    if isinstance(found, staticmethod | classmethod):
        raise NotCovered(f"{name} of {cls.__qualname__}, which is no plain method", ev.span)
    return attribute(ev, Known(cls), name)
