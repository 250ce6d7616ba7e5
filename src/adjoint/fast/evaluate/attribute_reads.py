"""Reads of attributes of known objects, of outside objects, and of numbers and arrays."""

from __future__ import annotations

from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.items import item, length_of, product
from adjoint.fast.evaluate.outside_values import is_own
from adjoint.fast.evaluate.plain_classes import is_plain_object
from adjoint.fast.evaluate.types import Array, Number, has_complex, part_type
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    DictOf,
    External,
    Flag,
    Instance,
    Known,
    ListOf,
    Ref,
    RowOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.adopted_containers import object_behind
from adjoint.fast.evaluate.writes.adoption import demand_not_written
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.functions import conjugate, imaginary_part, real_part
from adjoint.ir.single import Value
from adjoint.primal.special_methods import class_attribute

_LOADING_PARTS = ("numpy", "scipy")
"""Modules that import some of their parts when these are first read."""


def attribute(ev: Evaluator, a: Abstract, name: str) -> Abstract:
    """Evaluate ``a.name``."""
    if isinstance(a, Value):
        return _of_value(ev, a, name)
    if isinstance(a, Known):
        if isinstance(a, Flag):
            raise NotCovered("a truth value as a number", ev.span)
        return _of_known(ev, a.value, name)
    if isinstance(a, External):
        return _of_object(ev, a, type(a.sample), name)
    if isinstance(a, Ref):
        held = ev.held(a)
        if isinstance(held, Instance):
            return _of_object(ev, a, held.cls, name)
        kind: Any = list if isinstance(held, ListOf | RowOf) else dict
        if not isinstance(held, ListOf | DictOf | RowOf) or not _is_method(kind, name):
            raise NotCovered(f"the attribute {name!r}", ev.span)
        return Bound(Known(getattr(kind, name)), a)
    if isinstance(a, Tuple):
        fields = getattr(a.kind, "_fields", ())
        if name in fields:
            return a.items[fields.index(name)]
    raise NotCovered(f"the attribute {name!r}", ev.span)


def _of_known(ev: Evaluator, value: Any, name: str) -> Abstract:
    if isinstance(value, ModuleType):
        if name not in vars(value) and value.__name__ in _LOADING_PARTS:
            getattr(value, name, None)  # as the function itself will do
        if name not in vars(value):
            raise NotCovered(f"{value.__name__}.{name}", ev.span)
        found = vars(value)[name]
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
        if name in ("real", "imag", "kind", "itemsize", "type", "dtype", "shape", "ndim", "size"):
            found = getattr(value, name)
            return Tuple(()) if found == () else Known(found)
    if isinstance(value, type) and type(value).__getattribute__ is type.__getattribute__:
        for base in value.__mro__:
            if name in vars(base):
                found = vars(base)[name]
                if type(found) is FunctionType:
                    return _of_class(ev, value, name, found)
                if type(found) in (staticmethod, classmethod):
                    return _unbound(ev, value, name, found)
                if type(found) in (str, int, bool, float, complex, type(None)):
                    return _of_class(ev, value, name, found)
                break
    if callable(getattr(value, name, None)) and isinstance(value, str | np.ufunc):
        return Known(getattr(value, name))
    raise NotCovered(f"the attribute {name!r} of {value!r}", ev.span)


def _is_method(kind: type, name: str) -> bool:
    return type(vars(kind).get(name)) in (MethodDescriptorType, WrapperDescriptorType)


def _of_class(
    ev: Evaluator, cls: type, name: str, found: Any, kind: str = "class attribute"
) -> Abstract:
    """Return an attribute of a class, or the getter of a property, guarded unless the class is of
    this library."""
    if is_own({"__name__": cls.__module__}):
        return ev.outside.own(found)
    return _guarded(ev, cls, name, found, kind)


def _guarded(ev: Evaluator, cls: type, name: str, found: Any, kind: str) -> Abstract:
    for meta in type.mro(type(cls)):
        if hasattr(type(vars(meta).get(name)), "__set__"):  # it hides the attribute of the class
            raise NotCovered(f"the attribute {name!r} of {cls.__qualname__}", ev.span)
    ev.outside.rely_on_value(cls, name)
    return ev.outside.read(ev.outside.root("object", cls), kind, name, found)


def _unbound(ev: Evaluator, cls: type, name: str, found: Any) -> Abstract:
    """Return a static method as its function, a class method bound to the class."""
    if type(found.__func__) is not FunctionType:
        raise NotCovered(f"the method {name!r} of {cls.__qualname__}", ev.span)
    function = _of_class(ev, cls, name, found.__func__)
    return Bound(function, Known(cls)) if type(found) is classmethod else function


def _of_object(ev: Evaluator, a: External | Ref, cls: type, name: str) -> Abstract:
    """Return an attribute of an object, looked up as by `object.__getattribute__`."""
    if name == "__class__":
        return Known(cls)
    if isinstance(a, External) and not is_plain_object(cls):
        if isinstance(a.sample, tuple) and name in getattr(cls, "_fields", ()):
            return item(ev, a, Known(cls._fields.index(name)))  # type: ignore[attr-defined]
        if cls in (list, dict, tuple) and _is_method(cls, name):
            demand_not_written(a, name, ev.span)
            return Bound(Known(getattr(cls, name)), a)
        raise NotCovered(f"the attribute {name!r} of a {cls.__qualname__}", ev.span)
    found = class_attribute(cls, name)
    if type(found) is property:
        if found.fget is None:
            raise NotCovered(f"the property {name!r}", ev.span)
        return ev.call(_of_class(ev, cls, name, found.fget, "getter"), [a], {})
    slot = type(found) is MemberDescriptorType
    if found is not None and not slot and hasattr(type(found), "__set__"):
        raise NotCovered(f"the descriptor {name!r}", ev.span)
    own = _field(ev, a, name, slot)
    if own is not None:
        ev.outside.rely_on_field(cls, name)
        return own
    if type(found) is FunctionType:
        return Bound(_of_class(ev, cls, name, found), a)
    if type(found) in (staticmethod, classmethod):
        return _unbound(ev, cls, name, found)
    if found is None or hasattr(type(found), "__get__") or isinstance(found, GetSetDescriptorType):
        raise NotCovered(f"the attribute {name!r} of a {cls.__qualname__}", ev.span)
    return _guarded(ev, cls, name, found, "class attribute")


def special_method(ev: Evaluator, cls: type, name: str) -> Abstract:
    """Return a special method of `cls`; Python looks it up in the class, not the object."""
    found = class_attribute(cls, name)
    if isinstance(found, staticmethod | classmethod):
        raise NotCovered(f"{name} of {cls.__qualname__}, which is no plain method", ev.span)
    return attribute(ev, Known(cls), name)


def _field(ev: Evaluator, a: External | Ref, name: str, slot: bool) -> Abstract | None:
    """Return a field of the instance, or ``None``; guard its absence."""
    if isinstance(a, Ref):
        held = ev.held(a)
        assert isinstance(held, Instance)
        if name in held.names:
            return held.items[held.names.index(name)]
        outside = object_behind(ev.outside, a)
        return None if outside is None else _field(ev, outside, name, slot)
    if slot or name in getattr(a.sample, "__dict__", ()):
        if not hasattr(a.sample, name):
            raise NotCovered(f"the attribute {name!r} has no value", ev.span)
        return ev.outside.read(a.source, "attribute", name, getattr(a.sample, name))
    if hasattr(a.sample, "__dict__"):
        ev.outside.guard(a.source, "no attribute", name)
    return None


def _of_value(ev: Evaluator, a: Value, name: str) -> Abstract:
    """Return an attribute of a number or an array of the program."""
    t = ev.types[a]
    if isinstance(t, Array):
        if name == "shape":
            return Tuple(tuple(length_of(ev, a, i) for i in range(len(t.shape))))
        if name == "T":
            return ev.infer(np.transpose, [a])
        if name == "ndim":
            return Known(len(t.shape))
        if name == "size":
            total: Abstract = Known(1)
            for i in range(len(t.shape)):
                total = product(ev, total, length_of(ev, a, i))
            return total
        if name == "dtype":
            return Known(t.dtype)
        if name in ("real", "imag"):
            return part_of(ev, a, name)
        if name in ("conj", "conjugate"):
            return Bound(Known(conjugate), a)
        if hasattr(np.ndarray, name) and callable(getattr(np.ndarray, name)):
            return Bound(Known(getattr(np.ndarray, name)), a)
    if isinstance(t, Number):
        if name in ("real", "imag"):
            return part_of(ev, a, name)
        if name == "conjugate" or (name == "conj" and t.kinds.isdisjoint(_OF_PYTHON)):
            return Bound(Known(conjugate), a)
        if name in ("shape", "ndim", "size", "dtype") and len(t.kinds) == 1:
            (kind,) = t.kinds
            if issubclass(kind, np.generic):
                return _of_known(ev, kind(), name)
    raise NotCovered(f"the attribute {name!r} of a {t}", ev.span)


_OF_PYTHON = frozenset({int, float, bool, complex})
"""Classes of numbers without ``conj``."""


def part_of(ev: Evaluator, a: Value, name: str) -> Value:
    """Write ``a.real`` or ``a.imag`` of a number or an array."""
    t = ev.types[a]
    if name == "real" and not has_complex(t) and not (isinstance(t, Number) and bool in t.kinds):
        return a  # the real part of a truth value is an integer
    if isinstance(t, Array) and not has_complex(t):
        raise NotCovered("the imaginary part of a real array", ev.span)
    f = real_part if name == "real" else imaginary_part
    return ev.operation(f, (a,), part_type(t, name))
