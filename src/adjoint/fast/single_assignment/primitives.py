"""Functions that occur only in single-assignment code."""

from __future__ import annotations

from typing import Any

from adjoint.ir.primitives import unassigned_message
from adjoint.ir.single import Undefined


def assigned(value: Any, name: str) -> Any:
    """Read a variable that may be unassigned: the only reader of `Undefined`."""
    if type(value) is Undefined:  # runs no code of the value
        raise UnboundLocalError(unassigned_message(name))
    return value


def same(value: Any) -> Any:
    """``y = GLOBAL``: read the global at this point, since it may be rebound later."""
    return value


def yielded(value: Any) -> Any:
    """``yield value``: return the value sent by the consumer of the generator."""
    raise NotImplementedError
