"""Methods of NumPy's ufuncs in terms of its functions: the definitions that programs inline."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition


def _reduced(f: Any, reduction: Any) -> None:
    @definition(f.reduce)
    def reduce(array, axis=0, dtype=None, out=None, keepdims=False):
        if dtype is not None or out is not None:
            raise ValueError("other options")
        return reduction(array, axis=axis, keepdims=keepdims)


for _f, _reduction in (
    (np.add, np.sum),
    (np.multiply, np.prod),
    (np.maximum, np.max),
    (np.minimum, np.min),
):
    _reduced(_f, _reduction)


def _folded(f: Any) -> None:
    @definition(f.reduce)
    def reduce(array, axis=0, dtype=None, out=None, keepdims=False):
        if dtype is not None or out is not None or keepdims or type(axis) is not int:
            raise ValueError("other options")
        a = np.asarray(array) if axis == 0 else np.moveaxis(array, axis, 0)
        y = a[0]
        for x in a[1:]:
            y = f(y, x)
        return y


for _h in (np.logaddexp, np.hypot, np.subtract):
    _folded(_h)


def _outer(f: Any) -> None:
    @definition(f.outer)
    def outer(A, B):
        a, b = np.asarray(A), np.asarray(B)
        return f(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)


for _g in (
    np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.hypot,
    np.arctan2, np.logaddexp,
):  # fmt: skip
    _outer(_g)
