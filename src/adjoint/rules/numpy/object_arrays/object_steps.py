"""Products of arrays of objects, which NumPy computes in C by the operators of the elements.

NumPy runs on proxies, which note the operators, their operands and their order. The same operators
are then applied to the elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.primal.object_array_places import is_container
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.registry import on_objects
from adjoint.runtime.arrays.object_conversion import as_objects
from adjoint.runtime.arrays.object_layout import empty_like_layout, indices
from adjoint.runtime.dispatch.linked import NO_KEYWORDS, linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.memory import Memory


class OperatorLog:
    """A proxy for a numbered element or result; it notes operators in `steps`."""

    __slots__ = ("number", "steps")

    def __init__(self, number: int, steps: list[Any]) -> None:
        self.number, self.steps = number, steps

    def _do(self, op: Any, *operands: Any) -> OperatorLog:
        self.steps.append((op, [_number(x, self.steps) for x in operands]))
        return OperatorLog(len(self.steps) - 1, self.steps)

    def __add__(self, other: Any) -> OperatorLog:
        return self._do(operator.add, self, other)

    def __radd__(self, other: Any) -> OperatorLog:
        return self._do(operator.add, other, self)

    def __mul__(self, other: Any) -> OperatorLog:
        return self._do(operator.mul, self, other)

    def __rmul__(self, other: Any) -> OperatorLog:
        return self._do(operator.mul, other, self)

    def conjugate(self) -> OperatorLog:
        return self._do(conjugated, self)


def conjugated(x):
    return x.conjugate()


def _number(x: Any, steps: list[Any]) -> int:
    """Return the number of an element or result; a constant, the start of a sum, becomes a step."""
    if isinstance(x, OperatorLog):
        return x.number
    steps.append((None, x))
    return len(steps) - 1


def _noted(f: Any, args: Any, at: Any, kwargs: Any) -> Any:
    """Run `f` on proxies; return the numbers of the results, and all steps, the elements first."""
    steps: list[Any] = []
    given = list(args)
    for i in at:
        given[i] = _proxies(as_objects(args[i]), steps)
    made = f(*given, **kwargs)
    if not isinstance(made, np.ndarray):
        return _number(made, steps), steps
    numbers = np.empty_like(made, np.intp)
    for index in indices(made.shape):
        numbers[index] = _number(made[index], steps)
    return numbers, steps


def _proxies(a: Any, steps: list[Any]) -> Any:
    """Return an array of proxies in the layout of `a`."""
    made = empty_like_layout(a)
    for index in indices(a.shape):
        steps.append((None, None))
        made[index] = OperatorLog(len(steps) - 1, steps)
    return made


def replay(numbers, steps, at, args):
    """Apply the noted steps to the elements."""
    values = []
    for i in at:
        a = as_objects(args[i])
        for index in indices(a.shape):
            values.append(a[index])
    for op, operands in steps[len(values) :]:
        if op is None:
            values.append(operands)
        elif len(operands) == 1:
            values.append(op(values[operands[0]]))
        else:
            values.append(op(values[operands[0]], values[operands[1]]))
    if not isinstance(numbers, np.ndarray):
        return values[numbers]
    y = np.empty_like(numbers, object)
    for index in indices(numbers.shape):
        y[index] = values[numbers[index]]
    return y


def _register(f: Any, key: Any, arrays_at: Callable[[tuple[Any, ...]], Any]) -> None:
    """Register `f`, which computes with elements of arrays at the places ``arrays_at(args)``."""

    @on_objects(key)
    def run(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        at = arrays_at(args)
        given = {name: value for name, value in kwargs.items() if value is not None}
        if not set(given) <= {"optimize"} or len(args) <= max(at):
            return NotImplemented
        operands = [args[i] for i in at]
        if any(isinstance(x, np.ndarray) for i, x in enumerate(args) if i not in at):
            return NotImplemented  # an output
        if not any(map(is_objects, operands)) or any(
            isinstance(x, np.ndarray) and (type(x) is not np.ndarray or _is_no_container(x))
            for x in operands
        ):
            return NotImplemented
        noted = _noted(f, args, at, given)
        return _do_again(record, slot, noted, at, args, len(kwargs))


def _do_again(record: list[Any], slot: int, noted: Any, at: Any, args: Any, named: int) -> Any:
    memory: Memory = record[0]

    def of_operands(_: tuple[Any, ...]) -> tuple[Any, ...]:
        return (None, *memory.take_items(args, len(args)), *(None,) * named)

    again = (*noted, at, args)
    return linked(record, slot, of_operands, call_function, replay, again, NO_KEYWORDS)


def _is_no_container(x: Any) -> bool:
    return is_objects(x) and not is_container(x)


def _both(args: tuple[Any, ...]) -> tuple[int, ...]:
    return (0, 1)


for _name in "dot inner vdot matmul vecdot matvec vecmat".split():
    if hasattr(np, _name):
        _register(getattr(np, _name), getattr(np, _name), _both)
_register(np.ndarray.dot, (np.ndarray, "dot"), _both)
