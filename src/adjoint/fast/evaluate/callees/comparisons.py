"""Comparisons of whole arrays, and roundings, in terms of ufuncs: definitions that programs
inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition


@definition(np.isclose)
def _isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    x, y = np.asarray(a), np.asarray(b) * 1.0
    near = np.less_equal(np.abs(x - y), atol + rtol * np.abs(y)) & np.isfinite(y) | (x == y)
    if equal_nan:
        near = near | (np.isnan(x) & np.isnan(y))
    return near


@definition(np.allclose)
def _allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return bool(np.all(_isclose(a, b, rtol, atol, equal_nan)))


@definition(np.array_equal)
def _array_equal(a1, a2, equal_nan=False):
    x, y = np.asarray(a1), np.asarray(a2)
    if x.shape != y.shape:
        return False
    same = x == y
    if equal_nan:
        same = same | (np.isnan(x) & np.isnan(y))
    return bool(np.all(same))


@definition(np.fix)
def _fix(x):
    if np.asarray(x).dtype.kind != "f":
        raise TypeError("numbers of another kind")
    return np.trunc(x)


@definition(np.dstack)
def _dstack(tup):
    return np.concatenate([np.atleast_3d(x) for x in tup], 2)
