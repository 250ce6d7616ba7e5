"""Calls: by rule, else by the callee's own source, else with a poisoned result.

Every function here has the form ``(record, slot, …) -> value``: it runs the operation and leaves
its pullback in ``record[slot]``; ``record[0]`` is the memory. If the slot keeps its blank, the
result is constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.primal.value_kinds import PLAIN, REALS
from adjoint.rulekit.partials import POLES
from adjoint.rulekit.registry import Rules, TrustedRule, table, trusted_rule, trusted_rules
from adjoint.runtime.dispatch import rule_call
from adjoint.runtime.dispatch.checked_pullback import checked_trusted
from adjoint.runtime.dispatch.linked import DECLINED, HANDLERS, NO_KEYWORDS
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign import foreign_run
from adjoint.runtime.memory.memory import Memory


def call(record: list[Any], slot: int, f: Any, *args: Any) -> Any:
    """Run ``f(*args)``."""
    kind = type(f)
    if kind is FunctionType:
        rules = table.get(f)
        if rules is None:
            return call_function(record, slot, f, args, NO_KEYWORDS)
        y = run_rules(record, slot, f, rules, args, NO_KEYWORDS)
        return call_function(record, slot, f, args, NO_KEYWORDS) if y is DECLINED else y
    if kind in _KEYED_BY_IDENTITY and record[0].level is None:
        try:
            known = trusted_rules[f]
        except KeyError:
            known = trusted_rule(f)
        if known is not None:
            if len(args) == known[4]:
                y = known[5](record, slot, *args)  # type: ignore[misc]
                if y is not NotImplemented:
                    return y
            y = _run_trusted(record, slot, known, args)
            if y is not DECLINED:
                return y
    return (HANDLERS.get(kind) or HANDLERS[object])(record, slot, f, args, NO_KEYWORDS)


def call_trusted(record: list[Any], slot: int, key: Any, args: tuple[Any, ...]) -> Any:
    """Apply the trusted rule of `key`; return `DECLINED` if it has none for `args`."""
    known = trusted_rules[key] if key in trusted_rules else trusted_rule(key)
    if known is None or record[0].level is not None:
        return DECLINED
    if len(args) == known[4]:
        y = known[5](record, slot, *args)  # type: ignore[misc]
        if y is not NotImplemented:
            return y
    return _run_trusted(record, slot, known, args)


def _run_trusted(record: list[Any], slot: int, known: TrustedRule, args: tuple[Any, ...]) -> Any:
    """Apply a trusted rule to numbers and arrays."""
    rule, fewest, most = known[:3]
    n = len(args)
    if not fewest <= n <= most:
        return DECLINED
    if n and n < 3 and type(args[0]) in REALS and type(args[-1]) in REALS:
        result = rule(*args)
        if result is NotImplemented:
            return DECLINED
        y, back = result
        if type(y) in REALS:

            def scalar_back(y_bar: Any) -> Any:
                if y_bar is None or type(y_bar) is Poison:
                    return (None, *(y_bar,) * n)
                return back(y_bar) if y_bar else _of_zero(back, y_bar, n)

            record[slot] = scalar_back
            return y
    else:
        for arg in args:
            if type(arg) not in PLAIN or (type(arg) is np.ndarray and arg.dtype.char == "O"):
                return DECLINED  # C would ask it for a number
        result = rule(*args)
        if result is NotImplemented:
            return DECLINED
        y, back = result
    sealed = checked_trusted(record[0], y, back, args)
    if sealed is None:
        return DECLINED
    record[slot] = sealed
    return y


def _of_zero(back: Callable[[Any], Any], y_bar: Any, n: int) -> tuple[Any, ...]:
    """Return the cotangents of the arguments for a zero `y_bar`: zero, even at poles."""
    try:
        bars = back(y_bar)
    except POLES:
        return (None, *(y_bar,) * n)
    return (None, *(None if bar is None else y_bar for bar in bars[1:]))


def call_left(record: list[Any], slot: int, f: Any, a: Any, b: Any) -> Any:
    """Run ``f(a, b)`` with a constant `b`."""
    if type(f) is FunctionType and f not in table:
        return call_function(record, slot, f, (a, b), NO_KEYWORDS)
    return _call_one_sided(record, slot, f, a, b, 0)


def call_right(record: list[Any], slot: int, f: Any, a: Any, b: Any) -> Any:
    """Run ``f(a, b)`` with a constant `a`."""
    if type(f) is FunctionType and f not in table:
        return call_function(record, slot, f, (a, b), NO_KEYWORDS)
    return _call_one_sided(record, slot, f, a, b, 1)


def _call_one_sided(record: list[Any], slot: int, f: Any, a: Any, b: Any, side: int) -> Any:
    memory: Memory = record[0]
    if type(f) in _KEYED_BY_IDENTITY and not memory.globals_written:
        known = trusted_rules[f] if f in trusted_rules else trusted_rule(f)
        sides = None if known is None else getattr(known[0], "only", None)
        # A function of one operand takes an output second.
        rule = sides[side] if sides is not None and len(sides) == 2 else None
        if rule is not None and type(a) in PLAIN and type(b) in PLAIN:
            result = rule(a, b)
            if result is not NotImplemented:
                y, back = result
                sealed = checked_trusted(memory, y, back, (a, b))
                if sealed is not None:
                    record[slot] = sealed
                    return y
    rules = table.get(f) if type(f) in _KEYS else None
    if (
        rules is not None
        and rules.asking
        and memory.level is None
        and not memory.globals_written
        and _is_unwritten(memory, b if side == 0 else a)
    ):
        told = _for_wanted(rules, (side == 0, side == 1))
        y = run_rules(record, slot, f, told, (a, b), NO_KEYWORDS)
        if y is not DECLINED:
            return y
    return call(record, slot, f, a, b)


def _is_unwritten(memory: Memory, x: Any) -> bool:
    """Return whether a constant has kept its value: a number, or an array that nothing has written;
    others may hold something active by now."""
    if type(x) is np.ndarray:
        return x.dtype.char != "O" and not (memory.written and memory.is_written(x))
    return type(x) in PLAIN


def _for_wanted(rules: Rules, wanted: tuple[bool, ...]) -> Rules:
    """Return the rules for calls of which these cotangents are wanted."""
    return replace(
        rules,
        rrules=[replace(rule, function=rule.for_wanted(wanted)) for rule in rules.rrules],
    )


def call_keywords(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run ``f(*args, **kwargs)``; cotangents of keyword arguments follow those of `args`."""
    if kwargs and type(f) in _KEYED_BY_IDENTITY and record[0].level is None:
        y = _trusted_keywords(record, slot, f, args, kwargs)
        if y is not DECLINED:
            return y
    rules = table.get(f) if type(f) is FunctionType else None
    if rules is not None:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    return (HANDLERS.get(type(f)) or HANDLERS[object])(record, slot, f, args, kwargs)


def _trusted_keywords(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Apply the trusted rule of `f` to a call whose keyword arguments are constant settings."""
    known = trusted_rules[f] if f in trusted_rules else trusted_rule(f)
    if known is None or not known[1] <= len(args) <= known[2] or not known[3].issuperset(kwargs):
        return DECLINED
    for value in kwargs.values():
        if type(value) not in _SETTINGS:
            return DECLINED
    for arg in args:
        if type(arg) not in PLAIN or (type(arg) is np.ndarray and arg.dtype.char == "O"):
            return DECLINED
    result = known[0](*args, **kwargs)
    if result is NotImplemented:
        return DECLINED
    y, back = result
    sealed = checked_trusted(record[0], y, back, args)
    if sealed is None:
        return DECLINED
    none = (None,) * len(kwargs)
    record[slot] = lambda y_bar: (*sealed(y_bar), *none)
    return y


_SETTINGS = frozenset({int, bool, str, tuple, type(None)})
"""Types of axes, flags and modes."""


_KEYED_BY_IDENTITY = frozenset({BuiltinFunctionType, np.ufunc, type(np.mean)})
"""Types of callables of C that are themselves the keys of rules."""
_KEYS = _KEYED_BY_IDENTITY | {FunctionType}


# ---- calls within calls --------------------------------------------------------------------------


foreign_run.call_keywords = rule_call.call_keywords = call_keywords
