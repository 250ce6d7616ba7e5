"""Calls of every form.

The order of the callee and its bound object on the stack depends on the version.
"""

from __future__ import annotations

from adjoint.frontend.bytecode.frames import call_on_frame
from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import opcode
from adjoint.frontend.bytecode.stack_entries import NULL, Entry, Method
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, Operand


@opcode.register("KW_NAMES")
def _keyword_names(m: Machine, step: Instruction) -> None:
    m.keyword_names = m.code.co_consts[step.arg]


@opcode.register("CALL")
def _call(m: Machine, step: Instruction) -> None:
    names, m.keyword_names = m.keyword_names, ()
    _call_with(m, m.pop_many(step.arg), names)


@opcode.register("CALL_KW")
def _call_keywords(m: Machine, step: Instruction) -> None:
    names = m.pop()
    assert isinstance(names, Const) and isinstance(names.value, tuple)
    _call_with(m, m.pop_many(step.arg), names.value)


def _call_with(m: Machine, args: tuple[Operand, ...], names: tuple[str, ...]) -> None:
    positional = args[: len(args) - len(names)]
    keywords = tuple(zip(names, args[len(positional) :], strict=True))
    callee, first = _callee(m)
    if isinstance(callee, Method):
        leading = callee.owner, Const(callee.name)
        m.push(m.call(primitives.call_method, (*leading, *positional), keywords))
        return
    function = m.operand(callee)
    if first is not NULL:
        positional = (m.operand(first), *positional)
    special = None if keywords else call_on_frame(m, function, positional)
    m.push(m.call(function, positional, keywords) if special is None else special)


def _callee(m: Machine) -> tuple[Entry, Entry]:
    """Pop the callee and its bound object (or `NULL`)."""
    second, first = m.pop_entry(), m.pop_entry()
    return (second, NULL) if first is NULL else (first, second)


@opcode.register("CALL_FUNCTION_EX")
def _call_with_stars(m: Machine, step: Instruction) -> None:
    named = m.pop() if step.arg & 1 else None
    args = m.pop()
    function = m.operand(_callee(m)[0])
    if isinstance(args, Const) or not m.is_made_by(args, _NEW_TUPLES):
        items = m.call(primitives.build_list, ())
        m.do(primitives.list_extend, items, args, function)
        args = m.call(primitives.list_to_tuple, (items,))
    if named is None:
        named = m.call(primitives.build_dict, ())
    m.push(m.call(primitives.apply, (function, args, named)))


_NEW_TUPLES = (primitives.build_tuple, primitives.list_to_tuple)
"""Functions whose results a call may use without a copy."""
