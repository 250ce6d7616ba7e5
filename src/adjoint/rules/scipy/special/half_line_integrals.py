"""Integrals along a half-line, by the Gauss–Legendre rule on its significant part.

The integrands are analytic and fall off at least exponentially, so the rule converges faster than
any power of the number of nodes (Trefethen, *Is Gauss quadrature better than Clenshaw–Curtis?*,
SIAM Review 50, 2008, theorem 4.5).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable

DROP = 36.0
"""Fall of the logarithm of an integrand after which the rest is below rounding."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_NODES, _WEIGHTS = 0.5 + 0.5 * _NODES, 0.5 * _WEIGHTS
_BLOCK = 128


def integral(integrand: Callable[..., Any], length: Any, *operands: Any) -> Any:
    """Return ∫ integrand(s, *operands) ds from 0 to `length`, for arrays of one shape."""
    s = length[..., None] * _NODES
    return length * np.sum(integrand(s, *[x[..., None] for x in operands]) * _WEIGHTS, -1)


def long_integral(integrand: Callable[..., Any], length: Any, *operands: Any) -> Any:
    """Return the integral of a function that is slow at first and falls off within a few units."""
    if not np.any(length):
        return 0.0
    start = np.maximum(length / 2, length - 8)

    def at_the_end(s: Any, start: Any, *operands: Any) -> Any:
        return integrand(start + s, *operands)

    end = integral(at_the_end, length - start, start, *operands)
    return integral(integrand, start, *operands) + end


@non_differentiable
def newton(h: Callable[..., Any], start: Any, steps: int, *operands: Any) -> Any:
    """Return the zero of a convex function, approached from the right. `h` returns value and
    derivative. The zero is the end of an integral, whose value does not depend on the exact end."""
    v = start
    for _ in range(steps):
        value, slope = h(v, *operands)
        v = v - value / slope
    return v


def piecewise(first: Any, f: Callable[..., Any], g: Callable[..., Any], /, *operands: Any) -> Any:
    """Return `f` of the elements for which `first` is true, and `g` of the others."""
    if np.all(first):
        return f(*operands)
    if not np.any(first):
        return g(*operands)
    rest = ~first
    a, b = f(*[x[first] for x in operands]), g(*[x[rest] for x in operands])
    y = np.empty(first.shape, a.dtype)
    y[first], y[rest] = a, b
    return y


def in_blocks(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` for numbers and arrays that broadcast, applied in double precision to blocks. The
    values of a block at all nodes fit into the cache."""

    @wraps(f)
    def blocks(*operands: Any) -> Any:
        if any(map(np.iscomplexobj, operands)):
            raise TypeError("the operands are real")
        arrays = np.broadcast_arrays(*[np.asarray(x, np.float64) for x in operands])
        shape, size = arrays[0].shape, arrays[0].size
        with np.errstate(all="ignore"):
            if size <= _BLOCK:
                return f(*arrays)[()]
            flat = [np.ravel(x) for x in arrays]
            parts = [f(*[x[i : i + _BLOCK] for x in flat]) for i in range(0, size, _BLOCK)]
        return np.reshape(np.concatenate(parts), shape)

    return blocks
