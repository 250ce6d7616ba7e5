"""Transformations one after the other."""

from __future__ import annotations

from typing import Any

from adjoint.errors import ArgumentError
from adjoint.optim.recipes import pickled_by_call
from adjoint.optim.transformation import GradientTransformation, State, check_state


@pickled_by_call
def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Apply transformations one after the other: each gets the updates of the one before.

    Parameters
    ----------
    *transformations : GradientTransformation
        For instance ``clip_by_global_norm(1.0), adam(1e-3)``.

    Returns
    -------
    GradientTransformation
        Its state is a tuple of theirs.

    Raises
    ------
    ArgumentError
        One of them is no transformation.

    Examples
    --------
    >>> from adjoint.optim import apply_updates, clip, sgd
    >>> opt = chain(clip(1.0), sgd(0.1))
    >>> state = opt.init([3.0])
    >>> updates, state = opt.update([50.0], state)
    >>> apply_updates([3.0], updates)
    [2.9]
    """
    for one in transformations:
        if not isinstance(one, tuple) or len(one) != 2:
            raise ArgumentError(
                f"chain takes transformations, got a {type(one).__name__}",
                hint="write chain(clip_by_global_norm(1.0), adam(1e-3))",
            )

    def init(params: Any) -> State:
        return tuple(one.init(params) for one in transformations)

    def update(bars: Any, state: State, params: Any = None) -> tuple[Any, State]:
        check_state(state, len(transformations))
        states = []
        for one, before in zip(transformations, state, strict=True):
            bars, after = one.update(bars, before, params)
            states.append(after)
        return bars, tuple(states)

    return GradientTransformation(init, update)
