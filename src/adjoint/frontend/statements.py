"""Simple statements, branches and loops."""

from __future__ import annotations

import ast
import sys

from adjoint.frontend.assignments import store
from adjoint.frontend.builder import NONE, Builder, statement
from adjoint.frontend.expressions import condition
from adjoint.ir import primitives
from adjoint.ir.nodes import Break, Const, Continue, For, If, Operand, Raise, Return, Var, While


@statement.register(ast.Expr)
def _expression(b: Builder, node: ast.Expr) -> None:
    b.evaluate(node.value)


@statement.register(ast.Pass, ast.Global, ast.Nonlocal)
def _nothing(b: Builder, node: ast.stmt) -> None:
    """Emit nothing: `adjoint.frontend.scope` has read the declarations."""


@statement.register(ast.Return)
def _return(b: Builder, node: ast.Return) -> None:
    value = NONE if node.value is None else b.expression(node.value)
    b.ops.append(Return(value, b.span(node)))


@statement.register(ast.If)
def _if(b: Builder, node: ast.If) -> None:
    test = condition(b, node.test)
    if isinstance(test, Const):
        b.statements(node.body if test.value else node.orelse)
        return
    b.ops.append(
        If(
            test,
            b.region(b.statements, node.body),
            b.region(b.statements, node.orelse),
            b.span(node),
        )
    )


@statement.register(ast.While)
def _while(b: Builder, node: ast.While) -> None:
    result: list[Operand] = []
    test = b.region(lambda: result.append(condition(b, node.test)))
    if isinstance(result[0], Const) and not result[0].value:
        b.statements(node.orelse)
        return
    body = b.region(b.statements, node.body)
    b.ops.append(While(test, result[0], body, b.region(b.statements, node.orelse), b.span(node)))


@statement.register(ast.For)
def _for(b: Builder, node: ast.For) -> None:
    iterable = b.expression(node.iter)
    target = loop_target(b, node.target)

    def body() -> None:
        bind_target(b, node.target, target)
        b.statements(node.body)

    # Python's instructions that call `iter` and `next` have this position.
    place = node.iter if sys.version_info >= (3, 13) else node
    b.ops.append(
        For(target, iterable, b.region(body), b.region(b.statements, node.orelse), b.span(place))
    )


def loop_target(b: Builder, target: ast.expr) -> Var:
    """Return the variable that a loop binds: the target itself, or a temporary."""
    return (b.is_local(target.id) if isinstance(target, ast.Name) else None) or b.temporary()


def bind_target(b: Builder, target: ast.expr, var: Var) -> None:
    """Begin the body of a loop: assign the temporary of `loop_target` to the target."""
    if not (isinstance(target, ast.Name) and b.is_local(target.id) is var):
        store(b, target, var)


@statement.register(ast.Break)
def _break(b: Builder, node: ast.Break) -> None:
    b.ops.append(Break(b.span(node)))


@statement.register(ast.Continue)
def _continue(b: Builder, node: ast.Continue) -> None:
    b.ops.append(Continue(b.span(node)))


@statement.register(ast.Raise)
def _raise(b: Builder, node: ast.Raise) -> None:
    given = [part for part in (node.exc, node.cause) if part is not None]
    exceptions = [
        value if isinstance(value, Const) else b.call(primitives.exception_of, (value,), part)
        for part, value in zip(given, b.operands(given), strict=True)
    ]
    exception, cause, *_ = [*exceptions, None, None]
    b.ops.append(Raise(exception, cause, b.span(node)))


@statement.register(ast.Assert)
def _assert(b: Builder, node: ast.Assert) -> None:
    if not __debug__:
        return
    test = condition(b, node.test)

    def fail() -> None:
        error: Operand = Const(AssertionError)
        if node.msg is not None:
            error = b.call(AssertionError, (b.expression(node.msg),), node)
        b.ops.append(Raise(error, None, b.span(node)))

    if isinstance(test, Const):
        if not test.value:
            fail()
        return
    b.ops.append(If(test, (), b.region(fail), b.span(node)))


@statement.register(ast.Import)
def _import(b: Builder, node: ast.Import) -> None:
    for alias in node.names:
        module = b.call(
            primitives.import_module, (b.namespace(node), Const(alias.name), NONE, Const(0)), node
        )
        top, *inner = alias.name.split(".")
        if alias.asname is None:
            b.bind(top, module, node)
            continue
        for name in inner:
            module = b.call(primitives.import_from, (module, Const(name)), node)
        b.bind(alias.asname, module, node)


@statement.register(ast.ImportFrom)
def _import_from(b: Builder, node: ast.ImportFrom) -> None:
    names = Const(tuple(alias.name for alias in node.names))
    operands = (b.namespace(node), Const(node.module or ""), names, Const(node.level))
    module = b.call(primitives.import_module, operands, node)
    for alias in node.names:
        value = b.call(primitives.import_from, (module, Const(alias.name)), node)
        b.bind(alias.asname or alias.name, value, node)


@statement.register(ast.AsyncFor)
def _async_for(b: Builder, node: ast.AsyncFor) -> None:
    b.refuse("async for", node, "collect the items before the differentiated function")


@statement.register(ast.AsyncWith)
def _async_with(b: Builder, node: ast.AsyncWith) -> None:
    b.refuse("async with", node, "compute what it yields before the differentiated function")
