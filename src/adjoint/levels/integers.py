"""Integers that are told apart: a level knows numbers by identity, and Python keeps one object for
each small integer.

An integer that is differentiated in, or computed from such, is an object of its own of the very
type `int`. It counts, indexes and compares as any other; only a level knows what it depends on.
"""

from __future__ import annotations

import ctypes
import marshal
import sys
from typing import Any

from adjoint.rulekit.registry import frule, rrule

_SMALL = 1 << 10
"""Below it Python may have one object for all equal integers; above, arithmetic makes new ones."""


def integer_apart(n: Any) -> Any:
    """An integer equal to `n`, of its type, that is no other object's equal by identity."""
    if type(n) is not int:
        return type(n)(n)
    if not -_SMALL < n < _SMALL:
        return n + 0
    # Read from bytes, an integer is made without looking for one that there is.
    size = (n > 0) - (n < 0)
    digit = abs(n).to_bytes(2, "little") if n else b""
    made = marshal.loads(b"l" + size.to_bytes(4, "little", signed=True) + digit)
    if not n and sys.version_info < (3, 12):  # which leaves the digit of a zero as it finds it
        ctypes.memset(id(made) + int.__basicsize__, 0, ctypes.sizeof(ctypes.c_uint32))
    return made


@rrule.register(integer_apart, trusted=True)
def _(n: Any) -> Any:
    return integer_apart(n), lambda y_bar: (None, y_bar)


@frule.register(integer_apart, trusted=True)
def _(dots: Any, n: Any) -> Any:
    return integer_apart(n), dots[0]
