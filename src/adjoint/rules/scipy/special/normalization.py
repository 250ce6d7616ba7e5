"""Rules of functions that normalize over axes: `logsumexp`, `softmax`, `log_softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.registry import frule
from adjoint.rules.numpy.operands import array_rule

# ---- logsumexp -----------------------------------------------------------------------------------


def _reduced(shape: tuple[int, ...], axis: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes that are summed, and the shape with these of length 1."""
    n = len(shape)
    given = range(n) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    axes = tuple([k % n for k in given])
    return axes, tuple([1 if k in axes else size for k, size in enumerate(shape)])


def _shares(a: Any, b: Any, value: Any, axes: tuple[int, ...]) -> Any:
    """Return exp(a − value); times b, this is the share of each term in the sum. Infinite terms
    share an infinite sum equally; the shares of a sum of 0 are 0."""
    above = np.equal(value, np.inf)
    none = np.equal(np.real(value), -np.inf)
    shares = np.where(none, 0, np.exp(a - np.where(above | none, 0, value)))
    if not np.any(above):
        return shares
    most = np.equal(a, np.inf) & np.not_equal(1 if b is None else b, 0)
    count = np.sum(most * (1 if b is None else b), axis=axes, keepdims=True)
    return np.where(above, most / np.where(np.equal(count, 0), 1, count), shares)


def _logsumexp(
    a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool
) -> tuple[Any, Any, tuple[int, ...], tuple[int, ...]]:
    """Return the result, its slope in b, the summed axes, and the shape that keeps them. The slope
    in a is b times the slope in b."""
    y = sp.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    shape = np.shape(a) if b is None else np.broadcast_shapes(np.shape(a), np.shape(b))
    shape = shape or (1,)
    axes, kept = _reduced(shape, axis)
    value, sign = y if return_sign else (y, None)
    shares = _shares(np.broadcast_to(a, shape), b, np.reshape(value, kept), axes)
    return y, shares if sign is None else shares * np.reshape(sign, kept), axes, kept


def _turns(a: Any, b: Any, return_sign: bool) -> bool:
    """Return whether the sign is that of a complex sum, which has a derivative."""
    return return_sign and (np.iscomplexobj(a) or np.iscomplexobj(b))


@array_rule(sp.logsumexp, operands="a b")
def _(a, axis=None, b=None, keepdims=False, return_sign=False):
    if _turns(a, b, return_sign):
        return NotImplemented
    y, shares, _axes, kept = _logsumexp(a, axis, b, keepdims, return_sign)

    def logsumexp_back(y_bar):
        bar = y_bar[0] if return_sign else y_bar
        if bar is None:
            return None, None, None
        bar = np.where(np.equal(shares, 0), 0, np.reshape(bar, kept) * np.conj(shares))
        return (None, bar, None) if b is None else (None, bar * np.conj(b), bar)

    return y, logsumexp_back


@frule.register(sp.logsumexp)
def _(dots, a, axis=None, b=None, keepdims=False, return_sign=False):
    if _turns(a, b, return_sign):
        return NotImplemented
    y, shares, axes, _kept = _logsumexp(a, axis, b, keepdims, return_sign)
    a_dot, b_dot = dots[0], dots[2] if len(dots) > 2 else None
    if a_dot is None and b_dot is None:
        return y, None
    moved = 0.0 if a_dot is None else filled(a_dot, a) * (1 if b is None else b)
    if b_dot is not None:
        moved = moved + filled(b_dot, b)
    y_dot = np.sum(np.where(np.equal(shares, 0), 0, shares * moved), axis=axes, keepdims=keepdims)
    return y, (y_dot, None) if return_sign else y_dot


# ---- softmax -------------------------------------------------------------------------------------


def _sum(a: Any, axis: Any) -> Any:
    return np.sum(a, axis=axis, keepdims=True)


@array_rule(sp.softmax, operands="x")
def _(x, axis=None):
    y = sp.softmax(x, axis=axis)
    shares = np.conj(y)
    return y, lambda y_bar: (None, shares * (y_bar - _sum(shares * y_bar, axis)))


@frule.register(sp.softmax)
def _(dots, x, axis=None):
    y = sp.softmax(x, axis=axis)
    if dots[0] is None:
        return y, None
    x_dot = filled(dots[0], x)
    return y, y * (x_dot - _sum(y * x_dot, axis))


@array_rule(sp.log_softmax, operands="x")
def _(x, axis=None):
    y = sp.log_softmax(x, axis=axis)
    return y, lambda y_bar: (None, y_bar - np.conj(np.exp(y)) * _sum(y_bar, axis))


@frule.register(sp.log_softmax)
def _(dots, x, axis=None):
    y = sp.log_softmax(x, axis=axis)
    if dots[0] is None:
        return y, None
    x_dot = filled(dots[0], x)
    return y, x_dot - _sum(np.exp(y) * x_dot, axis)
