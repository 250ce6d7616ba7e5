"""Comprehensions as inline loops, and generator expressions as functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adjoint.frontend.builder import Builder, expression
from adjoint.frontend.definitions import make_function
from adjoint.frontend.expressions import condition
from adjoint.frontend.scope import Comprehension
from adjoint.frontend.statements import bind_target, loop_target
from adjoint.ir import primitives
from adjoint.ir.nodes import Assign, Const, For, If, Operand, Var, Yield


@expression.register(ast.ListComp)
def _list(b: Builder, node: ast.ListComp, into: Var | None) -> Operand:
    def step(result: Var) -> None:
        b.call(primitives.list_append, (result, b.expression(node.elt)), node.elt, drop=True)

    return _comprehension(b, node, primitives.build_list, step)


@expression.register(ast.SetComp)
def _set(b: Builder, node: ast.SetComp, into: Var | None) -> Operand:
    def step(result: Var) -> None:
        b.call(primitives.set_add, (result, b.expression(node.elt)), node.elt, drop=True)

    return _comprehension(b, node, primitives.build_set, step)


@expression.register(ast.DictComp)
def _dict(b: Builder, node: ast.DictComp, into: Var | None) -> Operand:
    def step(result: Var) -> None:
        b.call(
            primitives.dict_insert,
            (result, *b.operands([node.key, node.value])),
            node.value,
            drop=True,
        )

    return _comprehension(b, node, primitives.build_dict, step)


def _comprehension(
    b: Builder, node: Comprehension, display: Callable[..., object], step: Callable[[Var], None]
) -> Var:
    iterable = b.expression(node.generators[0].iter)
    result = b.call(display, (), node)
    own, captured = b.scope.own[node]
    outer = b.locals, b.cells
    b.locals, b.cells = dict(b.locals), dict(b.cells)
    for name in sorted(own):
        b.cells.pop(name, None)
        if name in captured:
            # One cell for the whole run, as in a separate function: lambdas see the last value.
            b.new_cell(name, node)
        else:
            b.locals[name] = b.comprehension_variable(name)
    _loops(b, node.generators, iterable, lambda: step(result))
    for name in sorted(own - captured):  # the variable is unset after the comprehension
        b.ops.append(Assign(b.locals[name], Const(None), b.span(node)))
    b.locals, b.cells = outer
    return result


def _loops(
    b: Builder,
    generators: Sequence[ast.comprehension],
    iterable: Operand | None,
    step: Callable[[], None],
) -> None:
    """Lower ``for … in … if …`` from the first of `generators` on. `iterable` is the iterable of
    the first one, if it is lowered already."""
    if not generators:
        step()
        return
    generator = generators[0]
    if generator.is_async:
        b.refuse(
            "async for", generator.target, "collect the items before the differentiated function"
        )
    if iterable is None:
        iterable = b.expression(generator.iter)
    target = loop_target(b, generator.target)

    def body() -> None:
        bind_target(b, generator.target, target)
        _filter(b, generator.ifs, lambda: _loops(b, generators[1:], None, step))

    b.ops.append(For(target, iterable, b.region(body), (), b.span(generator.target)))


def _filter(b: Builder, tests: Sequence[ast.expr], step: Callable[[], None]) -> None:
    if not tests:
        step()
        return
    test = condition(b, tests[0])
    if not isinstance(test, Const):
        b.ops.append(If(test, b.region(_filter, b, tests[1:], step), (), b.span(tests[0])))
    elif test.value:
        _filter(b, tests[1:], step)


@expression.register(ast.GeneratorExp)
def _generator(b: Builder, node: ast.GeneratorExp, into: Var | None) -> Operand:
    if any(generator.is_async for generator in node.generators):
        b.refuse("async for", node, "collect the items before the differentiated function")
    function = make_function(b, node)
    first = b.expression(node.generators[0].iter)
    iterator = b.call(primitives.begin, (first,), node.generators[0].iter)
    return b.call(function, (iterator,), node, into)


def generator_body(b: Builder, node: ast.GeneratorExp, iterator: Var) -> None:
    """Lower the body of a generator expression; its parameter is the outermost iterator."""

    def step() -> None:
        value = b.expression(node.elt)
        b.ops.append(Yield(None, value, span=b.span(node.elt)))

    _loops(b, node.generators, iterator, step)
