"""The fraction of samples that are classified correctly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adjoint.nn.labels import onecold
from adjoint.rulekit.registry import non_differentiable


def accuracy(yhat: ArrayLike, y: ArrayLike) -> float:
    """Fraction of the samples whose predicted class is the true one.

    Parameters
    ----------
    yhat : array
        Scores or probabilities with the classes along the last axis; the largest is the prediction,
        the first at a tie. Or the predicted classes themselves, integers or booleans.
    y : array
        Class numbers, one for each sample; or rows as `onehot` gives them, of the shape of `yhat`.

    Returns
    -------
    float
        From 0 to 1; it has no derivative.

    Raises
    ------
    ValueError
        The shapes do not fit, or there are no samples. One score per sample says nothing about
        the threshold: give ``scores > 0``, or ``p > 0.5``, with labels 0 and 1.

    Examples
    --------
    >>> accuracy([[0.1, 0.9], [0.8, 0.2]], [1, 1])
    0.5
    >>> accuracy(np.array([-3.0, 2.0]) > 0, [0, 1])
    1.0
    """
    predicted, truth = np.asarray(yhat), np.asarray(y)
    if not _are_classes(predicted):
        if predicted.shape[-1:] == (1,):
            raise _misfit(predicted, truth)  # the largest of one score says nothing
        if predicted.ndim > 1 and predicted.shape == truth.shape:
            truth = onecold(truth)
        elif predicted.ndim == 0 or predicted.shape[:-1] != truth.shape:
            raise _misfit(predicted, truth)
        predicted = np.asarray(onecold(predicted))
    if predicted.shape != truth.shape:
        raise _misfit(predicted, truth)
    if truth.size == 0:
        raise ValueError("the accuracy of no samples is undefined")
    return float(np.mean(predicted == truth))


def _are_classes(array: NDArray[np.generic]) -> bool:
    return array.dtype.kind in "iub"


def _misfit(predicted: NDArray[np.generic], truth: NDArray[np.generic]) -> ValueError:
    return ValueError(
        f"predictions of shape {predicted.shape} do not fit labels of shape {truth.shape}: give"
        " scores with the classes along the last axis, or predicted classes, such as scores > 0"
    )


non_differentiable(accuracy)
