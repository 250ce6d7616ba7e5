"""Rules of functions that normalize over axes: `logsumexp`, `softmax`, `log_softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.registry import frule
from adjoint.rules.numpy.aggregates.logarithmic_sums import shares_of, summed_axes
from adjoint.rules.numpy.operands import array_rule

# ---- logsumexp -----------------------------------------------------------------------------------


def _logsumexp(
    a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool
) -> tuple[Any, Any, tuple[int, ...], tuple[int, ...]]:
    """Return the result, its slope in b, the summed axes, and the shape that keeps them. The slope
    in a is b times the slope in b."""
    y = sp.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    shape = np.shape(a) if b is None else np.broadcast_shapes(np.shape(a), np.shape(b))
    shape = shape or (1,)
    axes, kept = summed_axes(shape, axis)
    value, sign = y if return_sign else (y, None)
    shares = shares_of(np.broadcast_to(a, shape), b, np.reshape(value, kept), axes)
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
