"""Rules of FITPACK's splines of two variables on a grid: products of splines of one variable.

The derivatives of smoothing splines and of fits to scattered points, whose knots FITPACK chooses,
are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from adjoint.rulekit.registry import plain, substitute
from adjoint.rules.scipy.equivalents import refusing, with_derivative_of
from adjoint.rules.scipy.interpolate.bsplines import NEAR, design, knots_of
from adjoint.rules.scipy.interpolate.fitpack import BESIDE, SMOOTHED

_impl: Any = getattr(interpolate, "_fitpack_impl", None)
_classes: Any = getattr(interpolate, "_fitpack2", None)


# ---- values --------------------------------------------------------------------------------------


def _rows(t, k, x, nu):
    """Return the B-splines at points, which FITPACK clips to the base interval."""
    return design(t, k, np.clip(np.reshape(np.asarray(x, float), -1), t[k], t[len(t) - k - 1]), nu)


def _matrix(c, tx, ty, kx, ky):
    return np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))


_plain_bisplev = plain(_impl.bisplev)


@substitute(_impl.bisplev)
def bisplev(x, y, tck, dx=0, dy=0):
    tx, ty, c, kx, ky = tck
    z = _plain_bisplev(x, y, tck, dx, dy)
    carrier = _rows(tx, kx, x, dx) @ _matrix(c, tx, ty, kx, ky) @ _rows(ty, ky, y, dy).T
    return with_derivative_of(z, np.reshape(carrier, np.shape(z)), _impl.bisplev, *NEAR)


_call: Any = _classes.BivariateSpline.__call__


@substitute(_call)
def call(self, x, y, dx=0, dy=0, grid=True):
    tx, ty, c = self.tck
    kx, ky = self.degrees
    z = _values((tx, ty, c), (kx, ky), x, y, dx, dy, grid)
    matrix = _matrix(c, tx, ty, kx, ky)
    if grid:
        carrier = _rows(tx, kx, x, dx) @ matrix @ _rows(ty, ky, y, dy).T
    else:
        x, y = np.broadcast_arrays(x, y)
        carrier = np.sum((_rows(tx, kx, x, dx) @ matrix) * _rows(ty, ky, y, dy), axis=1)
    return with_derivative_of(z, np.reshape(carrier, np.shape(z)), _impl.bisplev, *NEAR)


@plain
def _values(tck: Any, degrees: Any, x: Any, y: Any, dx: int, dy: int, grid: bool) -> Any:
    """Return FITPACK's values of the spline with these coefficients."""
    made = object.__new__(_classes.BivariateSpline)
    made.tck, made.degrees = tck, degrees
    return _call(made, x, y, dx, dy, grid)


# ---- interpolation -------------------------------------------------------------------------------

_regrid: Any = getattr(_classes, "_regrid_smth", None)
if _regrid is None:
    _regrid = getattr(getattr(_classes, "dfitpack", None), "regrid_smth", None)

if _regrid is not None:
    _plain_regrid = plain(_regrid)

    @substitute(_regrid)
    def regrid(x, y, z, xb, xe, yb, ye, kx, ky, s, *more):
        nx, tx, ny, ty, c, fp, ier = _plain_regrid(x, y, z, xb, xe, yb, ye, kx, ky, s, *more)
        fp = refusing(fp, _regrid, BESIDE, x, y, z)
        if s != 0:
            parts = [refusing(part, _regrid, SMOOTHED, x, y, z) for part in (tx, ty, c)]
            return nx, parts[0], ny, parts[1], parts[2], fp, ier
        along_x = knots_of(x, kx, x[0] if xb is None else xb, x[-1] if xe is None else xe)
        along_y = knots_of(y, ky, y[0] if yb is None else yb, y[-1] if ye is None else ye)
        half = np.linalg.solve(design(along_x, kx, x), np.reshape(z, (len(x), len(y))))
        whole = np.linalg.solve(design(along_y, ky, y), half.T).T
        known = len(x) * len(y)
        tx = np.concatenate([with_derivative_of(tx[:nx], along_x, _regrid, *NEAR), tx[nx:]])
        ty = np.concatenate([with_derivative_of(ty[:ny], along_y, _regrid, *NEAR), ty[ny:]])
        own = with_derivative_of(c[:known], np.reshape(whole, -1), _regrid, *NEAR)
        return nx, tx, ny, ty, np.concatenate([own, c[known:]]), fp, ier
