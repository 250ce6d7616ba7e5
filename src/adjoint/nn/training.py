"""Gradient descent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adjoint as ad
from adjoint.nn.parameters import check_learning_rate, has_nonzero_gradient, parameters, update
from adjoint.nn.progress import Advance, progress_bar


def gradient_descent(
    model: Callable[[Any], Any],
    loss: Callable[[Any, Any], Any],
    X: Any,
    Y: Any,
    *,
    learning_rate: float,
    max_iters: int,
    batch_size: int | None = None,
    rng: np.random.Generator | int | None = None,
    callback: Callable[[int, float], object] | None = None,
    progress: bool | str = False,
) -> list[float]:
    """Train a model in place: each iteration makes one step against the gradient of
    ``loss(model(X), Y)``.

    Parameters
    ----------
    model : callable
        Any object, as for `parameters`; its arrays are updated.
    loss : callable
        ``loss(prediction, truth)`` returns one real number.
    X, Y : array or sequence
        Inputs and truth, one sample per row.
    learning_rate : float
        Not negative; in units of (parameter)² / (loss).
    max_iters : int
        The number of steps.
    batch_size : int, optional
        Samples per step. The samples are shuffled, used up in batches, and shuffled again. By
        default each step uses all of them.
    rng : numpy.random.Generator or int, optional
        Shuffles.
    callback : callable, optional
        Called as ``callback(iteration, loss)`` after each step.
    progress : bool or str
        Show a progress bar, under this name if it is a string; needs the extra
        ``adjoint-ad[progress]``.

    Returns
    -------
    list of float
        The loss of the samples of each iteration, before its step.

    Raises
    ------
    TypeError, ValueError
        The model is not callable or holds no arrays of floats, `X` and `Y` differ in length or are
        empty, or an option is out of range.
    """
    _check(model, X, Y, learning_rate, max_iters, batch_size)
    history: list[float] = []
    batches = _batches(X, Y, batch_size, np.random.default_rng(rng))
    bar: AbstractContextManager[Advance | None] = nullcontext()
    if progress:
        bar = progress_bar(progress if isinstance(progress, str) else "gradient descent", max_iters)
    with bar as advance:
        for iteration in range(max_iters):
            x, y = next(batches)
            value, gradient = ad.withgradient(_objective, model, loss=loss, x=x, y=y)
            if iteration == 0 and not has_nonzero_gradient(model, gradient[0]):
                warnings.warn(
                    "the gradient of the loss is zero in all of the model's arrays: there is"
                    " nothing to follow, unless the model is at an optimum",
                    RuntimeWarning,
                    stacklevel=2,
                )
            update(model, gradient[0], learning_rate)
            history.append(float(value))
            if callback is not None:
                callback(iteration, history[-1])
            if advance is not None:
                advance(f"loss {history[-1]:.4g}")
    return history


def _objective(model: Any, *, loss: Any, x: Any, y: Any) -> Any:
    return loss(model(x), y)


def _check(
    model: Any, X: Any, Y: Any, learning_rate: float, max_iters: int, batch_size: int | None
) -> None:
    check_learning_rate(learning_rate)
    if max_iters < 0:
        raise ValueError(f"max_iters must not be negative, got {max_iters}")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    if len(X) != len(Y):
        raise ValueError(f"X has {len(X)} samples, Y has {len(Y)}")
    if len(X) == 0:
        raise ValueError("there are no samples to train on")
    if not callable(model):
        raise TypeError(f"the model must be callable, got {type(model).__name__}")
    if not parameters(model):
        raise ValueError(
            f"{type(model).__name__} holds no arrays of floats to train; numbers, lists of numbers"
            " and integer arrays are constants: keep parameters in np.array(..., dtype=float)"
        )


def _batches(
    X: Any, Y: Any, batch_size: int | None, rng: np.random.Generator
) -> Iterator[tuple[Any, Any]]:
    """Yield batches without end."""
    if batch_size is None:
        while True:
            yield X, Y
    X, Y = np.asarray(X), np.asarray(Y)
    while True:
        order: NDArray[np.intp] = rng.permutation(len(X))
        for start in range(0, len(X), batch_size):
            chosen = order[start : start + batch_size]
            yield X[chosen], Y[chosen]
