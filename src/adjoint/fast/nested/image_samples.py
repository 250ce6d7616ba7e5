"""Splines of `scipy.ndimage` at other points, in terms of reads of the array: the definitions that
programs inline. SciPy's Python code is followed down to the compiled functions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import ndimage, special

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.ndimage.kernels import spline_coefficients
from adjoint.rules.scipy.ndimage.knots import knots
from adjoint.rules.scipy.ndimage.spline_coefficients import coefficients
from adjoint.rules.scipy.ndimage.spline_samples import affinely_sampled, sampled, sampled_on_grid


@definition(coefficients)
def _coefficients(input, order, axis, dtype, mode):
    if input.dtype != np.float64 or dtype != np.float64:
        raise TypeError("numbers of another precision")
    return spline_coefficients(input, order, axis, mode)


@result_like(lambda spline, coordinates, *options: coordinates[0])
@non_differentiable
def _value(spline: Any, coordinates: Any, *options: Any) -> Any:
    return sampled(spline, np.asarray(coordinates), np.float64, *options)


@result_like(lambda spline, matrix, shift, shape, *options: np.empty(shape))
@non_differentiable
def _value_of_matrix(spline: Any, matrix: Any, shift: Any, shape: Any, *options: Any) -> Any:
    rows, offset = np.ascontiguousarray(matrix), np.ascontiguousarray(shift)
    return affinely_sampled(spline, rows, offset, shape, np.float64, *options)


@result_like(lambda spline, zoom, shift, shape, *options: np.empty(shape))
@non_differentiable
def _value_on_grid(spline: Any, zoom: Any, shift: Any, shape: Any, *options: Any) -> Any:
    factors, offset = (None if x is None else np.ascontiguousarray(x) for x in (zoom, shift))
    return sampled_on_grid(spline, factors, offset, shape, np.float64, *options)


def _sums(spline, axes, order, cval):
    """Return the sum over the knots around each point, and the constant beyond the edges."""
    y = 0.0
    for taps in itertools.product(range(order + 1), repeat=len(axes)):
        part = spline[tuple([axis.places[k] for k, axis in zip(taps, axes, strict=True)])]
        for k, axis in zip(taps, axes, strict=True):
            part = part * axis.weights[k]
        y = y + part
    if cval != 0.0:
        y = y + cval * (1.0 - math.prod([axis.share for axis in axes]))
    return y


@definition(sampled)
def _sampled(spline, coordinates, dtype, order, mode, cval, npad):
    if spline.dtype != np.float64 or dtype != np.float64:
        raise TypeError("numbers of another precision")
    value = _value(spline, coordinates, order, mode, cval, npad)
    axes = [knots(coordinates[i], spline.shape[i], order, mode, npad) for i in range(spline.ndim)]
    return with_derivative(value, _sums(spline, axes, order, cval))


@definition(affinely_sampled)
def _affinely_sampled(spline, matrix, shift, shape, dtype, order, mode, cval, npad):
    if spline.dtype != np.float64 or dtype != np.float64:
        raise TypeError("numbers of another precision")
    lines = []
    for i in range(spline.ndim):
        line = 0.0
        for axis, n in enumerate(shape):
            positions = np.arange(n) * 1.0
            line = (
                line
                + np.reshape(positions, (-1, *(1,) * (len(shape) - 1 - axis))) * matrix[i, axis]
            )
        lines.append(line + shift[i])
    axes = [knots(line, n, order, mode, npad) for line, n in zip(lines, spline.shape, strict=True)]
    value = _value_of_matrix(spline, matrix, shift, shape, order, mode, cval, npad)
    return with_derivative(value, _sums(spline, axes, order, cval))


@definition(sampled_on_grid)
def _sampled_on_grid(spline, zoom, shift, shape, dtype, order, mode, cval, npad, grid_mode):
    if spline.dtype != np.float64 or dtype != np.float64:
        raise TypeError("numbers of another precision")
    half = 0.5 if grid_mode else 0.0
    share: Any = 1.0
    y = spline
    for i, n in enumerate(shape):
        at = np.arange(n) * 1.0
        if shift is not None:
            at = at + shift[i]
        if zoom is not None:
            at = (at + half) * zoom[i] - half
        line = knots(at, spline.shape[i], order, mode, npad)
        after = (-1, *(1,) * (len(shape) - 1 - i))
        total: Any = 0.0
        for k in range(order + 1):
            total = total + np.take(y, line.places[k], i) * np.reshape(line.weights[k], after)
        y = total
        share = share * np.reshape(line.share, after)
    if cval != 0.0:
        y = y + cval * (1.0 - share)
    value = _value_on_grid(spline, zoom, shift, shape, order, mode, cval, npad, grid_mode)
    return with_derivative(value, y)


@definition(ndimage.rotate)
def _rotate(
    input,
    angle,
    axes=(1, 0),
    reshape=True,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    if reshape or input.ndim != 2 or axes not in ((0, 1), (1, 0)) or output is not None:
        raise ValueError("a result of another shape")
    c, s = special.cosdg(angle), special.sindg(angle)
    turn = np.array([[c, s], [-s, c]])
    m, n = input.shape
    centre = np.array([(m - 1) / 2, (n - 1) / 2])
    offset = centre - turn @ centre
    return ndimage.affine_transform(input, turn, offset, (m, n), None, order, mode, cval, prefilter)
