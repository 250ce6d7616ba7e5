"""Rules of spherical Bessel, Riccati–Bessel and Λ functions, in the argument.

Orders are integers, or have no derivative (see `adjoint.rules.scipy.special.bessel`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.scipy.pointwise import pointwise
from adjoint.rules.scipy.special.bessel import ORDER


def _spherical(f: Any, below: int, above: int) -> None:
    """Register (2n + 1) f′ = below n f_{n−1} + above (n + 1) f_{n+1} (10.51.2, 10.51.5). The same
    recurrence gives f″."""

    def slope(n: Any, z: Any, derivative: Any) -> Any:
        if not derivative:
            return f(n, z, True)
        n = np.asarray(n)
        lower = below * n * f(np.maximum(n - 1, 0), z, True)
        return (np.where(np.equal(n, 0), 0, lower) + above * (n + 1) * f(n + 1, z, True)) / (
            2 * n + 1
        )

    pointwise(f, z=lambda n, z, derivative: slope(n, z, derivative))


_spherical(sp.spherical_jn, 1, -1)
_spherical(sp.spherical_yn, 1, -1)
_spherical(sp.spherical_in, 1, 1)
_spherical(sp.spherical_kn, -1, -1)


# ---- sequences of orders -------------------------------------------------------------------------


def _riccati_slopes(y: Any, x: Any) -> tuple[Any, Any]:
    """Return slopes from x² w″ + (x² − n(n+1)) w = 0, from 10.47.1 for w = x f."""
    n = np.arange(len(y[0]))
    return y[1], (n * (n + 1) / (x * x) - 1) * y[0]


pointwise(sp.riccati_jn, x=lambda y, x: _riccati_slopes(y, x))
pointwise(sp.riccati_yn, x=lambda y, x: _riccati_slopes(y, x))


def _lambda_slopes(y: Any, v: Any, x: Any) -> tuple[Any, Any]:
    """Return slopes of Λ = Γ(v+1) (2/x)^v J_v from x Λ″ + (2v+1) Λ′ + x Λ = 0 (10.2.1)."""
    orders = np.arange(len(y[0])) + v % 1
    at_zero = -0.5 / (orders + 1)
    curvature = -y[0] - (2 * orders + 1) * y[1] / np.where(np.equal(x, 0), 1, x)
    return y[1], np.where(np.equal(x, 0), at_zero, curvature)


pointwise(sp.lmbda, v=ORDER, x=lambda y, v, x: _lambda_slopes(y, v, x))
