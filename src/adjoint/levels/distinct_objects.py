"""Distinct objects: levels key numbers by identity, but Python shares small integers.

An active integer is an object of its own, of type exactly `int`. It counts, indexes and compares
like any other; only a level knows what it depends on.
"""

from __future__ import annotations

import copy
import ctypes
import marshal
import sys
from typing import Any

import numpy as np

from adjoint.rulekit.registry import frule, rrule

_SMALL = 1 << 10
"""The bound below which Python may share equal integers; arithmetic makes new objects above it."""


def distinct_integer(n: Any) -> Any:
    """Return an integer equal to `n`, of its type, that is a new object."""
    if type(n) is not int:
        return type(n)(n)
    if not -_SMALL < n < _SMALL:
        return n + 0
    # `marshal` does not look for an existing integer.
    size = (n > 0) - (n < 0)
    digit = abs(n).to_bytes(2, "little") if n else b""
    made = marshal.loads(b"l" + size.to_bytes(4, "little", signed=True) + digit)
    if not n and sys.version_info < (3, 12):  # these versions do not write the digit of a zero
        ctypes.memset(id(made) + int.__basicsize__, 0, ctypes.sizeof(ctypes.c_uint32))
    return made


@rrule.register(distinct_integer, trusted=True)
def _(n: Any) -> Any:
    return distinct_integer(n), lambda y_bar: (None, y_bar)


@frule.register(distinct_integer, trusted=True)
def _(dots: Any, n: Any) -> Any:
    return distinct_integer(n), dots[0]


def fresh(y: Any) -> Any:
    """Return a copy of a number or an array, as a new object."""
    if type(y) is float:
        return y * 1.0
    if type(y) is complex:
        return complex(y.real, y.imag)
    if type(y) is int or isinstance(y, np.integer):
        return distinct_integer(y)
    if isinstance(y, np.ndarray):
        return y.copy("K")
    return type(y)(y) if type(y).__module__ == "numpy" else copy.copy(y)
