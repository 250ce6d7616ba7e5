"""Builtins that inspect the frame of their caller, lowered as for source."""

from __future__ import annotations

import builtins

from adjoint.frontend.bytecode.machine import Machine
from adjoint.ir import primitives
from adjoint.ir.nodes import Call, Const, Global, If, Op, Operand, Raise, Try, Var


def call_on_frame(m: Machine, function: Operand, args: tuple[Operand, ...]) -> Var | None:
    """Lower a call of such a builtin and return its result; return ``None`` for any other call.
    Lowered code runs in other frames, so the information is passed explicitly."""
    name = _name_of(m, function)
    if name not in _LOOK or len(args) > _LOOK[name]:
        return None
    builtin = getattr(builtins, name)
    if m.function.__globals__.get(name, builtin) is not builtin:
        return None
    match name:
        case "globals":
            return m.globals()
        case "super":
            return _super(m, function)
        case "locals" | "vars":
            return _local_variables(m)
        case "dir":
            return m.call(sorted, (_local_variables(m),))
        case "exec" if m.namespace is not None:
            m.refuse("exec in a class body")
    return m.call(function, (*args, m.globals(), _local_variables(m))) if args else None


_LOOK = {"dir": 0, "eval": 1, "exec": 1, "globals": 0, "locals": 0, "super": 0, "vars": 0}
"""The largest number of arguments with which each builtin inspects its caller."""


def _name_of(m: Machine, function: Operand) -> str:
    """Return the global name that a function was read from, or an empty string."""
    if isinstance(function, Global):
        return function.name
    if m.is_made_by(function, (primitives.load_class_name, primitives.load_global)):
        name = m.made[function.name].operands[1]  # type: ignore[union-attr]
        return str(name.value) if isinstance(name, Const) else ""
    return ""


def _super(m: Machine, function: Operand) -> Var:
    """Lower ``super()``, in versions in which it is a call."""
    free = m.code.co_freevars
    if "__class__" not in free or not m.code.co_argcount:
        m.refuse("super")
    cell = m.free[free.index("__class__")]
    cls = m.call(primitives.load_cell, (cell, Const("__class__")))
    if 0 not in m.frame.cells:
        return m.call(function, (cls, m.frame.plain[0]))
    owner = m.call(primitives.load_cell, (m.frame.cells[0], Const(m.code.co_varnames[0])))
    return m.call(function, (cls, owner))


def _local_variables(m: Machine) -> Var:
    """Lower a dict of the variables that are bound at this point."""
    if m.namespace is not None:
        return m.namespace
    result = m.call(primitives.build_dict, ())
    more = [name for name in m.code.co_cellvars if name not in m.code.co_varnames]
    names = [*m.code.co_varnames, *more, *m.code.co_freevars]
    for name, slot in sorted((name, slot) for slot, name in enumerate(names)):
        if name not in (".0", "__class__"):
            _insert_if_bound(m, result, name, slot)
    return result


def _insert_if_bound(m: Machine, result: Var, name: str, slot: int) -> None:
    span, body = m.span, list[Op]()
    cell = m.frame.cells.get(slot)
    value = m.frame.plain.get(slot)
    if cell is not None:
        value = m.temporary()
        load = Const(primitives.load_cell)
        body.append(Call(value, load, (cell, Const(name)), (), span))
    if value is None:
        return
    insert = Const(primitives.dict_insert)
    body.append(Call(None, insert, (result, Const(name), value), (), span))
    caught, unbound = m.temporary(), m.temporary()
    match = Const(primitives.exception_match)
    skip = (
        Call(unbound, match, (caught, Const(NameError)), (), span),
        If(unbound, (), (Raise(None, None, span),), span),
    )
    m.items.append(Try(tuple(body), caught, skip, (), (), span))
