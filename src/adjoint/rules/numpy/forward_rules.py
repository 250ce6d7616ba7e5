"""Registration of forward rules of NumPy's array functions.

The rules are Python code of differentiable functions, so that derivatives of higher order exist.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from adjoint.rulekit.elementwise_forward import fitted
from adjoint.rulekit.projection import as_numeric
from adjoint.rulekit.registry import entry
from adjoint.rulekit.rule import Rule
from adjoint.rulekit.tangents import linear_in
from adjoint.rules.numpy.operands import dense, severed

F = TypeVar("F", bound=Callable[..., Any])


def array_frule(
    *keys: Any, operands: str = "a", alias: bool = False, nested: bool = True
) -> Callable[[F], F]:
    """Register the decorated ``rule(dots, y, *args, **keywords) -> y_dot``.

    Parameters
    ----------
    *keys
        Functions, and ``(type, name)`` of methods that take the same arguments.
    operands
        The parameters whose tangents are `dots`, in this order: each is as dense as its operand, or
        ``None``; one at least is given.
    alias
        The tangent may share memory with that of an operand.
    nested
        Operands are arrays: what is not numeric is declined. Otherwise they may be anything.

    The tangent is fitted to the shape and dtype of the result. A result that was rounded to
    integers has no tangent; calls with an ``out`` are declined.
    """

    def add(function: F) -> F:
        own = Rule.of(function)
        # the rule is called with one leading argument less: the result is computed here
        shape = (own.positional - 1, own.required - 1, own.names[1:])
        parameters = list(inspect.signature(function).parameters.values())[2:]
        order = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        plan = _Plan(function, [order.index(name) for name in operands.split()], order, nested)
        for key in keys:
            f = _callable(key)

            def forward(dots: Any, /, *args: Any, f: Any = f, **kwargs: Any) -> Any:
                return plan.apply(f, dots, args, kwargs)

            forward.plan = plan  # type: ignore[attr-defined]
            positional, required, names = shape
            rule = replace(
                own, function=forward, positional=positional, required=required, names=names,
                keywords=own.keywords - {"dots", "y"}, types=(), alias=alias,
            )  # fmt: skip
            entry(key).frules.insert(0, rule)
        return function

    return add


def _callable(key: Any) -> Any:
    """Return the function that a key stands for."""
    return getattr(*key) if isinstance(key, tuple) else key


class _Plan:
    """A forward rule, and the places of the operands among its arguments.

    Attributes
    ----------
    function, places
        These.
    """

    def __init__(
        self, function: Callable[..., Any], places: list[int], order: list[str], nested: bool
    ) -> None:
        self.function = function
        self.places = places
        self._order = order
        self._nested = nested

    def apply(self, f: Any, dots: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the value and the tangent of one call."""
        kwargs = {name: value for name, value in kwargs.items() if value is not np._NoValue}
        given = {**dict(zip(self._order, args, strict=False)), **kwargs}
        if given.pop("out", None) is not None:
            return NotImplemented
        values = [given.get(self._order[i]) for i in self.places]
        seen = list(args)
        for i, x in zip(self.places, values, strict=True):
            if self._nested and x is not None and x is not np._NoValue:
                value = as_numeric(x)
                if value is None:
                    return NotImplemented
                if i < len(seen):
                    seen[i] = value
        y = f(*args, **kwargs)
        tangents = tuple(
            None if i >= len(dots) or dots[i] is None else self._dense(dots[i], x)
            for i, x in zip(self.places, values, strict=True)
        )
        if all(dot is None for dot in tangents) or (
            self._nested and not isinstance(y, list | tuple) and _is_rounded(y, values)
        ):
            return y, None
        with np.errstate(all="ignore"):  # warnings of the tangent are not the user's
            y_dot = self.function(tangents, y, *seen, **kwargs)
        return NotImplemented if y_dot is NotImplemented else (y, fitted(y_dot, y))

    def _dense(self, dot: Any, x: Any) -> Any:
        whole = dense(dot, x)
        return np.asarray(whole) if self._nested else whole


def _is_rounded(y: Any, operands: list[Any]) -> bool:
    return severed(y, *[x for x in operands if x is not None and x is not np._NoValue])


def partwise_frule(f: Callable[..., Any]) -> None:
    """Register the forward rule of a function that rearranges arguments, and so their tangents."""

    def forward(dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        if any(as_numeric(x) is None for x in args):
            return NotImplemented
        y = f(*args, **kwargs)
        if all(dot is None for dot in dots):
            return y, None
        return y, f(*[dense(dot, x) for dot, x in zip(dots, args, strict=True)], **kwargs)

    rules = entry(f)
    keywords = frozenset[str]().union(*(rule.keywords for rule in rules.rrules))
    rules.frules.insert(0, Rule(forward, keywords, -1, 1, alias=True))
    linear_in(f)  # of a single operand, which has a single result
