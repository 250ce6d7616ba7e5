"""Functions of `scipy.interpolate` in terms of operations of programs: the definitions that these
inline."""

from __future__ import annotations

import operator

import numpy as np
from scipy.interpolate import (
    BSpline,
    RegularGridInterpolator,
    _interpolate,
    _rgi,
    interp1d,
    make_interp_spline,
)

from adjoint.fast.evaluate.callees.definitions import definition
from adjoint.rules.scipy.interpolate.cells import AXES, cell_of, corners, distance_in
from adjoint.rules.scipy.interpolate.splines import coefficients


@definition(_interpolate._PPolyBase._ensure_c_contiguous, BSpline._ensure_c_contiguous)
def _ensure_c_contiguous(self):
    """Leave the arrays as they are: the functions that read them copy them where it is needed."""


@definition(interp1d._evaluate)
def _evaluate(self, x_new):
    points = np.asarray(x_new)
    y = self._call(self, points)
    if self._extrapolate:
        return y
    below, above = self._check_bounds(points)
    if self.bounds_error:  # there are no points beyond the ends
        return y
    y = np.copy(y)
    if len(y) > 0:
        y[below] = self._fill_value_below
        y[above] = self._fill_value_above
    return y


@definition(make_interp_spline)
def _make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    if bc_type not in (None, "not-a-knot") or np.ndim(x) != 1:
        raise ValueError("other conditions at the ends")
    positions, k = np.asarray(x), operator.index(k)
    values = np.moveaxis(np.asarray(y), axis, 0)
    if positions.dtype != np.float64 or values.dtype != np.float64 or k < 1:
        raise TypeError("numbers of another kind")
    if len(positions) != len(values) or np.any(positions[1:] <= positions[:-1]):
        raise ValueError("positions that do not fit")
    if check_finite and not (np.all(np.isfinite(positions)) and np.all(np.isfinite(values))):
        raise ValueError("Array must not contain infs or nans.")
    if t is not None:
        knots = np.asarray(t)
        if knots.dtype != np.float64 or len(knots) != len(positions) + k + 1:
            raise ValueError("other knots")
        if check_finite and not np.all(np.isfinite(knots)):
            raise ValueError("Array must not contain infs or nans.")
    else:
        knots = _knots(positions, k)
    if k == 1 and t is None:
        return BSpline.construct_fast(
            knots, np.ascontiguousarray(values), k, axis=axis % np.ndim(y)
        )
    found = coefficients(positions, np.reshape(values, (len(values), -1)), k, knots)
    c = np.reshape(found, np.shape(values))
    return BSpline.construct_fast(knots, c, k, axis=axis % np.ndim(y))


def _knots(x, k):
    """Return the knots of a spline whose derivatives have no jump at the positions next to the
    ends."""
    first, last = x[:1], x[-1:]
    if k == 1:
        return np.concatenate([first, x, last])
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    half = (k + 1) // 2 if k % 2 else k // 2
    return np.concatenate([first] * (k + 1) + [inner[half:-half]] + [last] * (k + 1))


# ---- grids ---------------------------------------------------------------------------------------


@definition(_rgi._check_points)
def _check_points(points):
    grid = []
    for x in points:
        p = np.asarray(x, dtype=float)
        if not np.all(p[1:] > p[:-1]):
            raise ValueError("an axis that descends")
        grid.append(np.ascontiguousarray(p))
    return tuple(grid), ()


@definition(RegularGridInterpolator.__call__)
def _grid_at(self, xi, method=None, *, nu=None):
    name = self.method if method is None else method
    if name not in ("linear", "nearest") or nu is not None:
        raise ValueError("another method")
    if self._values.dtype not in (np.float64, np.complex128):
        raise TypeError("values of another kind")
    points, shape, _, nans, beyond = self._prepare_xi(xi)
    if np.any(nans):
        raise ValueError("points that are no numbers")
    places, distances = [], []
    for axis in AXES[len(self._grid)]:
        positions, x = self._grid[axis], points[:, axis]
        if len(positions) < 2:
            raise ValueError("an axis without cells")
        found = cell_of(positions, x)
        places.append(found)
        distances.append(distance_in(positions, found, x))
    if name == "nearest":
        y = self._evaluate_nearest(places, distances)
    else:
        orders = (0,) * len(self._grid)
        y = corners(self._values, np.stack(places), np.stack(distances), orders)
    if not self.bounds_error and self.fill_value is not None:
        y = np.where(np.reshape(beyond, (len(y),) + (1,) * (y.ndim - 1)), self.fill_value, y)
    return np.reshape(y, shape[:-1] + self._values.shape[len(self._grid) :])
