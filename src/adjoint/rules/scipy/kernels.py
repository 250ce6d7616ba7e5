"""Gaussian kernel density estimates: the compiled functions of `scipy.stats.gaussian_kde`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp
from scipy.stats import _stats

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import carried, result_like

PRECISION = {"float": 1e-3, "double": 1e-6, "long double": 1e-6}


def logarithms(points: Any, xi: Any, cho_cov: Any) -> Any:
    """Return the logarithm of the kernel around each point (columns) at each place (rows)."""
    points = solve_triangular(cho_cov, points.T, lower=True)
    places = solve_triangular(cho_cov, xi.T, lower=True)
    total = -len(points) / 2 * math.log(2 * math.pi) - np.sum(np.log(np.diagonal(cho_cov)))
    for point, place in zip(points, places):  # noqa: B905 (it is lowered)
        gap = place[:, None] - point
        total = total - gap * gap / 2
    return total


def _estimates(kind: str) -> tuple[Any, Any]:
    """Return the compiled functions for one type of numbers."""
    return tuple(
        f.__signatures__.get(kind)
        for f in (_stats.gaussian_kernel_estimate, _stats.gaussian_kernel_estimate_log)
    )


def _register(kind: str, rtol: float) -> None:
    of_density, of_logarithm = _estimates(kind)

    @carried(of_density, rtol)
    def estimate(points, values, xi, cho_cov, dtype):
        return np.exp(logarithms(points, xi, cho_cov)) @ values

    @carried(of_logarithm, rtol)
    def estimate_log(points, values, xi, cho_cov, dtype):
        kernels = logarithms(points, xi, cho_cov)
        return logsumexp(kernels[:, :, None], axis=1, b=values)


for _kind, _rtol in PRECISION.items():
    _register(_kind, _rtol)


@result_like(lambda points, values, xi, cho_cov, of_logarithm: np.empty(len(xi)))
@non_differentiable
def estimated(points: Any, values: Any, xi: Any, cho_cov: Any, of_logarithm: bool) -> Any:
    """Return the density at places, or its logarithm, from the compiled code for doubles."""
    f = _estimates("double")[of_logarithm]
    return np.asarray(f(points, values[:, None], xi, cho_cov, np.float64))[:, 0]
