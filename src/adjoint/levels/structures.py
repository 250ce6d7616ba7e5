"""Rules of the user on levels, for calls with dicts, objects or functions.

Levels know only real numbers and arrays. So such a call is treated as a call of the leaves of its
operands, while the rule gets and returns the structures.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adjoint.errors import MutationError
from adjoint.levels.arguments.flat_leaves import Form
from adjoint.levels.current import current
from adjoint.levels.level import Level
from adjoint.levels.operand_copies import copied_containers
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import Rules, non_differentiable
from adjoint.rulekit.rule import Rule


def opened(
    level: Level, f: Any, rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Rules, tuple[Any, ...]] | None:
    """Return the function, its rules and the operands of the call of leaves. ``None`` if no
    structure holds anything that the level knows."""
    given = (*args, *kwargs.values())
    if not any(_is_closed(value) and _is_active(level, value) for value in given):
        return None

    def called(*_: Any, args: Any = args, kwargs: Any = kwargs) -> Any:
        return f(*args, **kwargs)

    args, kwargs = (
        tuple(map(copied_containers, args)),
        {name: copied_containers(x) for name, x in kwargs.items()},
    )
    operands = _Operands((*args, *kwargs.values()))
    made = Rules(overridden=True)
    for rule in rules.rrules:
        if rule.accepts(args, kwargs):
            own = _reverse(level, rule, args, kwargs, operands)
            made.rrules += [] if own is None else [_as(rule, own)]
    if not level.replays and not kwargs:
        for rule in rules.frules:
            if rule.accepts((None, *args), {}):
                made.frules.append(_as(rule, _forward(rule, args, operands)))

    return functools.update_wrapper(called, f, updated=()), made, tuple(operands.leaves)


class _Operands:
    """The leaves of several values in a row."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = [*values]
        self.forms = [None if by_value(value) else Form(value) for value in values]
        self.leaves: list[Any] = []
        for value, form in zip(values, self.forms, strict=True):
            self.leaves += [value] if form is None else form.leaves

    def split(self, bars: list[Any]) -> list[Any]:
        """Return the cotangents of the leaves from those of the values."""
        found = []
        for form, bar in zip(self.forms, bars, strict=True):
            found += [bar] if form is None else form.split(bar, "the cotangent of a rule")
        return found

    def joined(self, dots: Any) -> tuple[Any, ...]:
        """Return the tangents of the values from those of the leaves."""
        found, start = [], 0
        for form in self.forms:
            n = 1 if form is None else len(form.leaves)
            found.append(dots[start] if form is None else form.build(dots[start : start + n]))
            start += n
        return tuple(found)


def _demand_unchanged(operands: _Operands) -> None:
    """Refuse a pullback if an operand of its rule holds other numbers by now. The pullback may read
    them, and levels restore nothing."""
    for value, form in zip(operands.values, operands.forms, strict=True):
        if form is None:
            continue
        now = Form(value).leaves
        if len(now) != len(form.leaves) or not all(map(_are_same, now, form.leaves)):
            raise MutationError(
                f"a {type(value).__name__} that a rule was given was changed after the call, and"
                " the rule's pullback is called inside another derivative",
                hint="give the rule a copy, or change a copy",
            )


def _are_same(a: Any, b: Any) -> bool:
    """Return whether two leaves are the same for a pullback. Equal leaves differ if a level knows a
    derivative of one."""
    if a is b:
        return True
    level = current.level
    if level is not None and level.knows(a, b):
        return False
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


non_differentiable(_demand_unchanged)


def _is_closed(value: Any, above: tuple[int, ...] = ()) -> bool:
    """Return whether a value is more than nested lists of numbers and arrays. True for a list that
    holds itself."""
    if isinstance(value, list | tuple):
        within = (*above, id(value))
        return id(value) in above or any(_is_closed(part, within) for part in value)
    return not by_value(value)


def _is_active(level: Level, value: Any) -> bool:
    return any(map(level.is_active, Form(value).leaves))


def _as(rule: Rule, function: Callable[..., Any]) -> Rule:
    functools.update_wrapper(function, rule.function, updated=())
    return Rule(function, frozenset(), -1, 0, foreign=rule.foreign)


def _reverse(
    level: Level, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], operands: _Operands
) -> Callable[..., Any] | None:
    """Return the reverse rule of leaves; ``None`` if the rule gives no cotangent where one is
    needed."""
    arranged, rest = rule.arrange(args, kwargs)
    if not rule.keyword_bars and any(_is_active(level, value) for value in rest.values()):
        return None
    n, names = len(args), list(kwargs)

    def reverse(*_: Any) -> Any:
        result = rule.function(*arranged, **rest)
        if result is NotImplemented:
            return result
        y, back = result

        def back_of_leaves(y_bar: Any) -> tuple[Any, ...]:
            _demand_unchanged(operands)
            f_bar, *bars = back(y_bar)
            by_name = dict(bars.pop()) if rule.keyword_bars else {}
            for name, bar in zip(rule.names[n:], bars[n : len(arranged)], strict=False):
                by_name[name] = bar
            return f_bar, *operands.split([*bars[:n], *map(by_name.get, names)])

        return y, back_of_leaves

    return reverse


def _forward(rule: Rule, args: tuple[Any, ...], operands: _Operands) -> Callable[..., Any]:
    def forward(dots: Any, *_: Any) -> Any:
        return rule.function(operands.joined(dots), *args)

    return forward
