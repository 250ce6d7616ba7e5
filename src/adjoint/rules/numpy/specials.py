"""Special methods of arrays that are called by name, substituted by their syntax."""

from __future__ import annotations

import copy
import operator
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.primal.array_memory import Alias
from adjoint.rulekit.registry import primitive, substitute
from adjoint.runtime.python.loops import iterator_of


@substitute((np.ndarray, "__getitem__"))
def _(a, index, /):
    return a[index]


@substitute((np.ndarray, "__setitem__"))
def _(a, index, value, /):
    a[index] = value


@primitive((np.ndarray, "__iter__"))
def _(record, slot, a):
    return iterator_of(record[0], record, slot, a)


@primitive((np.ndarray, "base"))
def _(record, slot, a):
    """Read the base, or None in place of an `Alias`; the contents of a base have no derivative."""
    if type(a.base) in (Alias, type(None)):
        return None
    if record[0].level is not None or not isinstance(a.base, np.ndarray):
        return NotImplemented
    refusal = missing(
        "a derivative of what is read by way of the 'base' of an array is needed",
        "read it from the array itself",
    )
    record[slot] = lambda y_bar: (None, None if y_bar is None else Poison(refusal))
    return a.base


@substitute((np.ndarray, "__deepcopy__"))
def _(a, memo, /):
    made = a.copy("K")
    if a.dtype.kind == "O":
        for index in np.ndindex(*a.shape):
            made[index] = copy.deepcopy(a[index], memo)
    return made


@substitute((np.generic, "__copy__"))
def _(a, /):
    return a


@substitute((np.generic, "__deepcopy__"))
def _(a, memo, /):
    return a


def _in_place(name: str, operation: Any) -> None:
    @substitute((np.ndarray, name))
    def _(a, b, /):
        return operation(a, b)


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
):
    if hasattr(np.ndarray, f"__i{_name}__"):
        _in_place(f"__i{_name}__", getattr(operator, f"i{_name}"))
