"""Calls of C on dates and durations of `datetime`, which run without comparison.

Dates consist of integers and hold nothing else, so nothing is saved or compared. A cotangent of the
result poisons the operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta, timezone
from types import BuiltinFunctionType
from typing import Any

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.poison import Poison
from adjoint.primal.value_kinds import NUMBERS, by_value
from adjoint.runtime.memory.memory import Memory

_DATES: frozenset[type] = frozenset({date, datetime, time, timedelta, timezone})
_GIVEN = _DATES | NUMBERS | {str, type(None)}
_WHOLE = "*"
"""Key in the shadow of a date: its cotangent as a whole."""


def are_dates(f: Any, owner: Any, inputs: Sequence[Any]) -> bool:
    """Return whether `f` is code of C with only dates, durations, numbers and text as operands."""
    kind = type(f)
    if kind is type:
        of_dates = f in _DATES
    elif kind is BuiltinFunctionType:
        of_dates = type(owner) in _DATES or any(type(value) in _DATES for value in inputs)
    else:
        of_dates = getattr(f, "__objclass__", None) in _DATES
    return of_dates and all(map(is_plain, inputs)) and (owner is None or is_plain(owner))


def is_date(value: Any) -> bool:
    """Return whether a value is a date, a time or a duration, in no time zone of a user class."""
    return type(value) in _DATES and type(value) is not timezone and is_plain(value)


def is_plain(value: Any) -> bool:
    """Return whether a value is a date, a number or text whose methods enter no user code."""
    kind = type(value)
    if kind is datetime or kind is time:
        return value.tzinfo is None or type(value.tzinfo) is timezone
    return kind in _GIVEN


def dates_back(
    memory: Memory,
    y: Any,
    owner: Any,
    inputs: Sequence[Any],
    poison_of: Callable[[Any], Poison],
) -> Callable[[Any], tuple[Any, ...]]:
    """Return the pullback of a call on dates; `poison_of` turns a cotangent of `y` into poison."""
    given = [value for value in (owner, *inputs) if type(value) in _DATES and value is not y]

    def back(y_bar: Any) -> tuple[Any, ...]:
        bar = finish(y_bar)
        if bar is None and not by_value(y):  # it arrived at an attribute or at `_WHOLE`
            parts = memory.shadows.get(id(y)) or {}
            bar = next((part for part in parts.values() if part is not None), None)
        if bar is None:
            return (None,) * (len(inputs) + 1)
        bar = poison_of(bar)
        for value in given:
            memory.dict_shadow(value)[_WHOLE] = bar
        carries = (by_value(value) and type(value) not in (int, bool) for value in inputs)
        return None, *(bar if one else None for one in carries)

    return back
