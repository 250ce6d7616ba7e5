"""Derivatives taken inside code that reverse mode differentiates as generated code.

What happens inside is put on one tape for the whole run; the pullback of each call sweeps its own
segment of the tape, in the order of the generated sweep around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from adjoint.levels.current import entered
from adjoint.levels.leaves import Leaves, Places
from adjoint.levels.seeds import Seeds
from adjoint.levels.sweep import Sweep, poison_in
from adjoint.levels.tape import Tape
from adjoint.run.accumulate import Poison, finish
from adjoint.run.by_source import bridge
from adjoint.run.holding import globals_of, reached
from adjoint.run.iterator import Iterator as ActiveIterator
from adjoint.run.kept import Kept
from adjoint.run.kept_arrays import KeptArray
from adjoint.run.kinds import by_value, fields_of, is_record
from adjoint.run.memory import Memory
from adjoint.run.native import Changes
from adjoint.run.reader import take
from adjoint.run.refused import missing, refused
from adjoint.run.snapshot import Snapshot
from adjoint.run.structure import deposit
from adjoint.run.swaps import swap_array, swap_contents
from adjoint.run.unknown import poison
from adjoint.run.views import original_of, root_of

__all__ = ["call_operator"]


def call_operator(
    record: list[Any],
    slot: int,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """``f(*args, **kwargs)`` of a function that differentiates others."""
    memory: Memory = record[0]
    _refuse_globals(memory)
    counts = _counts(memory)
    tape: Tape = memory.caches.setdefault("tape", None) or Tape(None)
    memory.caches["tape"] = tape
    start = tape.position
    _hand_out(memory, tape)
    given = (f, *args, *kwargs.values())
    count = len(given)
    given += _held_globally(memory, f, given)
    before = Snapshot()
    before.add(given)
    outside, known = _global_variables(given)
    changes, tape.written = tape.changes, {}
    # Only the pullback has cotangents for what the function has captured; to all others that is
    # a constant, also where it is one of the arguments.
    apart = getattr(f, "__name__", "") != "pullback"
    failed: BaseException | None = None
    with entered(tape), Seeds(tape, tape.seed, apart=apart) as seeds:
        own = [seeds.own(value, True) for value in given[:count]]
        own += [  # a global array has one name only
            tape.seed(value, True) if isinstance(value, np.ndarray) else seeds.own(value, True)
            for value in given[count:]
        ]
        once: set[int] = set()
        leaves = [Leaves(value, once) for value in own]
        n = len(args)
        try:
            named = dict(zip(kwargs, own[n + 1 :], strict=False))
            y = own[0](*own[1 : n + 1], **named)
        except Exception as error:
            y, failed = None, error
        results: list[Any] = [y] if failed is None else [failed.args, fields_of(failed) or {}]
        made = [*map(Places, results)]
    results = [*map(seeds.restored, results)]
    if failed is not None and results[0] is not failed.args:
        failed.args = results[0]
    written = dict(tape.written)
    before.forget_arrays({*written})
    differing = before.changes()
    arrays: list[Any] = [kept for kept in differing if _name_of(kept, written) is not None]
    stored = [kept for kept in differing if _name_of(kept, written) is None]
    put = [new for kept in stored for _, new in kept.pairs()]
    if len({id(_name_of(kept, written)) for kept in arrays}) < len(written):
        raise _refused(f, "changes what it was given", "write into copies")
    if any(seeds.restored(new) is not new or _has_stand_in(new) for new in put):
        raise _refused(f, "stores an array that it was given", "store a copy")
    seen = {id(kept.owner) for kept in differing}
    elsewhere = [
        kept for kept in outside.changes()
        if id(kept.owner) not in seen and any(_carries(tape, new) for _, new in kept.pairs())
    ]  # fmt: skip
    places = dict(zip(map(id, results), made, strict=True)) | {id(new): Places(new) for new in put}
    first = memory.writes()
    if tape.changes != changes:
        memory.note(_swap_segment, memory, start, False)
    for kept in (*arrays, *stored):
        kept.log(memory)
    in_globals = Changes(memory, elsewhere, given, known, _in_a_global_variable(f))
    stop, left = tape.position, memory.writes()
    tape.left = left
    iterators = [value for value in seeds.unseen if isinstance(value, ActiveIterator)]
    unseen = [part for value in seeds.unseen for part in _with_numbers(value)]

    def operator_back(y_bar: Any) -> tuple[Any, ...]:
        sweep = _sweep_of(memory, tape)
        if iterators and (y_bar is not None or elsewhere or stored or arrays):
            raise _unseen(iterators[0])
        given_bar = None if failed else finish(y_bar)
        arrived = [(result, take(memory, result, given_bar)) for result in results]
        memory.rewind(left)
        in_globals.back(memory, None)
        for kept in reversed(stored):
            arrived += [(new, take(memory, new, bar)) for new, bar in kept.take(memory)]
        whole = [(_name_of(kept, written), kept.take_whole(memory)) for kept in arrays]
        bars_of_all = [bar for _, bar in (*arrived, *whole)]
        bad = next((found for bar in bars_of_all if (found := poison_in(bar)) is not None), None)
        if bad is None:
            for value, bar in arrived:
                for part, part_bar in (places.get(id(value)) or Places(value)).pairs(bar):
                    sweep.add(part, part_bar)
            for name, bar in whole:
                sweep.add(name, bar)
            sweep.run_beside(start, stop, [kept.owner for kept in arrays])
        memory.rewind(first)
        bars: list[Any] = []

        def read(leaf: Any) -> Any:
            if isinstance(leaf, int) or _is_of_integers(leaf):
                return counts if sweep.touched or bad is not None else None
            return sweep.take(leaf) if bad is None else bad

        for value, of in zip(given, leaves, strict=True):
            bar = of.read(read)
            if by_value(value) and not isinstance(value, np.ndarray):
                bars.append(bar)
            else:
                bars.append(deposit(memory, value, bar))
        for kept, (name, _) in zip(arrays, whole, strict=True):
            rest = sweep.take(name)  # outside of the views that were given
            deposit(memory, kept.owner, rest if bad is None else bad)
        if unseen and (bad is not None or any(bar is not None for _, bar in arrived)):
            for value in unseen:
                if not by_value(value):
                    poison(memory, value, bad or Poison(_unseen(value)))
        return tuple(bars[:count])

    record[slot] = operator_back
    if failed is not None:
        raise failed
    return results[0]


def _hand_out(memory: Memory, tape: Tape) -> None:
    """Let the generated code have the cotangents of arrays that it has written since the tape got
    to know them, as they are from now on."""
    for entry in memory.entries()[tape.left : memory.writes()]:
        if entry[0] is swap_array or entry[0] is swap_contents:
            owner = root_of(entry[1])
            for name in tape.given_names(owner):
                tape.nodes.append(partial(_handed_out, memory, owner, name))


def _handed_out(memory: Memory, owner: Any, name: Any, sweep: Sweep) -> None:
    bar = sweep.take(name)
    if bar is not None:
        memory.add_array(owner, bar)


def _swap_segment(entry: list[Any]) -> None:
    """``[swap, memory, start, undone]``: what one call wrote on the tape. The pullback undoes it;
    it is made again where the writes around it are."""
    _, memory, start, undone = entry
    entry[3] = not undone
    if undone and "tape" in memory.shadows:
        memory.shadows["tape"].restore(start)


def _sweep_of(memory: Memory, tape: Tape) -> Sweep:
    """The sweep over the tape that belongs to the sweep that is running."""
    known: Sweep | None = memory.shadows.get("tape")
    if known is None:
        known = memory.shadows["tape"] = Sweep(tape, None)
    return known


def _held_globally(memory: Memory, f: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The containers, objects and arrays that are the values of the global variables which
    functions among some values name: where they were changed, they are given, too."""
    functions: list[FunctionType] = []
    parts = [*reached(given, functions)]
    values = [value for _, _, value in globals_of(functions)]
    for value in (*parts, *values):
        if type(value) is ContextVar and ("context", id(value)) in memory.caches:
            raise _refused(f, "reads a context variable that was set", "take the value itself")
    found = {
        id(value): value
        for value in values
        if isinstance(value, _HOLD) or (is_record(value) and not callable(value))
    }
    if not found:
        return ()  # the log is long, and need not be looked at
    changed = _changed(memory)
    return tuple(value for value in found.values() if _holds_one(value, changed))


def _changed(memory: Memory) -> set[int]:
    """What generated code has written to so far, by identity."""
    found = {id(original_of(array)) for array in memory.written.values()}
    for _, owner, *_ in (entry for entry in memory.entries() if len(entry) > 1):
        if isinstance(owner, BuiltinMethodType):
            owner = owner.__self__
        found |= {*map(id, owner.args)} if type(owner) is partial else {id(owner)}
    return found


def _holds_one(value: Any, changed: set[int]) -> bool:
    """Whether something is in `value`, or the fields of something, that was changed."""
    for part in (value, *reached((value,))):
        place = original_of(part) if isinstance(part, np.ndarray) else part
        fields = fields_of(part)
        if id(place) in changed or (fields is not None and id(fields) in changed):
            return True
    return False


_HOLD = (list, dict, tuple, deque, np.ndarray)


def _global_variables(given: tuple[Any, ...]) -> tuple[Snapshot, set[int]]:
    """Those that functions among some values name, and what they hold, also by identity."""
    functions: list[FunctionType] = []
    deque(reached(given, functions), maxlen=0)
    found, known = Snapshot(), set[int]()
    for namespace, name, value in globals_of(functions, every=True):
        found.add_variable(namespace, name)
        known |= {*map(id, found.add((value,)))}
    return found, known


def _carries(tape: Tape, value: Any) -> bool:
    """Whether something with a derivative is in `value`."""
    return any(tape.moves(part) for part in (value, *reached((value,))))


def _has_stand_in(value: Any) -> bool:
    """Whether an array is in `value` that stands for another one during the run, on any level."""
    arrays = [part for part in (value, *reached((value,))) if isinstance(part, np.ndarray)]
    return any(original_of(part) is not root_of(part) for part in arrays)


def _name_of(kept: Kept, written: dict[int, Any]) -> Any:
    """Under which name the tape knows an array that was written; ``None`` for anything else."""
    if type(kept) is not KeptArray:
        return None
    found = written.get(id(original_of(kept.owner)))
    return None if found is None else root_of(found)


def _with_numbers(value: Any) -> list[Any]:
    """What `value` reaches, if numbers or arrays are there that may carry a derivative."""
    parts = list(reached((value,)))
    carries = any(by_value(part) and not isinstance(part, int | np.integer) for part in parts)
    return parts if carries else []


def _unseen(value: Any) -> Exception:
    return missing(
        f"a derivative of what a {type(value).__name__} holds is needed, through a derivative",
        hint="hand it over in a list, a dict, an object or a closure",
    )


def _refuse_globals(memory: Memory) -> None:
    if memory.globals_written:
        name = next(iter(memory.globals_written))[1]
        raise refused(
            f"a derivative is taken inside code that has assigned the global variable {name!r}",
            "hand the value over as an argument",
        )


def _counts(memory: Memory) -> Poison | None:
    """What arrives at integers, if the run is differentiated in some: they are told by their value,
    and which of them stand for that argument is not known inside."""
    for arg in memory.arguments:
        if type(arg) is int or any(map(_is_of_integers, reached((arg,)))):
            return Poison(
                missing(
                    "a derivative is taken inside code that is differentiated in integers",
                    hint="give floats: 2.0 instead of 2, x.astype(float)",
                )
            )
    return None


def _is_of_integers(value: Any) -> bool:
    return isinstance(value, np.integer) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "iu"
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
