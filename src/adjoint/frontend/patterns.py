"""The ``match`` statement (PEP 634).

A pattern is lowered to operations and one bool. As in CPython, captures stay in temporaries until
the whole pattern has matched, and are bound before the guard is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.frontend.builder import Builder, statement
from adjoint.frontend.expressions import condition
from adjoint.frontend.registry import Table
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, If, Operand, Unpack, Var

Captures = dict[str, Operand]
Step = Callable[[], Operand]

YES, NO = Const(True), Const(False)

pattern: Table[Callable[[Builder, Any, Operand, Captures], Operand]] = Table()
"""The lowering of each class of pattern. An entry emits the test of a subject, adds captures, and
returns a bool."""


@statement.register(ast.Match)
def _match(b: Builder, node: ast.Match) -> None:
    subject = b.expression(node.subject)
    if not isinstance(subject, Const) and isinstance(node.subject, ast.Name | ast.NamedExpr):
        # A guard or the body of a case may rebind the name of the subject.
        subject = b.copy(subject, node.subject)
    _cases(b, node.cases, subject)


def _cases(b: Builder, cases: Sequence[ast.match_case], subject: Operand) -> None:
    if not cases:
        return
    case, *others = cases
    captures: Captures = {}
    matched = test(b, case.pattern, subject, captures)

    def bind() -> None:
        for name, value in captures.items():
            b.write(name, value, case.pattern)

    def guarded(guard: ast.expr) -> Operand:
        bind()
        return condition(b, guard)

    def body() -> None:
        if case.guard is None:
            bind()
        b.statements(case.body)

    guard = case.guard
    if guard is not None:
        matched = _both(b, matched, lambda: guarded(guard), case.pattern)
    if not isinstance(matched, Const):
        b.ops.append(
            If(matched, b.region(body), b.region(_cases, b, others, subject), b.span(case.pattern))
        )
    elif matched.value:
        body()
    else:
        _cases(b, others, subject)


def test(b: Builder, node: ast.pattern, subject: Operand, captures: Captures) -> Operand:
    """Lower the test of a pattern; return the bool."""
    return pattern.entries[type(node)](b, node, subject, captures)


def _both(b: Builder, first: Operand, second: Step, node: ast.AST) -> Operand:
    if isinstance(first, Const):
        return second() if first.value else NO
    return b.branch(first, second, lambda: NO, node)


def _all(b: Builder, steps: Sequence[Step], node: ast.AST, into: Var | None = None) -> Operand:
    """Lower the conjunction of `steps`; a false step skips the rest."""
    if not steps:
        return YES
    first, rest = steps[0](), steps[1:]
    if not rest:
        return first
    if isinstance(first, Const):
        return _all(b, rest, node, into) if first.value else NO
    target = b.temporary() if into is None else into
    return b.branch(first, lambda: _all(b, rest, node, target), lambda: NO, node, target)


# ---- simple patterns -----------------------------------------------------------------------------


@pattern.register(ast.MatchValue)
def _value(b: Builder, node: ast.MatchValue, subject: Operand, captures: Captures) -> Operand:
    equal = b.call(operator.eq, (subject, b.expression(node.value)), node)
    return b.call(operator.truth, (equal,), node)


@pattern.register(ast.MatchSingleton)
def _singleton(
    b: Builder, node: ast.MatchSingleton, subject: Operand, captures: Captures
) -> Operand:
    return b.call(operator.is_, (subject, Const(node.value)), node)


@pattern.register(ast.MatchAs)
def _as(b: Builder, node: ast.MatchAs, subject: Operand, captures: Captures) -> Operand:
    matched = YES if node.pattern is None else test(b, node.pattern, subject, captures)
    if node.name is not None:
        captures[node.name] = subject
    return matched


@pattern.register(ast.MatchOr)
def _or(b: Builder, node: ast.MatchOr, subject: Operand, captures: Captures) -> Operand:
    targets: dict[str, Var] = {}
    result = _alternatives(b, node.patterns, subject, targets, node)
    captures.update(targets)
    return result


def _alternatives(
    b: Builder,
    patterns: Sequence[ast.pattern],
    subject: Operand,
    targets: dict[str, Var],
    node: ast.AST,
) -> Operand:
    """Lower the test of alternatives, all of which capture the same names."""
    captures: Captures = {}
    matched = test(b, patterns[0], subject, captures)
    for name in captures:
        targets.setdefault(name, b.temporary())

    def captured() -> Operand:
        for name, value in captures.items():
            b.assign(targets[name], value, patterns[0])
        return YES

    if isinstance(matched, Const) and matched.value:
        return captured()
    if len(patterns) == 1:
        return _both(b, matched, captured, node) if captures else matched
    rest: Step = lambda: _alternatives(b, patterns[1:], subject, targets, node)
    return rest() if isinstance(matched, Const) else b.branch(matched, captured, rest, node)


# ---- sequences -----------------------------------------------------------------------------------


@pattern.register(ast.MatchSequence)
def _sequence(b: Builder, node: ast.MatchSequence, subject: Operand, captures: Captures) -> Operand:
    patterns = node.patterns
    starred = next((i for i, part in enumerate(patterns) if isinstance(part, ast.MatchStar)), None)

    def is_sequence() -> Operand:
        return b.call(primitives.match_sequence, (subject,), node)

    def has_length() -> Operand:
        if starred is not None and len(patterns) == 1:
            return YES
        length = b.call(len, (subject,), node)
        if starred is None:
            return b.call(operator.eq, (length, Const(len(patterns))), node)
        return b.call(operator.ge, (length, Const(len(patterns) - 1)), node)

    return _all(
        b, [is_sequence, has_length, lambda: _items(b, node, starred, subject, captures)], node
    )


def _items(
    b: Builder, node: ast.MatchSequence, starred: int | None, subject: Operand, captures: Captures
) -> Operand:
    patterns = node.patterns
    if all(_is_wildcard(part) for part in patterns):
        return YES
    star = patterns[starred] if starred is not None else None
    if isinstance(star, ast.MatchStar) and star.name is None:
        # As in CPython, look up single items: unpacking would copy those that the star skips.
        assert starred is not None
        steps = [
            _indexed(
                b, part, index if index < starred else index - len(patterns), subject, captures
            )
            for index, part in enumerate(patterns)
            if index != starred and not _is_wildcard(part)
        ]
        return _all(b, steps, node)
    variables = tuple(b.temporary() for _ in patterns)
    b.ops.append(Unpack(variables, subject, starred, b.span(node)))
    if isinstance(star, ast.MatchStar) and star.name is not None and starred is not None:
        captures[star.name] = variables[starred]
    steps = [
        _test_of(b, part, variable, captures)
        for part, variable in zip(patterns, variables, strict=True)
        if not isinstance(part, ast.MatchStar)
    ]
    return _all(b, steps, node)


def _is_wildcard(node: ast.pattern) -> bool:
    match node:
        case ast.MatchAs(pattern=None, name=None) | ast.MatchStar(name=None):
            return True
        case _:
            return False


def _test_of(b: Builder, node: ast.pattern, subject: Operand, captures: Captures) -> Step:
    return lambda: test(b, node, subject, captures)


def _indexed(
    b: Builder, node: ast.pattern, index: int, subject: Operand, captures: Captures
) -> Step:
    def step() -> Operand:
        place: Operand = Const(index)
        if index < 0:
            place = b.call(operator.sub, (b.call(len, (subject,), node), Const(-index)), node)
        return test(b, node, b.call(operator.getitem, (subject, place), node), captures)

    return step


# ---- mappings ------------------------------------------------------------------------------------


@pattern.register(ast.MatchMapping)
def _mapping(b: Builder, node: ast.MatchMapping, subject: Operand, captures: Captures) -> Operand:
    count = len(node.keys)

    def is_mapping() -> Operand:
        return b.call(primitives.match_mapping, (subject,), node)

    def is_long_enough() -> Operand:
        return b.call(operator.ge, (b.call(len, (subject,), node), Const(count)), node)

    def has_keys() -> Operand:
        keys = b.operands(node.keys)
        values: list[Operand] = []
        return _both(b, _look_up(b, node, subject, keys, values), lambda: inner(keys, values), node)

    def inner(keys: Sequence[Operand], values: Sequence[Operand]) -> Operand:
        if node.rest is not None:
            rest = b.call(primitives.build_dict, (), node)
            b.call(primitives.dict_update, (rest, subject), node, drop=True)
            for key in keys:
                b.call(operator.delitem, (rest, key), node, drop=True)
            captures[node.rest] = rest
        steps = [
            _test_of(b, part, value, captures)
            for part, value in zip(node.patterns, values, strict=True)
        ]
        return _all(b, steps, node)

    if not count and node.rest is None:
        return is_mapping()
    return _all(b, [is_mapping, *([is_long_enough] if count else []), has_keys], node)


def _look_up(
    b: Builder,
    node: ast.MatchMapping,
    subject: Operand,
    keys: Sequence[Operand],
    values: list[Operand],
) -> Operand:
    """Lower the test for all keys, before any value is tested."""

    def present(key: Operand) -> Step:
        def step() -> Operand:
            operands = subject, Const("get"), key, Const(primitives.MISSING)
            value = b.call(primitives.call_method, operands, node)
            values.append(value)
            return b.call(operator.is_not, (value, Const(primitives.MISSING)), node)

        return step

    return _all(b, [present(key) for key in keys], node)


# ---- classes -------------------------------------------------------------------------------------


@pattern.register(ast.MatchClass)
def _class(b: Builder, node: ast.MatchClass, subject: Operand, captures: Captures) -> Operand:
    cls = b.expression(node.cls)
    values: list[Operand] = []

    def is_instance() -> Operand:
        return b.call(isinstance, (subject, cls), node)

    def positional(index: int) -> Step:
        def by_name() -> Operand:
            place = Const(index), Const(len(node.patterns))
            name = b.call(primitives.match_class_attribute, (cls, *place), node)
            return b.call(getattr, (subject, name, Const(primitives.MISSING)), node)

        def step() -> Operand:
            if index == 0 and len(node.patterns) == 1:
                is_self = b.call(primitives.match_self, (cls,), node)
                return present(b.branch(is_self, lambda: subject, by_name, node))
            return present(by_name())

        return step

    def keyword(name: str) -> Step:
        return lambda: present(
            b.call(getattr, (subject, Const(name), Const(primitives.MISSING)), node)
        )

    def present(value: Operand) -> Operand:
        values.append(value)
        return b.call(operator.is_not, (value, Const(primitives.MISSING)), node)

    def inner() -> Operand:
        parts = zip([*node.patterns, *node.kwd_patterns], values, strict=True)
        return _all(b, [_test_of(b, part, value, captures) for part, value in parts], node)

    named = [*map(positional, range(len(node.patterns))), *map(keyword, node.kwd_attrs)]
    return _all(b, [is_instance, *named, inner], node)
