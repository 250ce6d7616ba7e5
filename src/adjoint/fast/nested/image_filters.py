"""Linear filters of `scipy.ndimage` in terms of one function: the definitions that programs
inline. Those that SciPy composes of these in Python are followed."""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from scipy.ndimage import _filters

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rules.scipy.ndimage.kernels import averaged, correlated

_CODES = {
    "nearest": 0,
    "wrap": 1,
    "reflect": 2,
    "grid-mirror": 2,
    "mirror": 3,
    "constant": 4,
    "grid-wrap": 5,
    "grid-constant": 6,
}


def _checked(input, mode, cval):
    x = np.asarray(input)
    if x.dtype not in (np.float64, np.float32) or x.ndim == 0:
        raise TypeError("numbers of another kind")
    if cval != 0.0 and mode in ("constant", "grid-constant"):
        raise ValueError("a constant beyond the edges")
    return x


def _real(weights):
    w = np.asarray(weights)
    if w.dtype.kind not in "fi":
        raise TypeError("weights of another kind")
    return w * 1.0


def _written(y, output):
    if output is None:
        return y
    if isinstance(output, np.dtype):
        if output != y.dtype:
            raise TypeError("a result of another precision")
        return y
    if not isinstance(output, np.ndarray) or output.shape != y.shape or output.dtype != y.dtype:
        raise TypeError("a result of another kind")
    output[...] = y
    return output


@definition(ndimage.correlate1d)
def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x, w = _checked(input, mode, cval), _real(weights)
    size = len(w)
    if w.ndim != 1 or size < 1 or not -(size // 2) <= origin <= (size - 1) // 2:
        raise ValueError("no filter weights, or an origin beyond them")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError("an axis out of bounds")
    return _written(correlated(x, w, axis % x.ndim, _CODES[mode], origin), output)


@definition(ndimage.uniform_filter1d)
def _uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x = _checked(input, mode, cval)
    if size < 1 or not 0 <= size // 2 + origin < size or not -x.ndim <= axis < x.ndim:
        raise ValueError("an origin, or an axis, out of bounds")
    return _written(averaged(x, size, axis % x.ndim, _CODES[mode], origin), output)


@definition(_filters._correlate_or_convolve)
def _correlate_or_convolve(input, weights, output, mode, cval, origin, convolution, axes):
    if not isinstance(mode, str) or (axes is not None and len(axes) != np.ndim(input)):
        raise ValueError("several modes, or some axes only")
    x, w = _checked(input, mode, cval), _real(weights)
    if w.ndim != x.ndim or 0 in w.shape:
        raise RuntimeError("weights of another rank")
    origins = [origin] * x.ndim if isinstance(origin, int) else list(origin)
    if convolution:
        w = np.flip(w)
        origins = [-k - (1 - n % 2) for k, n in zip(origins, w.shape, strict=True)]
    for k, n in zip(origins, w.shape, strict=True):
        if not -(n // 2) <= k <= (n - 1) // 2:
            raise ValueError("an origin beyond the weights")
    return _written(correlated(x, w, None, _CODES[mode], tuple(origins)), output)
