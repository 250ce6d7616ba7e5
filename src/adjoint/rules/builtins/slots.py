"""Descriptors of slots that are called by their own names: ``Point.x.__get__(point)``."""

from __future__ import annotations

from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

from adjoint.rules.registry import primitive
from adjoint.run.attribute_writes import write_slot
from adjoint.run.attributes import read_slot
from adjoint.run.dispatch import linked
from adjoint.run.kinds import is_of_builtins, slots_of


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


def _is_own(descriptor: Any, obj: Any) -> bool:
    """Whether it is the slot that the object is known to have by that name."""
    if is_of_builtins(descriptor.__objclass__) or not isinstance(obj, descriptor.__objclass__):
        return False
    return slots_of(type(obj)).get(descriptor.__name__) is descriptor


def _nothing(n: int) -> Callable[[Any], tuple[None, ...]]:
    return lambda _: (None,) * n
