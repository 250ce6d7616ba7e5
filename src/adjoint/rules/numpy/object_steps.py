"""What NumPy calculates in C with the elements of arrays of objects, by their operators: products,
sums of products, correlations.

Which operators those are, of which elements and in which order, NumPy says itself: it is run on
stand-ins, which note what is done with them. The same is done with the elements then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.rules.numpy.einsum import operands_of
from adjoint.rules.numpy.object_layout import indices, stored_alike
from adjoint.rules.numpy.object_operators import folds_objects, operation_of
from adjoint.rules.numpy.objects import as_objects
from adjoint.rules.registry import non_differentiable, on_objects, primitive
from adjoint.run.by_source import call_function
from adjoint.run.dispatch import NO_KEYWORDS, linked
from adjoint.run.kinds import is_objects
from adjoint.run.memory import Memory
from adjoint.run.places import is_container
from adjoint.run.views import root_of

__all__: list[str] = []


class Noting:
    """Stands for an element or a result, which are numbered; `steps` are those behind results."""

    __slots__ = ("number", "steps")

    def __init__(self, number: int, steps: list[Any]) -> None:
        self.number, self.steps = number, steps

    def _do(self, op: Any, *operands: Any) -> Noting:
        self.steps.append((op, [_number(x, self.steps) for x in operands]))
        return Noting(len(self.steps) - 1, self.steps)

    def after(self, op: Any, other: Any) -> Noting:
        return self._do(op, self, other)

    def __add__(self, other: Any) -> Noting:
        return self._do(operator.add, self, other)

    def __radd__(self, other: Any) -> Noting:
        return self._do(operator.add, other, self)

    def __mul__(self, other: Any) -> Noting:
        return self._do(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Noting:
        return self._do(operator.mul, other, self)

    def conjugate(self) -> Noting:
        return self._do(conjugated, self)


def conjugated(x):
    return x.conjugate()


def _number(x: Any, steps: list[Any]) -> int:
    """That of an element or a result; a constant, which NumPy begins sums with, is a step."""
    if isinstance(x, Noting):
        return x.number
    steps.append((None, x))
    return len(steps) - 1


def _noted(f: Any, args: Any, at: Any, kwargs: Any) -> Any:
    """The numbers of what `f` makes of stand-ins, and all steps, of which the first are the
    elements; ``None`` if it makes a view."""
    steps: list[Any] = []
    given = list(args)
    for i in at:
        given[i] = _stand_ins(as_objects(args[i]), steps)
    made = f(*given, **kwargs)
    if not isinstance(made, np.ndarray):
        return _number(made, steps), steps
    if any(root_of(made) is root_of(given[i]) for i in at):
        return None
    numbers = np.empty_like(made, np.intp)
    for index in indices(made.shape):
        numbers[index] = _number(made[index], steps)
    return numbers, steps


def _stand_ins(a: Any, steps: list[Any]) -> Any:
    """An array of stand-ins, stored as `a` is."""
    made = stored_alike(a)
    for index in indices(a.shape):
        steps.append((None, None))
        made[index] = Noting(len(steps) - 1, steps)
    return made


def done_again(numbers, steps, at, args):
    """The steps, with the elements."""
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


def _notes(f: Any, key: Any, arrays_at: Callable[[tuple[Any, ...]], Any]) -> None:
    """`f` calculates with the elements of the arrays that stand at some places."""

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
            isinstance(x, np.ndarray) and (type(x) is not np.ndarray or _is_elsewhere(x))
            for x in operands
        ):
            return NotImplemented
        noted = _noted(f, args, at, given)
        if noted is None:
            return f(*args, **kwargs)
        return _do_again(record, slot, noted, at, args, len(kwargs))


def _do_again(record: list[Any], slot: int, noted: Any, at: Any, args: Any, named: int) -> Any:
    memory: Memory = record[0]

    def of_operands(_: tuple[Any, ...]) -> tuple[Any, ...]:
        return (None, *memory.take_items(args, len(args)), *(None,) * named)

    again = (*noted, at, args)
    return linked(record, slot, of_operands, call_function, done_again, again, NO_KEYWORDS)


@on_objects((np.ufunc, "reduceat"))
def _(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
    f, a, *_ = args
    if type(a) is not np.ndarray or not folds_objects(f, a, None):
        return NotImplemented
    op = operation_of(f)
    if kwargs.get("out") is not None or kwargs.get("dtype") is not None or len(args) > 4:
        return NotImplemented
    loop: Any = np.frompyfunc(lambda x, y: x.after(op, y), 2, 1)
    noted = _noted(lambda f, *given, **named: loop.reduceat(*given, **named), args, (1,), kwargs)
    return _do_again(record, slot, noted, (1,), args, len(kwargs))


def _is_elsewhere(x: Any) -> bool:
    return is_objects(x) and not is_container(x)


def _both(args: tuple[Any, ...]) -> tuple[int, ...]:
    return (0, 1)


def _terms(args: tuple[Any, ...]) -> list[int]:
    return operands_of(args)[2] if args else [0]


_core: Any = getattr(np, "_core", None) or np.core
for _name in "dot inner vdot matmul vecdot matvec vecmat".split():
    if hasattr(np, _name):
        _notes(getattr(np, _name), getattr(np, _name), _both)
_notes(np.ndarray.dot, (np.ndarray, "dot"), _both)
for _name in "correlate correlate2".split():
    _f = getattr(_core.multiarray, _name)
    _notes(_f, _f, _both)
_notes(_core.einsumfunc.c_einsum, _core.einsumfunc.c_einsum, _terms)


@primitive(np.einsum_path)
def _(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
    """As `np.einsum` asks for it, it gives the operands as arrays, too."""
    if not kwargs.get("einsum_call"):
        return NotImplemented
    return call_function(record, slot, path_and_operands, args, kwargs)


def path_and_operands(*operands, **options):
    return [np.asanyarray(operands[i]) for i in _terms(operands)], _path(operands, options)


def _path(operands: Any, options: Any) -> Any:
    return np.einsum_path(*operands, **options)[1]


non_differentiable(_terms, _path)
