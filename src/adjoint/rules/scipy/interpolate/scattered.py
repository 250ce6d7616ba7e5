"""Interpolation between scattered points, on the triangulation of SciPy's compiled code.

`LinearNDInterpolator` and `CloughTocher2DInterpolator` are compiled classes; in differentiated
code, Python subclasses replace them. A small move of the points leaves the triangulation unchanged
almost everywhere. Outside the triangulation the value is `fill_value`.
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
from adjoint.rules.scipy.equivalents import refusing, with_derivative_of

CUBIC = NoDerivative("its arguments", "has no rule: its slopes at the points are estimated in C")
IN_C = NoDerivative("its points and values", "has no rule: it was not made by the class itself")


def _compiled() -> Any:
    """Return the compiled module, which had another name before SciPy 1.15."""
    try:
        return importlib.import_module("scipy.interpolate._interpnd")
    except ImportError:
        return importlib.import_module("scipy.interpolate.interpnd")


_module = _compiled()


# ---- coordinates ---------------------------------------------------------------------------------


@substitute(_module._ndim_coords_from_arrays)
def coordinates(points, ndim=None):
    """Return an array of points from a tuple of their coordinates."""
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
    """Return SciPy's values at points, the corners of each point's simplex, and a mask of hits."""
    simplices = made.tri.find_simplex(made._scale_x(at))
    corners = made.tri.simplices[np.maximum(simplices, 0)]
    inside = np.reshape(simplices >= 0, (-1, *(1,) * len(made.values_shape)))
    return compiled_values(made, at, **options), corners, inside


@non_differentiable
def compiled_values(made: Any, *args: Any, **options: Any) -> Any:
    """Return SciPy's values."""
    return _module.NDInterpolatorBase.__call__(made, *args, **options)


class Linear(LinearNDInterpolator):  # type: ignore[misc]
    """A Python subclass; `made` is the compiled object made from `places` and `heights`."""

    def __init__(self, made: Any, places: Any, heights: Any, outside: Any) -> None:
        take_fields(self, made, places, heights, outside)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return evaluated(self.made, self.places, self.heights, self.fill_value, args, options)


def take_fields(self: Any, made: Any, places: Any, heights: Any, outside: Any) -> Any:
    self.made, self.places, self.heights = made, places, heights
    self.tri, self.scale, self.points, self.values = made.tri, made.scale, places, heights
    self.values_shape, self.is_complex = made.values_shape, made.is_complex
    self.fill_value = complex(outside) if made.is_complex else float(outside)


@substitute(LinearNDInterpolator)
def linear(points, values, fill_value=np.nan, rescale=False):
    made = built(LinearNDInterpolator, points, values, fill_value, rescale)
    return Linear(made, places_of(points, made), np.asarray(values), fill_value)


def places_of(points: Any, made: Any) -> Any:
    places = made.tri.points if hasattr(points, "simplices") else coordinates(points)
    return np.asarray(places, float)


def evaluated(made: Any, places: Any, heights: Any, outside: Any, args: Any, options: Any) -> Any:
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
    value = with_derivative_of(y, np.where(inside, sums, y), LinearNDInterpolator, 1e-6, 1e-9)
    value = np.where(inside, value, outside)
    return np.reshape(value, (*at.shape[:-1], *heights.shape[1:]))


@substitute((_module.NDInterpolatorBase, "__call__"))
def call(self, *args, **options):
    """Evaluate an interpolator that compiled code made; refuse derivatives of its data."""
    if not isinstance(self, LinearNDInterpolator):
        return smooth(self, self.points, self.values, self.fill_value, args, options)
    places, heights = constants(self)
    y = evaluated(self, places, heights, self.fill_value, args, options)
    return refusing(y, type(self), IN_C, self.points, self.values)


@non_differentiable
def constants(made: Any) -> Any:
    """Return the points and values of an interpolator."""
    places = made.points if made.scale is None else made.points * made.scale + made.offset
    heights = np.reshape(made.values, (-1, *made.values_shape))
    return places, heights if made.is_complex else np.real(heights)


# ---- cubic ---------------------------------------------------------------------------------------


class Cubic(CloughTocher2DInterpolator):  # type: ignore[misc]
    """A Python subclass whose derivative is refused inside the triangulation."""

    def __init__(self, made: Any, places: Any, heights: Any, outside: Any) -> None:
        take_fields(self, made, places, heights, outside)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return smooth(self.made, self.places, self.heights, self.fill_value, args, options)


def smooth(made: Any, places: Any, heights: Any, outside: Any, args: Any, options: Any) -> Any:
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
    """Build the tree with constant points: the choice of the nearest point is locally constant."""
    for name, value in fields(x, y, rescale, tree_options):
        setattr(self, name, value)
    self.values = np.asarray(y)
