"""Rules of Fourier filters of `scipy.ndimage`: real factors, and the shift."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from adjoint.rulekit.refusal import NoDerivative, may_be_nonzero, refusal, refused_bar
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.ndimage.boundaries import returning

SIZES = NoDerivative("the sizes", "has no rule but for the Gaussian")
GAUSSIAN = 0

_apply: Any = _nd_image.fourier_filter
_move: Any = _nd_image.fourier_shift


def _frequencies(shape: tuple[int, ...], n: int, axis: int, along: int) -> Any:
    """Return angular frequencies along one axis; a half spectrum belongs to `n` elements."""
    length = shape[along]
    half = n >= 0 and along == axis
    at: Any = np.arange(length) / n if half else np.fft.fftfreq(length)
    return np.reshape(2 * np.pi * at, (-1, *(1,) * (len(shape) - 1 - along)))


# ---- real factors --------------------------------------------------------------------------------


@returning(_apply, 4)
def filtered_spectrum(input, sizes, n, axis, dtype, kind):
    """Return the spectrum times that of a Gaussian, a box or an ellipsoid of these sizes."""


@matrix_rule(filtered_spectrum, "input sizes")
def _(call: Call) -> Any:
    x, sizes, n, axis, kind = call.input, call.sizes, call.n, call.axis, call.kind

    def along(i: int) -> Any:
        """Return the relative derivative of the factors in one size."""
        return -sizes[i] * _frequencies(x.shape, n, axis, i) ** 2

    def back(y_bar: Any) -> Any:
        x_bar = filtered_spectrum(y_bar, sizes, n, axis, y_bar.dtype, kind)
        if kind != GAUSSIAN:
            return x_bar, refused_bar(_apply, SIZES, y_bar)
        products = np.real(np.conj(y_bar) * call.y)
        return x_bar, np.array([np.sum(products * along(i)) for i in range(x.ndim)])

    def push(x_dot: Any, sizes_dot: Any) -> Any:
        total: Any = 0.0
        if x_dot is not None:
            total = filtered_spectrum(x_dot, sizes, n, axis, call.dtype, kind)
        if sizes_dot is not None and kind != GAUSSIAN and may_be_nonzero(sizes_dot):
            raise refusal(_apply, SIZES)
        if sizes_dot is not None and kind == GAUSSIAN:
            y = filtered_spectrum(x, sizes, n, axis, call.dtype, kind)
            for i in range(x.ndim):
                total = total + y * along(i) * sizes_dot[i]
        return total

    return back, push


# ---- a shift -------------------------------------------------------------------------------------


@returning(_move, 4)
def moved_spectrum(input, shift, n, axis, dtype):
    """Return the spectrum of the signal moved by `shift`."""


@matrix_rule(moved_spectrum, "input shift")
def _(call: Call) -> Any:
    x, shift, n, axis = call.input, call.shift, call.n, call.axis

    def back(y_bar: Any) -> Any:
        x_bar = moved_spectrum(y_bar, -shift, n, axis, y_bar.dtype)
        products = np.imag(np.conj(y_bar) * call.y)
        of_shift = [np.sum(products * _frequencies(x.shape, n, axis, i)) for i in range(x.ndim)]
        return x_bar, np.array(of_shift)

    def push(x_dot: Any, shift_dot: Any) -> Any:
        total: Any = 0.0
        if x_dot is not None:
            total = moved_spectrum(x_dot, shift, n, axis, call.dtype)
        if shift_dot is not None:
            y = moved_spectrum(x, shift, n, axis, call.dtype)
            for i in range(x.ndim):
                total = total - 1j * y * _frequencies(x.shape, n, axis, i) * shift_dot[i]
        return total

    return back, push
