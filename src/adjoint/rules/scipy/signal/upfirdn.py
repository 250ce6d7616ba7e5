"""The rule of `scipy.signal.upfirdn`: zeros inserted, a filter, elements dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal as ss

from adjoint.rulekit.refusal import NoDerivative, refusal
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, refused_pair
from adjoint.rules.scipy.ndimage.boundaries import (
    CONSTANT,
    MIRROR,
    NEAREST,
    REFLECT,
    WRAP,
    Along,
    beyond,
    extended,
    folded,
    linear_push,
)

SURROUNDINGS = {
    "constant": CONSTANT, "symmetric": REFLECT, "reflect": MIRROR, "edge": NEAREST, "wrap": WRAP,
}  # fmt: skip


STRAIGHT = ("smooth", "line", "antireflect", "antisymmetric")


class _Surroundings:
    """An extension of the last axis by single elements or the constant."""

    def __init__(self, x: Any, before: int, after: int, mode: str, cval: Any) -> None:
        line: Along = beyond(x.shape[-1], before, after, SURROUNDINGS[mode])
        self.axes, self.shape = [*[None] * (x.ndim - 1), line], x.shape
        self.wide = extended(x, self.axes, cval)

    def back(self, wide_bar: Any) -> tuple[Any, Any]:
        """Return the cotangents of the signal and of the constant."""
        return folded(wide_bar, self.axes, self.shape)


class _Straight:
    """An extension of the last axis by weighted sums of two elements."""

    def __init__(self, x: Any, before: int, after: int, mode: str, cval: Any) -> None:
        n = x.shape[-1]
        self.shape, inside = x.shape, np.arange(n)
        left = _sums(mode, n, np.arange(before, 0, -1))
        right = [(n - 1 - at, weights) for at, weights in _sums(mode, n, np.arange(1, after + 1))]
        middle = [(inside, np.ones(n)), (inside, np.zeros(n))]
        parts = zip(left, middle, right, strict=True)
        self.terms = [tuple(map(np.concatenate, zip(*part, strict=True))) for part in parts]
        self.wide = sum(x[..., at] * weights for at, weights in self.terms)

    def back(self, wide_bar: Any) -> tuple[Any, Any]:
        x_bar = np.zeros(self.shape, wide_bar.dtype)
        lines: Any = np.moveaxis(x_bar, -1, 0)
        for at, weights in self.terms:
            np.add.at(lines, at, np.moveaxis(wide_bar * weights, -1, 0))
        return x_bar, None


def _sums(mode: str, n: int, j: Any) -> list[tuple[Any, Any]]:
    """Return places, counted from an end, and weights of both elements for `j` steps beyond."""
    first, one = np.zeros_like(j), np.ones(len(j))
    if mode == "smooth":
        return [(first, one + j), (first + 1, -one * j)]
    if mode == "line":
        return [(first, one + j / (n - 1)), (first + n - 1, -one * j / (n - 1))]
    if mode == "antireflect":
        return [(first, 2 * one), (j, -one)]
    return [(j - 1, -one), (first, 0 * one)]


class _Bank:
    """The filter at the high rate, with time along the last axis."""

    def __init__(self, h: Any, x: Any, y: Any, call: Call) -> None:
        self.h, self.x, self.up, self.down = h, x, call.up, call.down
        n, m = x.shape[-1], y.shape[-1]
        before, after = _reach(n, m, len(h), self.up, self.down)
        kind = _Straight if call.mode in STRAIGHT else _Surroundings
        self.around = kind(x, before, after, call.mode, call.cval)
        self.wide, self.first = self.around.wide, before * self.up

    def back(self, y_bar: Any) -> tuple[Any, Any, Any]:
        """Return the cotangents of the filter, the signal, and the constant beyond its ends."""
        h, up, length = self.h, self.up, self.wide.shape[-1]
        skipped = -(len(h) - 1) % up
        shape = (*self.x.shape[:-1], skipped + (length - 1) * up + len(h))
        rate = np.zeros(shape, np.result_type(y_bar))
        start = skipped + self.first
        rate[..., start : start + (y_bar.shape[-1] - 1) * self.down + 1 : self.down] = y_bar
        first = (len(h) - 1 + skipped) // up
        wide_bar = ss.upfirdn(np.conj(h[::-1]), rate, 1, up)[..., first : first + length]
        last = skipped + (length - 1) * up + 1
        lines, rates = np.conj(self.wide).reshape(-1, length), rate.reshape(-1, rate.shape[-1])
        h_bar = [
            np.einsum("ij,ij->", lines, rates[:, skipped + k : last + k : up])
            for k in range(len(h))
        ]
        x_bar, outer = self.around.back(wide_bar)
        return np.array(h_bar), x_bar, outer


def _reach(n: int, m: int, taps: int, up: int, down: int) -> tuple[int, int]:
    """Return how many elements the filter meets before the first and after the last one."""
    return -(-(taps - 1) // up), max((m - 1) * down // up - (n - 1), 0)


FAR = NoDerivative("its operands", "is not known where the filter is longer than the signal")


@matrix_rule(ss.upfirdn, "h x cval")
def _(call: Call) -> Any:
    axis = call.axis
    if call.h.ndim != 1 or not call.x.size:
        return NotImplemented
    x, y = np.moveaxis(call.x, axis, -1), np.moveaxis(call.y, axis, -1)
    n, m = x.shape[-1], y.shape[-1]
    far = max(_reach(n, m, len(call.h), call.up, call.down)) >= n
    if call.mode in STRAIGHT and (n == 1 or (far and call.mode.startswith("anti"))):
        return refused_pair(refusal(ss.upfirdn, FAR))
    bank = _Bank(call.h, x, y, call)

    def back(y_bar: Any) -> Any:
        h_bar, x_bar, outer = bank.back(np.moveaxis(y_bar, axis, -1))
        return h_bar, np.moveaxis(x_bar, -1, axis), outer

    def push(h_dot: Any, x_dot: Any, cval_dot: Any) -> Any:
        form = (call.up, call.down, axis, call.mode)
        run: Any = lambda x, cval: ss.upfirdn(call.h, x, *form, cval)
        total = linear_push(run, call.x.shape, x_dot, cval_dot)
        if h_dot is not None:
            total = total + ss.upfirdn(h_dot, call.x, *form, call.cval)
        return total

    return back, push
