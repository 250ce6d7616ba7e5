"""Results of Fourier transforms, of NumPy and of SciPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Derived, Length, less, product
from adjoint.fast.evaluate.result_types.records import (
    array,
    axes_of,
    axis_of,
    dims,
    dtype_of,
    integer,
    lengths_of,
    shape_of,
)


@functools.cache
def _dtype(f: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    return f(np.ones((2, 2), dtype)).dtype  # type: ignore[no-any-return]


def _along(length: Length, n: Any, name: str) -> Length:
    """Return the length of the result of a transform along one axis."""
    if n is not None:
        (length,) = lengths_of((n,))
    if isinstance(length, int) and length < 1:
        raise ValueError("a transform of no elements")
    if name in ("rfft", "ihfft"):
        return length // 2 + 1 if isinstance(length, int) else Derived(("half", length))
    if name in ("irfft", "hfft") and n is None:
        if length == 1:
            raise ValueError("a transform to no elements")
        return product((2, less(length, 1)))
    return length


def _one_axis(f: Any, name: str) -> None:
    @shape_of(f)
    def _(
        a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *others: Any, **named: Any
    ) -> Any:
        shape = [*dims(a)]
        at = axis_of(axis, len(shape))
        shape[at] = _along(shape[at], n, name)
        return array(_dtype(f, dtype_of(a)), tuple(shape))


def _several_axes(f: Any, name: str, default: Any) -> None:
    @shape_of(f)
    def _(
        a: Any, s: Any = None, axes: Any = default, norm: Any = None, *others: Any, **named: Any
    ) -> Any:
        shape = [*dims(a)]
        if s is not None and axes is None:
            raise ValueError("lengths without axes")
        places = axes_of(tuple(range(len(shape))) if axes is None else axes, len(shape))
        lengths = [None] * len(places) if s is None else [*s]
        if not places or any(isinstance(n, int) and integer(n) < 0 for n in lengths):
            raise ValueError("no axes, or a length that is left open")
        for at, n in zip(places[:-1], lengths[:-1], strict=True):
            shape[at] = _along(shape[at], n, "fft")
        shape[places[-1]] = _along(shape[places[-1]], lengths[-1], name)
        return array(_dtype(f, dtype_of(a)), tuple(shape))


def add(module: Any) -> None:
    """Register the records of the transforms of `numpy.fft` or `scipy.fft`."""
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        _one_axis(getattr(module, name), name)
    for name in ("fft", "ifft", "rfft", "irfft"):
        _several_axes(getattr(module, f"{name}n"), name, None)
        _several_axes(getattr(module, f"{name}2"), name, (-2, -1))
