"""Rules of NumPy's functions that make arrays: of nested lists, of a fill value, between two
ends.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule, linear_frule, methods, severed
from adjoint.rules.projection import (
    FLOAT64,
    as_numeric,
    is_numeric,
    project,
    projector,
    unbroadcast,
)
from adjoint.rules.registry import rrule, structural, substitute
from adjoint.run.accumulate import Poison
from adjoint.run.memory import Memory
from adjoint.run.seal import arrived, result_of

FLOATS = {float, np.float64}
NUMBERS = {float, int, np.float64}

# ---- of something --------------------------------------------------------------------------------


def array_of(y: Any, source: Any) -> Any:
    """The rule of an array made of nested lists, of an array or of a number."""
    if y is source:
        return y, lambda y_bar: (None, y_bar)
    if y.dtype.kind in "OV":
        return NotImplemented
    if isinstance(source, range):
        return y, lambda y_bar: (None, None)
    if y.dtype.kind not in "fc":
        # Made of integers, the elements count as reals; rounded to them, the derivative is zero.
        numeric = as_numeric(source)
        if numeric is None:
            return NotImplemented
        if np.result_type(numeric).kind in "fc":
            return y, lambda y_bar: (None, None)
    if isinstance(source, list | tuple):
        if type(source) is list and y.ndim == 1 and NUMBERS.issuperset(map(type, source)):
            return y, lambda y_bar: (None, y_bar.real.tolist())
        first = (0,) * (y.ndim - _depth(source))
        return y, lambda y_bar: (None, nested_bars(y_bar[first], source))
    if not is_numeric(source):
        return NotImplemented
    shape, to_bar = np.shape(source), projector(source)
    return y, lambda y_bar: (None, to_bar(np.reshape(y_bar, shape)))


def _depth(source: Any) -> int:
    """How many axes an array of nested lists has of itself: more with `ndmin`."""
    depth = 0
    while isinstance(source, (list, tuple)):
        depth += 1
        if not source:
            return depth
        source = source[0]
    return depth + np.ndim(source)


def nested_bars(bar: Any, source: Any) -> Any:
    """The cotangents of nested lists and tuples, from that of the array made of them."""
    if not isinstance(source, (list, tuple)):
        return None if isinstance(source, (str, bytes)) else project(bar, source)
    if bar.ndim == 1 and bar.dtype == np.float64 and FLOATS.issuperset(map(type, source)):
        items = bar.tolist()
    else:
        items = [nested_bars(part, item) for part, item in zip(bar, source, strict=True)]
    if isinstance(source, tuple):
        return type(source)._make(items) if hasattr(source, "_make") else tuple(items)
    return items


@structural(np.array)
def _(memory: Memory, object: Any, *others: Any, **keywords: Any) -> Any:
    """Of a list of numbers, whose cotangents go to the list without a detour."""
    if others or keywords or type(object) is not list or not NUMBERS.issuperset(map(type, object)):
        return NotImplemented
    y = np.array(object)
    if y.dtype is not FLOAT64:
        return NotImplemented
    result = result_of(y)

    def array_back(y_bar: Any) -> tuple[Any, Any]:
        y_bar = arrived(memory, result, y_bar)
        if y_bar is not None:
            poisoned = type(y_bar) is Poison
            for i, bar in enumerate([y_bar] * len(object) if poisoned else y_bar.tolist()):
                memory.add_item(object, i, bar)
        return None, None

    return y, array_back


@rrule.register(np.array)
def _(object, dtype=None, *, order="K", subok=False, ndmin=0):
    y = np.array(object, dtype, order=order, subok=subok, ndmin=ndmin)
    return array_of(y, object)


@array_rule(np.array, operands="object", alias=True, nested=False)
def _(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    return array_of(
        np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin), object
    )


def _as(f: Any) -> None:
    @array_rule(f, nested=False, exact=True, alias=True)
    def _(a, dtype=None, order=None, *, copy=None):
        keywords = {
            name: value for name, value in (("order", order), ("copy", copy)) if value is not None
        }
        return array_of(f(a, dtype, **keywords), a)


for _f in (
    np.asarray,
    np.asanyarray,
    np.ascontiguousarray,
    np.asfortranarray,
    np.asarray_chkfinite,
):
    _as(_f)


@array_rule(np.require, nested=False, exact=True, alias=True)
def _(a, dtype=None, requirements=None):
    return array_of(np.require(a, dtype, requirements), a)


@array_rule(np.copy, nested=False, exact=True)
def _(a, order="K", subok=False):
    return array_of(np.copy(a, order, subok), a)


@array_rule(*methods("copy"), exact=True)
def _(a, order="C"):
    return a.copy(order), lambda y_bar: (None, y_bar)


@array_rule((np.ndarray, "__copy__"), exact=True)
def _(a):
    return a.__copy__(), lambda y_bar: (None, y_bar)


def _astype(y: Any, x: Any) -> Any:
    if y.dtype.kind not in "fc":
        if y.dtype.kind == "O":
            return NotImplemented
        if y.dtype.kind not in "iu" or np.result_type(x).kind in "fc":
            return y, lambda y_bar: (None, None)
    to_bar = projector(x)
    return y, lambda y_bar: (None, to_bar(y_bar))


@array_rule(*methods("astype"), alias=True, exact=True)
def _(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    return _astype(a.astype(dtype, order, casting, subok, copy), a)


@array_rule(*methods("__array__"), alias=True)
def _(a, dtype=None, /, *, copy=None):
    asked = {} if copy is None else {"copy": copy}  # NumPy 2
    return _astype(a.__array__(*([] if dtype is None else [dtype]), **asked), a)


if hasattr(np, "astype"):

    @array_rule(np.astype, operands="x", alias=True)
    def astype(x, dtype, /, *, copy=True):
        return _astype(np.astype(x, dtype, copy=copy), x)


linear_frule(
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require,
    np.copy, *methods("copy", "astype", "__array__"),
)  # fmt: skip

# ---- of a fill value -----------------------------------------------------------------------------


@array_rule(np.full, operands="shape fill_value")
def _(shape, fill_value, dtype=None, order="C"):
    return _filled(np.full(shape, fill_value, dtype, order), fill_value)


@array_rule(np.full_like, operands="a fill_value")
def _(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    return _filled(np.full_like(a, fill_value, dtype, order, subok, shape), fill_value)


def _filled(y: Any, fill_value: Any) -> Any:
    if y.dtype.kind not in "fc" and np.result_type(fill_value).kind in "fc":
        return y, lambda y_bar: (None,)
    shape = np.shape(fill_value)
    return y, lambda y_bar: (None, None, unbroadcast(y_bar, shape))


arange: Any = np.arange

# ---- between two ends ----------------------------------------------------------------------------


def _ramp(num: int, endpoint: bool, ndim: int, axis: int) -> Any:
    """The weights of the second end along `axis` of an array of `ndim` axes."""
    shape = [1] * ndim
    shape[axis] = -1
    return np.reshape(np.linspace(0.0, 1.0, num, endpoint), shape)


def _ends(y_bar: Any, ramp: Any, axis: int) -> tuple[Any, Any]:
    """The cotangents of both ends, in the shape that these broadcast to."""
    return np.sum(y_bar * (1 - ramp), axis), np.sum(y_bar * ramp, axis)


@array_rule(np.linspace, operands="start stop")
def _(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    y = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    values = y[0] if retstep else y
    if values.dtype.kind not in "fc":
        return NotImplemented if retstep else (y, lambda y_bar: (None,))

    def linspace_back(y_bar):
        values_bar, step_bar = y_bar if retstep else (y_bar, None)
        if values_bar is None:
            values_bar = np.zeros(values.shape)
        start_bar, stop_bar = _ends(values_bar, _ramp(num, endpoint, values.ndim, axis), axis)
        if step_bar is not None:
            steps = num - 1 if endpoint else num
            start_bar, stop_bar = start_bar - step_bar / steps, stop_bar + step_bar / steps
        return None, project(start_bar, start), project(stop_bar, stop)

    return y, linspace_back


@array_rule(np.logspace, operands="start stop base")
def _(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    y = np.logspace(start, stop, num, endpoint, base, dtype, axis)
    if y.dtype.kind not in "fc":
        return y, lambda y_bar: (None,)

    def logspace_back(y_bar):
        bases = np.expand_dims(base, axis) if np.ndim(base) else base
        exponents = np.linspace(start, stop, num, endpoint, axis=axis)
        if np.ndim(base) and exponents.ndim < y.ndim:
            exponents = np.log(y) / np.log(bases)
        start_bar, stop_bar = _ends(
            y_bar * np.conj(y * np.log(bases)), _ramp(num, endpoint, y.ndim, axis), axis
        )
        base_bar = np.sum(y_bar * np.conj(exponents * y / bases), axis)
        return None, project(start_bar, start), project(stop_bar, stop), project(base_bar, base)

    return y, logspace_back


@array_rule(np.geomspace, operands="start stop")
def _(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    if y.dtype.kind == "c":
        return NotImplemented
    if y.dtype.kind != "f":
        return y, lambda y_bar: (None,)

    def geomspace_back(y_bar):
        start_bar, stop_bar = _ends(y_bar * y, _ramp(num, endpoint, y.ndim, axis), axis)
        return None, project(start_bar / start, start), project(stop_bar / stop, stop)

    return y, geomspace_back


def _arange(y: Any, start: Any, step: Any) -> Any:
    """Counted from the start in steps: the stop only decides how many there are."""

    def arange_back(y_bar):
        start_bar = None if start is None else project(np.sum(y_bar), start)
        steps = np.sum(y_bar * np.arange(y_bar.size))
        return start_bar, None if step is None else project(steps, step)

    return (lambda y_bar: (None, None)) if severed(y, start or 0, step or 1) else arange_back


@array_rule(np.arange, operands="start_or_stop stop step", nested=False)
def _(start_or_stop, stop=None, step=None, *, dtype=None):
    if any(as_numeric(x) is None for x in (start_or_stop, stop, step) if x is not None):
        return NotImplemented
    y = np.arange(start_or_stop, stop, 1 if step is None else step, dtype=dtype)
    back = _arange(y, None if stop is None else start_or_stop, step)

    def arange_back(y_bar):
        start_bar, step_bar = back(y_bar)
        return None, start_bar, None, step_bar

    return y, arange_back


@array_rule(np.arange, operands="start step", nested=False)
def _(*, start=None, stop=None, step=None, dtype=None):
    """By name, where NumPy takes the start for what it is."""
    if any(as_numeric(x) is None for x in (start, stop, step) if x is not None):
        return NotImplemented
    named = {name: value for name, value in (("stop", stop), ("step", step)) if value is not None}
    y = arange(**({} if start is None else {"start": start}), **named, dtype=dtype)
    back = _arange(y, start, step)
    return y, lambda y_bar: (None, *back(y_bar))


@array_rule(np.vander, operands="x")
def _(x, N=None, increasing=False):
    y = np.vander(x, N, increasing)

    def vander_back(y_bar):
        powers = np.arange(y.shape[1]) if increasing else np.arange(y.shape[1])[::-1]
        slopes = np.asarray(x)[:, None] ** np.maximum(powers - 1, 0)
        return None, np.sum(y_bar * np.conj(slopes * powers), axis=1)

    return y, vander_back


# ---- from iterators ------------------------------------------------------------------------------


@substitute(np.fromiter)
def _fromiter(iter, dtype, count=-1):
    """Takes no more from the iterator than it needs."""
    items = [*iter] if count < 0 else [*itertools.islice(iter, count)]
    if len(items) < count:
        raise ValueError(f"iterator too short: expected {count} items, it had only {len(items)}")
    return np.array(items, dtype)


@substitute(np.ndenumerate)
def _ndenumerate(arr):
    """Sees what is written meanwhile."""
    arr = np.asarray(arr)
    return ((index, arr[index]) for index in np.ndindex(arr.shape))
