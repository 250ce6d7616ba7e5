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
from adjoint.ir.walk import operands, targets, walk
from adjoint.transform.reverse import leaves_iteration

__all__ = ["share_temporaries"]


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
        for op in walk(function.body):
            plain = type(op) is Call and not op.keywords and type(op.callee) is not Var
            for value in op.operands if plain else operands(op):  # type: ignore[union-attr]
                if type(value) is Var:
                    name = value.name
                    (self._again if name in self._once else self._once).add(name)
            for target in targets(op) if type(op) is not Call else (op.target,):
                if target is not None:
                    (self._again if target.name in bound else bound).add(target.name)

    def region(self, region: Region, guarded: bool) -> Region:
        bound: set[str] = set()
        ops: list[Op] = []
        for op in region:
            match op:
                case Call():
                    op = self._call(op, bound, guarded)
                case If() | For() | While() | Try():
                    op = self._structure(op, guarded)
                case _:
                    op = self._simple(op)
            ops.append(op)
            guarded = guarded or leaves_iteration(op)
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
        match op:
            case Assign(source=value):
                return replace(op, source=self._new(value))
            case Unpack(value=value) | Return(value=value) | Yield(value=value):
                return replace(op, value=self._new(value))
            case Raise(exception=exception, cause=cause):
                return replace(op, exception=self._new(exception), cause=self._new(cause))
            case _:
                return op

    def _structure(self, op: If | For | While | Try, guarded: bool) -> Op:
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
            case Try():
                return replace(
                    op,
                    body=self.region(op.body, True),
                    handler=self.region(op.handler, True),
                    orelse=self.region(op.orelse, True),
                    final=self.region(op.final, guarded),
                )
