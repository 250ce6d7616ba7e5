"""Each call of a rule compared with finite differences as it runs: ``with ad.testing.checked():``,
or ``ADJOINT_CHECK=1`` in the environment."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from adjoint.fast.programs import store
from adjoint.locks import make_lock
from adjoint.rulekit import registry
from adjoint.rulekit.registry import Rules
from adjoint.rulekit.rule import Rule
from adjoint.runtime.dispatch import rule_call

_lock = make_lock()
_depth = [0]
_busy = threading.local()
_plain_first_rule = rule_call.first_rule


@contextmanager
def checked() -> Iterator[None]:
    """Compare every rule that differentiated code calls inside the ``with`` with finite
    differences, and name the first call that is wrong.

    As a call by a registered rule is made, the function is run again on copies of the arguments,
    each moved along a random direction. Nothing is said where the differences do not agree with
    each other (at kinks, jumps, ends of domains), where the function gives another result the
    second time, or where an argument cannot be copied. A rule that is not meant to be the
    derivative (reversed gradients, straight-through estimators) is reported like any other.

    Calls are not specialised meanwhile, in no thread. Each takes ten to a hundred times as long,
    and functions with rules run more often than the program calls them. ``ADJOINT_CHECK=1`` in the
    environment does the same from the import of the library on.

    Returns
    -------
    context manager
        Of no value; it may be entered inside itself.

    Raises
    ------
    RuleError
        Inside the ``with``: names the function, the argument, what was expected and what came, the
        line of the user's that calls it, and where the rule is.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> with ad.testing.checked():
    ...     ad.gradient(lambda x: np.sin(x) * x, 0.0)
    (0.0,)
    """
    _begin()
    try:
        yield
    finally:
        _end()


def begin_if_wanted() -> None:
    """What the environment says."""
    if os.environ.get("ADJOINT_CHECK", "").lower() not in ("", "0", "off", "no", "false"):
        _begin()


def _begin() -> None:
    with _lock:
        _depth[0] += 1
        if _depth[0] == 1:
            _show_rules(True)


def _end() -> None:
    with _lock:
        _depth[0] -= 1
        if not _depth[0]:
            _show_rules(False)


def _show_rules(seen: bool) -> None:
    """Close the ways round the rules, or open them again."""
    rule_call.first_rule = _checked_first_rule if seen else _plain_first_rule
    registry.has_lanes[0] = not seen
    registry.trusted_rules.clear()
    store.refusal[0] = "rules are checked" if seen else None
    store.forget()


def _checked_first_rule(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    level = record[0].level
    if level is None or level.outer is None:  # on another level, rules are code that is run
        reverse = [_compared(f, rule, forward=False) for rule in rules.rrules]
        forward = [_compared(f, rule, forward=True) for rule in rules.frules]
        rules = replace(rules, rrules=reverse, frules=forward)
    return _plain_first_rule(record, slot, f, rules, args, kwargs)


def _compared(f: Any, rule: Rule, *, forward: bool) -> Rule:
    """A rule that does the same, and is compared."""

    def function(*args: Any, **kwargs: Any) -> Any:
        result = rule.function(*args, **kwargs)
        if type(result) is not tuple or len(result) != 2 or getattr(_busy, "is_true", False):
            return result
        from adjoint.testing.rule_comparison import compare

        _busy.is_true = True
        try:
            compare(f, rule, args[1:] if forward else args, kwargs, result, forward)
        finally:
            _busy.is_true = False
        return result

    inner: Any = rule.function
    while isinstance(inner, functools.partial):
        inner = inner.func
    functools.update_wrapper(function, inner, updated=())  # whose rule it is, is asked of that
    return replace(rule, function=function)
