"""Rules of recursive filters of `scipy.signal`, in signal, coefficients and states.

A filter solves ``b * x − a * y + zi = 0``, followed by the final state after the end of the signal;
* is convolution. The adjoint is the same recursion backwards in time, started with the cotangent of
the final state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal as ss

from adjoint.rulekit.refusal import NoDerivative, refusal
from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.numpy.transposition import forward_from_reverse
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, refused_pair

ONE = np.ones(1)

# ---- one filter, in time along the last axis -----------------------------------------------------


def _normalized(b: Any, a: Any) -> tuple[Any, Any]:
    return b / a[0], a / a[0]


def _of_given(b: Any, a: Any, b_bar: Any, a_bar: Any) -> tuple[Any, Any]:
    """Return cotangents of coefficients from those of normalized ones (``a[0]`` constant)."""
    scale, (c, d) = np.conj(a[0]), _normalized(b, a)
    first = -(np.vdot(c, b_bar) + np.vdot(d[1:], a_bar[1:]))
    return b_bar / scale, np.concatenate([first[None], a_bar[1:]]) / scale


def _moved(b: Any, a: Any, b_dot: Any, a_dot: Any) -> tuple[Any, Any]:
    """Return the tangents of the normalized coefficients."""
    c, d = _normalized(b, a)
    first = 0.0 if a_dot is None else a_dot[0]
    moved_b = -c * first if b_dot is None else b_dot - c * first
    moved_a = np.zeros(len(a)) if a_dot is None else a_dot - d * first
    return moved_b / a[0], moved_a / a[0]


def _fir(h: Any, x: Any, after: int) -> Any:
    """Return the convolution with `h`, up to `after` samples after the end of the signal."""
    if x.ndim == 1:
        return np.concatenate([np.convolve(h, x), np.zeros(after + 1 - len(h))])
    return ss.lfilter(h, np.ones(1), np.concatenate([x, np.zeros((*x.shape[:-1], after))], -1))


def _lagged(x: Any, bars: Any, lags: int) -> Any:
    """Return the summed products of a signal with `bars` at each lag."""
    if x.ndim == 1:
        return np.correlate(bars, x, "valid")[:lags]
    n = x.shape[-1]
    lines, later = np.conj(x).reshape(-1, n), bars.reshape(-1, bars.shape[-1])
    return np.array([np.einsum("ij,ij->", lines, later[:, k : k + n]) for k in range(lags)])


def pull(b: Any, a: Any, x: Any, y: Any, y_bar: Any, zf_bar: Any) -> tuple[Any, Any, Any, Any]:
    """Return the cotangents of the coefficients, the signal and the initial state."""
    c, d = _normalized(b, a)
    n, after = x.shape[-1], max(len(a), len(b)) - 1
    poles = np.conj(d)
    bars = y_bar[..., ::-1]
    if zf_bar is None:
        zf_bar = np.zeros((*x.shape[:-1], after))
        bars = ss.lfilter(np.ones(1), poles, bars)
    elif len(a) > 1:
        start = [-np.sum(poles[k:] * zf_bar[..., : len(a) - k], -1) for k in range(1, len(a))]
        bars, _ = ss.lfilter(np.ones(1), poles, bars, zi=np.stack(start, -1))
    bars = np.concatenate([bars[..., ::-1], zf_bar], -1)
    if x.ndim == 1:
        x_bar = np.correlate(bars, c, "valid")[:n]
    else:
        x_bar = ss.lfilter(np.conj(c), np.ones(1), bars[..., ::-1])[..., ::-1][..., :n]
    c_bar, d_bar = _lagged(x, bars, len(b)), -_lagged(y, bars, len(a))
    b_bar, a_bar = _of_given(b, a, c_bar, d_bar)
    return b_bar, a_bar, x_bar, bars[..., :after]


def push(b: Any, a: Any, x: Any, y: Any, dots: Any, stateful: bool) -> tuple[Any, Any]:
    """Return the tangents of the filtered signal and of the final state, if it is `stateful`."""
    b_dot, a_dot, x_dot, zi_dot = dots
    c, d = _normalized(b, a)
    n, after = x.shape[-1], max(len(a), len(b)) - 1
    driven: Any = np.zeros((*x.shape[:-1], n + after))
    if x_dot is not None:
        driven = driven + _fir(c, x_dot, after)
    if b_dot is not None or a_dot is not None:
        c_dot, d_dot = _moved(b, a, b_dot, a_dot)
        driven = driven + _fir(c_dot, x, after) - _fir(d_dot, y, after)
    if zi_dot is not None:
        zi_dot = np.broadcast_to(zi_dot, (*x.shape[:-1], after))
        driven = driven + np.concatenate([zi_dot, np.zeros(x.shape)], -1)
    if not stateful:
        return ss.lfilter(np.ones(1), d, driven[..., :n]), None
    if len(a) == 1:
        return driven[..., :n], driven[..., n:]
    state = np.zeros((*x.shape[:-1], len(a) - 1))
    y_dot, rest = ss.lfilter(np.ones(1), d, driven[..., :n], zi=state)
    rest = np.concatenate([rest, np.zeros((*x.shape[:-1], after + 1 - len(a)))], -1)
    return y_dot, driven[..., n:] + rest


# ---- the public functions ------------------------------------------------------------------------


def _last(x: Any, axis: int) -> Any:
    return x if x is None or x.ndim == 1 else np.moveaxis(x, axis, -1)


def _back(x: Any, axis: int) -> Any:
    return x if x.ndim == 1 else np.moveaxis(x, -1, axis)


@matrix_rule(ss.lfilter, "b a x zi")
def _(call: Call) -> Any:
    b, a, axis, stateful = np.atleast_1d(call.b), np.atleast_1d(call.a), call.axis, True
    if call.zi is None:
        stateful = False
    if call.x.size == 0 or b.ndim != 1 or a.ndim != 1:
        return NotImplemented
    x, y = _last(call.x, axis), _last(call.y[0] if stateful else call.y, axis)

    def back(result_bar: Any) -> Any:
        y_bar, zf_bar = result_bar if stateful else (result_bar, None)
        y_bar = np.zeros(x.shape) if y_bar is None else _last(y_bar, axis)
        b_bar, a_bar, x_bar, zi_bar = pull(b, a, x, y, y_bar, _last(zf_bar, axis))
        x_bar = _back(x_bar, axis)
        return b_bar, a_bar, x_bar, _back(zi_bar, axis) if stateful else None

    def pushed(b_dot: Any, a_dot: Any, x_dot: Any, zi_dot: Any) -> Any:
        b_dot = None if b_dot is None else np.atleast_1d(b_dot)
        a_dot = None if a_dot is None else np.atleast_1d(a_dot)
        dots = (b_dot, a_dot, _last(x_dot, axis), _last(zi_dot, axis))
        y_dot, zf_dot = push(b, a, x, y, dots, stateful)
        y_dot = _back(y_dot, axis)
        return (y_dot, _back(zf_dot, axis)) if stateful else y_dot

    return back, pushed


@matrix_rule(ss.sosfilt, "sos x zi")
def _(call: Call) -> Any:
    """Apply one section after the other; the fourth column must be ones and has no derivative."""
    sos, axis, stateful = np.atleast_2d(call.sos), call.axis, True
    if call.zi is None:
        stateful = False
    if call.x.size == 0 or sos.ndim != 2:
        return NotImplemented
    axis = axis % call.x.ndim
    signals = [call.x]
    for s in range(len(sos)):
        state = {"zi": call.zi[s : s + 1]} if stateful else {}
        y = ss.sosfilt(sos[s : s + 1], signals[-1], axis, **state)
        signals.append(y[0] if stateful else y)
    lines = [_last(x, axis) for x in signals]

    def back(result_bar: Any) -> Any:
        x_bar, zf_bar = result_bar if stateful else (result_bar, None)
        x_bar = np.zeros(lines[0].shape) if x_bar is None else _last(x_bar, axis)
        sos_bar, zi_bar = [], []
        for s in reversed(range(len(sos))):
            end = None if zf_bar is None else _last(zf_bar[s], axis)
            around = lines[s], lines[s + 1]
            b_bar, a_bar, x_bar, state_bar = pull(sos[s, :3], sos[s, 3:], *around, x_bar, end)
            sos_bar.append(np.concatenate([b_bar, np.zeros(1), a_bar[1:]]))
            zi_bar.append(_back(state_bar, axis))
        of_sos = np.reshape(np.stack(sos_bar[::-1]), call.sos.shape)
        return of_sos, _back(x_bar, axis), np.stack(zi_bar[::-1]) if stateful else None

    def pushed(sos_dot: Any, x_dot: Any, zi_dot: Any) -> Any:
        dot = _last(x_dot, axis)
        ends: list[Any] = []
        for s in range(len(sos)):
            b_dot = a_dot = start = None
            if sos_dot is not None:
                section = np.reshape(sos_dot, sos.shape)[s]
                b_dot, a_dot = section[:3], np.concatenate([np.zeros(1), section[4:]])
            if zi_dot is not None:
                start = _last(zi_dot[s], axis)
            around = lines[s], lines[s + 1]
            dots = (b_dot, a_dot, dot, start)
            dot, end = push(sos[s, :3], sos[s, 3:], *around, dots, stateful)
            ends.append(_back(end, axis) if stateful else None)
        y_dot = _back(dot, axis)
        return (y_dot, np.stack(ends)) if stateful else y_dot

    return back, pushed


# ---- states --------------------------------------------------------------------------------------

LEADING = NoDerivative("the first denominator coefficient", "does not exist where that is 0")


def _padded(b: Any, n: int) -> Any:
    return np.concatenate([b, np.zeros(n - len(b))]) if len(b) < n else b


@matrix_rule(ss.lfilter_zi, "b a")
def _(call: Call) -> Any:
    """Return the state that a constant signal preserves. In normalized coefficients, ``zi[i] +
    a[i+1] (zi[0] + b[0]) = zi[i+1] + b[i+1]``."""
    b, a, zi = np.atleast_1d(call.b), np.atleast_1d(call.a), call.y
    if a[0] == 0:
        return refused_pair(refusal(ss.lfilter_zi, LEADING))
    n = max(len(a), len(b))
    if n == 1:
        return NotImplemented
    c, d = _normalized(b, a)
    c, d = _padded(c, n), _padded(d, n)
    matrix = np.eye(n - 1) - np.eye(n - 1, k=1)
    matrix = matrix + d[1:, None] * (np.arange(n - 1) == 0)

    def back(zi_bar: Any) -> Any:
        bars = np.linalg.solve(np.conj(matrix.T), zi_bar)
        c_bar = np.concatenate([-np.vdot(d[1:], bars)[None], bars])
        d_bar = np.concatenate([np.zeros(1), -bars * np.conj(zi[0] + c[0])])
        return _of_given(b, a, c_bar[: len(b)], d_bar[: len(a)])

    return back


DIVIDES: bool = ss.lfiltic(ONE, np.array([2.0, 1.0]), ONE)[0] == -0.5
"""Whether `lfiltic` normalizes; older versions of SciPy assume ``a[0] == 1``."""


def _fitted(u: Any, n: int) -> Any:
    return _padded(u, n)[:n]


def _pulled_states(h: Any, u: Any, bar: Any) -> tuple[Any, Any]:
    """Return the cotangents of `h` and `u` from that of ``Σ h[m + 1 + i] u[i]`` for all m."""
    n = len(h) - 1
    if not n:
        return np.zeros(1), np.zeros(len(u))
    bar, past = bar[:n], _fitted(u, n)
    h_bar = np.concatenate([np.zeros(1), np.convolve(bar, np.conj(past))[:n]])
    u_bar = np.convolve(bar[::-1], np.conj(h[1:]))[n - 1 : 2 * n - 1]
    return h_bar, _fitted(u_bar, len(u))


def _vectors(*operands: Any) -> list[Any]:
    return [None if x is None else np.atleast_1d(np.asarray(x)) for x in operands]


@array_rule(ss.lfiltic, operands="b a y x")
def _(b, a, y, x=None):
    zi = ss.lfiltic(b, a, y, x)
    b, a, y, x = _vectors(b, a, y, x)
    if any(part is not None and part.ndim != 1 for part in (b, a, y, x)):
        return NotImplemented

    def lfiltic_back(zi_bar):
        bar = zi_bar / np.conj(a[0]) if DIVIDES else zi_bar
        b_bar, x_bar = np.zeros(len(b)), None
        if x is not None:
            b_bar, x_bar = _pulled_states(b, x, bar)
        a_bar, y_bar = _pulled_states(a, y, -bar)
        if DIVIDES:
            a_bar = a_bar - np.vdot(zi, bar) * (np.arange(len(a)) == 0)
        return None, b_bar, a_bar, y_bar, x_bar

    return zi, lfiltic_back


forward_from_reverse(ss.lfiltic)
