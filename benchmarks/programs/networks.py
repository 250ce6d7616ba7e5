"""Networks as people write them, with the gradient that a person writes by hand."""

import itertools
from typing import Any

import numpy as np


def cross_entropy(parameters: Any, x: Any, y: Any) -> Any:
    """Of a network with two hidden layers, tanh and relu; `y` are one-hot rows."""
    W1, b1, W2, b2, W3, b3 = parameters
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.maximum(h1 @ W2 + b2, 0)
    z = h2 @ W3 + b3
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(y * log_p) / len(x)


def by_hand(parameters: Any, x: Any, y: Any) -> Any:
    """Value and gradient, as in a textbook."""
    W1, b1, W2, b2, W3, b3 = parameters
    h1 = np.tanh(x @ W1 + b1)
    h2 = np.maximum(h1 @ W2 + b2, 0)
    z = h2 @ W3 + b3
    z = z - np.max(z, axis=1, keepdims=True)
    e = np.exp(z)
    s = np.sum(e, axis=1, keepdims=True)
    loss = -np.sum(y * (z - np.log(s))) / len(x)
    z_bar = (e / s - y) / len(x)
    W3_bar = h2.T @ z_bar
    b3_bar = z_bar.sum(axis=0)
    h2_bar = (z_bar @ W3.T) * (h2 > 0)
    W2_bar = h1.T @ h2_bar
    b2_bar = h2_bar.sum(axis=0)
    h1_bar = (h2_bar @ W2.T) * (1 - h1 * h1)
    W1_bar = x.T @ h1_bar
    b1_bar = h1_bar.sum(axis=0)
    return loss, (W1_bar, b1_bar, W2_bar, b2_bar, W3_bar, b3_bar)


def parameters(sizes: Any, rng: Any, dtype: Any = np.float64) -> Any:
    """Weights and biases, layer by layer."""
    made = []
    for m, n in itertools.pairwise(sizes):
        made.append((rng.normal(size=(m, n)) / np.sqrt(m)).astype(dtype))
        made.append(np.zeros(n, dtype))
    return tuple(made)


def model(parameters: Any) -> Any:
    """The same network of layers."""
    from adjoint import nn

    made = []
    activations = (np.tanh, nn.relu, None)
    for i, activation in enumerate(activations):
        W, b = parameters[2 * i : 2 * i + 2]
        layer = nn.Dense(*W.shape, activation, dtype=W.dtype)
        layer.W, layer.b = W, b
        made.append(layer)
    return nn.Chain(*made)
