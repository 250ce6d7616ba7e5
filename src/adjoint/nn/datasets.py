"""Synthetic data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["make_moons"]


def make_moons(
    n: int = 200, noise: float = 0.1, rng: np.random.Generator | int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two interleaving half circles, in random order.

    Parameters
    ----------
    n : int
        Number of points; half of them, rounded up, belong to the upper moon.
    noise : float
        Standard deviation of the normal noise on both coordinates; the circles have radius 1.
    rng : numpy.random.Generator or int, optional
        Draws the noise and the order.

    Returns
    -------
    X : array of shape (n, 2)
    labels : array of shape (n,)
        0 for the upper moon, 1 for the lower.

    Raises
    ------
    ValueError
        `n` or `noise` is negative.

    Notes
    -----
    The moons are those of `sklearn.datasets.make_moons`.

    Examples
    --------
    The upper moon is half of the unit circle around (0, 0):

    >>> X, labels = make_moons(5, noise=0.0, rng=0)
    >>> X.shape, int(sum(labels)), np.round(np.sum(X[labels == 0] ** 2, axis=1), 6)
    ((5, 2), 2, array([1., 1., 1.]))
    """
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if noise < 0:
        raise ValueError(f"noise must not be negative, got {noise}")
    rng = np.random.default_rng(rng)
    lower = n // 2
    upper = n - lower
    t, s = np.linspace(0.0, np.pi, upper), np.linspace(0.0, np.pi, lower)
    X = np.concatenate(
        [
            np.stack([np.cos(t), np.sin(t)], axis=1),
            np.stack([1.0 - np.cos(s), 0.5 - np.sin(s)], axis=1),
        ]
    )
    labels = np.repeat(np.array([0, 1], np.int64), [upper, lower])
    X += noise * rng.normal(size=X.shape)
    order = rng.permutation(n)
    return X[order], labels[order]
