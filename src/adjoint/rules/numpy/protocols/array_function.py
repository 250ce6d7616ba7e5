"""Rule of ``super().__array_function__(...)``, which runs a function that a subclass overrides."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.array_classes import overrides_method
from adjoint.rulekit.registry import lookup, primitive
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.memory import Memory


@primitive((np.ndarray, "__array_function__"))
def _(
    record: list[Any],
    slot: int,
    array: Any,
    func: Any,
    types: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if not all(issubclass(kind, np.ndarray) for kind in types):
        return NotImplemented
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]

    def function_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        if bars is not None:
            for i in range(len(args)):
                memory.add_item(args, i, bars[i + 1])
            for name, bar in zip(kwargs, bars[len(args) + 1 :], strict=True):
                memory.add_entry(kwargs, name, bar)
        return (None,) * 6

    record[slot] = function_back
    return _run_itself(inner, func, args, kwargs)


def _run_itself(record: list[Any], func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function without dispatch on the classes of its arguments."""
    itself = getattr(func, "_implementation", func)
    rules = lookup(func)
    if rules is not None and not overrides_method(func, (*args, *kwargs.values())):
        y = run_rules(record, 1, itself, rules, args, kwargs)
        if y is not DECLINED:
            return y
    if type(itself) is FunctionType:
        return call_function(record, 1, itself, args, kwargs)
    return run_unknown(record[0], record, 1, itself, args, kwargs)
