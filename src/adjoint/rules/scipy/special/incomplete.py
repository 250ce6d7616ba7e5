"""Rules of the incomplete gamma and beta functions and their inverses.

The derivative in the argument is the density (DLMF 8.2.4 with 8.2.1, 8.17.1); that in a parameter
has no closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.families import NoDerivative, elementwise

__all__ = ["beta_density", "gamma_density"]

SHAPE = NoDerivative("the shape parameter")


def gamma_density(a: Any, x: Any) -> Any:
    """x^(a−1) exp(−x) / Γ(a)."""
    return np.where(np.equal(x, np.inf), 0, np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a)))[()]


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """x^(a−1) (1−x)^(b−1) / B(a, b)."""
    return np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


elementwise(sp.gammainc, SHAPE, lambda y, a, x: gamma_density(a, x), singular=True)
elementwise(sp.gammaincc, SHAPE, lambda y, a, x: -gamma_density(a, x), singular=True)
elementwise(sp.gammaincinv, SHAPE, lambda y, a, p: 1 / gamma_density(a, y), singular=True)
elementwise(sp.gammainccinv, SHAPE, lambda y, a, p: -1 / gamma_density(a, y), singular=True)
elementwise(sp.betainc, SHAPE, SHAPE, lambda y, a, b, x: beta_density(a, b, x), singular=True)
elementwise(
    sp.betaincinv, SHAPE, SHAPE, lambda y, a, b, p: 1 / beta_density(a, b, y), singular=True
)
if hasattr(sp, "betaincc"):
    elementwise(sp.betaincc, SHAPE, SHAPE, lambda y, a, b, x: -beta_density(a, b, x), singular=True)
    elementwise(
        sp.betainccinv, SHAPE, SHAPE, lambda y, a, b, p: -1 / beta_density(a, b, y), singular=True
    )
