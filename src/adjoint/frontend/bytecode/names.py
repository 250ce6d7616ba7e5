"""Instructions that read and write names or rearrange the stack."""

from __future__ import annotations

import operator
import sys

from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import opcode
from adjoint.frontend.bytecode.stack_entries import NULL, OuterVariable, Unchecked
from adjoint.ir import primitives
from adjoint.ir.nodes import Call, Const, Delete, Global, If, Operand, Var

# ---- the stack -----------------------------------------------------------------------------------


@opcode.register("LOAD_CONST")
def _constant(m: Machine, step: Instruction) -> None:
    m.push(Const(step.value))


@opcode.register("LOAD_ASSERTION_ERROR")
def _assertion_error(m: Machine, step: Instruction) -> None:
    m.push(Const(AssertionError))


@opcode.register("PUSH_NULL")
def _null(m: Machine, step: Instruction) -> None:
    m.push(NULL)


@opcode.register("POP_TOP")
def _pop(m: Machine, step: Instruction) -> None:
    m.drop()


@opcode.register("COPY")
def _copy(m: Machine, step: Instruction) -> None:
    m.push(m.top(step.arg))


@opcode.register("SWAP")
def _swap(m: Machine, step: Instruction) -> None:
    stack = m.frame.stack
    stack[-1], stack[-step.arg] = stack[-step.arg], stack[-1]


@opcode.register("END_FOR")
def _end_for(m: Machine, step: Instruction) -> None:
    m.pop_entry()
    if sys.version_info < (3, 13):
        m.pop_entry()


# ---- local variables -----------------------------------------------------------------------------


@opcode.register("LOAD_FAST", "LOAD_CLOSURE")
def _load(m: Machine, step: Instruction) -> None:
    frame, slot = m.frame, step.arg
    m.push(frame.cells[slot] if slot in frame.cells else frame.plain[slot])


@opcode.register("LOAD_FAST_CHECK")
def _load_checked(m: Machine, step: Instruction) -> None:
    m.push(Unchecked(m.frame.plain[step.arg]))


@opcode.register("STORE_FAST")
def _store(m: Machine, step: Instruction) -> None:
    m.store(step.arg)


@opcode.register("DELETE_FAST")
def _delete(m: Machine, step: Instruction) -> None:
    var = m.frame.plain[step.arg]
    m.release(var)
    m.items.append(Delete(var, step.span))


@opcode.register("LOAD_FAST_AND_CLEAR")
def _begin_comprehension(m: Machine, step: Instruction) -> None:
    """Enter a comprehension, whose variable may share its name with another one outside."""
    name, slot, frame = step.value, step.arg, m.frame
    own, around = Var(name), frame.plain.get(slot)
    is_inner = any(isinstance(entry, OuterVariable) and entry.var == own for entry in frame.stack)
    m.push(OuterVariable(around, frame.cells.pop(slot, None)))
    is_own = name in m.own and around == own and not is_inner
    frame.plain[slot] = own if is_own else m.variable(name)


# ---- cells ---------------------------------------------------------------------------------------


@opcode.register("MAKE_CELL")
def _make_cell(m: Machine, step: Instruction) -> None:
    """Move a variable to a new cell, with its present value."""
    cell = m.variable(f"{step.value}_cell")
    m.call(primitives.new_cell, (), into=cell)
    var = m.frame.plain.pop(step.arg, None)
    if var is not None and var in m.parameters:
        m.do(primitives.store_cell, cell, var)
    m.frame.cells[step.arg] = cell


@opcode.register("LOAD_DEREF")
def _load_cell(m: Machine, step: Instruction) -> None:
    cell = m.frame.cells[step.arg]
    load = primitives.load_cell if cell in m.free else primitives.load_own_cell
    m.push(m.call(load, (cell, Const(step.value))))


@opcode.register("STORE_DEREF")
def _store_cell(m: Machine, step: Instruction) -> None:
    m.do(primitives.store_cell, m.frame.cells[step.arg], m.pop())


@opcode.register("DELETE_DEREF")
def _delete_cell(m: Machine, step: Instruction) -> None:
    cell = m.frame.cells[step.arg]
    delete = primitives.delete_cell if cell in m.free else primitives.delete_own_cell
    m.do(delete, cell, Const(step.value))


# ---- globals -------------------------------------------------------------------------------------


@opcode.register("LOAD_GLOBAL")
def _load_global(m: Machine, step: Instruction) -> None:
    value = _global(m, step.value)
    if not step.arg & 1:
        m.push(value)
    elif sys.version_info >= (3, 13):
        m.push(value, NULL)
    else:
        m.push(NULL, value)


def _global(m: Machine, name: str) -> Operand:
    if name in m.written:
        return m.call(primitives.load_global, (m.globals(), Const(name)))
    return Global(name)


@opcode.register("STORE_GLOBAL")
def _store_global(m: Machine, step: Instruction) -> None:
    value = m.pop()
    m.do(primitives.store_global, m.globals(), Const(step.value), value)


@opcode.register("DELETE_GLOBAL")
def _delete_global(m: Machine, step: Instruction) -> None:
    m.do(primitives.delete_global, m.globals(), Const(step.value))


# ---- names in class bodies -----------------------------------------------------------------------


def _namespace(m: Machine) -> Var:
    return m.refuse() if m.namespace is None else m.namespace


@opcode.register("LOAD_NAME")
def _load_name(m: Machine, step: Instruction) -> None:
    operands = (_namespace(m), Const(step.value), m.globals())
    m.push(m.call(primitives.load_class_name, operands))


@opcode.register("LOAD_CLASSDEREF")
def _load_class_cell(m: Machine, step: Instruction) -> None:
    operands = (_namespace(m), Const(step.value), m.frame.cells[step.arg])
    m.push(m.call(primitives.load_class_name, operands))


@opcode.register("LOAD_LOCALS")
def _load_namespace(m: Machine, step: Instruction) -> None:
    m.push(_namespace(m))


@opcode.register("LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS")
def _load_from(m: Machine, step: Instruction) -> None:
    namespace = m.pop()
    is_cell = step.name == "LOAD_FROM_DICT_OR_DEREF"
    outside = m.frame.cells[step.arg] if is_cell else m.globals()
    m.push(m.call(primitives.load_class_name, (namespace, Const(step.value), outside)))


@opcode.register("STORE_NAME")
def _store_name(m: Machine, step: Instruction) -> None:
    m.do(operator.setitem, _namespace(m), Const(step.value), m.pop())


@opcode.register("DELETE_NAME")
def _delete_name(m: Machine, step: Instruction) -> None:
    m.do(primitives.delete_class_name, _namespace(m), Const(step.value))


@opcode.register("SETUP_ANNOTATIONS")
def _set_up_annotations(m: Machine, step: Instruction) -> None:
    namespace, name = _namespace(m), Const("__annotations__")
    there = m.call(operator.contains, (namespace, name))
    empty = m.temporary()
    make = Call(empty, Const(primitives.build_dict), (), (), step.span)
    keep = Call(None, Const(operator.setitem), (namespace, name, empty), (), step.span)
    m.items.append(If(there, (), (make, keep), step.span))


# ---- imports -------------------------------------------------------------------------------------


@opcode.register("IMPORT_NAME")
def _import(m: Machine, step: Instruction) -> None:
    level, names = m.pop_many(2)
    operands = (m.globals(), Const(step.value), names, level)
    m.push(m.call(primitives.import_module, operands))


@opcode.register("IMPORT_FROM")
def _import_from(m: Machine, step: Instruction) -> None:
    m.push(m.call(primitives.import_from, (m.top(), Const(step.value))))
