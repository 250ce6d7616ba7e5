"""Rules of the methods of ufuncs: `reduce`, `accumulate`, `outer`, `reduceat`.

``np.add.reduce`` has the rule of a sum, ``np.multiply.accumulate`` that of a running product. Other
methods are chains of calls, each with the rule of the ufunc. `outer` is the ufunc on operands that
broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import contributions, like_result
from adjoint.rulekit.projection import as_numeric, projector
from adjoint.rulekit.registry import frule, lookup, non_differentiable, rrule, substitute
from adjoint.rules.numpy.aggregates.logarithmic_sums import log_sum_rule
from adjoint.rules.numpy.aggregates.reductions import (
    NONE,
    constant_back,
    extremum_back,
    given,
    merged_rows,
)
from adjoint.rules.numpy.chains import running_places
from adjoint.rules.numpy.operands import array_rule, cotangent_dtype, dense, scatter, severed
from adjoint.rules.numpy.transposition import pullback_inside

REDUCTIONS: dict[Any, Any] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
}
WITHOUT_NAN = (np.fmax, np.fmin)
RUNNING: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
IDENTITY: dict[Any, int] = {np.add: 0, np.multiply: 1}

# ---- chains --------------------------------------------------------------------------------------


def _chained(f: np.ufunc, rows: Any, first: Any, masks: Any = None) -> list[Any]:
    """Return f(first, rows[0]), f(f(first, rows[0]), rows[1]), …, elementwise in the other axes."""
    values = [first]
    for i, row in enumerate(rows):
        y = f(values[-1], row)
        values.append(y if masks is None else np.where(masks[i], y, values[-1]))
    return values[1:]


def _has_rule(f: np.ufunc) -> bool:
    rules = lookup(f)
    return rules is not None and bool(rules.rrules)


def _agree(value: Any, y: Any) -> bool:
    """Return whether a chain gives NumPy's result; loops of `power` and `arctan2` are no chains."""
    return bool(np.allclose(value, y, rtol=1e-3, atol=0.0, equal_nan=True))


def _numeric(f: np.ufunc, array: Any, dtype: Any) -> Any:
    """Return the numbers in `array`; None for objects, and if `f` has only a loop for objects."""
    a = as_numeric(array)
    if a is None or not set("".join(f.types)) - set("O->"):
        return None
    return np.asarray(a if dtype is None else np.asarray(a).astype(dtype))


def _split(f: np.ufunc, rows: Any, first: Any = NONE) -> tuple[Any, Any]:
    """Return the first value and the rows after it."""
    if first is NONE:
        return rows[0], rows[1:]
    dtype = f.resolve_dtypes((rows.dtype, rows.dtype, None))[0]
    return np.full(rows.shape[1:], first, dtype), rows


# ---- reduce --------------------------------------------------------------------------------------


@array_rule((np.ufunc, "reduce"), operands="self array initial", nested=False)
def _(self, array, /, axis=0, dtype=None, out=None, keepdims=False, initial=NONE, where=True):
    if out is not None or initial is None:
        return NotImplemented
    if self in REDUCTIONS and (dtype is None or self in IDENTITY):
        return _known_reduction(self, array, axis, dtype, keepdims, initial, where)
    a = _numeric(self, array, dtype)
    if a is None:
        return NotImplemented
    y = self.reduce(a, axis, keepdims=keepdims, where=where, **given(initial=initial))
    if y.dtype.kind == "b" or severed(y, a, 0 if initial is NONE else initial):
        return y, lambda y_bar: (None,)
    to_array = projector(array)
    if self in REDUCTIONS or self in WITHOUT_NAN:
        there = ~np.isnan(a) & np.asarray(where, bool) if self in WITHOUT_NAN else where
        back = extremum_back(a, y, axis, keepdims, initial, there)
    elif self is np.logaddexp and initial is NONE and where is True:
        back = log_sum_rule(a, axis, keepdims)[1]
    else:
        back = _reduction_back(self, a, y, axis, initial, where)
    if back is None:
        return NotImplemented

    def reduce_back(y_bar):
        _, a_bar, *initial_bar = back(y_bar)
        return None, None, to_array(a_bar), *initial_bar

    return y, reduce_back


def _known_reduction(
    f: np.ufunc, array: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    leading = (axis, dtype, None, keepdims) if f in IDENTITY else (axis, None, keepdims)
    first = IDENTITY.get(f, NONE) if initial is NONE else initial
    applied = rrule(REDUCTIONS[f], array, *leading, first, where)
    if applied is None:
        return NotImplemented
    y, back = applied

    def reduce_back(y_bar):
        bars = back(y_bar)
        return None, None, bars[1], bars[len(leading) + 2]

    return y, reduce_back


def _reduction_back(f: np.ufunc, a: Any, y: Any, axis: Any, initial: Any, where: Any) -> Any:
    """Return the pullback of any reduction, or None if the ufunc has no rule."""
    if not _has_rule(f):
        return None
    rows, undo = merged_rows(a, axis)
    rows, masks = np.moveaxis(rows, -1, 0), None
    start = f.identity if initial is NONE and f.identity is not None else initial
    if where is not True:
        masks = np.moveaxis(merged_rows(np.broadcast_to(where, a.shape), axis)[0], -1, 0)

    def reduced(rows: Any, start: Any) -> Any:
        first, rest = _split(f, rows, start)
        return _chained(f, rest, first, masks)[-1] if len(rest) else first

    value, pull = pullback_inside(reduced, rows, start)
    if not _agree(value, np.reshape(y, rows.shape[1:])):
        return None

    def reduction_back(y_bar):
        _, bars, start_bar = pull(np.reshape(y_bar, rows.shape[1:]))
        bars = np.zeros(rows.shape) if bars is None else bars
        return None, undo(np.moveaxis(bars, 0, -1)), 0.0 if start_bar is None else start_bar

    return reduction_back


@frule.register((np.ufunc, "reduce"))
def _(dots, self, array, /, axis=0, dtype=None, out=None, keepdims=False, initial=NONE, where=True):
    """Take the slopes from cotangents of ones, because each element enters one result."""
    if len(dots) > 6 and dots[6] is not None:
        return NotImplemented  # `initial` enters every result
    named = given(initial=initial)
    applied = rrule(
        (np.ufunc, "reduce"), self, array, axis, dtype, out, keepdims, **named, where=where
    )
    if applied is None:
        return NotImplemented
    y, back = applied
    bars = back(np.ones(np.shape(y), cotangent_dtype(y))[()])
    if dots[1] is None or bars[2] is None:
        return y, None
    selects = self in (np.maximum, np.minimum, *WITHOUT_NAN)
    unused = selects | np.isnan(array) | np.logical_not(where)
    terms = contributions(np.conj(bars[2]), dense(dots[1], array), unused)
    return y, like_result(np.sum(terms, axis, keepdims=keepdims), y)


# ---- accumulate ----------------------------------------------------------------------------------


@array_rule((np.ufunc, "accumulate"), operands="self array", nested=False)
def _(self, array, /, axis=0, dtype=None, out=None):
    if out is not None:
        return NotImplemented
    if not np.ndim(array):
        return self.accumulate(array), constant_back  # NumPy's own message
    if self in RUNNING:
        applied = rrule(RUNNING[self], array, axis, dtype)
        if applied is None:
            return NotImplemented
        y, back = applied
        return y, lambda y_bar: (None, None, back(y_bar)[1])
    a, to_array = _numeric(self, array, dtype), projector(array)
    if a is None:
        return NotImplemented
    y = self.accumulate(a, axis)
    if self in (np.maximum, np.minimum):
        source = _sources(self, a, axis)
        return y, lambda y_bar: (None, None, to_array(scatter(source, y_bar, a)))
    if not a.size:
        return y, lambda y_bar: (None, None, to_array(y_bar))
    if not _has_rule(self):
        return NotImplemented

    def accumulated(a: Any) -> Any:
        rows = np.moveaxis(a, axis, 0)
        values = [rows[0], *_chained(self, rows[1:], rows[0])]
        return np.moveaxis(np.stack(values), 0, axis)

    value, pull = pullback_inside(accumulated, a)
    if not _agree(value, y):
        return NotImplemented
    return y, lambda y_bar: (None, None, to_array(pull(y_bar)[1]))


def _sources(f: np.ufunc, a: Any, axis: int) -> Any:
    """Return the position of the first element that equals each running maximum or minimum."""
    positions = np.arange(a.size).reshape(a.shape)
    return np.take_along_axis(positions, running_places(f, a, axis), axis)


@frule.register((np.ufunc, "accumulate"))
def _(dots, self, array, /, axis=0, dtype=None, out=None):
    a = _numeric(self, array, dtype)
    if out is not None or a is None:
        return NotImplemented
    y = self.accumulate(a, axis)
    if dots[1] is None:
        return y, None
    a_dot = np.asarray(dense(dots[1], array))
    if self is np.add or not a.size:
        return y, like_result(np.cumsum(a_dot, axis), y)
    if self in (np.maximum, np.minimum):
        return y, like_result(np.ravel(a_dot)[_sources(self, a, axis)], y)
    rows, row_dots = np.moveaxis(a, axis, 0), np.moveaxis(a_dot, axis, 0)
    value, dot, moved = rows[0], row_dots[0], [row_dots[0]]
    for row, row_dot in zip(rows[1:], row_dots[1:], strict=True):
        applied = frule(self, (dot, row_dot), value, row)
        if applied is None:
            return NotImplemented
        value, dot = applied
        dot = np.zeros(np.shape(value)) if dot is None else dot
        moved.append(dot)
    return y, like_result(np.moveaxis(np.stack(moved), 0, axis), y)


# ---- outer ---------------------------------------------------------------------------------------


def _column(A: Any, B: Any) -> Any:
    """Append the number of axes of `B`, with length 1, to the shape of `A`."""
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B))


@array_rule((np.ufunc, "outer"), operands="self A B", nested=False)
def _(self, A, B, /):
    a, b = as_numeric(A), as_numeric(B)
    if a is None or b is None:
        return NotImplemented
    a, b = np.asarray(a), np.asarray(b)
    applied = rrule(self, _column(a, b)[()], b[()])
    if applied is None:
        return NotImplemented
    y, back = applied
    shape, to_a, to_b = a.shape, projector(A), projector(B)

    def outer_back(y_bar):
        _, a_bar, b_bar = back(y_bar)
        return (
            None,
            None,
            None if a_bar is None else to_a(np.reshape(a_bar, shape)),
            None if b_bar is None else to_b(b_bar),
        )

    return y, outer_back


@frule.register((np.ufunc, "outer"))
def _(dots, self, A, B, /):
    a, b = as_numeric(A), as_numeric(B)
    if a is None or b is None:
        return NotImplemented
    a, b = np.asarray(a), np.asarray(b)
    a_dot = None if dots[1] is None else _column(np.asarray(dense(dots[1], A)), b)
    b_dot = None if dots[2] is None else np.asarray(dense(dots[2], B))
    applied = frule(self, (a_dot, b_dot), _column(a, b)[()], b[()])
    return NotImplemented if applied is None else applied


@substitute((np.ufunc, "outer"))
def _outer(self, A, B, /, **kwargs):
    """Compute ``outer`` with keywords of the ufunc, or of array subclasses, which it may wrap."""
    a, b = [np.asarray(x) if isinstance(x, np.matrix) else np.asanyarray(x) for x in (A, B)]
    return self(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b, **kwargs)


# ---- reduceat ------------------------------------------------------------------------------------


def _segments(
    self: np.ufunc, a: Any, y: Any, indices: Any, axis: int
) -> list[tuple[slice, Any]] | None:
    """Return the rows that enter each result, and the pullback of their reduction."""
    rows, starts = np.moveaxis(a, axis, 0), np.asarray(indices)
    stops = np.append(starts, len(rows))[1:]
    segments: list[tuple[slice, Any]] = []
    for part, start, stop in zip(
        np.moveaxis(y, axis, 0), starts.tolist(), stops.tolist(), strict=True
    ):
        # a segment that would end before it begins is its first element
        segment = slice(start, max(stop, start + 1))
        if self is np.add or stop <= start + 1:
            segments.append((segment, _as_it_is))
            continue
        applied = rrule((np.ufunc, "reduce"), self, rows[segment])
        if applied is None or not _agree(applied[0], part):
            return None
        segments.append((segment, applied[1]))
    return segments


def _as_it_is(bar: Any) -> tuple[Any, ...]:
    """Pull back a sum: each row has the cotangent of the sum."""
    return None, None, bar


@array_rule((np.ufunc, "reduceat"), operands="self array", nested=False)
def _(self, array, indices, /, axis=0, dtype=None, out=None):
    a, to_array = _numeric(self, array, dtype), projector(array)
    if a is None or out is not None:
        return NotImplemented
    y, axis = self.reduceat(a, indices, axis), axis or 0
    segments = _segments(self, a, y, indices, axis)
    if segments is None:
        return NotImplemented

    def reduceat_back(y_bar):
        bar = np.zeros(a.shape, cotangent_dtype(y_bar))
        rows = np.moveaxis(bar, axis, 0)
        for (segment, back), part in zip(segments, np.moveaxis(y_bar, axis, 0), strict=True):
            rows[segment] += back(part)[2]
        return None, None, to_array(bar)

    return y, reduceat_back


@frule.register((np.ufunc, "reduceat"))
def _(dots, self, array, indices, /, axis=0, dtype=None, out=None):
    a = _numeric(self, array, dtype)
    if a is None or out is not None:
        return NotImplemented
    y, axis = self.reduceat(a, indices, axis), axis or 0
    segments = _segments(self, a, y, indices, axis)
    if segments is None:
        return NotImplemented
    if dots[1] is None or not segments:
        return y, None
    rows = np.moveaxis(np.asarray(dense(dots[1], array)), axis, 0)
    ones = np.ones(rows.shape[1:], cotangent_dtype(y))[()]
    parts = [np.sum(np.conj(back(ones)[2]) * rows[segment], 0) for segment, back in segments]
    return y, like_result(np.moveaxis(np.stack(parts), 0, axis), y)


@substitute((np.ndarray, "__array_ufunc__"))
def _array_ufunc(self, ufunc, method, /, *inputs, **kwargs):
    """Run a ufunc for a subclass that calls ``super().__array_ufunc__``."""
    if _is_overridden(inputs, kwargs.get("out")):
        return NotImplemented
    return getattr(ufunc, method)(*inputs, **kwargs)


def _is_overridden(inputs: Any, out: Any) -> bool:
    """Return whether the class of an operand overrides ``__array_ufunc__``."""
    outputs = out if isinstance(out, tuple) else (out,)
    own = _OF_ARRAYS
    return any(getattr(type(x), "__array_ufunc__", own) is not own for x in (*inputs, *outputs))


_OF_ARRAYS: Any = np.ndarray.__array_ufunc__
non_differentiable(_is_overridden)
