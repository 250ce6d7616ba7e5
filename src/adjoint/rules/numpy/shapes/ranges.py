"""Rules of NumPy's functions that make arrays of evenly spaced numbers, and of their powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.projection import as_numeric, project
from adjoint.rulekit.tangents import steady_in
from adjoint.rules.numpy.forward_rules import array_frule
from adjoint.rules.numpy.operands import array_rule, dense, severed

arange: Any = np.arange


def _ramp(num: int, endpoint: bool, ndim: int, axis: int) -> Any:
    """Return the weights of the second end along `axis` of an array of `ndim` axes."""
    shape = [1] * ndim
    shape[axis] = -1
    return np.reshape(np.linspace(0.0, 1.0, num, endpoint), shape)


def _ends(y_bar: Any, ramp: Any, axis: int) -> tuple[Any, Any]:
    """Return the cotangents of both ends, in the shape that these broadcast to."""
    return np.sum(y_bar * (1 - ramp), axis), np.sum(y_bar * ramp, axis)


@array_rule(np.linspace, operands="start stop")
def _(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    y = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    values = y[0] if retstep else y
    if values.dtype.kind not in "fc":
        return NotImplemented if retstep else (y, lambda y_bar: (None,))

    def linspace_back(y_bar):
        values_bar, step_bar = y_bar if retstep else (y_bar, None)
        if values_bar is None:
            values_bar = np.zeros(values.shape)
        start_bar, stop_bar = _ends(values_bar, _ramp(num, endpoint, values.ndim, axis), axis)
        if step_bar is not None:
            steps = num - 1 if endpoint else num
            start_bar, stop_bar = start_bar - step_bar / steps, stop_bar + step_bar / steps
        return None, project(start_bar, start), project(stop_bar, stop)

    return y, linspace_back


@array_frule(np.linspace, operands="start stop")
def _(dots, y, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if retstep and y[0].dtype.kind not in "fc":
        return NotImplemented
    ends = dense(dots[0], start), dense(dots[1], stop)
    return np.linspace(*ends, num, endpoint, retstep, None, axis)


steady_in(np.linspace, places=range(2))


@array_rule(np.logspace, operands="start stop base")
def _(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    y = np.logspace(start, stop, num, endpoint, base, dtype, axis)
    if y.dtype.kind not in "fc":
        return y, lambda y_bar: (None,)

    def logspace_back(y_bar):
        bases = np.expand_dims(base, axis) if np.ndim(base) else base
        exponents = np.linspace(start, stop, num, endpoint, axis=axis)
        if np.ndim(base) and exponents.ndim < y.ndim:
            exponents = np.log(y) / np.log(bases)
        start_bar, stop_bar = _ends(
            y_bar * np.conj(y * np.log(bases)), _ramp(num, endpoint, y.ndim, axis), axis
        )
        base_bar = np.sum(y_bar * np.conj(exponents * y / bases), axis)
        return None, project(start_bar, start), project(stop_bar, stop), project(base_bar, base)

    return y, logspace_back


@array_frule(np.logspace, operands="start stop base")
def _(dots, y, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    shape = np.broadcast_shapes(np.shape(start), np.shape(stop), np.shape(base))
    start_dot, stop_dot, base_dot = [
        np.broadcast_to(dense(dot, x), shape)
        for dot, x in zip(dots, (start, stop, base), strict=True)
    ]
    exponents = np.linspace(
        np.broadcast_to(start, shape), np.broadcast_to(stop, shape), num, endpoint, axis=axis
    )
    bases = np.expand_dims(np.broadcast_to(base, shape), axis)
    return y * (
        np.log(bases) * np.linspace(start_dot, stop_dot, num, endpoint, axis=axis)
        + exponents * np.expand_dims(base_dot, axis) / bases
    )


@array_rule(np.geomspace, operands="start stop")
def _(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    if y.dtype.kind == "c":
        return NotImplemented
    if y.dtype.kind != "f":
        return y, lambda y_bar: (None,)

    def geomspace_back(y_bar):
        start_bar, stop_bar = _ends(y_bar * y, _ramp(num, endpoint, y.ndim, axis), axis)
        return None, project(start_bar / start, start), project(stop_bar / stop, stop)

    return y, geomspace_back


@array_frule(np.geomspace, operands="start stop")
def _(dots, y, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    if y.dtype.kind == "c":
        return NotImplemented
    ratios = dense(dots[0], start) / np.asarray(start), dense(dots[1], stop) / np.asarray(stop)
    return y * np.linspace(*ratios, num, endpoint, axis=axis)


def _arange(y: Any, start: Any, step: Any) -> Any:
    """Return the pullback to start and step; the stop only determines the number of elements."""

    def arange_back(y_bar):
        start_bar = None if start is None else project(np.sum(y_bar), start)
        steps = np.sum(y_bar * np.arange(y_bar.size))
        return start_bar, None if step is None else project(steps, step)

    return (lambda y_bar: (None, None)) if severed(y, start or 0, step or 1) else arange_back


@array_rule(np.arange, operands="start_or_stop stop step", nested=False)
def _(start_or_stop, stop=None, step=None, *, dtype=None):
    if any(as_numeric(x) is None for x in (start_or_stop, stop, step) if x is not None):
        return NotImplemented
    y = np.arange(start_or_stop, stop, 1 if step is None else step, dtype=dtype)
    back = _arange(y, None if stop is None else start_or_stop, step)

    def arange_back(y_bar):
        start_bar, step_bar = back(y_bar)
        return None, start_bar, None, step_bar

    return y, arange_back


@array_rule(np.arange, operands="start step", nested=False)
def _(*, start=None, stop=None, step=None, dtype=None):
    """Take keywords, among which `start` is the start even without a `stop`."""
    if any(as_numeric(x) is None for x in (start, stop, step) if x is not None):
        return NotImplemented
    named = {name: value for name, value in (("stop", stop), ("step", step)) if value is not None}
    y = arange(**({} if start is None else {"start": start}), **named, dtype=dtype)
    back = _arange(y, start, step)
    return y, lambda y_bar: (None, *back(y_bar))


@array_frule(np.arange, operands="start stop step")
def _(dots, y, start=None, stop=None, step=None, *, dtype=None):
    start_dot = 0.0 if stop is None else dense(dots[0], start)
    return start_dot + dense(dots[2], step) * np.arange(y.size)


@array_rule(np.vander, operands="x")
def _(x, N=None, increasing=False):
    y = np.vander(x, N, increasing)

    def vander_back(y_bar):
        powers = np.arange(y.shape[1]) if increasing else np.arange(y.shape[1])[::-1]
        slopes = np.asarray(x)[:, None] ** np.maximum(powers - 1, 0)
        return None, np.sum(y_bar * np.conj(slopes * powers), axis=1)

    return y, vander_back


@array_frule(np.vander, operands="x")
def _(dots, y, x, N=None, increasing=False):
    powers = np.arange(y.shape[1]) if increasing else np.arange(y.shape[1])[::-1]
    slopes = np.asarray(x)[:, None] ** np.maximum(powers - 1, 0) * powers
    return dots[0][:, None] * slopes
