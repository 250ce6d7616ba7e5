"""A pass that gives the result of a call the name of an operand that no other operation reads.

Before, after::

    _1 = mul(a, x)              _1 = mul(a, x)
    _2 = add(_1, b)             _1 = add(_1, b)
    _3 = tanh(_2)               _1 = tanh(_1)

So a large intermediate array is freed as soon as the next one exists, and the generated code has
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

    Only active temporaries are renamed: an inactive variable must not share a name with an active
    one. Regions that may be left while their variables live on (in ``try``, after a ``break``) keep
    their names.
    """
    sharing = _Sharing(function, is_active)
    return replace(function, body=sharing.region(function.body, guarded=False))


class _Sharing:
    """The walk over the IR. A temporary is read in the region that binds it or in a region inside.
    After the only operation that reads it, it is dead."""

    def __init__(self, function: Function, is_active: Callable[[Operand], bool]) -> None:
        self._is_active = is_active
        self._own = {*function.code.co_varnames, *function.code.co_cellvars}
        self._renamed: dict[str, Var] = {}
        self._once: set[str] = set()  # names read once
        self._again: set[str] = set()  # names read or bound more than once
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
        """Rename in one call; `bound` holds the temporaries that the enclosing region has bound so
        far."""
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
        """Return whether `var` is a temporary that is bound once and may carry a derivative."""
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
