"""Derivatives taken inside code that reverse mode differentiates as generated code.

The operations inside are recorded on one tape for the whole run. The pullback of each call sweeps
its own segment of the tape when the surrounding generated sweep reaches the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing, refused
from adjoint.levels.arguments.seeds import Seeds, not_seen, with_numbers
from adjoint.levels.current import entered
from adjoint.levels.foreign.global_variables import Surroundings
from adjoint.levels.sweep import Sweep, poison_in
from adjoint.levels.tape import Tape
from adjoint.primal.array_memory import original_of, root_of
from adjoint.primal.reachability import reached
from adjoint.primal.value_kinds import by_value, fields_of
from adjoint.runtime.dispatch.source_call import bridge
from adjoint.runtime.foreign.logged_changes import Changes
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.leaves import Leaves, Places
from adjoint.runtime.memory.active_iterator import ActiveIterator as ActiveIterator
from adjoint.runtime.memory.collect import collect
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.log_entries import swap_array, swap_contents
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison
from adjoint.runtime.memory.saved import Saved
from adjoint.runtime.memory.saved_arrays import SavedArray


def call_operator(
    record: list[Any],
    slot: int,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run ``f(*args, **kwargs)``, where `f` differentiates other functions."""
    memory: Memory = record[0]
    _refuse_globals(memory)
    tape: Tape = memory.caches.setdefault("tape", None) or Tape(None)
    memory.caches["tape"] = tape
    call = _Call(memory, tape, f, args, kwargs)
    record[slot] = call.back
    return call.result()


class _Call:
    """One call, as a segment of the tape."""

    def __init__(
        self,
        memory: Memory,
        tape: Tape,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._memory, self._tape, self._f = memory, tape, f
        self._start = tape.position
        _release_written(memory, tape)
        given = (f, *args, *kwargs.values())
        self._count = len(given)
        around = Surroundings(given)
        self._given = given + around.note_bytes_changed(memory)
        before = Snapshot()
        before.add(self._given)
        outside, known = around.snapshot()
        changes, tape.written = tape.changes, {}
        self._failed: BaseException | None = None
        seeds = self._run(len(args), tuple(kwargs))
        self._note_changes(seeds, before)
        seen = {id(kept.owner) for kept in (*self._arrays, *self._stored)}
        self._elsewhere = [
            kept for kept in outside.changes()
            if id(kept.owner) not in seen and any(_carries(tape, new) for _, new in kept.pairs())
        ]  # fmt: skip
        self._first = memory.writes()
        if tape.changes != changes:
            memory.note(_swap_segment, memory, self._start, False)
        for kept in (*self._arrays, *self._stored):
            kept.log(memory)
        self._in_globals = Changes(
            memory, self._elsewhere, self._given, known, _in_a_global_variable(f)
        )
        self._stop, self._left = tape.position, memory.writes()
        tape.left = self._left
        self._iterators = [value for value in seeds.unseen if isinstance(value, ActiveIterator)]
        self._unseen = [part for value in seeds.unseen for part in with_numbers(value)]

    def result(self) -> Any:
        """Return the result of the function, or raise its exception."""
        if self._failed is not None:
            raise self._failed
        return self._results[0]

    # ---- forward ---------------------------------------------------------------------------------

    def _run(self, n: int, names: tuple[str, ...]) -> Seeds:
        """Call the function on the tape with `n` positional arguments and the keywords `names`."""
        tape, given, count = self._tape, self._given, self._count
        with entered(tape), Seeds(tape, tape.seed) as seeds:
            own = [seeds.own(value, True) for value in given[:count]]
            own += [  # an array in a global variable has one name only
                tape.seed(value, True) if isinstance(value, np.ndarray) else seeds.own(value, True)
                for value in given[count:]
            ]
            once: set[int] = set()
            self._leaves = [Leaves(value, once) for value in own]
            try:
                named = dict(zip(names, own[n + 1 :], strict=False))
                results: list[Any] = [own[0](*own[1 : n + 1], **named)]
            except Exception as error:
                self._failed = error
                results = [error.args, fields_of(error) or {}]
            made = [*map(Places, results)]
        self._results = [*map(seeds.restored, results)]
        if self._failed is not None and self._results[0] is not self._failed.args:
            self._failed.args = self._results[0]
        self._places = dict(zip(map(id, self._results), made, strict=True))
        return seeds

    def _note_changes(self, seeds: Seeds, before: Snapshot) -> None:
        """Note which of its inputs the function has changed."""
        f = self._f
        written = {key: x for key, x in self._tape.written.items() if x.dtype.kind in "fc"}
        before.count_as_changed({*written})
        self._arrays: list[Any] = []
        self._stored: list[Saved] = []
        self._names: list[Any] = []
        """The tape's names of `_arrays`."""
        for kept in before.changes():
            name = _name_of(kept, written)
            if name is None:
                self._stored.append(kept)
            else:
                self._arrays.append(kept)
                self._names.append(name)
        put = [new for kept in self._stored for _, new in kept.pairs()]
        if len({*map(id, self._names)}) < len(written):
            raise _refused(f, "changes what it was given", "write into copies")
        if any(seeds.restored(new) is not new or _holds_alias(new) for new in put):
            raise _refused(f, "stores an array that it was given", "store a copy")
        self._places |= {id(new): Places(new) for new in put}

    # ---- reverse ---------------------------------------------------------------------------------

    def back(self, y_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the function and of its arguments."""
        memory = self._memory
        sweep = _sweep_of(memory, self._tape)
        stores = self._elsewhere or self._stored or self._arrays
        if self._iterators and (y_bar is not None or stores):
            raise not_seen(self._iterators[0])
        arrived, whole = self._collect(y_bar)
        bars = [bar for _, bar in (*arrived, *whole)]
        bad = next((found for bar in bars if (found := poison_in(bar)) is not None), None)
        if bad is None:
            for value, bar in arrived:
                for part, part_bar in (self._places.get(id(value)) or Places(value)).pairs(bar):
                    sweep.add(part, part_bar)
            for name, bar in whole:
                sweep.add(name, bar)
            sweep.run_keeping_arrays(self._start, self._stop, [kept.owner for kept in self._arrays])
        memory.rewind(self._first)
        given_bars = self._deposit_inputs(sweep, bad)
        if self._unseen and (bad is not None or any(bar is not None for _, bar in arrived)):
            for value in self._unseen:
                if not by_value(value):
                    poison(memory, value, bad or Poison(not_seen(value)))
        return given_bars

    def _collect(self, y_bar: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """Collect the cotangents of new values, and of the arrays that the function has written."""
        memory = self._memory
        given_bar = None if self._failed else finish(y_bar)
        arrived = [(result, collect(memory, result, given_bar)) for result in self._results]
        memory.rewind(self._left)
        self._in_globals.back(memory, None)
        for kept in reversed(self._stored):
            arrived += [(new, collect(memory, new, bar)) for new, bar in kept.collect(memory)]
        whole = [kept.take_whole(memory) for kept in self._arrays]
        return arrived, [*zip(self._names, whole, strict=True)]

    def _deposit_inputs(self, sweep: Sweep, bad: Poison | None) -> tuple[Any, ...]:
        """Deposit the cotangents of the inputs, read from the sweep; `bad` replaces unknown
        ones."""
        memory, bars = self._memory, []

        def read(leaf: Any) -> Any:
            return sweep.take(leaf) if bad is None else bad

        for value, of in zip(self._given, self._leaves, strict=True):
            bar = of.read(read)
            if by_value(value) and not isinstance(value, np.ndarray):
                bars.append(bar)
            else:
                bars.append(deposit(memory, value, bar))
        for kept, name in zip(self._arrays, self._names, strict=True):
            rest = sweep.take(name)  # the part outside of the given views
            deposit(memory, kept.owner, rest if bad is None else bad)
        return tuple(bars[: self._count])


def _release_written(memory: Memory, tape: Tape) -> None:
    """Append tape nodes that move cotangents of arrays into `memory`: of those that generated code
    has written since the tape was last used."""
    for entry in memory.entries()[tape.left : memory.writes()]:
        if entry[0] is swap_array or entry[0] is swap_contents:
            owner = root_of(entry[1])
            for name in tape.names.of(owner):
                tape.nodes.append(partial(_release, memory, owner, name))


def _release(memory: Memory, owner: Any, name: Any, sweep: Sweep) -> None:
    bar = sweep.take(name)
    if bar is not None:
        memory.add_array(owner, bar)


def _swap_segment(entry: list[Any]) -> None:
    """Undo or redo the tape's writes of one call; the entry is ``[swap, memory, start, undone]``.
    The pullback undoes these writes itself; the log redoes them in order with the surrounding
    writes."""
    _, memory, start, undone = entry
    entry[3] = not undone
    if undone and "tape" in memory.shadows:
        memory.shadows["tape"].restore(start)


def _sweep_of(memory: Memory, tape: Tape) -> Sweep:
    """Return the tape's sweep that belongs to the running sweep of generated code."""
    known: Sweep | None = memory.shadows.get("tape")
    if known is None:
        known = memory.shadows["tape"] = Sweep(tape, None)
    return known


def _carries(tape: Tape, value: Any) -> bool:
    """Return whether `value` holds a number or an array with a derivative."""
    return any(tape.moves(part) for part in (value, *reached((value,), integers=True)))


def _holds_alias(value: Any) -> bool:
    """Return whether `value` holds an alias that exists only during the run, on any level."""
    arrays = [part for part in (value, *reached((value,))) if isinstance(part, np.ndarray)]
    return any(original_of(part) is not root_of(part) for part in arrays)


def _name_of(kept: Saved, written: dict[int, Any]) -> Any:
    """Return the tape's name of a written array; ``None`` for anything else."""
    if type(kept) is not SavedArray:
        return None
    found = written.get(id(original_of(kept.owner)))
    return None if found is None else root_of(found)


def _refuse_globals(memory: Memory) -> None:
    if memory.globals_written:
        name = next(iter(memory.globals_written))[1]
        raise refused(
            f"a derivative is taken inside code that has assigned the global variable {name!r}",
            "hand the value over as an argument",
        )


def _in_a_global_variable(f: Any) -> Exception:
    return missing(
        f"a derivative is needed of what a function that '{getattr(f, '__name__', f)}'"
        " differentiates stores in a global variable, inside differentiated code",
        hint="let the inner function return it",
    )


def _refused(f: Any, what: str, hint: str) -> Exception:
    return refused(
        f"'{getattr(f, '__name__', f)}' differentiates a function that {what}, inside"
        " differentiated code",
        f"let the inner function {hint}",
    )


bridge.append(call_operator)
