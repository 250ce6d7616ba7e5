"""Rules of `numpy.fft`: each transform is linear, and its transpose is a transform the other way.

The unscaled Fourier matrix is symmetric, so its conjugate transpose is the unscaled inverse: the
transpose of a transform scaled by 1, 1/√n or 1/n is the inverse one scaled by 1, 1/√n or 1/n, that
is with "forward" in place of "backward". Cutting and padding are each other's transposes. Half a
spectrum stands for all of it: the elements in between count twice, the first one and, for even n,
the last one once (Brigham, *The fast Fourier transform and its applications* (1988), chapter 9).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from adjoint.rulekit.registry import frule
from adjoint.rules.numpy.operands import array_rule, linear_rule
from adjoint.rules.numpy.protocols.out import position_of_output, take_output

fft: Any = np.fft

NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
OPPOSITE: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


def _register(f: Any, back: Any, alias: bool = False) -> None:
    linear_rule(f, back, alias=alias)
    if NUMPY_2 and not _ignores_output(f):
        take_output(f, f, position_of_output(f, "out"))


def _ignores_output(f: Any) -> bool:
    x = np.ones((2, 2))
    output = np.empty_like(f(x))
    return f(x, out=output) is not output


# ---- one axis ------------------------------------------------------------------------------------


def resized(bar: Any, length: int, axis: int) -> Any:
    """Apply the transpose of cutting an axis of that length, or padding it with zeros."""
    found = bar.shape[axis]
    if found == length:
        return bar
    moved = np.moveaxis(bar, axis, -1)
    if found > length:
        return np.moveaxis(moved[..., :length], -1, axis)
    padded = np.zeros((*moved.shape[:-1], length), bar.dtype)
    padded[..., :found] = moved
    return np.moveaxis(padded, -1, axis)


def _counted(bar: Any, n: int, axis: int, inner: float) -> Any:
    """Multiply half a spectrum of `n` elements by `inner`, except elements that occur once."""
    factors = np.full(n // 2 + 1, inner, bar.real.dtype)
    factors[0] = 1
    if n % 2 == 0:
        factors[-1] = 1
    shape = [1] * bar.ndim
    shape[axis] = -1
    return bar * factors.reshape(shape)


def fft_bar(y_bar: Any, length: int, n: int, axis: int, norm: Any) -> Any:
    return resized(fft.ifft(y_bar, axis=axis, norm=OPPOSITE[norm]), length, axis)


def ifft_bar(y_bar: Any, length: int, n: int, axis: int, norm: Any) -> Any:
    return resized(fft.fft(y_bar, axis=axis, norm=OPPOSITE[norm]), length, axis)


def rfft_bar(y_bar: Any, length: int, n: int, axis: int, norm: Any) -> Any:
    half = _counted(y_bar, n, axis, 0.5)
    return resized(fft.irfft(half, n, axis, OPPOSITE[norm]), length, axis)


def irfft_bar(y_bar: Any, length: int, n: int, axis: int, norm: Any) -> Any:
    half = fft.rfft(y_bar, axis=axis, norm=OPPOSITE[norm])
    return resized(_counted(half, n, axis, 2), length, axis)


def hfft_bar(y_bar: Any, length: int, n: int, axis: int, norm: Any) -> Any:
    return np.conj(irfft_bar(y_bar, length, n, axis, OPPOSITE[norm]))


def ihfft_bar(y_bar: Any, length: int, n: int, axis: int, norm: Any) -> Any:
    return rfft_bar(np.conj(y_bar), length, n, axis, OPPOSITE[norm])


def _one_axis(f: Any, transpose: Any, to_real: bool) -> None:
    def back(y_bar, shape, n=None, axis=-1, norm=None, out=None):
        length = shape[axis]
        if n is None:
            n = 2 * (length - 1) if to_real else length
        return transpose(y_bar, length, n, axis, norm)

    _register(f, back)


# ---- several axes --------------------------------------------------------------------------------


class Step(NamedTuple):
    """One of several transforms: its transpose, and the lengths of the axis before and inside."""

    transpose: Any
    length: int
    n: int
    axis: int


def _order(shape: tuple[int, ...], s: Any, axes: Any) -> list[tuple[Any, int]]:
    """Return length and axis of each transform; None stands for the current length of the axis."""
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    given = [-1] * len(axes) if s is None else s
    return [
        (None if n is None else shape[axis] if n == -1 else int(n), int(axis) % len(shape))
        for n, axis in zip(given, axes, strict=True)
    ]


def _step(transpose: Any, lengths: list[int], n: Any, axis: int) -> Step:
    """Return a step after which the axis has the length of the transform; update `lengths`."""
    step = Step(transpose, lengths[axis], n or lengths[axis], axis)
    lengths[axis] = step.n
    return step


def _complex_steps(transpose: Any, shape: Any, s: Any, axes: Any) -> list[Step]:
    lengths, order = list(shape), _order(shape, s, axes)
    return [_step(transpose, lengths, n, axis) for n, axis in reversed(order)]


def _from_real_steps(shape: Any, s: Any, axes: Any) -> list[Step]:
    lengths = list(shape)
    *others, (n, last) = _order(shape, s, axes)
    first = _step(rfft_bar, lengths, n, last)
    lengths[last] = first.n // 2 + 1
    if NUMPY_2:  # NumPy 1 reverses the order, which matters only for repeated axes
        others.reverse()
    return [first, *(_step(fft_bar, lengths, n, axis) for n, axis in others)]


def _to_real_steps(shape: Any, s: Any, axes: Any) -> list[Step]:
    lengths = list(shape)
    *others, (n, last) = _order(shape, s, axes)
    steps = [_step(ifft_bar, lengths, m, axis) for m, axis in others]
    n = 2 * (shape[last] - 1) if s is None else n or 2 * (lengths[last] - 1)
    return [*steps, Step(irfft_bar, lengths[last], n, last)]


def _several_axes(f: Any, steps: Any, default: Any) -> None:
    def back(y_bar, shape, s=None, axes=default, norm=None, out=None):
        for transpose, length, n, axis in reversed(steps(shape, s, axes)):
            y_bar = transpose(y_bar, length, n, axis, norm)
        return y_bar

    # a transform of no axes is its argument
    _register(f, back, alias=True)


# ---- the rules -----------------------------------------------------------------------------------

for _name, _transpose, _to_real in (
    ("fft", fft_bar, False),
    ("ifft", ifft_bar, False),
    ("rfft", rfft_bar, False),
    ("irfft", irfft_bar, True),
    ("hfft", hfft_bar, True),
    ("ihfft", ihfft_bar, False),
):
    _one_axis(getattr(fft, _name), _transpose, _to_real)


for _name, _steps in (
    ("fft", partial(_complex_steps, fft_bar)),
    ("ifft", partial(_complex_steps, ifft_bar)),
    ("rfft", _from_real_steps),
    ("irfft", _to_real_steps),
):
    _several_axes(getattr(fft, f"{_name}n"), _steps, None)
    _several_axes(getattr(fft, f"{_name}2"), _steps, (-2, -1))

linear_rule(fft.fftshift, lambda y_bar, shape, axes=None: fft.ifftshift(y_bar, axes), operand="x")
linear_rule(fft.ifftshift, lambda y_bar, shape, axes=None: fft.fftshift(y_bar, axes), operand="x")


# ---- frequencies ---------------------------------------------------------------------------------


def _frequencies(f: Any) -> None:
    """Register multiples of ``1 / (n * d)``, with a derivative in the sample spacing d."""

    @array_rule(f, operands="d")
    def _(n, d=1.0, device=None):
        y = f(n, d) if device is None else f(n, d, device)
        return y, lambda y_bar: (None, -y_bar * np.conj(y / d))

    @frule.register(f)
    def _(dots, n, d=1.0, device=None):
        y = f(n, d) if device is None else f(n, d, device)
        d_dot = dots[1] if len(dots) > 1 else None
        return y, None if d_dot is None else -y / d * d_dot


_frequencies(fft.fftfreq)
_frequencies(fft.rfftfreq)
