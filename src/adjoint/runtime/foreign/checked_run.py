"""Runs of unknown callees: find the arrays that they write, and refuse other changes and stores."""

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

from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.refusals import refused
from adjoint.diagnostics.user_place import called_from_user_place
from adjoint.errors import MutationError
from adjoint.primal.array_memory import root_of
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.exposed_arrays import arrays_behind, writes_unseen
from adjoint.primal.packages import package
from adjoint.primal.value_kinds import ATOMS, by_value, fields_of, is_plain_object
from adjoint.runtime.foreign.foreign_run import ForeignRun
from adjoint.runtime.foreign.native_call import CallbackProxy
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.log_entries import swap_contents
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import is_opaque


def run_checked(
    memory: Memory,
    f: Any,
    region: ForeignRun | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: tuple[Any, ...],
) -> tuple[Any, Changes]:
    """Run ``f(*args, **kwargs)``; return the result and the logged changes. Refuse where `f` stores
    one of `given`, or changes it other than by new numbers."""
    before = [snapshot(value) for value in given]
    counts = _counts(given)
    deep = Snapshot(_FEW)
    deep.add([value for value in given if not by_value(value) and type(value) is not CallbackProxy])
    run = f
    if _looks_around(f):
        run = called_from_user_place(f, _depth(f, args, kwargs))
    writes: set[int] = set()
    if region is not None:
        y = region.run(run, args, kwargs)
        if type(f) not in _FUNCTIONS and not is_plain_object(f):
            writes = _given_back(given, y)
    elif issubclass(type(f), type):
        y = run(*args, **kwargs)  # the new object may keep a view, which must stay writable
    else:
        y, writes = _run_locked(run, args, kwargs, given)
    if type(f).__name__ == "fortran":  # F2PY ignores the read-only flag
        writes = {id(value) for value in _storage(f, args, kwargs) if _can_be_locked(value)}
    is_plain = region is None or not region.has_callbacks
    inside = _changed_inside(deep, f, given) if is_plain else None
    deep.release()
    now = _counts(given)  # before the log holds them, too
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
    """Run ``run(*args, **kwargs)``; return the result and the identities of the arrays it writes.

    A write may leave an array as it was (zeros into zeros, an equal result into a workspace). So
    the arrays are read-only at first, and a function that raises is run again with writable ones:
    only an error of the second run counts.
    """
    arrays = [value for value in given if _can_be_locked(value)]
    if not arrays:
        return run(*args, **kwargs), set()
    views: list[Any] = []
    _set_writable(arrays, False)
    try:
        if package_of(run) == "numpy":
            y = run(*args, **kwargs)
        else:
            y = run(*[x.toreadonly() if type(x) is memoryview else x for x in args], **kwargs)
    except Exception:  # whatever a function raises for a read-only array
        y, locked = None, False
    else:
        locked = True
        parts = y if isinstance(y, list | tuple) else (y,)
        views = [view for view in parts if _is_locked(view, arrays)]
    finally:
        # a view through a read-only memoryview cannot be made writable
        opened = [view for view in views if type(view.base) is not memoryview]
        _set_writable([*arrays, *opened], True)
    if not locked:
        return run(*args, **kwargs), {id(held) for held in arrays}
    return (y if len(opened) == len(views) else run(*args, **kwargs)), set()


def _given_back(given: tuple[Any, ...], y: Any) -> set[int]:
    """Return the identities of arrays that C code was given and returns. It may have written what
    was in them already, as a solver does that starts at the solution."""
    parts = y if isinstance(y, list | tuple) else (y,)
    return {
        id(part) for part in parts if _can_be_locked(part) and any(part is value for value in given)
    }


def _storage(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the operands that an F2PY function writes its results into, by its docstring."""
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
    """Return whether `value` is a floating-point array that can be made read-only for a while."""
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
    """Return whether `view` is read-only because it shares memory with one of `arrays`."""
    if not isinstance(view, np.ndarray) or view.flags.writeable:
        return False
    root = root_of(view)
    return any(root_of(held) is root for held in arrays)


def _looks_around(f: Any) -> bool:
    """Return whether `f` may inspect its callers."""
    package = package_of(f)
    if package == "inspect":  # its other functions are called often
        return f is inspect.stack or f is inspect.currentframe
    return package in _LOOK_AROUND


_LOOK_AROUND = frozenset({"enum", "logging", "traceback", "typing", "warnings"})
"""Packages whose functions inspect their callers."""


def package_of(f: Any) -> str:
    module = getattr(f, "__module__", None)
    return module.partition(".")[0].lstrip("_") if type(module) is str else ""


def _depth(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Return how many callers `f` may inspect."""
    if package_of(f) in ("inspect", "traceback"):
        wanted = sys.getrecursionlimit()
    else:
        at = args[2] if f is warnings.warn and len(args) > 2 else 1
        wanted = kwargs.get("stacklevel", at)
    return max(wanted, 1) if type(wanted) is int else 1


# ---- changes and stores --------------------------------------------------------------------------


def snapshot(value: Any) -> Any:
    """Return a copy that `changed` compares a mutable value with; ``None`` for other values."""
    kind = type(value)  # a proxy may give another `__class__`
    if issubclass(kind, np.ndarray):
        return np.array(value, subok=False)
    if issubclass(kind, array.array):
        return array.array(value.typecode, value)
    if issubclass(kind, list | dict | set):
        base: Any = next(base for base in (list, dict, set) if issubclass(kind, base))
        return base.copy(value)  # a subclass may override it
    fields = fields_of(value) if not issubclass(kind, type | FunctionType) else None
    return None if fields is None else dict(fields)


class Changes:
    """Changes that an unknown callee made to its operands, logged as writes.

    Attributes
    ----------
    position
        Where in the log they begin; ``None`` if there are none.
    writes
        Identities of the arrays that were written, or may have been with their old contents.
    overwritten
        The arrays that have changed, with their old contents.
    """

    __slots__ = ("overwritten", "position", "writes")

    def __init__(self) -> None:
        self.position: int | None = None
        self.writes: set[int] = set()
        self.overwritten: list[tuple[Any, Any]] = []

    def undo(self, memory: Memory) -> None:
        """Undo the changes in a sweep."""
        if self.position is not None:
            memory.rewind(self.position)


def _log_changes(memory: Memory, f: Any, given: tuple[Any, ...], before: list[Any]) -> Changes:
    changes, start = Changes(), memory.position
    for value, saved in zip(given, before, strict=True):
        if saved is None or not changed(value, saved):
            continue
        changes.position = start
        if (
            isinstance(value, np.ndarray)
            and value.dtype.kind in "iubfc"
            and value.shape == saved.shape
        ):
            memory.note(swap_contents, np.asarray(value), saved)
            changes.overwritten.append((np.asarray(value), saved))
            changes.writes.add(id(value))
        else:
            raise _changed(f, value)
    return changes


def _changed(f: Any, value: Any) -> MutationError:
    return _error_of(f, f"changed the {type(value).__name__} that it was given")


def _error_of(
    f: Any, what: str, hint: str = "give it a copy, or do the change in Python"
) -> MutationError:
    return refused(f"'{name_of(f)}', which has neither a rule nor Python source, {what}", hint)


_FEW = 512
"""The most objects reached from the operands that are compared."""


def _changed_inside(held: Snapshot, f: Any, given: tuple[Any, ...]) -> str | None:
    """Return the name of the type of a changed object inside the operands that may be active."""
    for kept in held.changes():
        if not any(kept.owner is value for value in given) and any(
            type(value) not in _LEFT_ALONE
            for pair in kept.pairs()
            if not _is_cached(f, *pair)
            for value in pair
        ):
            return type(kept.owner).__name__
    return None


def _is_cached(f: Any, before: Any, after: Any) -> bool:
    """Return whether a library has noted something new of its own, such as a property of an index
    of pandas: an object of its classes, or an array without floats."""
    if before is not ABSENT:
        return False
    if isinstance(after, ndarray):
        return after.dtype.kind in "biumM"
    home = f if hasattr(f, "__module__") else type(getattr(f, "__self__", f))
    return package(home.__module__) == package(type(after).__module__) not in ("", "builtins")


_WITHOUT = ATOMS | {bytes, type(ABSENT)}
"""Types of values without a derivative; a file that is closed notes such values in its fields."""

_LEFT_ALONE = _WITHOUT | {
    io.BufferedRandom, io.BufferedReader, io.BufferedWriter, io.FileIO, io.TextIOWrapper,
}  # fmt: skip
"""Files as well: when a file is closed, it drops the file that it wraps."""

_FUNCTIONS = frozenset({FunctionType, MethodType, functools.partial})


def _counts(values: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(values[i]) for i in range(len(values))]  # a name would count, too


def _check_not_stored(
    memory: Memory, f: Any, watched: tuple[Any, ...], before: list[int], now: list[int], y: Any
) -> None:
    """Refuse a number or an array with a new reference that the result does not explain: `f` has
    stored it out of sight."""
    for i, value in enumerate(watched):
        more = now[i] - before[i]
        if more > 0 and type(value) in _FUNCTIONS and not _holds(y, value, 2):
            memory.stored_functions.append(value)
            continue
        carries = (
            type(value) is float
            or type(value) in (list, dict, set)
            or is_plain_object(value)
            or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")
        )
        if not carries or y is value or (more > 0 and _is_filled(f, watched, value)):
            continue
        if more <= 0 or _holds(y, value, 2) or _hides(y):
            continue
        if not _is_freed_soon(watched, i, before[i]):
            raise _error_of(
                f,
                f"stored the {type(value).__name__} that it was given",
                "store it in a list, a dict or an attribute, or store ad.stop_gradient(x)",
            )


def _is_freed_soon(values: tuple[Any, ...], i: int, before: int) -> bool:
    """Return whether a new reference goes away soon: other threads that inspect frames, as
    profilers and debuggers do, hold what is in a frame for a moment."""
    for _ in range(_MOMENTS if threading.active_count() > 1 else 0):
        time.sleep(_MOMENT)
        if _counts(values)[i] <= before:
            return True
    return False


_MOMENTS, _MOMENT = 5, 2e-3


def _is_filled(f: Any, watched: tuple[Any, ...], value: Any) -> bool:
    """Return whether `f` fills an opaque object with `value`: poison of the object covers it."""
    if getattr(f, "__name__", "") != "__init__":
        return False
    return any(owner is not value and _hides(owner) for owner in watched)


def _hides(y: Any) -> bool:
    """Return whether `y` may hold values out of sight: poison of `y` covers them."""
    return not by_value(y) and type(y) not in ATOMS and is_opaque(y)


def _holds(owner: Any, value: Any, depth: int) -> bool:
    """Return whether a result holds `value`, or is an alias of it."""
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
    """Return whether a value differs from its `snapshot`."""
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
