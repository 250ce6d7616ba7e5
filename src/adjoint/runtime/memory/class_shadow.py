"""Shadows of the attributes of classes."""

from __future__ import annotations

from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.primal.value_kinds import mapping_behind
from adjoint.runtime.memory.memory import Memory


def class_dict(cls: type) -> dict[str, Any]:
    """The dictionary behind ``vars(cls)``: what is read through that has its cotangent there."""
    return mapping_behind(vars(cls))  # type: ignore[no-any-return]


def take_class_entry(memory: Memory, cls: type, name: str) -> Any:
    """Take the cotangent of an attribute of a class, however it was read."""
    bar = memory.take_entry(cls, name)
    return accumulate(bar, memory.take_entry(class_dict(cls), name))
