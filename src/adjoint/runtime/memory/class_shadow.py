"""Shadows of class attributes."""

from __future__ import annotations

from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.primal.value_kinds import mapping_behind
from adjoint.runtime.memory.memory import Memory


def class_dict(cls: type) -> dict[str, Any]:
    """Return the dictionary behind ``vars(cls)``, which owns cotangents of reads through it."""
    return mapping_behind(vars(cls))  # type: ignore[no-any-return]


def take_class_entry(memory: Memory, cls: type, name: str) -> Any:
    """Collect the cotangent of a class attribute, read from the class or from ``vars(cls)``."""
    bar = memory.take_entry(cls, name)
    return accumulate(bar, memory.take_entry(class_dict(cls), name))
