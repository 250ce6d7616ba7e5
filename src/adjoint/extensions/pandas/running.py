"""What pandas writes of groups entry by entry: running sums, products and extremes, and ranks.

The values are those of pandas. They have the derivatives of twins in NumPy over the entries that
count, which are put in order, group by group.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.extensions.pandas.groups import entries, tolerances
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.carried import carrying


def register(groupby: Any) -> None:
    """Register the rules of `pandas._libs.groupby`."""
    for name, twin in TWINS.items():
        _running(getattr(groupby, name), twin)
    _running(groupby.group_rank, None)  # which place a number has does not change with it


# ---- twins: of the entries in order, where the group of each begins, and what was found ----------


def _sums(x, start, found):
    sums = np.cumsum(x)
    return sums - sums[start] + x[start]


def _products(x, start, found):
    """Each is multiplied by what lies 1, 2, 4, ... entries before it: nothing is divided, as by
    entries that are zero nothing could be."""
    place = np.arange(len(x))
    reach = 1
    while reach <= np.max(place - start, initial=0):
        before = np.where(place - reach >= start, x[place - reach], 1.0)
        x, reach = x * before, reach * 2
    return x


def _extremes(x, start, found):
    """The first of the entries that are equal, as it is in `numpy.maximum.accumulate`."""
    return x[_sources(start, found)]


@non_differentiable
def _sources(start: Any, found: Any) -> Any:
    """Which entry each running extreme is: the last one that made a difference in its group."""
    place = np.arange(len(found))
    fresh = place == start
    fresh[1:] |= found[1:] != found[:-1]
    return np.maximum.accumulate(np.where(fresh, place, 0))


TWINS = {
    "group_cumsum": _sums,
    "group_cumprod": _products,
    "group_cummax": _extremes,
    "group_cummin": _extremes,
}


# ---- what they are the twins of ------------------------------------------------------------------


@non_differentiable
def _written(f: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """The results that a function writes, and where there is none."""
    outputs = {"out": np.array(given["out"])}
    if given.get("result_mask") is not None:
        outputs["result_mask"] = np.array(given["result_mask"])
    f(**{**given, **outputs})
    return outputs["out"], outputs.get("result_mask")


@non_differentiable
def _in_order(given: dict[str, Any], found: Any, nowhere: Any) -> tuple[Any, Any, Any]:
    """The rows and columns of the entries that have a result, group by group, and which one is the
    first of the group of each."""
    rows, columns, place = entries(given["values"], given["labels"], given.get("mask"))
    there = ~np.isnan(found[rows, columns])
    if nowhere is not None:
        there &= ~np.asarray(nowhere, bool)[rows, columns]
    chosen = np.flatnonzero(there)
    chosen = chosen[np.argsort(place[chosen], kind="stable")]
    return rows[chosen], columns[chosen], np.searchsorted(place[chosen], place[chosen])


def _running(f: Any, twin: Any) -> None:
    names = list(inspect.signature(f).parameters)

    @substitute(f)
    def write(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 (it is lowered)
        values, out = given["values"], given["out"]
        found, nowhere = _written(f, given)
        if twin is not None and values.dtype.kind in "fc":
            rows, columns, start = _in_order(given, found, nowhere)
            carrier = np.array(found)
            carrier[rows, columns] = twin(values[rows, columns], start, found[rows, columns])
            out[...] = carrying(found, carrier, f, *tolerances(found, f))
        else:
            out[...] = found
        if nowhere is not None:
            given["result_mask"][...] = nowhere
