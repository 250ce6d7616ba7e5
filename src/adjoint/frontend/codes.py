"""The code objects of nested functions, and the syntax nodes that they belong to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

from adjoint.errors import SourceError
from adjoint.frontend.same_code import compiles_to

_INLINE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
"""Codes of comprehensions (before 3.12), which are lowered inline."""


def mangle(name: str, private: str | None) -> str:
    """Return a name as the body of class `private` means it (``__x`` → ``_Class__x``)."""
    if private is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = private.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


class NestedCodes:
    """Find the code object of a nested ``def``, ``lambda``, ``class`` or generator expression.

    Parameters
    ----------
    code
        The code of the enclosing function.
    offset
        The line number in the file minus the line number in the syntax tree.
    """

    def __init__(self, code: CodeType, offset: int) -> None:
        self._offset = offset
        self._codes: dict[tuple[str, int], list[CodeType]] = {}
        for inner in _nested(code):
            self._codes.setdefault((inner.co_name, inner.co_firstlineno), []).append(inner)

    def of(self, node: ast.AST) -> CodeType | None:
        """Return the code of a function or class body. ``None`` in a branch that the compiler has
        removed as dead."""
        name, line = _name_and_line(node)
        scope = self.of_type_parameters(node)
        if scope is not None:
            return NestedCodes(scope, self._offset)._get(name, line, node)
        return self._get(name, line, node)

    def of_type_parameters(self, node: Any) -> CodeType | None:
        """Return the code of the type parameter scope of a generic ``def`` or ``class``."""
        if not getattr(node, "type_params", None):
            return None
        _, line = _name_and_line(node)
        return self._get(f"<generic parameters of {node.name}>", line, node)

    def of_alias(self, node: Any) -> list[CodeType]:
        """Return the code that evaluates a ``type`` statement, if the compiler kept it."""
        name = node.name.id
        if node.type_params:
            name = f"<generic parameters of {name}>"
        return self._codes.get((name, node.lineno + self._offset), [])

    def _get(self, name: str, line: int, node: ast.AST) -> CodeType | None:
        found = self._codes.get((name, line + self._offset), ())
        if len(found) == 1:
            return found[0]
        for code in found:
            if _lies_in(code, node, self._offset):
                return code
        if any(map(has_columns, found)):
            # Code that only returns a constant has no position: take any that compiles equally.
            return next(
                (code for code in found if compiles_to(node, None, frozenset(), code)), None
            )
        if found:
            raise SourceError(
                f"several functions called {name} on line {line + self._offset} cannot be told"
                " apart, because Python runs without column information",
                hint="write them on separate lines, or drop '-X no_debug_ranges'",
            )
        return None


def _nested(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            if constant.co_name in _INLINE:
                yield from _nested(constant)


def _name_and_line(node: Any) -> tuple[str, int]:
    match node:
        case ast.Lambda():
            return "<lambda>", node.lineno
        case ast.GeneratorExp():
            return "<genexpr>", node.lineno
        case _:
            return node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])


def has_columns(code: CodeType) -> bool:
    """Return whether `code` was compiled with column positions."""
    return any(column is not None for _, _, column, _ in code.co_positions())


def _lies_in(code: CodeType, node: ast.AST, offset: int) -> bool:
    """Return whether instructions of `code` come from the part of `node` that is its own. No other
    function of the same nesting level shares this part."""
    inside = (
        node.body
        if isinstance(node, ast.Lambda)
        else node.elt
        if isinstance(node, ast.GeneratorExp)
        else node
    )
    start = (inside.lineno + offset, inside.col_offset)  # type: ignore[attr-defined]
    end = (inside.end_lineno + offset, inside.end_col_offset)  # type: ignore[attr-defined]
    for line, end_line, column, end_column in code.co_positions():
        if (
            line is None
            or end_line is None
            or column is None
            or end_column is None
            or (column, end_column) == (0, 0)
        ):
            continue
        if start <= (line, column) and (end_line, end_column) <= end:
            return True
    return False
