"""Elimination of dead code.

Before, after::

    y = mul(x, x)                            (y is not read)
    a, b = for i in n with c = 0, d = 0      b = for i in n with d = 0
        e = add(c, i)                            f = add(d, 2)
        f = add(d, 2)                            -> f
        -> e, f
    return b                                 return b

A value is needed if it is returned, if an operation with an effect reads it, or if a needed value
is made of it. So a value that a loop only carries for itself is removed, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import compress
from typing import assert_never

from adjoint.fast.single_assignment.walk import carried_values, operands, with_body
from adjoint.ir.single import (
    Block,
    Call,
    Const,
    Function,
    If,
    Loop,
    Op,
    Operand,
    Raise,
    Unpack,
    Value,
)


def remove_dead(
    function: Function,
    is_pure: Callable[[Call], bool],
    is_finite: Callable[[Loop], bool] = lambda loop: False,
) -> Function:
    """Return a function without dead operations and carried values.

    Parameters
    ----------
    function : Function
    is_pure : callable
        Whether a call has no effect but its result.
    is_finite : callable
        Whether a loop certainly ends, and iterating over its iterable has no effect.

    Returns
    -------
    Function
        The function with all its parameters; of blocks, only carried values are removed.
    """
    return _Remover(is_pure, is_finite).function(function)


class _Remover:
    def __init__(self, is_pure: Callable[[Call], bool], is_finite: Callable[[Loop], bool]) -> None:
        self._is_pure, self._is_finite = is_pure, is_finite
        self._made_of: dict[Value, tuple[Operand, ...]] = {}
        self._acting: set[int] = set()
        self._pending: list[Operand] = []
        self._needed: set[Value] = set()

    def function(self, function: Function) -> Function:
        body = function.body
        self._collect(body)
        self._pending.extend(body.results or ())
        self._mark()
        kept = [True] * len(body.results or ())
        return with_body(function, self._block(body, kept))

    # ---- needed values ---------------------------------------------------------------------------

    def _collect(self, block: Block) -> bool:
        """Record the operands of each value; return whether an operation in the block acts."""
        acting = [
            id(op)
            for op in block.ops
            if (self._acts_call(op) if type(op) is Call else self._acts(op))
        ]
        self._acting.update(acting)
        return bool(acting)

    def _acts_call(self, op: Call) -> bool:
        plain = not op.keywords and type(op.callee) is Const
        read = op.operands if plain else operands(op)
        if self._is_pure(op):
            if op.result is not None:
                self._made_of[op.result] = read
            return False
        self._pending.extend(read)
        return True

    def _acts(self, op: Op) -> bool:
        match op:
            case Call():
                return self._acts_call(op)
            case Unpack() | Raise():
                self._pending.extend(operands(op))
                return True
            case If():
                return self._acts_if(op)
            case Loop():
                return self._acts_loop(op)
            case _:
                assert_never(op)

    def _acts_if(self, op: If) -> bool:
        acts = [self._collect(op.body), self._collect(op.orelse)]
        ends = [block.results for block in (op.body, op.orelse) if block.results is not None]
        for result, *made_of in zip(op.results, *ends, strict=True):
            self._made_of[result] = op.condition, *made_of
        if any(acts):
            self._pending.append(op.condition)
        return any(acts)

    def _acts_loop(self, op: Loop) -> bool:
        acts = self._collect(op.body)
        if op.test is not None:
            acts = self._collect(op.test) or acts
        steers = _steers(op)
        for values, made_of in carried_values(op):
            for value in values:
                self._made_of[value] = *made_of, *steers
        if op.stops:
            self._made_of[op.results[0]] = steers
        if not acts and self._is_finite(op):
            return False
        self._pending.extend(steers)
        return True

    def _mark(self) -> None:
        pending, needed, made_of = self._pending, self._needed, self._made_of
        while pending:
            operand = pending.pop()
            if type(operand) is Value and operand not in needed:
                needed.add(operand)
                pending.extend(made_of.get(operand, ()))

    # ---- removal ---------------------------------------------------------------------------------

    def _block(self, block: Block, kept: list[bool]) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            if type(op) is Call:
                if op.result in self._needed:
                    ops.append(op)
                elif id(op) in self._acting:
                    ops.append(Call(None, op.callee, op.operands, op.keywords, op.span))
            elif not isinstance(op, If | Loop):
                ops.append(op)
            elif id(op) in self._acting or not self._needed.isdisjoint(op.results):
                ops.append(self._if(op) if isinstance(op, If) else self._loop(op))
        results = None if block.results is None else tuple(compress(block.results, kept))
        return Block(block.parameters, tuple(ops), results)

    def _if(self, op: If) -> If:
        kept = [value in self._needed for value in op.results]
        return replace(
            op,
            results=tuple(compress(op.results, kept)),
            body=self._block(op.body, kept),
            orelse=self._block(op.orelse, kept),
        )

    def _loop(self, op: Loop) -> Loop:
        kept = [any(value in self._needed for value in values) for values, _ in carried_values(op)]
        flag, item = [True] * op.stops, [True] * (op.iterable is not None)
        body = self._block(op.body, flag + kept)
        test = None
        if op.test is not None:
            test = self._block(op.test, [True, *kept])
            test = replace(test, parameters=tuple(compress(op.test.parameters, kept)))
        return replace(
            op,
            results=tuple(compress(op.results, flag + kept)),
            initial=tuple(compress(op.initial, kept)),
            test=test,
            body=replace(body, parameters=tuple(compress(op.body.parameters, item + kept))),
        )


def _steers(op: Loop) -> tuple[Operand, ...]:
    """Return the operands that decide the number of iterations of a loop."""
    found: list[Operand] = [] if op.iterable is None else [op.iterable]
    if op.test is not None and op.test.results is not None:
        found.append(op.test.results[0])
    if op.stops and op.body.results is not None:
        found.append(op.body.results[0])
    return tuple(found)
