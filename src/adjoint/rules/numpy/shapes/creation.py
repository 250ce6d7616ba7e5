"""Rules of NumPy's functions that make arrays of nested lists, of a fill value, of iterators."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.ir.primitives import begin
from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.projection import (
    SEQUENCES,
    as_numeric,
    is_numeric,
    project,
    projector,
    unbroadcast,
)
from adjoint.rulekit.registry import non_differentiable, rrule, structural, substitute
from adjoint.rules.numpy.forward_rules import array_frule, linear_frule
from adjoint.rules.numpy.operands import array_rule, methods
from adjoint.rules.python.builtins.iterators import has_python_length
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent, result_of
from adjoint.runtime.dispatch.number_protocols import holds_unlike_elements
from adjoint.runtime.memory.memory import Memory

FLOATS: set[Any] = {float, np.float64}
NUMBERS: set[Any] = {float, int, np.float64}

# ---- of values -----------------------------------------------------------------------------------


def array_of(y: Any, source: Any) -> Any:
    """Return `y`, made of nested lists, an array or a number, and its pullback."""
    if y is source:
        return y, lambda y_bar: (None, y_bar)
    if y.dtype.kind in "OV":
        return NotImplemented
    if isinstance(source, range):
        return y, lambda y_bar: (None, None)
    if y.dtype.kind not in "fc":
        # Elements made of integers count as reals; the derivative of rounded floats is zero.
        numeric = as_numeric(source)
        if numeric is None:
            return NotImplemented
        if np.result_type(numeric).kind in "fc":
            return y, lambda y_bar: (None, None)
    if isinstance(source, SEQUENCES):
        if type(source) is list and y.ndim == 1 and NUMBERS.issuperset(map(type, source)):
            return y, lambda y_bar: (None, y_bar.real.tolist())
        first = (0,) * (y.ndim - _depth(source))
        return y, lambda y_bar: (None, nested_bars(y_bar[first], source))
    if not is_numeric(source):
        return NotImplemented
    shape, to_bar = np.shape(source), projector(source)
    return y, lambda y_bar: (None, to_bar(np.reshape(y_bar, shape)))


def _depth(source: Any) -> int:
    """Return the number of axes of an array of nested lists without `ndmin`."""
    depth = 0
    while isinstance(source, SEQUENCES):
        depth += 1
        if not source:
            return depth
        source = source[0]
    return depth + np.ndim(source)


def nested_bars(bar: Any, source: Any) -> Any:
    """Return the cotangents of nested lists and tuples, from that of the array made of them."""
    if not isinstance(source, SEQUENCES):
        return None if isinstance(source, (str, bytes)) else project(bar, source)
    if bar.ndim == 1 and bar.dtype == np.float64 and FLOATS.issuperset(map(type, source)):
        items = bar.tolist()
    else:
        items = [nested_bars(part, item) for part, item in zip(bar, source, strict=True)]
    if isinstance(source, tuple):
        return type(source)._make(items) if hasattr(source, "_make") else tuple(items)
    return items


@structural(np.array)
def _(memory: Memory, /, object: Any, *others: Any, **keywords: Any) -> Any:
    """Make an array of a list of numbers; add their cotangents directly to the list's shadow."""
    if others or keywords or type(object) is not list or not NUMBERS.issuperset(map(type, object)):
        return NotImplemented
    y = np.array(object)
    if y.dtype is not FLOAT64:
        return NotImplemented
    result = result_of(memory, y)

    def array_back(y_bar: Any) -> tuple[Any, Any]:
        y_bar = finished_cotangent(memory, result, y_bar)
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


@array_frule(np.asarray_chkfinite, alias=True)
def _(dots, y, a, dtype=None, order=None):
    return np.asarray(dots[0])


if hasattr(np, "astype"):
    linear_frule(np.astype, positional=1)

linear_frule(
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require,
    np.copy, *methods("copy", "__array__"),
)  # fmt: skip
linear_frule(*methods("astype"), positional=5)  # as the reverse rule calls it

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
    ones = (1,) * (len(shape) - y.ndim)  # a fill value may have more axes, of length 1
    return y, lambda y_bar: (None, None, unbroadcast(np.reshape(y_bar, ones + y.shape), shape))


def _filled_dot(dot: Any, shape: tuple[int, ...]) -> Any:
    more = max(np.ndim(dot) - len(shape), 0)
    return np.array(np.broadcast_to(np.reshape(dot, np.shape(dot)[more:]), shape))


@array_frule(np.full, operands="fill_value")
def _(dots, y, shape, fill_value, dtype=None, order="C"):
    return _filled_dot(dots[0], np.shape(y))


@array_frule(np.full_like, operands="fill_value")
def _(dots, y, a, fill_value, dtype=None, order="K", subok=True, shape=None):
    return _filled_dot(dots[0], np.shape(y))


# ---- from iterators ------------------------------------------------------------------------------


@substitute(np.fromiter)
def _fromiter(iter, dtype, count=-1):
    """Make an array of an iterator; convert each item before the next is read, as it may raise."""
    items, source = [], begin(iter)
    if count < 0 and has_python_length(iter):
        operator.length_hint(iter)  # as C does
    for item in source if count < 0 else itertools.islice(source, count):
        items.append(of_elements([item], dtype)[0] if may_fail(item, dtype) else item)
    if len(items) < count:
        raise ValueError(f"iterator too short: expected {count} items, it had only {len(items)}")
    return of_elements(items, dtype)


@non_differentiable
def may_fail(item, dtype):
    """Return whether the conversion of `item` to an element of an array may raise."""
    kind = np.dtype(dtype).kind
    return kind in "fciu" and not (kind in "fc" and isinstance(item, float | np.floating))


def of_elements(items: Any, dtype: Any) -> Any:
    """Make an array of a list, with one element per item."""
    if not holds_unlike_elements(dtype, items):
        return np.array(items, dtype)
    made = np.empty(len(items), dtype)
    for i, item in enumerate(items):
        made[i] = item
    return made


@substitute(np.ndenumerate)
def _ndenumerate(arr):
    """Enumerate the elements lazily, so that writes during the loop are visible."""
    arr = np.asarray(arr)
    return ((index, arr[index]) for index in np.ndindex(arr.shape))
