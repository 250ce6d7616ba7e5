"""Rules of compiled functions of `scipy.stats`: some densities, and the von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp
from scipy.stats import _stats

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rules.scipy import (  # noqa: F401  they are registered
    binormal,
    covariances,
    kernels,
    pearson3,
    studentized,
    zero_shape_parameters,
)
from adjoint.rules.scipy.special.bessel_orders import kve_order
from adjoint.rules.scipy.special.private import PARTIALS

CONCENTRATION = NoDerivative("the concentration")


def _ratio(order: Any, x: Any) -> Any:
    """Return K_{p−1}(x) / K_p(x); K_p′ / K_p is −(this ratio) − p/x (DLMF 10.29.2)."""
    return sp.kve(order - 1, x) / sp.kve(order, x)


def _in_order(order: Any, x: Any) -> Any:
    """Return ∂/∂p of log K_p(x)."""
    return kve_order(order, x) / sp.kve(order, x)


# ---- ufuncs of `adjoint.rules.scipy.special.private`, as named before SciPy 1.15 -----------------

try:
    from scipy.stats import _boost
except ImportError:
    _boost = None
OTHER_NAMES = {"_binom_pdf": "_binom_pmf", "_nbinom_pdf": "_nbinom_pmf"}

for _name in dir(_boost):
    _partials = PARTIALS.get(OTHER_NAMES.get(_name, _name))
    if isinstance(getattr(_boost, _name), np.ufunc) and _partials is not None:
        elementwise(getattr(_boost, _name), *_partials, singular=True)

# ---- von Mises -----------------------------------------------------------------------------------

elementwise(
    _stats.von_mises_cdf,
    CONCENTRATION,
    lambda kappa, x: np.exp(kappa * (np.cos(x) - 1)) / (2 * math.pi * sp.i0e(kappa)),
)

# ---- the generalized inverse Gaussian distribution: x^(p−1) exp(−b (x + 1/x) / 2) / 2K_p(b) ------

if hasattr(_stats, "geninvgauss_logpdf"):
    elementwise(
        _stats.geninvgauss_logpdf,
        lambda x, p, b: (p - 1) / x - b / 2 * (1 - 1 / (x * x)),
        lambda x, p, b: np.log(x) - _in_order(p, b),
        lambda x, p, b: -(x + 1 / x) / 2 + _ratio(p, b) + p / b,
    )

# ---- the generalized hyperbolic distribution -----------------------------------------------------


def _hyperbolic_in_order(x: Any, p: Any, a: Any, b: Any) -> Any:
    s, t = np.sqrt(1 + x * x), np.sqrt(a * a - b * b)
    return np.log(t * s / a) + _in_order(p - 0.5, a * s) - _in_order(p, t)


def _hyperbolic(x: Any, p: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Return the slopes of the log-density in x, a and b. The density is t^p s^ν K_ν(a s) exp(b x)
    / a^ν K_p(t), with s² = 1 + x², t² = a² − b², ν = p − ½."""
    s, square = np.sqrt(1 + x * x), a * a - b * b
    t = np.sqrt(square)
    inner, outer = _ratio(p - 0.5, a * s), _ratio(p, t)
    return (
        b - a * x / s * inner,
        2 * p * a / square - (2 * p - 1) / a - s * inner + a / t * outer,
        x - 2 * p * b / square - b / t * outer,
    )


if hasattr(_stats, "genhyperbolic_logpdf"):
    elementwise(
        _stats.genhyperbolic_logpdf,
        lambda x, p, a, b: _hyperbolic(x, p, a, b)[0],
        lambda x, p, a, b: _hyperbolic_in_order(x, p, a, b),
        lambda x, p, a, b: _hyperbolic(x, p, a, b)[1],
        lambda x, p, a, b: _hyperbolic(x, p, a, b)[2],
    )
    elementwise(
        _stats.genhyperbolic_pdf,
        lambda y, x, p, a, b: y * _hyperbolic(x, p, a, b)[0],
        lambda y, x, p, a, b: y * _hyperbolic_in_order(x, p, a, b),
        lambda y, x, p, a, b: y * _hyperbolic(x, p, a, b)[1],
        lambda y, x, p, a, b: y * _hyperbolic(x, p, a, b)[2],
    )
