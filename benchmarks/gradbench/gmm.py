"""Log posterior of a mixture of k Gaussians in d dimensions, with a Wishart prior on the precision
matrices.

The precision matrix of component k is QᵀQ, where Q is lower triangular with exp(q) on its diagonal
and l, column by column, below it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "log_posterior_arrays", "log_posterior_loops"]


def constant(n: int, d: int, k: int, m: int, gamma: float) -> float:
    """What does not depend on the parameters."""
    freedom = d + m + 1
    log_gammas = sum(math.lgamma((freedom - j) / 2) for j in range(d))
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + log_gammas
    norm = freedom * d * math.log(gamma / math.sqrt(2)) - log_gamma
    return k * norm - n * d / 2 * math.log(2 * math.pi)


# ---- with whole arrays ---------------------------------------------------------------------------


def logsumexp_arrays(x: Any) -> Any:
    """log Σ exp(x) along the last axis."""
    top = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=-1)) + top[..., 0]


def log_posterior_arrays(alpha: Any, mu: Any, q: Any, l: Any, x: Any, m: int, gamma: float) -> Any:
    """Of the parameters, given the points `x`."""
    n, d = x.shape
    k = len(alpha)

    roots = np.zeros((k, d, d))
    columns, rows = np.triu_indices(d, 1)
    roots[:, rows, columns] = l
    roots[:, np.arange(d), np.arange(d)] = np.exp(q)

    scaled = (x - mu[:, None, :]) @ np.swapaxes(roots, 1, 2)
    log_volumes = np.sum(q, axis=1)
    beta = alpha + log_volumes - np.sum(scaled**2, axis=2).T / 2

    likelihood = np.sum(logsumexp_arrays(beta)) - n * logsumexp_arrays(alpha)
    prior = m * np.sum(log_volumes) - gamma**2 / 2 * np.sum(roots**2)
    return constant(n, d, k, m, gamma) + likelihood + prior


# ---- element by element --------------------------------------------------------------------------


def logsumexp_loops(x: Any) -> Any:
    """log Σ exp(x)"""
    top = x[0]
    for value in x:
        if value > top:
            top = value
    total = 0.0
    for value in x:
        total += math.exp(value - top)
    return math.log(total) + top


def log_posterior_loops(alpha: Any, mu: Any, q: Any, l: Any, x: Any, m: int, gamma: float) -> Any:
    """Of the parameters, given the points `x`."""
    n, d = x.shape
    k = len(alpha)

    diagonals = np.zeros((k, d))
    log_volumes = np.zeros(k)
    norm = 0.0
    for c in range(k):
        for i in range(d):
            diagonals[c, i] = math.exp(q[c, i])
            log_volumes[c] += q[c, i]
            norm += diagonals[c, i] ** 2
        for i in range(l.shape[1]):
            norm += l[c, i] ** 2

    likelihood = -n * logsumexp_loops(alpha)
    beta = np.zeros(k)
    scaled = np.zeros(d)
    for point in range(n):
        for c in range(k):
            for i in range(d):
                scaled[i] = diagonals[c, i] * (x[point, i] - mu[c, i])
            below = 0
            for j in range(d):
                off = x[point, j] - mu[c, j]
                for i in range(j + 1, d):
                    scaled[i] += l[c, below] * off
                    below += 1
            square = 0.0
            for i in range(d):
                square += scaled[i] ** 2
            beta[c] = alpha[c] + log_volumes[c] - square / 2
        likelihood += logsumexp_loops(beta)

    prior = -(gamma**2) / 2 * norm
    for c in range(k):
        prior += m * log_volumes[c]
    return constant(n, d, k, m, gamma) + likelihood + prior


# ---- what GradBench calls ------------------------------------------------------------------------

PARAMETERS = ("alpha", "mu", "q", "l")


def functions(style: Style) -> Functions:
    """``objective`` and ``jacobian``, the gradient by the names of the parameters."""
    log_posterior = choose(style, arrays=log_posterior_arrays, loops=log_posterior_loops)

    def jacobian(alpha: Any, mu: Any, q: Any, l: Any, x: Any, m: int, gamma: float) -> Any:
        return ad.gradient(log_posterior, alpha, mu, q, l, x=x, m=m, gamma=gamma)

    return {
        "objective": Function(_prepare, log_posterior, float),
        "jacobian": Function(_prepare, jacobian, _finish),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    arrays = (np.array(input[name], float) for name in (*PARAMETERS, "x"))
    return *arrays, input["m"], input["gamma"]


def _finish(bars: Any) -> dict[str, Any]:
    return {name: bar.tolist() for name, bar in zip(PARAMETERS, bars, strict=True)}
