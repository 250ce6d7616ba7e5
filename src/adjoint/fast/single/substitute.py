"""Free values of blocks, and substitution of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adjoint.fast.single.primitives import same
from adjoint.fast.single.walk import is_call_of, operands, reads_any, walk
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, If, Loop, Operand, Unpack, Value


def without_copies(block: Block) -> Block:
    """Return the block without ``y = same(x)``, with `x` in place of `y`."""
    names: dict[Value, Operand] = {}
    copies = [op for op in walk(block) if is_call_of(op, same)]
    if not copies:
        return block
    for op in copies:
        if op.result is not None:
            (x,) = op.operands
            names[op.result] = names.get(x, x) if isinstance(x, Value) else x
    return renamed(_kept(block), names)


def _kept(block: Block) -> Block:
    ops: list[ir.Op] = []
    for op in block.ops:
        if is_call_of(op, same):
            continue
        match op:
            case If():
                ops.append(replace(op, body=_kept(op.body), orelse=_kept(op.orelse)))
            case Loop():
                test = None if op.test is None else _kept(op.test)
                ops.append(replace(op, test=test, body=_kept(op.body)))
            case _:
                ops.append(op)
    return Block(block.parameters, tuple(ops), block.results)


def free_values(block: Block) -> list[Value]:
    """Return the values that a block reads and does not define, each once, in order."""
    defined: set[Value] = set(block.parameters)
    found: dict[Value, None] = {}
    _collect(block, defined, found)
    return [v for v in found if v not in defined]


def _collect(block: Block, defined: set[Value], found: dict[Value, None]) -> None:
    defined.update(block.parameters)
    for op in block.ops:
        for x in operands(op):
            if isinstance(x, Value):
                found.setdefault(x)
        match op:
            case Call(result=Value() as y):
                defined.add(y)
            case Unpack():
                defined.update(op.results)
            case If():
                defined.update(op.results)
                _collect(op.body, defined, found)
                _collect(op.orelse, defined, found)
            case Loop():
                defined.update(op.results)
                if op.test is not None:
                    _collect(op.test, defined, found)
                _collect(op.body, defined, found)
    for x in block.results or ():
        if isinstance(x, Value):
            found.setdefault(x)


def renamed(block: Block, names: Mapping[Value, Operand]) -> Block:
    """Return the block with the values in `names` replaced."""
    if not names:
        return block

    def new(x: Any) -> Any:
        return names.get(x, x) if isinstance(x, Value) else x

    ops: list[ir.Op] = []
    for op in block.ops:
        match op:
            case Call():
                if reads_any(op, names):
                    given = tuple(map(new, op.operands))
                    named = tuple((k, new(x)) for k, x in op.keywords)
                    op = Call(op.result, new(op.callee), given, named, op.span)
                ops.append(op)
            case Unpack():
                ops.append(replace(op, value=new(op.value)))
            case If():
                ops.append(
                    replace(
                        op,
                        condition=new(op.condition),
                        body=renamed(op.body, names),
                        orelse=renamed(op.orelse, names),
                    )
                )
            case Loop():
                ops.append(
                    replace(
                        op,
                        initial=tuple(map(new, op.initial)),
                        iterable=new(op.iterable),
                        test=None if op.test is None else renamed(op.test, names),
                        body=renamed(op.body, names),
                    )
                )
            case _:
                ops.append(op)
    results = None if block.results is None else tuple(map(new, block.results))
    return Block(block.parameters, tuple(ops), results)
