"""Calls of functions that a level cannot follow: they run as foreign code.

The results that they compute from active values get unknown derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, GeneratorType, ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.no_derivative import looked_at, needed
from adjoint.levels.level import Level
from adjoint.primal.array_memory import root_of
from adjoint.primal.exposed_arrays import arrays_behind, arrays_of, give_away, looks_elsewhere
from adjoint.primal.reachability import globals_of, reached
from adjoint.primal.value_kinds import by_value, is_plain_object
from adjoint.runtime.foreign.checked_run import run_checked
from adjoint.runtime.foreign.unknown_call import region_of
from adjoint.runtime.memory.log_entries import put
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import is_opaque, may_store_arguments
from adjoint.runtime.memory.subclass_attributes import link_attributes


def run_unknown(
    level: Level,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    why: str,
    trusted: bool,
) -> Any:
    """Run ``f(*args, **kwargs)`` in plain Python, on behalf of `level` and all levels below."""
    memory = level.memory
    inputs = (*args, *kwargs.values())
    owner = getattr(f, "__self__", None)
    owner = None if isinstance(owner, type | ModuleType) else owner
    region = region_of(memory, f, (owner, *inputs), why)
    given = (*inputs, owner, *(() if trusted else arrays_behind(f, (owner, *inputs))))
    log = Memory()  # levels undo writes in their own way
    try:
        y, changes = run_checked(log, f, region, args, kwargs, () if trusted else given)
    except BaseException as raised:
        why_not, values = needed(f, why, (owner, *inputs)), list(reached((f, *given)))
        _hide_raised(level, raised, values, why_not)
        raise
    memory.stored_functions += log.stored_functions
    if is_opaque(y) or (owner is not None and may_store_arguments(owner)):
        for one in level.down():
            give_away(one.memory, reached(inputs))
    for x, saved in changes.overwritten:
        _note_overwritten(level, x, saved)
    changed = [value for value in given if id(value) in changes.writes]
    keeping = [] if trusted else [*filter(may_store_arguments, given)]
    made = [] if type(y) in _NOTHING else [y] if by_value(y) else [*reached((y,))]
    if f is not getattr and issubclass(type(y), np.ndarray) and id(root_of(y)) in _roots(given):
        made = []  # it is a view of an operand
    if changed or keeping or made:
        runs = type(y) is GeneratorType or (region is not None and region.ran)
        values = _reached_by(level, f, given, runs)
        elsewhere = level.elsewhere(values)
        for one in level.down():
            if any(map(one.holds, (*values, *elsewhere))):
                error = needed(f, why, (owner, *inputs, y))
                if not any(map(one.holds, values)):
                    error = looked_at(next(filter(looks_elsewhere, values)), error)
                for value in changed:
                    one.poison_value(value, error)
                for value in keeping:
                    one.hide(value, error)
                _note_made(one, f, y, made, given, (*values, *elsewhere), error)
    link_attributes([memory, None], 1, y, given)
    return y


def _reached_by(level: Level, f: Any, given: tuple[Any, ...], ran: bool) -> list[Any]:
    """Return everything that a function can reach.

    These are its operands, the values that C objects among them were made of, and, if user code
    `ran` or will run, the global variables of the functions among them.
    """
    functions: list[FunctionType] = []
    values = list(reached((f, *given, *_held(level, given)), functions if ran else None))
    for _, _, value in globals_of(functions):
        values += reached((value,))
    return values


def _note_made(
    level: Level,
    f: Any,
    y: Any,
    made: list[Any],
    given: tuple[Any, ...],
    values: Iterable[Any],
    error: Exception,
) -> None:
    """Note that a level knows no derivatives of values that a function has made. `values` are those
    that the function reaches, `y` is its result and `made` holds the parts of `y`."""
    known, roots = {id(value) for value in values}, _roots(given)
    for value in made:
        if id(value) in known or (isinstance(value, np.ndarray) and id(root_of(value)) in roots):
            if f is getattr and isinstance(value, np.ndarray) and not level.holds(value):
                if arrays_of(given[0]) is None:
                    level.poison_value(value, error)  # a C object made it of active values
            if value is y and type(y) is bytes:
                level.hide(y, error)  # a C object has stored it
            # otherwise it is an operand or a view of one
        elif isinstance(value, np.ndarray) and value.base is not None and level.is_active(value):
            continue  # a view of memory whose derivative is known
        elif isinstance(value, np.ndarray | np.void) and value.dtype.kind in "OV":
            if not _is_of_integers(value):
                level.hide(value, error)
        elif by_value(value):
            level.poison_value(value, error)
        elif is_opaque(value) or is_plain_object(value):
            level.hide(value, error)


def _roots(given: tuple[Any, ...]) -> set[int]:
    """Return the identities of the owners of the memory that operands alias."""
    arrays = (value.obj if type(value) is memoryview else value for value in given)
    return {id(root_of(x)) for x in arrays if isinstance(x, np.ndarray)}


_NOTHING = (type(None), bool, str)
"""Types of results that carry no information about their operands."""


def _is_of_integers(value: Any) -> bool:
    """Return whether an array of objects holds arrays of integers, such as lists of neighbours."""
    return value.dtype.kind == "O" and all(
        isinstance(item, np.ndarray) and item.dtype.kind in "iub" for item in value.flat
    )


def _hide_raised(level: Level, error: BaseException, values: list[Any], why: Exception) -> None:
    """Note unknown derivatives of the values in an exception that foreign code has raised."""
    known = {id(value) for value in values}
    for one in level.down():
        if any(map(one.holds, values)):
            for value in reached((error,)):
                if id(value) not in known and by_value(value):
                    one.poison_value(value, why)


def _held(level: Level, given: tuple[Any, ...]) -> list[Any]:
    """Return the values that C objects among the operands were made of (``caches["held", id]``)."""
    caches = [one.memory.caches for one in level.down()]
    found = [cache.get(("held", id(value))) for cache in caches if cache for value in given]
    return [entry[1] for entry in found if entry is not None]


def _note_overwritten(level: Level, x: np.ndarray[Any, Any], saved: Any) -> None:
    """Tell all levels that an array, whose earlier contents are `saved`, was written."""
    level.memory.mark_written(x)
    made = x.copy()
    put(x, ..., saved)
    level.write(x, ..., made)
