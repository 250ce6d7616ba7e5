"""Traversal of single-assignment operations: operands, results, inner blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, TypeGuard

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


def walk(block: Block) -> Iterator[Op]:
    """Yield every operation of a block, inner blocks included."""
    return walk_ops(block.ops)


def walk_ops(ops: Iterable[Op]) -> Iterator[Op]:
    """Yield operations, those of inner blocks included."""
    stack = [iter(ops)]
    while stack:
        for op in stack[-1]:
            yield op
            if type(op) is Call:  # the most frequent case
                continue
            inner = blocks(op)
            if inner:
                stack.extend(iter(one.ops) for one in reversed(inner))
                break
        else:
            stack.pop()


def blocks(op: Op) -> tuple[Block, ...]:
    """Return the blocks inside an operation, in the order in which they run."""
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
    """Return the values that an operation defines, without those of its blocks."""
    if isinstance(op, Call):  # the most frequent case
        return () if op.result is None else (op.result,)
    match op:
        case Unpack(results=values) | If(results=values) | Loop(results=values):
            return values
        case Raise():
            return ()


def operands(op: Op) -> tuple[Operand, ...]:
    """Return the operands of an operation, without those inside its blocks."""
    if isinstance(op, Call):  # the most frequent case
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


def defined_values(block: Block) -> Iterator[Value]:
    """Yield every value that a block defines, in the order of the text."""
    yield from block.parameters
    for op in walk(block):
        yield from results(op)
        for inner in blocks(op):
            yield from inner.parameters


def read_by(op: Op) -> Iterator[Operand]:
    """Yield the operands of an operation and the results of its blocks."""
    yield from operands(op)
    for block in blocks(op):
        yield from block.results or ()


Carried: TypeAlias = list[tuple[tuple[Value, ...], tuple[Operand, ...]]]


def carried_values(op: Loop) -> Carried:
    """Return, for each carried value, the values that stand for it, and their operands."""
    first = int(op.iterable is not None)
    flag = int(op.stops)
    slots = []
    for k, initial in enumerate(op.initial):
        values = [op.results[flag + k], op.body.parameters[first + k]]
        made_of = [initial]
        if op.body.results is not None:
            made_of.append(op.body.results[flag + k])
        if op.test is not None:
            values.append(op.test.parameters[k])
            if op.test.results is not None:
                made_of.append(op.test.results[1 + k])
        slots.append((tuple(values), tuple(made_of)))
    return slots


def mapped(op: Op, new: Callable[[Operand], Operand], inner: Callable[[Block], Block]) -> Op:
    """Return an operation with `new` applied to its operands, and `inner` to its blocks."""
    match op:
        case Call():
            keywords = tuple((name, new(value)) for name, value in op.keywords)
            return Call(op.result, new(op.callee), tuple(map(new, op.operands)), keywords, op.span)
        case Unpack():
            return Unpack(op.results, new(op.value), op.starred, op.span)
        case If():
            condition = new(op.condition)
            return If(op.results, condition, inner(op.body), inner(op.orelse), op.span)
        case Loop():
            return Loop(
                op.results,
                tuple(map(new, op.initial)),
                None if op.iterable is None else new(op.iterable),
                None if op.test is None else inner(op.test),
                inner(op.body),
                op.stops,
                op.span,
            )
        case Raise():
            return replace(
                op,
                exception=None if op.exception is None else new(op.exception),
                cause=None if op.cause is None else new(op.cause),
            )


def with_blocks(op: Op, inner: Callable[[Block], Block]) -> Op:
    """Return an operation with `inner` applied to its blocks."""
    return mapped(op, lambda x: x, inner) if isinstance(op, If | Loop) else op


def with_body(function: Function, body: Block) -> Function:
    """Return a function with another body."""
    f = function
    return Function(f.name, f.parameters, f.free, body, f.filename, f.span)


def reads_any(op: Call, names: Container[Value]) -> bool:
    """Return whether a call reads one of `names`."""
    if op.keywords or type(op.callee) is Value:
        return any(type(x) is Value and x in names for x in operands(op))
    for x in op.operands:
        if type(x) is Value and x in names:
            return True
    return False


def callee_of(op: Op) -> Any:
    """Return the function that an operation calls; ``None`` for other operations, and for calls of
    values of the program."""
    return op.callee.value if type(op) is Call and type(op.callee) is Const else None


def result_of(op: Call) -> Value:
    """Return the result of a call that has one."""
    assert op.result is not None
    return op.result


def is_call_of(op: Op, f: Any) -> TypeGuard[Call]:
    """Return whether an operation is a call of `f`."""
    return type(op) is Call and type(op.callee) is Const and op.callee.value is f


def count_reads(block: Block) -> Counter[Operand]:
    """Count how often each value is read in a block, as a result of it too."""
    read = [*(block.results or ())]
    for op in walk(block):
        read += read_by(op)
    return Counter([x for x in read if type(x) is Value])
