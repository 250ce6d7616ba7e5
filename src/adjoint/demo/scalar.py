"""The network and steps of `adjoint.demo.moons` with one `Value` per number: right, and slow."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import median
from typing import cast

import numpy as np
from numpy.typing import NDArray

from adjoint.demo.moons import LEARNING_RATE, network
from adjoint.nn.layers import Chain, Dense
from adjoint.nn.progress import progress_bar
from adjoint.value import MLP, Value, build_graph


@dataclass(frozen=True)
class ScalarResult:
    """The loss before each step, and the cost of a step."""

    history: list[float]
    seconds_per_step: float
    nodes: int


def mirror(chain: Chain) -> MLP:
    """Return the scalar network with the weights of an array network (relu, last layer linear)."""
    layers = [layer for layer in chain if isinstance(layer, Dense)]
    mlp = MLP(layers[0].W.shape[0], [layer.W.shape[1] for layer in layers], "relu")
    for layer, dense in zip(mlp.layers, layers, strict=True):
        for neuron, column, bias in zip(layer.neurons, dense.W.T, dense.b, strict=True):
            neuron.bias.data = float(bias)
            for weight, w in zip(neuron.weights, column, strict=True):
                weight.data = float(w)
    return mlp


def logit_cross_entropy(scores: list[Value], label: int) -> Value:
    """Return ``-log softmax(scores)[label]``; subtracting the largest score avoids overflow."""
    top = max(score.data for score in scores)
    return sum(((s - top).exp() for s in scores), Value(0.0)).log() - (scores[label] - top)


def run(
    X: NDArray[np.float64], labels: NDArray[np.int64], *, steps: int = 3, progress: bool = True
) -> ScalarResult:
    """Run the first steps of the training of `adjoint.demo.moons`."""
    mlp = mirror(network())
    history, seconds, nodes = [], [], 0
    with progress_bar("moons, scalars", steps) if progress else nullcontext() as advance:
        for _ in range(steps):
            start = time.perf_counter()
            losses = (
                logit_cross_entropy(cast(list[Value], mlp(x)), y)
                for x, y in zip(X.tolist(), labels.tolist(), strict=True)
            )
            loss = sum(losses, Value(0.0)) / len(X)
            loss.backward()
            for p in mlp.parameters():
                p.data -= LEARNING_RATE * p.grad
            seconds.append(time.perf_counter() - start)
            history.append(loss.data)
            if advance is not None:
                advance(f"loss {loss.data:.4g}")
        nodes = len(build_graph(loss))
    return ScalarResult(history, median(seconds), nodes)
