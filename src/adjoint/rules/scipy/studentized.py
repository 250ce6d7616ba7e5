"""The distribution of Tukey's studentized range, which SciPy integrates in C.

The range of k standard normal variables is at most r with the probability k ∫ φ(z) (Φ(z + r) −
Φ(z))^(k−1) dz, where z is the least variable. r is q s, where ν s² has the distribution χ² with ν
degrees of freedom. Both integrands are analytic in z and log s and vanish at infinity, so plain
sums over equal steps are exact to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln, ndtr
from scipy.stats import studentized_range

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import carried

Z, STEP = np.linspace(-9.5, 9.5, 160, retstep=True)
NORMAL = np.exp(-Z * Z / 2) / math.sqrt(2 * math.pi)
LIMIT = 100_000
"""Degrees of freedom from which SciPy takes them as infinite."""
LEAST = 1e-60
"""Floor of differences of Φ: smaller ones do not contribute to the sum."""


@non_differentiable
def scales(df: Any) -> tuple[Any, float]:
    """Return a grid of log s, outside which its density is below exp(−40) of the maximum, and its
    step."""
    low = -40 / df - math.sqrt(40 / df)
    high = math.log(1 + 160 / df) / 2 if df < 64 else math.sqrt(40 / df)
    return np.linspace(low, high, 500, retstep=True)


def density(df: Any) -> Any:
    """Return the grid of log s, and the density on it times the step."""
    if df >= LIMIT:
        return np.zeros(1), 1.0
    u, step = scales(df)
    half = df / 2
    constant = math.log(2 * step) - gammaln(half) + half * np.log(half)
    return u, np.exp(constant + df * u - half * np.exp(2 * u))


def single_cdf(q: Any, k: Any, df: Any) -> Any:
    u, weight = density(df)
    between = ndtr(-Z) - ndtr(-Z - q * np.exp(u)[:, None])
    inner = k * STEP * np.sum(NORMAL * np.maximum(between, LEAST) ** (k - 1), axis=1)
    return np.sum(weight * inner)


def single_pdf(q: Any, k: Any, df: Any) -> Any:
    u, weight = density(df)
    s = np.exp(u)
    other = Z + q * s[:, None]
    between = np.maximum(ndtr(-Z) - ndtr(-other), LEAST)
    both = NORMAL * np.exp(-other * other / 2) / math.sqrt(2 * math.pi)
    inner = k * (k - 1) * STEP * np.sum(both * between ** (k - 2), axis=1)
    return np.sum(weight * s * inner)


def _elementwise(single: Any, name: str) -> None:
    @carried(getattr(type(studentized_range), name))
    def twin(self, x, k, df):
        x, k, df = np.broadcast_arrays(x, k, df)
        found = [single(*three) for three in zip(x.flat, k.flat, df.flat)]  # noqa: B905 (it is lowered)
        return np.reshape(found, x.shape)


_elementwise(single_cdf, "_cdf")
_elementwise(single_pdf, "_pdf")
