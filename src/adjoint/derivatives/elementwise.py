"""The derivative of a function that acts on each element of an array separately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.derivatives.linear_map import linearized
from adjoint.errors import ArgumentError
from adjoint.rulekit import nested

HINT = "use ad.jacobian, or ad.vmap(ad.derivative(f)) for a function of one number"


def elementwise_derivative(
    f: Callable[..., Any], x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the derivative of each element of ``f(x, *args)`` by the same element of `x`.

    Where the Jacobian J is diagonal, J v is the product of J 1 and v. Products with vectors v
    of powers of two and both signs tell whether it is, because such factors do not change how the
    elements are rounded.

    Raises
    ------
    ArgumentError
        The result has another shape, or J is not diagonal.
    """
    if x.dtype.kind not in "fiu":
        raise ArgumentError(f"a derivative is not taken in an array of {x.dtype}", hint=HINT)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(float)
    y, push = linearized(f, (x, *args), kwargs, (0,))
    others = (None,) * len(args)
    if not isinstance(y, np.ndarray) or y.shape != x.shape:
        what = f"an array of shape {y.shape}" if isinstance(y, np.ndarray) else type(y).__name__
        raise ArgumentError(
            f"the result for an array of shape {x.shape} is {what}; element by element, the result"
            " has the shape of the argument",
            hint=HINT,
        )
    slope = push(np.ones(x.shape, dtype), *others)
    for v in _probes(x.size):
        v = v.reshape(x.shape).astype(dtype)
        if not _is_same(push(v, *others), slope * v):
            raise ArgumentError(
                "the function is not elementwise: elements of its result depend on several elements"
                " of the argument",
                hint=HINT,
            )
    return slope


def _probes(n: int) -> tuple[Any, Any]:
    """Return two vectors of powers of two; elements less than 61 apart differ in the first."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], n)
    return np.exp2(np.arange(n) % 61 - 30), signs * np.exp2(rng.integers(-30, 31, n))


def _is_same(found: Any, expected: Any) -> bool:
    """Return whether two arrays differ by no more than the rounding of one operation."""
    limits = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        off = np.abs(found - expected) <= 8 * limits.eps * np.abs(expected) + 8 * limits.tiny
    return bool(np.all(off | (found == expected) | (np.isnan(found) & np.isnan(expected))))


nested.elementwise_derivative = elementwise_derivative
