"""Conversion between class numbers and one-hot rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from adjoint.rulekit.registry import non_differentiable


def onehot(labels: ArrayLike, classes: int, *, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """One-hot rows: 1 at each label, 0 elsewhere.

    Parameters
    ----------
    labels : int or array of int
        From 0 to ``classes - 1``.
    classes : int
        At least 1.
    dtype : dtype, optional
        Of the result.

    Returns
    -------
    array
        Of shape ``(*labels.shape, classes)``.

    Raises
    ------
    TypeError, ValueError
        A label is no integer, or there is no such class.

    Examples
    --------
    >>> onehot([0, 2], 3)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    if classes < 1:
        raise ValueError(f"classes must be at least 1, got {classes}")
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iub" and numbers.size:
        raise TypeError(f"labels are integers, got an array of {numbers.dtype}")
    numbers = numbers.astype(np.intp)
    wrong = numbers[(numbers < 0) | (numbers >= classes)]
    if wrong.size:
        raise ValueError(f"label {wrong.flat[0]} is not in 0..{classes - 1} ({classes} classes)")
    return np.asarray(numbers[..., np.newaxis] == np.arange(classes), dtype=dtype)


def onecold(scores: ArrayLike) -> Any:
    """Position of the largest score along the last axis, the first at a tie; inverts `onehot`.

    Parameters
    ----------
    scores : array
        One score per class along the last axis.

    Returns
    -------
    int or array of int
        Of shape ``scores.shape[:-1]``; it has no derivative.

    Raises
    ------
    ValueError
        `scores` is one number.

    Examples
    --------
    >>> onecold([[0.1, 0.9], [0.5, 0.5]])
    array([1, 0])
    """
    array = np.asarray(scores)
    if array.ndim == 0:
        raise ValueError("onecold takes one score per class along the last axis, got one number")
    return np.argmax(array, axis=-1)


non_differentiable(onehot, onecold)
