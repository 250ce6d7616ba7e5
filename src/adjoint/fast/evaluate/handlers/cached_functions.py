"""Handlers of ``functools.cache`` and ``lru_cache``: a cache of its own in each run.

A call with known arguments is looked up in the cache, by the key that Python makes. A call with
numbers of the program is evaluated again, if the function changes nothing, returns nothing that can
be written to, and nothing has changed since the first call: then nobody can tell.
"""

from __future__ import annotations

import functools
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.objects.containers import opened_element
from adjoint.fast.evaluate.values import Abstract, DictOf, Known, Partial, Ref, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value

_key: Any = vars(functools)["_make_key"]


def cached(maxsize: Any, typed: Any, f: Any) -> Any:
    """Stand for the decorator with its options before the function."""
    raise NotImplementedError


def call_cached(*args: Any, **keywords: Any) -> Any:
    """Stand for a call, with the function, its cache and the options before the arguments."""
    raise NotImplementedError


@handler(functools.cache)
def _(ev: Evaluator, f: Abstract) -> Abstract:
    return ev.call(Known(cached), [Known(None), Known(False), f], {})


@handler(functools.lru_cache)
def _(ev: Evaluator, maxsize: Abstract = Known(128), typed: Abstract = Known(False)) -> Abstract:
    if not isinstance(maxsize, Known) or not isinstance(typed, Known):  # ``@lru_cache`` itself
        return ev.call(Known(cached), [Known(128), Known(False), maxsize], {})
    if not isinstance(maxsize.value, int | None):
        raise NotCovered("lru_cache of something else than a function", ev.span)
    return Partial(Known(cached), (maxsize, typed), ())


@handler(cached)
def _(ev: Evaluator, most: Abstract, typed: Abstract, f: Abstract) -> Abstract:
    return Partial(Known(call_cached), (f, ev.allocate(DictOf((), ())), most, typed), ())


@handler(call_cached)
def _(
    ev: Evaluator,
    f: Abstract,
    cache: Abstract,
    most: Abstract,
    typed: Abstract,
    /,
    *args: Abstract,
    **keywords: Abstract,
) -> Abstract:
    assert isinstance(cache, Ref) and isinstance(most, Known) and isinstance(typed, Known)
    if not all(map(_is_known, (*args, *keywords.values()))):
        _demand_unchanged(ev, cache)
        return _evaluated(ev, f, args, keywords)
    key = _key_of(ev, args, keywords, typed.value)
    held = _contents(ev, cache)
    if key in held:
        return held[key]
    found = ev.call(f, args, keywords)
    held = _contents(ev, cache) | {key: found}
    if most.value is not None and len(held) > most.value:
        raise NotCovered("a cache that lets results go", ev.span)
    ev.heap[cache.address] = DictOf(tuple(held), tuple(held.values()))
    return found


def _contents(ev: Evaluator, cache: Ref) -> dict[Any, Abstract]:
    held = ev.held(cache)
    assert isinstance(held, DictOf)
    return dict(zip(held.keys, held.items, strict=True))


def _is_known(a: Abstract) -> bool:
    if isinstance(a, Tuple):
        return all(map(_is_known, a.items))
    return isinstance(a, Known)


def _key_of(
    ev: Evaluator, args: tuple[Abstract, ...], keywords: dict[str, Abstract], typed: bool
) -> Any:
    given = tuple(opened_element(ev, x) for x in args)
    return _key(given, {k: opened_element(ev, x) for k, x in keywords.items()}, typed)


def _demand_unchanged(ev: Evaluator, cache: Ref) -> None:
    """Require that all is as it was at the first call with numbers of the program: Python would
    return the first result for equal numbers, whatever has changed since."""
    first = ev.caches.setdefault(cache.address, dict(ev.heap))
    if any(ev.heap.get(at) is not held for at, held in first.items() if at not in ev.caches):
        raise NotCovered("a cached function, called again after something has changed", ev.span)


def _evaluated(
    ev: Evaluator, f: Abstract, args: tuple[Abstract, ...], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate a call without the cache."""
    heap, writes, written = dict(ev.heap), ev.row_writes, len(ev.written)
    found = ev.call(f, args, keywords)
    changes = any(ev.heap[at] is not held for at, held in heap.items())
    if changes or ev.row_writes != writes or len(ev.written) != written:
        raise NotCovered("a cached function that changes something", ev.span)
    if not isinstance(found, Known | Value):
        raise NotCovered("a cached function of numbers that returns a structure", ev.span)
    return found
