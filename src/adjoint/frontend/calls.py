"""Calls of functions and methods, with and without stars."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from adjoint.frontend.builder import Builder, constant, expression
from adjoint.frontend.frames import call_on_frame
from adjoint.ir import primitives
from adjoint.ir.nodes import Call, Const, Operand, Var


@expression.register(ast.Call)
def _call(b: Builder, node: ast.Call, into: Var | None) -> Operand:
    special = call_on_frame(b, node, into)
    if special is not None:
        return special
    has_stars = any(isinstance(arg, ast.Starred) for arg in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    )
    if has_stars:
        return _call_with_stars(b, node.func, node.args, node.keywords, node, into)
    names = [str(keyword.arg) for keyword in node.keywords]
    values = [keyword.value for keyword in node.keywords]
    if isinstance(node.func, ast.Attribute):
        obj, *operands = b.operands([node.func.value, *node.args, *values])
        callee: Operand = constant(primitives.call_method)
        first: tuple[Operand, ...] = (obj, Const(b.mangle(node.func.attr)))
    else:
        callee, *operands = b.operands([node.func, *node.args, *values])
        first = ()
    positional = (*first, *operands[: len(node.args)])
    keywords = tuple(zip(names, operands[len(node.args) :], strict=True))
    target = b.temporary() if into is None else into
    b.ops.append(Call(target, callee, positional, keywords, b.span(node)))
    return target


_BUILDS_CLASSES = Const(builtins.__build_class__)


def _call_with_stars(
    b: Builder,
    func: ast.expr,
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    node: ast.AST,
    into: Var | None,
) -> Operand:
    callee = b.expression(func)
    callee = b.copy_if_rebound(
        callee, func, b.hazard([*args, *(keyword.value for keyword in keywords)])
    )
    return apply(b, callee, args, keywords, node, into)


def apply(
    b: Builder,
    callee: Operand,
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    node: ast.AST,
    into: Var | None = None,
    leading: Sequence[Operand] = (),
) -> Operand:
    """Lower ``callee(*leading, *args, **keywords)``, where arguments may have stars."""
    named_in_errors = _BUILDS_CLASSES if callee == Const(primitives.build_class) else callee
    alone = (callee,) if len(args) == 1 and not leading else ()
    positional = b.call(primitives.build_list, tuple(leading), node) if leading else None
    if positional is None:
        first = next((i for i, arg in enumerate(args) if isinstance(arg, ast.Starred)), len(args))
        positional = b.call(primitives.build_list, b.operands(args[:first]), node)
        args = args[first:]
    for arg in args:
        if isinstance(arg, ast.Starred):
            operands = (positional, b.expression(arg.value), *alone)
            b.call(primitives.list_extend, operands, arg, drop=True)
        else:
            b.call(primitives.list_append, (positional, b.expression(arg)), arg, drop=True)
    positional = b.call(primitives.list_to_tuple, (positional,), node)
    named = b.call(primitives.build_dict, (), node)
    for keyword in keywords:
        value = b.expression(keyword.value)
        if keyword.arg is None:
            b.call(primitives.dict_merge, (named, value, named_in_errors), keyword, drop=True)
        else:
            pair = b.call(primitives.build_dict, (Const(keyword.arg), value), keyword)
            b.call(primitives.dict_merge, (named, pair, named_in_errors), keyword, drop=True)
    return b.call(primitives.apply, (callee, positional, named), node, into)
