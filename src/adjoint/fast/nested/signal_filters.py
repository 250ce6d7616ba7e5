"""Compiled and composed steps of `scipy.signal` in terms of NumPy: the definitions that programs
inline."""

from __future__ import annotations

import math

import numpy as np
from scipy import ndimage, signal
from scipy.signal import _peak_finding_utils, _upfirdn

from adjoint.fast.evaluate.callees.constant_calls import designs
from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


def _edge_weights(window_length, polyorder, deriv):
    """Return, by row, the weights of the samples of a window in each of its smoothed samples."""
    return signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, axis=0)


designs.add(_edge_weights)


@result_like(lambda x, *options: x)
@non_differentiable
def _smoothed(x, *options):
    return signal.savgol_filter(x, *options)


@definition(signal.savgol_filter)
def savgol_filter(
    x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0
):
    x, scale = np.asarray(x), delta**deriv
    if x.dtype != np.float64:
        raise TypeError("numbers of another kind")
    value = _smoothed(x, window_length, polyorder, deriv, delta, axis, mode, cval)
    weights = signal.savgol_coeffs(window_length, polyorder, deriv)
    if mode != "interp":
        smooth = ndimage.convolve1d(x, weights, axis, mode=mode, cval=cval)
        return with_derivative(value, smooth / scale)
    half, n = window_length // 2, x.shape[axis]
    if window_length > n:
        raise ValueError("a window that is longer than the signal")
    of_ends = _edge_weights(window_length, polyorder, deriv)
    middle = ndimage.convolve1d(x, weights, axis, mode="constant")
    samples, middle = np.moveaxis(x, axis, -1), np.moveaxis(middle, axis, -1)
    first = samples[..., :window_length] @ of_ends[:half].T
    last = samples[..., n - window_length :] @ of_ends[window_length - half :].T
    smooth = np.concatenate([first, middle[..., half : n - half], last], -1)
    return with_derivative(value, np.moveaxis(smooth, -1, axis) / scale)


@definition(signal.medfilt)
def medfilt(volume, kernel_size=3):
    x = np.atleast_1d(volume)
    window = (kernel_size,) * x.ndim if np.ndim(kernel_size) == 0 else tuple(kernel_size)
    for k, n in zip(window, x.shape, strict=True):
        if k % 2 == 0 or k > n:
            raise ValueError("a window of even length, or longer than the signal")
    return ndimage.rank_filter(x, math.prod(window) // 2, window, mode="constant")


@definition(signal.medfilt2d)
def medfilt2d(input, kernel_size=3):
    if np.ndim(input) != 2:
        raise ValueError("no image")
    return signal.medfilt(input, kernel_size)


@definition(_upfirdn._output_len)
def _output_len(len_h, in_len, up, down):
    return ((in_len - 1) * up + len_h - 1) // down + 1


@definition(_peak_finding_utils._local_maxima_1d)
def _local_maxima_1d(x):
    if np.any(x[1:] == x[:-1]):
        raise ValueError("a plateau")
    peaks = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])) + 1
    return peaks, peaks.copy(), peaks.copy()


@result_like(lambda peaks, priority, distance: peaks > 0)
@non_differentiable
def _far_enough(peaks, priority, distance):
    return _peak_finding_utils._select_by_peak_distance(peaks, priority, distance)


@definition(_peak_finding_utils._select_by_peak_distance)
def _select_by_peak_distance(peaks, priority, distance):
    return _far_enough(peaks, priority, distance)
