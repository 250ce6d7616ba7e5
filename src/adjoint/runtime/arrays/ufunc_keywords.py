"""Substitutes for keyword arguments of ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable


def ufunc_as(f: Any, args: Any, kwargs: Any) -> Any:
    """Return ``f(*args, dtype=…, casting=…, order=…, subok=…)``: cast the operands, then compute;
    `order` and `subok` affect only layout and class of the result."""
    dtype, casting = kwargs.get("dtype"), kwargs.get("casting", "same_kind")
    if casting in ("no", "equiv", "safe"):
        _demand_casting(f, args, dtype, casting)
    if dtype is None:
        return f(*args)
    arrays = [np.asarray(arg) for arg in args]
    dtypes = _operand_dtypes(f, args, dtype, casting)
    return f(*[a.astype(of, copy=False) for a, of in zip(arrays, dtypes, strict=True)])


def _operand_dtypes(f: Any, args: Any, dtype: Any, casting: str) -> Any:
    """Return the dtypes of the operands for results of `dtype`: ``abs`` takes complex numbers and
    returns reals."""
    given = [
        type(arg) if type(arg) in (int, float, complex) else np.asarray(arg).dtype for arg in args
    ]
    asked = np.empty(0, dtype).dtype  # `dtype` may be one of the classes in np.dtypes
    signature = (None,) * f.nin + (asked,) * f.nout
    resolved = f.resolve_dtypes((*given, *(None,) * f.nout), signature=signature, casting=casting)
    return resolved[: f.nin]


def _demand_casting(f: Any, args: Any, dtype: Any, casting: str) -> None:
    """Let NumPy raise its own error if the operands cannot be cast."""
    with np.errstate(all="ignore"):
        f(*args, dtype=dtype, casting=casting)


non_differentiable(_demand_casting, _operand_dtypes)


def gufunc_along(f: Any, args: Any, axes: Any, keepdims: bool) -> Any:
    """Return ``f(*args, axes=axes, keepdims=keepdims)`` of a generalized ufunc with one result; the
    axes are moved to the end, where `f` expects them."""
    axes = [(place,) if isinstance(place, int) else tuple(place) for place in axes]
    y = f(*[_to_end(arg, place) for arg, place in zip(args, axes, strict=False)])
    if keepdims:
        return np.expand_dims(y, axes[0])
    return np.moveaxis(y, range(-len(axes[-1]), 0), axes[-1]) if len(axes) > f.nin else y


def _to_end(x: Any, axes: Any) -> Any:
    return np.moveaxis(x, axes, range(-len(axes), 0))
