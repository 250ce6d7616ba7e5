"""What an operation in single assignment defines and reads, and the blocks inside it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, TypeGuard

from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Raise, Unpack, Value


def walk(block: Block) -> Iterator[Op]:
    """Every operation, inner blocks included."""
    stack = [iter(block.ops)]
    while stack:
        for op in stack[-1]:
            yield op
            if type(op) is Call:  # as most are
                continue
            inner = blocks(op)
            if inner:
                stack.extend(iter(one.ops) for one in reversed(inner))
                break
        else:
            stack.pop()


def blocks(op: Op) -> tuple[Block, ...]:
    """The blocks inside an operation, in the order in which they run."""
    match op:
        case If(body=body, orelse=orelse):
            return body, orelse
        case Loop(test=None, body=body):
            return (body,)
        case Loop(test=Block() as test, body=body):
            return test, body
        case _:
            return ()


def results(op: Op) -> tuple[Value, ...]:
    """The values that an operation defines itself."""
    if isinstance(op, Call):  # as most are
        return () if op.result is None else (op.result,)
    match op:
        case Unpack(results=values) | If(results=values) | Loop(results=values):
            return values
        case Raise():
            return ()


def operands(op: Op) -> tuple[Operand, ...]:
    """What an operation reads itself; the results of its blocks are read by those."""
    if isinstance(op, Call):  # as most are
        if op.keywords:
            return (op.callee, *op.operands, *(value for _, value in op.keywords))
        return (op.callee, *op.operands)
    match op:
        case Unpack(value=value) | If(condition=value):
            return (value,)
        case Loop(initial=initial, iterable=iterable):
            return initial if iterable is None else (iterable, *initial)
        case Raise(exception=exception, cause=cause):
            return tuple(value for value in (exception, cause) if value is not None)


def reads_any(op: Call, names: Container[Value]) -> bool:
    """Whether a call reads one of some values."""
    if op.keywords or type(op.callee) is Value:
        return any(type(x) is Value and x in names for x in operands(op))
    for x in op.operands:
        if type(x) is Value and x in names:
            return True
    return False


def is_call_of(op: Op, f: Any) -> TypeGuard[Call]:
    """Whether an operation is a call of this very function."""
    return type(op) is Call and type(op.callee) is Const and op.callee.value is f
