"""The steps of optimizers: moments, momentum, decay of weights, learning rates, clipping.

Each has the name and the formula of optax.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from adjoint.derivatives.tree_functions import tree_norm
from adjoint.derivatives.tree_names import Parts, check_part, map_parts
from adjoint.errors import ArgumentError
from adjoint.optim.recipes import pickled_by_call
from adjoint.optim.schedules import Schedule
from adjoint.optim.transformation import EmptyState, GradientTransformation, Step, transformation


class TraceState(NamedTuple):
    """The momentum of each part."""

    trace: Parts


class MomentsState(NamedTuple):
    """Moving averages of the gradient (`mu`) and of its square (`nu`); `count` updates so far."""

    count: int  # type: ignore[assignment]  # hides `tuple.count`, as in optax
    mu: Parts
    nu: Parts


class PartsState(NamedTuple):
    """The names of the parts of the model."""

    names: tuple[str, ...]


class ScheduleState(NamedTuple):
    """`count` updates so far."""

    count: int  # type: ignore[assignment]  # hides `tuple.count`, as in optax


def trace(decay: float, nesterov: bool) -> Step:
    """Momentum: ``t = g + decay * t``; with `nesterov`, ``g + decay * t`` is the update."""

    def update(bars: Parts, state: TraceState, params: Parts | None) -> tuple[Parts, TraceState]:
        def added(g: Any, t: Any) -> Any:
            return g + decay * t

        new = map_parts(added, bars, _known(state.trace, bars))
        return map_parts(added, bars, new) if nesterov else new, TraceState({**state.trace, **new})

    return Step(lambda params: TraceState(map_parts(np.zeros_like, params)), update)


def scale_by_adam(b1: float, b2: float, eps: float, eps_root: float, nesterov: bool) -> Step:
    """``m̂ / (sqrt(v̂ + eps_root) + eps)`` with the moments ``m``, ``v`` corrected for their
    start at zero."""

    def update(
        bars: Parts, state: MomentsState, params: Parts | None
    ) -> tuple[Parts, MomentsState]:
        count = state.count + 1
        mu = _moment(bars, state.mu, b1)
        nu = _square(bars, state.nu, b2)

        def scaled(g: Any, m: Any, v: Any) -> Any:
            m_hat = m / (1 - b1**count)
            if nesterov:
                m_hat = b1 * (m / (1 - b1 ** (count + 1))) + (1 - b1) * (g / (1 - b1**count))
            return m_hat / (np.sqrt(v / (1 - b2**count) + eps_root) + eps)

        state = MomentsState(count, {**state.mu, **mu}, {**state.nu, **nu})
        return map_parts(scaled, bars, mu, nu), state

    return Step(lambda params: MomentsState(0, _zeros(params), _squares(params, 0.0)), update)


def scale_by_rms(
    decay: float,
    eps: float,
    initial_scale: float,
    eps_in_sqrt: bool,
    centered: bool,
    bias_correction: bool,
) -> Step:
    """``g / sqrt(v + eps)``, or ``g / (sqrt(v) + eps)``; `centered` takes ``|m|**2`` off ``v``."""

    def update(
        bars: Parts, state: MomentsState, params: Parts | None
    ) -> tuple[Parts, MomentsState]:
        count = state.count + 1
        correction = 1 - decay**count if bias_correction else 1.0
        mu = _moment(bars, state.mu, decay) if centered else {}
        nu = _square(bars, state.nu, decay)

        def scaled(name: str, g: Any) -> Any:
            v = nu[name] / correction
            if centered:
                # rounding may leave less than 0: at first, both are the square of one gradient
                v = np.maximum(v - _abs_square(mu[name] / correction), 0)
            return g * (1 / np.sqrt(v + eps) if eps_in_sqrt else 1 / (np.sqrt(v) + eps))

        state = MomentsState(count, {**state.mu, **mu}, {**state.nu, **nu})
        return {name: scaled(name, g) for name, g in bars.items()}, state

    def init(params: Parts) -> MomentsState:
        return MomentsState(0, _zeros(params) if centered else {}, _squares(params, initial_scale))

    return Step(init, update)


def add_decayed_weights(weight_decay: float) -> Step:
    """``g + weight_decay * p``."""

    def update(bars: Parts, state: EmptyState, params: Parts | None) -> tuple[Parts, EmptyState]:
        if params is None:
            raise ArgumentError(
                "decay of the weights needs the weights",
                hint="write updates, state = opt.update(bars, state, params)",
            )
        return map_parts(lambda g, p: g + weight_decay * p, bars, params), state

    return Step(lambda params: EmptyState(), update)


def scale_by_learning_rate(learning_rate: float | Schedule) -> Step:
    """``-learning_rate * g``; a schedule gets the number of updates before this one."""
    if callable(learning_rate):
        schedule = learning_rate

        def update(
            bars: Parts, state: ScheduleState, params: Parts | None
        ) -> tuple[Parts, ScheduleState]:
            rate = float(schedule(state.count))
            return map_parts(lambda g: -rate * g, bars), ScheduleState(state.count + 1)

        return Step(lambda params: ScheduleState(0), update)
    rate = at_least_zero("learning_rate", learning_rate)
    return Step(
        lambda params: EmptyState(),
        lambda bars, state, params: (map_parts(lambda g: -rate * g, bars), state),
    )


@pickled_by_call
def clip(max_delta: float) -> GradientTransformation:
    """Bring each element of the updates into ``[-max_delta, max_delta]``.

    Parameters
    ----------
    max_delta : float
        Not negative; in the units of the updates.

    Returns
    -------
    GradientTransformation
        For `chain`, in front of an optimizer.

    Raises
    ------
    ArgumentError
        `max_delta` is negative or not finite; when ``update`` is called: an update is complex.

    Examples
    --------
    >>> opt = clip(1.0)
    >>> opt.update({"w": np.array([0.5, -7.0])}, opt.init({"w": np.zeros(2)}))[0]
    {'w': array([ 0.5, -1. ])}
    """
    bound = at_least_zero("max_delta", max_delta)

    def clipped(g: Any) -> Any:
        if np.iscomplexobj(g):
            raise ArgumentError(
                "complex numbers have no order to clip them by", hint="use clip_by_global_norm"
            )
        return np.clip(g, -bound, bound)

    return transformation(
        Step(
            lambda params: EmptyState(),
            lambda bars, state, params: (map_parts(clipped, bars), state),
        )
    )


@pickled_by_call
def clip_by_global_norm(max_norm: float) -> GradientTransformation:
    """Shorten updates whose `adjoint.tree_norm` is `max_norm` or more to that norm.

    Parameters
    ----------
    max_norm : float
        Not negative; in the units of the updates. A part that occurs in two places of the model
        counts twice.

    Returns
    -------
    GradientTransformation
        For `chain`, in front of an optimizer.

    Raises
    ------
    ArgumentError
        `max_norm` is negative or not finite.

    References
    ----------
    Pascanu, Mikolov & Bengio, *On the difficulty of training recurrent neural networks*, ICML 2013,
    algorithm 1.

    Examples
    --------
    >>> opt = clip_by_global_norm(1.0)
    >>> opt.update([3.0, 4.0], opt.init([0.0, 0.0]))[0]
    [0.6, 0.8]
    """
    bound = at_least_zero("max_norm", max_norm)

    def update(bars: Parts, state: PartsState, params: Parts | None) -> tuple[Parts, PartsState]:
        for name in bars:
            if name not in state.names:
                raise _unknown(name, state.names)
        norm = float(tree_norm(bars))
        if norm < bound:
            return bars, state
        return map_parts(lambda g: (g / norm) * bound if norm else g, bars), state

    return transformation(Step(lambda params: PartsState(tuple(params)), update))


def at_least_zero(name: str, x: float) -> float:
    """Return an option as a float; refuse what is negative, not finite or not a number."""
    try:
        y = float(x)
    except (TypeError, ValueError):
        y = math.nan
    if not 0.0 <= y < math.inf:
        raise ArgumentError(
            f"{name} must be a finite number and not negative, got {x!r}",
            hint="steps are made against the gradient, so no sign is needed",
        )
    return y


def below_one(name: str, x: float) -> float:
    """Return a decay rate as a float; refuse what is not in ``[0, 1)``."""
    if not at_least_zero(name, x) < 1.0:
        raise ArgumentError(
            f"{name} must be less than 1, got {x!r}", hint="0.9 remembers some 10 gradients"
        )
    return float(x)


# ---- moments -------------------------------------------------------------------------------------


def _known(moments: Parts, bars: Parts) -> Parts:
    """Return the moments of these parts; refuse those of another model."""
    for name, g in bars.items():
        if name not in moments:
            raise _unknown(name, moments)
        check_part(name, g, np.real(moments[name]))
    return moments


def _unknown(name: str, known: Iterable[str]) -> ArgumentError:
    return ArgumentError(
        f"the optimizer's state has no part {name!r}; it has {[*known]}",
        hint="state = opt.init(params) for this model; opt.update(bars, state, params) leaves out"
        " what is constant, such as integers",
    )


def _moment(bars: Parts, moments: Parts, decay: float) -> Parts:
    return map_parts(lambda g, m: (1 - decay) * g + decay * m, bars, _known(moments, bars))


def _square(bars: Parts, moments: Parts, decay: float) -> Parts:
    return map_parts(
        lambda g, v: (1 - decay) * _abs_square(g) + decay * v, bars, _known(moments, bars)
    )


def _abs_square(g: Any) -> Any:
    return np.real(g) ** 2 + np.imag(g) ** 2 if np.iscomplexobj(g) else g * g


def _zeros(params: Parts) -> Parts:
    return map_parts(np.zeros_like, params)


def _squares(params: Parts, start: float) -> Parts:
    return map_parts(lambda p: np.full_like(np.real(p), start), params)
