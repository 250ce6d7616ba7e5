"""The public pullback of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.diagnostics.public_function import public
from adjoint.diagnostics.pullback_text import StaysHere, pullback_text
from adjoint.fast.programs.store import demand_foreseen
from adjoint.fast.support.functions import finished
from adjoint.fast.support.result_structure import Misfit, structure_of
from adjoint.levels.foreign.constant_pullbacks import follows, pulled
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import project
from adjoint.runtime.results import checked_cotangent


class SpecialisedPullback(StaysHere, EngineObject):
    """``y_bar ↦ (f_bar, *arg_bars)`` of one call, as `pullback` returns it.

    Parameters
    ----------
    name
        The name of the function.
    y
        The result of the function.
    back
        The reverse sweep of the program.
    leaves
        The wanted leaves.
    arrange
        Maps the cotangents of the leaves to those of the function and its arguments.
    count
        The number of arguments.
    generic
        Makes the pullback of the generic tier, for cotangents with which the program fails.
    """

    __slots__ = (
        "_arrange",
        "_back",
        "_count",
        "_generic",
        "_leaves",
        "_name",
        "_other",
        "_structure",
        "_y",
    )

    def __init__(
        self,
        name: str,
        y: Any,
        back: Callable[[Any], tuple[Any, ...]],
        leaves: tuple[Any, ...],
        arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]],
        count: int,
        generic: Callable[[], Callable[[Any], tuple[Any, ...]]],
    ) -> None:
        self._structure = structure_of(y)
        if self._structure is not None:  # the caller may change a list or a dict
            y = self._structure.filled(self._structure.leaves(y))
        self._name, self._y, self._back, self._leaves = name, y, back, leaves
        self._arrange, self._count, self._generic = arrange, count, generic
        self._other: Callable[[Any], tuple[Any, ...]] | None = None

    def __repr__(self) -> str:
        return pullback_text(self._name)

    @public
    def __call__(self, y_bar: Any) -> tuple[Any, ...]:
        """Pull a cotangent of the result back; see `adjoint.api.generic_tier.Pullback`."""
        return self.swept(y_bar)

    def swept(self, y_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the function and of its arguments."""
        if y_bar is None:
            return (None,) * (self._count + 1)
        value_bar, given = self._checked(y_bar)
        if follows(y_bar):
            return pulled(self.swept, self._y, y_bar)  # type: ignore[no-any-return]
        if self._other is None and given is not None:
            try:
                with np.errstate(all="ignore"):
                    bars = finished(self._back(value_bar), (*self._leaves, *given))
            except Exception as error:  # the generic tier raises it, or succeeds
                demand_foreseen(error)
                bars = None
            if bars is not None:
                return self._arrange(bars)
        if self._other is None:
            self._other = self._generic()
        return self._other(y_bar)

    def _checked(self, y_bar: Any) -> tuple[Any, tuple[Any, ...] | None]:
        """Return the cotangent in the form that the program takes, and the arrays that the results
        must not alias; ``None`` for both if the program does not take it."""
        value_bar = checked_cotangent(self._y, y_bar)
        if self._structure is None:
            return value_bar, (y_bar, value_bar)
        leaves = self._structure.leaves
        try:
            given, bars, ys = leaves(y_bar), leaves(value_bar), leaves(self._y)
        except Misfit:
            return None, None
        parts: list[Any] = []
        for y, bar in zip(ys, bars, strict=True):
            if not by_value(y):
                parts.append(None)
            elif bar is None:
                parts.append(0.0 if type(y) is float else project(np.zeros(np.shape(y)), y))
            else:
                parts.append(bar)
        return tuple(parts), (*given, *parts, *ys)
