"""Functions of sampled data in terms of others: the trapezoidal rule, phases. They are definitions
that programs inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition, several, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


@definition(getattr(np, "trapezoid", None) or getattr(np, "trapz"))  # noqa: B009
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    if np.ndim(dx) != 0:
        raise ValueError("several widths")
    steps = dx
    values = np.moveaxis(np.asarray(y), axis, -1)
    if x is not None:
        steps = np.diff(np.asarray(x) if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    return np.sum(steps * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)


@definition(np.unwrap)
def _unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    if p.dtype != np.float64:
        raise TypeError("phases of another kind")
    return with_derivative(_unwrapped(p, discont, axis, period), p)


@result_like(lambda p, *options: p)
@non_differentiable
def _unwrapped(p, discont, axis, period):
    return np.unwrap(p, discont, axis, period=period)


@definition(np.ndarray.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1):
    return np.diagonal(a, offset, axis1, axis2)


@definition(np.ndarray.item)
def _item(a, *places):
    if len(places) == 1 and isinstance(places[0], tuple):
        (places,) = places
    if a.dtype.kind != "f" or not all(type(k) is int for k in places):
        raise TypeError("a place of another kind, or an item that is no float")
    if len(places) == 1:
        return (a if a.ndim == 1 else np.ravel(a))[places[0]].item()
    if len(places) != (a.ndim if places else 0) or (not places and a.size != 1):
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return (a[places] if places else np.ravel(a)[0]).item()


# ---- differences ---------------------------------------------------------------------------------


@definition(np.gradient)
def _gradient(f, *varargs, axis=None, edge_order=1):
    if f.dtype != np.float64 or edge_order not in (1, 2):
        raise TypeError("differences of another kind")
    if axis is None:
        axes = tuple(range(f.ndim))
    else:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
    spacings = varargs if len(varargs) > 0 else (1.0,)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    found = [
        np.moveaxis(_slopes(np.moveaxis(f, at, -1), h, edge_order), -1, at)
        for at, h in zip(axes, spacings, strict=True)
    ]
    return found[0] if len(axes) == 1 else several(found)


def _slopes(g, h, edge_order):
    """Return the slopes along the last axis, at points that are `h` apart, or at the points `h`."""
    if g.shape[-1] < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    if np.ndim(h) == 0:
        middle = (g[..., 2:] - g[..., :-2]) / (2.0 * h)
        before = after = (h, h)
    else:
        steps = np.diff(np.asarray(h))
        if len(steps) != g.shape[-1] - 1:
            raise ValueError("points of another number")
        p, q = steps[:-1], steps[1:]
        middle = (
            -q / (p * (p + q)) * g[..., :-2]
            + (q - p) / (p * q) * g[..., 1:-1]
            + p / (q * (p + q)) * g[..., 2:]
        )
        before = (steps[0], steps[1]) if edge_order == 2 else (steps[0], steps[0])
        after = (steps[-1], steps[-2]) if edge_order == 2 else (steps[-1], steps[-1])
    if edge_order == 1:
        first = (g[..., 1:2] - g[..., :1]) / before[0]
        last = (g[..., -1:] - g[..., -2:-1]) / after[0]
    else:
        first = _at_an_end(g[..., :1], g[..., 1:2], g[..., 2:3], *before)
        last = -_at_an_end(g[..., -1:], g[..., -2:-1], g[..., -3:-2], *after)
    return np.concatenate([first, middle, last], -1)


def _at_an_end(x, y, z, p, q):
    """Return the slope at the first of three points that are `p` and `q` apart."""
    return -(2.0 * p + q) / (p * (p + q)) * x + (p + q) / (p * q) * y - p / (q * (p + q)) * z


@definition(np.ediff1d)
def _ediff1d(ary):
    y = np.ravel(ary)
    return y[1:] - y[:-1]


# ---- places --------------------------------------------------------------------------------------


@definition(np.indices)
def _indices(dimensions, dtype=int):
    if dtype not in (int, float):
        raise TypeError("places of another kind")
    lines = [np.cumsum(np.ones(dimensions, int), at) - 1 for at in range(len(dimensions))]
    y = np.stack(lines)
    return y if dtype is int else y * 1.0


@definition(np.delete)
def _delete(arr, obj, axis=None):
    y = np.ravel(arr) if axis is None else arr
    at = 0 if axis is None else axis
    kept = np.ones(y.shape[at], bool)
    if isinstance(obj, slice):
        raise TypeError("a slice")
    if np.asarray(obj).dtype.kind not in "ib":
        raise TypeError("places of another kind")
    kept[obj] = False
    return np.take(y, np.flatnonzero(kept), at) if y.ndim > 1 else y[kept]


@definition(np.ndarray.compress)
def _compress(a, condition, axis=None):
    return np.compress(condition, a, axis)


@result_like(lambda counts: np.flatnonzero(counts))
@non_differentiable
def _places(counts):
    return np.repeat(np.arange(len(counts)), counts)


def repeated(a, repeats, axis=None):
    """Repeat elements several times each, as `np.repeat` does for an array of counts."""
    y = np.ravel(a) if axis is None else a
    at = 0 if axis is None else axis
    if len(repeats) != y.shape[at]:
        raise ValueError("counts of another number")
    return np.take(y, _places(repeats), at)


_LARGEST = {kind: float(np.finfo(kind).max) for kind in "df"}


@definition(np.nan_to_num)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    given = np.asarray(x)
    if not copy or given.dtype.char not in _LARGEST:
        raise TypeError("numbers of another kind, or an array to write to")
    most = _LARGEST[given.dtype.char]
    y = np.where(np.isnan(given), nan, given)
    y = np.where(given == np.inf, most if posinf is None else posinf, y)
    return np.where(given == -np.inf, -most if neginf is None else neginf, y)[()]
