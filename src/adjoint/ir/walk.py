"""Queries on operations: bound variables, operands, inner regions."""

from __future__ import annotations

from adjoint.ir.nodes import (
    Assign,
    Call,
    Delete,
    For,
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

STRUCTURED = frozenset({If, For, While, Try})
"""The operations that contain regions."""


def walk(region: Region) -> list[Op]:
    """Return every operation, including those of inner regions."""
    ops: list[Op] = []
    _collect(region, ops)
    return ops


def _collect(region: Region, ops: list[Op]) -> None:
    for op in region:
        ops.append(op)
        if type(op) in STRUCTURED:
            for inner in regions(op):
                _collect(inner, ops)


def regions(op: Op) -> tuple[Region, ...]:
    """Return the regions inside an operation."""
    match op:
        case If(body=body, orelse=orelse) | For(body=body, orelse=orelse):
            return body, orelse
        case While(test=test, body=body, orelse=orelse):
            return test, body, orelse
        case Try(body=body, handler=handler, orelse=orelse, final=final):
            return body, handler, orelse, final
        case _:
            return ()


def targets(op: Op) -> tuple[Var, ...]:
    """Return the variables that an operation itself binds or unbinds."""
    match op:
        case Call(target=target) | Yield(target=target):
            return () if target is None else (target,)
        case Assign(target=target) | For(target=target) | Delete(target=target):
            return (target,)
        case Unpack(targets=variables):
            return variables
        case Try(caught=caught):
            return () if caught is None else (caught,)
        case _:
            return ()


def operands(op: Op) -> tuple[Operand, ...]:
    """Return the operands that an operation itself reads; ``del x`` reads ``x``."""
    match op:
        case Call(callee=callee, operands=values, keywords=keywords):
            if keywords:
                return (callee, *values, *(value for _, value in keywords))
            return (callee, *values)
        case Assign(source=value) | Unpack(value=value) | Return(value=value) | Yield(value=value):
            return (value,)
        case Delete(target=target):
            return (target,)
        case If(condition=value) | While(condition=value) | For(iterable=value):
            return (value,)
        case Raise(exception=exception, cause=cause):
            return tuple(value for value in (exception, cause) if value is not None)
        case _:
            return ()
