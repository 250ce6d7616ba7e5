"""Functions that programs call besides user functions and NumPy."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import finite
from adjoint.diagnostics.numpy_warnings import reports_underflow
from adjoint.fast.not_covered import Deoptimize, NotFinite, NothingToSum
from adjoint.fast.support import rows
from adjoint.rulekit.partials import as_precise as precise_for
from adjoint.rulekit.projection import project, unbroadcast
from adjoint.rules.python.operators import over
from adjoint.tangent import Tangent


def leave(reason: str = "the function raises here") -> None:
    """Leave the call to the generic tier: user code raises here, or is not covered from here on."""
    raise Deoptimize(reason)


def demand_finite(*xs: float) -> None:
    """Leave the call to the generic tier if NumPy would have warned of a number."""
    if not math.isfinite(sum(xs)):
        raise NotFinite("a number that is not finite")


def demand_quiet_underflow() -> None:
    """Leave the call to the generic tier if NumPy's underflows are reported."""
    if reports_underflow():
        raise Deoptimize("underflows that are reported")


def python_float(x: Any) -> Any:
    """Return a number of NumPy as one of Python; ``None`` as it is."""
    return x if x is None else float(x)


def numpy_float(x: Any) -> Any:
    """Return a number of Python as one of NumPy, if it is finite; ``None`` as it is."""
    if x is None:
        return None
    demand_finite(x)
    return np.float64(x)


def assigned(x: Any) -> Any:
    """Return the value of a variable that is ``None`` on paths that do not assign it."""
    if x is None:
        raise Deoptimize("a variable has no value")
    return x


def equal_items(x: Any, y: Any) -> bool:
    """Compare two numbers in containers: NaN may be one object, which then equals itself."""
    if x != x:
        raise Deoptimize("a comparison of NaN")
    return bool(x == y)


def foreseen(y: Any, dtype: Any, shape: tuple[int | None, ...]) -> Any:
    """Check that `y` is an array of the foreseen dtype and shape (``None``: any length)."""
    if type(y) is not np.ndarray or y.dtype != dtype or y.ndim != len(shape):
        raise Deoptimize("a function returns something else than was foreseen")
    if any(n is not None and n != m for m, n in zip(y.shape, shape, strict=True)):
        raise Deoptimize("a function returns another shape than was foreseen")
    return y


def fitting(x: Any, shape: tuple[int | None, ...]) -> Any:
    """Check that an array has the lengths in `shape` (``None``: any)."""
    if any(n is not None and n != m for m, n in zip(x.shape, shape, strict=True)):
        raise Deoptimize("an array has another length than was foreseen")
    return x


def foreseen_number(y: Any, kind: type) -> Any:
    """Check that `y` is a number of the foreseen class."""
    if type(y) is not kind:
        raise Deoptimize("a function returns something else than was foreseen")
    return y


def apart(y: Any, *operands: Any) -> Any:
    """Copy a result, and check that it is no alias of an operand."""
    for x in operands:
        if np.may_share_memory(y, x):
            raise Deoptimize("a function returns an alias of an operand")
    return np.array(y)


def real(x: Any) -> Any:
    """Check that the power `x` is real: one of a negative base may be complex."""
    if type(x) is complex:
        raise Deoptimize("a power is complex")
    return x


def as_float(x: Any) -> Any:
    """Convert a NumPy integer or a truth value to float64; return other numbers unchanged."""
    return np.float64(x) if isinstance(x, np.integer | np.bool_ | bool) else x


def as_precise(x: Any, y: Any) -> Any:
    """Convert `x` to a NumPy number at least as precise as `y`."""
    dtype = y.dtype if hasattr(y, "dtype") else np.dtype(type(y))
    return precise_for(x, np.empty(0, dtype).real.dtype)


def real_part(x: Any) -> Any:
    return x.real


def imaginary_part(x: Any) -> Any:
    return x.imag


def conjugate(x: Any) -> Any:
    return x.conjugate()


def direction(x: Any, y: Any) -> Any:
    """Return ``x / y``, where `y` is the modulus of `x`; 0 at 0."""
    if type(y) is not np.ndarray:
        if isinstance(x, np.complexfloating) and y:
            return over(x, y)
        return x / y if y else x
    if np.count_nonzero(y) != y.size:
        y = np.where(y == 0, y.dtype.type(1), y)
    return over(x, y)


def inexact(x: Any) -> Any:
    """Check that a sum is not the integer 0, which ``sum`` gives for no numbers."""
    if type(x) is int:
        raise NothingToSum("a sum of nothing")
    return x


def length(x: Any, axis: int) -> int:
    n: int = x.shape[axis]
    return n


def shape_of(x: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = x.shape
    return shape


# ---- cotangents ----------------------------------------------------------------------------------


def zeros_like(x: Any) -> Any:
    """Return the zero cotangent of an array; 0.0 for ``None``, an array that no path assigned."""
    if x is None or type(x) is float:
        return 0.0
    dtype = x.dtype
    return np.zeros(x.shape, dtype if dtype.kind in "fc" else np.float64)


def own(x_bar: Any) -> Any:
    """Copy a cotangent, so that the program may add to it in place."""
    return np.array(x_bar)


def constant(x: Any) -> Any:
    """Copy a result of a function that is registered as not differentiable: it carries no
    derivative, whatever the function computes it from."""
    return np.array(x) if isinstance(x, np.ndarray) else x


def broadcast_like(x_bar: Any, x: Any) -> Any:
    """Broadcast a cotangent into a new array of the shape of its primal `x`."""
    dtype = x.dtype
    whole = np.empty(x.shape, dtype if dtype.kind in "fc" else np.float64)
    whole[...] = x_bar
    return whole


def real_like(x_bar: Any, x: Any) -> Any:
    """Broadcast a real cotangent into a new real array of the shape of the complex `x`."""
    whole = np.empty(x.shape, x.real.dtype)
    whole[...] = x_bar
    return whole


def demand_view(view: Any, a: Any) -> None:
    """Check that an array shows another one, rather than a copy of it."""
    if view.size and not np.may_share_memory(view, a):
        raise Deoptimize("a part of an array that is a copy")


def add_to(x_bar: Any, contribution: Any) -> None:
    np.add(x_bar, contribution, out=x_bar)


def add_at(x_bar: Any, index: Any, contribution: Any) -> None:
    x_bar[index] += contribution


def add_part(y: Any, index: Any, value: Any) -> None:
    """``y[index] += value``, where `value` has the shape of the part."""
    y[index] += value


def scatter(x_bar: Any, index: Any, contribution: Any) -> None:
    """``x_bar[index] += contribution`` for an index that may repeat elements."""
    np.add.at(x_bar, index, contribution)


def present(x_bar: Any, x: Any) -> Any:
    """Project a cotangent that a rule returned onto `x`; ``None`` becomes zeros."""
    if x_bar is None:
        return zeros_like(x) if isinstance(x, np.ndarray) else 0.0
    return project(x_bar, x)


def all_present(bars: Any, xs: Any) -> tuple[Any, ...]:
    """Apply `present` to the items of a tuple."""
    return tuple([present(bar, x) for bar, x in zip(bars, xs, strict=True)])


def new_stream(make: Any, seed: int) -> Any:
    """Return a generator of random numbers."""
    return make(seed)


def read_clock(f: Any) -> Any:
    """Return what a clock shows."""
    return f()


def draw(stream: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return random numbers of a generator."""
    return getattr(stream, name)(*args, **kwargs)


def sum_of(items: list[Any], start: Any = 0) -> Any:
    return sum(items, start)


def sum_of_these(*items: Any) -> Any:
    return sum(items)


def exactly(total: Any, found: Any) -> Any:
    """Return `found`, the sum as Python computes it; differentiation uses `total`, the sum by
    successive additions."""
    return found


def new_tape() -> list[Any]:
    """Return an empty tape for the residuals of the iterations of a loop."""
    return []


def push(tape: list[Any], *residuals: Any) -> None:
    """Append the residuals of one iteration to the tape of its loop."""
    tape.extend(residuals)


def finished(bars: tuple[Any, ...], leaves: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the cotangents in arrays that share no memory; ``None`` if one is not finite."""
    seen: set[int] = set()
    found = []
    for bar in bars:
        kind = type(bar)
        if kind is float:
            if not math.isfinite(bar):
                return None
        elif kind is np.ndarray:
            seen = seen or {*map(id, leaves)}
            if not finite(bar) and not np.isfinite(bar).all():  # `finite` fails if squares overflow
                return None
            if bar.base is not None or id(bar) in seen or not bar.flags.writeable:
                bar = bar.copy()
            seen.add(id(bar))
        elif kind is list:
            is_finite = cmath.isfinite if complex in map(type, bar) else math.isfinite
            if not all(map(is_finite, bar)):
                return None
        elif bar is not None and not cmath.isfinite(bar):
            return None
        found.append(bar)
    return tuple(found)


def smaller_square(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Any:
    """Return the sum of squares of the array with fewer elements."""
    if a.size > b.size:
        a = b
    return np.vdot(a, a)


def tangent_with(primal: Any, fields: dict[str, Any]) -> Tangent:
    """Return the cotangent of an object; takes ownership of the dict `fields`."""
    made = _new_tangent(Tangent)
    _set_primal(made, primal)
    _set_fields(made, fields)
    return made


_new_tangent = Tangent.__new__
_set_primal, _set_fields = (vars(Tangent)[name].__set__ for name in ("_primal", "_fields"))


def share_of_greater(a: Any, b: Any, y: Any) -> Any:
    """Return the derivative of ``y = maximum(a, b)`` in `a`: ties share it."""
    return _shared(np.greater(a, b), np.equal(a, b), y)


def share_of_less(a: Any, b: Any, y: Any) -> Any:
    """Return the derivative of ``y = minimum(a, b)`` in `a`: ties share it."""
    return _shared(np.less(a, b), np.equal(a, b), y)


def _shared(first: Any, ties: Any, y: Any) -> Any:
    if type(first) is not np.ndarray:
        return 0.5 if ties else float(first)
    if y.dtype != np.float64:  # `np.where` of truth values and a number would give float64
        first = first.astype(y.dtype)
    return np.where(ties, y.dtype.type(0.5), first) if np.count_nonzero(ties) else first


def to_extremes(x: Any, y: Any, y_bar: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Pull the cotangent of ``y = max(x, axis)``, or ``min``, back to `x`: ties share it."""
    if not keepdims and np.ndim(y):
        y = np.expand_dims(y, axis)
        y_bar = np.expand_dims(y_bar, axis) if np.ndim(y_bar) else y_bar  # a number is for all of y
    found = np.equal(x, y)
    if np.isnan(y).any():
        found |= np.not_equal(x, x)  # where one is NaN, so is the result
    count = np.count_nonzero(found, axis=axis, keepdims=True)
    x_bar = found * y_bar
    if np.count_nonzero(found) != count.size:
        x_bar /= count
    return x_bar.astype(x.dtype, copy=False)


def inner_derivative(x: Any) -> Any:
    """Return a derivative of an inner function as a new array, or a number that is no integer.

    Raises
    ------
    Deoptimize
        It is not finite: the generic tier treats infinite slopes.
    """
    if type(x) in (float, np.float64) and math.isfinite(x):
        return x  # most
    x = finite_derivative(x)
    return np.array(x) if type(x) is np.ndarray else float(x) if isinstance(x, int) else x


def finite_derivative(x: Any) -> Any:
    """Return a derivative of an inner function; see `inner_derivative`."""
    if not (finite(x) or np.isfinite(x).all()):
        raise Deoptimize("a derivative inside that is not finite")
    return x


# ---- batches -------------------------------------------------------------------------------------


def repeated(x: Any, count: int, axis: int) -> Any:
    """Return `count` copies of a number or an array along a new axis."""
    return np.repeat(np.expand_dims(x, axis), count, axis)


def shape_of_row(x: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = x.shape[1:]
    return shape


def behind_rows(index: Any) -> tuple[Any, ...]:
    """Return the index into all rows for an index into one."""
    return (slice(None), *index) if type(index) is tuple else (slice(None), index)


def with_count(count: int, shape: Any) -> tuple[int, ...]:
    """Return the shape of `count` rows of a shape, or of a length."""
    return (count, *shape) if isinstance(shape, tuple) else (count, shape)


# ---- writes --------------------------------------------------------------------------------------


def put(y: Any, index: Any, value: Any) -> None:
    y[index] = value


def put_broadcast(y: Any, index: Any, value: Any) -> None:
    """``y[index] = value``, where `value` is broadcast."""
    y[index] = value


def summed_part(y_bar: Any, index: Any, value: Any) -> Any:
    """Return the cotangent of `value`, which was broadcast to ``y[index]``."""
    part = y_bar[index]
    if part.shape == value.shape:
        return np.array(part)
    return unbroadcast(part, value.shape)


def last_part(y_bar: Any, index: Any, value: Any) -> Any:
    """Return the cotangent of `value`, which was written to ``y[index]``, where the last one of
    equal places stays."""
    part = y_bar[index]
    numbers = np.arange(part.size).reshape(part.shape)
    last = np.empty(y_bar.shape, int)
    last[index] = numbers
    kept = last[index] == numbers
    if np.count_nonzero(kept) != kept.size:
        part = np.where(kept, part, part.dtype.type(0))
    return unbroadcast(part, value.shape) if type(value) is np.ndarray else part.sum()


def clear(y_bar: Any, index: Any) -> None:
    """``y_bar[index] = 0``: the elements have been overwritten."""
    y_bar[index] = 0


def subtract_from(y: Any, value: Any) -> None:
    np.subtract(y, value, out=y)


def scale(y: Any, factor: Any) -> None:
    np.multiply(y, factor, out=y)


def divide(y: Any, divisor: Any) -> None:
    np.divide(y, divisor, out=y)


WRITES: frozenset[Any] = frozenset(
    {put, put_broadcast, add_to, subtract_from, scale, divide, rows.put_item, *rows.RESIZING}
)
"""Functions of user code that write to their first operand."""

BUFFER_WRITES: frozenset[Any] = frozenset({add_at, add_part, scatter, clear})
"""Functions of sums that write to their first operand."""
