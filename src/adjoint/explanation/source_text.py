"""The user's text of an operation, and names for its operands."""

from __future__ import annotations

import ast
import functools
import linecache

from adjoint.ir.nodes import Span

LONGEST = 60


@functools.lru_cache(maxsize=4096)
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
    >>> labels_in("x * (y + 1)", 2), labels_in("np.tanh(v)", 1), labels_in("f(*xs)", 2)
    (('x', 'y + 1'), ('v',), ('operand 1', 'operand 2'))
    """
    found = _operands(_parsed(text))
    if len(found) == count:
        return tuple(shortened(ast.unparse(node), 24) for node in found)
    return tuple(f"operand {i}" for i in range(1, count + 1))


def _parsed(text: str) -> ast.AST | None:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    first = body[0] if body else None
    return first.value if isinstance(first, ast.Expr) else first


def _operands(node: ast.AST | None) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=target, value=value):
            return [target, value]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Subscript(value=value):
            return [value]
        case ast.Call(func=func, args=args) if not any(isinstance(a, ast.Starred) for a in args):
            is_method = isinstance(func, ast.Attribute) and not args
            return [func.value] if is_method and isinstance(func, ast.Attribute) else [*args]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case _:
            return []
