"""Attributes that are read: fields of objects, with properties and descriptors."""

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
    ModuleType,
)
from typing import Any
from weakref import CallableProxyType, ProxyType

import numpy as np

from adjoint.rules.registry import load, methods
from adjoint.run.accumulate import accumulate
from adjoint.run.attribute_writes import (
    delete_attribute,
    set_attribute,
)
from adjoint.run.by_rules import DECLINED, run_rules
from adjoint.run.dispatch import call_keywords, linked
from adjoint.run.iterator import Iterator
from adjoint.run.kinds import (
    ATOMS,
    by_value,
    defined_by,
    fields_of,
    has_field,
    is_of_builtins,
    slot_owner,
)
from adjoint.run.lifetimes import lifetimes_of
from adjoint.run.memory import Memory, refused
from adjoint.run.native import watched
from adjoint.run.specials import (
    C_METHODS,
    class_attribute,
    method_rules,
    quick_special_of,
    special_of,
)
from adjoint.run.unknown import is_opaque, run_unknown
from adjoint.run.views import tell_twin
from adjoint.run.watch import is_of_the_library, is_the_users

__all__ = ["ATTRIBUTES", "attribute", "plain_attribute", "read_global", "read_slot"]

ndarray = np.ndarray
NONE2 = (None, None, None)
_STAND_INS = frozenset({super, ProxyType, CallableProxyType})
_MISSING: Any = object()
_MEMBER: Any = type(property.fget)


def attribute(record: list[Any], slot: int, obj: Any, name: str, *default: Any) -> Any:
    """``obj.name``; the pullback returns ``(None, obj_bar, None)``."""
    kind = type(obj)
    if kind is ModuleType:
        namespace = vars(obj)
        if name not in namespace:
            return _of_module(record, slot, obj, name, default)
        if "__builtins__" not in namespace and namespace.get("__spec__", kind) is None:
            return read_field(record, slot, namespace, name)  # made by hand, as an object is
        return read_global(record, slot, namespace, name)
    if kind is ndarray or issubclass(kind, ndarray | np.generic) or by_value(obj):
        if has_field(obj, name):
            return plain_attribute(record, slot, obj, name)
        return _of_number(record, slot, obj, name, default)
    if issubclass(kind, type):
        return _of_class(record, slot, obj, name, default)
    fetcher: Any = quick_special_of(kind, "__getattribute__")
    if type(fetcher) is FunctionType:
        return _found_or_made(record, slot, obj, name, call_keywords, fetcher, (obj, name), {})
    if kind in _STAND_INS:
        if kind is super:
            return _of_super(record, slot, obj, name)
        lifetimes_of(record[0]).ask(obj.__dir__.__self__)  # a proxy; that is what it stands for
    static = class_attribute(kind, name, _MISSING)
    fields = fields_of(obj)
    if fields is not None and name in fields and defined_by(type(static), "__set__") is None:
        return read_field(record, slot, fields, name)
    if static is _MISSING:
        return _missing(record, slot, obj, name, default)
    if type(static) is property or (
        type(static) is not FunctionType and type(special_of(kind, "__getattr__")) is FunctionType
    ):
        return _found_or_made(record, slot, obj, name, _by_class, obj, kind, name, static)
    return _by_class(record, slot, obj, kind, name, static)


def plain_attribute(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    """``object.__getattribute__(obj, name)``"""
    kind = type(obj)
    if kind is super:
        return _of_super(record, slot, obj, name)
    static = class_attribute(kind, name, _MISSING)
    fields = fields_of(obj)
    if fields is not None and name in fields and defined_by(type(static), "__set__") is None:
        return read_field(record, slot, fields, name)
    if static is _MISSING:
        return object.__getattribute__(obj, name)
    return _by_class(record, slot, obj, kind, name, static)


def _found_or_made(
    record: list[Any], slot: int, obj: Any, name: str, find: Callable[..., Any], *operands: Any
) -> Any:
    """What the user's code finds; where it says that there is no such attribute, what
    ``__getattr__`` makes."""
    fallback = special_of(type(obj), "__getattr__")
    if type(fallback) is not FunctionType:
        return linked(record, slot, _pair, find, *operands)
    inner: list[Any] = [record[0], None, None]

    def found_back(y_bar: Any) -> tuple[Any, ...]:
        obj_bar = None
        for back in (inner[2], inner[1]):
            bars = None if back is None else back(y_bar)
            if bars is not None:
                obj_bar, y_bar = accumulate(obj_bar, bars[1]), None
        return None, obj_bar, None

    record[slot] = found_back
    try:
        return find(inner, 1, *operands)
    except AttributeError:
        pass  # it is no context of what the fallback raises
    return call_keywords(inner, 2, fallback, (obj, name), {})


def _of_module(
    record: list[Any], slot: int, module: ModuleType, name: str, default: tuple[Any, ...]
) -> Any:
    """What is not there yet: a module may have a ``__getattr__``."""
    maker = vars(module).get("__getattr__")
    if type(maker) is FunctionType and not is_of_the_library(maker.__code__):
        return watched(record, slot, maker, getattr, (module, name, *default), {})
    return getattr(module, name, *default)


def read_field(record: list[Any], slot: int, fields: dict[Any, Any], name: str) -> Any:
    """One entry of an instance dictionary."""
    value = dict.__getitem__(fields, name)
    if by_value(value):
        memory: Memory = record[0]

        def field_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(fields, name, y_bar)
            return NONE2

        record[slot] = field_back
    return value


def read_global(record: list[Any], slot: int, namespace: dict[str, Any], name: str) -> Any:
    """A variable of a module: its cotangent matters only where differentiated code has assigned
    it."""
    memory: Memory = record[0]
    if memory.globals_written and (id(namespace), name) in memory.globals_written:
        return read_field(record, slot, namespace, name)
    return namespace[name]


_HANDED_OUT = {
    "ctypes": "to ctypes",
    "__array_interface__": "by its '__array_interface__'",
    "__array_struct__": "by its '__array_struct__'",
}
"""Whoever has the address reads and writes unseen."""


def _of_number(record: list[Any], slot: int, obj: Any, name: str, default: tuple[Any, ...]) -> Any:
    """Attributes of numbers and arrays, whose classes may compute them as those of objects do."""
    kind = type(obj)
    if not kind.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
        return _of_known_number(record, slot, obj, name, default)
    fetcher: Any = quick_special_of(kind, "__getattribute__")
    if type(fetcher) is FunctionType:
        return _found_or_made(record, slot, obj, name, call_keywords, fetcher, (obj, name), {})
    static = class_attribute(kind, name, _MISSING)
    if static is _MISSING:
        return _missing(record, slot, obj, name, default)
    if type(defined_by(type(static), "__get__")) is FunctionType:
        return _by_descriptor(record, slot, obj, kind, name, static)
    if type(static) is property and type(special_of(kind, "__getattr__")) is FunctionType:
        return _found_or_made(record, slot, obj, name, _of_known_number, obj, name, default)
    if type(static) is staticmethod:
        return static.__func__  # whatever the number is
    if defined_by(type(static), "__get__") is None:
        owner = next(base for base in kind.__mro__ if name in vars(base))
        return _class_value(record, slot, owner, name, static) if by_value(static) else static
    return _of_known_number(record, slot, obj, name, default)


def _of_known_number(
    record: list[Any], slot: int, obj: Any, name: str, default: tuple[Any, ...]
) -> Any:
    """By rule, else they are methods and facts such as the shape."""
    if name == "flags" and isinstance(obj, ndarray):
        tell_twin(obj)
    if issubclass(type(obj), ndarray | np.generic):
        load("numpy")
    for base in type(obj).__mro__:
        known = methods.get(base)
        rules = known.get(name) if known is not None else None
        static = vars(base).get(name)
        if rules is not None and static is not None and not callable(static):
            y = linked(record, slot, _pair, run_rules, _getter(base, name), rules, (obj,), {})
            if y is not DECLINED:
                return y
        if type(static) is property:
            return linked(record, slot, _pair, call_keywords, static.fget, (obj,), {})
    if name in _HANDED_OUT and isinstance(obj, ndarray):
        raise refused(
            f"the memory of an ndarray is handed out {_HANDED_OUT[name]} inside differentiated"
            " code",
            "hand out that of a copy, outside the differentiated function",
        )
    value = getattr(obj, name, *default)
    if _is_bound(record, slot, obj, value):
        return value
    if type(value) in ATOMS or isinstance(value, np.integer | np.bool_ | np.dtype):
        return value
    if value is fields_of(obj):
        return value  # memory of its own, as with any object
    kind: Any = type(obj)
    getter = _getter(kind, name)
    return linked(record, slot, _pair, _run_unknown, getter, (obj,))


def _is_bound(record: list[Any], slot: int, obj: Any, value: Any) -> bool:
    """Whether `value` is a method that is bound to `obj`, a number or an array: its cotangent is
    given back from there."""
    if not callable(value) or getattr(value, "__self__", None) is not obj:
        return False
    memory: Memory = record[0]

    def method_back(_: Any) -> tuple[Any, ...]:
        return None, memory.take_entry(value, "__self__"), None

    record[slot] = method_back
    return True


def _run_unknown(record: list[Any], slot: int, f: Any, args: tuple[Any, ...]) -> Any:
    return run_unknown(record[0], record, slot, f, args, {})


@functools.cache
def _getter(kind: type, name: str) -> Callable[[Any], Any]:
    def get(obj: Any) -> Any:
        return getattr(obj, name)

    get.__name__, get.__qualname__ = name, f"{kind.__name__}.{name}"
    get.__module__ = kind.__module__
    return get


def _of_class(record: list[Any], slot: int, cls: type, name: str, default: tuple[Any, ...]) -> Any:
    kind = type(cls)
    static = class_attribute(kind, name, _MISSING) if kind is not type else _MISSING
    if type(static) is property:
        return _by_class(record, slot, cls, kind, name, static)
    for base in cls.__mro__:
        if name in vars(base):
            value = vars(base)[name]
            if type(defined_by(type(value), "__get__")) is FunctionType:
                return _by_descriptor(record, slot, None, cls, name, value)
            if _is_chained(value):
                return _by_chain(record, slot, cls, value)
            if by_value(value):
                return _class_value(record, slot, base, name, value)
            return getattr(cls, name)
    if static is not _MISSING:
        return _by_class(record, slot, cls, kind, name, static)
    return _missing(record, slot, cls, name, default)


def _by_descriptor(
    record: list[Any], slot: int, obj: Any, kind: type, name: str, static: Any
) -> Any:
    """What a descriptor, which may be a number, gives for an object, which may be one, too."""
    memory: Memory = record[0]

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        _, own, obj_bar, _ = bars
        if own is not None:
            owner = next(base for base in kind.__mro__ if vars(base).get(name) is static)
            memory.add_entry(owner, name, own)
        return None, obj_bar, None

    getter = type(static).__get__
    return linked(record, slot, arrange, call_keywords, getter, (static, obj, kind), {})


def _class_value(record: list[Any], slot: int, owner: type, name: str, value: Any) -> Any:
    memory: Memory = record[0]

    def class_value_back(y_bar: Any) -> tuple[Any, ...]:
        memory.add_entry(owner, name, y_bar)
        return NONE2

    record[slot] = class_value_back
    return value


def _of_super(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    """``super().name``; what is by value has its cotangent in the shadow of the `super` object."""
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
            return _class_value(record, slot, base, name, static)
        descriptor = type(static)
        if target is kind:  # ``super(B, cls)``: asked for a class, descriptors give themselves
            if type(defined_by(descriptor, "__get__")) is FunctionType:
                return _by_descriptor(record, slot, None, kind, name, static)
            break
        if descriptor in _BOUND_BY_HAND or type(defined_by(descriptor, "__get__")) is FunctionType:
            return _by_class(record, slot, target, type(target), name, static)
        break
    return getattr(obj, name)


_BOUND_BY_HAND = (property, _MEMBER, functools.cached_property)
"""Descriptors of C that give what an object holds."""


def _missing(record: list[Any], slot: int, obj: Any, name: str, default: tuple[Any, ...]) -> Any:
    fallback = special_of(type(obj), "__getattr__")
    if type(fallback) is FunctionType or type(fallback) in C_METHODS:
        if not default:
            return linked(record, slot, _pair, call_keywords, fallback, (obj, name), {})
        try:
            return linked(record, slot, _pair, call_keywords, fallback, (obj, name), {})
        except AttributeError:
            return default[0]
    if not default and issubclass(type(obj), Iterator):
        kind = obj.__class__.__name__
        raise AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=obj)
    return getattr(obj, name, *default)


def read_slot(record: list[Any], slot: int, obj: Any, name: str, static: Any) -> Any:
    """What an object has in a slot."""
    value = static.__get__(obj)
    if by_value(value):
        memory: Memory = record[0]

        def slot_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(slot_owner(memory, obj), name, y_bar)
            return NONE2

        record[slot] = slot_back
    return value


def _by_class(record: list[Any], slot: int, obj: Any, kind: type, name: str, static: Any) -> Any:
    """What the class has under the name: a method, a property, a slot, a descriptor, or a plain
    value."""
    descriptor = type(static)
    if descriptor is FunctionType:
        return MethodType(static, obj)
    if descriptor is property or _is_property(descriptor):
        if static.fget is None:
            return static.__get__(obj, kind)
        return linked(record, slot, _pair, call_keywords, static.fget, (obj,), {})
    if descriptor is _MEMBER and (
        not is_of_builtins(static.__objclass__) or isinstance(obj, BaseException | slice)
    ):
        return read_slot(record, slot, obj, name, static)
    if descriptor is functools.cached_property:
        return linked(record, slot, _cached, _fill_cached_property, obj, name, static)
    if _is_chained(static):
        return _by_chain(record, slot, kind, static)
    if issubclass(type(obj), tuple) and descriptor.__name__ == "_tuplegetter":
        return _named_item(record, slot, obj, name)
    if type(defined_by(descriptor, "__get__")) is FunctionType:
        return _by_descriptor(record, slot, obj, kind, name, static)
    if type(obj) is CellType and name == "cell_contents":
        return _cell_contents(record, slot, obj)
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
    if type(obj) is FunctionType and name == "__kwdefaults__":  # to be written to, most likely
        record[0].globals_written[id(obj), name] = obj
    for base in kind.__mro__:
        if name in vars(base):
            if by_value(vars(base)[name]):
                return _class_value(record, slot, base, name, static)
            break
    own = (
        type(kind.__getattribute__) is FunctionType
    )  # the user's, which is not differentiated here
    value = object.__getattribute__(obj, name) if own else getattr(obj, name)
    if by_value(obj) and _is_bound(record, slot, obj, value):
        return value
    known = None if callable(static) else method_rules(kind, name)
    if known is not None:
        if known.inactive:
            return value
        getter = _getter(kind, name)
        y = linked(record, slot, _pair, run_rules, getter, known, (obj,), {})
        if y is not DECLINED:
            return y
    if vars(BaseException).get(name) is static and not by_value(value):
        return value  # what an exception holds: its arguments, the exceptions before it
    hidden = is_opaque(obj) or _is_of_c(static, name)
    if by_value(value) or (hidden and type(value) not in ATOMS and not callable(value)):
        return run_unknown(record[0], record, slot, getattr, (obj, name), {})
    return value


def _is_of_c(static: Any, name: str) -> bool:
    """Whether a descriptor that is neither Python's own nor the user's may make what it gives."""
    descriptor = type(static)
    if descriptor is GetSetDescriptorType:
        return not is_of_builtins(static.__objclass__) and name not in ("__dict__", "__weakref__")
    return descriptor not in _PLAIN and defined_by(descriptor, "__get__") is not None


def _is_chained(static: Any) -> bool:
    """Whether a class method asks what it wraps for what there is, as until Python 3.12."""
    if not isinstance(static, classmethod) or sys.version_info >= (3, 13):
        return False
    wrapped: type = type(static.__func__)
    if type(defined_by(type(static), "__get__")) is FunctionType or wrapped is FunctionType:
        return False
    return wrapped is property or type(defined_by(wrapped, "__get__")) is FunctionType


def _by_chain(record: list[Any], slot: int, cls: type, static: Any) -> Any:
    """What the descriptor in a class method gives for the class."""
    getter = type(static.__func__).__get__
    return linked(record, slot, lambda _: NONE2, call_keywords, getter, (static.__func__, cls), {})


_PLAIN = frozenset(
    {ClassMethodDescriptorType, GetSetDescriptorType, _MEMBER, classmethod, staticmethod}
)
"""Descriptors that no library has rules for."""


def _is_property(descriptor: type) -> bool:
    """Whether a class of descriptors is a property that reads as properties do."""
    return issubclass(descriptor, property) and type(descriptor.__get__) in C_METHODS


def _check_frame(frame: FrameType) -> None:
    """What runs in place of a function has other variables."""
    if not is_the_users(frame.f_code, frame.f_globals):
        raise refused(
            "the variables of a frame are read inside differentiated code: those of a function that"
            " is differentiated are not in its frame",
            "pass them as arguments, or call locals() in the function itself",
        )


def _cell_contents(record: list[Any], slot: int, cell: CellType) -> Any:
    value = cell.cell_contents
    if by_value(value):
        memory: Memory = record[0]

        def contents_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(cell, None, y_bar)
            return NONE2

        record[slot] = contents_back
    return value


def _named_item(record: list[Any], slot: int, obj: Any, name: str) -> Any:
    memory, place = record[0], obj._fields.index(name)

    def field_back(y_bar: Any) -> tuple[Any, ...]:
        memory.add_item(obj, place, y_bar)
        return NONE2

    record[slot] = field_back
    return tuple.__getitem__(obj, place)


def _fill_cached_property(record: list[Any], slot: int, obj: Any, name: str, static: Any) -> Any:
    from adjoint.run.items import set_entry

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
    set_entry(inner, 2, obj.__dict__, static.attrname, value)  # a frozen class has no say in it
    return value


def _cached(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return bars


def _pair(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """From the cotangents of a getter's arguments to those of ``getattr(obj, name)``."""
    return None, bars[1], None


def get_attribute(record: list[Any], slot: int, obj: Any, name: Any, *default: Any) -> Any:
    """The builtin ``getattr`` with a default: an attribute that is not there is no error."""
    if not default:
        return attribute(record, slot, obj, name)
    blank = record[slot]
    try:
        y = attribute(record, slot, obj, name)
    except AttributeError:
        record[slot] = blank

        def default_back(y_bar: Any) -> tuple[Any, ...]:
            return None, None, None, y_bar

        record[slot] = default_back
        return default[0]
    back = record[slot]
    if back is not blank:

        def found_back(y_bar: Any) -> tuple[Any, ...]:
            return *back(y_bar), None

        record[slot] = found_back
    return y


ATTRIBUTES: dict[Any, Callable[..., Any]] = {
    getattr: get_attribute,
    setattr: set_attribute,
    delattr: delete_attribute,
}
