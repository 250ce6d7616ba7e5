"""The special methods of arrays, where they are called by name: what their syntax stands for."""

from __future__ import annotations

import copy
import operator
from typing import Any

import numpy as np

from adjoint.rules.registry import primitive, substitute
from adjoint.run.iteration import iterator_of

__all__: list[str] = []


@substitute((np.ndarray, "__getitem__"))
def _(a, index, /):
    return a[index]


@substitute((np.ndarray, "__setitem__"))
def _(a, index, value, /):
    a[index] = value


@primitive((np.ndarray, "__iter__"))
def _(record, slot, a):
    return iterator_of(record[0], record, slot, a)


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
