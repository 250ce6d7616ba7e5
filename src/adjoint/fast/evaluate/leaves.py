"""What a program reads on entry, and the conditions on it in every call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adjoint.fast.evaluate.types import Type
from adjoint.fast.evaluate.values import Source
from adjoint.ir.single import Value


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on the value of `source` in every call.

    `kind` names the test, such as ``is``, ``equal``, ``type``, ``length``, ``keys`` or ``code``.
    """

    source: Source
    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number, an array or a list of numbers that the program takes as a parameter."""

    source: Source
    value: Value
    type: Type
    sample: Any
