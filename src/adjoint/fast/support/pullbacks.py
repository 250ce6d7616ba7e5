"""Tangents of the value and of the pullback of a registered rule, by the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint.rulekit import nested


class TangentsOfRule:
    """The pair of the tangent of a rule's value, and the tangent of its pullback.

    Parameters
    ----------
    function
        The rule: ``function(*args, **kwargs) -> (y, back)``.
    dots
        The tangents of `args`, ``None`` for zero.
    """

    __slots__ = ("_args", "_dots", "_function", "_kwargs")

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        dots: tuple[Any, ...],
        names: tuple[str, ...],
        values: tuple[Any, ...],
    ) -> None:
        self._function = function
        self._args, self._dots = args, dots
        self._kwargs = dict(zip(names, values, strict=True))

    def __iter__(self) -> Iterator[Any]:
        function, kwargs = self._function, self._kwargs

        def value(*args: Any) -> Any:
            return function(*args, **kwargs)[0]

        yield nested.pushforward_on_level(value, self._args, self._dots)[1]
        yield self

    def pulled(self, y_bar: Any, y_bar_dot: Any) -> Any:
        """Return the tangents of the cotangents that the pullback gives."""
        function, kwargs = self._function, self._kwargs

        def bars(*args: Any) -> Any:
            return function(*args[:-1], **kwargs)[1](args[-1])

        return nested.pushforward_on_level(bars, (*self._args, y_bar), (*self._dots, y_bar_dot))[1]


def pulled(rule: TangentsOfRule, y_bar: Any, y_bar_dot: Any) -> Any:
    """Return the tangents of ``back(y_bar)``."""
    return rule.pulled(y_bar, y_bar_dot)
