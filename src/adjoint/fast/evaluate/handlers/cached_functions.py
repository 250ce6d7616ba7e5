"""Functions that `functools` has wrapped in a cache.

A differentiated call has caches of its own, empty at first. In a program, a call with the operands
of an earlier one that certainly ran is its result. Any other call evaluates the function again,
which gives the same, because it neither reads nor returns what changes, nor changes anything.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, in_programs
from adjoint.fast.evaluate.plain_classes import has_own
from adjoint.fast.evaluate.types import Array, Number
from adjoint.fast.evaluate.values import (
    Abstract,
    Closure,
    External,
    Flag,
    Instance,
    Known,
    ListOf,
    Partial,
    Ref,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value
from adjoint.primal.packages import is_of_a_library

CACHED: Any = type(functools.lru_cache(lambda: None))
"""The class of what `functools.lru_cache` returns."""
_CONSTANTS = (type(None), bool, int, float, str, type, ModuleType, FunctionType)


@in_programs
@handler(functools.cache)
def _caching(ev: Evaluator, f: Abstract) -> Abstract:
    """Stand for ``lru_cache(…)``."""
    return Partial(Known(_cached_call), (f,), ())


@handler(functools.lru_cache)
def _(ev: Evaluator, maxsize: Abstract = Known(128), typed: Abstract = Known(False)) -> Abstract:
    if isinstance(maxsize, Closure):
        return Partial(Known(_cached_call), (maxsize,), ())
    return Known(_caching)


def call_cached(ev: Evaluator, f: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    """Evaluate a call of a cached function."""
    if isinstance(f, Known):
        found = ev.call(f, args, keywords)
        if isinstance(found, Known):
            return found
    if not isinstance(f, Closure):
        raise NotCovered("a cached function of another kind", ev.span)
    place = f.code, *(x.address for x in f.cells if isinstance(x, Ref))
    read: list[Abstract] = []
    _read_by(ev, f, read, set())
    first = ev.cached_states.setdefault(place, read)
    if len(first) != len(read) or any(x is not y for x, y in zip(first, read, strict=True)):
        raise NotCovered("a cached function that reads what has changed", ev.span)
    key = (place, *map(_key, args), *((name, _key(x)) for name, x in keywords.items()))
    if key not in ev.cached and any(_may_equal(key, other) for other in ev.cached):
        raise NotCovered("a cached function of equal constants of different types", ev.span)
    for x in (*args, *keywords.values()):
        held = ev.held(x)
        if isinstance(held, Instance) and not has_own(held.cls, "__hash__"):
            _note_shared(ev, x)
        else:
            _demand_fixed(ev, x)
    if key not in ev.cached:
        heap, written = ev.heap, set(ev.written)
        before = dict(heap)
        found = ev.call(f, args, keywords)
        _note_shared(ev, found)
        if ev.written - written or any(ev.heap.get(at) is not x for at, x in before.items()):
            raise NotCovered("a cached function that changes something", ev.span)
        ev.cached[key] = found
    return ev.cached[key]


_cached_call = in_programs(call_cached)


def call_wrapper(
    ev: Evaluator, f: External, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate a call of a cached function from outside.

    A pullback may be part of a differentiated call, whose cache its calls would go past.
    """
    constant = all(isinstance(x, Known) for x in (*args, *keywords.values()))
    if ev.outside.of_function and not (constant and f.source.kind == "global"):
        raise NotCovered("a cached function that others may call, too", ev.span)
    if constant and (found := _of_library(ev, f.sample, args, keywords)) is not None:
        ev.outside.guard(f.source, "is", f.sample)
        return found
    wrapped = ev.outside.read(f.source, "attribute", "__wrapped__", f.sample.__wrapped__)
    return call_cached(ev, wrapped, *args, **keywords)


def _of_library(
    ev: Evaluator, f: Any, args: Sequence[Any], keywords: dict[str, Any]
) -> Abstract | None:
    """Return what a cached function of a library gives for constants, called now, if that is a
    constant, too; such functions change nothing else."""
    wrapped = inspect.unwrap(f)
    if type(wrapped) is not FunctionType:
        return None
    if not is_of_a_library(wrapped.__module__, wrapped.__code__):
        return None
    try:
        y = f(*[x.value for x in args], **{name: x.value for name, x in keywords.items()})
    except Exception:
        return None
    if isinstance(y, list) and _is_constant(tuple(y)):
        return ev.allocate(ListOf(tuple(map(Known, y))))
    return Known(y) if _is_constant(y) else None


def _is_constant(y: Any) -> bool:
    if isinstance(y, tuple):
        return all(map(_is_constant, y))
    return isinstance(y, (*_CONSTANTS, Enum))


def _key(x: Abstract) -> Any:
    return (type(x.value), x.value) if isinstance(x, Known) else x


def _may_equal(key: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether keys differ in the types of constants only, as those of ``1`` and ``1.0``."""
    return len(key) == len(other) and all(map(_are_equal, key, other))


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) == 2:
        return (
            bool(a[1] == b[1])
            if isinstance(a[0], type)
            else a[0] == b[0] and _are_equal(a[1], b[1])
        )
    return bool(a == b)


def _is_fixed(ev: Evaluator, x: Abstract) -> bool:
    if isinstance(x, Value):
        return isinstance(ev.types[x], Number) and x not in ev.maybe
    if isinstance(x, Tuple):
        return all(_is_fixed(ev, item) for item in x.items)
    return isinstance(x, Known) and isinstance(x.value, _CONSTANTS) and not isinstance(x, Flag)


def _demand_fixed(ev: Evaluator, x: Abstract) -> None:
    """Refuse what a cached function takes or returns unless it is a number or a constant."""
    if not _is_fixed(ev, x):
        raise NotCovered("a cached function of or with other things than numbers", ev.span)


def _note_shared(ev: Evaluator, x: Abstract) -> None:
    """Note the containers and objects in what a cached function takes or returns, which all calls
    share."""
    if isinstance(x, Tuple):
        for item in x.items:
            _note_shared(ev, item)
    elif not isinstance(x, Ref):
        _demand_fixed(ev, x)
    elif x.address not in ev.shared_results:
        held = ev.shared_results[x.address] = ev.heap[x.address]
        for item in getattr(held, "items", ()):
            _note_shared(ev, item)


def _read_by(ev: Evaluator, f: Abstract, found: list[Abstract], seen: set[int]) -> None:
    """Append what a function has captured of the variables of the program."""
    if isinstance(f, Partial):
        for x in (f.function, *f.args):
            _read_by(ev, x, found, seen)
    elif isinstance(f, Closure):
        for cell in f.cells:
            if isinstance(cell, Ref) and cell.address not in seen:
                seen.add(cell.address)
                content = ev.load_cell(cell)
                found.append(content)
                _read_by(ev, content, found, seen)
    elif isinstance(f, Value) and isinstance(ev.types[f], Array):
        ev.read_by_cached.add(f)
    else:
        _demand_fixed(ev, f)


def demand_unwritten(ev: Evaluator) -> None:
    """Refuse programs that write to what a cached function reads or returns."""
    if any(not ev.aliased_by(x).isdisjoint(ev.written) for x in ev.read_by_cached):
        raise NotCovered("a cached function that reads what has changed")
    if any(ev.heap.get(at, x) is not x for at, x in ev.shared_results.items()):
        raise NotCovered("a write to what a cached function takes or returns")
