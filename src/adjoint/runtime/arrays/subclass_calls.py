"""Calls with arrays of subclasses of `numpy.ndarray`.

A function that the subclass does not override is differentiated as for plain arrays: rules see
plain views of the operands, and the result is NumPy's, of its class. Overrides (methods,
``__array_ufunc__``, ``__array_function__``) are differentiated code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.primal.array_classes import (
    _has_user_array_wrap,
    _is_list_of_subclassed,
    has_array_wrap,
    is_subclassed,
    overrides_method,
    plain,
)
from adjoint.primal.array_memory import root_of
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.arrays.wrap_results import wrapped_call, wraps_result
from adjoint.runtime.dispatch import rule_call
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent, result_of
from adjoint.runtime.dispatch.linked import DECLINED, NO_KEYWORDS, linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.subclass_attributes import link_attributes


def apply_to_plain(
    record: list[Any],
    slot: int,
    f: Any,
    apply: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run ``f(*args, **kwargs)`` by rules for plain arrays, if NumPy's result is the same.

    `apply` takes record, slot, arguments and keyword arguments, and returns a result or `DECLINED`.
    """
    if overrides_method(f, (*args, *kwargs.values())):
        return DECLINED
    if any(map(_has_user_array_wrap, args)) and wraps_result(f, args, kwargs):
        return call_with_wrap(record, slot, f, args, kwargs)
    blank, memory = record[slot], record[0]
    named = {name: plain(value) for name, value in kwargs.items()}
    given = tuple(map(plain, args))
    found = apply(record, slot, given, named)
    if found is DECLINED:
        return DECLINED
    lists = [pair for pair in zip(args, given, strict=True) if _is_list_of_subclassed(pair[0])]
    if lists and record[slot] is not blank:
        record[slot] = _of_lists(memory, record[slot], lists)
    if _draws(f, args):
        return found  # a second draw would differ; drawn arrays are plain
    y = f(*args, **kwargs)
    if _is_reshaped(found, y):
        found = _reshaped(record, slot, found, np.shape(y))
    if not by_value(found) or not _same(found, y):
        record[slot] = blank
        if type(f) is not np.ufunc:
            return DECLINED  # the source of `f` is differentiated
        if any(map(has_array_wrap, args)):
            return call_with_wrap(record, slot, f, args, kwargs)
        kind = next(type(v).__name__ for v in (*args, *kwargs.values()) if is_subclassed(v))
        why = f"makes of a '{kind}' something else than of a plain array"
        return run_unknown(memory, record, slot, f, args, kwargs, why)
    if memory.level is not None:
        memory.level.link(y, found)
        link_attributes(record, slot, y, args)
    elif isinstance(y, ndarray):
        record[slot] = _of_class(memory, record[slot], y, args)
        link_attributes(record, slot, y, args)
    return y


def call_with_wrap(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run ``f(*args, **kwargs)`` with ``__array_wrap__`` of its operands as differentiated code."""
    memory: Memory = record[0]

    def of_operands(_: tuple[Any, ...]) -> tuple[Any, ...]:
        bars = memory.take_items(args, len(args))
        return (None, *bars, *(memory.take_entry(kwargs, name) for name in kwargs))

    operands = (f, args, kwargs)
    return linked(record, slot, of_operands, call_function, wrapped_call, operands, NO_KEYWORDS)


def _draws(f: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a call draws random numbers from a generator."""
    owners = (getattr(f, "__self__", None), *args[:1])
    return any(isinstance(x, np.random.Generator | np.random.RandomState) for x in owners)


def _of_lists(memory: Memory, back: Any, lists: list[tuple[Any, Any]]) -> Callable[[Any], Any]:
    """Wrap a pullback to move cotangents of lists of plain views to the original lists."""

    def of_lists_back(y_bar: Any) -> Any:
        bars = back(y_bar)
        for given, made in lists:
            for i, bar in enumerate(memory.take_items(made, len(made))):
                memory.add_item(given, i, bar)
        return bars

    return of_lists_back


def _of_class(memory: Memory, back: Any, y: Any, args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return the pullback of NumPy's result `y`, which replaces the result of the rule."""
    root = root_of(y)
    given = any(isinstance(arg, ndarray) and root_of(arg) is root for arg in args)
    result = (lambda: None) if given else result_of(memory, y)

    def of_class_back(y_bar: Any) -> Any:
        return None if back is None else back(finished_cotangent(memory, result, y_bar))

    return of_class_back


def _same(a: Any, b: Any) -> bool:
    if not by_value(b) or np.shape(a) != np.shape(b):
        return False
    a, b = plain(a), plain(b)
    same: Any = a == b
    return bool(np.all(same | ((a != a) & (b != b))))


def _is_reshaped(found: Any, y: Any) -> bool:
    """Return whether two results differ only in axes of length one, as with `numpy.matrix`."""
    if not isinstance(found, ndarray | np.generic) or not isinstance(y, ndarray):
        return False
    return found.shape != y.shape and _axes(found) == _axes(y)


def _axes(x: Any) -> list[int]:
    return [n for n in x.shape if n != 1]


def _reshaped(record: list[Any], slot: int, found: Any, shape: tuple[int, ...]) -> Any:
    back, inner = record[slot], [record[0], None]

    def reshaped_back(y_bar: Any) -> Any:
        bar = y_bar if inner[1] is None else inner[1](y_bar)[1]
        return None if back is None else back(bar)

    record[slot] = reshaped_back
    return call(inner, 1, np.reshape, found, shape)


rule_call.apply_to_plain, rule_call.call_wrapped = apply_to_plain, call_with_wrap
