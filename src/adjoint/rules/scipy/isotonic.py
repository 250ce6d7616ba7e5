"""Rules of isotonic regression: weighted means of blocks.

The fit is constant over blocks, and each block has the weighted mean of its values (Barlow et al.,
*Statistical Inference under Order Restrictions*, 1972, section 1.2). The blocks are locally
constant unless two adjacent ones have equal means; the derivative there is that of the blocks that
SciPy reports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.numpy.aggregates.grouped_sums import totals
from adjoint.rules.scipy.equivalents import with_derivative_of

SLACK = 1e-8
"""Tolerance of the comparison with SciPy's values, relative to the largest."""


def register(pava: Any) -> None:
    """Register the rule of the C function `pava`, which overwrites its arguments."""

    @non_differentiable
    def fitted(values: Any, weights: Any, ends: Any) -> Any:
        """Return the arrays that `pava` writes, the number of blocks and each value's block."""
        x, w, r, count = pava(np.array(values), np.array(weights), np.array(ends))
        sizes = np.diff(r[: count + 1])
        return x, w, r, count, np.repeat(np.arange(len(sizes)), sizes)

    @substitute(pava)
    def blocks(xa, wa, ra):
        x, w, r, count, block = fitted(xa, wa, ra)
        size = min(count, len(x))  # empty input is reported as one block
        total = totals(wa, block, size)
        mean = totals(wa * xa, block, size) / total
        xa[...] = with_derivative_of(x, mean[block], pava, SLACK, _slack(x))
        wa[:size] = with_derivative_of(w[:size], total, pava, SLACK, _slack(w))
        wa[size:] = w[size:]
        ra[...] = r
        return xa, wa, ra, count


@non_differentiable
def _slack(y: Any) -> float:
    return SLACK * float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
