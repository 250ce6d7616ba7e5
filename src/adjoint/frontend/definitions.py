"""Definitions of functions, classes and type aliases."""

from __future__ import annotations

import ast
import dataclasses
from types import CodeType
from typing import Any

from adjoint.frontend.builder import NONE, Builder, expression, statement
from adjoint.frontend.calls import apply
from adjoint.frontend.scope import FUTURE_ANNOTATIONS, parameters
from adjoint.frontend.source import remember
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, Operand, Var


def make_function(
    b: Builder,
    node: Any,
    defaults: Operand = NONE,
    keyword_defaults: Operand = NONE,
    annotations: Operand = NONE,
    into: Var | None = None,
) -> Operand:
    """Lower the creation of the function object of `node`, with its real code. `node` is a ``def``,
    ``lambda``, generator expression or class body."""
    code = b.codes.of(node)
    if code is None:
        return _unreachable(b, node)
    remember(code, b.source.of_inner(node))
    return _function_of(b, code, node, (defaults, keyword_defaults, annotations), into)


def _function_of(
    b: Builder,
    code: CodeType,
    node: ast.AST,
    parts: tuple[Operand, Operand, Operand],
    into: Var | None = None,
) -> Var:
    cells = tuple(b.cells[name] for name in code.co_freevars)
    return b.call(
        primitives.make_function, (Const(code), b.namespace(node), *parts, *cells), node, into
    )


def _unreachable(b: Builder, node: ast.AST) -> Operand:
    """Lower a node that the compiler removed; reaching it raises an error."""
    return b.call(primitives.unreachable, (), node)


# ---- functions -----------------------------------------------------------------------------------


@expression.register(ast.Lambda)
def _lambda(b: Builder, node: ast.Lambda, into: Var | None) -> Operand:
    defaults, keyword_defaults = _defaults(b, node.args)
    return make_function(b, node, defaults, keyword_defaults, into=into)


def _defaults(b: Builder, args: ast.arguments) -> tuple[Operand, Operand]:
    """Return the tuple of defaults, and the dict of keyword-only defaults."""
    defaults: Operand = NONE
    keyword_defaults: Operand = NONE
    named = [
        (parameter.arg, default)
        for parameter, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is not None
    ]
    values = b.operands([*args.defaults, *(default for _, default in named)])
    if args.defaults:
        defaults = b.call(primitives.build_tuple, values[: len(args.defaults)], args.defaults[0])
    if named:
        items: list[Operand] = []
        for (name, _), value in zip(named, values[len(args.defaults) :], strict=True):
            items += [Const(b.mangle(name)), value]
        keyword_defaults = b.call(primitives.build_dict, items, named[0][1])
    return defaults, keyword_defaults


@statement.register(ast.FunctionDef)
def _def(b: Builder, node: ast.FunctionDef) -> None:
    decorators = [_decorator(b, decorator) for decorator in node.decorator_list]
    defaults, keyword_defaults = _defaults(b, node.args)
    if getattr(node, "type_params", None):
        function = _generic_function(b, node, defaults, keyword_defaults)
    else:
        function = make_function(b, node, defaults, keyword_defaults, _annotations(b, node))
    _bind_decorated(b, node, function, decorators)


def _decorator(b: Builder, node: ast.expr) -> Operand:
    operand = b.expression(node)
    return operand if isinstance(operand, Const) else b.copy_if_rebound(operand, node, -1)


def _bind_decorated(
    b: Builder, node: ast.FunctionDef | ast.ClassDef, value: Operand, decorators: list[Operand]
) -> None:
    for decorator, place in zip(reversed(decorators), reversed(node.decorator_list), strict=True):
        value = b.call(decorator, (value,), place)
    b.bind(node.name, value, node)


def _annotations(b: Builder, node: ast.FunctionDef) -> Operand:
    annotated = [
        (b.mangle(p.arg), p.annotation)
        for p in _annotation_order(node.args)
        if p.annotation is not None
    ]
    if node.returns is not None:
        annotated.append(("return", node.returns))
    if not annotated:
        return NONE
    if b.function.__code__.co_flags & FUTURE_ANNOTATIONS:
        values: list[Operand] = [Const(ast.unparse(annotation)) for _, annotation in annotated]
    else:
        values = [
            b.call(primitives.list_to_tuple, (b.expression(annotation),), annotation)
            if isinstance(annotation, ast.Starred)
            else b.expression(annotation)
            for _, annotation in annotated
        ]
    items: list[Operand] = []
    for (name, _), value in zip(annotated, values, strict=True):
        items += [Const(name), value]
    return b.call(primitives.build_dict, items, node)


def _annotation_order(args: ast.arguments) -> list[ast.arg]:
    """Return the parameters in Python's order of evaluation of annotations. Plain parameters
    precede positional-only ones."""
    rest = {id(p) for p in (*args.args, *args.posonlyargs)}
    return [*args.args, *args.posonlyargs, *(p for p in parameters(args) if id(p) not in rest)]


def _generic_function(
    b: Builder, node: ast.FunctionDef, defaults: Operand, keyword_defaults: Operand
) -> Operand:
    """Lower ``def f[T](…)``. The scope of the type parameters is a function, which Python calls
    with the defaults."""
    code = b.codes.of_type_parameters(node)
    if code is None:
        return _unreachable(b, node)
    inner = b.codes.of(node)
    if inner is not None:
        remember(inner, b.source.of_inner(node))
    scope = _function_of(b, code, node, (NONE, NONE, NONE))
    given = [operand for operand in (defaults, keyword_defaults) if operand != NONE]
    return b.call(scope, given, node)


@statement.register(ast.AsyncFunctionDef)
def _async_def(b: Builder, node: ast.AsyncFunctionDef) -> None:
    hint = "compute what it awaits before the differentiated function"
    if not b.in_region:
        b.refuse("async def", node, hint)
    span = b.span(node)  # a decorator that also handles coroutines has one in a branch
    facts = ("async def", hint, b.filename, *dataclasses.astuple(span))
    b.call(primitives.refuse_syntax, [Const(fact) for fact in facts], node)


# ---- classes and type aliases --------------------------------------------------------------------


@statement.register(ast.ClassDef)
def _class(b: Builder, node: ast.ClassDef) -> None:
    decorators = [_decorator(b, decorator) for decorator in node.decorator_list]
    if getattr(node, "type_params", None):
        code = b.codes.of_type_parameters(node)
        scope = (
            _unreachable(b, node)
            if code is None
            else _function_of(b, code, node, (NONE, NONE, NONE))
        )
        cls = b.call(scope, (), node)
    else:
        cls = _plain_class(b, node)
    _bind_decorated(b, node, cls, decorators)


def _plain_class(b: Builder, node: ast.ClassDef) -> Var:
    body = make_function(b, node)
    name = Const(node.name)
    if any(isinstance(base, ast.Starred) for base in node.bases) or any(
        k.arg is None for k in node.keywords
    ):
        return apply(
            b,
            Const(primitives.build_class),
            node.bases,
            node.keywords,
            node,  # type: ignore[return-value]
            leading=(body, name),
        )
    operands = b.operands([*node.bases, *(keyword.value for keyword in node.keywords)])
    bases, values = operands[: len(node.bases)], operands[len(node.bases) :]
    keywords = tuple((str(k.arg), value) for k, value in zip(node.keywords, values, strict=True))
    return b.call(primitives.build_class, (body, name, *bases), node, keywords=keywords)


def _type_alias(b: Builder, node: Any) -> None:
    """Lower ``type X = …``, which is lazy: Python runs it in a function with the same cells."""
    free = sorted({name for code in b.codes.of_alias(node) for name in code.co_freevars})
    name = b.mangle(node.name.id)
    body: list[ast.stmt] = [node, ast.Return(ast.Name(name, ast.Load()))]
    if name in free:
        body.insert(0, ast.Nonlocal([name]))
    wrapper = _function_node(f"<type {name}>", free, [_function_node(f"<type {name}>", [], body)])
    module = ast.fix_missing_locations(ast.Module([wrapper], []))
    flags = b.function.__code__.co_flags & FUTURE_ANNOTATIONS
    code = compile(module, b.filename, "exec", flags, dont_inherit=True)
    for _ in range(2):
        code = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    make = _function_of(b, code, node, (NONE, NONE, NONE))
    b.bind(node.name.id, b.call(make, (), node), node)


def _function_node(name: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    args = ast.arguments(
        posonlyargs=[],
        args=list(map(ast.arg, parameters)),
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    node: Any = ast.FunctionDef(name=name, args=args, body=body, decorator_list=[])
    node.type_params = []
    return node  # type: ignore[no-any-return]


if hasattr(ast, "TypeAlias"):
    statement.register(ast.TypeAlias)(_type_alias)
