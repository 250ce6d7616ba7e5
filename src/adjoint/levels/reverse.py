"""Reverse mode inside differentiated code: the operators of `adjoint.api.gradients` on a tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.diagnostics.public_function import public
from adjoint.diagnostics.pullback_text import StaysHere, pullback_text
from adjoint.levels import level_rules, programs_on_levels  # noqa: F401  they are registered
from adjoint.levels.arguments.seeds import Seeds
from adjoint.levels.bases import NESTED, in_trial
from adjoint.levels.current import current, entered
from adjoint.levels.sweep import Sweep
from adjoint.levels.tape import Tape
from adjoint.primal.engine_object import EngineObject
from adjoint.runtime.entries import basics
from adjoint.runtime.foreign.freed_objects import check_at_end
from adjoint.runtime.leaves import Leaves, Places
from adjoint.runtime.memory.independence import independent_arguments
from adjoint.runtime.session import leaving, session


def nested(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    of_function: bool,
    wanted: tuple[int, ...] | None = None,
) -> tuple[Any, NestedPullback]:
    """Return the value of ``f(*args, **kwargs)`` and its pullback, on the current level. `wanted`
    are the indices of the differentiated arguments; ``None``: all."""
    if not basics.ready:
        basics.load()
    tape = Tape(current.level)
    chosen = range(len(args)) if wanted is None else [i % len(args) for i in wanted]
    args, apart = independent_arguments(f, args, kwargs, chosen)
    with leaving, session, entered(tape), Seeds(tape, tape.seed, apart) as seeds:
        own_f = seeds.argument(f, True) if of_function else f
        own = [seeds.argument(arg, i in chosen or None) for i, arg in enumerate(args)]
        seeds.refuse_unseen()
        leaves = [Leaves(own_f if of_function else None), *map(Leaves, own)]
        y = tape.run(own_f, *own, **kwargs)
        check_at_end(tape.memory)
        back = NestedPullback(f, tape, Places(y), leaves)
    return seeds.restored(y), back


class NestedPullback(StaysHere, EngineObject):
    """A pullback ``y_bar ↦ (f_bar, *arg_bars)``; see `adjoint.api.generic_tier.Pullback`."""

    __slots__ = ("_f", "_leaves", "_places", "_tape")

    def __init__(self, f: Any, tape: Tape, places: Places, leaves: list[Leaves]) -> None:
        self._f, self._tape, self._places, self._leaves = f, tape, places, leaves

    def __repr__(self) -> str:
        return pullback_text(self._f)

    @public
    def __call__(self, y_bar: Any) -> tuple[Any, ...]:
        """Pull back a cotangent of the result."""
        return self.swept(y_bar)

    def swept(self, y_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the function and of the arguments."""
        given = self._places.pairs(y_bar)

        def deposit(sweep: Sweep) -> None:
            for value, bar in given:
                sweep.add(value, bar)

        with leaving, session, in_trial(NESTED):
            sweep = self._tape.sweep(deposit, current.level)
            return tuple([leaves.read(sweep.read) for leaves in self._leaves])
