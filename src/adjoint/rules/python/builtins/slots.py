"""Direct calls of the methods of properties, and of attributes of C: ``Point.x.__get__(point)``."""

from __future__ import annotations

from collections.abc import Callable
from types import GetSetDescriptorType
from typing import Any

from adjoint.primal.special_methods import class_attribute
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import NO_KEYWORDS, linked

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
    none = (None,) * (3 + len(kind))
    return linked(record, slot, lambda _: none, call_keywords, getattr, (obj, name), NO_KEYWORDS)


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
