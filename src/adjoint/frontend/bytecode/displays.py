"""Displays, unpacking and f-strings."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import opcode
from adjoint.frontend.bytecode.stack_entries import NULL
from adjoint.ir import primitives
from adjoint.ir.nodes import Call, Const, Operand, Unpack

_BUILD: dict[str, Callable[..., Any]] = {
    "BUILD_LIST": primitives.build_list,
    "BUILD_SET": primitives.build_set,
    "BUILD_STRING": primitives.build_string,
    "BUILD_TUPLE": primitives.build_tuple,
}


@opcode.register(*_BUILD)
def _build(m: Machine, step: Instruction) -> None:
    parts = m.pop_many(step.arg)
    if step.name == "BUILD_STRING":  # some versions leave an empty text after a part
        parts = tuple(part for part in parts if part != Const(""))
    m.push(m.call(_BUILD[step.name], parts))


@opcode.register("BUILD_MAP")
def _build_dict(m: Machine, step: Instruction) -> None:
    m.push(m.call(primitives.build_dict, m.pop_many(2 * step.arg)))


@opcode.register("BUILD_CONST_KEY_MAP")
def _build_dict_of_names(m: Machine, step: Instruction) -> None:
    *values, keys = m.pop_many(step.arg + 1)
    assert isinstance(keys, Const) and isinstance(keys.value, tuple)
    parts: list[Operand] = []
    for key, value in zip(keys.value, values, strict=True):
        parts += [Const(key), value]
    m.push(m.call(primitives.build_dict, parts))


# ---- steps of displays and comprehensions --------------------------------------------------------

_STEPS: dict[str, Callable[..., Any]] = {
    "DICT_UPDATE": primitives.dict_update,
    "LIST_APPEND": primitives.list_append,
    "LIST_EXTEND": primitives.list_extend,
    "SET_ADD": primitives.set_add,
    "SET_UPDATE": primitives.set_update,
}


@opcode.register(*_STEPS)
def _extend(m: Machine, step: Instruction) -> None:
    value = m.pop()
    container = m.top(step.arg)
    if not (step.name == "LIST_EXTEND" and _write_out(m, container, value)):
        m.do(_STEPS[step.name], container, value)


def _write_out(m: Machine, container: Operand, value: Operand) -> bool:
    """Rewrite an empty list that is extended by a constant as a display: ``[1, 2, 3]``. Return
    whether `container` was such a list."""
    last = m.items[-1] if m.items else None
    if not (
        isinstance(last, Call)
        and last.target == container
        and last.callee == Const(primitives.build_list)
        and not last.operands
        and isinstance(value, Const)
        and isinstance(value.value, tuple)
    ):
        return False
    m.items[-1] = Call(last.target, last.callee, tuple(map(Const, value.value)), (), last.span)
    return True


@opcode.register("DICT_MERGE")
def _merge(m: Machine, step: Instruction) -> None:
    value = m.pop()
    above = step.arg + 1  # above the dict: arguments and, in some versions, `NULL`
    function = m.top(above + (2 if m.frame.stack[-above - 1] is NULL else 1))
    m.do(primitives.dict_merge, m.top(step.arg), value, function)


@opcode.register("MAP_ADD")
def _insert(m: Machine, step: Instruction) -> None:
    key, value = m.pop_many(2)
    m.do(primitives.dict_insert, m.top(step.arg), key, value)


@opcode.register("LIST_TO_TUPLE")
def _to_tuple(m: Machine, step: Instruction) -> None:
    m.push(m.call(primitives.list_to_tuple, (m.pop(),)))


@opcode.register("CALL_INTRINSIC_1")
def _intrinsic(m: Machine, step: Instruction) -> None:
    match step.text:
        case "INTRINSIC_LIST_TO_TUPLE":
            _to_tuple(m, step)
        case "INTRINSIC_UNARY_POSITIVE":
            m.push(m.call(operator.pos, (m.pop(),)))
        case text if text in _OF_TYPE_PARAMETERS:
            m.push(m.call(primitives.run_intrinsic, (Const(step.arg), m.pop())))
        case _:
            m.refuse()


@opcode.register("CALL_INTRINSIC_2")
def _intrinsic_of_two(m: Machine, step: Instruction) -> None:
    if step.text not in _OF_TYPE_PARAMETERS:
        m.refuse()
    m.push(m.call(primitives.run_intrinsic, (Const(step.arg), *m.pop_many(2))))


_OF_TYPE_PARAMETERS = frozenset(
    f"INTRINSIC_{name}"
    for name in (
        "TYPEVAR PARAMSPEC TYPEVARTUPLE SUBSCRIPT_GENERIC TYPEVAR_WITH_BOUND"
        " TYPEVAR_WITH_CONSTRAINTS SET_FUNCTION_TYPE_PARAMS SET_TYPEPARAM_DEFAULT".split()
    )
)
"""The intrinsics that ``def f[T]`` and ``class A[T]`` apply to their parameters."""


# ---- unpacking -----------------------------------------------------------------------------------


@opcode.register("UNPACK_SEQUENCE")
def _unpack(m: Machine, step: Instruction) -> None:
    _unpack_into(m, step.arg, None)


@opcode.register("UNPACK_EX")
def _unpack_starred(m: Machine, step: Instruction) -> None:
    before, after = step.arg & 0xFF, step.arg >> 8
    _unpack_into(m, before + 1 + after, before)


def _unpack_into(m: Machine, n: int, starred: int | None) -> None:
    value = m.pop()
    targets = tuple(m.temporary() for _ in range(n))
    m.emit(Unpack(targets, value, starred, m.span))
    m.push(*reversed(targets))


# ---- f-strings -----------------------------------------------------------------------------------

_CONVERSIONS = {0: None, 1: "s", 2: "r", 3: "a"}


@opcode.register("FORMAT_VALUE")
def _format(m: Machine, step: Instruction) -> None:
    """Lower the instruction that converts and formats a value (before 3.13)."""
    spec: Operand = m.pop() if step.arg & 4 else Const("")
    operands = (m.pop(), Const(_CONVERSIONS[step.arg & 3]), spec)
    m.push(m.call(primitives.format_value, operands))


_CONVERT: dict[int, Callable[..., Any]] = {1: str, 2: repr, 3: ascii}


@opcode.register("CONVERT_VALUE")
def _convert(m: Machine, step: Instruction) -> None:
    m.push(m.call(_CONVERT[step.arg], (m.pop(),)))


@opcode.register("FORMAT_SIMPLE")
def _format_simple(m: Machine, step: Instruction) -> None:
    m.push(m.call(primitives.format_value, (m.pop(), Const(None), Const(""))))


@opcode.register("FORMAT_WITH_SPEC")
def _format_with_spec(m: Machine, step: Instruction) -> None:
    value, spec = m.pop_many(2)
    m.push(m.call(primitives.format_value, (value, Const(None), spec)))
