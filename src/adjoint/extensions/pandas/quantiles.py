"""The rule of quantiles of groups in pandas: means of two entries of a group."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.extensions.pandas.groups import tolerances, write_others, written
from adjoint.extensions.pandas.windows import INTERPOLATIONS
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.equivalents import with_derivative_of


def register(group_quantile: Any) -> None:
    """Register the rule of the function, which writes its results into its arguments."""
    names = list(inspect.signature(group_quantile).parameters)

    @substitute(group_quantile)
    def quantiles(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 (it is lowered)
        values, out = given["values"], given["out"]
        found, others = written(group_quantile, given)
        if values.dtype.kind in "fiu" and len(values):
            low, high, far = _places(given, found.shape)
            carrier = values[low] * (1 - far) + values[high] * far
            carrier = np.where(np.isnan(found), found, carrier)
            out[...] = with_derivative_of(
                found, carrier, group_quantile, *tolerances(found, group_quantile)
            )
        else:
            out[...] = found
        write_others(given, others)


@non_differentiable
def _places(given: dict[str, Any], shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Return the two entries that each quantile lies between, and its distance from the first. For
    an empty group the entries are arbitrary."""
    values, mask = given["values"], given.get("mask")
    there = ~np.isnan(values)
    if mask is not None:
        there &= ~np.asarray(mask, bool)
    low, high, far = (np.zeros(shape, kind) for kind in (int, int, float))
    for group, (start, end) in enumerate(zip(given["starts"], given["ends"], strict=True)):
        members = start + np.flatnonzero(there[start:end])
        members = members[np.argsort(values[members], kind="stable")]
        for i, q in enumerate(given["qs"] if len(members) else ()):
            at = q * (len(members) - 1)
            below = int(at)
            low[group, i] = members[below]
            high[group, i] = members[min(below + 1, len(members) - 1)]
            far[group, i] = INTERPOLATIONS[given["interpolation"]](at - below, below)
    return low, high, far
