"""Well-formedness checks of single-assignment functions, run between passes in tests."""

from __future__ import annotations

from typing import assert_never

from adjoint.fast.single_assignment.walk import operands, results
from adjoint.ir.single import (
    Block,
    Call,
    Function,
    If,
    Loop,
    Op,
    Operand,
    Raise,
    Undefined,
    Unpack,
    Value,
)
from tests.ir.verify import MalformedIR


def verify(function: Function) -> None:
    """Check that one function is well formed.

    Raises
    ------
    MalformedIR
        A value is defined twice, or read where it is not defined. The number of results of a block
        or of carried values is wrong. A block without results may reach its end, or one with
        results cannot. `Undefined` occurs other than as a result or an initial value of a loop.
    """
    _Verifier(function).run()


class _Verifier:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._defined: set[Value] = set()
        self._visible: set[Value] = set()

    def run(self) -> None:
        function, body = self._function, self._function.body
        given = len(function.parameters) + len(function.free)
        self._require(len(body.parameters) == given, None, "a parameter too many or too few")
        self._block(body, 1, None)

    def _require(self, holds: bool, op: Op | None, problem: str) -> None:
        if not holds:
            raise MalformedIR(f"{self._function.name}: {problem}: {op!r:.300}")

    def _block(self, block: Block, count: int, op: Op | None) -> None:
        """Check a block with `count` results, or with none if its end is never reached."""
        own: list[Value] = []
        self._define(block.parameters, own, op)
        ends = False
        for inner in block.ops:
            self._require(not ends, inner, "something that is never reached")
            self._op(inner)
            self._define(results(inner), own, inner)
            ends = _never_ends(inner)
        if block.results is None:
            self._require(ends, op, "the end of a block without results may be reached")
        else:
            self._require(not ends, op, "the end of a block with results is never reached")
            self._require(len(block.results) == count, op, "results do not fit")
            for operand in block.results:
                self._operand(operand, op)
        self._visible.difference_update(own)

    def _define(self, values: tuple[Value, ...], own: list[Value], op: Op | None) -> None:
        for value in values:
            self._require(isinstance(value, Value), op, "a result is no value")
            self._require(value not in self._defined, op, f"{value!r} is defined twice")
            self._defined.add(value)
            self._visible.add(value)
            own.append(value)

    def _operand(self, operand: Operand, op: Op | None) -> None:
        self._require(isinstance(operand, Operand), op, "an operand of a wrong class")
        if isinstance(operand, Value):
            self._require(operand in self._visible, op, f"{operand!r} is not defined here")

    def _op(self, op: Op) -> None:
        for operand in operands(op):
            self._operand(operand, op)
            may = isinstance(op, Loop) and operand is not op.iterable
            self._require(may or not isinstance(operand, Undefined), op, "reads what is undefined")
        match op:
            case Call(keywords=keywords):
                names = {name for name, _ in keywords}
                self._require(len(names) == len(keywords), op, "a keyword twice")
            case Unpack(results=values, starred=starred):
                self._require(starred is None or 0 <= starred < len(values), op, "no such result")
            case If(body=body, orelse=orelse):
                for block in (body, orelse):
                    self._require(not block.parameters, op, "a branch has no parameters")
                    self._block(block, len(op.results), op)
            case Loop():
                self._loop(op)
            case Raise():
                pass
            case _:
                assert_never(op)

    def _loop(self, op: Loop) -> None:
        count, flag = len(op.initial), int(op.stops)
        self._require(len(op.results) == flag + count, op, "results do not fit")
        self._require((op.iterable is None) != (op.test is None), op, "neither for nor while")
        if op.test is not None:
            self._require(len(op.test.parameters) == count, op, "the test's parameters do not fit")
            self._block(op.test, 1 + count, op)
        item = int(op.iterable is not None)
        self._require(len(op.body.parameters) == item + count, op, "the parameters do not fit")
        self._block(op.body, flag + count, op)


def _never_ends(op: Op) -> bool:
    match op:
        case Raise():
            return True
        case If(body=body, orelse=orelse):
            return body.results is None and orelse.results is None
        case _:
            return False
