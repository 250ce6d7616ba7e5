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


def not_delegated(sent: Any) -> None:
    """Require that nothing was sent through a ``yield from``."""
    raise NotImplementedError


def returned_by(iterator: Any) -> Any:
    """Return what a generator, which has ended, has returned: the value of a ``yield from``."""
    raise NotImplementedError


def attempt() -> Any:
    """Begin the body of a ``try``: the condition of an ``if`` whose ``else`` is the handler."""
    raise NotImplementedError


def completed(attempt: Any) -> None:
    """End the body of a ``try``: its handler is no longer in force."""
    raise NotImplementedError


def wrote(attempt: Any, name: str, *value: Any) -> None:
    """Note the value that the body of a ``try`` has given a variable which is read outside of it;
    no value if it has deleted the variable."""
    raise NotImplementedError


def latest(attempt: Any, name: str, *value: Any) -> Any:
    """Return what the body of a ``try`` has given a variable before it raised; `value`, that of the
    variable before the body, if it has given it nothing."""
    raise NotImplementedError


def caught_exception() -> Any:
    """Return the exception that a handler has caught."""
    raise NotImplementedError
