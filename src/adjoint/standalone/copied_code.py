"""The source of functions and classes in a form that stands alone."""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from adjoint.errors import SourceError
from adjoint.frontend.source import find_source
from adjoint.primal.packages import package
from adjoint.standalone.not_exported import NotExported

_WRITES = ("STORE_GLOBAL", "DELETE_GLOBAL")


@dataclass(frozen=True, slots=True)
class Code:
    """The definition of a function or a class: a statement, or a ``lambda``."""

    node: ast.stmt | ast.Lambda

    def bound(self, name: str, passed: Mapping[str, str]) -> str:
        """Return statements that define it as `name`; `passed` are the names in it that are others
        outside, with these."""
        own = "" if isinstance(self.node, ast.Lambda) else str(getattr(self.node, "name", ""))
        text = ast.unparse(self.node)
        if not own:
            own, text = name, f"{name} = {text}"
        if not passed and own == name:
            return text
        if not passed and f"def {own}(" in text and not _mentions(self.node, own):
            return text.replace(f"def {own}(", f"def {name}(", 1)
        itself = [inside for inside, outside in passed.items() if outside == name]
        others = {inside: outside for inside, outside in passed.items() if outside != name}
        lines = [textwrap.indent(text, "    "), *(f"    {one} = {own}" for one in itself)]
        body = "\n".join([*lines, f"    return {own}"])
        made = f"_make_{name}"
        call = f"{name} = {made}({', '.join(others.values())})"
        return f"def {made}({', '.join(others)}):\n{body}\n\n\n{call}"


def reads(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function or a class reads from outside, with their values.

    Raises
    ------
    NotExported
        It writes global variables, or a variable has no value.
    """
    if isinstance(value, type):
        scope = vars(sys.modules[value.__module__])
        names = (x.id for x in ast.walk(_class_node(value)) if isinstance(x, ast.Name))
        for name in dict.fromkeys(names):
            if name in scope and not hasattr(builtins, name) and scope[name] is not value:
                yield name, scope[name]
        return
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            raise NotExported(f"the variable '{name}', which has no value yet") from None
    for name in dict.fromkeys(_global_names(value.__code__)):
        if name in value.__globals__:
            yield name, value.__globals__[name]


def function_code(f: FunctionType, expression: Callable[[Any], str]) -> Code:
    """Return the definition of a function, without decorators and annotations; `expression` writes
    the values of its defaults."""
    try:
        node: Any = copy.deepcopy(find_source(f).node)
    except SourceError as error:
        raise NotExported(f"the function '{f.__qualname__}', which has no source") from error
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        raise NotExported(f"the function '{f.__qualname__}'")
    defaults, named = f.__defaults__ or (), f.__kwdefaults__ or {}
    node.args.defaults = [_parsed(expression(x)) for x in defaults]
    node.args.kw_defaults = [
        _parsed(expression(named[one.arg])) if one.arg in named else None
        for one in node.args.kwonlyargs
    ]
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    return Code(_Bare().visit(node))


def class_code(kind: type) -> Code:
    """Return the definition of a class without annotations."""
    return Code(_Bare().visit(_class_node(kind)))


def _class_node(kind: type) -> Any:
    if package(kind.__module__) != "adjoint" or "<locals>" in kind.__qualname__:
        raise NotExported(f"the class '{kind.__module__}.{kind.__qualname__}'")
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(node, ast.ClassDef)
    return node


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(node))


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function and its inner functions read, in order."""
    for one in dis.get_instructions(code):
        if one.opname in _WRITES:
            raise NotExported(f"the global variable '{one.argval}', which is written")
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield one.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)


class _Bare(ast.NodeTransformer):
    """Removes annotations; those of the fields of classes become ``object``."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        names = [x.target.id for x in node.body if _is_field(x)]  # type: ignore[attr-defined]
        self.generic_visit(node)
        if names:  # as text, annotations would be looked up in a module
            text = ", ".join(f"{name!r}: object" for name in names)
            place = 1 if ast.get_docstring(node) else 0
            node.body[place:place] = ast.parse(f"__annotations__ = {{{text}}}").body
        node.body = node.body or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        return node.value and ast.copy_location(ast.Assign([node.target], node.value), node)


def _is_field(node: ast.stmt) -> Any:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
