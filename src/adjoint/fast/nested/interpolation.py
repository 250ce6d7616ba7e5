"""Functions of `scipy.interpolate` in terms of operations of programs: the definitions that these
inline."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from scipy.interpolate import (
    BSpline,
    InterpolatedUnivariateSpline,
    RegularGridInterpolator,
    UnivariateSpline,
    _bsplines,
    _fitpack2,
    _fitpack_impl,
    _interpolate,
    _rgi,
    interp1d,
    make_interp_spline,
)

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rules.scipy.interpolate.cells import AXES, cell_of, corners, distance_in
from adjoint.rules.scipy.interpolate.fitpack import (
    class_coefficients,
    fitpack_coefficients,
    fitpack_spline,
)
from adjoint.rules.scipy.interpolate.splines import coefficients

_OF_NUMPY = getattr(_bsplines, "_BSpline", BSpline)
"""The class that evaluates splines; since SciPy 1.18 `BSpline` delegates to it."""


@definition(_interpolate._PPolyBase._ensure_c_contiguous, _OF_NUMPY._ensure_c_contiguous)
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


# ---- FITPACK -------------------------------------------------------------------------------------


@definition(_fitpack_impl.splev)
def _splev(x, tck, der=0, ext=0):
    t, c, k = tck
    if np.ndim(c) != 1 or c.dtype != np.float64 or t.dtype != np.float64:
        raise ValueError("another kind of spline")
    if not 0 <= der <= k or ext not in (0, 1, 2, 3):
        raise ValueError("other options")
    at = np.reshape(np.asarray(x, dtype=float), -1)
    first, last = t[k], t[len(t) - k - 1]
    beyond = (at < first) | (at > last)
    if ext == 2 and np.any(beyond):
        raise ValueError("Found x value not in the domain")
    if ext == 3:
        at = np.clip(at, first, last)
    y = fitpack_spline(t, np.reshape(c, (len(c), 1)), k, at, der, True)[:, 0]
    if ext == 1:
        y = np.where(beyond, 0.0, y)
    return np.reshape(y, np.shape(x))


@definition(UnivariateSpline.__call__)
def _univariate_at(self, x, nu=0, ext=None):
    mode = self.ext if ext is None else _fitpack2._extrap_modes[ext]
    return _splev(np.asarray(x), self._eval_args, nu, mode)


def _interpolant(f, x, y, k):
    """Return the knots and the coefficients of FITPACK's interpolant."""
    positions, values = np.asarray(x), np.asarray(y)
    if positions.dtype != np.float64 or values.dtype != np.float64 or np.ndim(values) != 1:
        raise TypeError("numbers of another kind")
    if len(positions) != len(values) or not np.all(positions[1:] > positions[:-1]):
        raise ValueError("positions that do not fit")
    knots = _knots(positions, k)
    c = f(positions, np.reshape(values, (len(values), 1)), k, knots)
    return knots, np.concatenate([np.reshape(c, len(values)), np.zeros(k + 1)])


@definition(_fitpack_impl.splrep)
def _splrep(
    x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1
):
    if w is not None or xb is not None or xe is not None or t is not None:
        raise ValueError("other options")
    if task or full_output or per or not (s is None or s == 0) or not 1 <= k <= 5:
        raise ValueError("other options")
    knots, c = _interpolant(fitpack_coefficients, x, y, k)
    return knots, c, k


@definition(InterpolatedUnivariateSpline.__init__)
def _interpolated(self, x, y, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    if w is not None or bbox[0] is not None or bbox[1] is not None or not 1 <= k <= 5:
        raise ValueError("other options")
    if check_finite and not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise ValueError("x and y array must not contain NaNs or infs.")
    knots, c = _interpolant(class_coefficients, x, y, k)
    self.ext = _fitpack2._extrap_modes[ext]
    self._eval_args = knots, c, k
    unknown: Any = iter(())  # programs refuse what reads or returns it
    self._data = x, y, w, None, None, k, 0.0, len(knots), knots, c, unknown, unknown, unknown, -1


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
