"""Constructs that the language reference defines by other Python code, written as this code.

A template is lowered like user code. Its names become hidden variables, except those that the
caller gives and the functions in `_FUNCTIONS`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from textwrap import dedent

from adjoint.frontend.builder import Builder
from adjoint.ir.nodes import Const, Operand

YIELD_FROM = """
    iterator = iter(iterable)
    result = None
    try:
        item = next(iterator)
    except StopIteration as stop:
        result = stop.value
    else:
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                close = getattr(iterator, "close", None)
                if close is not None:
                    close()
                raise
            except BaseException as error:
                throw = getattr(iterator, "throw", None)
                if throw is None:
                    raise
                try:
                    item = throw(error)
                except StopIteration as stop:
                    result = stop.value
                    break
            else:
                try:
                    if sent is None:
                        item = next(iterator)
                    else:
                        item = iterator.send(sent)
                except StopIteration as stop:
                    result = stop.value
                    break
"""
"""``result = yield from iterable`` (PEP 380, "Formal Semantics")."""

_FUNCTIONS = {
    function.__name__: Const(function)
    for function in (iter, next, getattr, StopIteration, GeneratorExit, BaseException)
}


@cache
def _parsed(template: str) -> tuple[list[ast.stmt], frozenset[str]]:
    body = ast.parse(dedent(template)).body
    names = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    names |= {
        node.name
        for part in body
        for node in ast.walk(part)
        if isinstance(node, ast.ExceptHandler) and node.name is not None
    }
    return body, frozenset(names)


def expand(b: Builder, template: str, node: ast.AST, given: Mapping[str, Operand]) -> Operand:
    """Lower a template in place of `node`; return the value of its variable ``result``."""
    body, names = _parsed(template)
    known = {**_FUNCTIONS, **given}
    outer_hidden, b.hidden = (
        b.hidden,
        {name: known[name] if name in known else b.variable(name) for name in sorted(names)},
    )
    outer_span = b.at(b.span(node))
    b.statements(body)
    result = b.hidden["result"]
    b.at(outer_span)
    b.hidden = outer_hidden
    return result
