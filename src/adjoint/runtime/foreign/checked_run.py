"""Runs of functions that nothing is known of: the arrays that they write into are found, and what
else they change or store where nobody sees it is refused."""

from __future__ import annotations

import array
import functools
import gc
import inspect
import io
import operator
import re
import sys
import threading
import time
import warnings
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.cotangents.accumulate import is_needed
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.refusals import refused
from adjoint.diagnostics.user_place import from_the_users_place
from adjoint.errors import MutationError
from adjoint.primal.array_memory import root_of
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.exposed_arrays import arrays_behind, writes_unseen
from adjoint.primal.value_kinds import ATOMS, by_value, fields_of, is_record
from adjoint.runtime.foreign.foreign_run import Region
from adjoint.runtime.foreign.native_call import Lent
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.log_entries import swap_contents
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import is_opaque
from adjoint.runtime.memory.saved import Kept
from adjoint.runtime.memory.saved_containers import container


def run_checked(
    memory: Memory,
    f: Any,
    region: Region | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: tuple[Any, ...],
) -> tuple[Any, Changes]:
    """``f(*args, **kwargs)``, which may not store what is `given` to it, nor change it but by new
    numbers; with what it changed."""
    before = [snapshot(value) for value in given]
    counts = _counts(given)
    deep = Snapshot(_FEW)
    deep.add([value for value in given if not by_value(value) and type(value) is not Lent])
    run = f
    if _looks_around(f):
        run = from_the_users_place(f, _depth(f, args, kwargs))
    writes: set[int] = set()
    if region is not None:
        region.leave_apart(given)
        y = region.run(run, args, kwargs)
        if type(f) not in _FUNCTIONS and not is_record(f):
            writes = _given_back(given, y)
        writes |= _refilled(region, given, before)
    elif issubclass(type(f), type):
        y = run(*args, **kwargs)  # what it makes may keep a view, which has to stay writable
    else:
        y, writes = _run_locked(run, args, kwargs, given)
    if type(f).__name__ == "fortran":  # F2PY looks at no flag
        writes = {id(value) for value in _storage(f, args, kwargs) if _can_be_locked(value)}
    is_plain = region is None or not region.has_effects
    inside = _changed_inside(deep, given) if is_plain else None
    deep.release()
    now = _counts(given)  # the log will hold them, too
    changes = _log_changes(memory, f, given, before)
    changes.writes |= writes
    if given and writes_unseen(f, given):
        changes.writes |= set(map(id, arrays_behind(f, given)))
    if inside is not None:
        raise _error_of(f, f"changed a {inside} inside what it was given")
    if is_plain:
        _check_not_stored(memory, f, given, counts, now, y)
    return y, changes


def _run_locked(
    run: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: tuple[Any, ...]
) -> tuple[Any, set[int]]:
    """``run(*args, **kwargs)``, and which arrays it demanded to write to.

    What is written may be what was there: a result that is zero into zeros, or that of the run
    before into a workspace. So the arrays are read-only at first, and a function that will not have
    it is run again: whatever it complained of, the error of the second run is the true one.
    """
    arrays = [value for value in given if _can_be_locked(value)]
    if not arrays:
        return run(*args, **kwargs), set()
    views: list[Any] = []
    _set_writable(arrays, False)
    try:
        y = run(*(args if package_of(run) == "numpy" else map(_locked, args)), **kwargs)
    except Exception:  # see above
        y, locked = None, False
    else:
        locked = True
        parts = y if isinstance(y, list | tuple) else (y,)
        views = [view for view in parts if _is_locked(view, arrays)]
    finally:
        # a view by way of what was made read-only stays so
        opened = [view for view in views if type(view.base) is not memoryview]
        _set_writable([*arrays, *opened], True)
    if not locked:
        return run(*args, **kwargs), {id(held) for held in arrays}
    return (y if len(opened) == len(views) else run(*args, **kwargs)), set()


def _locked(value: Any) -> Any:
    """A view by which nobody can write, for one by which somebody can."""
    return value.toreadonly() if type(value) is memoryview else value


def _refilled(region: Region, given: tuple[Any, ...], before: list[Any]) -> set[int]:
    """The arrays that the user's code may have filled with what was there; numbers that it may have
    put again into a list or a dict are told from those `before`."""
    found = set()
    for i, value in enumerate(given):
        if region.may_have_written(value):
            if _can_be_locked(value):
                found.add(id(value))
            elif isinstance(value, list | dict):
                before[i] = region.renewed(before[i])
    return found


def _given_back(given: tuple[Any, ...], y: Any) -> set[int]:
    """The arrays that code in C was given and returns: it may have found in them what it was to
    write there, as a solver does that starts at the solution."""
    parts = y if isinstance(y, list | tuple) else (y,)
    return {
        id(part) for part in parts if _can_be_locked(part) and any(part is value for value in given)
    }


def _storage(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """What a function of F2PY writes its results into, as its text says."""
    text = f.__doc__ or ""
    signature = re.search(r"\(([^)]*)\)", text)
    names = re.findall(r"\w+", signature.group(1)) if signature else []
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    told = re.findall(r"and (\w+) storage|^(\w+) : in/output", text, re.MULTILINE)
    always = {first or second for first, second in told}
    return [
        value
        for name, value in given.items()
        if (given.get(option, 0) if (option := f"overwrite_{name}") in names else name in always)
    ]


def _can_be_locked(value: Any) -> bool:
    """Whether it is an array of reals that can be made read-only, and writable again."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in "fc"
        and value.flags.writeable
        and root_of(value).flags.owndata
        and root_of(value).flags.writeable
    )


def _set_writable(arrays: list[Any], writable: bool) -> None:
    for held in sorted(arrays, key=lambda held: held.base is not None):  # owners first
        ndarray.setflags(held, write=writable)


def _is_locked(view: Any, arrays: list[Any]) -> bool:
    """Whether it is read-only because what it looks at was."""
    if not isinstance(view, np.ndarray) or view.flags.writeable:
        return False
    root = root_of(view)
    return any(root_of(held) is root for held in arrays)


def _looks_around(f: Any) -> bool:
    """Whether a function may ask who called it."""
    package = package_of(f)
    if package == "inspect":  # is asked often for what has nothing to do with it
        return f is inspect.stack or f is inspect.currentframe
    return package in _LOOK_AROUND


_LOOK_AROUND = frozenset({"enum", "logging", "traceback", "typing", "warnings"})
"""Packages whose functions do."""


def package_of(f: Any) -> str:
    module = getattr(f, "__module__", None)
    return module.partition(".")[0].lstrip("_") if type(module) is str else ""


def _depth(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """How many callers a function may look at."""
    if package_of(f) in ("inspect", "traceback"):
        wanted = sys.getrecursionlimit()
    else:
        at = args[2] if f is warnings.warn and len(args) > 2 else 1
        wanted = kwargs.get("stacklevel", at)
    return max(wanted, 1) if type(wanted) is int else 1


# ---- what was changed or stored ------------------------------------------------------------------


def snapshot(value: Any) -> Any:
    """What `changed` compares a mutable value with; ``None`` for others."""
    kind = type(value)  # what a proxy says that it is is not asked
    if issubclass(kind, np.ndarray):
        return np.array(value, subok=False)
    if issubclass(kind, array.array):
        return array.array(value.typecode, value)
    if issubclass(kind, list | dict | set):
        base: Any = next(base for base in (list, dict, set) if issubclass(kind, base))
        return base.copy(value)  # not what a subclass makes of it
    fields = fields_of(value) if not issubclass(kind, type | FunctionType) else None
    return None if fields is None else dict(fields)


class Changes:
    """What a function of which nothing is known has changed of what it was given, logged as writes.

    Attributes
    ----------
    position
        Where in the log they begin; ``None`` if there are none.
    writes
        The arrays, by identity, that it has written to, or may have: by what was there.
    overwritten
        The arrays that have changed, with what they held.
    kept
        The lists and dicts that got new numbers.
    """

    __slots__ = ("kept", "overwritten", "position", "writes")

    def __init__(self) -> None:
        self.position: int | None = None
        self.writes: set[int] = set()
        self.overwritten: list[tuple[Any, Any]] = []
        self.kept: list[Kept] = []

    def undo(self, memory: Memory) -> Any:
        """Undo them in a sweep; gives a cotangent that has arrived at a new number and is needed,
        or ``None``."""
        taken = [bar for kept in reversed(self.kept) for _, bar in kept.take(memory)]
        if self.position is not None:
            memory.rewind(self.position)
        return next((bar for bar in taken if is_needed(bar)), None)


def _log_changes(memory: Memory, f: Any, given: tuple[Any, ...], before: list[Any]) -> Changes:
    changes, start = Changes(), memory.position
    for value, saved in zip(given, before, strict=True):
        if saved is None or not changed(value, saved):
            continue
        changes.position = start
        if isinstance(value, list | dict):
            kept = container(value, saved)
            if not all(_is_number(one, given) for pair in kept.pairs() for one in pair):
                raise _changed(f, value)
            kept.log(memory)
            changes.kept.append(kept)
        elif _is_of_numbers(value) and value.shape == saved.shape:
            memory.note(swap_contents, np.asarray(value), saved)
            changes.overwritten.append((np.asarray(value), saved))
            changes.writes.add(id(value))
        else:
            raise _changed(f, value)
    return changes


def _changed(f: Any, value: Any) -> MutationError:
    return _error_of(f, f"changed the {type(value).__name__} that it was given")


def _is_number(value: Any, given: tuple[Any, ...]) -> bool:
    """Whether something is a number, or holds none, and is not what was given itself."""
    return type(value) in _WITHOUT or (
        type(value) is float and not any(value is one for one in given)
    )


def _is_of_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iubfc"


def _error_of(
    f: Any, what: str, hint: str = "give it a copy, or do the change in Python"
) -> MutationError:
    return refused(f"'{name_of(f)}', which has neither a rule nor Python source, {what}", hint)


_FEW = 512
"""How many objects that are reached from those that are given are compared."""


def _changed_inside(held: Snapshot, given: tuple[Any, ...]) -> str | None:
    """The type of something that may carry a derivative and was changed in what was given holds, a
    few steps away."""
    for kept in held.changes():
        if not any(kept.owner is value for value in given) and any(
            type(value) not in _LEFT_ALONE for pair in kept.pairs() for value in pair
        ):
            return type(kept.owner).__name__
    return None


_WITHOUT = ATOMS | {bytes, type(ABSENT)}
"""Types of what has no derivative to be lost: a file that is closed notes that in its fields."""

_LEFT_ALONE = _WITHOUT | {
    io.BufferedRandom, io.BufferedReader, io.BufferedWriter, io.FileIO, io.TextIOWrapper,
}  # fmt: skip
"""Files as well: one that stands on another lets go of it when it is closed."""

_FUNCTIONS = frozenset({FunctionType, MethodType, functools.partial})


def _counts(values: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(values[i]) for i in range(len(values))]  # without a name of its own


def _check_not_stored(
    memory: Memory, f: Any, watched: tuple[Any, ...], before: list[int], now: list[int], y: Any
) -> None:
    """A number or an array that is held once more than before, and not by the result, was put
    somewhere unseen."""
    for i, value in enumerate(watched):
        more = now[i] - before[i]
        if more > 0 and type(value) in _FUNCTIONS and not _holds(y, value, 2):
            memory.handed.append(value)
            continue
        carries = (
            type(value) is float
            or type(value) in (list, dict, set)
            or is_record(value)
            or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")
        )
        if not carries or y is value or (more > 0 and _is_filled(f, watched, value)):
            continue
        if more <= 0 or _holds(y, value, 2) or _hides(y):
            continue
        if not _is_let_go(watched, i, before[i]):
            raise _error_of(
                f,
                f"stored the {type(value).__name__} that it was given",
                "store it in a list, a dict or an attribute, or store ad.stop_gradient(x)",
            )


def _is_let_go(values: tuple[Any, ...], i: int, before: int) -> bool:
    """Whether a thread held a value that looks at the frames of others, as profilers and debuggers
    do: what stands in a frame is there as long as somebody looks."""
    for _ in range(_MOMENTS if threading.active_count() > 1 else 0):
        time.sleep(_MOMENT)
        if _counts(values)[i] <= before:
            return True
    return False


_MOMENTS, _MOMENT = 5, 2e-3


def _is_filled(f: Any, watched: tuple[Any, ...], value: Any) -> bool:
    """Whether an object of C is being made of `value`: then its own poison stands for that."""
    if getattr(f, "__name__", "") != "__init__":
        return False
    return any(owner is not value and _hides(owner) for owner in watched)


def _hides(y: Any) -> bool:
    """Whether a result may hold what nobody sees: then its own poison stands for it."""
    return not by_value(y) and type(y) not in ATOMS and is_opaque(y)


def _holds(owner: Any, value: Any, depth: int) -> bool:
    """Whether a result holds `value`, or looks at its memory."""
    if isinstance(owner, np.ndarray):
        root = root_of(owner)
        if owner.dtype.kind == "O" and any(item is value for item in owner.ravel().tolist()):
            return True
        return root.base is value or (isinstance(value, np.ndarray) and root is root_of(value))
    if type(owner) in ATOMS and type(owner) is not FunctionType:
        return False
    parts = gc.get_referents(owner)
    return any(item is value for item in parts) or (
        depth > 0 and any(_holds(item, value, depth - 1) for item in parts)
    )


def _same_contents(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.dtype.kind in "fciub":
        return np.array_equal(a, b, equal_nan=True)
    if a.dtype.hasobject:
        return all(map(operator.is_, a.flat, b.flat))
    if a.dtype.names is not None:  # a copy has other bytes between the fields
        return all(_same_contents(a[name], b[name]) for name in a.dtype.names)
    return a.tobytes() == b.tobytes()


def changed(value: Any, saved: Any) -> bool:
    """Whether a value is no longer what its `snapshot` says."""
    kind = type(value)
    if issubclass(kind, np.ndarray):
        return value.shape != saved.shape or not _same_contents(np.asarray(value), saved)
    if issubclass(kind, list):
        return len(value) != len(saved) or any(
            a is not b for a, b in zip(value, saved, strict=True)
        )
    if issubclass(kind, set | array.array):
        return bool(value != saved)
    if issubclass(kind, dict):
        return len(value) != len(saved) or any(
            value.get(key, saved) is not item for key, item in saved.items()
        )
    now = value.__dict__
    names = now.keys() | saved.keys()
    pairs = [(saved.get(name, ABSENT), now.get(name, ABSENT)) for name in names]
    return any(old is not new and {type(old), type(new)} - _WITHOUT for old, new in pairs)
