"""Ordinary functions of NumPy arrays, each with its arguments: a number is returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(0)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def case(*args: Any) -> Callable[[Any], Any]:
    """Add the decorated function to `CASES`, with arguments to differentiate it at."""

    def add(f: Any) -> Any:
        CASES[f.__name__] = f, args
        return f

    return add


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def positive(*shape: int) -> Any:
    return 0.5 + RNG.random(shape)


@case(normal(6), normal(5))
def dynamic_time_warping(a, b):
    d = np.full((len(a) + 1, len(b) + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[len(a), len(b)]


@case(normal(12, 2), normal(3, 2))
def k_means_step(points, centres):
    distances = np.sum((points[:, None, :] - centres[None]) ** 2, axis=-1)
    labels = np.argmin(distances, axis=1)
    moved = np.empty_like(centres)
    for k in range(len(centres)):
        chosen = points[labels == k]
        if len(chosen) > 0:
            moved[k] = chosen.mean(axis=0)
        else:
            moved[k] = centres[k]
    return np.sum(moved**2 + distances.min())


@case(normal(20), positive(20))
def binned_sums(x, weights):
    places = np.clip(((x + 3) / 6 * 5).astype(int), 0, 4)
    sums = np.zeros(5)
    np.add.at(sums, places, weights * x)
    return np.sum(sums**2)


@case(normal(9), normal(9))
def masked_loss(x, y):
    mask = x > 0
    return np.sum((x[mask] - y[mask]) ** 2) / np.sum(mask)


@case(normal(3, 3), normal(3))
def gaussian_likelihood(a, x):
    cov = a @ a.T + np.eye(3)
    sign, logdet = np.linalg.slogdet(cov)
    return -0.5 * (x @ np.linalg.solve(cov, x) + logdet + sign * len(x) * np.log(2 * np.pi))


@case(normal(3, 3), normal(3))
def cholesky_likelihood(a, x):
    factor = np.linalg.cholesky(a @ a.T + np.eye(3))
    z = np.linalg.solve(factor, x)
    return -0.5 * z @ z - np.sum(np.log(np.diag(factor)))


@case(normal(8), normal(8))
def rank_statistic(x, y):
    order = np.argsort(x)
    ranks = np.empty(len(x))
    ranks[order] = np.arange(len(x))
    return np.sum(ranks * y) + np.sum(x[order] * np.arange(8))


@case(normal(4, 5))
def masked_softmax(logits):
    keep = logits > -1
    z = logits - logits.max(axis=-1, keepdims=True, where=keep, initial=-10.0)
    e = np.exp(z)
    p = e / np.sum(e, axis=-1, keepdims=True, where=keep)
    return np.sum(p * p, where=keep)


@case(normal(4), normal(5))
def meshed_field(x, y):
    xx, yy = np.meshgrid(x, y)
    xi, yi = np.meshgrid(x, y, indexing="ij")
    return np.sum(np.sin(xx) * yy) + np.sum(np.cos(xi) * yi**2)


@case(normal(7))
def piecewise_function(x):
    y = np.piecewise(x, [x < -0.5, x > 0.5], [lambda t: -t * t, np.sin, 0.25])
    return np.sum(y * x)


@case(normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4))
def einsum_attention(q, k, v):
    scores = np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.sum(np.einsum("bqk,bkd->bqd", weights, v) ** 2)


@case(normal(7))
def selected(x):
    y = np.select([x < -0.5, x < 0.5], [x**2, np.sin(x)], default=1.0)
    z = np.choose((x > 0).astype(int), [x, x * x])
    return np.sum(y * z)


@case(normal(7), normal(3))
def appended_columns(x, y):
    first, rest = np.split(x, [3])
    halves = np.array_split(rest, 2)
    return np.sum(first * y) + np.sum(halves[0] ** 2) - halves[1].sum()


@case(normal(4, 4))
def spectral(a):
    s = a + a.T
    w, v = np.linalg.eigh(s)
    return np.sum(w**3) + np.sum(np.abs(v[:, -1] @ a))


@case(normal(4, 3))
def singular(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.log(s)) + np.sum((u * s @ vh) ** 2)


@case(normal(4, 3), normal(4))
def least_squares_by_qr(a, y):
    q, r = np.linalg.qr(a)
    return np.sum(np.linalg.solve(r, q.T @ y) ** 2)


@case(normal(8))
def power_spectrum(x):
    f = np.fft.rfft(x * np.hanning(8))
    y = np.fft.irfft(f * np.exp(-0.1 * np.arange(len(f))))
    return np.sum(np.abs(f) ** 2) + np.sum(y**3)


@case(normal(9))
def order_statistics(x):
    y = x.copy()
    y.sort()
    z = np.sort(x)[::-1]
    smallest = np.partition(x, 2)[2]
    return np.sum(y * np.arange(9)) + z[0] * smallest + np.median(x)


@case(normal(4, 5))
def top_two(scores):
    places = np.argsort(scores, axis=-1)[:, -2:]
    return np.sum(np.take_along_axis(scores, places, axis=-1) ** 2)


@case(normal(10), normal(10))
def group_means(x, y):
    groups = np.array([0, 1, 0, 2, 1, 0, 2, 2, 1, 0])
    labels, inverse = np.unique(groups, return_inverse=True)
    total = 0.0
    for k in range(3):
        total += x[groups == k].mean() * y[groups == k].std()
    return total + np.sum(x[inverse] * y) + np.sum(labels)


@case(positive(6), positive(4))
def interpolated(x, v):
    knots = np.linspace(0.0, 2.0, 6)
    i = np.clip(np.searchsorted(knots, v) - 1, 0, 4)
    t = (v - knots[i]) / (knots[i + 1] - knots[i])
    return np.sum(x[i] * (1 - t) + x[i + 1] * t)


@case(normal(3, 4))
def rows_by_function(a):
    y = np.apply_along_axis(lambda row: np.sum(row**2) * row, 1, a)
    return np.sum(y * a)


@case(normal(5))
def vectorized(x):
    f = np.vectorize(lambda t: t * t if t > 0 else -t)
    return np.sum(f(x) * x)


@case(normal(12))
def windowed(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, 4)
    return np.sum(windows.mean(axis=-1) ** 2)


@case(normal(5, 3))
def covariance(x):
    c = np.cov(x, rowvar=False)
    return np.sum(c * c) + np.sum(np.corrcoef(x.T) ** 2)


@case(normal(2, 2), normal(2, 1))
def blocked(a, b):
    m = np.block([[a, b], [b.T, np.ones((1, 1))]])
    return np.sum(m @ m)


@case(normal(3, 4))
def enumerated(a):
    total = 0.0
    for (i, j), x in np.ndenumerate(a):
        total += x * x * (i + 2 * j)
    return total


@case(normal(3), normal(4, 1))
def broadcast_together(x, y):
    a, b = np.broadcast_arrays(x, y)
    return np.sum(a * b * b)


@case(normal(30))
def histogram_of_weights(w):
    places = np.linspace(0.0, 1.0, 30)
    counts, edges = np.histogram(places, bins=5, weights=w)
    return np.sum(counts**2) + edges[1]


@case(normal(5), normal(5))
def written_where(x, y):
    out = np.zeros(5)
    np.multiply(x, y, out=out, where=x > 0)
    np.add(out, y, out=out)
    z = np.where(x > 0)[0]
    out[z] *= 2.0
    out[x < -0.5] = 0.0
    return np.sum(out**2)


@case(normal(4, 3))
def noisy(x):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=x.shape)
    weights = np.random.default_rng(4).uniform(0.5, 1.5, 3)
    return np.sum((x + 0.1 * noise) ** 2 * weights)


@case(normal(6, 3), normal(3))
def logistic_loss(x, w):
    targets = np.array([0, 1, 1, 0, 1, 0])
    scores = np.stack([x @ w, -(x @ w)], axis=1)
    shifted = scores - scores.max(axis=1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(targets)), targets])


@case(positive(6))
def sparse_product(values):
    indptr, columns = np.array([0, 2, 3, 6]), np.array([0, 2, 1, 0, 1, 2])
    x = np.array([1.0, 2.0, 3.0])
    y = np.empty(3)
    for i in range(3):
        cols = columns[indptr[i] : indptr[i + 1]]
        y[i] = values[indptr[i] : indptr[i + 1]] @ x[cols]
    return np.sum(y**2)


@case(normal(5, 5))
def triangular_solve(a):
    x = np.zeros(5)
    for i in range(5):
        x[i] = (1.0 - np.dot(a[i, :i], x[:i])) / (2.0 + a[i, i] ** 2)
    return np.sum(x**2)


@case(normal(3, 3), 4)
def repeated_product(a, n):
    p = np.eye(3)
    for _ in range(n):
        p = p @ a
    return np.sum(p)


@case(normal(8))
def single_precision(x):
    y = np.zeros(8, dtype=np.float32)
    y[:] = x * 2.0
    y[2:4] += x[:2]
    return np.sum(y.astype(np.float64) ** 2)


@case(normal(10))
def compressed(x):
    positive_part = x[x > 0]
    largest = positive_part[positive_part > positive_part.mean()]
    places = np.nonzero(x < 0)[0]
    i, j = np.triu_indices(3)
    m = np.zeros((3, 3))
    m[i, j] = x[:6]
    return largest.sum() + np.sum(x[places] ** 2) + np.sum(m @ m)
