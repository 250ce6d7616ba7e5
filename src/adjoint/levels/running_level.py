"""A level that runs code: functions by their units, calls by rules, all else as foreign code."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import RAISED_AFTER_WRITE, raised_after_write, refuse_names_twice
from adjoint.levels import units
from adjoint.levels.current import entered
from adjoint.levels.entries import PLAIN_OPERATORS
from adjoint.levels.foreign import unknown_calls
from adjoint.levels.foreign.concealed_values import REALS
from adjoint.levels.level import Level
from adjoint.levels.structures import opened
from adjoint.primal.object_array_places import is_container
from adjoint.rulekit.registry import Rules
from adjoint.runtime.arrays.writes import refuse_objects, write_array
from adjoint.runtime.dispatch.linked import DECLINED


class RunningLevel(Level):
    """The common part of `Forward` and `Tape`: what the runtime calls."""

    def known_unit(self, f: FunctionType) -> Any:
        """Return the unit of a Python function if it is compiled; see `adjoint.levels.units`."""
        return units.known_unit(f)

    def unit_of(self, f: FunctionType) -> Any:
        """Return the unit of a Python function."""
        return units.unit_of(f)

    def call_unit(
        self, unit: Any, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a Python function by its own code."""
        if type(unit) is not units.LevelUnit:
            unit = units.unit_of(f)
        return units.call_unit(self.memory, unit, f, args, kwargs)

    def run_unknown(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str, trusted: bool
    ) -> Any:
        """Call a function that has neither rule nor source."""
        return unknown_calls.run_unknown(self, f, args, kwargs, why, trusted)

    def run_operator(
        self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a function that differentiates others, with this level below its derivatives."""
        with entered(self):
            return f(*args, **kwargs)

    def by_rules(
        self,
        record: Any,
        slot: int,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call `apply`, and open structures for rules of the user."""
        level: Level | None = self
        while level is not None:
            if level.conceals((*args, *kwargs.values())):
                return DECLINED
            level = level.outer
        if rules.overridden or (rules.frules and rules.frules[0].foreign):
            found = opened(self, f, rules, args, kwargs)
            if found is not None:
                return self.apply(record, slot, *found, {})
            return self.apply(record, slot, f, rules, args, kwargs)
        return self.made(self.apply(record, slot, f, rules, args, kwargs), args)

    def update(
        self, record: list[Any], slot: int, op: Any, x: np.ndarray[Any, Any], value: Any
    ) -> Any:
        """Run ``x op= value``: write the result of the plain operation into `x`."""
        if is_container(x):
            write_array(record, slot, x, ..., PLAIN_OPERATORS[op](record, slot, x, value))
            return x
        refuse_objects(x)
        refuse_names_twice(x)
        self.memory.mark_written(x)
        try:
            y = PLAIN_OPERATORS[op](record, slot, x, value)
        except RAISED_AFTER_WRITE as error:
            raise raised_after_write(error) from error
        if np.shape(y) != x.shape or not np.can_cast(np.result_type(y), x.dtype, "same_kind"):
            return op(x, value)  # raises NumPy's own error
        if isinstance(y, REALS):
            self.write(x, ..., y)
        else:
            write_array(record, slot, x, ..., y)  # `y` is an array-like object
        return x
