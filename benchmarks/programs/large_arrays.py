"""Programs on arrays of ten thousand elements, for NumPy's and for autograd's ``np`` alike."""

import numpy as np

_rng = np.random.default_rng(7)
OTHER = _rng.normal(size=10_000)
WEIGHTS = _rng.normal(size=(100, 100)) / 10.0
ORDER = _rng.permutation(10_000)


def product_and_sum(x):
    return np.sum(x * OTHER)


def chain_of_functions(x):
    return np.sum(np.sin(x) * np.exp(-x * x) + np.tanh(x) / (1.0 + x * x))


def polynomial(x):
    return np.sum(((0.3 * x + 0.5) * x - 1.2) * x + 0.7)


def log_sum_exp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def variance(x):
    return np.mean((x - np.mean(x)) ** 2)


def finite_differences(x):
    return np.sum((x[1:] - x[:-1]) ** 2)


def cumulative(x):
    return np.sum(np.cumsum(x) ** 2)


def gather(x):
    return np.sum(x[ORDER] * OTHER)


def selected(x):
    return np.sum(np.where(x > 0.0, x * x, 0.1 * x))


def matrix_product(x):
    return np.sum(np.dot(x, WEIGHTS) ** 2)


def layer(x):
    return np.mean(np.tanh(np.dot(WEIGHTS, x) + 0.1) ** 2)


def softmax_rows(x):
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((shifted / np.sum(shifted, axis=1, keepdims=True)) ** 2)


def laplacian(x):
    return np.sum(
        (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4.0 * x[1:-1, 1:-1]) ** 2
    )


def broadcast_table(x):
    """One hundred numbers against one hundred."""
    table = x[:, None] * x[None, :] + np.sin(x)[:, None]
    return np.sum(np.sqrt(1.0 + table * table))


def diffusion(x):
    """Fifty steps, all ten thousand elements in each."""
    for _ in range(50):
        x = x + 0.1 * (np.roll(x, 1) - 2.0 * x + np.roll(x, -1))
    return np.sum(x * x)
