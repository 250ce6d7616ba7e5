"""Substitutes for filter designs of `scipy.signal`."""

from __future__ import annotations

import numpy as np
from scipy import signal as ss

from adjoint.rulekit.registry import substitute


@substitute(ss.lp2hp)
def _(b, a, wo=1.0):
    """Keep the powers of a frequency of 1, which SciPy drops together with their derivatives."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    n = max(len(a), len(b))
    powers = (wo if np.ndim(wo) == 0 else wo[0]) ** np.arange(n)
    after_b, after_a = np.zeros(n - len(b)), np.zeros(n - len(a))
    turned_b, turned_a = np.concatenate([b[::-1], after_b]), np.concatenate([a[::-1], after_a])
    return ss.normalize(turned_b * powers, turned_a * powers)
