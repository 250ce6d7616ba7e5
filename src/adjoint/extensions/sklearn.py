"""The rule of `sklearn.isotonic`: merging of targets with equal abscissas, which runs in C."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.aggregates.grouped_sums import totals
from adjoint.rules.scipy.equivalents import carried


@non_differentiable
def _places(x: Any) -> tuple[Any, Any]:
    """Return the beginnings of groups of equal abscissas, and the group of each abscissa."""
    eps, first = np.finfo(x.dtype).resolution, [0]
    for j in range(1, len(x)):
        if x[j] - x[first[-1]] >= eps:
            first.append(j)
    starts = np.zeros(len(x), int)
    starts[first] = 1
    return np.array(first), np.cumsum(starts) - 1


@registering("sklearn._isotonic")
def _(module: Any) -> None:
    @carried(module._make_unique, rtol=1e-5, atol=1e-6)
    def make_unique(X, y, sample_weights):
        first, place = _places(X)
        weights = totals(sample_weights, place, len(first))
        return X[first], totals(y * sample_weights, place, len(first)) / weights, weights
