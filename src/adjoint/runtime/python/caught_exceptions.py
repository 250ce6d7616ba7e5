"""Exceptions whose contents come from foreign code.

C raises exceptions that user code catches (``KeyError.args``, ``AttributeError.obj``), and fills
fields of exceptions that differentiated code makes (``SystemExit.code``). A derivative of a number
in them is refused.

An operation that raises may have left no pullback. The operation and its operands are in the
traceback, until that is cut to the frames of user code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from itertools import chain
from types import FrameType, FunctionType, TracebackType
from typing import Any

from adjoint.diagnostics.generated_code import place_of, walk_tb
from adjoint.diagnostics.refusals import missing
from adjoint.diagnostics.user_place import (
    as_user_error,
    current_place,
    is_library_file,
    is_stand_in,
)
from adjoint.errors import AdjointError, NoDerivativeError
from adjoint.primal.container_contents import args_of
from adjoint.primal.reachability import globals_of, parts_of, reached
from adjoint.primal.value_kinds import ATOMS, by_value, fields_of, is_of_builtins, slots_of
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import has_cotangent
from adjoint.runtime.python.loops import STEPS


def bars_of_args(
    memory: Memory, error: Any, held: tuple[Any, ...], args: tuple[Any, ...]
) -> list[Any]:
    """Return the cotangents of the arguments of `error` that are in its ``args``, `held`.

    ``args`` is a new tuple made by C; that of an `OSError` ends before the name of the file.

    Raises
    ------
    NoDerivativeError
        A field that C has filled has a cotangent.
    """
    for name, slot in slots_of(type(error)).items():
        if is_of_builtins(slot.__objclass__) and memory.take_entry(error, name) is not None:
            raise missing(
                f"a derivative of the field '{name}' of a '{type(error).__name__}' is needed, which"
                " C has filled",
                "keep the number in an attribute of a class of your own, or read it from 'args'",
            )
    bars: list[Any] = [None] * len(args)
    if all(x is given for x, given in zip(held, args, strict=False)):
        bars[: len(held)] = memory.take_items(held, len(held))
    return bars


def caught(record: list[Any], error: BaseException) -> None:
    """Begin an ``except`` clause of user code.

    A refusal by the library is raised again: the clause was not written for it.
    """
    if isinstance(error, AdjointError) and _is_refusal(error.__traceback__):
        raise error
    memory: Memory = record[0]
    if held := _held(error):
        frame = _raising(error)
        if frame is not None and (called := _called(frame)) is not None:
            (_link if memory.level is None else _poison_on_levels)(memory, error, held, *called)
    as_user_error(error)


def pending_refusal() -> AdjointError | None:
    """Return the refusal by the library that passes a ``finally`` of user code; ``None`` if another
    exception does, or none."""
    error = sys.exception()
    is_refusal = isinstance(error, AdjointError) and _is_refusal(error.__traceback__)
    return error if is_refusal else None  # type: ignore[return-value]


def _is_refusal(trace: TracebackType | None) -> bool:
    """Return whether the library refused, other than in a public function that user code called."""
    filename = ""
    for frame, line in walk_tb(trace):
        if frame.f_code.co_name == "_public_function":
            return False
        place = place_of(frame.f_code, line)
        filename = (frame.f_code if place is None else place[0].function.code).co_filename
    return is_library_file(filename)


def _held(error: BaseException) -> list[Any]:
    """Return the parts of an exception that may be active."""
    parts = [*args_of(error), *(value for _, _, value in _fields(error)), *_before(error)]
    return [part for part in parts if type(part) not in ATOMS or type(part) is int]


def _before(error: BaseException) -> list[BaseException]:
    """Return the causes and contexts of an exception that did not pass differentiated code."""
    found, stack = dict[int, BaseException](), [error.__cause__, error.__context__]
    while stack:
        other = stack.pop()
        if other is not None and other is not error and id(other) not in found:
            if not _passed_differentiated_code(other.__traceback__):
                found[id(other)] = other
                stack += [other.__cause__, other.__context__]
    return [*found.values()]


def _passed_differentiated_code(trace: TracebackType | None) -> bool:
    """Return whether an exception has passed differentiated code."""
    return any(
        is_stand_in(frame) or place_of(frame.f_code, line) is not None
        for frame, line in walk_tb(trace)
    )


def _fields(error: BaseException) -> Iterator[tuple[Any, str, Any]]:
    """Yield the owner of the shadow, the name and the value of each attribute of an exception."""
    for name, slot in slots_of(type(error)).items():
        if name != "args":
            yield error, name, slot.__get__(error)
    fields = fields_of(error) or {}
    for name, value in fields.items():
        yield fields, name, value


def _raising(error: BaseException) -> FrameType | None:
    """Return the frame of the runtime function that raised `error`, ``None`` if user code did."""
    called = None
    trace = error.__traceback__
    while trace is not None:
        following = trace.tb_next
        if is_stand_in(trace.tb_frame):
            return None  # the exception was handled when it passed differentiated code
        if place_of(trace.tb_frame.f_code, trace.tb_lineno) is not None:
            called = following
        trace = following
    if called is None or not is_library_file(called.tb_frame.f_code.co_filename):
        return None
    return called.tb_frame


def _called(frame: FrameType) -> tuple[list[Any], int, list[Any]] | None:
    """Return record, slot and operands of the operation of a frame."""
    variables, code = dict(frame.f_locals), frame.f_code
    if code is STEPS:
        return variables["steps"][-1], 1, [variables["xs"]]
    n = code.co_argcount + code.co_kwonlyargcount
    n += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    names = code.co_varnames[:n]
    if names[:2] != ("record", "slot"):
        return None
    return variables["record"], variables["slot"], [variables[name] for name in names[2:]]


def _link(
    memory: Memory,
    error: BaseException,
    held: list[Any],
    record: list[Any],
    slot: int,
    operands: list[Any],
) -> None:
    """Make the pullback of the failed operation refuse cotangents of the contents of `error`.

    Parts of the operands are exempt. The operands are searched only if there is a cotangent,
    because programs may raise often and hold much.
    """
    given = set(map(id, operands))
    others = [part for part in held if not (by_value(part) or id(part) in given)]
    owners = [args_of(error)] if any(map(by_value, args_of(error))) else []
    owners += [owner for owner, _, value in _fields(error) if by_value(value)]
    if not (owners or others):
        return
    left, refusal = record[slot], _error_of(error)

    def raised_back(*y_bars: Any) -> Any:
        bars = None if left is None else left(*y_bars)
        arrived = [one for one in (*owners, *reached(others)) if has_cotangent(memory, one)]
        if arrived and not any(item is error for _, item, _ in chain(*map(parts_of, operands))):
            known = {id(owner) for owner in reached(operands)}
            if id(error) not in known and any(id(one) not in known for one in arrived):
                raise refusal
        return bars

    record[slot] = raised_back


def _poison_on_levels(
    memory: Memory,
    error: BaseException,
    held: list[Any],
    record: list[Any],
    slot: int,
    operands: list[Any],
) -> None:
    """Tell all levels that foreign code made the numbers in `error` of `operands`."""
    made = [part for part in reached(held) if by_value(part) and type(part) not in (int, bool)]
    levels = [*memory.level.down()]
    if all(level.holds(part) for level in levels for part in made):
        return  # the common case; the search below is expensive
    functions: list[FunctionType] = []
    given = [*reached(operands, functions)]
    for _, _, value in globals_of(functions):
        given += reached((value,))
    known = {id(value) for value in given}
    if id(error) in known:
        return
    refusal = _error_of(error)
    for level in levels:
        if any(map(level.holds, given)):
            for part in made:
                if id(part) not in known and not level.holds(part):
                    level.poison_value(part, refusal)


def _error_of(error: BaseException) -> NoDerivativeError:
    kind = type(error).__name__
    return NoDerivativeError(
        f"a derivative of what a '{kind}' holds is needed, which was raised by code that is not"
        " differentiated",
        hint="use the values themselves where the exception is caught",
        place=current_place(),
    )
