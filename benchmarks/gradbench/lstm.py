"""Loss of a stack of LSTM layers with diagonal weights, which predicts each character of a text
from those before it.

Layer i has its weights in row 2i of `main` and its biases in row 2i + 1, each for the forget, input
and output gates and the candidate; `state` has its hidden values in row 2i and its cells in row
2i + 1. The rows of `extra` are the weights before the first layer, and the weights and biases after
the last.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "loss_arrays", "loss_loops"]


# ---- with whole arrays ---------------------------------------------------------------------------


def sigmoid_arrays(x: Any) -> Any:
    """1 / (1 + e⁻ˣ)"""
    return 1 / (1 + np.exp(-x))


def predict_arrays(main: Any, extra: Any, hidden: Any, cell: Any, character: Any) -> Any:
    """What comes after a character; the layers keep what they have seen in `hidden`, `cell`."""
    signal = character * extra[0]
    for i in range(len(hidden)):
        weights, biases = main[2 * i].reshape(4, -1), main[2 * i + 1].reshape(4, -1)
        forget = sigmoid_arrays(signal * weights[0] + biases[0])
        take = sigmoid_arrays(hidden[i] * weights[1] + biases[1])
        give = sigmoid_arrays(signal * weights[2] + biases[2])
        candidate = np.tanh(hidden[i] * weights[3] + biases[3])
        cell[i] = cell[i] * forget + take * candidate
        hidden[i] = give * np.tanh(cell[i])
        signal = hidden[i]
    return signal * extra[1] + extra[2]


def loss_arrays(main: Any, extra: Any, state: Any, text: Any) -> Any:
    """The mean negative log likelihood of the text."""
    hidden, cell = state[0::2].copy(), state[1::2].copy()
    total = 0.0
    for now, following in pairwise(text):
        predicted = predict_arrays(main, extra, hidden, cell, now)
        log_norm = np.log(np.sum(np.exp(predicted)) + 2)
        total += np.sum(following * (predicted - log_norm))
    return -total / text[1:].size


# ---- element by element --------------------------------------------------------------------------


def sigmoid_loops(x: Any) -> Any:
    """1 / (1 + e⁻ˣ)"""
    return 1 / (1 + math.exp(-x))


def predict_loops(
    main: Any, extra: Any, hidden: Any, cell: Any, character: Any, predicted: Any
) -> None:
    """Write what comes after a character into `predicted`."""
    layers, bits = hidden.shape
    for b in range(bits):
        signal = character[b] * extra[0, b]
        for i in range(layers):
            weights, biases = main[2 * i], main[2 * i + 1]
            forget = sigmoid_loops(signal * weights[b] + biases[b])
            take = sigmoid_loops(hidden[i, b] * weights[bits + b] + biases[bits + b])
            give = sigmoid_loops(signal * weights[2 * bits + b] + biases[2 * bits + b])
            candidate = math.tanh(hidden[i, b] * weights[3 * bits + b] + biases[3 * bits + b])
            cell[i, b] = cell[i, b] * forget + take * candidate
            hidden[i, b] = give * math.tanh(cell[i, b])
            signal = hidden[i, b]
        predicted[b] = signal * extra[1, b] + extra[2, b]


def loss_loops(main: Any, extra: Any, state: Any, text: Any) -> Any:
    """The mean negative log likelihood of the text."""
    hidden, cell = state[0::2].copy(), state[1::2].copy()
    length, bits = text.shape
    predicted = np.zeros(bits)
    total = 0.0
    for t in range(length - 1):
        predict_loops(main, extra, hidden, cell, text[t], predicted)
        norm = 2.0
        for b in range(bits):
            norm += math.exp(predicted[b])
        log_norm = math.log(norm)
        for b in range(bits):
            total += text[t + 1, b] * (predicted[b] - log_norm)
    return -total / ((length - 1) * bits)


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``objective`` and ``jacobian``, the gradient in `main` and `extra`, flat."""
    loss = choose(style, arrays=loss_arrays, loops=loss_loops)

    def jacobian(main: Any, extra: Any, state: Any, text: Any) -> Any:
        main_bar, extra_bar = ad.gradient(loss, main, extra, state=state, text=text)
        return np.concatenate([main_bar.ravel(), extra_bar.ravel()])

    return {
        "objective": Function(_prepare, loss, float),
        "jacobian": Function(_prepare, jacobian, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    names = ("main_params", "extra_params", "state", "sequence")
    return tuple(np.array(input[name], float) for name in names)
