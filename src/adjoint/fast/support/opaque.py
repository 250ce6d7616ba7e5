"""Opaque operations: calls that a program leaves to the generic tier."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.finiteness import all_finite, doubts
from adjoint.fast.not_covered import Deoptimize
from adjoint.primal.array_memory import root_of
from adjoint.rulekit import nested
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import lookup
from adjoint.runtime.dispatch.call import call, call_keywords
from adjoint.runtime.dispatch.observed_results import has_list_of, is_alias
from adjoint.runtime.dispatch.unit_call import OFTEN
from adjoint.runtime.entries import basics
from adjoint.runtime.memory.collect import Reader
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory


class WritesOperand(Deoptimize):
    """An opaque operation writes to an operand."""


class Opaque:
    """The callee of an operation whose meaning the evaluator does not know.

    Attributes
    ----------
    function
        The function that is called.
    names
        The names of the last operands, which are passed by keyword.
    reason
        Why the evaluator does not cover the call.
    problem
        Why the call has no derivative; ``None`` if it has one.
    is_constant
        Whether the derivative is zero.
    is_watched
        Whether each call is watched for writes to operands.
    is_alias
        Whether a result may be an alias of an operand.
    """

    __slots__ = ("function", "is_alias", "is_constant", "is_watched", "names", "problem", "reason")

    def __init__(self, function: Callable[..., Any], names: tuple[str, ...], reason: str) -> None:
        self.function, self.names, self.reason = function, names, reason
        self.problem: str | None = None
        self.is_watched = self.is_alias = False
        rules = lookup(function)
        self.is_constant: bool = rules is not None and rules.inactive

    @property
    def __name__(self) -> str:
        return str(self.function.__name__)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function; undo its writes to operands and leave the program."""
        with unwritten((*args, *kwargs.values())):
            y = self.function(*args, **kwargs)
        return _with_new_lists(y, (*args, *kwargs.values()))

    def by_position(self) -> Callable[..., Any]:
        """Return the function of all operands by position."""
        if not self.names:
            return self.function
        function, names = self.function, self.names

        def call(*operands: Any) -> Any:
            first = len(operands) - len(names)
            return function(*operands[:first], **dict(zip(names, operands[first:], strict=True)))

        return call


def pullback(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, OpaquePullback]:
    """Return ``f(*args, **kwargs)`` and its pullback, by the generic tier: cotangents of keyword
    arguments follow those of `args`.

    Raises
    ------
    Deoptimize
        `f` has written to an operand; the write is undone.
    """
    if not basics.ready:
        basics.load()
    operands = (*args, *kwargs.values())
    memory = Memory(operands)
    memory.specialise_after, memory.careful = OFTEN, False
    record: list[Any] = [memory, None]
    try:
        y = call_keywords(record, 1, f, args, kwargs) if kwargs else call(record, 1, f, *args)
    except BaseException:
        memory.rewind(0)
        raise
    if not memory.is_untouched() and _is_written(memory, operands):
        memory.rewind(0)
        raise WritesOperand(f"'{f.__name__}' writes to an operand")
    _with_new_lists(y, operands)
    return _apart(memory, y), OpaquePullback(memory, record, y, operands)


def _is_written(memory: Memory, operands: tuple[Any, ...]) -> bool:
    """Return whether the log has a write to an operand or to an item of one."""
    pending, places = [*operands], set[int]()
    for x in pending:  # `pending` grows in the loop
        if isinstance(x, np.ndarray):
            places.add(id(root_of(x)))
        elif isinstance(x, list | tuple | dict):
            places.add(id(x))
            pending += x.values() if isinstance(x, dict) else x
    return any(
        id(owner) in places or (entry[0] is swap_with and not isinstance(owner, set | deque))
        for entry in memory.entries()
        for owner in [_owner(entry[1])]
    )


def _owner(x: Any) -> Any:
    """Return the object that an entry of the log is of, given its first part: an array, an object,
    a method of one, or a function that restores one; no operand is a set or a deque."""
    if isinstance(x, partial):
        return x.args[0] if x.args else x
    return root_of(x) if isinstance(x, np.ndarray) else getattr(x, "__self__", x)


def _apart(memory: Memory, y: Any) -> Any:
    """Copy results that a sweep rewinds."""
    if isinstance(y, np.ndarray):
        return y.copy() if memory.written and memory.is_written(y) else y
    return tuple([_apart(memory, part) for part in y]) if type(y) is tuple else y


def _with_new_lists(y: Any, operands: Any) -> Any:
    """Return a result; check that it has no list of the operands."""
    if has_list_of(y, operands):
        raise Deoptimize("a function returns a list that it was given")
    return y


def apart_from(pair: Any, *operands: Any) -> Any:
    """Return ``y, back``; check that no part of the result `y` is an alias of an operand."""
    if is_alias(pair[0], operands):
        raise Deoptimize("a function returns an alias of an operand")
    return pair


class OpaquePullback:
    """``y_bar ↦ (f_bar, *arg_bars)`` of an opaque operation, for plain cotangents."""

    __slots__ = ("_memory", "_operands", "_record", "_y")

    def __init__(self, memory: Memory, record: list[Any], y: Any, operands: Any) -> None:
        self._memory, self._record, self._y, self._operands = memory, record, y, operands

    def __call__(self, y_bar: Any) -> tuple[Any, ...]:
        memory, back, before = self._memory, self._record[1], doubts[0]
        if back is None:
            return (None,) * (len(self._operands) + 1)
        with np.errstate(all="ignore"):
            if memory.is_untouched():
                memory.exchange_shadows()
                found = self._pulled(back, y_bar)
            else:
                with memory, memory:
                    found = self._pulled(back, y_bar)
        if doubts[0] != before or not all(map(_is_finite, found)):  # poison is not finite
            raise Deoptimize("an opaque operation with an unknown or infinite derivative")
        return found

    def _pulled(self, back: Callable[[Any], Any], y_bar: Any) -> tuple[Any, ...]:
        memory, operands = self._memory, self._operands
        bars = back(deposit(memory, self._y, _fitted(self._y, y_bar)))
        is_touched = memory.written or not memory.is_untouched()
        if not is_touched and _BY_VALUE.issuperset(map(type, operands)):
            return (None, *map(finish, bars[1:]))
        memory.rewind(0)
        reader = Reader(memory, taking=False)
        pairs = enumerate(zip(operands, bars[1:], strict=True))
        return (None, *[reader.read_at(i, *pair) for i, pair in pairs])


def _is_finite(bar: Any) -> bool:
    if bar is None:
        return True
    return isfinite(bar) if type(bar) is float or type(bar) is np.float64 else all_finite(bar)


_BY_VALUE = frozenset({float, int, complex, bool, str, type(None), np.float64, np.ndarray})


def _shaped(y: Any, y_bar: Any) -> Any:
    """Return the cotangent of a result of several parts in the shapes of the parts."""
    if not isinstance(y, list | tuple):
        return y_bar
    found: list[Any] = []
    for part, bar in zip(y, y_bar, strict=True):
        if type(bar) is float and bar == 0:
            found.append(None)
        else:
            found.append(np.broadcast_to(bar, part.shape) if type(part) is np.ndarray else bar)
    return found


def _fitted(y: Any, y_bar: Any) -> Any:
    """Return a cotangent in the shapes and classes of the parts of its primal."""
    found = _shaped(y, y_bar)
    if not isinstance(y, list | tuple):
        return found
    pairs = zip(y, found, strict=True)
    return [None if bar is None else project(bar, part) for part, bar in pairs]


def nested_pullback(callee: Opaque, *operands: Any) -> Any:
    """Return what `pullback` returns, on a level."""
    y, back = nested.pullback(callee.by_position(), *operands)

    def shaped_back(y_bar: Any) -> Any:
        return back(_shaped(y, y_bar))

    return y, shaped_back


def pushforward(callee: Opaque, operands: tuple[Any, ...], dots: tuple[Any, ...]) -> Any:
    """Return the result of an opaque operation and its tangent, by the generic tier."""
    with unwritten(operands):
        f = callee.by_position()
        y, y_dot = nested.pushforward_on_level(f, operands, dots, _leave_after_a_write)
    _with_new_lists(y, operands)
    if isinstance(y, list | tuple):
        return y, [*map(_copied, y_dot)]
    return y, _copied(y_dot)


def _leave_after_a_write() -> None:
    """Leave a program after a write to an operand; it may have changed its tangent only."""
    raise Deoptimize("an opaque operation writes to an operand")


def _copied(y_dot: Any) -> Any:
    """Copy a tangent: the program may write to those that it was made of."""
    return np.array(y_dot) if isinstance(y_dot, np.ndarray) else y_dot


@contextmanager
def unwritten(operands: Any) -> Iterator[None]:
    """Undo writes to operands inside a ``with`` statement, and raise `Deoptimize` if there are."""
    before = [*map(_contents, operands)]
    try:
        yield
    finally:
        if not all([*map(_is_as_before, operands, before)]):
            raise Deoptimize("an opaque operation writes to an operand")


def _contents(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [*x], [*map(_contents, x)]
    return x.copy() if isinstance(x, np.ndarray) else None


def _is_as_before(x: Any, before: Any) -> bool:
    """Return whether an operand has the contents `before`; restore them."""
    if isinstance(x, np.ndarray):
        if np.array_equal(x, before, equal_nan=True):
            return True
        x[...] = before
        return False
    if not isinstance(x, list | tuple):
        return True
    is_same = len(x) == len(before[0]) and all(a is b for a, b in zip(x, before[0], strict=True))
    if not is_same:
        x[:] = before[0]  # type: ignore[index]
    return all([*map(_is_as_before, *before)]) and is_same
