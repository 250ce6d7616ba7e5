"""Calls of functions that `functools` has wrapped: cached ones, and those that dispatch by type."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, External, Flag, Known
from adjoint.fast.not_covered import NotCovered, Raises

CACHED: Any = type(functools.lru_cache(lambda: None))
"""The class of what `functools.lru_cache` returns."""
_CONSTANTS = (type(None), bool, int, float, str, type, ModuleType)


@dataclass(frozen=True, slots=True)
class _CachedCall:
    """A call of a cached function with constants, as a fact that a guard compares."""

    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]

    def __call__(self, f: Any) -> Any:
        found = f(*self.args, **dict(self.keywords))
        return type(found), found


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The function that `functools.singledispatch` chooses for a class."""

    cls: type

    def __call__(self, f: Any) -> Any:
        return f.dispatch(self.cls)


def call_cached(
    ev: Evaluator, f: External, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate a call of a cached function with constants whose result is one.

    What the cache holds may be older than what the function would return now, so a guard asks for
    it at each call of the program. That has no effect, or the function would not be covered.
    """
    given = _constants(ev, args)
    named = _constants(ev, list(keywords.values()))
    with ev.trial():
        wrapped = ev.outside.read(f.source, "attribute", "__wrapped__", f.sample.__wrapped__)
        found = ev.call(wrapped, args, keywords)
    (result,) = _constants(ev, [found])
    asked = _CachedCall(given, tuple(zip(keywords, named, strict=True)))
    ev.outside.guard(f.source, "fact", (asked, (type(result), result)))
    return found


def _constants(ev: Evaluator, values: Sequence[Abstract]) -> tuple[Any, ...]:
    for x in values:
        is_constant = isinstance(x, Known) and isinstance(x.value, _CONSTANTS)
        if not is_constant or isinstance(x, Flag):
            raise NotCovered("a cached function of or with what is not known", ev.span)
    return tuple(x.value for x in values if isinstance(x, Known))


def call_dispatching(
    ev: Evaluator, f: External, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate a call of a function that dispatches on the class of its first argument."""
    if not args:
        raise Raises(TypeError, "no argument to dispatch on", ev.span)
    cls = ev.class_of(args[0])
    if cls is None or ev.outside.of_function:
        raise NotCovered("dispatch on a value of several types", ev.span)
    chosen = f.sample.dispatch(cls)
    ev.outside.guard(f.source, "fact", (_Chosen(cls), chosen))
    return ev.call(ev.outside.bring(ev.outside.root("object", chosen), chosen), args, keywords)
