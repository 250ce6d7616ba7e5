"""Rules of isotonic regression: means of blocks.

What is fitted is constant over blocks, which have the weighted means of what is in them (Barlow et
al., *Statistical Inference under Order Restrictions*, 1972, section 1.2). Which blocks there are
does not change nearby, but where two that follow each other have one mean: there the derivative is
that of the blocks that SciPy reports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.numpy.grouped_sums import totals
from adjoint.rules.scipy.carried import carrying

SLACK = 1e-8
"""How well the values are known, beside the largest."""


def register(pava: Any) -> None:
    """Register the rule of the function in C, which writes into what it is given."""

    @non_differentiable
    def fitted(values: Any, weights: Any, ends: Any) -> Any:
        """What it writes, how many blocks it reports, and of each value the block."""
        x, w, r, count = pava(np.array(values), np.array(weights), np.array(ends))
        sizes = np.diff(r[: count + 1])
        return x, w, r, count, np.repeat(np.arange(len(sizes)), sizes)

    @substitute(pava)
    def blocks(xa, wa, ra):
        x, w, r, count, block = fitted(xa, wa, ra)
        size = min(count, len(x))  # of nothing there is one block, too
        total = totals(wa, block, size)
        mean = totals(wa * xa, block, size) / total
        xa[...] = carrying(x, mean[block], pava, SLACK, _slack(x))
        wa[:size] = carrying(w[:size], total, pava, SLACK, _slack(w))
        wa[size:] = w[size:]
        ra[...] = r
        return xa, wa, ra, count


@non_differentiable
def _slack(y: Any) -> float:
    return SLACK * float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
