"""The functions that only code in single assignment calls."""

from __future__ import annotations

from typing import Any

from adjoint.ir.primitives import unassigned_message
from adjoint.ir.single import Undefined


def assigned(value: Any, name: str) -> Any:
    """A variable that may have no value where it is read: the only reader of `Undefined`."""
    if type(value) is Undefined:  # asks the value nothing
        raise UnboundLocalError(unassigned_message(name))
    return value


def same(value: Any) -> Any:
    """``y = GLOBAL``: what the name stands for now, whatever it stands for later."""
    return value


def yielded(value: Any) -> Any:
    """``yield value``: what comes back from the one who iterates over the generator."""
    raise NotImplementedError
