"""``try``, ``with`` and ``yield from``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence

from adjoint.frontend.assignments import store
from adjoint.frontend.builder import NONE, Builder, expression, statement
from adjoint.frontend.templates import YIELD_FROM, expand
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, If, Operand, Raise, Span, Try, Var


@statement.register(ast.Try)
def _try(b: Builder, node: ast.Try) -> None:
    body = b.region(b.statements, node.body)
    caught = b.temporary() if node.handlers else None
    handler = (
        b.region(_clauses, b, node.handlers, caught, b.span(node.handlers[-1]))
        if caught is not None
        else ()
    )
    orelse = b.region(b.statements, node.orelse)
    b.ops.append(
        Try(body, caught, handler, orelse, b.region(b.statements, node.finalbody), b.span(node))
    )


def _clauses(b: Builder, handlers: Sequence[ast.ExceptHandler], caught: Var, span: Span) -> None:
    """Lower the ``except`` clauses `handlers`; an exception that none catches is raised again."""
    if not handlers:
        b.ops.append(Raise(None, None, span))
        return
    clause = handlers[0]
    if clause.type is None:
        b.statements(clause.body)
        return
    kind = b.expression(clause.type)
    if kind == Const(BaseException):
        _clause(b, clause, caught)
        return
    matches = b.call(primitives.exception_match, (caught, kind), clause.type)
    body = b.region(_clause, b, clause, caught)
    rest = b.region(_clauses, b, handlers[1:], caught, span)
    b.ops.append(If(matches, body, rest, b.span(clause.type)))


def _clause(b: Builder, clause: ast.ExceptHandler, caught: Var) -> None:
    name = clause.name
    if name is None:
        b.statements(clause.body)
        return

    def forget() -> None:
        b.write(name, NONE, clause)
        b.delete(name, clause)

    b.write(name, caught, clause)
    b.ops.append(
        Try(b.region(b.statements, clause.body), None, (), (), b.region(forget), b.span(clause))
    )


@statement.register(ast.TryStar)
def _try_star(b: Builder, node: ast.TryStar) -> None:
    b.refuse("except*", node, "catch the exception group with a plain 'except'")


@statement.register(ast.With)
def _with(b: Builder, node: ast.With) -> None:
    _with_items(b, node.items, node.body)


def _with_items(b: Builder, items: Sequence[ast.withitem], inner: Sequence[ast.stmt]) -> None:
    """Lower ``with items: inner`` as in PEP 343: ``__exit__`` is called once in every case."""
    if not items:
        b.statements(inner)
        return
    item = items[0]
    place = item.context_expr
    manager = b.expression(place)
    if not isinstance(manager, Var) or isinstance(place, ast.Name | ast.NamedExpr):
        manager = b.copy(manager, place)
    value = b.call(primitives.enter_context, (manager,), place)
    failed, error = b.variable("failed"), b.temporary()
    b.assign(failed, Const(False), place)

    def body() -> None:
        if item.optional_vars is not None:
            store(b, item.optional_vars, value)
        _with_items(b, items[1:], inner)

    def handler() -> None:
        b.assign(failed, Const(True), place)
        kind = b.call(type, (error,), place)
        trace = b.call(getattr, (error, Const("__traceback__")), place)
        swallowed = _leave(b, manager, (kind, error, trace), place)
        b.ops.append(
            If(
                b.call(operator.truth, (swallowed,), place),
                (),
                (Raise(None, None, b.span(place)),),
                b.span(place),
            )
        )

    def final() -> None:
        b.ops.append(
            If(failed, (), b.region(_leave, b, manager, (NONE, NONE, NONE), place), b.span(place))
        )

    span = b.span(place)
    b.ops.append(Try(b.region(body), error, b.region(handler), (), b.region(final), span))


def _leave(
    b: Builder, manager: Operand, details: tuple[Operand, Operand, Operand], place: ast.expr
) -> Var:
    return b.call(primitives.exit_context, (manager, *details), place)


@expression.register(ast.YieldFrom)
def _yield_from(b: Builder, node: ast.YieldFrom, into: Var | None) -> Operand:
    return expand(b, YIELD_FROM, node, {"iterable": b.expression(node.value)})
