"""Interpolation between points that are scattered: the triangulation is C's, what is linear on each
triangle is written down here.

`LinearNDInterpolator` is a class of C: in differentiated code, one of Python's stands in for it. A
small move of the points leaves the triangulation as it is, almost everywhere.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator

from adjoint.rules.refusal import NoDerivative
from adjoint.rules.registry import non_differentiable, substitute
from adjoint.rules.scipy.carried import carrying, refusing

__all__: list[str] = []

CUBIC = NoDerivative("its arguments", "has no rule: its slopes at the points are estimated in C")
IN_C = NoDerivative("its points and values", "has no rule: it was not made by the class itself")


def _compiled() -> Any:
    """The module in C, which had another name before SciPy 1.15."""
    try:
        return importlib.import_module("scipy.interpolate._interpnd")
    except ImportError:
        return importlib.import_module("scipy.interpolate.interpnd")


_module = _compiled()


# ---- coordinates ---------------------------------------------------------------------------------


@substitute(_module._ndim_coords_from_arrays)
def coordinates(points, ndim=None):
    """An array of points, of a tuple of their coordinates."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(x, float) for x in points]), axis=-1)
    points = np.asanyarray(points)
    return points if points.ndim != 1 else points.reshape(-1, 1 if ndim is None else ndim)


# ---- linear --------------------------------------------------------------------------------------


@non_differentiable
def built(points: Any, values: Any, fill_value: Any, rescale: Any) -> Any:
    return LinearNDInterpolator(points, values, fill_value, rescale)


@non_differentiable
def found(made: Any, at: Any, options: dict[str, Any]) -> Any:
    """What C returns at some points, the corners of the simplex of each, and whether it has one."""
    simplices = made.tri.find_simplex(made._scale_x(at))
    corners = made.tri.simplices[np.maximum(simplices, 0)]
    return as_made(made, at, **options), corners, simplices >= 0


@non_differentiable
def as_made(made: Any, *args: Any, **options: Any) -> Any:
    """What C returns."""
    return _module.NDInterpolatorBase.__call__(made, *args, **options)


class Linear(LinearNDInterpolator):  # type: ignore[misc]
    """The same in Python: `made` is what C has made of `places` and `heights`."""

    def __init__(self, made, places, heights):
        self.made, self.places, self.heights = made, places, heights
        self.tri, self.scale, self.points, self.values = made.tri, made.scale, places, heights
        self.values_shape, self.fill_value = made.values_shape, made.fill_value
        self.is_complex = made.is_complex

    def __call__(self, *args, **options):
        return evaluated(self.made, self.places, self.heights, args, options)


@substitute(LinearNDInterpolator)
def linear(points, values, fill_value=np.nan, rescale=False):
    made = built(points, values, fill_value, rescale)
    places = made.tri.points if hasattr(points, "simplices") else coordinates(points)
    return Linear(made, np.asarray(places, float), np.asarray(values))


def evaluated(made, places, heights, args, options):
    at = coordinates(args, made.points.shape[1])
    flat = np.asarray(np.reshape(at, (-1, at.shape[-1])), float)
    y, corners, inside = found(made, flat, options)
    vertices = places[corners]
    last = vertices[:, -1]
    sides = np.swapaxes(vertices[:, :-1] - last[:, None], 1, 2)
    shares = np.linalg.solve(sides, (flat - last)[:, :, None])[:, :, 0]
    shares = np.concatenate([shares, 1 - np.sum(shares, axis=1, keepdims=True)], axis=1)
    trailing = (1,) * (heights.ndim - 1)
    sums = np.sum(np.reshape(shares, (*shares.shape, *trailing)) * heights[corners], axis=1)
    carrier = np.where(np.reshape(inside, (-1, *trailing)), sums, y)
    value = carrying(y, carrier, LinearNDInterpolator, 1e-6, 1e-9)
    return np.reshape(value, (*at.shape[:-1], *heights.shape[1:]))


@substitute((_module.NDInterpolatorBase, "__call__"))
def call(self, *args, **options):
    """Of one that was made elsewhere: its points and values are constants, or refused."""
    if not isinstance(self, LinearNDInterpolator):
        y = as_made(self, *args, **options)
        return refusing(y, type(self), CUBIC, self.points, self.values, *args)
    places, heights = constants(self)
    y = evaluated(self, places, heights, args, options)
    return refusing(y, type(self), IN_C, self.points, self.values)


@non_differentiable
def constants(made: Any) -> Any:
    """The points and values that it was made of."""
    places = made.points if made.scale is None else made.points * made.scale + made.offset
    heights = np.reshape(made.values, (-1, *made.values_shape))
    return places, heights if made.is_complex else np.real(heights)


# ---- nearest -------------------------------------------------------------------------------------


@non_differentiable
def fields(x: Any, y: Any, rescale: Any, tree_options: Any) -> Any:
    made = NearestNDInterpolator(x, y, rescale, tree_options)
    return [item for item in vars(made).items() if item[0] != "values"]


@substitute(NearestNDInterpolator.__init__)
def nearest(self, x, y, rescale=False, tree_options=None):
    """Which point is nearest does not move with the points."""
    for name, value in fields(x, y, rescale, tree_options):
        setattr(self, name, value)
    self.values = np.asarray(y)
