"""The meaning of the names of one function, from its syntax tree.

Inner functions are not visited: their code objects tell which variables they capture
(``co_freevars``). Comprehensions are visited, because they are lowered inline in every version of
Python.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from adjoint.frontend.codes import NestedCodes, mangle

FUTURE_ANNOTATIONS = __future__.annotations.compiler_flag
"""The flag of code compiled under ``from __future__ import annotations``."""

CALLS = 1
"""Flag of an expression: its evaluation runs code that may rebind a global name."""
REBINDS = 2
"""Flag of an expression: it contains ``:=``."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp
"""Nodes with a code object that is lowered."""
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp


@dataclass(slots=True)
class Scope:
    """The names of one function.

    Attributes
    ----------
    local
        Names that the function binds, captured ones included.
    bound
        Local names that some statement binds. (``x: int`` or ``del x`` alone also makes a name
        local.)
    captured
        Local names that inner functions use: they live in cells.
    global_names
        Names under a ``global`` statement.
    flags
        `CALLS` and `REBINDS` of each expression that has any.
    own
        The variables of each comprehension, and those of them that inner functions use.
    names
        All names that occur.
    outside
        Names that occur with another meaning than a variable of a comprehension.
    """

    local: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    flags: dict[ast.AST, int] = field(default_factory=dict)
    own: dict[ast.AST, tuple[set[str], set[str]]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)


def analyse(node: FunctionNode, code: CodeType, codes: NestedCodes, private: str | None) -> Scope:
    """Return the scope of the function that `node` defines and that `code` was compiled from."""
    walk = _Walk(codes, private)
    scope = walk.scope
    match node:
        case ast.GeneratorExp():
            # The outermost iterable belongs to the enclosing scope.
            first = node.generators[0]
            walk.visit(first.target)
            walk.visit_all(first.ifs)
            walk.visit_all(node.generators[1:])
            walk.visit(node.elt)
            # Names bound by `:=` belong to the enclosing scope.
            scope.local -= walk.walrus
            scope.global_names |= walk.walrus.difference(code.co_freevars)
        case ast.Lambda(body=body):
            scope.local.update(mangle(p.arg, private) for p in parameters(node.args))
            walk.visit(body)
        case ast.FunctionDef(body=statements) | ast.AsyncFunctionDef(body=statements):
            scope.local.update(mangle(p.arg, private) for p in parameters(node.args))
            walk.visit_all(statements)
    # A generator expression may bind a local variable by `:=`, which shows only in `captured`.
    scope.local |= scope.captured
    scope.local -= scope.global_names
    scope.local.difference_update(code.co_freevars)
    scope.captured &= scope.local
    scope.names |= scope.local
    return scope


def parameters(args: ast.arguments) -> Iterator[ast.arg]:
    """Yield the parameters in the order of the signature."""
    yield from args.posonlyargs
    yield from args.args
    if args.vararg is not None:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg is not None:
        yield args.kwarg


class _Walk:
    """One pass over the tree; flags propagate bottom up."""

    def __init__(self, codes: NestedCodes, private: str | None) -> None:
        self.codes, self.private = codes, private
        self.scope = Scope()
        self.walrus: set[str] = set()
        self.comprehensions: list[tuple[set[str], set[str]]] = []

    def visit(self, node: ast.AST) -> int:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            flags: int = handler(self, node)
        else:
            flags = self.children(node)
        if flags:
            self.scope.flags[node] = flags
        return flags

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> int:
        flags = 0
        for node in nodes:
            if node is not None:
                flags |= self.visit(node)
        return flags

    def children(self, node: ast.AST) -> int:
        flags, visit = 0, self.visit
        for name in _FIELDS.get(type(node)) or _child_fields(type(node)):
            child = getattr(node, name)
            if type(child) is list:
                for item in child:
                    if isinstance(item, ast.AST):
                        flags |= visit(item)
            elif isinstance(child, ast.AST):
                flags |= visit(child)
        return flags

    def bind(self, name: str) -> None:
        """Mark `name` as bound in the function itself."""
        name = mangle(name, self.private)
        self.scope.local.add(name)
        self.scope.bound.add(name)

    def capture(self, code: CodeType | None) -> None:
        """Mark the captures of an inner function in the innermost scope that binds each."""
        if code is None:
            return
        for name in code.co_freevars:
            for own, captured in reversed(self.comprehensions):
                if name in own:
                    captured.add(name)
                    break
            else:
                self.scope.captured.add(name)


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
_WITHOUT_NAMES = frozenset({"attr", "ctx", "op", "ops", "type_comment", "kind", "conversion"})


def _child_fields(cls: type[ast.AST]) -> tuple[str, ...]:
    fields = _FIELDS[cls] = tuple(name for name in cls._fields if name not in _WITHOUT_NAMES)
    return fields


# ---- nodes that mean more than their children ----------------------------------------------------


def _name(walk: _Walk, node: ast.Name) -> int:
    name, scope = node.id, walk.scope
    if name[0] == "_":
        name = mangle(name, walk.private)
    scope.names.add(name)
    if not walk.comprehensions or not any(name in own for own, _ in walk.comprehensions):
        scope.outside.add(name)
        if type(node.ctx) is ast.Store:
            walk.bind(name)
        elif type(node.ctx) is ast.Del:
            scope.local.add(name)
    return 0


def _binary(walk: _Walk, node: ast.BinOp) -> int:
    # iterative: a sum of a thousand terms is a tree of depth a thousand
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    flags = walk.visit(spine[-1].left)
    for part in reversed(spine):
        flags |= walk.visit(part.right)
        if flags:
            walk.scope.flags[part] = flags
    return flags


def _call(walk: _Walk, node: ast.AST) -> int:
    return walk.children(node) | CALLS


def _walrus(walk: _Walk, node: ast.NamedExpr) -> int:
    name = mangle(node.target.id, walk.private)
    walk.scope.names.add(name)
    walk.bind(name)
    walk.walrus.add(name)
    return walk.visit(node.value) | REBINDS


def _comprehension(walk: _Walk, node: Comprehension) -> int:
    flags = walk.visit(node.generators[0].iter)
    own: set[str] = set()
    for generator in node.generators:
        own.update(
            mangle(n.id, walk.private)
            for n in ast.walk(generator.target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
    walk.comprehensions.append((own, set()))
    for index, generator in enumerate(node.generators):
        if index:
            flags |= walk.visit(generator.iter)
        flags |= walk.visit(generator.target) | walk.visit_all(generator.ifs)
    if isinstance(node, ast.DictComp):
        flags |= walk.visit(node.key) | walk.visit(node.value)
    else:
        flags |= walk.visit(node.elt)
    walk.scope.own[node] = walk.comprehensions.pop()
    return flags | CALLS


def _generator(walk: _Walk, node: ast.GeneratorExp) -> int:
    walk.capture(walk.codes.of(node))
    return walk.visit(node.generators[0].iter) | CALLS


def _lambda(walk: _Walk, node: ast.Lambda) -> int:
    walk.capture(walk.codes.of(node))
    return walk.visit_all(node.args.defaults) | walk.visit_all(node.args.kw_defaults)


def _definition(walk: _Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    walk.bind(node.name)
    walk.visit_all(node.decorator_list)
    walk.visit_all(node.args.defaults)
    walk.visit_all(node.args.kw_defaults)
    scope = walk.codes.of_type_parameters(node)
    if scope is not None:
        walk.capture(scope)
        return 0
    walk.visit_all(p.annotation for p in parameters(node.args))
    if node.returns is not None:
        walk.visit(node.returns)
    walk.capture(walk.codes.of(node))
    return 0


def _class(walk: _Walk, node: ast.ClassDef) -> int:
    walk.bind(node.name)
    walk.visit_all(node.decorator_list)
    scope = walk.codes.of_type_parameters(node)
    if scope is not None:
        walk.capture(scope)
        return 0
    walk.visit_all(node.bases)
    walk.visit_all(node.keywords)
    walk.capture(walk.codes.of(node))
    return 0


def _type_alias(walk: _Walk, node: Any) -> int:
    walk.visit(node.name)
    for code in walk.codes.of_alias(node):
        walk.capture(code)
    return 0


def _import(walk: _Walk, node: ast.Import | ast.ImportFrom) -> int:
    for alias in node.names:
        walk.bind(alias.asname or alias.name.partition(".")[0])
    return 0


def _captured(walk: _Walk, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> int:
    if node.name is not None:
        walk.bind(node.name)
    return walk.children(node)


def _mapping_pattern(walk: _Walk, node: ast.MatchMapping) -> int:
    if node.rest is not None:
        walk.bind(node.rest)
    return walk.children(node)


def _global(walk: _Walk, node: ast.Global) -> int:
    walk.scope.global_names.update(mangle(name, walk.private) for name in node.names)
    return 0


def _annotated(walk: _Walk, node: ast.AnnAssign) -> int:
    # The annotation of a local variable is not evaluated, but makes the name local.
    if node.value is not None:
        return walk.visit(node.target) | walk.visit(node.value)
    if isinstance(node.target, ast.Name):
        walk.scope.local.add(mangle(node.target.id, walk.private))
        return 0
    return walk.visit(node.target)


_HANDLERS: dict[type[ast.AST], Callable[[_Walk, Any], int]] = {
    ast.Constant: lambda walk, node: 0,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.Call: _call,
    ast.Yield: _call,
    ast.YieldFrom: _call,
    ast.Await: _call,
    ast.NamedExpr: _walrus,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _generator,
    ast.Lambda: _lambda,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.ExceptHandler: _captured,
    ast.MatchAs: _captured,
    ast.MatchStar: _captured,
    ast.MatchMapping: _mapping_pattern,
    ast.Global: _global,
    ast.Nonlocal: lambda walk, node: 0,
    ast.AnnAssign: _annotated,
}
if hasattr(ast, "TypeAlias"):
    _HANDLERS[ast.TypeAlias] = _type_alias
