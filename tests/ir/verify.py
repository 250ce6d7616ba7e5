"""Well-formedness checks of a function's IR, run between passes in tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import assert_never

from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Continue,
    Delete,
    For,
    Function,
    If,
    Op,
    Operand,
    Raise,
    Region,
    Return,
    Span,
    Try,
    Unpack,
    Var,
    While,
    Yield,
)
from adjoint.ir.walk import operands, targets, walk


class MalformedIR(AssertionError):
    """The IR is malformed: a pass of this library has a bug."""


def verify(function: Function) -> None:
    """Check one function.

    Parameters
    ----------
    function : Function

    Raises
    ------
    MalformedIR
        An operand has a wrong class; a variable that is read is never bound; a temporary is bound
        twice on one path or read where it may be unbound; ``break`` is outside a loop; an operation
        has no span; ``yield`` is outside a generator; an operation follows one that always leaves.
    """
    _Verifier(function).run()


class _Verifier:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._bound = {parameter.name for parameter in function.parameters}
        self._bound |= {var.name for _, var in function.free}

    def run(self) -> None:
        function = self._function
        names = [parameter.name for parameter in function.parameters] + [
            var.name for _, var in function.free
        ]
        self._require(
            len(set(names)) == len(names), None, "two parameters or cells have the same name"
        )
        self._require(
            tuple(name for name, _ in function.free) == function.code.co_freevars,
            None,
            "the free variables are not those of the code",
        )
        for op in walk(function.body):
            for target in targets(op):
                self._require(
                    isinstance(target, Var) and target.name.isidentifier(),
                    op,
                    "a target is no variable",
                )
                self._bound.add(target.name)
        self._region(function.body, in_loop=False)
        code = function.code
        users = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
        _Temporaries(self._fail_at, users).region(function.body, frozenset())

    def _require(self, holds: bool, op: Op | None, problem: str) -> None:
        if not holds:
            self._fail_at(op, problem)

    def _fail_at(self, op: Op | None, problem: str) -> None:
        raise MalformedIR(f"{self._function.name}: {problem}: {op!r:.300}")

    def _region(self, region: Region, *, in_loop: bool) -> None:
        self._require(isinstance(region, tuple), None, "a region is no tuple")
        for index, op in enumerate(region):
            self._require(isinstance(op.span, Span), op, "no span")
            for operand in operands(op):
                self._operand(operand, op)
            if isinstance(op, Return | Raise | Break | Continue):
                self._require(
                    index == len(region) - 1, op, "something stands behind it that is never reached"
                )
            self._op(op, in_loop)

    def _operand(self, operand: Operand, op: Op) -> None:
        self._require(isinstance(operand, Operand), op, "an operand of a wrong class")
        if isinstance(operand, Var):
            self._require(operand.name in self._bound, op, f"'{operand.name}' is never bound")

    def _op(self, op: Op, in_loop: bool) -> None:
        match op:
            case Break() | Continue():
                self._require(in_loop, op, "outside a loop")
            case Yield():
                self._require(self._function.is_generator, op, "not in a generator")
            case Call(keywords=keywords):
                self._require(
                    len({name for name, _ in keywords}) == len(keywords), op, "a keyword twice"
                )
            case Unpack(targets=variables, starred=starred):
                self._require(
                    starred is None or 0 <= starred < len(variables), op, "no such target"
                )
            case If(body=body, orelse=orelse):
                self._region(body, in_loop=in_loop)
                self._region(orelse, in_loop=in_loop)
            case For(body=body, orelse=orelse):
                self._region(body, in_loop=True)
                self._region(orelse, in_loop=in_loop)
            case While(test=test, body=body, orelse=orelse):
                self._region(test, in_loop=False)
                self._region(body, in_loop=True)
                self._region(orelse, in_loop=in_loop)
            case Try(body=body, caught=caught, handler=handler, orelse=orelse, final=final):
                self._require(
                    caught is not None or not handler, op, "a handler that catches nothing"
                )
                self._region(body, in_loop=in_loop)
                self._region(handler, in_loop=in_loop)
                self._region(orelse, in_loop=in_loop)
                self._region(final, in_loop=in_loop)
            case Assign() | Delete() | Return() | Raise():
                pass
            case _:
                assert_never(op)


class _Temporaries:
    """Check that each temporary (``_1``, …) is bound once on every path, before it is read.

    The sets hold the temporaries that *may* be bound at a point; ``None`` means that the point is
    not reached. "Must" would be too strict: a capture of a pattern is read under the bool that says
    that the pattern matched.
    """

    def __init__(self, fail: Callable[[Op, str], None], users: set[str]) -> None:
        self._fail, self._users = fail, users

    def _is_temporary(self, name: str) -> bool:
        return re.fullmatch(r"_\d+", name) is not None and name not in self._users

    def region(self, region: Region, bound: frozenset[str] | None) -> frozenset[str] | None:
        """Return the temporaries that may be bound after `region`."""
        for op in region:
            if bound is None:
                break
            for operand in operands(op):
                # A loop checks its condition itself, after its test.
                if (
                    isinstance(operand, Var)
                    and self._is_temporary(operand.name)
                    and operand.name not in bound
                    and not isinstance(op, While)
                ):
                    self._fail(op, f"'{operand.name}' may be unbound")
            bound = self._behind(op, bound)
        return bound

    def _behind(self, op: Op, bound: frozenset[str]) -> frozenset[str] | None:
        match op:
            case Return() | Raise() | Break() | Continue():
                return None
            case Delete():
                return bound
            case If(body=body, orelse=orelse):
                return _meet(self.region(body, bound), self.region(orelse, bound))
            case For(target=target, body=body, orelse=orelse):
                self.region(body, self._with(bound, op, target))
                return self.region(orelse, bound)
            case While(test=test, condition=condition, body=body, orelse=orelse):
                tested = self.region(test, bound)
                if (
                    tested is not None
                    and isinstance(condition, Var)
                    and self._is_temporary(condition.name)
                    and condition.name not in tested
                ):
                    self._fail(op, "the condition may be unbound")
                self.region(body, tested)
                self.region(orelse, tested)
                return tested
            case Try(body=body, caught=caught, handler=handler, orelse=orelse, final=final):
                done = self.region(orelse, self.region(body, bound))
                if caught is not None:
                    done = _meet(done, self.region(handler, self._with(bound, op, caught)))
                last = self.region(final, bound)
                return None if done is None or last is None else done | last
            case _:
                for target in targets(op):
                    bound = self._with(bound, op, target)
                return bound

    def _with(self, bound: frozenset[str], op: Op, target: Var) -> frozenset[str]:
        if not self._is_temporary(target.name):
            return bound
        if target.name in bound:
            self._fail(op, f"'{target.name}' is bound twice")
        return bound | {target.name}


def _meet(a: frozenset[str] | None, b: frozenset[str] | None) -> frozenset[str] | None:
    if a is None or b is None:
        return b if a is None else a
    return a | b
