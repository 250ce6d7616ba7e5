"""Rules of gamma and beta functions, their logarithms, factorials and binomials.

Sources are equations of the DLMF: ψ = Γ′/Γ (5.2.2), its derivatives (5.15), B (5.12.1).
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.pointwise import pointwise

# ---- ψ and the reciprocal of Γ, also at the poles ------------------------------------------------


def _is_pole(z: Any) -> Any:
    """Return whether Γ has a pole at `z`: 0, −1, −2, …"""
    return np.equal(z, np.floor(np.real(z))) & (np.real(z) <= 0)


def _rgamma_slope(y: Any, z: Any) -> Any:
    """Return −ψ/Γ; in the left half-plane, where 1/Γ has its zeros, by reflection (5.5.3)."""
    left = np.real(z) < 0.5
    t = np.where(left, z, 0)
    nearest = np.round(np.real(t))
    angle, sign = math.pi * (t - nearest), 1 - 2 * np.mod(nearest, 2)
    reflected = np.cos(angle) - sp.psi(1 - t) * np.sin(angle) / math.pi
    return np.where(left, sign * sp.gamma(1 - t) * reflected, -sp.psi(np.where(left, 1, z)) * y)[()]


def psi_difference(a: Any, b: Any) -> Any:
    """Return ψ(a) − ψ(b); where both have a pole, the limit along integer a − b (5.5.4)."""
    both = _is_pole(a) & _is_pole(b)
    return sp.psi(np.where(both, 1 - a, a)) - sp.psi(np.where(both, 1 - b, b))


def trigamma(z: Any) -> Any:
    """Return ψ′, by ζ(2, x) for real numbers (25.11.12)."""
    return _complex_trigamma(z) if np.iscomplexobj(z) else sp.zeta(2, z)


STIRLING = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers B₂, B₄, …"""


def _complex_trigamma(z: Any) -> Any:
    """Return ψ′ by reflection (5.15.6), recurrence (5.15.5) to Re z ≥ 16, and Stirling (5.15.8)."""
    left = np.real(z) < 0.5
    w = np.where(left, 1 - z, z)
    total = 0.0
    for k in range(16):
        total = total + 1 / (w + k) ** 2
    w = w + 16
    t = 1 / (w * w)
    series = 0.0
    for b in reversed(STIRLING):
        series = (b + series) * t
    right = total + (1 + 0.5 / w + series) / w
    return np.where(left, (math.pi / np.sin(math.pi * z)) ** 2 - right, right)[()]


# ---- Γ, ψ, B -------------------------------------------------------------------------------------

elementwise(sp.gamma, lambda y, z: y * sp.psi(z), singular=True)
elementwise(sp.gammaln, lambda y, x: sp.psi(x), singular=True)
elementwise(sp.loggamma, lambda y, z: sp.psi(z), singular=True)
elementwise(sp.rgamma, lambda y, z: _rgamma_slope(y, z), singular=True)
elementwise(sp.psi, lambda y, z: trigamma(z), singular=True)
non_differentiable(sp.gammasgn)
pointwise(sp.polygamma, x=lambda n, x: sp.polygamma(np.add(n, 1), x))


def _beta_slope(y: Any, a: Any, b: Any) -> Any:
    """Return ∂/∂a of Γ(a) Γ(b) / Γ(a + b), also where Γ(a + b) has a pole and B is zero."""
    zero = _is_pole(a + b) & ~_is_pole(a) & ~_is_pole(b)
    slope = y * psi_difference(np.where(zero, 1, a), np.where(zero, 1, a + b))
    total = np.where(zero, a + b, 1)
    at_zero = _over_gamma_slope(np.where(zero, a, 1), sp.rgamma(total), total)
    return np.where(zero, sp.gamma(np.where(zero, b, 1)) * at_zero, slope)[()]


elementwise(
    sp.beta, lambda y, a, b: _beta_slope(y, a, b), lambda y, a, b: _beta_slope(y, b, a),
    singular=True,
)  # fmt: skip
elementwise(
    sp.betaln,
    lambda y, a, b: psi_difference(a, a + b),
    lambda y, a, b: psi_difference(b, a + b),
    singular=True,
)


def _multigammaln_slope(a: Any, d: Any) -> Any:
    """Return the slope of d(d−1)/4 log π + Σ log Γ(a + (1−j)/2)."""
    return sum((sp.psi(a - 0.5 * j) for j in range(1, int(d))), sp.psi(a))


pointwise(sp.multigammaln, a=lambda a, d: _multigammaln_slope(a, d))


# ---- Pochhammer's symbol and binomial coefficients (5.2.5, 1.2.6) --------------------------------


def _over_gamma_slope(x: Any, y: Any, z: Any) -> Any:
    """Return the derivative of Γ(x) y for y = 1/Γ(z) and equal steps in x and z."""
    return sp.gamma(x) * (sp.psi(x) * y + _rgamma_slope(y, z))


def _poch_slope(y: Any, z: Any, m: Any) -> Any:
    """Return ∂/∂z of Γ(z + m) / Γ(z), also where only Γ(z) has a pole."""
    zero = _is_pole(z) & ~_is_pole(z + m)
    pole, above = np.where(zero, z, 0), np.where(zero, z + m, 1)
    at_zero = _over_gamma_slope(above, sp.rgamma(pole), pole)
    return np.where(
        zero, at_zero, y * psi_difference(np.where(zero, 1, z) + m, np.where(zero, 1, z))
    )[()]


elementwise(
    sp.poch,
    lambda y, z, m: _poch_slope(y, z, m),
    # 0 at a pole of Γ(z), where the symbol is 0 in m except for jumps at integers
    lambda y, z, m: np.where(np.equal(y, 0) | _is_pole(z), 0, y * sp.psi(z + m))[()],
    singular=True,
)


def _binom_slopes(y: Any, n: Any, k: Any) -> tuple[Any, Any]:
    """Return the slopes of Γ(n+1) / (Γ(k+1) Γ(n−k+1)), which is 0 at a pole below the bar."""
    rest = n - k + 1
    zero = _is_pole(rest) | _is_pole(k + 1)
    a, b = np.where(zero, 1, rest), np.where(zero, 1, k + 1)
    above = np.where(zero, n + 1, 1)
    left, right = sp.rgamma(k + 1), sp.rgamma(rest)
    by_left, by_right = _rgamma_slope(left, k + 1), _rgamma_slope(right, rest)
    at_zero_n = left * _over_gamma_slope(above, right, rest)
    at_zero_k = sp.gamma(above) * (by_left * right - left * by_right)
    return (
        np.where(zero, at_zero_n, y * (sp.psi(n + 1) - sp.psi(a)))[()],
        np.where(zero, at_zero_k, y * (sp.psi(a) - sp.psi(b)))[()],
    )


elementwise(
    sp.binom,
    lambda y, n, k: _binom_slopes(y, n, k)[0],
    lambda y, n, k: _binom_slopes(y, n, k)[1],
    singular=True,
)


# ---- factorials and counts: interpolated by Γ unless exact ---------------------------------------


def _comb_slopes(y: Any, N: Any, k: Any, exact: Any, repetition: Any) -> tuple[Any, Any]:
    """Return the slopes, which are 0 outside 0 ≤ k ≤ N, where the result is 0 by definition."""
    if exact:
        return None, None
    n = N + k - 1 if repetition else N
    by_n, by_k = _binom_slopes(y, n, k)
    inside = True if repetition else (k <= N) & (N >= 0) & (k >= 0)
    by_n, by_k = np.where(inside, by_n, 0), np.where(inside, by_k, 0)
    return by_n, by_n + by_k if repetition else by_k


pointwise(
    sp.comb,
    N=lambda y, N, k, exact, repetition: _comb_slopes(y, N, k, exact, repetition)[0],
    k=lambda y, N, k, exact, repetition: _comb_slopes(y, N, k, exact, repetition)[1],
)
pointwise(
    sp.perm,
    N=lambda y, N, k, exact: None if exact else y * (sp.psi(N + 1) - sp.psi(abs(N - k) + 1)),
    k=lambda y, N, k, exact: None if exact else y * sp.psi(abs(N - k) + 1),
)
non_differentiable(sp.bernoulli, sp.euler)
if hasattr(sp, "stirling2"):
    non_differentiable(sp.stirling2)


def _is_extended(extend: Any) -> bool:
    return bool(extend == "complex")


def _factorial_slope(y: Any, n: Any, exact: Any, extend: Any = "zero") -> Any:
    """Return the slope of Γ(n + 1), which is 0 for n < 0 unless extended."""
    if exact:
        return None
    inside = _is_extended(extend) | (np.real(n) >= 0)
    return np.where(inside, y * sp.psi(np.where(inside, n, 0) + 1), 0)


if "extend" in inspect.signature(sp.factorial).parameters:
    pointwise(sp.factorial, n=lambda y, n, exact, extend: _factorial_slope(y, n, exact, extend))
    pointwise(  # 2^(n/2) Γ(n/2 + 1) √(2/π), unless restricted to integers
        sp.factorial2,
        n=lambda y, n, extend: (
            0.5 * y * (math.log(2) + sp.psi(0.5 * n + 1)) if _is_extended(extend) else None
        ),
    )
    pointwise(  # k^((n−1)/k) Γ(n/k + 1) / Γ(1/k + 1), unless restricted to integers
        sp.factorialk,
        n=lambda y, n, k, extend: (
            y * (np.log(k) + sp.psi(n / k + 1)) / k if _is_extended(extend) else None
        ),
        k=NoDerivative("the step k", "is a count"),
    )
else:
    pointwise(sp.factorial, n=lambda y, n, exact: _factorial_slope(y, n, exact))
    non_differentiable(sp.factorial2, sp.factorialk)
