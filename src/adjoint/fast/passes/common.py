"""Elimination of common subexpressions.

Before, after::

    a = mul(x, y)          a = mul(x, y)
    b = if c               b = if c
        d = mul(x, y)          -> a
        -> d               else
    else                       -> 1
        -> 1

A call is replaced by the result of an earlier call with the same callee and operands, in the same
block or in one around it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import BuiltinFunctionType, FunctionType

import numpy as np

from adjoint.fast.single_assignment.walk import mapped, reads_any, with_body
from adjoint.ir.single import Block, Call, Const, Function, Op, Operand, Value


def share_common(function: Function, is_pure: Callable[[Call], bool]) -> Function:
    """Return a function in which equal calls share their result.

    Parameters
    ----------
    function : Function
    is_pure : callable
        Whether a call has no effect, its result depends on the operands only, and the result is
        never written to.
    """
    return with_body(function, _Sharer(is_pure).block(function.body))


class _Sharer:
    def __init__(self, is_pure: Callable[[Call], bool]) -> None:
        self._is_pure = is_pure
        self._known: dict[Hashable, Value] = {}
        self._instead: dict[Value, Value] = {}

    def block(self, block: Block) -> Block:
        """Return a block with shared calls; forget its calls after it."""
        own: list[Hashable] = []
        ops: list[Op] = []
        for op in block.ops:
            if type(op) is not Call:
                ops.append(mapped(op, self._one, self.block))
            elif (call := self._call(op, own)) is not None:
                ops.append(call)
        results = None if block.results is None else tuple(map(self._one, block.results))
        for key in own:
            del self._known[key]
        return Block(block.parameters, tuple(ops), results)

    def _call(self, op: Call, own: list[Hashable]) -> Call | None:
        call = op
        if self._instead and reads_any(op, self._instead):
            call = mapped(op, self._one, self.block)  # type: ignore[assignment]
        if op.result is None or not self._is_pure(op):
            return call
        parts = [x if type(x) is Value else _key(x) for x in call.operands]
        key: tuple[Hashable, ...] = (_key(call.callee), *parts)
        if call.keywords:
            key = (*key, *sorted((name, _key(value)) for name, value in call.keywords))
        known = self._known.setdefault(key, op.result)
        if known is not op.result:
            self._instead[op.result] = known
            return None
        own.append(key)
        return call

    def _one(self, operand: Operand) -> Operand:
        return self._instead.get(operand, operand) if isinstance(operand, Value) else operand


def _key(operand: Operand) -> Hashable:
    """Return a key that is equal for operands that are the same."""
    if type(operand) is not Const:
        return operand
    value = operand.value
    return id(value) if type(value) in _FUNCTIONS else _key_of(value)


_FUNCTIONS = frozenset({BuiltinFunctionType, FunctionType, np.ufunc})


def _key_of(value: object) -> Hashable:
    if value is None:
        return "object", id(value)
    if isinstance(value, float):
        return type(value), value.hex()  # 0.0 is not -0.0
    if type(value) is complex:
        return complex, value.real.hex(), value.imag.hex()
    if type(value) in (int, bool, str, bytes):
        return type(value), value  # 1 is not True
    if type(value) is tuple:
        return tuple, *map(_key_of, value)
    if type(value) is slice:
        return slice, *map(_key_of, (value.start, value.stop, value.step))
    return "object", id(value)
