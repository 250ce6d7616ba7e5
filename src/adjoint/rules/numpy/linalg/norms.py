"""Rules of norms and condition numbers.

Each tangent is the real inner product of the argument's tangent with a *slope* of the argument's
shape, which both modes share. Conventions: a norm has slope 0 at 0, and so has every element that
is 0; elements, rows or columns, and singular values (up to rounding) that tie share the slope
equally; a singular value that is zero up to rounding has slope 0. The slope of the nuclear norm is
the one of least size in Watson, *Characterization of the subdifferential of some matrix norms*
(1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.gauges import settled
from adjoint.rules.numpy.linalg.matrices import dagger, floating
from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.numpy.transposition import forward_from_reverse

# ---- slopes --------------------------------------------------------------------------------------


def slope(x: Any, y: Any, order: Any, axes: tuple[int, ...], matrices: bool) -> Any:
    """Return the gradient of a norm over `axes`; `y` is the norm, with these axes of length 1."""
    if not np.size(x):
        return x
    if order is None or (order in (2, "fro", "f") and not (matrices and order == 2)):
        none = np.equal(y, 0)  # also where it has underflowed
        return np.where(none, 0, x / np.where(none, 1, y)) if np.any(none) else x / y
    return _of_matrices(x, order, axes) if matrices else _of_vectors(x, y, order, axes)


def direction(x: Any) -> Any:
    """Return x / abs(x), and 0 at 0."""
    if not np.iscomplexobj(x):
        return np.sign(x)
    size = np.abs(x)
    return x / np.where(size == 0, 1, size)


def _of_vectors(x: Any, y: Any, order: Any, axes: tuple[int, ...]) -> Any:
    size = np.abs(x)
    if order in (np.inf, -np.inf):
        return direction(x) * _share(size == y, axes)
    if order == 0:
        return np.zeros(np.shape(x))
    if order == 1:
        return direction(x)
    none = (size == 0) | (y == 0)
    ratio = np.where(none, 1, size / np.where(none, 1, y))
    return direction(x) * np.where(none, 0, ratio ** (order - 1))


def _of_matrices(x: Any, order: Any, axes: tuple[int, ...]) -> Any:
    if order in (1, -1, np.inf, -np.inf):
        summed, chosen = axes if order in (1, -1) else axes[::-1]
        sums = np.sum(np.abs(x), summed, keepdims=True)
        extremum = np.max if order > 0 else np.min
        return direction(x) * _share(sums == extremum(sums, chosen, keepdims=True), chosen)
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    weights = _weights(s, max(np.shape(u)[-2], np.shape(vh)[-1]), order)
    v = settled(dagger(vh), weights)
    return np.moveaxis((settled(u, weights) * weights[..., None, :]) @ dagger(v), (-2, -1), axes)


def _share(hits: Any, axes: Any) -> Any:
    """Share 1 equally among the elements that equal the extremum."""
    return hits / np.sum(hits, axes, keepdims=True)


def _weights(s: Any, length: int, order: Any) -> Any:
    """Return the derivative of the norm in each singular value."""
    if s.shape[-1] == 0:
        return s
    bound = s[..., :1] * (10 * length * np.finfo(s.dtype).eps)
    if order == "nuc":
        return np.where(s > bound, 1.0, 0.0)
    best = s[..., :1] if order == 2 else s[..., -1:]
    return np.where(best > bound, _share(np.abs(s - best) <= bound, -1), 0.0)


non_differentiable(_share, _weights)


# ---- norms ---------------------------------------------------------------------------------------


def norm_axes(x: Any, order: Any, axis: Any) -> tuple[tuple[int, ...], bool]:
    """Return the axes that a norm is taken over, and whether it is one of matrices."""
    ndim = np.ndim(x)
    if axis is None:
        return tuple(range(ndim)), order is not None and ndim == 2
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(i) % ndim for i in axes), len(axes) == 2


def norm_back(x: Any, y: Any, order: Any, axes: tuple[int, ...], matrices: bool) -> Any:
    """Return the pullback of a norm; `y` may lack the reduced axes."""

    def back(y_bar):
        kept, bar = _restored(y, x, axes), _restored(y_bar, x, axes)
        x_bar = project(bar * slope(floating(x), kept, order, axes, matrices), x)
        if matrices or not _is_real(order):
            return None, x_bar
        return None, x_bar, float(np.sum(bar * order_slope(x, kept, order, axes)))

    return back


def norm_dot(
    x: Any, y: Any, dots: tuple[Any, ...], order: Any, axes: tuple[int, ...], matrices: bool
) -> Any:
    (x_dot, *order_dot), kept = dots, _restored(y, x, axes)
    y_dot = np.zeros(np.shape(y))
    if x_dot is not None:
        product = np.conj(slope(floating(x), kept, order, axes, matrices)) * x_dot
        y_dot = np.reshape(np.sum(np.real(product), axes), np.shape(y))
    if order_dot and order_dot[0] is not None and not matrices and _is_real(order):
        moved = order_dot[0] * order_slope(x, kept, order, axes)
        y_dot = y_dot + np.reshape(moved, np.shape(y))
    return y_dot


def _restored(y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return a reduction of `x` with the reduced axes in place."""
    return y if np.ndim(y) == np.ndim(x) else np.expand_dims(y, axes)


def _is_real(order: Any) -> bool:
    """Return whether the order is a real number in which the norm has a derivative."""
    return isinstance(order, float | np.floating) and order != 0 and bool(np.isfinite(order))


def order_slope(x: Any, y: Any, order: Any, axes: tuple[int, ...]) -> Any:
    """Return the derivative in the order p: y/p · Σ rᵖ log r, with r = abs(x)/y."""
    size = np.abs(x)
    none = (size == 0) | (y == 0)
    ratio = np.where(none, 1, size / np.where(none, 1, y))
    return y / order * np.sum(ratio**order * np.log(ratio), axes, keepdims=True)


non_differentiable(_is_real)


def norm_rule(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """Apply the rule of a norm of elements, rows, columns or singular values; an integer order is
    a constant."""
    y = np.linalg.norm(x, ord, axis, keepdims)
    if type(y) is np.float64 and ord is None and type(x) is np.ndarray and x.dtype is FLOAT64:
        return y, lambda y_bar: (None, x * (float(y_bar) / float(y) if y else 0.0))
    return y, norm_back(x, y, ord, *norm_axes(x, ord, axis))


array_rule(np.linalg.norm, operands="x", exact=True)(norm_rule)  # orders that are text
array_rule(np.linalg.norm, operands="x ord", exact=True)(norm_rule)


@forward_rule(np.linalg.norm, settings=1)
def _(dots, x, ord=None, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord, axis, keepdims)
    return y, norm_dot(x, y, dots, ord, *norm_axes(x, ord, axis))


# ---- condition numbers ---------------------------------------------------------------------------


def _cond_slope(x: Any, y: Any, p: Any) -> Any:
    """Return the gradient of a condition number; NaN where it is infinite."""
    x, axes = floating(x), (np.ndim(x) - 2, np.ndim(x) - 1)
    infinite = ~np.isfinite(y)[..., None, None]
    regular = np.where(infinite, np.eye(*np.shape(x)[-2:]), x)
    if p in (None, 2, -2):
        over, under = (-2, 2) if p == -2 else (2, -2)
        large, small = (np.linalg.norm(regular, order, axes, True) for order in (over, under))
        result = slope(regular, large, over, axes, True) / small
        result = result - large / small**2 * slope(regular, small, under, axes, True)
    else:
        inverse = np.linalg.inv(regular)
        own, others = (np.linalg.norm(m, p, axes, True) for m in (regular, inverse))
        turned = dagger(inverse)
        moved = turned @ slope(inverse, others, p, axes, True) @ turned
        result = slope(regular, own, p, axes, True) * others - moved * own
    return np.where(infinite, np.nan, result)


def cond_rule(x: Any, p: Any = None) -> Any:
    y = np.linalg.cond(x, p)

    def cond_back(y_bar):
        bar = np.real(np.asanyarray(y_bar))[..., None, None]  # NumPy 1 may return complex numbers
        return None, np.where(bar == 0, 0, bar * _cond_slope(x, y, p))

    return y, cond_back


array_rule(np.linalg.cond, operands="x")(cond_rule)  # orders that are text
array_rule(np.linalg.cond, operands="x p")(cond_rule)


forward_from_reverse(np.linalg.cond)
non_differentiable(np.linalg.matrix_rank)
