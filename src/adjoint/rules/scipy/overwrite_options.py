"""The options ``overwrite_…=True``, by which SciPy may compute in the memory of an argument.

Whether SciPy does so, and what it leaves in the argument, depends on dtypes, strides and SciPy's
version, so a call on copies finds it out. A call that overwrites an argument with a result is
treated as the plain call and a write of that result. Any other contents left there are work space,
and constant.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.array_memory import root_of
from adjoint.rulekit.registry import lookup, non_differentiable, primitive
from adjoint.runtime.dispatch.source_call import call_function


def overwriting(f: Any, flags: Any, args: Any, kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs, **flags)``, where `flags` name the arguments to overwrite.

    Parameters
    ----------
    f : callable
    flags : dict
        Maps the name of each flag to the position or the name of its argument.
    args, kwargs
        The arguments, without the flags.
    """
    y = f(*args, **kwargs)
    for place, part, own, others, left in _left_behind(f, flags, args, kwargs, y):
        a = args[place] if type(place) is int else kwargs[place]
        locked = unlock(a)
        if part is not None:
            before = a[own]
            a[...] = y if part < 0 else y[part]
            a[own] = before
            y = a if part < 0 else (*y[:part], a, *y[part + 1 :])
        if others.any():
            a[others] = left
        lock(locked)
    return y


def _left_behind(f: Any, flags: Any, args: Any, kwargs: Any, result: Any) -> list[tuple[Any, ...]]:
    """Return for each overwritten argument what a call of `f` leaves in it.

    An entry holds the argument's place, the part of the result that it contains (-1: the whole), a
    mask of unchanged elements, a mask of elements that are neither, and the contents of the latter.
    """
    given, named = list(args), dict(kwargs)
    copies = {}
    for place in flags.values():
        a = given[place] if type(place) is int else named[place]
        if not _may_be_overwritten(a):
            continue
        copies[place] = a, _copy_in_memory(a)
        if type(place) is int:
            given[place] = copies[place][1]
        else:
            named[place] = copies[place][1]
    if not copies:
        return []
    names = _parameters(f)[: len(given)]
    first = next((i for i, name in enumerate(names) if name in flags), len(given))
    by_name = dict(zip(names[first:], given[first:], strict=True))
    with np.errstate(all="ignore"):
        y = f(*given[:first], **(by_name | named | dict.fromkeys(flags, True)))
    found = []
    for place, (a, copy) in copies.items():
        parts = enumerate(y) if isinstance(y, tuple) else [(-1, y)]
        part = next((i for i, x in parts if _is_in(x, copy)), None)
        if part is None and a.tobytes() == copy.tobytes():
            continue  # an equal result may still depend on more operands
        own = np.zeros(a.shape, bool)
        others = np.ones(a.shape, bool)
        if part is not None:
            plain = result if part < 0 else result[part]
            others = ~np.isclose(plain, copy, 1e-6, 1e-9 * np.abs(plain).max(), equal_nan=True)
            own = others & (copy == a)
            others &= ~own
        found.append((place, part, own, others, copy[others]))
    return found


def unlock(a: Any) -> list[Any]:
    """Make `a` and its base writeable, and return those that were read-only. LAPACK writes to
    read-only memory, and SciPy checks the flag only sometimes."""
    locked = [x for x in (root_of(a), a) if not x.flags.writeable]
    try:
        for x in locked:
            x.setflags(write=True)
    except ValueError:
        raise refused(
            "a function of SciPy's overwrites read-only memory that is not NumPy's",
            "give it a copy, or leave out 'overwrite_…=True'",
        ) from None
    return locked


def lock(arrays: list[Any]) -> None:
    for x in reversed(arrays):
        x.setflags(write=False)


def _may_be_overwritten(a: Any) -> bool:
    return type(a) is np.ndarray and a.dtype.kind in "fc" and a.size > 0


def _copy_in_memory(a: Any) -> Any:
    """Copy `a` with its strides and its read-only flag, on which SciPy's choice depends."""
    copy = np.array(a) if a.flags.forc else _copy_of_strided(a)
    copy.flags.writeable = a.flags.writeable
    return copy


def _copy_of_strided(a: Any) -> Any:
    steps = zip(a.shape, a.strides, strict=True)
    ends = [(n - 1) * step for n, step in steps]
    first = -sum(end for end in ends if end < 0)
    held = bytearray(first + sum(end for end in ends if end > 0) + a.itemsize)
    copy = np.ndarray(a.shape, a.dtype, held, first, a.strides)
    copy[...] = a
    return copy


def _is_in(x: Any, copy: Any) -> bool:
    """Return whether the result `x` lies in the memory of the argument `copy`."""
    return (
        isinstance(x, np.ndarray)
        and x.shape == copy.shape
        and x.dtype == copy.dtype
        and np.shares_memory(x, copy)
        and bool(np.array_equal(x, copy, equal_nan=True))
    )


non_differentiable(_left_behind, unlock, lock)


def take_overwritten(functions: Iterable[Callable[..., Any]]) -> None:
    """Send calls that set an ``overwrite_…`` flag of these functions to `overwriting`."""
    for f in functions:
        rules = lookup(f)
        if rules is None or rules.inactive:
            continue
        names = _parameters(f)
        flags = {n: n.removeprefix("overwrite_") for n in names if n.startswith("overwrite_")}
        if flags and all(x in names for x in flags.values()):
            _send(f, names, flags)


def _parameters(f: Any) -> list[str]:
    """Return the names of the parameters of `f`; for an F2PY routine, from its docstring."""
    if type(f).__name__ != "fortran":
        return list(inspect.signature(f).parameters)
    called = re.search(r"\(([^)]*)\)", f.__doc__)
    return re.findall(r"\w+", called[1]) if called else []


def _send(f: Callable[..., Any], names: list[str], flags: dict[str, str]) -> None:
    def into(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            return NotImplemented
        given = [*args]
        found = {}
        for flag, name in flags.items():
            at = names.index(flag)
            is_set = kwargs.get(flag, False)
            if at < len(args):
                is_set, given[at] = given[at], False
            place = names.index(name)
            if is_set:
                found[flag] = place if place < len(args) else name
        while given and names[len(given) - 1] in flags:
            given.pop()  # rules take flags by keyword
        if not found and len(given) == len(args):
            return NotImplemented
        memory, inner = record[0], [record[0], None]
        plain = tuple(given)
        named = {name: value for name, value in kwargs.items() if name not in flags}

        def into_back(y_bar: Any) -> tuple[Any, ...]:
            back: Any = inner[1]
            if back is not None:
                back(y_bar)
            bars = memory.take_items(plain, len(plain))
            rest = (None,) * (len(args) - len(plain))
            return (None, *bars, *rest, *(memory.take_entry(named, name) for name in kwargs))

        record[slot] = into_back
        return call_function(inner, 1, overwriting, (f, found, plain, named), {})

    into.is_output = True  # type: ignore[attr-defined]
    primitive(f)(into)
