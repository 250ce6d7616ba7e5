"""Optimizers, with the names, options and formulas of optax."""

from __future__ import annotations

from adjoint.optim.optimizer_steps import (
    add_decayed_weights,
    at_least_zero,
    below_one,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_rms,
    trace,
)
from adjoint.optim.recipes import pickled_by_call
from adjoint.optim.schedules import Schedule
from adjoint.optim.transformation import GradientTransformation, Step, transformation


@pickled_by_call
def sgd(
    learning_rate: float | Schedule, momentum: float | None = None, nesterov: bool = False
) -> GradientTransformation:
    """Gradient descent, with or without momentum.

    Parameters
    ----------
    learning_rate : float or callable
        Not negative, in units of (parameter)² / (loss); or a schedule: the rate by the number of
        updates so far.
    momentum : float, optional
        From 0 to below 1.
    nesterov : bool
        Nesterov's momentum instead of Polyak's; needs `momentum`.

    Returns
    -------
    GradientTransformation
        Its ``init`` and ``update`` are for any model.

    Raises
    ------
    ArgumentError
        An option is out of its range.

    References
    ----------
    Sutskever, Martens, Dahl & Hinton, *On the importance of initialization and momentum in deep
    learning*, ICML 2013.

    Examples
    --------
    >>> import adjoint as ad
    >>> params = {"w": 3.0}
    >>> opt = sgd(0.1, momentum=0.5)
    >>> state = opt.init(params)
    >>> for _ in range(60):
    ...     (bars,) = ad.gradient(lambda p: (p["w"] - 1.0) ** 2, params)
    ...     updates, state = opt.update(bars, state, params)
    ...     params = ad.optim.apply_updates(params, updates)
    >>> round(params["w"], 6)
    1.0
    """
    steps = [scale_by_learning_rate(learning_rate)]
    if momentum is not None:
        steps.insert(0, trace(below_one("momentum", momentum), nesterov))
    return transformation(*steps)


@pickled_by_call
def adam(
    learning_rate: float | Schedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam: steps of about the learning rate in each element.

    Parameters
    ----------
    learning_rate : float or callable
        Not negative, in units of the parameters; or a schedule.
    b1, b2 : float
        Decay rates of the averages of the gradient and of its square, from 0 to below 1.
    eps, eps_root : float
        Added to the square root of the second average, and under it.
    nesterov : bool
        Nesterov's momentum, as in Dozat, *Incorporating Nesterov momentum into Adam*, 2016.

    Returns
    -------
    GradientTransformation
        Its ``init`` and ``update`` are for any model.

    Raises
    ------
    ArgumentError
        An option is out of its range.

    References
    ----------
    Kingma & Ba, *Adam: A method for stochastic optimization*, ICLR 2015, algorithm 1.

    Examples
    --------
    >>> opt = adam(0.1)
    >>> updates, state = opt.update([5.0, None], opt.init([1.0, "text"]))
    >>> round(float(updates[0]), 6), updates[1]
    (-0.1, None)
    """
    return transformation(
        _moments(b1, b2, eps, eps_root, nesterov), scale_by_learning_rate(learning_rate)
    )


@pickled_by_call
def adamw(
    learning_rate: float | Schedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    weight_decay: float = 1e-4,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam with weight decay beside the gradient: ``update`` needs the parameters.

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root, nesterov
        As for `adam`.
    weight_decay : float
        Not negative; the learning rate times this is the fraction that each step takes off.

    Returns
    -------
    GradientTransformation
        Its ``init`` and ``update`` are for any model.

    Raises
    ------
    ArgumentError
        An option is out of its range; when ``update`` is called: the parameters are missing.

    References
    ----------
    Loshchilov & Hutter, *Decoupled weight decay regularization*, ICLR 2019, algorithm 2.

    Examples
    --------
    >>> opt = adamw(0.1, weight_decay=0.01)
    >>> updates, state = opt.update([0.0], opt.init([2.0]), [2.0])
    >>> round(float(updates[0]), 6)
    -0.002
    """
    return transformation(
        _moments(b1, b2, eps, eps_root, nesterov),
        add_decayed_weights(at_least_zero("weight_decay", weight_decay)),
        scale_by_learning_rate(learning_rate),
    )


@pickled_by_call
def rmsprop(
    learning_rate: float | Schedule,
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    eps_in_sqrt: bool = True,
    centered: bool = False,
    momentum: float | None = None,
    nesterov: bool = False,
    bias_correction: bool = False,
) -> GradientTransformation:
    """The gradient divided by the square root of the average of its square.

    Parameters
    ----------
    learning_rate : float or callable
        Not negative, in units of the parameters; or a schedule.
    decay : float
        Of the averages, from 0 to below 1.
    eps : float
        Added to the average of the square; not negative.
    initial_scale : float
        The average of the square at first.
    eps_in_sqrt : bool
        Add `eps` under the square root, as optax does; otherwise to the root, as PyTorch does.
    centered : bool
        Divide by the estimated standard deviation instead.
    momentum : float, optional
        Applied to the steps, from 0 to below 1.
    nesterov : bool
        Nesterov's momentum; needs `momentum`.
    bias_correction : bool
        Correct the averages for their start.

    Returns
    -------
    GradientTransformation
        Its ``init`` and ``update`` are for any model.

    Raises
    ------
    ArgumentError
        An option is out of its range.

    References
    ----------
    Graves, *Generating sequences with recurrent neural networks*, arXiv:1308.0850, eqs. 38-45.

    Examples
    --------
    >>> opt = rmsprop(0.1, decay=0.75)
    >>> updates, state = opt.update([5.0], opt.init([1.0]))
    >>> round(float(updates[0]), 6)
    -0.2
    """
    steps = [
        scale_by_rms(
            below_one("decay", decay),
            at_least_zero("eps", eps),
            at_least_zero("initial_scale", initial_scale),
            eps_in_sqrt,
            centered,
            bias_correction,
        ),
        scale_by_learning_rate(learning_rate),
    ]
    if momentum is not None:
        steps.append(trace(below_one("momentum", momentum), nesterov))
    return transformation(*steps)


def _moments(b1: float, b2: float, eps: float, eps_root: float, nesterov: bool) -> Step:
    return scale_by_adam(
        below_one("b1", b1),
        below_one("b2", b2),
        at_least_zero("eps", eps),
        at_least_zero("eps_root", eps_root),
        nesterov,
    )
