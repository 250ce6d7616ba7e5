"""The user's text of an operation, and names for its operands."""

from __future__ import annotations

import ast
import functools
import linecache

from adjoint.ir.nodes import Span

LONGEST = 60


def text_at(filename: str, span: Span | None) -> str:
    """Return what the user wrote at a place, in one line."""
    if span is None:
        return ""
    lines = [
        linecache.getline(filename, i).rstrip("\n").encode()
        for i in range(span.line, span.end_line + 1)
    ]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    text = b" ".join(line.strip() for line in lines).decode(errors="replace")
    return text.strip()


def shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


@functools.lru_cache(maxsize=4096)
def labels_in(text: str, count: int) -> tuple[str, ...]:
    """Return names for the operands of the operation that `text` stands for.

    Examples
    --------
    >>> labels_in("x * (y + 1)", 2), labels_in("v.dot(w)", 2), labels_in("sum(xs)", 2)
    (('x', 'y + 1'), ('v', 'w'), ('xs', 'operand 2'))
    >>> labels_in("f(*xs)", 2)
    ('operand 1', 'operand 2')
    """
    found = [shortened(ast.unparse(node), 24) for node in _operands(_parsed(text), count)]
    return *found, *(f"operand {i}" for i in range(len(found) + 1, count + 1))


def _parsed(text: str) -> ast.AST | None:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    first = body[0] if body else None
    return first.value if isinstance(first, ast.Expr) else first


def _operands(node: ast.AST | None, count: int) -> list[ast.expr]:
    """Return the expressions of the first operands, none where they cannot be told."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            found = [left, right]
        case ast.AugAssign(target=target, value=value):
            found = [target, value]
        case ast.UnaryOp(operand=value) | ast.Subscript(value=value):
            found = [value]
        case ast.Call(func=func, args=args, keywords=keywords):
            found = [*args, *(keyword.value for keyword in keywords)]
            if any(isinstance(part, ast.Starred) for part in args):
                return []
            if isinstance(func, ast.Attribute) and len(found) + 1 == count:
                found = [func.value, *found]  # a method
            elif isinstance(func, ast.Name) and len(found) < count:
                return found  # the rest has defaults
        case _:
            return []
    return found if len(found) == count else []
