"""The instructions of a code object, in one form for CPython 3.11, 3.12 and 3.13."""

from __future__ import annotations

import dis
import linecache
import os.path
from collections.abc import Iterator
from types import CodeType
from typing import Any

from adjoint.errors import UnsupportedSyntaxError, cell_of
from adjoint.frontend.source import is_known
from adjoint.ir.node import node
from adjoint.ir.nodes import Span


@node
class Instruction:
    """One instruction.

    Attributes
    ----------
    name, arg
        The opcode and its argument, 0 if it has none.
    value
        The meaning of the argument: a name, a constant.
    text
        The argument as `dis` shows it: the same in all versions, unlike `arg`.
    target
        The index of the instruction that a jump leads to.
    """

    name: str
    arg: int
    value: Any
    text: str
    target: int | None
    span: Span


_WITHOUT_EFFECT = frozenset({"CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "NOP", "PRECALL", "RESUME"})
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
"""Instructions of 3.13 that combine two."""


def decode(code: CodeType) -> list[Instruction]:
    """Return the instructions that have an effect, with the targets of jumps.

    Raises
    ------
    UnsupportedSyntaxError
        The code handles exceptions.
    """
    found = list(dis.get_instructions(code))
    index_at: dict[int, int] = {}
    size = 0
    for raw in found:
        index_at[raw.offset] = size
        size += 0 if raw.opname in _WITHOUT_EFFECT else len(_PAIRS.get(raw.opname, (None,)))
    jumps = {*dis.hasjrel, *dis.hasjabs}
    result: list[Instruction] = []
    span = Span(code.co_firstlineno, 0, code.co_firstlineno, 0)
    for raw in found:
        span = _span(raw.positions, span)
        if raw.opname in _WITHOUT_EFFECT:
            continue
        arg = raw.arg or 0
        target = index_at[raw.argval] if raw.opcode in jumps else None
        if raw.opname in _PAIRS:
            parts = (arg >> 4, arg & 15)
            for name, part, value in zip(_PAIRS[raw.opname], parts, raw.argval, strict=True):
                result.append(Instruction(name, part, value, value, None, span))
            continue
        result.append(Instruction(raw.opname, arg, raw.argval, raw.argrepr, target, span))
    for start, handler in _handlers(code.co_exceptiontable):
        _check_handler(code, result, index_at[start], index_at[handler])
    return result


def _span(positions: Any, before: Span) -> Span:
    """Return the place of an instruction. Instructions that the compiler adds have none and get the
    place of the preceding instruction."""
    if positions is None or positions.lineno is None:
        return before
    line, end_line = positions.lineno, positions.end_lineno or positions.lineno
    return Span(line, positions.col_offset or 0, end_line, positions.end_col_offset or 0)


# ---- refusals ------------------------------------------------------------------------------------

CONSTRUCTS = {
    "BEFORE_WITH": "with",
    "CLEANUP_THROW": "yield from",
    "SEND": "yield from",
    "GET_YIELD_FROM_ITER": "yield from",
    "GET_AWAITABLE": "await",
    "GET_AITER": "async for",
    "BEFORE_ASYNC_WITH": "async with",
    "MATCH_CLASS": "match",
    "MATCH_KEYS": "match",
}


def refused(code: CodeType, opcode: str, span: Span, construct: str = "") -> UnsupportedSyntaxError:
    """Return the error for an instruction that is not lowered, with its function and place."""
    construct = construct or CONSTRUCTS.get(opcode, "")
    words = f"'{construct}' ({opcode})" if construct else f"'{opcode}'"
    return UnsupportedSyntaxError(
        f"{words} in the bytecode of '{code.co_qualname}' cannot be differentiated",
        hint=f"define it in a file, or register an rrule for '{code.co_qualname}'",
        filename=file_of(code),
        span=span,
    )


def file_of(code: CodeType) -> str:
    """Return the file of a code object. If a file of this name exists, and its text is not known to
    be that of the code, return another name."""
    if is_known(code) or not linecache.getlines(code.co_filename):
        return code.co_filename
    return f"<bytecode of {cell_of(code.co_filename) or os.path.basename(code.co_filename)}>"


# ---- handlers of exceptions ----------------------------------------------------------------------


def _check_handler(
    code: CodeType, instructions: list[Instruction], start: int, target: int
) -> None:
    """Refuse a handler that does more than clean up after a comprehension.

    Clean-up handlers can be omitted: nothing reads the variables that a comprehension leaves in a
    frame that an exception ends. The handler that every generator has can be omitted, too.
    """
    for number, step in enumerate(instructions[target:]):
        if step.name == "PUSH_EXC_INFO" and number == 0:
            is_with = instructions[target + 1].name == "WITH_EXCEPT_START"
            raise refused(code, step.name, instructions[start].span, "with" if is_with else "try")
        if step.name == "RERAISE":
            return
        if step.name not in _CLEANUP:
            raise refused(code, step.name, step.span)


_CLEANUP = frozenset({"SWAP", "POP_TOP", "STORE_FAST", "COPY", "CALL_INTRINSIC_1"})


def _handlers(table: bytes) -> Iterator[tuple[int, int]]:
    """Yield the byte offsets of each entry of an exception table and of its handler. See
    ``Objects/exception_handling_notes.txt`` of CPython."""
    numbers = _numbers(table)
    for start in numbers:
        _length, target, _depth = next(numbers), next(numbers), next(numbers)
        yield 2 * start, 2 * target


def _numbers(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0
