"""Expressions: names, operators, truth, attributes, subscripts, strings."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from adjoint.frontend.builder import NONE, Builder, expression
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, Operand, Var, Yield

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
    kind: getattr(operator, f"i{plain.__name__.rstrip('_')}") for kind, plain in BINARY.items()
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
    # iterative: a sum of a thousand terms is a tree of depth a thousand
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    left: ast.expr = spine[-1].left
    result = b.expression(left)
    for part in reversed(spine):
        result = b.copy_if_rebound(result, left, b.scope.flags.get(part.right, 0))
        right = b.expression(part.right)
        target = into if part is node else None
        result = b.call(BINARY[type(part.op)], (result, right), part, target)
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
    first = b.copy_if_rebound(first, value, b.hazard(node.values[index + 1 :]))
    test = first if _is_bool(value) else b.call(operator.truth, (first,), value)

    def rest() -> Operand:
        return _chain(b, node, index + 1, target)

    target = b.temporary() if into is None else into
    if isinstance(node.op, ast.And):
        return b.branch(test, rest, lambda: first, node, target)
    return b.branch(test, lambda: first, rest, node, target)


@expression.register(ast.IfExp)
def _conditional(b: Builder, node: ast.IfExp, into: Var | None) -> Operand:
    return _choice(b, node, into, Builder.expression)


def _choice(
    b: Builder,
    node: ast.IfExp,
    into: Var | None,
    lower: Callable[[Builder, ast.expr, Var | None], Operand],
) -> Operand:
    """Lower a conditional expression, whose parts are lowered by `lower`."""
    test = condition(b, node.test)
    if isinstance(test, Const):
        return lower(b, node.body if test.value else node.orelse, into)
    target = b.temporary() if into is None else into
    body, orelse = (lambda: lower(b, node.body, target)), (lambda: lower(b, node.orelse, target))
    return b.branch(test, body, orelse, node, target)


@expression.register(ast.Compare)
def _compare(b: Builder, node: ast.Compare, into: Var | None) -> Operand:
    left, right = b.operands([node.left, node.comparators[0]])
    return _links(b, node, 0, left, right, into, False)


def _links(
    b: Builder,
    node: ast.Compare,
    index: int,
    left: Operand,
    right: Operand,
    into: Var | None,
    in_test: bool,
) -> Operand:
    """Lower comparison `index` of a chain and all further ones; each operand is evaluated once. The
    result is a bool if `in_test`, else that of the comparison that decides."""
    last = index == len(node.ops) - 1
    if not last:
        right = b.copy_if_rebound(
            right, node.comparators[index], b.hazard(node.comparators[index + 1 :])
        )
    result = into if last else None
    if isinstance(node.ops[index], _GIVES_BOOL):
        test = first = _link(b, node, index, left, right, result)
    elif in_test:
        compared = _link(b, node, index, left, right, None)
        test = first = b.call(operator.truth, (compared,), node, result)
    else:
        first = _link(b, node, index, left, right, result)
        test = first if last else b.call(operator.truth, (first,), node)
    if last:
        return first
    target = b.temporary() if into is None else into

    def rest() -> Operand:
        following = b.expression(node.comparators[index + 1])
        return _links(b, node, index + 1, right, following, target, in_test)

    return b.branch(test, rest, lambda: Const(False) if in_test else first, node, target)


def _link(
    b: Builder, node: ast.Compare, index: int, left: Operand, right: Operand, into: Var | None
) -> Operand:
    match node.ops[index]:
        case ast.In():
            return b.call(operator.contains, (right, left), node, into)
        case ast.NotIn():
            found = b.call(operator.contains, (right, left), node)
            return b.call(operator.not_, (found,), node, into)
        case op:
            return b.call(_COMPARE[type(op)], (left, right), node, into)


# ---- truth ---------------------------------------------------------------------------------------


def condition(b: Builder, node: ast.expr, into: Var | None = None) -> Operand:
    """Lower an expression as a condition: a bool, whose truth is asked once."""
    match node:
        case ast.Constant(value=value):
            return Const(bool(value))
        case ast.UnaryOp(op=ast.Not(), operand=inner) if _is_compound(inner):
            operand = condition(b, inner)
            return (
                Const(not operand.value)
                if isinstance(operand, Const)
                else b.call(operator.not_, (operand,), node, into)
            )
        case ast.BoolOp():
            return _truth_chain(b, node, 0, into)
        case ast.Compare() if len(node.ops) > 1:
            left, right = b.operands([node.left, node.comparators[0]])
            return _links(b, node, 0, left, right, into, True)
        case ast.IfExp():
            return _choice(b, node, into, condition)
    if _is_bool(node):
        return b.expression(node, into)
    operand = b.expression(node)
    if isinstance(operand, Const):
        return Const(bool(operand.value))
    return b.call(operator.truth, (operand,), node, into)


def _truth_chain(b: Builder, node: ast.BoolOp, index: int, into: Var | None) -> Operand:
    value = node.values[index]
    if index == len(node.values) - 1:
        return condition(b, value, into)
    first = condition(b, value)
    conjunction = isinstance(node.op, ast.And)
    if isinstance(first, Const):
        if first.value is not conjunction:
            return first
        return _truth_chain(b, node, index + 1, into)
    target = b.temporary() if into is None else into
    decided = Const(not conjunction)
    rest: Callable[[], Operand] = lambda: _truth_chain(b, node, index + 1, target)
    if conjunction:
        return b.branch(first, rest, lambda: decided, node, target)
    return b.branch(first, lambda: decided, rest, node, target)


def _is_bool(node: ast.expr) -> bool:
    """Return whether the value is a bool, whatever the operands are."""
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
    """Return whether Python tests the truth of the parts of a condition rather than of the
    whole."""
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
    constants = [part.value for part in parts if isinstance(part, Const)]
    if len(constants) == 3:
        return Const(slice(*constants))
    return b.call(primitives.build_slice, parts, node, into)


# ---- strings and generators ----------------------------------------------------------------------


@expression.register(ast.JoinedStr)
def _joined(b: Builder, node: ast.JoinedStr, into: Var | None) -> Operand:
    if not node.values:
        return Const("")
    if len(node.values) == 1:
        return b.expression(node.values[0], into)
    # Some versions of the parser leave an empty text after a part.
    parts = b.operands([value for value in node.values if not _is_empty_text(value)])
    return b.call(primitives.build_string, parts, node, into)


def _is_empty_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""


@expression.register(ast.FormattedValue)
def _formatted(b: Builder, node: ast.FormattedValue, into: Var | None) -> Operand:
    conversion = NONE if node.conversion == -1 else Const(chr(node.conversion))
    value, spec = b.operands([node.value, node.format_spec or ast.Constant("")])
    return b.call(primitives.format_value, (value, conversion, spec), node, into)


@expression.register(ast.Yield)
def _yield(b: Builder, node: ast.Yield, into: Var | None) -> Operand:
    value = NONE if node.value is None else b.expression(node.value)
    target = b.temporary() if into is None else into
    source = b.hidden.get("iterator")  # set by the template of ``yield from``
    b.ops.append(Yield(target, value, source if type(source) is Var else None, b.span(node)))
    return target


@expression.register(ast.Await)
def _await(b: Builder, node: ast.Await, into: Var | None) -> Operand:
    b.refuse("await", node, "compute what it awaits before the differentiated function")
