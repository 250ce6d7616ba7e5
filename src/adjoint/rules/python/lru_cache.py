"""Rules of `functools.lru_cache` and `cache`, with Python's bookkeeping.

Each differentiated call has a cache of its own, empty at first: results that were cached before
have no derivative.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import Any

from adjoint.levels.cached_results import Evaluation as OnLevel
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.foreign.user_code_reach import HASHED
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.recompute.cached_results import Evaluation, is_tuple

CACHED: Any = functools._lru_cache_wrapper


_NAMED = object()
"""Separates positional from keyword arguments in a key."""


class _Key(tuple[Any, ...]):
    """A key that is hashed once, because ``__hash__`` may be user code."""

    hashed: int

    def __new__(cls, parts: tuple[Any, ...]) -> _Key:
        key = super().__new__(cls, parts)
        key.hashed = hash(parts)
        return key

    def __hash__(self) -> int:
        return self.hashed


class _Cache:
    """Results of one function that one differentiated call has cached, the newest last."""

    def __init__(self, f: Any) -> None:
        self.f = f  # kept alive, because its id is a key
        self.most = f.cache_info().maxsize
        self.typed = hasattr(f, "cache_parameters") and f.cache_parameters()["typed"]
        self.entries: OrderedDict[Any, Any] = OrderedDict()
        self.hits = self.misses = 0

    @classmethod
    def of(cls, memory: Memory, f: Any) -> _Cache:
        """Return the cache of `f`; make it if needed."""
        place = ("cache", id(f))
        known: _Cache | None = memory.caches.get(place)
        if known is None:
            known = memory.caches[place] = cls(f)
        return known

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the key of a call: a single integer or text, else all arguments."""
        parts = (*args, _NAMED, *kwargs.items()) if kwargs else args
        if self.typed:
            parts += tuple(map(type, (*args, *kwargs.values())))
        elif len(parts) == 1 and type(parts[0]) in (int, str):
            return parts[0]
        return _Key(parts)

    def look_up(self, key: Any) -> Any:
        """Return the result cached for `key`, or None; make it the newest."""
        entry = self.entries.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        own, found = entry
        self.entries.move_to_end(own)  # by the stored key, so that no ``__eq__`` runs again
        return found

    def store(self, key: Any, evaluation: Any) -> None:
        """Cache a result; a bounded cache keeps one that a nested call cached for the same key."""
        if self.most is None:
            self.entries[key] = key, evaluation
        elif key not in self.entries:
            if len(self.entries) >= self.most:
                self.entries.popitem(last=False)
            self.entries[key] = key, evaluation


@primitive((CACHED, "__call__"))
def _(record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    memory = record[0]
    cache = _Cache.of(memory, f)
    if cache.most == 0:
        cache.misses += 1
        return linked(
            record,
            slot,
            lambda bars: (None, None, *bars[1:]),
            call_keywords,
            f.__wrapped__,
            args,
            kwargs,
        )
    given = (*args, *kwargs.values())
    asked: list[Any] = [memory, None]
    if HASHED(*given):
        key, known = run_monitored(asked, 1, f, _find, (cache, args, kwargs), {})
    else:
        key, known = _find(cache, args, kwargs)
    y = _evaluated(record, slot, f, args, kwargs, cache, key, known)
    if asked[1] is not None:
        back = record[slot]

        def asked_back(y_bar: Any) -> tuple[Any, ...]:
            bars: tuple[Any, ...] = back(y_bar)
            asked[1](None)
            return bars

        record[slot] = asked_back
    return y


def _find(
    cache: _Cache, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Evaluation | None]:
    key = cache.key(args, kwargs)
    return key, cache.look_up(key)


def _evaluated(
    record: list[Any],
    slot: int,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    cache: _Cache,
    key: Any,
    known: Evaluation | None,
) -> Any:
    memory, given = record[0], (*args, *kwargs.values())
    if memory.level is not None:
        return _on_level(memory, f, args, kwargs, cache, key, known)
    if known is None:
        evaluation = Evaluation(memory, f, given)

        def evaluation_back(y_bar: Any) -> tuple[Any, ...]:
            bars = [None] * len(evaluation.y) if is_tuple(evaluation.y) else [y_bar]
            return (None, None, *evaluation.back(bars))

        record[slot] = evaluation_back
        y = evaluation.run(f.__wrapped__, args, kwargs)
        cache.store(key, evaluation)
        return y
    y = known.used_again(given)

    def again_back(y_bar: Any) -> tuple[Any, ...]:
        bars = [y_bar]
        if is_tuple(y):
            bars = memory.take_items(y, len(y)) if y is not known.y else []
        return (None, None, *known.again_back(given, bars))

    record[slot] = again_back
    return y


def _on_level(
    memory: Memory,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    cache: _Cache,
    key: Any,
    known: Any,
) -> Any:
    """Evaluate on a level, or reuse a result computed for equal arguments with other tangents."""
    if known is not None:
        return known.used_again(memory.level, args, kwargs)
    evaluation = OnLevel(memory.level, f.__wrapped__, args, kwargs)
    cache.store(key, evaluation)
    return evaluation.y


@primitive((CACHED, "cache_info"))
def _(record: list[Any], slot: int, f: Any) -> Any:
    """Return the statistics of the function's own cache plus those of this differentiated call."""
    cache, info = _Cache.of(record[0], f), f.cache_info()
    size = info.currsize + len(cache.entries)
    return info._replace(
        hits=info.hits + cache.hits,
        misses=info.misses + cache.misses,
        currsize=size if cache.most is None else min(size, cache.most),
    )


@primitive((CACHED, "cache_clear"))
def _(record: list[Any], slot: int, f: Any) -> None:
    """Clear the cache of this differentiated call and the function's own cache."""
    record[0].caches.pop(("cache", id(f)), None)
    f.cache_clear()
