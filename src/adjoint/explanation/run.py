"""One observed run of a function and of its reverse sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjoint.api.unit_cotangent import cotangent_one
from adjoint.explanation.argument_expressions import inputs_in, names_of
from adjoint.explanation.events import Bad
from adjoint.explanation.observed_tape import ObservedTape
from adjoint.levels.arguments.seeds import Seeds
from adjoint.levels.bases import NESTED, in_trial
from adjoint.levels.current import entered
from adjoint.levels.sweep import Sweep
from adjoint.runtime.entries import basics
from adjoint.runtime.foreign.freed_objects import check_at_end
from adjoint.runtime.leaves import Leaves, Places
from adjoint.runtime.memory.independence import independent_arguments
from adjoint.runtime.results import structure_of, with_zeros
from adjoint.runtime.session import leaving, session


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a function, and of its reverse sweep.

    Attributes
    ----------
    names
        Of the arguments.
    bars
        The cotangent of each input, ``None`` for zero.
    result
        The operation that the value comes from; see `ObservedTape.maker_of`.
    call
        Function, arguments and keyword arguments.
    """

    function: str
    tape: ObservedTape
    value: Any
    gradient: tuple[Any, ...]
    names: list[str]
    bars: list[Any]
    result: int | None
    call: tuple[Any, tuple[Any, ...], dict[str, Any]]

    def first_bad(self) -> Bad | None:
        """Return where something not finite arises first, in the values, else in the sweep."""
        if any(not one.snapshot.is_finite for one in self.tape.inputs):
            return Bad("values", None, "an input is not finite")
        found = next((event for event in self.tape.events if not event.is_finite), None)
        if found is not None:
            return Bad("values", found, "all operands are finite")
        return self.tape.bad


def observed(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    """Run ``f(*args, **kwargs)`` and its reverse sweep, and watch."""
    if not basics.ready:
        basics.load()
    before = [structure_of(arg) for arg in args]
    tape = ObservedTape()
    names = names_of(f, len(args))
    call = f, args, kwargs
    args, apart = independent_arguments(f, args, kwargs, range(len(args)))
    with leaving, session, entered(tape), Seeds(tape, tape.seed, apart) as seeds:
        own = [seeds.argument(arg, True) for arg in args]
        seeds.refuse_unseen()
        leaves = [*map(Leaves, own)]
        tape.set_inputs(inputs_in(names, own))
        y = tape.run(f, *own, **kwargs)
        check_at_end(tape.memory)
        places = Places(y)
    value = seeds.restored(y)
    given = places.pairs(cotangent_one(f, value))

    def deposit(sweep: Sweep) -> None:
        for part, bar in given:
            tape.note_added(None, part, ..., bar)
            sweep.add(part, bar)

    with leaving, session, in_trial(NESTED):
        sweep = tape.sweep(deposit, None)
        found = [one.read(sweep.read) for one in leaves]
        bars = [sweep.read(one.value) for one in tape.inputs]
    gradient = tuple(map(with_zeros, before, found))
    name = str(getattr(f, "__name__", None) or type(f).__name__)
    return Run(name, tape, value, gradient, names, bars, tape.maker_of(y), call)
