"""Direct calls of the methods of slot descriptors and properties: ``Point.x.__get__(point)``."""

from __future__ import annotations

from collections.abc import Callable
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import is_of_builtins, slots_of
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import NO_KEYWORDS, linked
from adjoint.runtime.python.attribute_writes import delete_slot, write_slot
from adjoint.runtime.python.named_parts import read_slot


@primitive((MemberDescriptorType, "__get__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any, *kind: Any) -> Any:
    if not _is_own(descriptor, obj):
        return NotImplemented
    arrange = _nothing(3 + len(kind))
    return linked(record, slot, arrange, read_slot, obj, descriptor.__name__, descriptor)


@primitive((MemberDescriptorType, "__set__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any, value: Any) -> Any:
    if not _is_own(descriptor, obj):
        return NotImplemented
    return write_slot(record, slot, obj, descriptor.__name__, descriptor, value)


@primitive((MemberDescriptorType, "__delete__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any) -> Any:
    if not _is_own(descriptor, obj) or not _is_filled(descriptor, obj):
        return NotImplemented  # Python's own message
    return linked(record, slot, _nothing(3), delete_slot, obj, descriptor)


_PLAIN: tuple[Any, ...] = (object.__getattribute__, type.__getattribute__)


@primitive((GetSetDescriptorType, "__get__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any, *kind: Any) -> Any:
    """Read the attribute by its name, unless the class overrides it.

    `inspect` reads ``type.__dict__["__dict__"]`` in this way.
    """
    cls, name = type(obj), descriptor.__name__
    read: Any = cls.__getattribute__
    if read not in _PLAIN or class_attribute(cls, name) is not descriptor:
        return NotImplemented
    arrange = _nothing(3 + len(kind))
    return linked(record, slot, arrange, call_keywords, getattr, (obj, name), NO_KEYWORDS)


def _is_filled(descriptor: Any, obj: Any) -> bool:
    try:
        descriptor.__get__(obj)
    except AttributeError:
        return False
    return True


@primitive((property, "__get__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any, *kind: Any) -> Any:
    if obj is None or descriptor.fget is None:
        return NotImplemented  # the property itself, or Python's own message
    arrange = _of_operands(len(kind))
    return linked(record, slot, arrange, call_keywords, descriptor.fget, (obj,), NO_KEYWORDS)


@primitive((property, "__set__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any, value: Any) -> Any:
    if descriptor.fset is None:
        return NotImplemented
    operands = descriptor.fset, (obj, value), NO_KEYWORDS
    linked(record, slot, _of_operands(0), call_keywords, *operands)
    return None


@primitive((property, "__delete__"))
def _(record: list[Any], slot: int, descriptor: Any, obj: Any) -> Any:
    if descriptor.fdel is None:
        return NotImplemented
    linked(record, slot, _of_operands(0), call_keywords, descriptor.fdel, (obj,), NO_KEYWORDS)
    return None


def _of_operands(n: int) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Map cotangents of a property's function to those of its method, with `n` more operands."""
    return lambda bars: (None, None, *bars[1:], *(None,) * n)


def _is_own(descriptor: Any, obj: Any) -> bool:
    """Return whether `descriptor` is the slot attribute of `obj` by that name."""
    if is_of_builtins(descriptor.__objclass__) or not isinstance(obj, descriptor.__objclass__):
        return False
    return slots_of(type(obj)).get(descriptor.__name__) is descriptor


def _nothing(n: int) -> Callable[[Any], tuple[None, ...]]:
    return lambda _: (None,) * n
