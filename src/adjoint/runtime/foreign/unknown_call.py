"""Unknown callees: they run, and their results are poisoned (design, section 3.5)."""

from __future__ import annotations

from collections.abc import Callable
from types import (
    BuiltinMethodType,
    GeneratorType,
    MethodDescriptorType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import needed
from adjoint.primal.array_memory import is_seen_as_stored, root_of
from adjoint.primal.exposed_arrays import arrays_behind, give_away
from adjoint.primal.packages import COMPILING, HIDING
from adjoint.primal.reachability import REFERENT, holds_nothing, reached
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.foreign.checked_run import Changes, package_of, run_checked
from adjoint.runtime.foreign.foreign_run import ForeignRun
from adjoint.runtime.foreign.open_files import flush, note_file
from adjoint.runtime.foreign.user_code_reach import reaches
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import (
    _OPAQUE,
    _any,
    _poison_globals,
    has_cotangent,
    is_opaque,
    may_store_arguments,
    poison,
)
from adjoint.runtime.memory.subclass_attributes import link_attributes


def run_unknown(
    memory: Memory,
    record: list[Any],
    slot: int,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    why: str = "has neither a rule nor Python source",
    *,
    trusted: bool = False,
) -> Any:
    """Run `f` as it is; a cotangent of its result becomes poison of its operands.

    `trusted` declares that `f` neither changes nor stores active values.
    """
    if memory.files:
        flush(memory)
    if memory.level is not None:
        y = memory.level.run_unknown(f, args, kwargs, why, trusted)
        note_file(memory, y)
        return y
    inputs = (*args, *kwargs.values())
    owner = getattr(f, "__self__", None)
    owner = None if isinstance(owner, type | ModuleType) else owner
    blank = record[slot]
    region = region_of(memory, f, (owner, *inputs), why)
    calls_back = region is not None
    if region is not None:
        record[slot] = region.before(blank, len(inputs))
    outside = frozenset(memory.exposed)
    checked = () if trusted else (*inputs, owner, *arrays_behind(f, (owner, *inputs)))
    y, changes = run_checked(memory, f, region, args, kwargs, checked)
    note_file(memory, y)
    ran = region is not None and region.ran
    if memory.created and (is_opaque(y) or (owner is not None and may_store_arguments(owner))):
        give_away(memory, reached(inputs))
    writes = [v for v in checked if id(v) in changes.writes and memory.mark_written(v)]
    atom = holds_nothing(y)
    if region is not None and not region.has_callbacks:
        record[slot], region = blank, None
    if atom and changes.position is None and not writes:
        if trusted or not any(map(may_store_arguments, (*inputs, owner))):
            return y
    if not writes and _is_view(memory, y, (*inputs, owner)):
        viewed = _view_back(memory, y, len(inputs), changes)
        record[slot] = viewed if region is None else region.before(viewed, len(inputs))
        if type(y) is not np.ndarray:
            link_attributes(record, slot, y, (*inputs, owner))
        return y
    given = any(y is value for value in inputs)
    # the referents of weak references must live until they are poisoned
    kept = [found() for found in memory.caches.get(REFERENT, ())] if calls_back else None

    def unknown_back(y_bar: Any, _: Any = kept) -> tuple[Any, ...]:
        changes.undo(memory)
        y_bar = finish(y_bar)
        if y_bar is None:
            y_bar = _kept(memory, (*inputs, owner))
        if isinstance(y, np.ndarray) and memory.is_written(y) and not given:
            y_bar = accumulate(y_bar, memory.take_array(y))
        written_bars = [memory.take_array(array) for array in writes]
        if isinstance(y_bar, np.ndarray) and not _any(y_bar):
            y_bar = None  # zero
        for written_bar in written_bars if y_bar is None else ():
            if written_bar is not None and (type(written_bar) is Poison or _any(written_bar)):
                y_bar = written_bar  # only its presence matters
        if y_bar is None and (given or not _arrived(memory, y, (f, *inputs), outside)):
            if region is not None:
                region.back(None)
            return (None,) * (len(inputs) + 1)
        if region is not None:
            y_bar = y_bar if type(y_bar) is Poison else Poison(needed(f, why, (owner, *inputs, y)))
            region.back(y_bar)
        bar = y_bar if type(y_bar) is Poison else Poison(needed(f, why, (owner, *inputs, y)))
        if ran or type(y) is GeneratorType:  # it may have read global variables of its functions
            _poison_globals(memory, (f, *inputs, *memory.stored_functions), bar)
            for function in memory.stored_functions:
                poison(memory, function, bar)
        if owner is not None:
            poison(memory, owner, bar)
        poison(memory, f, bar)
        bars: list[Any] = [None]
        for value in inputs:
            carries = by_value(value) and type(value) not in (bool, int)
            if issubclass(type(value), np.ndarray) and memory.is_written(value):
                carries = False  # the cotangent belongs to the memory
            bars.append(bar if carries else None)
            if not carries:
                poison(memory, value, bar)
        return tuple(bars)

    record[slot] = unknown_back
    return y


def region_of(memory: Memory, f: Any, given: tuple[Any, ...], why: str) -> ForeignRun | None:
    """Return a `ForeignRun` if `f` may enter user code, else ``None``."""
    callee = () if type(f) in _PLAIN_CALLEES else (f,)
    if (home := package_of(f)) in COMPILING:
        return None
    known = memory.stored_functions or home in HIDING
    return ForeignRun(memory, f, why) if known or reaches((*callee, *given)) else None


_PLAIN_CALLEES = frozenset(
    {BuiltinMethodType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType}
)
"""Types of callees that hold nothing but what they are bound to."""


def _is_view(memory: Memory, y: Any, inputs: tuple[Any, ...]) -> bool:
    """Return whether `y` is an alias of an operand that `f` did not change. Its cotangents then
    belong to the memory."""
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fc":
        return False
    root = root_of(y)
    if memory.owner(y) is not root:
        return memory.is_written(y)
    for value in inputs:
        array = value.obj if type(value) is memoryview else value
        if isinstance(array, np.ndarray) and root_of(array) is root:
            return root.base is None and is_seen_as_stored(y, root) and memory.mark_written(y)
    return False


def _view_back(
    memory: Memory, y: np.ndarray[Any, Any], n: int, changes: Changes
) -> Callable[[Any], tuple[Any, ...]]:
    def view_back(y_bar: Any) -> tuple[Any, ...]:
        changes.undo(memory)
        memory.add_array(y, finish(y_bar))
        return (None,) * (n + 1)

    return view_back


def _kept(memory: Memory, inputs: tuple[Any, ...]) -> Poison | None:
    """Return the poison of an opaque operand out of which a later unknown callee took something."""
    if _OPAQUE in memory.shadows:
        for owner in reached(inputs):
            shadow = memory.shadows.get(id(owner))
            if type(shadow) is not dict or type(bar := shadow.get("*")) is not Poison:
                continue
            if may_store_arguments(owner) or not any(owner is value for value in inputs):
                return bar
    return None


def _arrived(memory: Memory, y: Any, inputs: tuple[Any, ...], outside: frozenset[int]) -> bool:
    """Return whether memory holds a cotangent of something that `y` reaches, but neither the inputs
    reach nor is written before (`exposed`, identities)."""
    if by_value(y):
        return False
    known: set[int] | None = None
    for owner in reached((y,)):
        if has_cotangent(memory, owner):
            if known is None:
                known = {id(owner) for owner in reached(inputs)} | outside
            array = issubclass(type(owner), np.ndarray)
            if id(owner) not in known and not (array and id(memory.owner(owner)) in known):
                return True
    return False
