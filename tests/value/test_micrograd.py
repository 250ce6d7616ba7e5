"""Programs of Karpathy's micrograd (https://github.com/karpathy/micrograd), with its imports
replaced."""

import random

import numpy as np
import pytest

import adjoint as ad
from adjoint.value import MLP, Value


def test_the_example_of_the_readme():
    a = Value(-4.0)
    b = Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    assert f"{g.data:.4f}" == "24.7041"
    g.backward()
    assert f"{a.grad:.4f}" == "138.8338"
    assert f"{b.grad:.4f}" == "645.5773"


STEPS, ALPHA = 4, 1e-4


def arrays_of(mlp):
    """The weights as pairs (W, b) of arrays."""
    return [
        (
            np.array([[w.data for w in n.weights] for n in layer.neurons]).T,
            np.array([n.bias.data for n in layer.neurons]),
        )
        for layer in mlp.layers
    ]


def loss_of_arrays(layers, X, y):
    h = X
    for W, b in layers[:-1]:
        h = np.maximum(h @ W + b, 0.0)
    W, b = layers[-1]
    hinge = np.mean(np.maximum(1.0 - y * (h @ W + b)[:, 0], 0.0))
    return hinge + ALPHA * sum(np.sum(W * W) + np.sum(b * b) for W, b in layers)


def test_the_training_of_the_demo():
    """Losses of the demo's loop, as those of the same network of arrays."""
    random.seed(1337)
    X, y = ad.nn.datasets.make_moons(n=24, noise=0.1, rng=1337)
    y = y * 2 - 1  # make y be -1 or 1
    model = MLP(2, [16, 16, 1], "relu", init="uniform")
    layers = arrays_of(model)
    assert len(model.parameters()) == 337

    def loss():
        inputs = [list(map(Value, xrow)) for xrow in X]
        scores = list(map(model, inputs))
        losses = [(1 + -yi * scorei).relu() for yi, scorei in zip(y, scores)]
        data_loss = sum(losses) * (1.0 / len(losses))
        reg_loss = ALPHA * sum((p * p for p in model.parameters()))
        total_loss = data_loss + reg_loss
        accuracy = [(yi > 0) == (scorei.data > 0) for yi, scorei in zip(y, scores)]
        return total_loss, sum(accuracy) / len(accuracy)

    found, expected = [], []
    for k in range(STEPS):
        total_loss, acc = loss()
        model.zero_grad()
        total_loss.backward()
        learning_rate = 1.0 - 0.9 * k / 100
        for p in model.parameters():
            p.data -= learning_rate * p.grad
        found.append(total_loss.data)

        value, (bars,) = ad.withgradient(lambda layers: loss_of_arrays(layers, X, y), layers)
        layers = ad.tree_map(lambda p, bar: p - learning_rate * bar, layers, bars)
        expected.append(value)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found[-1] < found[0] / 2 and acc > 0.7
