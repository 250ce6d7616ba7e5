"""Cotangents whose zeros stay zero, whatever a rule multiplies them by.

Where the cotangent is zero, the slope does not matter, even if it is infinite or NaN. Rules state
the derivative as products and sums, in which 0 · NaN is NaN. So a careful sweep
(`adjoint.cotangents.finiteness`) calls a pullback that returned anything not finite again, with the
same cotangent as a `Cotangent`, an array that keeps its zeros in products. Only the entries that
were not finite are taken from the second call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import finite

ndarray = np.ndarray


def pulled(back: Callable[[Any], Any], y_bar: Any) -> Any:
    """Return ``back(y_bar)``, where zeros of `y_bar` contribute nothing."""
    bars = back(y_bar)
    if all(map(_is_settled, bars)) or not _has_zeros(y_bar):
        return bars
    return tuple(map(_mended, bars, back(marked(y_bar))))


def _is_settled(bar: Any) -> bool:
    if isinstance(bar, list | tuple):
        return all(map(_is_settled, bar))
    return not _is_number(bar) or finite(bar)


def _is_number(bar: Any) -> bool:
    if isinstance(bar, ndarray):
        return bar.dtype.kind in "fc"
    return isinstance(bar, float | complex | np.inexact)


def _has_zeros(bar: Any) -> bool:
    if isinstance(bar, list | tuple):
        return any(map(_has_zeros, bar))
    return _is_number(bar) and not np.all(bar)


def marked(bar: Any) -> Any:
    """Return a cotangent whose arrays and numbers are `Cotangent`s."""
    if isinstance(bar, list | tuple):
        parts = [marked(part) for part in bar]
        return type(bar)(*parts) if hasattr(bar, "_fields") else type(bar)(parts)
    return np.asarray(bar).view(Cotangent) if _is_number(bar) else bar


def _mended(bar: Any, other: Any) -> Any:
    """Return `bar`, with entries that are not finite replaced by those of `other`."""
    if isinstance(bar, list | tuple):
        parts = list(map(_mended, bar, other))
        return type(bar)(*parts) if hasattr(bar, "_fields") else type(bar)(parts)
    if _is_settled(bar):
        return bar
    other = _plain(other)
    if isinstance(bar, ndarray):
        return np.where(np.isfinite(bar), bar, other).astype(bar.dtype, copy=False)
    return type(bar)(other)


# ---- products ------------------------------------------------------------------------------------


class Cotangent(np.ndarray[Any, Any]):
    """An array whose zeros stay zero in products, sums of products and quotients. Results computed
    from it are such arrays, too."""

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        call, given = getattr(ufunc, method), list(map(_plain, inputs))
        marks = [isinstance(x, Cotangent) for x in inputs]
        rest = kwargs if out is None else {**kwargs, "out": tuple(map(_plain, out))}
        if method in ("__call__", "outer") and ufunc in (np.multiply, np.divide):
            if ufunc is np.divide:
                marks[1] = False
            y = _product(call, getattr(np.logical_or, method), given, marks, rest)
        elif method == "__call__" and ufunc in _SUMS_OF_PRODUCTS:
            y = _sum_of_products(lambda *xs: call(*xs, **kwargs), given, marks)
            if out is not None:
                np.copyto(_plain(out[0]), y)
        else:
            y = call(*given, **rest)
        if out is not None:
            return out[0] if len(out) == 1 else out
        return tuple(map(_mark, y)) if isinstance(y, tuple) else _mark(y)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in _PRODUCTS:
            return _mark(_called(func, args, kwargs))
        if func is np.linalg.solve:
            return _mark(_solved(*map(_plain, args)))
        y = super().__array_function__(func, (ndarray,), args, kwargs)
        if func in _NEW:
            return _plain(y)
        return [_mark(part) for part in y] if isinstance(y, list) else _mark(y)

    def __getitem__(self, index: Any) -> Any:
        return _mark(super().__getitem__(index))

    def dot(self, b: Any, out: Any = None) -> Any:
        """Return the matrix product."""
        return np.dot(self, b, out)


def _plain(x: Any) -> Any:
    return x.view(ndarray) if isinstance(x, Cotangent) else x


def _mark(y: Any) -> Any:
    if isinstance(y, ndarray | np.generic) and y.dtype.kind in "fc":
        return np.asarray(y).view(Cotangent)
    return _plain(y)


def _product(call: Any, either: Any, given: list[Any], marks: list[bool], kwargs: Any) -> Any:
    y = call(*given, **kwargs)
    if not np.all(np.isfinite(y)):
        zeros = [np.equal(x, 0) & mark for x, mark in zip(given, marks, strict=True)]
        lost = either(*zeros) & ~np.isfinite(y)
        if "out" not in kwargs:
            return np.where(lost, np.zeros((), np.asarray(y).dtype), y)
        np.copyto(y, 0, where=lost)
    return y


def _sum_of_products(f: Callable[..., Any], given: list[Any], marks: list[bool]) -> Any:
    """Return ``f(*given)``, linear in each operand, without the terms in which a marked operand is
    zero.

    The same sums count the terms that are not finite: once with all terms, once with the finite
    ones.
    """
    y = f(*given)
    if np.all(np.isfinite(y)):
        return y
    known = [x if m else np.where(np.isfinite(x), x, 0) for x, m in zip(given, marks, strict=True)]
    terms = [
        (np.not_equal(x, 0) if m else np.ones(np.shape(x), bool)).astype(float)
        for x, m in zip(given, marks, strict=True)
    ]
    fit = [
        t if m else np.isfinite(x).astype(float)
        for t, x, m in zip(terms, given, marks, strict=True)
    ]
    spoiled = np.abs(f(*terms) - f(*fit)) > 0.5
    return np.where(spoiled, y, f(*known))


def _called(func: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that is linear in each operand that is an array or a float."""
    places = [i for i, x in enumerate(args) if _is_number(x) or isinstance(x, ndarray)]

    def f(*operands: Any) -> Any:
        full = list(args)
        for i, x in zip(places, operands, strict=True):
            full[i] = x
        return func(*full, **kwargs)

    marks = [isinstance(args[i], Cotangent) for i in places]
    return _sum_of_products(f, [_plain(args[i]) for i in places], marks)


def _solved(a: Any, b: Any) -> Any:
    """Solve ``a @ x = b``, with zero where `b` is zero."""
    x = np.linalg.solve(a, b)
    axis = -1 if np.ndim(b) == 1 else -2
    return np.where(np.all(np.equal(b, 0), axis, keepdims=True), np.zeros((), x.dtype), x)


_SUMS_OF_PRODUCTS = frozenset(
    getattr(np, name) for name in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, name)
)
_PRODUCTS = frozenset(
    {
        np.dot,
        np.inner,
        np.outer,
        np.vdot,
        np.tensordot,
        np.kron,
        np.einsum,
        np.convolve,
        np.correlate,
        np.cross,
    }
)
_NEW = frozenset({np.empty_like, np.full_like, np.ones_like, np.zeros_like})
"""Functions that take only shape and dtype from the array."""
