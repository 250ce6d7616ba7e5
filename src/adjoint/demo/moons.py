"""Two moons, separated by a multi-layer perceptron on arrays."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adjoint as ad

LEARNING_RATE = 0.5


@dataclass(frozen=True)
class MoonsResult:
    """The data, the trained network, and the course of the training."""

    X: NDArray[np.float64]
    labels: NDArray[np.int64]
    model: Any
    history: list[float]
    loss: float
    accuracy: float
    seconds_per_step: float


def network() -> ad.nn.Chain:
    """Return a 2-16-16-2 network with the same weights in each run."""
    return ad.nn.Chain(
        ad.nn.Dense(2, 16, ad.nn.relu, rng=np.random.default_rng(2)),
        ad.nn.Dense(16, 16, ad.nn.relu, rng=np.random.default_rng(3)),
        ad.nn.Dense(16, 2, rng=np.random.default_rng(4)),
    )


def run(*, max_iters: int = 500, progress: bool = True) -> MoonsResult:
    """Train on 200 points."""
    X, labels = ad.nn.datasets.make_moons(200, noise=0.1, rng=np.random.default_rng(1))
    Y = ad.nn.onehot(labels, 2)
    model = network()
    times = [time.perf_counter()]
    history = ad.nn.gradient_descent(
        model,
        ad.nn.logit_cross_entropy,
        X,
        Y,
        learning_rate=LEARNING_RATE,
        max_iters=max_iters,
        callback=lambda iteration, loss: times.append(time.perf_counter()),
        progress="moons, arrays" if progress else False,
    )
    scores = model(X)
    return MoonsResult(
        X,
        labels,
        model,
        history,
        loss=float(ad.nn.logit_cross_entropy(scores, Y)),
        accuracy=float(np.mean(ad.nn.onecold(scores) == labels)),
        seconds_per_step=median(np.diff(times)),
    )
