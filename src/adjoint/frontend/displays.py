"""Displays of tuples, lists, sets and dicts, with and without stars."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adjoint.frontend.builder import Builder, expression
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, Operand, Var


@expression.register(ast.Tuple)
def _tuple(b: Builder, node: ast.Tuple, into: Var | None) -> Operand:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        items = _list_with_stars(b, node.elts, node)
        return b.call(primitives.list_to_tuple, (items,), node, into)
    operands = b.operands(node.elts)
    if all(isinstance(operand, Const) for operand in operands):
        return Const(tuple(operand.value for operand in operands))  # type: ignore[union-attr]
    return b.call(primitives.build_tuple, operands, node, into)


@expression.register(ast.List)
def _list(b: Builder, node: ast.List, into: Var | None) -> Operand:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return _list_with_stars(b, node.elts, node)
    return b.call(primitives.build_list, b.operands(node.elts), node, into)


def _list_with_stars(b: Builder, items: Sequence[ast.expr], node: ast.AST) -> Var:
    steps = primitives.build_list, primitives.list_append, primitives.list_extend
    return _with_stars(b, items, node, *steps)


@expression.register(ast.Set)
def _set(b: Builder, node: ast.Set, into: Var | None) -> Operand:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        steps = primitives.build_set, primitives.set_add, primitives.set_update
        return _with_stars(b, node.elts, node, *steps)
    return b.call(primitives.build_set, b.operands(node.elts), node, into)


def _with_stars(
    b: Builder, items: Sequence[ast.expr], node: ast.AST, build: Any, add: Any, add_all: Any
) -> Var:
    """Build the items before the first star at once, and add the others one by one."""
    first = next(index for index, item in enumerate(items) if isinstance(item, ast.Starred))
    result = b.call(build, b.operands(items[:first]), node)
    for item in items[first:]:
        if isinstance(item, ast.Starred):
            b.call(add_all, (result, b.expression(item.value)), item, drop=True)
        else:
            b.call(add, (result, b.expression(item)), item, drop=True)
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
