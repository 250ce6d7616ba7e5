"""The form of an optimizer: `init` makes a state, `update` turns a gradient into a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from adjoint.derivatives.tree_functions import tree_map
from adjoint.derivatives.tree_names import (
    Parts,
    check_part,
    cotangents,
    variables,
    warn_of_captured,
    with_parts,
)
from adjoint.derivatives.tree_plan import is_variable
from adjoint.errors import ArgumentError

State: TypeAlias = Any
Params = TypeVar("Params")


class Update(Protocol):
    """``updates, state = update(bars, state, params)``."""

    def __call__(self, bars: Any, state: State, params: Any = None) -> tuple[Any, State]: ...


class GradientTransformation(NamedTuple):
    """An optimizer, or a part of one for `chain`: a pair of functions without memory of their own.

    Parameters
    ----------
    init : callable
        ``init(params)`` gives the first state: tuples of numbers and of arrays by name.
    update : callable
        ``update(bars, state, params=None)`` gives ``(updates, state)``. `bars` is what
        `adjoint.gradient` gives for `params`; `updates` has its structure, for `apply_updates`.
        Where `bars` has ``None``, `updates` has ``None``, and the state keeps its part.

    Examples
    --------
    One of your own, which takes the sign of each element:

    >>> def update(bars, state, params=None):
    ...     return tree_map(lambda bar: -0.1 * np.sign(bar), bars), state
    >>> opt = GradientTransformation(lambda params: (), update)
    >>> updates, state = opt.update({"w": np.array([5.0, -2.0])}, opt.init(None))
    >>> updates
    {'w': array([-0.1,  0.1])}
    """

    init: Callable[[Any], State]
    update: Update


class Step(NamedTuple):
    """A transformation of parts by name, of which optimizers are made."""

    init: Callable[[Parts], State]
    update: Callable[[Parts, State, Parts | None], tuple[Parts, State]]


class EmptyState(NamedTuple):
    """The state of a step that remembers nothing."""


def transformation(*steps: Step) -> GradientTransformation:
    """Return the steps, one after the other, as a transformation of models."""

    kinds = [type(step.init({})) for step in steps]

    def init(params: Any) -> State:
        parts = variables(params)
        warn_of_captured(params)
        return tuple(step.init(parts) for step in steps)

    def update(bars: Any, state: State, params: Any = None) -> tuple[Any, State]:
        check_state(state, len(steps))
        if [*map(type, state)] != kinds:
            raise _other_state()
        parts, known = cotangents(bars, params)
        states = []
        for step, before in zip(steps, state, strict=True):
            parts, after = step.update(parts, before, known)
            states.append(after)
        return with_parts(bars, parts), tuple(states)

    return GradientTransformation(init, update)


def apply_updates(params: Params, updates: Any) -> Params:
    """A copy of a model with updates added.

    Parameters
    ----------
    params
        Any model, as for `adjoint.tree_map`.
    updates
        As ``update`` of an optimizer gives them; ``None`` is zero.

    Returns
    -------
    params
        ``p + u`` for each float, of the dtype of ``p``; integers and all else are constants, arrays
        and objects that occur twice still do.

    Raises
    ------
    ArgumentError
        `updates` does not fit `params`; the message names the first place.

    Examples
    --------
    >>> apply_updates({"w": 1.0, "n": 3, "name": "line"}, {"w": 0.5, "n": None, "name": None})
    {'w': 1.5, 'n': 3, 'name': 'line'}
    """
    return tree_map(_moved, params, updates)


def _moved(p: Any, u: Any) -> Any:
    if u is None or not is_variable(p):
        return p
    check_part("", p, u)
    if isinstance(p, np.ndarray):
        return (p + u).astype(p.dtype, copy=False)
    return type(p)(p + u)


def check_state(state: State, steps: int) -> None:
    if not isinstance(state, tuple) or len(state) != steps:
        raise _other_state()


def _other_state() -> ArgumentError:
    return ArgumentError(
        "the state is not one of this optimizer",
        hint="state = opt.init(params); updates, state = opt.update(bars, state, params)",
    )
