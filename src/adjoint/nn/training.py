"""Gradient descent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.nn.parameters import (
    check_learning_rate,
    cotangents_of,
    has_nonzero_gradient,
    no_arrays,
    parameters,
    update,
)
from adjoint.nn.patience import Patience
from adjoint.nn.progress import Advance, progress_bar
from adjoint.optim.schedules import Schedule
from adjoint.optim.transformation import GradientTransformation


def gradient_descent(
    model: Callable[[Any], Any],
    loss: Callable[[Any, Any], Any],
    X: Any,
    Y: Any,
    *,
    learning_rate: float | Schedule | None = None,
    max_iters: int,
    batch_size: int | None = None,
    rng: np.random.Generator | int | None = None,
    optimizer: GradientTransformation | None = None,
    patience: int | None = None,
    min_delta: float = 0.0,
    validation: tuple[Any, Any] | None = None,
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
    learning_rate : float or callable
        Not negative; in units of (parameter)² / (loss). Or a schedule, such as those of
        `adjoint.optim`: the rate by the number of steps so far.
    max_iters : int
        The number of steps.
    batch_size : int, optional
        Samples per step. The samples are shuffled, used up in batches, and shuffled again. By
        default each step uses all of them.
    rng : numpy.random.Generator or int, optional
        Shuffles.
    optimizer : GradientTransformation, optional
        One of `adjoint.optim`, such as ``ad.optim.adam(1e-3)``, in the place of `learning_rate`.
    patience : int, optional
        Stop after so many rounds through the samples without a new lowest loss; without batches
        each iteration is a round. The loss of a round is the mean over its samples, each before the
        step that uses it, or that of `validation`. The model stays as the last step left it.
    min_delta : float
        A loss counts as the lowest only if it is lower by more than this; not negative.
    validation : tuple (X, Y), optional
        Samples whose loss, after each round, decides when to stop; needs `patience`.
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

    Examples
    --------
    >>> from adjoint.nn import Dense, mse
    >>> X = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> model = Dense(1, 1, rng=0)
    >>> opt = ad.optim.adam(0.1)
    >>> history = gradient_descent(
    ...     model, mse, X, 3 * X, optimizer=opt, max_iters=500, batch_size=5, rng=0, patience=20
    ... )
    >>> history[-1] < 1e-3
    True
    """
    _check(model, X, Y, max_iters, batch_size, patience, min_delta, validation)
    step = _step(model, learning_rate, optimizer)
    history: list[float] = []
    batches = _batches(X, Y, batch_size, np.random.default_rng(rng))
    waiting = Patience(patience, min_delta)
    bar: AbstractContextManager[Advance | None] = nullcontext()
    if progress:
        bar = progress_bar(progress if isinstance(progress, str) else "gradient descent", max_iters)
    with bar as advance:
        for iteration in range(max_iters):
            x, y, ends_round = next(batches)
            value, gradient = ad.withgradient(_objective, model, loss=loss, x=x, y=y)
            if iteration == 0 and not has_nonzero_gradient(model, gradient[0]):
                warnings.warn(
                    "the gradient of the loss is zero in all of the model's arrays: there is"
                    " nothing to follow, unless the model is at an optimum",
                    RuntimeWarning,
                    stacklevel=2,
                )
            step(gradient[0], iteration)
            history.append(float(value))
            waiting.add(history[-1], len(x))
            if callback is not None:
                callback(iteration, history[-1])
            if advance is not None:
                advance(f"loss {history[-1]:.4g}")
            if ends_round and patience is not None:
                known = (
                    None if validation is None else float(loss(model(validation[0]), validation[1]))
                )
                if waiting.is_over(known):
                    break
    return history


def _objective(model: Any, *, loss: Any, x: Any, y: Any) -> Any:
    return loss(model(x), y)


def _step(
    model: Any, learning_rate: float | Schedule | None, optimizer: GradientTransformation | None
) -> Callable[[Any, int], None]:
    """Return a function of a gradient and the number of steps so far that updates the model."""
    if (learning_rate is None) == (optimizer is None):
        raise ArgumentError(
            "gradient_descent takes either a learning_rate or an optimizer",
            hint="write learning_rate=0.1, or optimizer=ad.optim.adam(1e-3), which has its own",
        )
    if optimizer is not None:
        return _step_of(optimizer, model)
    if callable(learning_rate):
        schedule = learning_rate
        return lambda gradient, count: update(model, gradient, float(schedule(count)))
    rate: Any = learning_rate
    check_learning_rate(rate)
    return lambda gradient, count: update(model, gradient, rate)


def _step_of(optimizer: GradientTransformation, model: Any) -> Callable[[Any, int], None]:
    if not isinstance(optimizer, tuple) or len(optimizer) != 2:
        raise ArgumentError(
            f"optimizer must be one of ad.optim, got a {type(optimizer).__name__}",
            hint="write optimizer=ad.optim.adam(1e-3)",
        )
    arrays = parameters(model)
    state = optimizer.init(arrays)

    def step(gradient: Any, count: int) -> None:
        nonlocal state
        bars = cotangents_of(arrays, model, gradient)
        updates, state = optimizer.update(bars, state, arrays)
        for array, change in zip(arrays, updates, strict=True):
            if change is not None:
                array += change

    return step


def _check(
    model: Any,
    X: Any,
    Y: Any,
    max_iters: int,
    batch_size: int | None,
    patience: int | None,
    min_delta: float,
    validation: Any,
) -> None:
    if max_iters < 0:
        raise ValueError(f"max_iters must not be negative, got {max_iters}")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    if patience is not None and patience < 1:
        raise ValueError(f"patience must be at least 1, got {patience}")
    if not 0 <= min_delta < np.inf:
        raise ValueError(f"min_delta must be finite and not negative, got {min_delta}")
    if validation is not None and patience is None:
        raise ValueError("validation decides when to stop: give patience, the rounds to wait, too")
    for x, y in [(X, Y)] if validation is None else [(X, Y), validation]:
        if len(x) != len(y):
            raise ValueError(f"X has {len(x)} samples, Y has {len(y)}")
        if len(x) == 0:
            raise ValueError("there are no samples to train on")
    if not callable(model):
        raise TypeError(f"the model must be callable, got {type(model).__name__}")
    if not parameters(model):
        raise ValueError(no_arrays(model))


def _batches(
    X: Any, Y: Any, batch_size: int | None, rng: np.random.Generator
) -> Iterator[tuple[Any, Any, bool]]:
    """Yield batches without end, and whether they are the last ones of their round."""
    if batch_size is None:
        while True:
            yield X, Y, True
    X, Y = np.asarray(X), np.asarray(Y)
    while True:
        order: NDArray[np.intp] = rng.permutation(len(X))
        for start in range(0, len(X), batch_size):
            chosen = order[start : start + batch_size]
            yield X[chosen], Y[chosen], start + batch_size >= len(X)
