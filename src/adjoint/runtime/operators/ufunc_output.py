"""``out=`` of ufuncs, as a plain call and a write of its result."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import RAISED_AFTER_WRITE, raised_after_write
from adjoint.runtime.arrays.wrap_results import data_of, wrapped_call, wrapped_output, wraps_result
from adjoint.runtime.arrays.writes import demand_order


def ufunc_into(f: Any, out: Any, where: Any, args: Any, kwargs: Any) -> Any:
    """Run ``f(*args, out=out, where=where, **kwargs)`` as an assignment.

    Parameters
    ----------
    f : callable
        A ufunc, or another function of NumPy whose result goes into `out`.
    out : ndarray
        Written, and returned.
    where : bool or array of bool
        Mask of the elements that are computed and written; the others keep their value.
    args, kwargs
        The other arguments.
    """
    if out is Ellipsis:
        return _as_array(f, args, kwargs)
    target, given = data_of(out), args
    args = [data_of(arg) for arg in args]  # only the class of `out` may wrap the result
    chosen = None
    operands = args
    if where is not True:
        # Elements that are not selected may have no value or no derivative.
        _demand_shape(f, target, where, args, kwargs)
        chosen = _mask(where, target)
        operands = [_part(arg, chosen) for arg in args]
    try:
        y = f(*operands, **kwargs)
    except RAISED_AFTER_WRITE as error:
        raise raised_after_write(error) from error
    _demand_fit(f, target, where, args, kwargs, y)
    if chosen is not None:
        target[chosen] = y
    else:
        if f in JOINING:
            demand_order(out, lambda target: f(*args, out=target, **kwargs), *args[0])
        target[...] = y
    return wrapped_output(f, out, given, (out,), 0) if isinstance(f, np.ufunc) else out


def ufunc_into_all(f: Any, outs: Any, args: Any, kwargs: Any) -> Any:
    """Run ``f(*args, out=outs, **kwargs)`` of a ufunc with several results; ``None`` among the
    outputs means a new array."""
    if outs is Ellipsis:
        return _as_array(f, args, kwargs)
    given = [data_of(arg) for arg in args]
    try:
        ys = f(*given, **kwargs)
    except RAISED_AFTER_WRITE as error:
        raise raised_after_write(error) from error
    made = f(*args, **kwargs) if any(out is None for out in outs) else ys
    _demand_all(f, [None if out is None else data_of(out) for out in outs], args, kwargs, ys)
    results = []
    for i, out in enumerate(outs):
        if out is None:
            results.append(made[i])
        else:
            data_of(out)[...] = ys[i]
            results.append(wrapped_output(f, out, args, outs, i))
    return tuple(results)


def _as_array(f, args, kwargs):
    """Run ``f(*args, out=..., **kwargs)``: since NumPy 2.3, results are arrays, never scalars."""
    if wraps_result(f, args, kwargs):  # ``__array_wrap__`` may return anything
        return wrapped_call(f, args, {**kwargs, "out": ...})
    y = f(*args, **kwargs)
    return tuple(map(np.asanyarray, y)) if type(y) is tuple else np.asanyarray(y)


def _demand_all(f: Any, outs: Any, args: Any, kwargs: Any, ys: Any) -> None:
    """Let NumPy raise its own error if the outputs do not fit the results."""
    for y, out in zip(ys, outs, strict=True):
        if out is not None and (
            type(out) is not np.ndarray or np.shape(y) != out.shape or y.dtype != out.dtype
        ):
            copies = tuple([None if part is None else np.array(part) for part in outs])
            with np.errstate(all="ignore"):
                f(*args, **kwargs, out=copies)


JOINING = (np.concatenate, np.stack)
"""Functions that write one array before they read the next."""


def _part(arg, chosen):
    """Return the selected elements; a number stays a number, whose precision NumPy adapts."""
    return np.broadcast_to(arg, chosen.shape)[chosen] if np.ndim(arg) else arg


def _mask(where: Any, out: Any) -> Any:
    return np.array(np.broadcast_to(np.asarray(where, bool), out.shape))


def _demand_shape(f: Any, out: Any, where: Any, args: Any, kwargs: Any) -> None:
    shapes = [np.shape(arg) for arg in args]
    if np.broadcast_shapes(*shapes, np.shape(where)) != np.shape(out):
        _try(f, out, where, args, kwargs)


def _demand_fit(f: Any, out: Any, where: Any, args: Any, kwargs: Any, y: Any) -> None:
    """Let NumPy raise its own error if the output does not fit the result."""
    fits = type(out) is np.ndarray and np.result_type(y) == out.dtype
    if not fits or (where is True and np.shape(y) != out.shape):
        _try(f, out, where, args, kwargs)


def _try(f: Any, out: Any, where: Any, args: Any, kwargs: Any) -> None:
    """Run the original call into a copy of `out`."""
    masked = {} if where is True else {"where": where}
    copy = np.array(out) if isinstance(out, np.ndarray) else out
    with np.errstate(all="ignore"):
        f(*args, **kwargs, out=copy, **masked)
