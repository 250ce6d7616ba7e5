"""Rules of splines of `scipy.ndimage` at other points, in spline, coordinates and constant.

A spline of order n has n − 1 continuous derivatives. At the knots of order 0 and 1 the rules return
the derivative from the right. With `mode="constant"`, a coordinate at which the result steps has
the derivative beside the step: zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import _nd_image

from adjoint.rulekit.registry import substitute
from adjoint.rules.numpy.operands import severed
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.ndimage.boundaries import constant, linear_push
from adjoint.rules.scipy.ndimage.knots import Knots, knots

# ---- at any points -------------------------------------------------------------------------------


def sampled(spline, coordinates, dtype, order, mode, cval, npad):
    """Return the spline at the coordinates along the first axis."""
    y = np.empty(np.shape(coordinates)[1:], dtype)
    _nd_image.geometric_transform(
        spline, None, coordinates, None, None, y, order, mode, cval, npad, None, None
    )
    return y


def affinely_sampled(spline, matrix, shift, shape, dtype, order, mode, cval, npad):
    """Return the spline at ``matrix @ i + shift`` for all positions i of the result."""
    y = np.empty(shape, dtype)
    _nd_image.geometric_transform(
        spline, None, None, matrix, shift, y, order, mode, cval, npad, None, None
    )
    return y


@substitute(_nd_image.geometric_transform)
def _(
    spline,
    mapping,
    coordinates,
    matrix,
    shift,
    output,
    order,
    mode,
    cval,
    npad,
    arguments,
    keywords,
):
    if mapping is None and coordinates is None:
        output[...] = affinely_sampled(
            spline, matrix, shift, output.shape, output.dtype, order, mode, cval, npad
        )
        return
    if mapping is not None:
        others, named = arguments or (), keywords or {}
        points = np.array([mapping(i, *others, **named) for i in np.ndindex(output.shape)])
        coordinates = np.reshape(points.T, (-1, *output.shape))
    output[...] = sampled(spline, coordinates, output.dtype, order, mode, cval, npad)


def _grid(matrix: Any, shift: Any, shape: tuple[int, ...]) -> Any:
    """Return the coordinates with SciPy's rounding, which decides at a knot or an edge."""
    lines = []
    for row, offset in zip(matrix, shift, strict=True):
        line: Any = 0.0
        for axis, (slope, n) in enumerate(zip(row, shape, strict=True)):
            line = line + _standing(np.arange(n, dtype=float), axis, len(shape)) * slope
        lines.append(line + offset)
    return np.stack(lines)


def _standing(values: Any, axis: int, ndim: int) -> Any:
    return np.reshape(values, (-1, *(1,) * (ndim - 1 - axis)))


def _product(factors: Any, moving: Any = None, axis: int = -1) -> Any:
    """Return the product over all axes, with `moving` as the factor of one `axis`."""
    total: Any = 1.0
    for i, factor in enumerate(factors):
        total = total * (moving if i == axis else factor)
    return total


def _taps(axes: list[Knots]) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Yield for the knots around each point their indices, weights and slopes along each axis."""
    for taps in itertools.product(*[range(len(axis.places)) for axis in axes]):
        chosen = list(zip(taps, axes, strict=True))
        places = tuple(axis.places[k] for k, axis in chosen)
        yield places, [axis.weights[k] for k, axis in chosen], [a.slopes[k] for k, a in chosen]


def _reading(call: Call, at: Any) -> Any:
    """Return the rule of the spline at coordinates `at`, which has a derivative in them."""
    spline, cval = call.spline, call.cval
    axes = [
        knots(line, n, call.order, call.mode, call.npad)
        for line, n in zip(at, spline.shape, strict=True)
    ]
    shares = [axis.share for axis in axes]

    def back(y_bar: Any) -> Any:
        y_bar = np.asarray(y_bar, np.float64)
        spline_bar, bars = np.zeros(spline.size), np.zeros(at.shape)
        for places, weights, slopes in _taps(axes):
            position = np.ravel_multi_index(places, spline.shape).ravel()
            part = (y_bar * _product(weights)).ravel()
            spline_bar += np.bincount(position, part, spline.size)
            for i, slope in enumerate(slopes):
                bars[i] += spline[places] * _product(weights, slope, i)
        for i, axis in enumerate(axes):
            bars[i] -= cval * _product(shares, axis.leaning, i)
        cval_bar = np.sum(y_bar * (1.0 - _product(shares)))
        return spline_bar.reshape(spline.shape), bars * y_bar, cval_bar

    def push(spline_dot: Any, dots: Any, cval_dot: Any) -> Any:
        form = call.order, call.mode
        run: Any = lambda x, cval: sampled(x, at, np.float64, *form, cval, call.npad)
        total = linear_push(run, spline.shape, spline_dot, cval_dot)
        if dots is not None:
            for places, weights, slopes in _taps(axes):
                for i, slope in enumerate(slopes):
                    total = total + spline[places] * _product(weights, slope, i) * dots[i]
            for i, axis in enumerate(axes):
                total = total - cval * _product(shares, axis.leaning, i) * dots[i]
        return total

    return back, push


@matrix_rule(sampled, "spline coordinates cval")
def _(call: Call) -> Any:
    return constant(3) if severed(call.y, 0.5) else _reading(call, call.coordinates)


@matrix_rule(affinely_sampled, "spline matrix shift cval")
def _(call: Call) -> Any:
    if severed(call.y, 0.5):
        return constant(4)
    pull, push = _reading(call, _grid(call.matrix, call.shift, call.shape))

    def back(y_bar: Any) -> Any:
        spline_bar, bars, cval_bar = pull(y_bar)
        positions, axes = np.indices(call.shape), tuple(range(1, 1 + len(call.shape)))
        matrix_bar = np.tensordot(bars, positions, (axes, axes))
        return spline_bar, matrix_bar, np.sum(bars, axes), cval_bar

    def push_matrix(spline_dot: Any, matrix_dot: Any, shift_dot: Any, cval_dot: Any) -> Any:
        dots = None
        if matrix_dot is not None or shift_dot is not None:
            matrix_dot = np.zeros(call.matrix.shape) if matrix_dot is None else matrix_dot
            shift_dot = np.zeros(call.shift.shape) if shift_dot is None else shift_dot
            dots = _grid(matrix_dot, shift_dot, call.shape)
        return push(spline_dot, dots, cval_dot)

    return back, push_matrix


# ---- at the points of a grid ---------------------------------------------------------------------


def sampled_on_grid(spline, zoom, shift, shape, dtype, order, mode, cval, npad, grid_mode):
    """Return the spline at ``(i + shift) * zoom`` on each axis; `grid_mode` counts from edges."""
    y = np.empty(shape, dtype)
    _nd_image.zoom_shift(spline, zoom, shift, y, order, mode, cval, npad, grid_mode)
    return y


@substitute(_nd_image.zoom_shift)
def _(spline, zoom, shift, output, order, mode, cval, npad, grid_mode):
    output[...] = sampled_on_grid(
        spline, zoom, shift, output.shape, output.dtype, order, mode, cval, npad, grid_mode
    )


class Line(NamedTuple):
    """The coordinates along one axis, their derivative in the shift, and the knots around them."""

    at: Any
    slope: float
    knots: Knots


def _lines(call: Call) -> list[Line]:
    lines, half = [], 0.5 if call.grid_mode else 0.0
    for i, (n, m) in enumerate(zip(call.spline.shape, call.shape, strict=True)):
        at, slope = np.arange(m, dtype=float), 1.0
        if call.shift is not None:
            at = at + call.shift[i]
        from_edge = at + half
        if call.zoom is not None:
            at, slope = from_edge * call.zoom[i] - half, float(call.zoom[i])
        lines.append(Line(from_edge, slope, knots(at, n, call.order, call.mode, call.npad)))
    return lines


def _read(x: Any, lines: list[Line], moving: int = -1) -> Any:
    """Return the sum over all knots, with slopes for weights along the axis `moving`."""
    for axis, line in enumerate(lines):
        factors = line.knots.slopes if axis == moving else line.knots.weights
        total: Any = 0.0
        for places, factor in zip(line.knots.places, factors, strict=True):
            total = total + np.take(x, places, axis) * _standing(factor, axis, x.ndim)
        x = total
    return x


def _spread(bar: Any, lines: list[Line], shape: tuple[int, ...]) -> Any:
    """Return the transpose of `_read`, applied to `bar`."""
    for axis, line in enumerate(lines):
        rows = np.moveaxis(bar, axis, 0)
        spread = np.zeros((shape[axis], *rows.shape[1:]))
        for places, weights in zip(line.knots.places, line.knots.weights, strict=True):
            for row, place, weight in zip(rows, places, weights, strict=True):
                spread[place] += weight * row
        bar = np.moveaxis(spread, 0, axis)
    return bar


def _shares(lines: list[Line], moving: int = -1) -> Any:
    total: Any = 1.0
    for axis, line in enumerate(lines):
        factor = line.knots.leaning if axis == moving else line.knots.share
        total = total * _standing(factor, axis, len(lines))
    return total


@matrix_rule(sampled_on_grid, "spline zoom shift cval")
def _(call: Call) -> Any:
    if severed(call.y, 0.5):
        return constant(4)
    spline, cval, lines = call.spline, call.cval, _lines(call)

    def moved(axis: int) -> Any:
        """Return the derivative of the result in the coordinates along one axis."""
        return _read(spline, lines, axis) - cval * _shares(lines, axis)

    def back(y_bar: Any) -> Any:
        y_bar = np.asarray(y_bar, np.float64)
        spline_bar = _spread(y_bar, lines, spline.shape)
        cval_bar = np.sum(y_bar * (1.0 - _shares(lines)))
        if call.zoom is None and call.shift is None:
            return spline_bar, None, None, cval_bar
        zoom_bar, shift_bar = [], []
        for axis, line in enumerate(lines):
            others = tuple(i for i in range(spline.ndim) if i != axis)
            at_bar = np.sum(y_bar * moved(axis), others)
            zoom_bar.append(at_bar @ line.at)
            shift_bar.append(np.sum(at_bar) * line.slope)
        of_zoom = None if call.zoom is None else np.array(zoom_bar)
        return spline_bar, of_zoom, None if call.shift is None else np.array(shift_bar), cval_bar

    return back
