"""Rules of functions that pandas computes entry by entry in groups: running sums and ranks.

The values are those of pandas. The derivatives are those of NumPy functions of the entries that
count, ordered group by group.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.extensions.pandas.groups import entries, tolerances, write_others, written
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.equivalents import with_derivative_of


def register(groupby: Any) -> None:
    """Register the rules of `pandas._libs.groupby`."""
    for name, twin in EQUIVALENTS.items():
        _running(getattr(groupby, name), twin)
    _running(groupby.group_rank, None)  # ranks are locally constant


# ---- equivalents: of ordered entries, the start of each entry's group, and the values ------------


def _sums(x, start, found):
    sums = np.cumsum(x)
    return sums - sums[start] + x[start]


def _products(x, start, found):
    """Return running products by doubling: each entry is multiplied by those 1, 2, 4, ... before.
    No division occurs, so zeros are allowed."""
    place = np.arange(len(x))
    reach = 1
    while reach <= np.max(place - start, initial=0):
        before = np.where(place - reach >= start, x[place - reach], 1.0)
        x, reach = x * before, reach * 2
    return x


def _extremes(x, start, found):
    """Return the first of equal entries, as `numpy.maximum.accumulate` does."""
    return x[_sources(start, found)]


@non_differentiable
def _sources(start: Any, found: Any) -> Any:
    """Return the entry of each running extreme: the last change in its group."""
    place = np.arange(len(found))
    fresh = place == start
    fresh[1:] |= found[1:] != found[:-1]
    return np.maximum.accumulate(np.where(fresh, place, 0))


EQUIVALENTS: dict[Any, Any] = {
    "group_cumsum": _sums,
    "group_cumprod": _products,
    "group_cummax": _extremes,
    "group_cummin": _extremes,
}


# ---- registration of the equivalents -------------------------------------------------------------


@non_differentiable
def _in_order(given: dict[str, Any], found: Any, nowhere: Any) -> tuple[Any, Any, Any]:
    """Return rows and columns of entries with a result, by group, and their group starts."""
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
        found, others = written(f, given)
        if twin is not None and values.dtype.kind in "fc":
            rows, columns, start = _in_order(given, found, others.get("result_mask"))
            carrier = np.array(found)
            carrier[rows, columns] = twin(values[rows, columns], start, found[rows, columns])
            out[...] = with_derivative_of(found, carrier, f, *tolerances(found, f))
        else:
            out[...] = found
        write_others(given, others)
