"""Forward rules from reverse rules.

A pullback is linear in the cotangent, and its own pullback is the pushforward. So a reverse rule
states both modes. A forward rule is written by hand where one is often called, or where the
pullback looks at its cotangent to decide what is determined, as those of eigenvectors do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.levels.current import entered
from adjoint.levels.pullback_tangents import swept
from adjoint.rulekit import nested
from adjoint.rulekit.elementwise_forward import fitted
from adjoint.rulekit.refusal import may_be_nonzero
from adjoint.rulekit.registry import entry, non_differentiable, primitive, rrule
from adjoint.rulekit.rule import Rule
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.dispatch.source_call import call_function


def transposed(y: Any, back: Callable[[Any], Any], dots: tuple[Any, ...]) -> Any:
    """Return the tangent of `y` from its pullback, the poison that this gives for an argument that
    moves, or ``None`` for zero.

    Parameters
    ----------
    y
        A number, an array, or a list or tuple of these.
    back
        ``back(y_bar)`` returns one cotangent for each of `dots`.
    dots
        The tangents of the operands, ``None`` for zero.
    """
    places = [i for i, dot in enumerate(dots) if dot is not None]

    def pulled(y_bar: Any) -> tuple[Any, ...]:
        bars = back(y_bar)
        return tuple([bars[i] for i in places])

    with entered(None):  # the operands have no tangents below the level of this rule
        bars, again = nested.pullback(pulled, _ones(y))
        for i, bar in zip(places, bars, strict=True):
            if type(bar) is Poison and may_be_nonzero(dots[i]):
                return bar
        moved = [_fitting(dots[i], bar) for i, bar in zip(places, bars, strict=True)]
        _, y_dot = again(tuple(moved))
    return y_dot


def pullback_inside(f: Callable[..., Any], *args: Any) -> Any:
    """Return what `pullback` returns for a function of a rule. On a level that applies the rule,
    its operations are not those of the level."""
    with entered(None):
        return nested.pullback(f, *args)


@primitive(pullback_inside)
def _(record: list[Any], slot: int, f: Any, *args: Any) -> Any:
    return call(record, slot, nested.pullback, f, *args)


@primitive(transposed)
def _(record: list[Any], slot: int, y: Any, back: Any, dots: Any) -> Any:
    """Sweep once per number of the result on a level: a pullback there would nest deeply."""
    return call_function(record, slot, _swept, (y, back, dots), {})


def _swept(y, back, dots):
    return swept(y, lambda y_bar: (None, *back(y_bar)), dots)


def _fitting(dot: Any, bar: Any) -> Any:
    """Return the tangent of an operand without parts that have no cotangent. It is repeated along
    the axes over which its cotangent is still to be summed."""
    if bar is None or dot is None or type(bar) is Poison:
        return None
    if not isinstance(bar, list | tuple):
        return dot if np.shape(dot) == np.shape(bar) else np.broadcast_to(dot, np.shape(bar))
    return type(bar)([_fitting(part, of) for part, of in zip(dot, bar, strict=True)])


@non_differentiable
def _ones(y: Any) -> Any:
    """Return a cotangent of `y` without zeros, which some pullbacks treat apart; ``None`` for
    integers and objects."""
    if isinstance(y, list | tuple):
        return tuple(map(_ones, y))
    if isinstance(y, float | complex):
        return type(y)(1)
    kind = getattr(y, "dtype", np.dtype(object)).kind
    return np.ones(np.shape(y), y.dtype)[()] if kind in "fc" else None


def forward_from_reverse(*keys: Any) -> None:
    """Register forward rules of functions that follow from their reverse rules."""
    for key in keys:
        _forward_from_reverse(key)


def _forward_from_reverse(key: Any) -> None:
    def forward(dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        applied = rrule(key, *args, **kwargs)
        if applied is None:
            return NotImplemented
        y, back = applied
        if all(dot is None for dot in dots):
            return y, None
        y_dot = transposed(y, back, (None, *dots))
        return y, y_dot if type(y_dot) is Poison else fitted(y_dot, y)

    rules = entry(key)
    keywords = frozenset[str]().union(*(rule.keywords for rule in rules.rrules))
    most = max(rule.positional for rule in rules.rrules)
    least = min(rule.required for rule in rules.rrules)
    positional = -1 if any(rule.positional < 0 for rule in rules.rrules) else most + 1
    rules.frules.insert(0, Rule(forward, keywords, positional, least + 1))
