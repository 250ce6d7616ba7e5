"""A cotangent that is an error once it reaches a differentiated input."""

from __future__ import annotations

from typing import Any

import numpy as np


class Poison:
    """The cotangent that an unknown callee would have to give: an error once it reaches a
    differentiated input.

    Arithmetic with it returns it, so that rules of scalars need no check.

    Attributes
    ----------
    mark
        A number that stands for the poison in the cotangent of an array of which it concerns only
        some elements, if there is one: code that gets the cotangent of these recognises the number.
    """

    __slots__ = ("error", "mark")

    error: Exception
    mark: float | None

    __array_ufunc__ = None  # arrays leave the operation to `__radd__` and its kin

    def __init__(self, error: Exception, mark: float | None = None) -> None:
        self.error, self.mark = error, mark

    @staticmethod
    def of_part(bar: Any, shape: tuple[int, ...] = ()) -> Any:
        """Return the cotangent of a part of an array: marks for a poison that has one."""
        if type(bar) is not Poison or bar.mark is None:
            return bar
        return np.full(shape, bar.mark) if shape else bar.mark

    def _absorb(self, *_: Any) -> Poison:
        return self

    __add__: Any = _absorb
    __radd__: Any = _absorb
    __sub__: Any = _absorb
    __rsub__: Any = _absorb
    __mul__: Any = _absorb
    __rmul__: Any = _absorb
    __truediv__: Any = _absorb
    __rtruediv__: Any = _absorb
    __pow__: Any = _absorb
    __rpow__: Any = _absorb
    __neg__: Any = _absorb
    __pos__: Any = _absorb
