"""The public pullback of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.diagnostics.numpy_warnings import begin_ignoring, end_handling
from adjoint.diagnostics.public_function import hide_frames
from adjoint.diagnostics.pullback_text import StaysHere, pullback_text
from adjoint.errors import MutationError
from adjoint.fast.programs.store import demand_foreseen
from adjoint.fast.support.functions import finished
from adjoint.fast.support.result_structure import Misfit, Structure, structure_of
from adjoint.fast.support.tangents import unchanged
from adjoint.levels.current import current
from adjoint.levels.foreign.constant_pullbacks import follows, pulled
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import project
from adjoint.runtime.results import checked_cotangent


class SpecialisedPullback(StaysHere, EngineObject):
    """``y_bar ↦ (f_bar, *arg_bars)`` of one call, as `pullback` returns it.

    Parameters
    ----------
    f, given
        The function and all its arguments.
    found
        What the program returned; see `entry_source`.
    count
        The number of arguments with cotangents.
    generic
        Makes the pullback of the generic tier, for cotangents with which the program fails.
    """

    __slots__ = ("_count", "_f", "_found", "_generic", "_given", "_other", "_structure", "_y")

    def __init__(
        self,
        f: Any,
        given: tuple[Any, ...],
        found: tuple[Any, ...],
        count: int,
        generic: Callable[[], Callable[[Any], tuple[Any, ...]]],
    ) -> None:
        self._f, self._given, self._found = f, given, found
        self._count, self._generic = count, generic
        self._y, self._structure = found[0], structure_of(found[0])
        if self._structure is not None:  # the caller may change a list or a dict
            self._y = self._structure.filled(self._structure.leaves(self._y))
        self._other: Callable[[Any], tuple[Any, ...]] | None = None

    @property
    def _name(self) -> str:
        return getattr(self._f, "__name__", None) or type(self._f).__name__

    def __repr__(self) -> str:
        return pullback_text(self._name)

    def __call__(self, y_bar: Any) -> tuple[Any, ...]:
        """Pull a cotangent of the result back; see `adjoint.api.generic_tier.Pullback`."""
        try:
            return self.swept(y_bar)
        except BaseException as error:
            hide_frames(error)
            raise

    def swept(self, y_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the function and of its arguments."""
        if y_bar is None:
            return (None,) * (self._count + 1)
        y, (_, back, leaves, arrange, _, _) = self._y, self._found
        value_bar = checked_cotangent(y, y_bar)
        if current.level is not None and follows(y_bar):
            return pulled(self.swept, y, y_bar)  # type: ignore[no-any-return]
        given: tuple[Any, ...] | None = (y_bar, value_bar)
        if self._structure is not None:
            value_bar, given = _parts(self._structure, y, y_bar, value_bar)
        if self._other is None and given is not None:
            errors = begin_ignoring()
            try:
                bars = finished(back(value_bar), (*leaves, *given))
            except Exception as error:  # the generic tier raises it, or succeeds
                demand_foreseen(error)
                bars = None
            finally:
                end_handling(errors)
            if bars is not None:
                return arrange(bars)  # type: ignore[no-any-return]
        if self._other is None:
            self._other = self._run_again()
        return self._other(y_bar)

    def _run_again(self) -> Callable[[Any], tuple[Any, ...]]:
        """Return the pullback of the generic tier, unless what the function reads has changed."""
        state, read, _, in_place, again = self._found[-1]
        with in_place():
            if not unchanged(state(self._f, self._given), read):
                raise MutationError(
                    f"what '{self._name}' reads has changed since its pullback was made",
                    hint="call pullback again: it has to run once more for a cotangent that is not"
                    " finite",
                )
            with again():
                return self._generic()


def _parts(
    structure: Structure, y: Any, y_bar: Any, checked: Any
) -> tuple[Any, tuple[Any, ...] | None]:
    """Return the cotangent of a container in the form that the program takes, and the arrays that
    the results must not alias; ``None`` for both if the program does not take it."""
    try:
        given, bars, ys = (structure.leaves(x) for x in (y_bar, checked, y))
    except Misfit:
        return None, None
    parts: list[Any] = []
    for one, bar in zip(ys, bars, strict=True):
        if not by_value(one):
            parts.append(None)
        elif bar is None:
            parts.append(0.0 if type(one) is float else project(np.zeros(np.shape(one)), one))
        else:
            parts.append(bar)
    return tuple(parts), (*given, *parts, *ys)
