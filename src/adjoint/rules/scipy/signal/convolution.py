"""Rules of convolutions and correlations of `scipy.signal`, of any number of dimensions.

Every result is a part of the full convolution of two arrays. The cotangent is padded with zeros to
the full convolution; its correlation with one operand is the cotangent of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal as ss

from adjoint.rulekit.tangents import linear_in
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, summed
from adjoint.rules.scipy.ndimage.boundaries import CONSTANT, REFLECT, WRAP, beyond, extended, folded

# ---- zeros all around ----------------------------------------------------------------------------


def _turned(x: Any, axes: Any = None) -> Any:
    """Flip and conjugate `x`, which turns a correlation into a convolution and back."""
    return np.conj(np.flip(x, axes))


def _placed(y_bar: Any, full: tuple[int, ...], later: int = 0) -> Any:
    """Place `y_bar` in the middle of zeros with the shape of the full convolution. Of two middles,
    `later` selects the second."""
    if np.shape(y_bar) == full:
        return y_bar
    whole = np.zeros(full, y_bar.dtype)
    middle = [(n - m + later) // 2 for n, m in zip(full, y_bar.shape, strict=True)]
    whole[tuple(slice(k, k + m) for k, m in zip(middle, y_bar.shape, strict=True))] = y_bar
    return whole


def _full_shape(a: Any, b: Any, axes: Any = None) -> tuple[int, ...]:
    chosen = range(a.ndim) if axes is None else {axis % a.ndim for axis in np.atleast_1d(axes)}
    pairs = enumerate(zip(a.shape, b.shape, strict=True))
    return tuple([n + m - 1 if i in chosen else max(n, m) for i, (n, m) in pairs])


def _summed(bar: Any, shape: tuple[int, ...]) -> Any:
    """Return the sum over axes that are broadcast instead of convolved."""
    axes = tuple(i for i, n in enumerate(shape) if n == 1 != bar.shape[i])
    return np.sum(bar, axes, keepdims=True) if axes else bar


def _plain(a: Any, b: Any) -> bool:
    return bool(a.ndim == b.ndim > 0 and a.size and b.size)


def _both(a_dot: Any, b_dot: Any, f: Any, a: Any, b: Any) -> Any:
    """Return the tangent of a bilinear function."""
    return summed(
        None if a_dot is None else f(a_dot, b),
        None if b_dot is None else f(a, b_dot),
    )


def _by_method(f: Any, other: Any) -> None:
    @matrix_rule(f, "in1 in2")
    def _(call: Call) -> Any:
        a, b, method = call.in1, call.in2, call.method
        if not _plain(a, b):
            return NotImplemented

        def back(y_bar: Any) -> Any:
            whole = _placed(y_bar, _full_shape(a, b))
            b_bar = ss.correlate(whole, a, "valid", method)
            return other(whole, b, "valid", method), b_bar if f is ss.convolve else _turned(b_bar)

        def push(a_dot: Any, b_dot: Any) -> Any:
            return _both(a_dot, b_dot, lambda u, v: f(u, v, call.mode, method), a, b)

        return back, push


_by_method(ss.convolve, ss.correlate)
_by_method(ss.correlate, ss.convolve)


def _by_transform(f: Any) -> None:
    @matrix_rule(f, "in1 in2")
    def _(call: Call) -> Any:
        a, b, axes = call.in1, call.in2, call.axes
        if not _plain(a, b):
            return NotImplemented

        def back(y_bar: Any) -> Any:
            whole = _placed(y_bar, _full_shape(a, b, axes))
            a_bar = f(whole, _turned(b, axes), "valid", axes)
            b_bar = f(whole, _turned(a, axes), "valid", axes)
            return _summed(a_bar, a.shape), _summed(b_bar, b.shape)

        def push(a_dot: Any, b_dot: Any) -> Any:
            return _both(a_dot, b_dot, lambda u, v: f(u, v, call.mode, axes), a, b)

        return back, push


_by_transform(ss.fftconvolve)
_by_transform(ss.oaconvolve)


# ---- in the plane, with other boundaries ---------------------------------------------------------

SURROUNDINGS = {
    "fill": CONSTANT, "pad": CONSTANT, "wrap": WRAP, "circular": WRAP, "symm": REFLECT,
    "symmetric": REFLECT,
}  # fmt: skip


class _Plane:
    """The convolution of `a`, extended beyond its edges, with `b`."""

    def __init__(self, call: Call, a: Any, b: Any, later: int = 0) -> None:
        mode = SURROUNDINGS[call.boundary]
        self.a, self.b, self.full, self.later = a, b, _full_shape(a, b), later
        sizes = zip(a.shape, b.shape, strict=True)
        self.axes = [beyond(n, m - 1, m - 1, mode) for n, m in sizes]
        self.wide = extended(a, self.axes, call.fillvalue)

    def back(self, y_bar: Any) -> tuple[Any, Any, Any]:
        """Return the cotangents of `a`, `b` and the fill value."""
        whole = _placed(y_bar, self.full, self.later)
        wide_bar = ss.correlate(whole, self.b, "full")
        a_bar, outer = folded(wide_bar, self.axes, self.a.shape)
        return a_bar, _turned(ss.correlate(self.wide, whole, "valid")), outer


def _amid_constants(call: Call, a: Any, b: Any, later: int = 0) -> Any:
    """Return the pullback of the convolution of `a`, amid the fill value, with `b`."""
    c = call.fillvalue

    def back(y_bar: Any) -> tuple[Any, Any, Any]:
        whole = _placed(y_bar, _full_shape(a, b), later)
        a_bar, total = ss.correlate2d(whole, b, "valid"), np.sum(whole)
        b_bar = ss.correlate2d(whole, a - c, "valid") + np.conj(c) * total
        return a_bar, b_bar, total * np.conj(np.sum(b)) - np.sum(a_bar)

    return back


def _back_of(call: Call, a: Any, b: Any, later: int = 0) -> Any:
    """Return the pullback of the convolution of `a`, extended beyond its edges, with `b`."""
    if SURROUNDINGS[call.boundary] == CONSTANT:
        return _amid_constants(call, a, b, later)
    return _Plane(call, a, b, later).back


def _known(call: Call, a: Any, b: Any) -> bool:
    """Decline boundaries longer than the array, which SciPy extends in another way."""
    short = any(m - 1 > n for n, m in zip(a.shape, b.shape, strict=True))
    known = call.boundary in SURROUNDINGS
    return known and _plain(a, b) and (SURROUNDINGS[call.boundary] == CONSTANT or not short)


def _swapped(call: Call, a: Any, b: Any) -> bool:
    return call.mode == "valid" and any(m > n for n, m in zip(a.shape, b.shape, strict=True))


def _pushed(call: Call, f: Any, dots: Any) -> Any:
    a_dot, b_dot, outer_dot = dots
    form = (call.mode, call.boundary)
    total: Any = 0.0
    if a_dot is not None or outer_dot is not None:
        moved = np.zeros(call.in1.shape) if a_dot is None else a_dot
        total = f(moved, call.in2, *form, 0.0 if outer_dot is None else outer_dot)
    if b_dot is not None:
        total = total + f(call.in1, b_dot, *form, call.fillvalue)
    return total


@matrix_rule(ss.convolve2d, "in1 in2 fillvalue")
def _(call: Call) -> Any:
    a, b = call.in1, call.in2
    swapped = a.ndim == b.ndim == 2 and _swapped(call, a, b)
    if swapped:
        a, b = b, a
    if a.ndim != 2 or not _known(call, a, b):
        return NotImplemented
    pull = _back_of(call, a, b)

    def back(y_bar: Any) -> Any:
        a_bar, b_bar, outer = pull(y_bar)
        return (b_bar, a_bar, outer) if swapped else (a_bar, b_bar, outer)

    return back, lambda *dots: _pushed(call, ss.convolve2d, dots)


@matrix_rule(ss.correlate2d, "in1 in2 fillvalue")
def _(call: Call) -> Any:
    a, b = call.in1, call.in2
    if a.ndim != 2 or not _known(call, a, b) or _swapped(call, a, b):
        return NotImplemented
    pull = _back_of(call, a, _turned(b), later=1)

    def back(y_bar: Any) -> Any:
        a_bar, turned_bar, outer = pull(y_bar)
        return a_bar, _turned(turned_bar), outer

    return back, lambda *dots: _pushed(call, ss.correlate2d, dots)


linear_in(ss.convolve2d, ss.correlate2d, places=range(2))  # where nothing is filled in
