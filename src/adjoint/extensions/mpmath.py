"""Rules of `mpmath` and of the numbers of `sympy`, which compute with integers.

A float is converted to integers on entry, and the integers have no derivative. A derivative that is
needed of a float that comes out is refused for all floats that went in before.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.cotangents.accumulate import is_needed
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import primitive
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.binary_protocol import is_number

_NEEDED = "a float of mpmath"
"""Key in the shadows: a derivative is needed; key in the caches of a level: the error for it."""


def _error() -> Exception:
    return missing(
        "a derivative of a number of 'mpmath' is needed, which is calculated with as integers",
        "calculate with floats: sympy.lambdify gives a function of them, and scipy.special has most"
        " of mpmath's",
    )


def register_entry(f: Any) -> None:
    """Register `f` as a conversion of numbers to those of `mpmath`."""

    @primitive(f)
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        if not any(map(is_number, args)):
            return f(*args, **kwargs)
        error = _error()
        if memory.level is not None:
            if any(level.holds(arg) for level in memory.level.down() for arg in args):
                memory.caches[_NEEDED] = error
            return f(*args, **kwargs)

        def enter_back(_: Any) -> tuple[Any, ...]:
            bad = Poison(error) if _NEEDED in memory.shadows else None
            bars = [bad if is_number(arg) else None for arg in args]
            return (None, *bars, *(None,) * len(kwargs))

        record[slot] = enter_back
        return f(*args, **kwargs)


def _leave(f: Any) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        y = f(*args, **kwargs)
        if memory.level is not None:
            error = memory.caches.get(_NEEDED)
            for level in memory.level.down() if error is not None else ():
                level.poison_value(y, error)
            return y

        def leave_back(y_bar: Any) -> tuple[Any, ...]:
            if is_needed(y_bar):
                memory.shadows[_NEEDED] = True
            return (None,) * (len(args) + len(kwargs) + 1)

        record[slot] = leave_back
        return y


_OPERATORS = "add radd sub rsub mul rmul div rdiv truediv rtruediv mod rmod pow rpow".split()


@registering("mpmath")
def _(mpmath: Any) -> None:
    register_entry(mpmath.libmp.from_float)
    register_entry(mpmath.libmp.from_npfloat)
    _leave(mpmath.libmp.to_float)
    for kind in mpmath.mpf.__mro__:
        for name in _OPERATORS:
            if type(method := vars(kind).get(f"__{name}__")) is FunctionType:
                register_entry(method)
