"""The comparison of a code object with the code that a piece of source compiles to.

Libraries ``exec`` functions that carry line numbers of a real file, and files change after their
import. So source that is found by position is compiled and compared before it is used.
"""

from __future__ import annotations
import __future__

import ast
import warnings
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from adjoint.locks import make_lock

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_FROM_OUTSIDE = 0x10 | 0x100
"""Flags set from outside the function: ``CO_NESTED`` by a type parameter scope, and the flag of
``types.coroutine``."""

_quiet = make_lock()


def future_flags(code: CodeType) -> int:
    """Return the flags of the ``from __future__`` imports in force where `code` was compiled."""
    return code.co_flags & _FUTURE


def compile_quietly(source: Any, filename: str, flags: int) -> Any:
    """Call ``compile`` without the warnings that Python already gave for the same text."""
    try:
        return compile(source, filename, "exec", flags, dont_inherit=True)
    except SyntaxError:
        # If warnings are errors, a warning arrives as a SyntaxError.
        with _quiet, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, filename, "exec", flags, dont_inherit=True)


def compiles_to(node: Any, private: str | None, imports: frozenset[str], code: CodeType) -> bool:
    """Return whether `node` compiles to `code`. `private` is the surrounding class, and `imports`
    are the names that the module imports."""
    body, name = _bare(node)
    free = [variable for variable in code.co_freevars if variable != "__class__"]
    depth = 0
    if free:
        body, depth = _function("_", free, body, node), depth + 1
    if private is not None or "__class__" in code.co_freevars:
        name_of_class, depth = private or "_", depth + 1
        body = ast.ClassDef(
            name=name_of_class, bases=[], keywords=[], body=[body], decorator_list=[]
        )
        _no_type_parameters(body)
        _placed(body, node)
    for context in _contexts(node, imports, set(_names(code))):
        try:
            found = compile_quietly(
                ast.Module([*context, body], []), code.co_filename, future_flags(code)
            )
        except (SyntaxError, ValueError):
            return False
        for _ in range(depth):
            found = next(constant for constant in found.co_consts if isinstance(constant, CodeType))
        inner = [
            one for one in found.co_consts if isinstance(one, CodeType) and one.co_name == name
        ]
        if inner and same_code(inner[0], code):
            return True
    return False


def _contexts(node: Any, imports: frozenset[str], names: set[str]) -> Iterator[list[ast.stmt]]:
    """Yield the module contexts of a function that the compiler distinguishes (since 3.12).

    The compiler treats the call of an attribute differently if the module imports the name before
    the dot, and ``super()`` if the module itself mentions ``super``.
    """
    used = sorted(imports & names)
    context: list[ast.stmt] = (
        [ast.Import([_placed(ast.alias(name), node) for name in used])] if used else []
    )
    for statement in context:
        _placed(statement, node)
    yield context
    if "super" in names:
        mention = ast.Expr(_placed(ast.Name("super", ast.Load()), node))
        yield [*context, _placed(mention, node)]
    if used:
        yield []  # a notebook cell is compiled statement by statement


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_varnames
    yield from code.co_cellvars
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _bare(node: Any) -> tuple[Any, str]:
    """Return the function without decorators, defaults and first iterable, and its name. The
    enclosing scope evaluates these parts."""
    if isinstance(node, ast.GeneratorExp):
        first = node.generators[0]
        iterable = _placed(ast.Constant(None), first.iter)
        head = ast.comprehension(first.target, iterable, first.ifs, first.is_async)
        bare: ast.expr = _placed(ast.GeneratorExp(node.elt, [head, *node.generators[1:]]), node)
        return _placed(ast.Expr(bare), node), "<genexpr>"
    args = node.args
    plain = ast.arguments(
        posonlyargs=list(map(_unannotated, args.posonlyargs)),
        args=list(map(_unannotated, args.args)),
        vararg=_unannotated(args.vararg),
        kwonlyargs=list(map(_unannotated, args.kwonlyargs)),
        kw_defaults=[None] * len(args.kwonlyargs),
        kwarg=_unannotated(args.kwarg),
        defaults=[],
    )
    if isinstance(node, ast.Lambda):
        bare = _placed(ast.Lambda(plain, node.body), node)
        return _placed(ast.Expr(bare), node), "<lambda>"
    function = type(node)(name=node.name, args=plain, body=node.body, decorator_list=[])
    _no_type_parameters(function)
    return _placed(function, node), node.name


def _unannotated(parameter: Any) -> Any:
    return None if parameter is None else _placed(ast.arg(parameter.arg), parameter)


def _placed(node: Any, at: Any) -> Any:
    """Give a node the place of another; `ast.copy_location` takes three times as long."""
    node.lineno, node.col_offset = at.lineno, at.col_offset
    node.end_lineno, node.end_col_offset = at.end_lineno, at.end_col_offset
    return node


def _function(name: str, parameters: Sequence[str], body: Any, place: ast.AST) -> ast.FunctionDef:
    args = ast.arguments(
        posonlyargs=[],
        args=[_placed(ast.arg(p), place) for p in parameters],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    function = ast.FunctionDef(name=name, args=args, body=[body], decorator_list=[])
    _no_type_parameters(function)
    _placed(function, place)
    return function


def _no_type_parameters(node: Any) -> None:
    if "type_params" in node._fields:
        node.type_params = []


# ---- comparison ----------------------------------------------------------------------------------


def same_code(a: CodeType, b: CodeType) -> bool:
    """Return whether two code objects do the same, regardless of their positions."""
    return (
        a.co_code == b.co_code
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
        and a.co_freevars == b.co_freevars
        and a.co_cellvars == b.co_cellvars
        and a.co_name == b.co_name
        and not (a.co_flags ^ b.co_flags) & ~_FROM_OUTSIDE
        and a.co_exceptiontable == b.co_exceptiontable
        and a.co_argcount == b.co_argcount
        and a.co_posonlyargcount == b.co_posonlyargcount
        and a.co_kwonlyargcount == b.co_kwonlyargcount
        and len(a.co_consts) == len(b.co_consts)
        and all(_same_constant(x, y, a, b) for x, y in zip(a.co_consts, b.co_consts, strict=True))
    )


def _same_constant(x: Any, y: Any, a: CodeType, b: CodeType) -> bool:
    if type(x) is not type(y):
        return False
    match x:
        case CodeType():
            return same_code(x, y)
        case tuple():
            if len(x) == len(y) and all(
                _same_constant(p, q, a, b) for p, q in zip(x, y, strict=True)
            ):
                return True
            # 3.13 stores the attributes that methods of a class set in the order of a set.
            return _is_class_body(a) and set(x) == set(y)
        case frozenset():
            return {(type(p), p) for p in x} == {(type(q), q) for q in y}
        case float() | complex():
            return repr(x) == repr(y)
        case str() if x != y:
            return _is_class_body(a) and x == a.co_qualname and y == b.co_qualname
        case int() if x != y:
            return _is_class_body(a) and x == a.co_firstlineno and y == b.co_firstlineno
        case _:
            return bool(x == y)


def _is_class_body(code: CodeType) -> bool:
    return not code.co_flags & 0x1  # CO_OPTIMIZED is set for functions


# ---- code rewritten by pytest --------------------------------------------------------------------


def is_rewritten_by_pytest(code: CodeType) -> bool:
    """Return whether pytest has replaced assertions of `code` or of a function in it."""
    return any(
        name.startswith(("@py_", "@pytest"))
        for name in (*code.co_names, *code.co_varnames, *code.co_cellvars)
    ) or any(
        isinstance(inner, CodeType) and is_rewritten_by_pytest(inner) for inner in code.co_consts
    )


def may_be_rewritten_from(node: Any, code: CodeType, offset: int) -> bool:
    """Return whether `code` may come from `node`, judged by the parts outside assertions."""
    if getattr(node, "name", code.co_name) != code.co_name:
        return False
    parts, asserted = _outside_assertions(node)
    lines = [range(n.lineno + offset, n.end_lineno + offset + 1) for n in asserted]
    placed = [n for n in parts if hasattr(n, "lineno")]
    starts = {(n.lineno + offset, n.col_offset) for n in placed}
    ends = {(n.end_lineno + offset, n.end_col_offset) for n in placed}
    for line, end_line, column, end_column in positions(code):
        if not any(line in span for span in lines) and not (
            (line, column) in starts or (end_line, end_column) in ends
        ):
            return False
    names = set(_names(code))
    words = {
        word for n in parts for word in (getattr(n, "id", None), getattr(n, "attr", None)) if word
    }
    return all(word in names or any(name.endswith(word) for name in names) for word in words)


def _outside_assertions(node: ast.AST) -> tuple[list[Any], list[Any]]:
    """Return the nodes that run outside assertions, and the assertions."""
    parts: list[Any] = []
    asserted: list[Any] = []
    pending = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Assert):
            asserted.append(inner)
            continue
        parts.append(inner)
        # Annotations and decorators run in the enclosing scope, or never.
        unseen = {"decorator_list", "annotation", "returns"} | (
            {"args"} if inner is node else set()
        )
        pending += [
            child
            for name, value in ast.iter_fields(inner)
            if name not in unseen
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        ]
    return parts, asserted


def positions(code: CodeType) -> Iterator[tuple[int, int, int, int]]:
    """Yield the known places of instructions: line, last line, column, last column."""
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (column, end_column) != (0, 0):
            yield line, end_line, column, end_column
