"""A noisy cubic, fitted by least squares and by gradient descent through ``map(evalpoly)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adjoint as ad

Array = NDArray[np.float64]

TARGET = np.array([15.0, -2.1, 13.9, 1.5])


class Polynomial:
    """An ordinary class: the library differentiates its ``__call__`` and finds its array."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def __call__(self, x: Any) -> Any:
        if isinstance(x, float):
            return ad.evalpoly(x, self.weights)

        def at(v: Any) -> Any:
            return ad.evalpoly(v, self.weights)

        return np.array(list(map(at, x)))


@dataclass(frozen=True)
class Fit:
    """One way to fit, with its loss and weights."""

    method: str
    loss: float
    weights: Array


@dataclass(frozen=True)
class CubicResult:
    """The data, the fits, and the loss of each step of gradient descent."""

    xs: Array
    ys: Array
    fits: tuple[Fit, ...]
    history: list[float]


def polynomial_loss(model: Polynomial, xs: Array, ys: Array) -> Any:
    """Return the mean squared error of a polynomial."""
    return ad.nn.mse(model(xs), ys)


def noisy_cubic(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return points of the cubic `TARGET` on (-5, 5), with noise of a fifth of its mean size."""
    xs = rng.uniform(-5.0, 5.0, n)
    ys = Polynomial(TARGET)(xs)
    return xs, ys + rng.normal(size=n) * np.abs(ys).mean() * 0.2


def run(*, max_iters: int = 5000, progress: bool = True) -> CubicResult:
    """Make the data and fit them both ways."""
    rng = np.random.default_rng(0)
    xs, ys = noisy_cubic(100, rng)
    powers = np.vander(xs, len(TARGET), increasing=True)
    exact = Polynomial(np.asarray(np.linalg.lstsq(powers, ys, rcond=None)[0], float))
    model = Polynomial(rng.random(len(TARGET)))
    history = ad.nn.gradient_descent(
        model,
        ad.nn.mse,
        xs,
        ys,
        learning_rate=1e-5,
        max_iters=max_iters,
        progress="cubic" if progress else False,
    )
    fits = (
        Fit("target", float(polynomial_loss(Polynomial(TARGET), xs, ys)), TARGET),
        Fit("least squares", float(polynomial_loss(exact, xs, ys)), exact.weights),
        Fit("gradient descent", float(polynomial_loss(model, xs, ys)), model.weights),
    )
    return CubicResult(xs, ys, fits, history)
