"""Losses: prediction first, truth second; the result is the mean over the samples.

In classification the classes are along the last axis, one sample per row; a single sample may be a
vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.nn.activations import logsoftmax, relu
from adjoint.rulekit.registry import non_differentiable
from adjoint.rulekit.row_sums import by_class


def mse(yhat: Any, y: Any) -> Any:
    """Mean over all elements of ``|yhat - y|**2``.

    Parameters
    ----------
    yhat, y : number or array
        Of one shape: nothing is broadcast, because ``(n,)`` against ``(n, 1)`` would compare all
        pairs.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        The shapes differ, or are empty.
    """
    check_shapes(yhat, y)
    d = np.subtract(yhat, y)
    return np.mean(d * d if np.isrealobj(d) else np.abs(d) ** 2)


def cross_entropy(p: Any, y: Any, *, eps: float = 1e-12) -> Any:
    """Mean over the samples of ``-sum(y * log(p + eps))``.

    Parameters
    ----------
    p : array
        Predicted probabilities, as `softmax` gives them.
    y : array
        True probabilities of the same shape, as `onehot` gives them.
    eps : float
        Keeps the loss finite where a probability is 0. `logit_cross_entropy` needs no such
        constant.
    """
    check_shapes(p, y)
    return -np.mean(np.sum(np.multiply(y, np.log(np.add(p, eps))), axis=-1))


def logit_cross_entropy(scores: Any, y: Any) -> Any:
    """Mean over the samples of ``-sum(y * logsoftmax(scores))``.

    Parameters
    ----------
    scores : array
        The output of the last layer, before any softmax.
    y : array
        True probabilities of the same shape, as `onehot` gives them.
    """
    check_shapes(scores, y)
    terms = np.multiply(by_class(y), logsoftmax(by_class(scores)))
    return -np.sum(terms) / (np.size(terms) // np.shape(terms)[-1])


def binary_cross_entropy(p: Any, y: Any, *, eps: float = 1e-12) -> Any:
    """Mean over all elements of ``-y * log(p + eps) - (1 - y) * log(1 - p + eps)``.

    Parameters
    ----------
    p : number or array
        Predicted probabilities of the label 1, as `sigmoid` gives them.
    y : number or array
        Labels 0 and 1, or probabilities between them, of the same shape.
    eps : float
        Keeps the loss finite where a probability is 0 or 1. `logit_binary_cross_entropy` needs no
        such constant.
    """
    check_shapes(p, y)
    check_probabilities(y)
    y = np.asarray(y)
    return -np.mean(y * np.log(np.add(p, eps)) + (1 - y) * np.log(np.add(np.subtract(1, p), eps)))


def logit_binary_cross_entropy(scores: Any, y: Any) -> Any:
    """Mean over all elements of ``y * log(1 + exp(-scores)) + (1 - y) * log(1 + exp(scores))``:
    `binary_cross_entropy` of ``sigmoid(scores)``.

    Parameters
    ----------
    scores : number or array
        The output of the last layer, before any sigmoid.
    y : number or array
        Labels 0 and 1, or probabilities between them, of the same shape.
    """
    check_shapes(scores, y)
    check_probabilities(y)
    y = np.asarray(y)
    # no difference of large numbers, in either class
    return np.mean(y * np.logaddexp(0, np.negative(scores)) + (1 - y) * np.logaddexp(0, scores))


def hinge_loss(yhat: Any, y: Any) -> Any:
    """Mean over all elements of ``max(0, 1 - y * yhat)``.

    Parameters
    ----------
    yhat : number or array
        Scores; the sign is the prediction.
    y : number or array
        Labels -1 and 1, of the same shape.
    """
    check_shapes(yhat, y)
    check_labels(y)
    return np.mean(relu(1.0 - np.multiply(y, yhat)))


def check_shapes(yhat: Any, y: Any) -> None:
    """Refuse shapes that broadcasting would combine silently."""
    a, b = np.shape(yhat), np.shape(y)
    if a != b:
        raise ValueError(f"prediction and truth differ in shape: {a} and {b}")
    if 0 in a:
        raise ValueError(
            f"the mean over no samples is undefined: prediction and truth have shape {a}"
        )


def check_labels(y: Any) -> None:
    """Refuse labels 0 and 1: a sample labelled 0 would have a constant loss."""
    if np.any(np.equal(y, 0)):
        raise ValueError("hinge_loss takes the labels -1 and 1, found a 0; use 2 * y - 1")


def check_probabilities(y: Any) -> None:
    """Refuse truth that is no probability: labels -1 and 1 would have a loss without a minimum."""
    wrong = [x for x in (np.min(y), np.max(y)) if not 0 <= x <= 1]
    if wrong:
        raise ValueError(
            f"a binary cross entropy takes labels from 0 to 1, found {wrong[0]}; use (y + 1) / 2"
            " for labels -1 and 1"
        )


non_differentiable(check_shapes, check_labels, check_probabilities)
