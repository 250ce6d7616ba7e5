"""Nested functions and classes, and instructions that end or suspend a function."""

from __future__ import annotations

from types import CodeType

from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import opcode
from adjoint.ir import primitives
from adjoint.ir.nodes import Call, Const, Operand, Raise, Return, Yield

_DEFAULTS, _KEYWORD_DEFAULTS, _ANNOTATIONS, _CLOSURE = 1, 2, 4, 8


@opcode.register("MAKE_FUNCTION")
def _make_function(m: Machine, step: Instruction) -> None:
    """Lower the creation of a function. From 3.13 on the flags are 0, and `SET_FUNCTION_ATTRIBUTE`
    sets the parts."""
    code = m.pop()
    if not (isinstance(code, Const) and isinstance(code.value, CodeType)):
        m.refuse()
    parts = [
        (flag, m.pop())
        for flag in (_CLOSURE, _ANNOTATIONS, _KEYWORD_DEFAULTS, _DEFAULTS)
        if step.arg & flag
    ]
    none = Const(None)
    m.push(m.call(primitives.make_function, (code, m.globals(), none, none, none)))
    for flag, value in parts:
        _set_part(m, flag, value)


@opcode.register("SET_FUNCTION_ATTRIBUTE")
def _set_attribute(m: Machine, step: Instruction) -> None:
    function = m.pop()
    value = m.pop()
    m.push(function)
    _set_part(m, step.arg, value)


def _set_part(m: Machine, flag: int, value: Operand) -> None:
    """Add a part to the call that made the function on top of the stack."""
    made, function = m.items[-1], m.top()
    if not (isinstance(made, Call) and made.target == function):
        m.refuse()
    code, namespace, defaults, named, annotations, *cells = made.operands
    if flag == _DEFAULTS:
        defaults = value
    elif flag == _KEYWORD_DEFAULTS:
        named = value
    elif flag == _ANNOTATIONS:
        items = _taken_apart(m, value)
        annotations = m.call(primitives.build_dict, items)
    elif flag == _CLOSURE:
        cells = [*_taken_apart(m, value)]
    m.take_back(made)
    operands = (code, namespace, defaults, named, annotations, *cells)
    m.items.append(Call(made.target, made.callee, operands, (), made.span))


def _taken_apart(m: Machine, value: Operand) -> tuple[Operand, ...]:
    """Return the items of a tuple, and remove the call that built it for this use only."""
    if isinstance(value, Const) and isinstance(value.value, tuple):
        return tuple(map(Const, value.value))
    if not m.is_made_by(value, (primitives.build_tuple,)):
        m.refuse()
    built = next(item for item in m.items if isinstance(item, Call) and item.target == value)
    m.take_back(built)
    return built.operands


@opcode.register("LOAD_BUILD_CLASS")
def _build_class(m: Machine, step: Instruction) -> None:
    m.push(Const(primitives.build_class))


# ---- instructions that end or suspend a function -------------------------------------------------


@opcode.register("RETURN_VALUE")
def _return(m: Machine, step: Instruction) -> None:
    m.items.append(Return(m.pop(), step.span))


@opcode.register("RETURN_CONST")
def _return_constant(m: Machine, step: Instruction) -> None:
    m.items.append(Return(Const(step.value), step.span))


@opcode.register("RAISE_VARARGS")
def _raise(m: Machine, step: Instruction) -> None:
    given = m.pop_many(step.arg)
    exceptions = [
        part if isinstance(part, Const) else m.call(primitives.exception_of, (part,))
        for part in given
    ]
    exception, cause, *_ = [*exceptions, None, None]
    m.items.append(Raise(exception, cause, step.span))


@opcode.register("RETURN_GENERATOR")
def _generator(m: Machine, step: Instruction) -> None:
    m.push(Const(None))


@opcode.register("YIELD_VALUE")
def _yield(m: Machine, step: Instruction) -> None:
    value, target = m.pop(), m.temporary()
    m.emit(Yield(target, value, span=step.span))
    m.push(target)
