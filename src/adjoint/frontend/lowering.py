"""Lowering: from the source of a Python function to its IR."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

import adjoint.frontend.assignments
import adjoint.frontend.calls
import adjoint.frontend.comprehensions
import adjoint.frontend.definitions
import adjoint.frontend.displays
import adjoint.frontend.exceptions
import adjoint.frontend.expressions
import adjoint.frontend.patterns
import adjoint.frontend.statements  # noqa: F401  (each enters its syntax in the tables)
from adjoint.errors import UnsupportedSyntaxError
from adjoint.frontend.builder import NONE, Builder, terminates
from adjoint.frontend.codes import NestedCodes
from adjoint.frontend.comprehensions import generator_body
from adjoint.frontend.scope import FunctionNode, analyse, parameters
from adjoint.frontend.source import Source, find_source
from adjoint.ir import nodes as ir
from adjoint.ir import primitives


def lower(function: FunctionType) -> ir.Function:
    """Lower a function from its source.

    Parameters
    ----------
    function : types.FunctionType
        A ``def``, a ``lambda``, or the function of a generator expression.

    Returns
    -------
    Function
        Independent of the values of globals, defaults and captured variables.

    Raises
    ------
    SourceError
        There is no source, or the function was not compiled from it.
    UnsupportedSyntaxError
        The source uses a construct that is not differentiated.
    """
    code = function.__code__
    source = find_source(function)
    if code.co_flags & (
        inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
    ):
        raise _refuse_coroutine(function, source)
    codes = NestedCodes(code, source.offset)
    scope = analyse(source.node, code, codes, source.private)
    builder = Builder(function, source, scope, codes)
    own_parameters = _parameters(source.node, builder)
    free = []
    for name in code.co_freevars:
        builder.cells[name] = builder.variable(f"{name}_cell")
        free.append((name, builder.cells[name]))
    body = _body(builder, source.node, own_parameters)
    return ir.Function(
        code.co_name,
        own_parameters,
        tuple(free),
        body,
        bool(code.co_flags & inspect.CO_GENERATOR),
        code,
        code.co_filename,
        builder.span(source.node),
    )


def _refuse_coroutine(function: FunctionType, source: Source) -> UnsupportedSyntaxError:
    node = source.node
    span = ir.Span(
        node.lineno + source.offset,
        node.col_offset,
        node.lineno + source.offset,
        node.col_offset + 9,
    )
    construct = "async def" if isinstance(node, ast.AsyncFunctionDef) else "async for"
    return UnsupportedSyntaxError(
        f"'{construct}' cannot be differentiated",
        filename=function.__code__.co_filename,
        span=span,
        hint="compute what it awaits before the differentiated function, or"
        f" register an rrule for '{function.__name__}'",
    )


def _parameters(node: FunctionNode, builder: Builder) -> tuple[ir.Parameter, ...]:
    if isinstance(node, ast.GeneratorExp):
        return (ir.Parameter(builder.variable("_it").name, 0),)
    args = node.args
    kinds = {
        id(p): kind
        for kind, group in ((0, args.posonlyargs), (1, args.args), (3, args.kwonlyargs))
        for p in group
    }
    if args.vararg is not None:
        kinds[id(args.vararg)] = 2
    if args.kwarg is not None:
        kinds[id(args.kwarg)] = 4
    return tuple(ir.Parameter(builder.mangle(p.arg), kinds[id(p)]) for p in parameters(args))


def _body(
    builder: Builder, node: FunctionNode, own_parameters: tuple[ir.Parameter, ...]
) -> ir.Region:
    own = {parameter.name for parameter in own_parameters}
    for name in sorted(builder.scope.captured):
        builder.new_cell(name, node)
        if name in own:
            builder.call(
                primitives.store_cell, (builder.cells[name], ir.Var(name)), node, drop=True
            )
    never = builder.locals.keys() - builder.scope.bound - own
    if never:
        # Local but never bound: dead assignments mark these names, so that no global is read
        # instead.
        unbound = [ir.Assign(ir.Var(name), NONE, builder.span(node)) for name in sorted(never)]
        builder.ops.append(ir.If(ir.Const(False), tuple(unbound), (), builder.span(node)))
    match node:
        case ast.Lambda(body=body):
            builder.ops.append(ir.Return(builder.expression(body), builder.span(body)))
        case ast.GeneratorExp():
            generator_body(builder, node, ir.Var(own_parameters[0].name))
        case ast.FunctionDef(body=body):
            builder.statements(body)
    if not builder.ops or not terminates(builder.ops[-1]):
        builder.ops.append(ir.Return(NONE, builder.span(node)))
    return tuple(builder.ops)
