"""Rules of products of arrays: dot, inner, outer, tensordot, kron, cross, convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.matmul import plain_products
from adjoint.rulekit.partials import as_strong
from adjoint.rulekit.projection import project, unbroadcast
from adjoint.rules.numpy.forward_rules import linear_frule
from adjoint.rules.numpy.operands import array_rule, conj, core

# ---- contractions --------------------------------------------------------------------------------


@array_rule(np.dot, (np.ndarray, "dot"), operands="a b", exact=True)
def _(a, b, out=None):
    if out is not None:
        return NotImplemented

    def dot_back(y_bar):
        a_bar, b_bar = dot_bars(as_strong(y_bar, kind), conj(a), conj(b))
        return None, project(a_bar, a), project(b_bar, b)

    y = np.dot(a, b)
    kind = type(y)
    return y, dot_back


plain_products(np.dot)


def dot_bars(y_bar: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the cotangents of the factors of `np.dot`, given their conjugates `a` and `b`."""
    m, n = np.ndim(a), np.ndim(b)
    if m == 0 or n == 0 or m == n == 1:
        return y_bar * b, y_bar * a
    if n == 1:
        over = list(range(m - 1))
        return np.multiply.outer(y_bar, b), np.tensordot(a, y_bar, (over, over))
    if m <= 2 and n == 2:
        return np.dot(y_bar, b.T), np.outer(a, y_bar) if m == 1 else np.dot(a.T, y_bar)
    kept = [axis for axis in range(n) if axis != n - 2]
    a_bar = np.tensordot(y_bar, b, (range(m - 1, np.ndim(y_bar)), kept))
    b_bar = np.tensordot(a, y_bar, (range(m - 1), range(m - 1)))
    return a_bar, np.moveaxis(b_bar, 0, -2)


@array_rule(np.inner, operands="a b")
def _(a, b, /):
    m, n = np.ndim(a), np.ndim(b)

    def inner_back(y_bar):
        a_h, b_h = conj(a), conj(b)
        if m == 0 or n == 0:
            return None, y_bar * b_h, y_bar * a_h
        a_bar = np.tensordot(y_bar, b_h, (range(m - 1, m + n - 2), range(n - 1)))
        return None, a_bar, np.tensordot(y_bar, a_h, (range(m - 1), range(m - 1)))

    return np.inner(a, b), inner_back


@array_rule(np.outer, operands="a b")
def _(a, b, out=None):
    if out is not None:
        return NotImplemented

    def outer_back(y_bar):
        a_bar, b_bar = np.dot(y_bar, conj(np.ravel(b))), np.dot(conj(np.ravel(a)), y_bar)
        return None, np.reshape(a_bar, np.shape(a)), np.reshape(b_bar, np.shape(b))

    return np.outer(a, b), outer_back


@array_rule(np.vdot, operands="a b")
def _(a, b, /):
    def vdot_back(y_bar):
        """The first operand is conjugated, so its cotangent has the conjugate of ȳ."""
        return (
            None,
            np.reshape(conj(y_bar) * np.ravel(b), np.shape(a)),
            np.reshape(y_bar * np.ravel(a), np.shape(b)),
        )

    return np.vdot(a, b), vdot_back


def _axes(axes: Any, m: int, n: int) -> tuple[list[int], list[int]]:
    """Return the contracted axes of the two operands of `np.tensordot`."""
    if isinstance(axes, (int, np.integer)):
        return list(range(m - int(axes), m)), list(range(int(axes)))
    first, second = ([int(i) for i in np.atleast_1d(part)] for part in axes)
    return [i % m for i in first], [i % n for i in second]


@array_rule(np.tensordot, operands="a b")
def _(a, b, axes=2):
    y = np.tensordot(a, b, axes)
    m, n = np.ndim(a), np.ndim(b)
    over_a, over_b = _axes(axes, m, n)
    free_a, free_b = (
        [i for i in range(ndim) if i not in over] for ndim, over in ((m, over_a), (n, over_b))
    )

    def tensordot_back(y_bar):
        k = len(free_a)
        y_bar = np.asanyarray(y_bar)
        a_bar = np.tensordot(y_bar, conj(b), (list(range(k, y_bar.ndim)), free_b))
        b_bar = np.tensordot(y_bar, conj(a), (list(range(k)), free_a))
        order_a = free_a + [over_a[over_b.index(i)] for i in sorted(over_b)]
        order_b = free_b + [over_b[over_a.index(i)] for i in sorted(over_a)]
        return (
            None,
            np.transpose(a_bar, np.argsort(order_a)),
            np.transpose(b_bar, np.argsort(order_b)),
        )

    return y, tensordot_back


@array_rule(np.kron, operands="a b")
def _(a, b):
    n = max(np.ndim(a), np.ndim(b))
    shape_a, shape_b = ((1,) * (n - np.ndim(x)) + np.shape(x) for x in (a, b))

    def kron_back(y_bar):
        pairs = [size for pair in zip(shape_a, shape_b, strict=True) for size in pair]
        blocks = np.transpose(np.reshape(y_bar, pairs), [*range(0, 2 * n, 2), *range(1, 2 * n, 2)])
        a_bar = np.tensordot(blocks, conj(np.reshape(b, shape_b)), n)
        b_bar = np.tensordot(conj(np.reshape(a, shape_a)), blocks, n)
        return None, np.reshape(a_bar, np.shape(a)), np.reshape(b_bar, np.shape(b))

    return np.kron(a, b), kron_back


@array_rule(np.cross, operands="a b")
def _(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    y = np.cross(a, b, axisa, axisb, axisc)
    if np.shape(a)[axisa] != 3 or np.shape(b)[axisb] != 3:
        return NotImplemented

    def cross_back(y_bar):
        u, v = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
        w_bar = np.moveaxis(y_bar, axisc, -1)
        u_bar = unbroadcast(np.cross(conj(v), w_bar), u.shape)
        v_bar = unbroadcast(np.cross(w_bar, conj(u)), v.shape)
        return None, np.moveaxis(u_bar, -1, axisa), np.moveaxis(v_bar, -1, axisb)

    return y, cross_back


# ---- convolutions --------------------------------------------------------------------------------


def _whole(y_bar: Any, n: int, m: int, mode: str, same: int) -> Any:
    """Pad the cotangent of the part that `mode` keeps to that of the full convolution."""
    start = {"full": 0, "same": same, "valid": min(n, m) - 1}[mode]
    before, after = np.zeros(start), np.zeros(n + m - 1 - start - len(y_bar))
    return np.concatenate([before, y_bar, after], dtype=y_bar.dtype)


def _convolve_back(a: Any, v: Any, mode: str, same: int) -> Any:
    def convolve_back(y_bar):
        whole = _whole(y_bar, np.size(a), np.size(v), mode, same)
        return (
            None,
            np.reshape(np.correlate(whole, np.ravel(v), "valid"), np.shape(a)),
            np.reshape(np.correlate(whole, np.ravel(a), "valid"), np.shape(v)),
        )

    return convolve_back


@array_rule(np.convolve, operands="a v")
def _(a, v, mode="full"):
    if mode not in ("full", "same", "valid"):
        return NotImplemented
    return np.convolve(a, v, mode), _convolve_back(
        a, v, mode, (min(np.size(a), np.size(v)) - 1) // 2
    )


@array_rule(np.correlate, operands="a v")
def _(a, v, mode="valid"):
    if mode not in ("full", "same", "valid"):
        return NotImplemented
    # If the first operand is shorter, NumPy swaps both and reverses the result, which rounds the
    # middle up.
    n, m = np.size(a), np.size(v)
    back = _convolve_back(a, conj(np.ravel(v)[::-1]), mode, n // 2 if n < m else (m - 1) // 2)

    def correlate_back(y_bar):
        _, a_bar, w_bar = back(y_bar)
        return None, a_bar, np.reshape(conj(w_bar[::-1]), np.shape(v))

    return np.correlate(a, v, mode), correlate_back


@array_rule(core.multiarray.correlate, operands="a v")
def _(a, v, mode=0):
    """Correlate as `np.convolve` and products of polynomials do, without conjugation."""
    names = {0: "valid", 1: "same", 2: "full"}
    mode = names.get(mode, mode)
    if mode not in names.values() or np.size(a) < np.size(v):
        return NotImplemented
    back = _convolve_back(a, np.ravel(v)[::-1], mode, (np.size(v) - 1) // 2)

    def correlate_back(y_bar):
        _, a_bar, w_bar = back(y_bar)
        return None, a_bar, np.reshape(np.ravel(w_bar)[::-1], np.shape(v))

    return core.multiarray.correlate(a, v, mode), correlate_back


linear_frule(
    np.dot, (np.ndarray, "dot"), np.inner, np.outer, np.vdot, np.tensordot, np.kron, np.cross,
    np.convolve, np.correlate, core.multiarray.correlate, operands=2,
)  # fmt: skip
