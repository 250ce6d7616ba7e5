"""The rule of `np.histogram`: sums of weights by bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.numpy.transposition import forward_from_reverse


@array_rule(np.histogram, operands="a bins weights")
def _(a, bins=10, range=None, density=None, weights=None):
    """The edges of a number of bins are equally spaced from the least to the greatest element."""
    if range is not None or density:
        return NotImplemented  # NumPy's own source
    y = np.histogram(a, bins, weights=weights)

    def histogram_back(y_bar):
        sums_bar, edges_bar = y_bar
        a_bar = bins_bar = weights_bar = None
        if weights is not None and sums_bar is not None:
            weights_bar = _at_bins(sums_bar, y[1], a, not np.ndim(bins))
        if edges_bar is not None and np.ndim(bins):
            bins_bar = edges_bar
        elif edges_bar is not None and np.size(a):
            share = np.linspace(0.0, 1.0, len(edges_bar))
            parts = (np.min(a), edges_bar * (1 - share)), (np.max(a), edges_bar * share)
            a_bar = sum(np.sum(bar) * (a == end) / np.count_nonzero(a == end) for end, bar in parts)
        return None, a_bar, bins_bar, weights_bar

    return y, histogram_back


forward_from_reverse(np.histogram)


def _at_bins(sums_bar: Any, edges: Any, a: Any, is_uniform: bool) -> Any:
    """Return the cotangent of the bin that each element is in; the last one holds its right
    edge."""
    last = len(sums_bar) - 1
    if is_uniform:  # one bin beside the right one at most, as in NumPy
        place = (np.subtract(a, edges[0]) * (len(sums_bar) / (edges[-1] - edges[0]))).astype(int)
        place = np.minimum(place, last)
        place -= np.less(a, edges[place])
        place += np.greater_equal(a, edges[place + 1]) & (place < last)
        return sums_bar[place]
    place = np.searchsorted(edges, a, "right") - 1
    place = np.where(np.equal(a, edges[-1]), last, place)
    is_inside = (place >= 0) & (place <= last)
    return np.where(is_inside, sums_bar[np.where(is_inside, place, 0)], 0.0)
