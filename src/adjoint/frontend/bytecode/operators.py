"""Operators, comparisons, attributes and subscripts."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import opcode
from adjoint.frontend.bytecode.stack_entries import Method, NotStarted
from adjoint.ir import primitives
from adjoint.ir.nodes import Const

_BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_BINARY |= {
    f"{sign}=": getattr(operator, f"i{plain.__name__.rstrip('_')}")
    for sign, plain in _BINARY.items()
}
_COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@opcode.register("BINARY_OP")
def _binary(m: Machine, step: Instruction) -> None:
    m.push(m.call(_BINARY[step.text], m.pop_many(2)))


_UNARY: dict[str, Callable[..., Any]] = {
    "UNARY_INVERT": operator.invert,
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_POSITIVE": operator.pos,
}


@opcode.register(*_UNARY)
def _unary(m: Machine, step: Instruction) -> None:
    m.push(m.call(_UNARY[step.name], (m.pop(),)))


@opcode.register("UNARY_NOT")
def _not(m: Machine, step: Instruction) -> None:
    m.push_bool(m.call(operator.not_, (m.pop(),)))


@opcode.register("TO_BOOL")
def _truth(m: Machine, step: Instruction) -> None:
    m.push(m.truth(m.pop()))


@opcode.register("COMPARE_OP")
def _compare(m: Machine, step: Instruction) -> None:
    m.push(m.call(_COMPARE[step.value], m.pop_many(2)))
    if sys.version_info >= (3, 13) and step.arg & 16:
        m.push(m.truth(m.pop()))


@opcode.register("IS_OP")
def _is(m: Machine, step: Instruction) -> None:
    m.push_bool(m.call(operator.is_not if step.arg else operator.is_, m.pop_many(2)))


@opcode.register("CONTAINS_OP")
def _contains(m: Machine, step: Instruction) -> None:
    item, container = m.pop_many(2)
    result = m.call(operator.contains, (container, item))
    m.push_bool(m.call(operator.not_, (result,)) if step.arg else result)


# ---- attributes ----------------------------------------------------------------------------------


@opcode.register("LOAD_ATTR")
def _attribute(m: Machine, step: Instruction) -> None:
    if sys.version_info >= (3, 12) and step.arg & 1:
        _method(m, step)
    else:
        m.push(m.call(getattr, (m.pop(), Const(step.value))))


@opcode.register("LOAD_METHOD")
def _method(m: Machine, step: Instruction) -> None:
    """Push a `Method`, so that it and the following call become one operation with rules."""
    owner = m.pop()
    m.push(Method(owner, step.value), owner)


@opcode.register("LOAD_SUPER_ATTR")
def _super_attribute(m: Machine, step: Instruction) -> None:
    kind, cls, owner = m.pop_many(3)
    found = m.call(kind, (cls, owner))
    if step.arg & 1:
        m.push(Method(found, step.value), found)
    else:
        m.push(m.call(getattr, (found, Const(step.value))))


@opcode.register("STORE_ATTR")
def _store_attribute(m: Machine, step: Instruction) -> None:
    value, owner = m.pop_many(2)
    m.do(setattr, owner, Const(step.value), value)


@opcode.register("DELETE_ATTR")
def _delete_attribute(m: Machine, step: Instruction) -> None:
    m.do(delattr, m.pop(), Const(step.value))


# ---- subscripts ----------------------------------------------------------------------------------


@opcode.register("BINARY_SUBSCR")
def _item(m: Machine, step: Instruction) -> None:
    m.push(m.call(operator.getitem, m.pop_many(2)))


@opcode.register("STORE_SUBSCR")
def _store_item(m: Machine, step: Instruction) -> None:
    value, container, key = m.pop_many(3)
    m.do(operator.setitem, container, key, value)


@opcode.register("DELETE_SUBSCR")
def _delete_item(m: Machine, step: Instruction) -> None:
    m.do(operator.delitem, *m.pop_many(2))


@opcode.register("BUILD_SLICE")
def _slice(m: Machine, step: Instruction) -> None:
    parts = m.pop_many(step.arg)
    m.push(m.call(primitives.build_slice, (*parts, Const(None))[:3]))


@opcode.register("BINARY_SLICE")
def _slice_of(m: Machine, step: Instruction) -> None:
    container, start, stop = m.pop_many(3)
    key = m.call(primitives.build_slice, (start, stop, Const(None)))
    m.push(m.call(operator.getitem, (container, key)))


@opcode.register("STORE_SLICE")
def _store_slice(m: Machine, step: Instruction) -> None:
    value, container, start, stop = m.pop_many(4)
    key = m.call(primitives.build_slice, (start, stop, Const(None)))
    m.do(operator.setitem, container, key, value)


# ---- iterators and lengths -----------------------------------------------------------------------


@opcode.register("GET_ITER")
def _iterator(m: Machine, step: Instruction) -> None:
    m.push(NotStarted(m.pop()))


@opcode.register("GET_LEN")
def _length(m: Machine, step: Instruction) -> None:
    m.push(m.call(len, (m.top(),)))


@opcode.register("MATCH_SEQUENCE")
def _is_sequence(m: Machine, step: Instruction) -> None:
    m.push_bool(m.call(primitives.match_sequence, (m.top(),)))


@opcode.register("MATCH_MAPPING")
def _is_mapping(m: Machine, step: Instruction) -> None:
    m.push_bool(m.call(primitives.match_mapping, (m.top(),)))
