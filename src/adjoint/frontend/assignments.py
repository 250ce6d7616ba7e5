"""Assignment and deletion: targets of every kind."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence

from adjoint.frontend.builder import Builder, statement
from adjoint.frontend.expressions import IN_PLACE
from adjoint.frontend.scope import CALLS, REBINDS
from adjoint.ir.nodes import Const, Global, Operand, Unpack, Var


def store(b: Builder, target: ast.expr, value: Operand) -> None:
    """Lower ``target = value``."""
    match target:
        case ast.Name(id=name):
            b.write(name, value, target)
        case ast.Attribute(value=obj, attr=name):
            value = _copied_if_rebound(b, value, b.hazard([obj]), target)
            b.call(setattr, (b.expression(obj), Const(b.mangle(name)), value), target, drop=True)
        case ast.Subscript(value=container, slice=index):
            value = _copied_if_rebound(b, value, b.hazard([container, index]), target)
            b.call(operator.setitem, (*b.operands([container, index]), value), target, drop=True)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(b, targets, value, target)
        case ast.Starred(value=inner):
            store(b, inner, value)
        case _:
            raise AssertionError(f"Python does not assign to {type(target).__name__}")


def _copied_if_rebound(b: Builder, value: Operand, hazard: int, node: ast.expr) -> Operand:
    """Copy the value if the evaluation of the target may rebind its name."""
    if (isinstance(value, Var) and hazard & REBINDS) or (isinstance(value, Global) and hazard):
        return b.copy(value, node)
    return value


def _unpack(b: Builder, targets: Sequence[ast.expr], value: Operand, node: ast.expr) -> None:
    """Lower ``a, *b = value``. Plain names are bound directly, up to the first target that runs
    code of its own."""
    starred = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    variables: list[Var] = []
    rest: list[tuple[ast.expr, Var]] = []
    for target in targets:
        inner = target.value if isinstance(target, ast.Starred) else target
        var = b.is_local(inner.id) if isinstance(inner, ast.Name) and not rest else None
        if var is None:
            var = b.temporary()
            rest.append((inner, var))
        elif var in variables:  # the last occurrence of a name wins
            variables[variables.index(var)] = b.temporary()
        variables.append(var)
    b.ops.append(Unpack(tuple(variables), value, starred, b.span(node)))
    for inner, var in rest:
        store(b, inner, var)


# ---- statements ----------------------------------------------------------------------------------


@statement.register(ast.Assign)
def _assign(b: Builder, node: ast.Assign) -> None:
    if len(node.targets) > 1:
        value = b.copy_for_targets(b.expression(node.value), node.targets)
        for target in node.targets:
            store(b, target, value)
        return
    target = node.targets[0]
    if isinstance(target, ast.Name):
        var = b.is_local(target.id)
        if var is not None:
            b.value_into(node.value, var)
            return
    if _is_parallel(target, node.value):
        _assign_in_parallel(b, target.elts, node.value.elts)  # type: ignore[attr-defined]
        return
    store(b, target, b.expression(node.value))


def _is_parallel(target: ast.expr, value: ast.expr) -> bool:
    """Return whether the statement is ``a, b = c, d``, for which Python makes no tuple."""
    sequence = ast.Tuple | ast.List
    return (
        isinstance(target, sequence)
        and isinstance(value, sequence)
        and len(target.elts) == len(value.elts)
        and not any(isinstance(item, ast.Starred) for item in (*target.elts, *value.elts))
    )


def _assign_in_parallel(
    b: Builder, targets: Sequence[ast.expr], values: Sequence[ast.expr]
) -> None:
    operands = b.operands(values)
    bound: set[str] = set()
    runs_code = False
    for index, (target, value) in enumerate(zip(targets, values, strict=True)):
        operand = operands[index]
        if (
            isinstance(value, ast.Name | ast.NamedExpr)
            and isinstance(operand, Var)
            and operand.name in bound
        ) or (isinstance(operand, Global) and runs_code and not b.is_stable(operand.name)):
            operands[index] = b.copy(operand, value)
        bound |= {
            b.mangle(n.id)
            for n in ast.walk(target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        runs_code = runs_code or not isinstance(target, ast.Name)
    for target, operand in zip(targets, operands, strict=True):
        store(b, target, operand)


@statement.register(ast.AnnAssign)
def _annotated(b: Builder, node: ast.AnnAssign) -> None:
    if node.value is not None:
        _assign(b, ast.copy_location(ast.Assign([node.target], node.value), node))
    else:
        # Python still evaluates the parts of the target.
        match node.target:
            case ast.Attribute(value=obj):
                b.evaluate(obj)
            case ast.Subscript(value=container, slice=index):
                b.evaluate(container)
                b.evaluate(index)


@statement.register(ast.AugAssign)
def _augmented(b: Builder, node: ast.AugAssign) -> None:
    update = IN_PLACE[type(node.op)]
    match node.target:
        case ast.Name(id=name):
            old, value = b.operands(
                [ast.copy_location(ast.Name(name, ast.Load()), node.target), node.value]
            )
            var = b.is_local(name)
            result = b.call(update, (old, value), node, var)
            if var is None:
                b.write(name, result, node)
        case ast.Attribute(value=obj, attr=attribute):
            name = b.mangle(attribute)
            owner = b.copy_if_rebound(b.expression(obj), obj, b.hazard([node.value]) | CALLS)
            old = b.call(getattr, (owner, Const(name)), node.target)
            result = b.call(update, (old, b.expression(node.value)), node)
            b.call(setattr, (owner, Const(name), result), node.target, drop=True)
        case ast.Subscript(value=container, slice=index):
            hazard = b.hazard([node.value]) | CALLS
            place = [
                b.copy_if_rebound(operand, part, hazard)
                for operand, part in zip(
                    b.operands([container, index]), (container, index), strict=True
                )
            ]
            old = b.call(operator.getitem, place, node.target)
            result = b.call(update, (old, b.expression(node.value)), node)
            b.call(operator.setitem, (*place, result), node.target, drop=True)


@statement.register(ast.Delete)
def _delete(b: Builder, node: ast.Delete) -> None:
    for target in node.targets:
        _delete_target(b, target)


def _delete_target(b: Builder, target: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            b.delete(name, target)
        case ast.Attribute(value=obj, attr=name):
            b.call(delattr, (b.expression(obj), Const(b.mangle(name))), target, drop=True)
        case ast.Subscript(value=container, slice=index):
            b.call(operator.delitem, b.operands([container, index]), target, drop=True)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for inner in targets:
                _delete_target(b, inner)
