"""Attributes of classes: methods, properties, slot attributes, descriptors, values; `super`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import (
    CellType,
    ClassMethodDescriptorType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
)
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.diagnostics.refusals import refused
from adjoint.primal.code_owner import is_user_code
from adjoint.primal.special_methods import C_METHODS, class_attribute
from adjoint.primal.value_kinds import ATOMS, by_value, defined_by, is_of_builtins
from adjoint.rulekit.registry import method_rules
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import is_opaque
from adjoint.runtime.python.missing_attributes import MISSING, missing, to_object
from adjoint.runtime.python.named_parts import read_entry, read_named_item, read_slot
from adjoint.runtime.python.subscripts import set_entry

NONE2 = (None, None, None)
_MEMBER: Any = type(property.fget)


def of_class(record: list[Any], slot: int, cls: type, name: str, default: tuple[Any, ...]) -> Any:
    """``cls.name``"""
    kind = type(cls)
    static = class_attribute(kind, name, MISSING) if kind is not type else MISSING
    if type(static) is property:
        return by_class(record, slot, cls, kind, name, static)
    for base in cls.__mro__:
        if name in vars(base):
            value = vars(base)[name]
            if type(defined_by(type(value), "__get__")) is FunctionType:
                return by_descriptor(record, slot, None, cls, name, value)
            if _is_chained(value):
                return _by_chain(record, slot, cls, value)
            if by_value(value):
                return read_entry(record, slot, base, name, value)
            return getattr(cls, name)
    if static is not MISSING:
        return by_class(record, slot, cls, kind, name, static)
    return missing(record, slot, cls, name, default)


def by_descriptor(
    record: list[Any], slot: int, obj: Any, kind: type, name: str, static: Any
) -> Any:
    """Read an attribute by ``__get__`` in Python; descriptor and object may be numbers."""
    memory: Memory = record[0]

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        _, own, obj_bar, _ = bars
        if own is not None:
            owner = next(base for base in kind.__mro__ if vars(base).get(name) is static)
            memory.add_entry(owner, name, own)
        return None, obj_bar, None

    getter = type(static).__get__
    return linked(record, slot, arrange, call_keywords, getter, (static, obj, kind), {})


def of_super(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    """``super().name``; an object by value has its cotangent in the shadow of the `super`."""
    target = obj.__self__
    if target is None or not by_value(target):
        return _above(record, slot, obj, name)
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]

    def super_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        memory.add_entry(obj, "self", None if bars is None else bars[1])
        if getattr(value, "__self__", None) is target:
            memory.add_entry(obj, "self", memory.take_entry(value, "__self__"))
        return NONE2

    value = None
    record[slot] = super_back
    value = _above(inner, 1, obj, name)
    return value


def _above(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    target, start, kind = obj.__self__, obj.__thisclass__, obj.__self_class__
    mro = kind.__mro__
    for base in mro[mro.index(start) + 1 :]:
        if name not in vars(base):
            continue
        static = vars(base)[name]
        if by_value(static):
            return read_entry(record, slot, base, name, static)
        descriptor = type(static)
        if target is kind:  # ``super(B, cls)``: C descriptors return themselves for a class
            if type(defined_by(descriptor, "__get__")) is FunctionType:
                return by_descriptor(record, slot, None, kind, name, static)
            break
        if descriptor in _READS_PART or type(defined_by(descriptor, "__get__")) is FunctionType:
            return by_class(record, slot, target, type(target), name, static)
        break
    return getattr(obj, name)


_READS_PART = (property, _MEMBER, functools.cached_property)
"""Descriptors of C that read a part of an object."""


def by_class(record: list[Any], slot: int, obj: Any, kind: type, name: str, static: Any) -> Any:
    """Read the attribute of `obj` for which its class `kind` has `static`."""
    descriptor = type(static)
    if descriptor is FunctionType:
        return MethodType(static, obj)
    if descriptor is property or _is_property(descriptor):
        if static.fget is None:
            return static.__get__(obj, kind)
        return linked(record, slot, to_object, call_keywords, static.fget, (obj,), {})
    if descriptor is _MEMBER and (
        not is_of_builtins(static.__objclass__) or isinstance(obj, BaseException | slice)
    ):
        return read_slot(record, slot, obj, name, static)
    if descriptor is functools.cached_property:
        return linked(record, slot, lambda bars: bars, fill_cached_property, obj, name, static)
    if _is_chained(static):
        return _by_chain(record, slot, kind, static)
    if issubclass(type(obj), tuple) and descriptor.__name__ == "_tuplegetter":
        return read_named_item(record, slot, obj, name)
    if type(defined_by(descriptor, "__get__")) is FunctionType:
        return by_descriptor(record, slot, obj, kind, name, static)
    if type(obj) is CellType and name == "cell_contents":
        return read_entry(record, slot, obj, None, obj.cell_contents)
    rules = None if descriptor in _PLAIN else method_rules(descriptor, "__get__")
    if rules is not None:
        fetched = linked(
            record,
            slot,
            lambda bars: (None, bars[2], None),
            run_rules,
            descriptor.__get__,
            rules,
            (static, obj, kind),
            {},
        )
        if fetched is not DECLINED:
            return fetched
    if type(obj) is FrameType and name == "f_locals":
        _check_frame(obj)
    if type(obj) is FunctionType and name == "__kwdefaults__":  # the caller may write to it
        record[0].globals_written[id(obj), name] = obj
    for base in kind.__mro__:
        if name in vars(base):
            if by_value(vars(base)[name]):
                return read_entry(record, slot, base, name, static)
            break
    own = type(kind.__getattribute__) is FunctionType  # user code, not differentiated here
    value = object.__getattribute__(obj, name) if own else getattr(obj, name)
    if by_value(obj) and is_bound(record, slot, obj, value):
        return value
    known = None if callable(static) else method_rules(kind, name)
    if known is not None:
        if known.inactive:
            return value
        getter = getter_of(kind, name)
        y = linked(record, slot, to_object, run_rules, getter, known, (obj,), {})
        if y is not DECLINED:
            return y
    if vars(BaseException).get(name) is static and not by_value(value):
        return value  # a part of an exception: its arguments, cause or context
    hidden = is_opaque(obj) or _is_of_c(static, name)
    if by_value(value) or (hidden and type(value) not in ATOMS and not callable(value)):
        return run_unknown(record[0], record, slot, getattr, (obj, name), {})
    return value


def is_bound(record: list[Any], slot: int, obj: Any, value: Any) -> bool:
    """Return whether `value` is a method bound to `obj`, a number or an array, whose cotangent the
    pullback then takes from the method."""
    if not callable(value) or getattr(value, "__self__", None) is not obj:
        return False
    memory: Memory = record[0]

    def method_back(_: Any) -> tuple[Any, ...]:
        return None, memory.take_entry(value, "__self__"), None

    record[slot] = method_back
    return True


@functools.lru_cache(maxsize=512)
def getter_of(kind: type, name: str) -> Callable[[Any], Any]:
    """Return a function that reads an attribute, named like the attribute in messages."""

    def get(obj: Any) -> Any:
        return getattr(obj, name)

    get.__name__, get.__qualname__ = name, f"{kind.__name__}.{name}"
    get.__module__ = kind.__module__
    return get


def _is_of_c(static: Any, name: str) -> bool:
    """Return whether an attribute is computed by a descriptor of C outside Python's builtins."""
    descriptor = type(static)
    if descriptor is GetSetDescriptorType:
        return not is_of_builtins(static.__objclass__) and name not in ("__dict__", "__weakref__")
    return descriptor not in _PLAIN and defined_by(descriptor, "__get__") is not None


def _is_chained(static: Any) -> bool:
    """Return whether a class method calls ``__get__`` of its function, as until Python 3.12."""
    if not isinstance(static, classmethod) or sys.version_info >= (3, 13):
        return False
    wrapped: type = type(static.__func__)
    if type(defined_by(type(static), "__get__")) is FunctionType or wrapped is FunctionType:
        return False
    return wrapped is property or type(defined_by(wrapped, "__get__")) is FunctionType


def _by_chain(record: list[Any], slot: int, cls: type, static: Any) -> Any:
    """Read the descriptor wrapped in a class method for the class."""
    getter = type(static.__func__).__get__
    return linked(record, slot, lambda _: NONE2, call_keywords, getter, (static.__func__, cls), {})


_PLAIN = frozenset(
    {ClassMethodDescriptorType, GetSetDescriptorType, _MEMBER, classmethod, staticmethod}
)
"""Types of descriptors without rules."""


def _is_property(descriptor: type) -> bool:
    """Return whether a class of descriptors inherits ``__get__`` from `property`."""
    return issubclass(descriptor, property) and type(descriptor.__get__) in C_METHODS


def _check_frame(frame: FrameType) -> None:
    """Refuse to read the variables of a frame of generated code."""
    if not is_user_code(frame.f_code, frame.f_globals):
        raise refused(
            "the variables of a frame are read inside differentiated code: those of a function that"
            " is differentiated are not in its frame",
            "pass them as arguments, or call locals() in the function itself",
        )


def fill_cached_property(record: list[Any], slot: int, obj: Any, name: str, static: Any) -> Any:
    """Run the first read of a `functools.cached_property`, which stores its value."""
    memory: Memory = record[0]
    inner: list[Any] = [memory, None, None]

    def cached_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            y_bar = accumulate(y_bar, inner[2](None)[-1])
        if inner[1] is not None:
            inner[1](y_bar)
        return NONE2

    record[slot] = cached_back
    value = call_keywords(inner, 1, static.func, (obj,), {})
    set_entry(inner, 2, obj.__dict__, static.attrname, value)  # past ``__setattr__``
    return value
