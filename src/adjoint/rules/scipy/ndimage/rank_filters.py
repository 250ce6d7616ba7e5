"""Rules of filters that pick one element of each window: maximum, minimum, rank.

The elements equal to the picked one share the cotangent equally. Beyond the edges these may include
an element twice, or the constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from adjoint.errors import RuleError
from adjoint.rulekit.refusal import NoDerivative, refusal
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.numpy.operands import severed
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, refused_pair
from adjoint.rules.scipy.ndimage.boundaries import (
    along,
    constant,
    extended,
    folded,
    returning,
    widened,
)

try:
    from scipy.ndimage import _rank_filter_1d
except ImportError:  # older versions have one function for all dimensions
    _rank_filter_1d = None


class Picks:
    """The window elements that each result is equal to.

    Parameters
    ----------
    x, cval, y
        The array, the constant beyond its edges, and the result.
    axes
        Extension of each axis (`boundaries`).
    footprint
        Mask of the window elements that count.
    added
        Values added to the window elements.
    """

    added: Any
    axes: Any
    x: Any
    y: Any

    def __init__(
        self, x: Any, cval: Any, y: Any, axes: Any, footprint: Any, added: Any = None
    ) -> None:
        self.x, self.y, self.axes, self.added = x, y, axes, added
        self.starts: list[tuple[int, ...]] = [
            tuple(start) for start in np.argwhere(footprint).tolist()
        ]
        self.wide: Any = extended(x, axes, cval)
        self.count: Any = sum(hit.astype(float) for _, _, hit in self.hits())
        if not np.all(self.count):
            raise RuleError("a filter returned what is not in its window")

    def hits(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield for each place in the window its elements, and a mask of those picked."""
        for start in self.starts:
            window = tuple(slice(k, k + n) for k, n in zip(start, self.x.shape, strict=True))
            values = self.wide[window]
            if self.added is not None:
                values = values + self.added[start]
            values = values.astype(self.y.dtype)
            yield start, window, (values == self.y) | (np.isnan(values) & np.isnan(self.y))

    def back(self, y_bar: Any) -> tuple[Any, Any, Any]:
        """Return the cotangents of the array, of `added`, and of the constant."""
        share = np.asarray(y_bar, np.float64) / self.count
        wide_bar = np.zeros(self.wide.shape)
        added_bar = None if self.added is None else np.zeros(np.shape(self.added))
        for start, window, hit in self.hits():
            part = np.where(hit, share, 0.0)
            wide_bar[window] += part
            if added_bar is not None:
                added_bar[start] = part.sum()
        x_bar, cval_bar = folded(wide_bar, self.axes, self.x.shape)
        return x_bar, added_bar, cval_bar


non_differentiable(Picks.hits)


FAR = NoDerivative("the array", "is not known where a window is longer than the array")


# ---- along one axis ------------------------------------------------------------------------------


def _without_addition(picks: Picks) -> Any:
    """Return the pullback to the array and the constant."""

    def back(y_bar: Any) -> Any:
        x_bar, _, cval_bar = picks.back(y_bar)
        return x_bar, cval_bar

    return back


def _rule_along(call: Call) -> Any:
    if severed(call.y, call.input):
        return constant(2)
    x, axis = call.input, call.axis
    axes: list[Any] = [None] * x.ndim
    axes[axis] = along(x.shape[axis], call.size, call.origin, call.mode)
    window = [1] * x.ndim
    window[axis] = call.size
    picks = Picks(x, call.cval, call.y, axes, np.ones(window, bool))

    return _without_addition(picks)


@returning(_nd_image.min_or_max_filter1d, 3)
def extreme_along(input, size, axis, dtype, mode, cval, origin, minimum):
    """Return the smallest or the largest of the `size` neighbours along one axis."""


def ranked_along(
    input: Any, rank: Any, size: Any, dtype: Any, mode: Any, cval: Any, origin: Any, axis: Any = 0
) -> Any:
    """Return the element with this rank among `size` neighbours along a line."""
    y = np.empty(np.shape(input), dtype)
    _rank_filter_1d.rank_filter(input, rank, size, y, mode, cval, origin)
    return y


def _ranked_rule_along(call: Call) -> Any:
    if call.size // 2 + abs(call.origin) < len(call.input):
        return _rule_along(call)
    return refused_pair(refusal(ranked_along, FAR))  # in this case SciPy reads other elements


matrix_rule(extreme_along, "input cval")(_rule_along)
if _rank_filter_1d is not None:
    matrix_rule(ranked_along, "input cval")(_ranked_rule_along)

    @substitute(_rank_filter_1d.rank_filter)
    def _(input, rank, size, output, mode, cval, origin):
        output[...] = ranked_along(input, rank, size, output.dtype, mode, cval, origin)


# ---- along all axes ------------------------------------------------------------------------------


@returning(_nd_image.min_or_max_filter, 3)
def extreme(input, footprint, structure, dtype, mode, cval, origins, minimum):
    """Return the smallest difference from, or the largest sum with, `structure` in the window."""


@matrix_rule(extreme, "input structure cval")
def _(call: Call) -> Any:
    if severed(call.y, call.input):
        return constant(3)
    x, structure, sign = call.input, call.structure, -1.0 if call.minimum else 1.0
    axes = widened(x.shape, call.footprint.shape, call.origins, call.mode)
    added = None if structure is None else sign * np.reshape(structure, call.footprint.shape)
    picks = Picks(x, call.cval, call.y, axes, call.footprint, added)

    def back(y_bar: Any) -> Any:
        x_bar, added_bar, cval_bar = picks.back(y_bar)
        of_structure = None if added_bar is None else sign * added_bar
        return x_bar, of_structure, cval_bar

    return back


@returning(_nd_image.rank_filter, 3)
def ranked(input, rank, footprint, dtype, mode, cval, origins):
    """Return the element with this rank in the window."""


@matrix_rule(ranked, "input cval")
def _(call: Call) -> Any:
    if severed(call.y, call.input):
        return constant(2)
    x, footprint = call.input, call.footprint
    axes = widened(x.shape, footprint.shape, call.origins, call.mode)
    picks = Picks(x, call.cval, call.y, axes, footprint)

    return _without_addition(picks)
