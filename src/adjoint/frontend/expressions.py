"""Expressions: operators, attributes, subscripts, displays, calls, strings."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.frontend.builder import NONE, Builder, constant, expression
from adjoint.ir import primitives
from adjoint.ir.nodes import Call, Const, Operand, Var, Yield

__all__ = ["BINARY", "IN_PLACE", "apply", "condition", "tuple_of"]

BINARY: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
IN_PLACE: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}
_UNARY: dict[type[ast.unaryop], Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_GIVES_BOOL = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


# ---- names and constants -------------------------------------------------------------------------


@expression.register(ast.Constant)
def _constant(b: Builder, node: ast.Constant, into: Var | None) -> Operand:
    return Const(node.value)


@expression.register(ast.Name)
def _name(b: Builder, node: ast.Name, into: Var | None) -> Operand:
    return b.read(node.id, node, into)


@expression.register(ast.NamedExpr)
def _named(b: Builder, node: ast.NamedExpr, into: Var | None) -> Operand:
    var = b.is_local(node.target.id)
    if var is not None:
        b.value_into(node.value, var)
        return var
    value = b.expression(node.value)
    b.write(node.target.id, value, node)
    return value


# ---- operators -----------------------------------------------------------------------------------


@expression.register(ast.BinOp)
def _binary(b: Builder, node: ast.BinOp, into: Var | None) -> Operand:
    # A sum of a thousand terms is a tree a thousand deep.
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    left: ast.expr = spine[-1].left
    result = b.expression(left)
    for part in reversed(spine):
        result = b.keep(result, left, b.scope.flags.get(part.right, 0))
        right = b.expression(part.right)
        result = b.call(
            BINARY[type(part.op)], (result, right), part, into if part is node else None
        )
        left = part
    return result


@expression.register(ast.UnaryOp)
def _unary(b: Builder, node: ast.UnaryOp, into: Var | None) -> Operand:
    if isinstance(node.op, ast.Not):
        return b.call(operator.not_, (b.expression(node.operand),), node, into)
    operand = b.expression(node.operand)
    if (
        isinstance(operand, Const)
        and type(operand.value) in (int, float, complex)
        and isinstance(node.op, ast.USub)
    ):
        return Const(-operand.value)  # type: ignore[operator]
    return b.call(_UNARY[type(node.op)], (operand,), node, into)


@expression.register(ast.BoolOp)
def _boolean(b: Builder, node: ast.BoolOp, into: Var | None) -> Operand:
    return _chain(b, node, 0, into)


def _chain(b: Builder, node: ast.BoolOp, index: int, into: Var | None) -> Operand:
    value = node.values[index]
    if index == len(node.values) - 1:
        return b.expression(value, into)
    first = b.expression(value)
    first = b.keep(first, value, b.hazard(node.values[index + 1 :]))
    test = first if _is_bool(value) else b.call(operator.truth, (first,), value)

    def rest() -> Operand:
        return _chain(b, node, index + 1, target)

    target = b.temporary() if into is None else into
    if isinstance(node.op, ast.And):
        return b.branch(test, rest, lambda: first, node, target)
    return b.branch(test, lambda: first, rest, node, target)


@expression.register(ast.IfExp)
def _conditional(b: Builder, node: ast.IfExp, into: Var | None) -> Operand:
    test = condition(b, node.test)
    if isinstance(test, Const):
        return b.expression(node.body if test.value else node.orelse, into)
    target = b.temporary() if into is None else into
    return b.branch(
        test,
        lambda: b.expression(node.body, target),
        lambda: b.expression(node.orelse, target),
        node,
        target,
    )


@expression.register(ast.Compare)
def _compare(b: Builder, node: ast.Compare, into: Var | None) -> Operand:
    left, right = b.operands([node.left, node.comparators[0]])
    return _links(b, node, 0, left, right, into)


def _links(
    b: Builder, node: ast.Compare, index: int, left: Operand, right: Operand, into: Var | None
) -> Operand:
    """Comparison number `index` of a chain and those behind it; each operand is evaluated once."""
    if index == len(node.ops) - 1:
        return _link(b, node, index, left, right, into)
    right = b.keep(right, node.comparators[index], b.hazard(node.comparators[index + 1 :]))
    first = _link(b, node, index, left, right, None)
    test = (
        first
        if isinstance(node.ops[index], _GIVES_BOOL)
        else b.call(operator.truth, (first,), node)
    )
    target = b.temporary() if into is None else into

    def rest() -> Operand:
        following = b.expression(node.comparators[index + 1])
        return _links(b, node, index + 1, right, following, target)

    return b.branch(test, rest, lambda: first, node, target)


def _link(
    b: Builder, node: ast.Compare, index: int, left: Operand, right: Operand, into: Var | None
) -> Operand:
    match node.ops[index]:
        case ast.In():
            return b.call(operator.contains, (right, left), node, into)
        case ast.NotIn():
            return b.call(
                operator.not_, (b.call(operator.contains, (right, left), node),), node, into
            )
        case op:
            return b.call(_COMPARE[type(op)], (left, right), node, into)


# ---- truth ---------------------------------------------------------------------------------------


def condition(b: Builder, node: ast.expr) -> Operand:
    """Lower an expression of which only the truth is wanted: a bool, asked for once."""
    match node:
        case ast.Constant(value=value):
            return Const(bool(value))
        case ast.UnaryOp(op=ast.Not(), operand=inner) if _is_compound(inner):
            operand = condition(b, inner)
            return (
                Const(not operand.value)
                if isinstance(operand, Const)
                else b.call(operator.not_, (operand,), node)
            )
        case ast.BoolOp():
            return _truth_chain(b, node, 0)
        case ast.Compare() if len(node.ops) > 1:
            left, right = b.operands([node.left, node.comparators[0]])
            return _truth_links(b, node, 0, left, right)
        case ast.IfExp():
            test = condition(b, node.test)
            if isinstance(test, Const):
                return condition(b, node.body if test.value else node.orelse)
            return b.branch(
                test, lambda: condition(b, node.body), lambda: condition(b, node.orelse), node
            )
    operand = b.expression(node)
    if isinstance(operand, Const):
        return Const(bool(operand.value))
    return operand if _is_bool(node) else b.call(operator.truth, (operand,), node)


def _truth_chain(b: Builder, node: ast.BoolOp, index: int) -> Operand:
    first = condition(b, node.values[index])
    if index == len(node.values) - 1:
        return first
    conjunction = isinstance(node.op, ast.And)
    if isinstance(first, Const):
        return _truth_chain(b, node, index + 1) if first.value is conjunction else first
    decided = Const(not conjunction)
    rest: Callable[[], Operand] = lambda: _truth_chain(b, node, index + 1)
    if conjunction:
        return b.branch(first, rest, lambda: decided, node)
    return b.branch(first, lambda: decided, rest, node)


def _truth_links(
    b: Builder, node: ast.Compare, index: int, left: Operand, right: Operand
) -> Operand:
    last = index == len(node.ops) - 1
    if not last:
        right = b.keep(right, node.comparators[index], b.hazard(node.comparators[index + 1 :]))
    first = _link(b, node, index, left, right, None)
    if not isinstance(node.ops[index], _GIVES_BOOL):
        first = b.call(operator.truth, (first,), node)
    if last:
        return first

    def rest() -> Operand:
        return _truth_links(b, node, index + 1, right, b.expression(node.comparators[index + 1]))

    return b.branch(first, rest, lambda: Const(False), node)


def _is_bool(node: ast.expr) -> bool:
    """Whether the value is a bool, whatever the operands are."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=ops):
            return all(isinstance(op, _GIVES_BOOL) for op in ops)
        case ast.Constant(value=value):
            return isinstance(value, bool)
        case _:
            return False


def _is_compound(node: ast.expr) -> bool:
    """Whether Python asks for the truth of the parts, rather than of the whole, when only the truth
    is wanted."""
    match node:
        case ast.BoolOp() | ast.IfExp() | ast.Constant() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=ops):
            return len(ops) > 1
        case _:
            return False


# ---- attributes and subscripts -------------------------------------------------------------------


@expression.register(ast.Attribute)
def _attribute(b: Builder, node: ast.Attribute, into: Var | None) -> Operand:
    return b.call(getattr, (b.expression(node.value), Const(b.mangle(node.attr))), node, into)


@expression.register(ast.Subscript)
def _subscript(b: Builder, node: ast.Subscript, into: Var | None) -> Operand:
    return b.call(operator.getitem, b.operands([node.value, node.slice]), node, into)


@expression.register(ast.Slice)
def _slice(b: Builder, node: ast.Slice, into: Var | None) -> Operand:
    none = ast.Constant(None)
    parts = b.operands([node.lower or none, node.upper or none, node.step or none])
    return b.call(primitives.build_slice, parts, node, into)


# ---- displays ------------------------------------------------------------------------------------


@expression.register(ast.Tuple)
def _tuple(b: Builder, node: ast.Tuple, into: Var | None) -> Operand:
    return tuple_of(b, node.elts, node, into)


def tuple_of(
    b: Builder, items: Sequence[ast.expr], node: ast.AST, into: Var | None = None
) -> Operand:
    """``(*items,)``"""
    if any(isinstance(item, ast.Starred) for item in items):
        return b.call(primitives.list_to_tuple, (_list_with_stars(b, items, node),), node, into)
    operands = b.operands(items)
    if all(isinstance(operand, Const) for operand in operands):
        return Const(tuple(operand.value for operand in operands))  # type: ignore[union-attr]
    return b.call(primitives.build_tuple, operands, node, into)


@expression.register(ast.List)
def _list(b: Builder, node: ast.List, into: Var | None) -> Operand:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return _list_with_stars(b, node.elts, node)
    return b.call(primitives.build_list, b.operands(node.elts), node, into)


def _list_with_stars(b: Builder, items: Sequence[ast.expr], node: ast.AST) -> Var:
    first = next(index for index, item in enumerate(items) if isinstance(item, ast.Starred))
    result = b.call(primitives.build_list, b.operands(items[:first]), node)
    for item in items[first:]:
        if isinstance(item, ast.Starred):
            b.call(primitives.list_extend, (result, b.expression(item.value)), item, drop=True)
        else:
            b.call(primitives.list_append, (result, b.expression(item)), item, drop=True)
    return result


@expression.register(ast.Set)
def _set(b: Builder, node: ast.Set, into: Var | None) -> Operand:
    first = next(
        (i for i, item in enumerate(node.elts) if isinstance(item, ast.Starred)), len(node.elts)
    )
    if first == len(node.elts):
        return b.call(primitives.build_set, b.operands(node.elts), node, into)
    result = b.call(primitives.build_set, b.operands(node.elts[:first]), node)
    for item in node.elts[first:]:
        if isinstance(item, ast.Starred):
            b.call(primitives.set_update, (result, b.expression(item.value)), item, drop=True)
        else:
            b.call(primitives.set_add, (result, b.expression(item)), item, drop=True)
    return result


@expression.register(ast.Dict)
def _dict(b: Builder, node: ast.Dict, into: Var | None) -> Operand:
    first = next((i for i, key in enumerate(node.keys) if key is None), len(node.keys))
    pairs: list[Any] = [
        part for pair in zip(node.keys[:first], node.values[:first], strict=True) for part in pair
    ]
    if first == len(node.keys):
        return b.call(primitives.build_dict, b.operands(pairs), node, into)
    result = b.call(primitives.build_dict, b.operands(pairs), node)
    for key, value in zip(node.keys[first:], node.values[first:], strict=True):
        if key is None:
            b.call(primitives.dict_update, (result, b.expression(value)), value, drop=True)
        else:
            b.call(primitives.dict_insert, (result, *b.operands([key, value])), value, drop=True)
    return result


# ---- calls ---------------------------------------------------------------------------------------


@expression.register(ast.Call)
def _call(b: Builder, node: ast.Call, into: Var | None) -> Operand:
    if _is_bare_super(b, node):
        return _super(b, node, into)
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


def _call_with_stars(
    b: Builder,
    func: ast.expr,
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    node: ast.AST,
    into: Var | None,
) -> Operand:
    callee = b.expression(func)
    callee = b.keep(callee, func, b.hazard([*args, *(keyword.value for keyword in keywords)]))
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
    """``callee(*leading, *args, **keywords)`` where some of them have stars."""
    positional = b.call(primitives.build_list, tuple(leading), node) if leading else None
    if positional is None:
        first = next((i for i, arg in enumerate(args) if isinstance(arg, ast.Starred)), len(args))
        positional = b.call(primitives.build_list, b.operands(args[:first]), node)
        args = args[first:]
    for arg in args:
        if isinstance(arg, ast.Starred):
            b.call(primitives.list_extend, (positional, b.expression(arg.value)), arg, drop=True)
        else:
            b.call(primitives.list_append, (positional, b.expression(arg)), arg, drop=True)
    positional = b.call(primitives.list_to_tuple, (positional,), node)
    named = b.call(primitives.build_dict, (), node)
    for keyword in keywords:
        value = b.expression(keyword.value)
        if keyword.arg is None:
            b.call(primitives.dict_merge, (named, value), keyword, drop=True)
        else:
            pair = b.call(primitives.build_dict, (Const(keyword.arg), value), keyword)
            b.call(primitives.dict_merge, (named, pair), keyword, drop=True)
    return b.call(primitives.apply, (callee, positional, named), node, into)


def _is_bare_super(b: Builder, node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.args
        and not node.keywords
        and "__class__" in b.cells
        and b.function.__code__.co_argcount > 0
        and not b.hidden
    )


def _super(b: Builder, node: ast.Call, into: Var | None) -> Operand:
    """``super()`` reads the frame of its caller, so it is written out: the class, and the first
    parameter."""
    callee = b.expression(node.func)
    cls = b.call(primitives.load_cell, (b.cells["__class__"], Const("__class__")), node)
    first = b.read(b.function.__code__.co_varnames[0], node)
    return b.call(callee, (cls, first), node, into)


# ---- strings and generators ----------------------------------------------------------------------


@expression.register(ast.JoinedStr)
def _joined(b: Builder, node: ast.JoinedStr, into: Var | None) -> Operand:
    if not node.values:
        return Const("")
    if len(node.values) == 1:
        return b.expression(node.values[0], into)
    parts = [b.expression(value) for value in node.values]
    return b.call(primitives.build_string, parts, node, into)


@expression.register(ast.FormattedValue)
def _formatted(b: Builder, node: ast.FormattedValue, into: Var | None) -> Operand:
    conversion = NONE if node.conversion == -1 else Const(chr(node.conversion))
    value, spec = b.operands([node.value, node.format_spec or ast.Constant("")])
    return b.call(primitives.format_value, (value, conversion, spec), node, into)


@expression.register(ast.Yield)
def _yield(b: Builder, node: ast.Yield, into: Var | None) -> Operand:
    value = NONE if node.value is None else b.expression(node.value)
    target = b.temporary() if into is None else into
    b.ops.append(Yield(target, value, b.span(node)))
    return target


@expression.register(ast.Await)
def _await(b: Builder, node: ast.Await, into: Var | None) -> Operand:
    b.refuse("await", node, "compute what it awaits before the differentiated function")
