"""Rules of entropies, losses, logistic functions and power transforms.

Where 0 log 0 = 0 makes a function continuous, the derivative is one-sided; at a kink it is the mean
of both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import elementwise
from adjoint.rules.scipy.pointwise import pointwise
from adjoint.rules.scipy.special.elementary import exprel_slope

# ---- x log y -------------------------------------------------------------------------------------


def _share(x: Any, y: Any) -> Any:
    """Return x/y, and 0 for x = 0 and any y."""
    nothing = np.equal(x, 0) & np.equal(y, 0)
    return np.where(nothing, 0, x / np.where(nothing, 1, y))[()]


elementwise(sp.xlogy, lambda x, a: np.log(a), lambda x, a: _share(x, a), singular=True)
elementwise(sp.xlog1py, lambda x, a: np.log1p(a), lambda x, a: _share(x, 1 + a), singular=True)
elementwise(sp.entr, lambda x: -np.log(x) - 1, singular=True)


def _log_ratio(x: Any, y: Any) -> Any:
    zero = np.equal(x, 0)
    return np.where(zero, -np.inf, np.log(np.where(zero, 1, x) / y))[()]


elementwise(
    sp.rel_entr, lambda x, a: _log_ratio(x, a) + 1, lambda x, a: -_share(x, a), singular=True
)
elementwise(sp.kl_div, lambda x, a: _log_ratio(x, a), lambda x, a: 1 - _share(x, a), singular=True)


# ---- losses --------------------------------------------------------------------------------------

elementwise(
    sp.huber,
    lambda delta, r: np.maximum(np.abs(r) - delta, 0),
    lambda delta, r: np.minimum(np.maximum(r, -delta), delta),
    singular=True,
)


def _pseudo_huber_slopes(delta: Any, r: Any) -> tuple[Any, Any]:
    """Return the slopes of δ (√(δ² + r²) − δ), without cancellation for small r."""
    h = np.hypot(delta, r)
    h = np.where(np.equal(h, 0), 1, h)
    steep = r / (h + delta)
    return (r / h * r * steep * steep)[()], (delta * (r / h))[()]


elementwise(
    sp.pseudo_huber,
    lambda delta, r: _pseudo_huber_slopes(delta, r)[0],
    lambda delta, r: _pseudo_huber_slopes(delta, r)[1],
    singular=True,
)


# ---- logistic functions --------------------------------------------------------------------------

elementwise(sp.expit, lambda y, x: y * sp.expit(-x), singular=True)
elementwise(sp.log_expit, lambda y, x: sp.expit(-x), singular=True)
elementwise(sp.logit, lambda x: 1 / (x * (1 - x)), singular=True)
if hasattr(sp, "softplus"):
    pointwise(sp.softplus, "x", x=lambda x: sp.expit(x))


# ---- power transforms ----------------------------------------------------------------------------


def _boxcox_slope(log: Any, lmbda: Any) -> Any:
    """Return ∂/∂λ of (exp(λ L) − 1)/λ; at L = −∞ of −1/λ."""
    nought = np.equal(log, -np.inf) & (lmbda > 0)
    at_zero = 1 / np.where(nought, lmbda, 1) ** 2
    finite = np.where(nought, 0, log)
    return np.where(nought, at_zero, finite * finite * exprel_slope(lmbda * finite))[()]


elementwise(
    sp.boxcox,
    lambda x, lmbda: np.power(x, lmbda - 1.0),  # integers have no negative powers
    lambda x, lmbda: _boxcox_slope(np.log(x), lmbda),
    singular=True,
)
elementwise(
    sp.boxcox1p,
    lambda x, lmbda: np.exp((lmbda - 1) * np.log1p(x)),
    lambda x, lmbda: _boxcox_slope(np.log1p(x), lmbda),
    singular=True,
)


def _inverse_boxcox_slope(x: Any, lmbda: Any) -> Any:
    """Return ∂/∂λ of log(1 + λx)/λ: x² h(λx) with h(t) = (t/(1 + t) − log(1 + t))/t². Near 0, h is
    computed by its series."""
    t = lmbda * x
    near = np.abs(t) < 0.1
    small = np.where(near, t, 0)
    series: Any = 0.0
    for k in range(18, 1, -1):
        series = (-1) ** (k + 1) * (1 - 1 / k) + small * series
    large = np.where(near, 1, t)
    h = (large / (1 + large) - np.log1p(large)) / (large * large)
    return x * x * np.where(near, series, h)


elementwise(
    sp.inv_boxcox,
    lambda y, x, lmbda: y / (1 + lmbda * x),
    lambda y, x, lmbda: y * _inverse_boxcox_slope(x, lmbda),
    singular=True,
)
elementwise(
    sp.inv_boxcox1p,
    lambda y, x, lmbda: (y + 1) / (1 + lmbda * x),
    lambda y, x, lmbda: (y + 1) * _inverse_boxcox_slope(x, lmbda),
    singular=True,
)
