"""Interpolation between points that are scattered: the triangulation is C's, what is linear on each
triangle is written down here.

`LinearNDInterpolator` and `CloughTocher2DInterpolator` are classes of C: in differentiated code,
ones of Python's stand in for them. A small move of the points leaves the triangulation as it is,
almost everywhere. Outside of it, what was given for there is the value.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from scipy.interpolate import (
    CloughTocher2DInterpolator,
    LinearNDInterpolator,
    NearestNDInterpolator,
)

from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.carried import carrying, refusing

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
def built(kind: Any, *args: Any) -> Any:
    return kind(*args)


@non_differentiable
def found(made: Any, at: Any, options: dict[str, Any]) -> Any:
    """What C returns at some points, the corners of the simplex of each, and whether it has one."""
    simplices = made.tri.find_simplex(made._scale_x(at))
    corners = made.tri.simplices[np.maximum(simplices, 0)]
    inside = np.reshape(simplices >= 0, (-1, *(1,) * len(made.values_shape)))
    return as_made(made, at, **options), corners, inside


@non_differentiable
def as_made(made: Any, *args: Any, **options: Any) -> Any:
    """What C returns."""
    return _module.NDInterpolatorBase.__call__(made, *args, **options)


class Linear(LinearNDInterpolator):  # type: ignore[misc]
    """The same in Python: `made` is what C has made of `places` and `heights`."""

    def __init__(self, made, places, heights, outside):
        take_fields(self, made, places, heights, outside)

    def __call__(self, *args, **options):
        return evaluated(self.made, self.places, self.heights, self.fill_value, args, options)


def take_fields(self, made, places, heights, outside):
    self.made, self.places, self.heights = made, places, heights
    self.tri, self.scale, self.points, self.values = made.tri, made.scale, places, heights
    self.values_shape, self.is_complex = made.values_shape, made.is_complex
    self.fill_value = complex(outside) if made.is_complex else float(outside)


@substitute(LinearNDInterpolator)
def linear(points, values, fill_value=np.nan, rescale=False):
    made = built(LinearNDInterpolator, points, values, fill_value, rescale)
    return Linear(made, places_of(points, made), np.asarray(values), fill_value)


def places_of(points, made):
    places = made.tri.points if hasattr(points, "simplices") else coordinates(points)
    return np.asarray(places, float)


def evaluated(made, places, heights, outside, args, options):
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
    value = carrying(y, np.where(inside, sums, y), LinearNDInterpolator, 1e-6, 1e-9)
    value = np.where(inside, value, outside)
    return np.reshape(value, (*at.shape[:-1], *heights.shape[1:]))


@substitute((_module.NDInterpolatorBase, "__call__"))
def call(self, *args, **options):
    """Of one that was made elsewhere: its points and values are constants, or refused."""
    if not isinstance(self, LinearNDInterpolator):
        return smooth(self, self.points, self.values, self.fill_value, args, options)
    places, heights = constants(self)
    y = evaluated(self, places, heights, self.fill_value, args, options)
    return refusing(y, type(self), IN_C, self.points, self.values)


@non_differentiable
def constants(made: Any) -> Any:
    """The points and values that it was made of."""
    places = made.points if made.scale is None else made.points * made.scale + made.offset
    heights = np.reshape(made.values, (-1, *made.values_shape))
    return places, heights if made.is_complex else np.real(heights)


# ---- cubic ---------------------------------------------------------------------------------------


class Cubic(CloughTocher2DInterpolator):  # type: ignore[misc]
    """The same in Python, whose derivative is refused within the triangles."""

    def __init__(self, made, places, heights, outside):
        take_fields(self, made, places, heights, outside)

    def __call__(self, *args, **options):
        return smooth(self.made, self.places, self.heights, self.fill_value, args, options)


def smooth(made, places, heights, outside, args, options):
    at = coordinates(args, 2)
    y, _, inside = found(made, np.reshape(at, (-1, 2)), options)
    value = refusing(y, CloughTocher2DInterpolator, CUBIC, places, heights, at)
    return np.reshape(np.where(inside, value, outside), (*at.shape[:-1], *made.values_shape))


@substitute(CloughTocher2DInterpolator)
def cubic(points, values, fill_value=np.nan, tol=1e-6, maxiter=400, rescale=False):
    made = built(CloughTocher2DInterpolator, points, values, fill_value, tol, maxiter, rescale)
    return Cubic(made, places_of(points, made), np.asarray(values), fill_value)


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
