"""Projection of a cotangent onto the shape, realness and precision of its primal.

A formula computes in the broadcast shape, in the widest dtype and, where another operand is
complex, in complex numbers. `project` undoes all three: it sums over broadcast axes, takes the real
part for a real primal and casts to the primal's floating dtype. `projector` does so without keeping
the primal alive.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from functools import partial
from math import prod
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError, RuleError
from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.registry import non_differentiable
from adjoint.rulekit.row_sums import MANY_ROWS, column_sums, row_sums

Projector = Callable[[Any], Any]
"""``bar -> bar``, for one primal."""


_sum: Any = np.add.reduce


def project(bar: Any, primal: Any) -> Any:
    """Return the cotangent `bar` in the shape, realness and dtype of `primal`.

    Parameters
    ----------
    bar
        A number or an array of a shape to which the primal broadcasts; ``None`` is returned as it
        is.
    primal
        A number, a NumPy scalar, an array, or a list or tuple in place of an array.

    Returns
    -------
    number, array, list or tuple
        Doubles for integer and boolean primals, Python numbers for Python numbers.

    Raises
    ------
    RuleError
        The shape of `bar` is not one to which the primal broadcasts.
    """
    if (
        type(bar) is np.ndarray
        and type(primal) is np.ndarray
        and bar.dtype is primal.dtype
        and bar.shape == primal.shape
        and bar.dtype.kind in "fc"
    ):
        return bar
    if bar is None:
        return None
    return projector(primal)(bar)


def projector(primal: Any) -> Projector:
    """Return `project` for one primal, keeping only its shape and dtype."""
    make = _makers.get(type(primal))
    if make is None:
        make = _makers[type(primal)] = _maker(type(primal))
    return make(primal)


def unbroadcast(bar: Any, shape: tuple[int, ...]) -> Any:
    """Sum the array `bar` over the axes along which `shape` was broadcast."""
    extra = bar.ndim - len(shape)
    plain = type(bar) is ndarray
    if extra > 0 and bar.shape[extra:] == shape:
        if extra == 1:
            return column_sums(bar) if plain and bar.ndim == 2 else bar.sum(axis=0)
        return bar.sum(axis=tuple(range(extra)))
    if extra >= 0 and prod(shape) == 1:
        if plain and not extra:
            return _sum(bar, None, None, None, True)
        return _sum(bar, None).reshape(shape)
    axes = [*range(extra)]
    for axis, m in enumerate(shape, extra):
        if extra < 0 or m not in (1, bar.shape[axis]):
            raise RuleError(
                f"a cotangent of shape {bar.shape} does not fit an argument of shape {shape}"
            )
        if m != bar.shape[axis]:
            axes.append(axis)
    if plain and not extra:
        if axes == [bar.ndim - 1] and bar.size > MANY_ROWS:
            return row_sums(bar, True)
        return _sum(bar, tuple(axes), None, None, True)
    return bar.sum(axis=tuple(axes)).reshape(shape)


# ---- numeric values ------------------------------------------------------------------------------


SEQUENCES = (list, tuple, deque)
"""Types that NumPy converts to arrays."""
OTHER_SEQUENCES = (range, memoryview, array)
"""More types that NumPy converts to arrays."""


def is_numeric(x: Any) -> bool:
    """Return whether `x` is a number or an array of numbers, as numeric rules expect."""
    kind = type(x)
    verdict = _numeric.get(kind)
    if verdict is None:
        verdict = _numeric[kind] = _classify(kind)
    if verdict is _BY_DTYPE:
        return x.dtype.kind in "fciub"
    return verdict is _YES


def as_numeric(x: Any) -> Any:
    """Return `x` if it is numeric, the array for a list or tuple of numbers, else ``None``."""
    if is_numeric(x):
        return x
    if isinstance(x, SEQUENCES + OTHER_SEQUENCES):
        try:
            made = np.asarray(x)
        except ValueError:  # ragged
            return None
        if made.dtype.kind in "fciub":
            return made
    return None


_YES, _NO, _BY_DTYPE = "yes", "no", "by dtype"
_ARITHMETIC = tuple(
    f"__{name}__"
    for name in (
        "add radd sub rsub mul rmul truediv rtruediv pow rpow floordiv rfloordiv mod rmod"
        " divmod rdivmod neg pos abs"
    ).split()
)


def _has_own(kind: type, base: type) -> bool:
    """Return whether a subclass of a number type overrides operators."""
    return any(getattr(kind, name, None) is not getattr(base, name, None) for name in _ARITHMETIC)


def _classify(kind: type) -> str:
    if issubclass(kind, np.generic):
        # to NumPy, a timedelta is a kind of integer
        time = issubclass(kind, np.timedelta64)
        numeric = issubclass(kind, np.number | np.bool_) and not time
        base = next(base for base in kind.__mro__ if base.__module__ == "numpy")
        return _YES if numeric and not _has_own(kind, base) else _NO
    if issubclass(kind, np.ndarray):
        # a subclass with its own operators (masked arrays, matrix) has a meaning of its own
        own = any(
            getattr(kind, name, None) is not getattr(np.ndarray, name, None)
            for name in (*_ARITHMETIC, "__array_ufunc__")
        )
        return _NO if own else _BY_DTYPE
    for base in (int, float, complex):
        if issubclass(kind, base):
            return _NO if _has_own(kind, base) else _YES
    duck = all(
        hasattr(kind, name) for name in ("__array_function__", "__array_ufunc__", "dtype", "shape")
    )
    # an `__array_ufunc__` in Python is differentiated like any code
    duck = duck and not isinstance(getattr(kind, "__array_ufunc__", None), FunctionType)
    return _BY_DTYPE if duck else _NO


_numeric: dict[type, str] = {}


FEW = 1000
"""Up to this many elements, the number of calls matters more than the work in them."""


def held(hits: Any, share: Any) -> Any:
    """Return ``hits * share`` for an array of booleans and a finite number or array.

    NumPy multiplies booleans more slowly than it converts them to numbers first.
    """
    if type(hits) is not ndarray or hits.size <= FEW:
        return hits * share
    dtype, shape = getattr(share, "dtype", FLOAT64), np.shape(share)
    if dtype.kind != "f":
        return hits * share
    if shape and np.broadcast_shapes(shape, hits.shape) != hits.shape:
        return hits * share
    return _as_numbers(hits, dtype) * share


@non_differentiable
def _as_numbers(hits: Any, dtype: np.dtype[Any]) -> Any:
    return hits.astype(dtype)


# ---- one maker of projectors per type of primal --------------------------------------------------


def _total(bar: Any) -> Any:
    return bar.sum() if getattr(bar, "ndim", 0) else bar


def _to_float(bar: Any) -> float:
    return bar if type(bar) is float else float(_total(bar).real)


def _to_nothing(bar: Any) -> None:
    return None


def _to_complex(bar: Any) -> complex:
    return bar if type(bar) is complex else complex(_total(bar))


def _to_scalar(kind: Any, real: bool, bar: Any) -> Any:
    if type(bar) is kind:
        return bar
    bar = _total(bar)
    return kind(bar.real if real else bar)


def _to_array(shape: tuple[int, ...], dtype: np.dtype[Any], bar: Any) -> Any:
    if isinstance(bar, int | float | complex | np.generic):
        bar = np.asarray(bar)
    if bar.shape != shape:
        bar = unbroadcast(bar, shape)
    if bar.dtype is not dtype:
        if dtype.kind != "c" and bar.dtype.kind == "c":
            bar = bar.real
        bar = bar.astype(dtype, copy=False)
    return bar


def _array_projector(primal: Any) -> Projector:
    dtype = primal.dtype
    return partial(_to_array, primal.shape, dtype if dtype.kind in "fc" else FLOAT64)


def _other_projector(primal: Any) -> Projector:
    """Return the projector for an array of another library; otherwise one that gives poison."""
    if hasattr(primal, "dtype"):
        return _array_projector(primal)
    poison = Poison(
        NoDerivativeError(
            f"a derivative of numbers that a '{type(primal).__name__}' stands for is needed",
            hint="use floats, or an array: np.array(values, dtype=float)",
            place=current_place(),
        )
    )
    return lambda bar: poison


def _sequence_projector(primal: Any) -> Projector:
    to_array = _array_projector(np.asarray(primal))

    def to_sequence(bar: Any) -> Any:
        return _like_sequence(to_array(bar), primal)

    return to_sequence


def _like_sequence(bar: Any, primal: Any) -> Any:
    items = [
        _like_sequence(b, p) if isinstance(p, SEQUENCES) else project(b, p)
        for b, p in zip(bar, primal, strict=True)
    ]
    if isinstance(primal, tuple):
        return type(primal)._make(items) if hasattr(primal, "_make") else tuple(items)
    return items


def _maker(kind: type) -> Callable[[Any], Projector]:
    if issubclass(kind, np.generic):
        floating = kind if issubclass(kind, np.inexact) else np.float64
        to_scalar = partial(_to_scalar, floating, not issubclass(kind, np.complexfloating))
        return lambda primal: to_scalar
    if issubclass(kind, int | float):
        return lambda primal: _to_float
    if issubclass(kind, complex):
        return lambda primal: _to_complex
    if issubclass(kind, SEQUENCES):
        return _sequence_projector
    if kind is range:
        return lambda primal: _to_nothing
    return _array_projector if issubclass(kind, np.ndarray) else _other_projector


_makers: dict[type, Callable[[Any], Projector]] = {}
