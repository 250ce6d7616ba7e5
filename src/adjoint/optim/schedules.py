"""Learning rates by the number of updates so far, with the names and formulas of optax."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from adjoint.errors import ArgumentError
from adjoint.optim.recipes import pickled_by_call

Schedule: TypeAlias = Callable[[int], float]
"""``rate(count)``: a learning rate by the number of updates so far. Any such function will do."""


@pickled_by_call
def constant_schedule(value: float) -> Schedule:
    """The same rate at all times.

    Parameters
    ----------
    value : float
        The rate.

    Returns
    -------
    callable
        ``schedule(count)`` is the rate after `count` updates.

    Examples
    --------
    >>> constant_schedule(0.1)(1000)
    0.1
    """

    def schedule(count: int) -> float:
        return value

    return schedule


@pickled_by_call
def exponential_decay(
    init_value: float,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """``init_value * decay_rate ** ((count - transition_begin) / transition_steps)``.

    Parameters
    ----------
    init_value : float
        The rate until `transition_begin`.
    transition_steps : int
        In how many updates the rate changes by `decay_rate`.
    decay_rate : float
        Positive.
    transition_begin : int
        Not negative.
    staircase : bool
        Round the exponent down.
    end_value : float, optional
        A bound: the lowest rate if `decay_rate` is below 1, else the highest.

    Returns
    -------
    callable
        ``schedule(count)`` is the rate after `count` updates.

    Raises
    ------
    ArgumentError
        A number of updates is too small, or `decay_rate` is not positive.

    Examples
    --------
    >>> rate = exponential_decay(1.0, 10, 0.5)
    >>> rate(0), rate(10), rate(20)
    (1.0, 0.5, 0.25)
    """
    _check_count("transition_steps", transition_steps, 1)
    _check_count("transition_begin", transition_begin, 0)
    if not decay_rate > 0:
        raise ArgumentError(
            f"decay_rate must be positive, got {decay_rate!r}", hint="0.5 halves the rate"
        )

    def schedule(count: int) -> float:
        p = max(count - transition_begin, 0) / transition_steps
        value = init_value * decay_rate ** (math.floor(p) if staircase else p)
        if end_value is None:
            return value
        return max(value, end_value) if decay_rate < 1 else min(value, end_value)

    return schedule


@pickled_by_call
def cosine_decay_schedule(
    init_value: float, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Half a period of a cosine, from `init_value` down to ``alpha * init_value``.

    Parameters
    ----------
    init_value : float
        The first rate.
    decay_steps : int
        After so many updates the rate stays at its end.
    alpha : float
        The last rate as a fraction of the first.
    exponent : float
        Of the falling part ``(1 + cos(pi * count / decay_steps)) / 2``.

    Returns
    -------
    callable
        ``schedule(count)`` is the rate after `count` updates.

    Raises
    ------
    ArgumentError
        `decay_steps` is below 1.

    References
    ----------
    Loshchilov & Hutter, *SGDR: Stochastic gradient descent with warm restarts*, ICLR 2017, eq. 5.

    Examples
    --------
    >>> rate = cosine_decay_schedule(1.0, 10)
    >>> rate(0), round(rate(5), 6), rate(10), rate(99)
    (1.0, 0.5, 0.0, 0.0)
    """
    _check_count("decay_steps", decay_steps, 1)

    def schedule(count: int) -> float:
        cosine = 0.5 * (1 + math.cos(math.pi * min(count, decay_steps) / decay_steps))
        return float(init_value * ((1 - alpha) * cosine**exponent + alpha))

    return schedule


@pickled_by_call
def warmup_cosine_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    decay_steps: int,
    end_value: float = 0.0,
    exponent: float = 1.0,
) -> Schedule:
    """A straight line from `init_value` to `peak_value`, then half a cosine to `end_value`.

    Parameters
    ----------
    init_value, peak_value, end_value : float
        The rates at 0, at `warmup_steps`, and from `decay_steps` on.
    warmup_steps : int
        Updates along the straight line; not negative.
    decay_steps : int
        Updates in all, warm-up included.
    exponent : float
        As for `cosine_decay_schedule`.

    Returns
    -------
    callable
        ``schedule(count)`` is the rate after `count` updates.

    Raises
    ------
    ArgumentError
        `warmup_steps` is negative, or `decay_steps` not larger than it.

    Examples
    --------
    >>> rate = warmup_cosine_decay_schedule(0.0, 1.0, 10, 30, end_value=0.5)
    >>> rate(0), rate(5), rate(10), rate(20), rate(30)
    (0.0, 0.5, 1.0, 0.75, 0.5)
    """
    _check_count("warmup_steps", warmup_steps, 0)
    _check_count("decay_steps", decay_steps, warmup_steps + 1)
    alpha = 0.0 if peak_value == 0.0 else end_value / peak_value
    decay = cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)

    def schedule(count: int) -> float:
        if count < warmup_steps:
            return (init_value - peak_value) * (1 - count / warmup_steps) + peak_value
        return decay(count - warmup_steps)

    return schedule


@pickled_by_call
def piecewise_constant_schedule(
    init_value: float, boundaries_and_scales: Mapping[int, float] | None = None
) -> Schedule:
    """A rate that is multiplied by a factor at given numbers of updates.

    Parameters
    ----------
    init_value : float
        The rate before the first of them.
    boundaries_and_scales : mapping of int to float, optional
        The factors, not negative, by the first update that they apply to.

    Returns
    -------
    callable
        ``schedule(count)`` is the rate after `count` updates.

    Raises
    ------
    ArgumentError
        A factor is negative.

    Examples
    --------
    >>> rate = piecewise_constant_schedule(1.0, {10: 0.5, 20: 0.1})
    >>> rate(9), rate(10), rate(20)
    (1.0, 0.5, 0.05)
    """
    steps = dict(boundaries_and_scales or {})
    for scale in steps.values():
        if not scale >= 0:
            raise ArgumentError(
                f"a factor of the rate must not be negative, got {scale!r}",
                hint="the factors multiply: 0.1 takes the rate down to a tenth",
            )

    def schedule(count: int) -> float:
        return init_value * math.prod(scale for start, scale in steps.items() if count >= start)

    return schedule


def _check_count(name: str, n: int, least: int) -> None:
    if not n >= least:
        raise ArgumentError(
            f"{name} must be at least {least}, got {n!r}", hint="it is a number of updates"
        )
