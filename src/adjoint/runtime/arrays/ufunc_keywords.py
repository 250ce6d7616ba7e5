"""Keyword arguments that every ufunc takes, as Python that the engine reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable


def ufunc_as(f: Any, args: Any, kwargs: Any) -> Any:
    """``f(*args, dtype=…, casting=…, order=…, subok=…)``: NumPy casts the operands, then
    computes; the last two say how the result is laid out."""
    dtype, casting = kwargs.get("dtype"), kwargs.get("casting", "same_kind")
    if casting in ("no", "equiv", "safe"):
        _demand_casting(f, args, dtype, casting)
    if dtype is None:
        return f(*args)
    arrays = [np.asarray(arg) for arg in args]
    dtypes = _operand_dtypes(f, args, dtype, casting)
    return f(*[a.astype(of, copy=False) for a, of in zip(arrays, dtypes, strict=True)])


def _operand_dtypes(f: Any, args: Any, dtype: Any, casting: str) -> Any:
    """What the operands are cast to where `dtype` is asked of the results: ``abs`` of complex
    numbers takes these and returns reals."""
    given = [
        type(arg) if type(arg) in (int, float, complex) else np.asarray(arg).dtype for arg in args
    ]
    asked = np.empty(0, dtype).dtype  # it may be one of the classes in np.dtypes
    signature = (None,) * f.nin + (asked,) * f.nout
    resolved = f.resolve_dtypes((*given, *(None,) * f.nout), signature=signature, casting=casting)
    return resolved[: f.nin]


def _demand_casting(f: Any, args: Any, dtype: Any, casting: str) -> None:
    """Let NumPy itself say what it has against the types of the operands."""
    with np.errstate(all="ignore"):
        f(*args, dtype=dtype, casting=casting)


non_differentiable(_demand_casting, _operand_dtypes)


def gufunc_along(f: Any, args: Any, axes: Any, keepdims: bool) -> Any:
    """``f(*args, axes=axes, keepdims=keepdims)`` of a generalized ufunc with one result: the axes
    that it works on are moved to the end, where it looks for them."""
    axes = [(place,) if isinstance(place, int) else tuple(place) for place in axes]
    y = f(*[_to_end(arg, place) for arg, place in zip(args, axes, strict=False)])
    if keepdims:
        return np.expand_dims(y, axes[0])
    return np.moveaxis(y, range(-len(axes[-1]), 0), axes[-1]) if len(axes) > f.nin else y


def _to_end(x: Any, axes: Any) -> Any:
    return np.moveaxis(x, axes, range(-len(axes), 0))
