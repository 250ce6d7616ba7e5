"""Temporaries that share a name: the result of a call takes over that of an operand which nothing
else reads.

Before, after::

    _1 = mul(a, x)              _1 = mul(a, x)
    _2 = add(_1, b)             _1 = add(_1, b)
    _3 = tanh(_2)               _1 = tanh(_1)

So a large intermediate array is let go as soon as the next one is there, and the generated code has
few names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from adjoint.ir.nodes import (
    Assign,
    Call,
    For,
    Function,
    If,
    Op,
    Operand,
    Raise,
    Region,
    Return,
    Try,
    Unpack,
    Var,
    While,
    Yield,
)
from adjoint.ir.walk import STRUCTURED, operands, targets, walk
from adjoint.transform.reverse import leaves_iteration


def share_temporaries(function: Function, is_active: Callable[[Operand], bool]) -> Function:
    """Rename temporaries of `function` so that one name serves a chain of calls.

    Only active ones: what is known to carry no derivative must stay apart from what may. Where the
    text may be left while its variables live on (in ``try``, after a ``break``), every name keeps
    its one meaning.
    """
    sharing = _Sharing(function, is_active)
    return replace(function, body=sharing.region(function.body, guarded=False))


class _Sharing:
    """The walk. A temporary is read where it was bound or in a region inside, and never again once
    the only operation that reads it has run."""

    def __init__(self, function: Function, is_active: Callable[[Operand], bool]) -> None:
        self._is_active = is_active
        self._own = {*function.code.co_varnames, *function.code.co_cellvars}
        self._renamed: dict[str, Var] = {}
        self._once: set[str] = set()  # what is read once
        self._again: set[str] = set()  # what is read, or bound, more than once
        bound: set[str] = set()
        once, again = self._once, self._again
        for op in walk(function.body):
            plain = type(op) is Call and not op.keywords and type(op.callee) is not Var
            for value in op.operands if plain else operands(op):  # type: ignore[union-attr]
                if type(value) is Var:
                    (again if value.name in once else once).add(value.name)
            for target in targets(op):
                (again if target.name in bound else bound).add(target.name)

    def region(self, region: Region, guarded: bool) -> Region:
        bound: set[str] = set()
        ops: list[Op] = []
        for op in region:
            if type(op) is Call:
                ops.append(self._call(op, bound, guarded))
                continue
            guards = leaves_iteration(op)
            ops.append(self._structure(op, guarded) if type(op) in STRUCTURED else self._simple(op))
            guarded = guarded or guards
        return tuple(ops)

    def _call(self, op: Call, bound: set[str], guarded: bool) -> Call:
        """`bound`: the temporaries bound so far by the region that `op` is in."""
        target, values, renamed = op.target, op.operands, self._renamed
        if target is not None and target.name[0] == "_" and not guarded:
            if self._is_shareable(target):
                bound.add(target.name)
                for value in values:
                    if type(value) is Var and value.name in bound and value.name in self._once:
                        if value.name not in self._again:
                            renamed[target.name] = target = renamed.get(value.name, value)
                            break
        if not renamed:
            return op
        changed = target is not op.target
        for value in values:
            if type(value) is Var and value.name in renamed:
                values = tuple(map(self._new, values))
                changed = True
                break
        keywords, callee = op.keywords, self._new(op.callee)
        if keywords:
            keywords = tuple([(name, self._new(value)) for name, value in keywords])
        if changed or keywords or callee is not op.callee:
            return Call(target, callee, values, keywords, op.span)
        return op

    def _is_shareable(self, var: Var) -> bool:
        """Whether it is a temporary that is bound once and may carry a derivative."""
        name = var.name
        return (
            name[1:].isdigit()
            and name not in self._again
            and name not in self._own
            and self._is_active(var)
        )

    def _new(self, operand: Any) -> Any:
        return self._renamed.get(operand.name, operand) if type(operand) is Var else operand

    def _simple(self, op: Op) -> Op:
        if not self._renamed:
            return op
        match op:
            case Assign(target=target, source=value):
                return Assign(target, self._new(value), op.span)
            case Unpack(value=value):
                return Unpack(op.targets, self._new(value), op.starred, op.span)
            case Return(value=value):
                return Return(self._new(value), op.span)
            case Yield(target=target, value=value):
                return Yield(target, self._new(value), op.source, op.span)
            case Raise(exception=exception, cause=cause):
                return Raise(self._new(exception), self._new(cause), op.span)
            case _:
                return op

    def _structure(self, op: Op, guarded: bool) -> Op:
        match op:
            case If(condition=condition, body=body, orelse=orelse, span=span):
                return If(
                    self._new(condition),
                    self.region(body, guarded),
                    self.region(orelse, guarded),
                    span,
                )
            case For(target=target, iterable=iterable, body=body, orelse=orelse, span=span):
                return For(
                    target,
                    self._new(iterable),
                    self.region(body, guarded),
                    self.region(orelse, guarded),
                    span,
                )
            case While(test=test, body=body, orelse=orelse, span=span):
                test = self.region(test, guarded)
                return While(
                    test,
                    self._new(op.condition),
                    self.region(body, guarded),
                    self.region(orelse, guarded),
                    span,
                )
            case Try(body=body, caught=caught, handler=handler, orelse=orelse, final=final):
                return Try(
                    self.region(body, True),
                    caught,
                    self.region(handler, True),
                    self.region(orelse, True),
                    self.region(final, guarded),
                    op.span,
                )
            case _:
                return op
