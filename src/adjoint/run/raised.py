"""Exceptions that code in C has raised, caught by the user's: what they hold is what an operation
was given (``KeyError.args``, ``AttributeError.obj``), or has made, and carries its derivative.

An operation that raises has no result, and may have left no pullback. Which one it was, and what it
was given, stands in the traceback until that is made the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import CO_VARARGS
from types import FrameType, FunctionType, TracebackType
from typing import Any

import numpy as np

from adjoint.errors import NoDerivativeError
from adjoint.run.accumulate import Poison, accumulate
from adjoint.run.contents import args_of
from adjoint.run.functions import place_of
from adjoint.run.holding import globals_of, reached
from adjoint.run.iteration import STEPS
from adjoint.run.kinds import ATOMS, by_value, fields_of, slots_of
from adjoint.run.memory import Memory
from adjoint.run.place import as_user_error, current_place, is_ours, is_stand_in
from adjoint.run.unknown import arrived_in, poison

__all__ = ["caught"]


def caught(record: list[Any], error: BaseException) -> None:
    """Begin an ``except`` clause of the user's."""
    memory: Memory = record[0]
    if held := _held(error):
        frame = _raising(error)
        if frame is not None:
            (_link if memory.level is None else _spoil_on_levels)(memory, error, held, frame)
    as_user_error(error)


def _held(error: BaseException) -> list[Any]:
    """What may carry a derivative in an exception."""
    parts = [*args_of(error), *(value for _, _, value in _fields(error)), *_before(error)]
    return [part for part in parts if type(part) not in ATOMS or type(part) is int]


def _before(error: BaseException) -> list[BaseException]:
    """The exceptions that one was raised from or during, which no differentiated code has seen."""
    found, stack = dict[int, BaseException](), [error.__cause__, error.__context__]
    while stack:
        other = stack.pop()
        if other is not None and other is not error and id(other) not in found:
            if not _is_seen(other.__traceback__):
                found[id(other)] = other
                stack += [other.__cause__, other.__context__]
    return [*found.values()]


def _is_seen(trace: TracebackType | None) -> bool:
    """Whether an exception has passed differentiated code."""
    while trace is not None:
        frame = trace.tb_frame
        if is_stand_in(frame) or place_of(frame.f_code, trace.tb_lineno) is not None:
            return True
        trace = trace.tb_next
    return False


def _fields(error: BaseException) -> Iterator[tuple[Any, str, Any]]:
    """The attributes of an exception: what their shadow is keyed by, name, value."""
    for name, slot in slots_of(type(error)).items():
        if name != "args":
            yield error, name, slot.__get__(error)
    fields = fields_of(error) or {}
    for name, value in fields.items():
        yield fields, name, value


def _raising(error: BaseException) -> FrameType | None:
    """The function of the runtime that generated code has called, where no code of the user's was
    there to raise `error`."""
    called = None
    trace = error.__traceback__
    while trace is not None:
        following = trace.tb_next
        if is_stand_in(trace.tb_frame):
            return None  # it was seen when it passed differentiated code, as by the end of a `with`
        if place_of(trace.tb_frame.f_code, trace.tb_lineno) is not None:
            called = following
        trace = following
    if called is None or not is_ours(called.tb_frame.f_code.co_filename):
        return None
    return called.tb_frame


def _called(frame: FrameType) -> tuple[list[Any], int, list[Any]] | None:
    """Record and slot of an operation, and what its pullback gives cotangents of."""
    variables, code = dict(frame.f_locals), frame.f_code
    if code is STEPS:
        return variables["steps"][-1], 1, [None, variables["xs"]]
    names = code.co_varnames[: code.co_argcount]
    if names[:2] != ("record", "slot"):
        return None
    operands = [] if code.co_name in _CALLS else [None]
    for name in names[2:]:
        if name == "name" and code.co_name in _METHODS:
            continue
        value = variables[name]
        spread = code.co_name in _WITH_KEYWORDS and name in ("args", "kwargs")
        operands += (value.values() if type(value) is dict else value) if spread else [value]
    if code.co_flags & CO_VARARGS:
        operands += variables[code.co_varnames[len(names) + code.co_kwonlyargcount]]
    return variables["record"], variables["slot"], operands


_CALLS = frozenset({"call", "call_left", "call_right", "call_keywords"})
"""Whose pullbacks give the cotangent of the callee first, which others do not have."""

_METHODS = frozenset({"method", "method_keywords"})
"""Whose pullbacks have no place for the name of the method."""

_WITH_KEYWORDS = frozenset({"call_keywords", "method_keywords"})


def _link(memory: Memory, error: BaseException, held: list[Any], frame: FrameType) -> None:
    """Let the operation that `error` has left hand on the cotangents of what that holds."""
    called = _called(frame)
    if called is None:
        return
    record, slot, operands = called
    numbers = [part for part in held if by_value(part)]
    known = {id(operand) for operand in operands}
    others = [part for part in held if not by_value(part) and id(part) not in known]
    if id(error) in known or not (numbers or others):
        return  # it was raised by the user's code before, or holds what has its cotangent elsewhere
    left = record[slot]
    args = args_of(error)
    fields = [field for field in _fields(error) if by_value(field[2])]
    unknown = Poison(_error_of(error))

    def raised_back(*y_bars: Any) -> tuple[Any, ...] | None:
        found = None if left is None else left(*y_bars)
        bars = [None] * len(operands) if found is None else [*found]
        arrived = [*zip(args, memory.take_items(args, len(args)), strict=True)]
        arrived += [(part, memory.take_entry(owner, name)) for owner, name, part in fields]
        spoilt = bool(others) and arrived_in(
            memory, others, {id(owner) for owner in reached(operands)}
        )
        for part, bar in arrived:
            if bar is None:
                continue
            at = [i for i, operand in enumerate(operands) if operand is part]
            if at and len(bars) == len(operands):
                bars[at[0]] = accumulate(bars[at[0]], bar)
            else:
                spoilt = spoilt or type(part) not in (int, bool)
        if spoilt:
            if len(bars) != len(operands):
                raise unknown.error
            _spoil(memory, operands, bars, unknown)
        return tuple(bars)

    record[slot] = raised_back


def _spoil_on_levels(
    memory: Memory, error: BaseException, held: list[Any], frame: FrameType
) -> None:
    """Let all levels know that numbers in `error` were made in a way that is not known, of what the
    operation that it has left was given."""
    called = _called(frame)
    if called is None:
        return
    own = [part for part in held if not any(part is operand for operand in called[2])]
    made = [part for part in reached(own) if _carries(part)]
    if not made:
        return  # it holds what was given, of which all is known that there is
    functions: list[FunctionType] = []
    given = [*reached(called[2], functions)]
    for _, _, value in globals_of(functions):
        given += reached((value,))
    known = {id(value) for value in given}
    if id(error) in known:
        return
    unknown = _error_of(error)
    for level in memory.level.down():
        if any(map(level.holds, given)):
            for part in made:
                if id(part) not in known and not level.holds(part):
                    level.spoil(part, unknown)


def _carries(part: Any) -> bool:
    return by_value(part) and type(part) not in (int, bool)


def _spoil(memory: Memory, operands: list[Any], bars: list[Any], bar: Poison) -> None:
    """Something was made of the operands that is not known."""
    for i, operand in enumerate(operands):
        if not by_value(operand) or (
            issubclass(type(operand), np.ndarray) and memory.is_written(operand)
        ):
            poison(memory, operand, bar)
        elif type(operand) not in (int, bool):
            bars[i] = accumulate(bars[i], bar)


def _error_of(error: BaseException) -> NoDerivativeError:
    kind = type(error).__name__
    return NoDerivativeError(
        f"a derivative of what a '{kind}' holds is needed, which was raised by code that is not"
        " differentiated",
        hint="use the values themselves where the exception is caught",
        place=current_place(),
    )
