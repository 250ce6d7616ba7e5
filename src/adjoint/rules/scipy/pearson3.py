"""The Pearson distribution of type III, with its derivatives where the skew is zero.

SciPy takes a skew that is nearly zero as zero. There the values are those of the normal
distribution, and the derivatives those of

* log f(x) = log φ(x) with x²/2 replaced by x² (u − log(1 + u))/u², minus log(1 + u) and the
  remainder of Stirling's formula, where u = x · skew/2;
* F(x) = Φ(x) − φ(x) Σ cₖₘ skewᵏ Heₘ₋₁(x), the Edgeworth series with the cumulants
  (n − 1)! (skew/2)ⁿ⁻².
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp
from scipy import stats as st

from adjoint.rulekit.registry import substitute
from adjoint.rules.scipy.zero_shape_parameters import own_source, with_derivatives_where
from adjoint.runtime.steering import stop_gradient

NORMAL = 0.000016
"""Size of the skew below which SciPy takes it as zero."""
TERMS = 8
"""Number of derivatives in the skew that are exact at zero."""

_Pearson = type(st.pearson3)


def _edgeworth() -> list[dict[int, float]]:
    """Return for each power of the skew the factors of the Hermite polynomials, by their degree."""
    series = [{0: 1.0}]
    for k in range(1, TERMS + 1):
        found: dict[int, float] = {}
        for j in range(1, k + 1):
            cumulant = j / k / ((j + 2) * 2.0**j)
            for degree, factor in series[k - j].items():
                found[degree + j + 2] = found.get(degree + j + 2, 0.0) + cumulant * factor
        series.append(found)
    return series


EDGEWORTH = _edgeworth()


def _hermite(x: Any) -> list[Any]:
    """Return the Hermite polynomials Heₙ(x) from n = −1 on; entry −1 is not used."""
    found = [0.0, 1.0 + 0.0 * x]
    for n in range(3 * TERMS):
        found.append(x * found[-1] - n * found[-2])
    return found


def _normal_logpdf(x: Any, skew: Any) -> Any:
    u = x * skew / 2
    bend: Any = 0.0
    for n in range(TERMS + 1, -1, -1):
        bend = 1 / (n + 2) - u * bend
    stirling = skew**2 / 48 - skew**6 / 23040
    return -(x**2) * bend - sp.log1p(u) - stirling - np.log(2 * np.pi) / 2


def _beyond(x: Any, skew: Any) -> Any:
    """Return F(x) − Φ(x)."""
    polynomials, total = _hermite(x), 0.0
    for k in range(TERMS, 0, -1):
        total = total + sum([c * polynomials[m] for m, c in EDGEWORTH[k].items()])
        total = total * skew
    return -np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * total


def _normal_cdf(x: Any, skew: Any) -> Any:
    return sp.ndtr(x) + _beyond(x, skew)


def _normal_sf(x: Any, skew: Any) -> Any:
    return sp.ndtr(-x) - _beyond(x, skew)


def _normal_ppf(q: Any, skew: Any) -> Any:
    """Return the quantile by Newton steps; each doubles the number of exact derivatives."""
    x = sp.ndtri(q)
    for _ in range(3):
        x = x - (_normal_cdf(x, skew) - q) / np.exp(_normal_logpdf(x, skew))
    return x


def _near_zero(name: str, normal: Any) -> None:
    """Substitute `normal` for the method where the skew is nearly zero."""
    method = getattr(_Pearson, name)
    plain = own_source(method)

    @substitute(method)
    def _(self: Any, x: Any, skew: Any) -> Any:
        small = (np.abs(skew) < NORMAL) & np.isfinite(x)
        if not np.any(small):
            return plain(self, x, skew)
        moved = np.where(small, skew - stop_gradient(skew), 0)
        return with_derivatives_where(
            plain(self, x, skew), normal(np.where(small, x, 0.5), moved), small
        )


_near_zero("_logpdf", _normal_logpdf)
_near_zero("_cdf", _normal_cdf)
_near_zero("_sf", _normal_sf)
_near_zero("_ppf", _normal_ppf)
