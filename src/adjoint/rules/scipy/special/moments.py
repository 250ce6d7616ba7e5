"""Rules of private functions of `scipy.special` for moments of distributions.

Means and variances: Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2, 2nd
edition, chapters 30 and 31; those of counts: Johnson, Kemp and Kotz, *Univariate Discrete
Distributions*, 3rd edition, chapter 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.scipy.special.private import private

# ---- negative binomial ---------------------------------------------------------------------------

private("_nbinom_mean", lambda n, p: (1 - p) / p, lambda n, p: -n / p**2)
private("_nbinom_variance", lambda n, p: (1 - p) / p**2, lambda n, p: n * (p - 2) / p**3)
private(
    "_nbinom_skewness",
    lambda y, n, p: -y / (2 * n),
    lambda y, n, p: y * (1 / (2 * (1 - p)) - 1 / (2 - p)),
)
private(
    "_nbinom_kurtosis_excess",
    lambda y, n, p: -y / n,
    lambda y, n, p: p * (2 - p) / (n * (1 - p) ** 2),
)


# ---- noncentral t --------------------------------------------------------------------------------


def _factor(freedom: Any) -> Any:
    """Return the mean over the noncentrality: √(ν/2) Γ((ν−1)/2) / Γ(ν/2)."""
    return np.sqrt(freedom / 2) * np.exp(sp.gammaln((freedom - 1) / 2) - sp.gammaln(freedom / 2))


def _factor_slope(freedom: Any) -> Any:
    """Return the logarithmic derivative of `_factor`."""
    return 0.5 * (1 / freedom + sp.psi((freedom - 1) / 2) - sp.psi(freedom / 2))


private(
    "_nct_mean",
    lambda y, freedom, shift: y * _factor_slope(freedom),
    lambda freedom, shift: _factor(freedom),
)
private(
    "_nct_variance",
    lambda freedom, shift: (
        -2 * (1 + shift**2) / (freedom - 2) ** 2
        - 2 * (shift * _factor(freedom)) ** 2 * _factor_slope(freedom)
    ),
    lambda freedom, shift: 2 * shift * (freedom / (freedom - 2) - _factor(freedom) ** 2),
)


# ---- noncentral F --------------------------------------------------------------------------------


def _square(above: Any, below: Any, shift: Any) -> Any:
    """Return a number proportional to the variance."""
    return (above + shift) ** 2 + (above + 2 * shift) * (below - 2)


private(
    "_ncf_mean",
    lambda above, below, shift: -below * shift / (above**2 * (below - 2)),
    lambda above, below, shift: -2 * (above + shift) / (above * (below - 2) ** 2),
    lambda above, below, shift: below / (above * (below - 2)),
)
private(
    "_ncf_variance",
    lambda y, above, below, shift: (
        y * ((2 * (above + shift) + below - 2) / _square(above, below, shift) - 2 / above)
    ),
    lambda y, above, below, shift: (
        y
        * (
            2 / below
            + (above + 2 * shift) / _square(above, below, shift)
            - 2 / (below - 2)
            - 1 / (below - 4)
        )
    ),
    lambda y, above, below, shift: (
        y * 2 * (above + shift + below - 2) / _square(above, below, shift)
    ),
)
