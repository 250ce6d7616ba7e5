"""Builtins that inspect the frame of their caller.

Lowered code runs in other frames, so the information is passed explicitly: the class and the first
parameter for ``super()``, the globals, the local variables.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from adjoint.frontend.builder import Builder
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, If, Operand, Raise, Try, Var


def call_on_frame(b: Builder, node: ast.Call, into: Var | None) -> Operand | None:
    """Lower a call of such a builtin; return ``None`` and emit nothing for any other call."""
    if not isinstance(node.func, ast.Name) or node.keywords or node.func.id not in _LOWER:
        return None
    if any(isinstance(arg, ast.Starred) for arg in node.args) or not _is_builtin(b, node.func.id):
        return None
    return _LOWER[node.func.id](b, node, into)


def _is_builtin(b: Builder, name: str) -> bool:
    """Return whether the name means the builtin function, with the present globals."""
    own = (b.hidden, b.locals, b.cells, b.scope.local, b.scope.global_names)
    if any(name in names for names in own):
        return False
    builtin = vars(builtins)[name]
    return b.function.__globals__.get(name, builtin) is builtin


def _super(b: Builder, node: ast.Call, into: Var | None) -> Operand | None:
    code = b.function.__code__
    if node.args or "__class__" not in b.cells or not code.co_argcount:
        return None
    callee = b.expression(node.func)
    cls = b.call(primitives.load_cell, (b.cells["__class__"], Const("__class__")), node)
    return b.call(callee, (cls, b.read(code.co_varnames[0], node)), node, into)


def _locals(b: Builder, node: ast.Call, into: Var | None) -> Operand | None:
    return None if node.args else _local_variables(b, node)


def _evaluate(b: Builder, node: ast.Call, into: Var | None) -> Operand | None:
    """Lower ``eval(text)`` and ``exec(text)``."""
    if len(node.args) != 1:
        return None
    callee = b.expression(node.func)
    text = b.copy_if_rebound(b.expression(node.args[0]), node.args[0], -1)
    operands = (text, b.namespace(node), _local_variables(b, node))
    return b.call(callee, operands, node, into)


_LOWER: dict[str, Callable[[Builder, ast.Call, Var | None], Operand | None]] = {
    "super": _super,
    "globals": lambda b, node, into: (
        None if node.args else b.call(primitives.current_globals, (), node, into)
    ),
    "locals": _locals,
    "vars": _locals,
    "dir": lambda b, node, into: (
        None if node.args else b.call(sorted, (_local_variables(b, node),), node, into)
    ),
    "eval": _evaluate,
    "exec": _evaluate,
}


def _local_variables(b: Builder, node: ast.AST) -> Var:
    """Lower a dict of the variables that are bound at this point."""
    result = b.call(primitives.build_dict, (), node)
    for name in sorted({*b.locals, *b.cells} - {"__class__"}):
        _insert_if_bound(b, result, name, node)
    return result


def _insert_if_bound(b: Builder, result: Var, name: str, node: ast.AST) -> None:
    caught = b.temporary()

    def insert() -> None:
        value: Operand | None = b.locals.get(name)
        if value is None:
            value = b.load_cell(name, node)
        b.call(primitives.dict_insert, (result, Const(name), value), node, drop=True)

    def skip() -> None:
        unbound = b.call(primitives.exception_match, (caught, Const(NameError)), node)
        b.ops.append(If(unbound, (), (Raise(None, None, b.span(node)),), b.span(node)))

    b.ops.append(Try(b.region(insert), caught, b.region(skip), (), (), b.span(node)))
