"""The syntax tree of a function: found by the position of its code, and verified."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from adjoint.errors import SourceError, place_text
from adjoint.frontend.same_code import (
    compile_quietly,
    compiles_to,
    future_flags,
    is_rewritten_by_pytest,
    may_be_rewritten_from,
    positions,
)
from adjoint.frontend.scope import FunctionNode
from adjoint.ir.node import node


@node
class Source:
    """The source of a function.

    Attributes
    ----------
    node
        The syntax tree of the function.
    offset
        The line number in the file minus the line number in the tree.
    private
        The class whose private names (``__x``) the function sees.
    """

    node: FunctionNode
    offset: int
    private: str | None

    def of_inner(self, node: Any) -> Source:
        """Return the source of a function or class body inside this one."""
        private = node.name if isinstance(node, ast.ClassDef) else self.private
        return Source(node, self.offset, private)


# ---- entry ---------------------------------------------------------------------------------------

_KNOWN: OrderedDict[int, tuple[CodeType, Source]] = OrderedDict()
_MOST_KNOWN = 4096


def remember(code: CodeType, source: Source) -> None:
    """Store the source of `code`, which is inside a verified function."""
    _KNOWN[id(code)] = code, source
    _shorten(_KNOWN, _MOST_KNOWN)


def is_known(code: CodeType) -> bool:
    """Return whether the source of `code` was stored."""
    return _KNOWN.get(id(code), (None,))[0] is code


def _shorten(cache: OrderedDict[Any, Any], most: int) -> None:
    while len(cache) > most:
        try:
            cache.popitem(last=False)
        except KeyError:  # another thread was faster
            break


def find_source(function: FunctionType) -> Source:
    """Return the syntax tree that `function` was compiled from.

    Raises
    ------
    SourceError
        There is no source, or the text at its place is not what `function` was compiled from.
    """
    code = function.__code__
    known = _KNOWN.get(id(code))
    if known is not None and known[0] is code:
        return known[1]
    filename = _file_of(code)
    lines = linecache.getlines(filename, function.__globals__)
    source = _search(code, lines) if lines else None
    if source is None:
        # linecache still has the old text of a module that was edited and reloaded.
        linecache.checkcache(filename)
        fresh = linecache.getlines(filename, function.__globals__)
        if fresh and fresh is not lines:
            lines = fresh
            source = _search(code, lines)
    if source is not None:
        return source
    name = function.__qualname__
    if not lines:
        raise SourceError(
            f"the source of '{name}' cannot be found: there is no text of {filename!r}",
            hint=f"define it in a file or a notebook cell, or register an rrule for '{name}'",
        )
    raise SourceError(
        f"the source of '{name}' is not at {place_text(filename, code.co_firstlineno)}; the file"
        " changed since"
        " it was imported, or the function was made by 'exec' under another file's name",
        hint=f"reload the module, or register an rrule for '{name}'",
    )


def _file_of(code: CodeType) -> str:
    """Return the file of a code object; frozen modules of the standard library also have one."""
    name = code.co_filename
    if name.startswith("<frozen ") and name.endswith(">"):
        module = sys.modules.get(name[8:-1])
        return getattr(module, "__file__", None) or name
    return name


def _search(code: CodeType, lines: list[str]) -> Source | None:
    if code.co_firstlineno > len(lines):
        return None
    for source in _nearby(code, lines):
        if _is_source_of(source, code, _imports_at_margin(code.co_filename, lines)):
            return source
    file = _File.of(code, lines)
    for source in file.functions(code):
        if _is_source_of(source, code, file.imports):
            return source
    return None


def _nearby(code: CodeType, lines: list[str]) -> Iterator[Source]:
    """Yield the candidates that can be found without parsing the whole file."""
    if code.co_name == "<lambda>":
        yield from _lambdas_on_line(code, lines, _private_class(code))
    elif code.co_name != "<genexpr>":
        yield from _definition_at(code, lines, _private_class(code))


def _is_source_of(source: Source, code: CodeType, imports: frozenset[str]) -> bool:
    is_def = isinstance(source.node, ast.FunctionDef | ast.AsyncFunctionDef)
    if not is_def and not _covers(source, code):
        return False
    if compiles_to(source.node, source.private, imports, code):
        return True
    return is_rewritten_by_pytest(code) and may_be_rewritten_from(source.node, code, source.offset)


def _private_class(code: CodeType) -> str | None:
    """Return the innermost class around a function, from its qualified name."""
    parts = code.co_qualname.split(".")
    for outer, inner in zip(parts[-2::-1], parts[:0:-1], strict=True):
        if outer.isidentifier() and inner != "<locals>":
            return outer
    return None


def _box(code: CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the first and last position of the instructions of `code`, or ``None``."""
    places = [*positions(code)]
    if not places:
        return None
    first = min((line, column) for line, _, column, _ in places)
    return first, max((end_line, end_column) for _, end_line, _, end_column in places)


def _covers(source: Source, code: CodeType) -> bool:
    box = _box(code)
    if box is None:
        return True
    node: Any = source.node.body if isinstance(source.node, ast.Lambda) else source.node
    end = (node.end_lineno + source.offset, node.end_col_offset)
    return (node.lineno + source.offset, node.col_offset) <= box[0] and box[1] <= end


# ---- a def: its own lines ------------------------------------------------------------------------


def _definition_at(code: CodeType, lines: list[str], private: str | None) -> Iterator[Source]:
    start = code.co_firstlineno - 1
    if not lines[start].lstrip().startswith(("def ", "def\t", "@", "async")):
        return
    last = max((line for _, _, line in code.co_lines() if line is not None), default=start + 1)
    for end in _ends_of_block(lines, start, min(last, len(lines))):
        node = _parse_definition(lines[start:end], code)
        if node is not None:
            indented = lines[start][:1].isspace()
            yield Source(node, start - indented, private)
            return


def _ends_of_block(lines: list[str], start: int, end: int) -> Iterator[int]:
    """Yield possible ends of the block at `start`: lines that are indented no deeper, nearest
    first. A line inside an open bracket or string may look like an end, so several are tried."""
    indent = _width(lines[start])
    tries = 8
    while end < len(lines):
        text = lines[end].strip()
        if text and not text.startswith("#") and _width(lines[end]) <= indent:
            yield end
            tries -= 1
            if not tries:
                return
        end += 1
    yield len(lines)


def _width(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _parse_definition(
    lines: list[str], code: CodeType
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    text = "".join(lines)
    if text[:1].isspace():
        # As the body of an `if`, the text keeps the indentation and so the columns of the file.
        text = "if 1:\n" + text
    try:
        body = compile_quietly(text, code.co_filename, future_flags(code) | ast.PyCF_ONLY_AST).body
    except (SyntaxError, ValueError):
        return None
    node = body[0].body[0] if isinstance(body[0], ast.If) else body[0]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
        return node
    return None


# ---- a lambda: the text from the word on ---------------------------------------------------------


def _lambdas_on_line(code: CodeType, lines: list[str], private: str | None) -> Iterator[Source]:
    box = _box(code)
    if box is None:
        return
    start, (end_line, end_column) = code.co_firstlineno - 1, box[1]
    if end_line > len(lines):
        return
    first = lines[start]
    for word in reversed(list(re.finditer(r"\blambda\b", first))):
        column = len(first[: word.start()].encode())
        if (start + 1, column) >= box[0]:
            continue
        node = _parse_lambda(code, lines, start, word.start(), column, end_line, end_column)
        if node is not None:
            yield Source(node, start - 1, private)


def _parse_lambda(
    code: CodeType,
    lines: list[str],
    start: int,
    character: int,
    column: int,
    end_line: int,
    end_column: int,
) -> ast.Lambda | None:
    """Parse from the word ``lambda`` to the end of its last instruction. If that fails, end at one
    of the closing brackets after this point."""
    last = lines[end_line - 1]
    end = len(last.encode()[:end_column].decode(errors="replace"))
    head = "(\n" + " " * column
    closers = [match.end() for match in re.finditer(r"[)\]}'\"]", last) if match.end() > end]
    for stop in [end, *closers[:12]]:
        if end_line == start + 1:
            text = last[character:stop]
        else:
            text = lines[start][character:] + "".join(lines[start + 1 : end_line - 1]) + last[:stop]
        try:
            body = compile_quietly(
                f"{head}{text}\n)", code.co_filename, future_flags(code) | ast.PyCF_ONLY_AST
            ).body
        except (SyntaxError, ValueError):
            continue
        match body:
            case [ast.Expr(value=ast.Lambda() as found)]:
                return found
    return None


# ---- whole files ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _File:
    """A parsed file: its functions by kind and first line, each with its private class. `imports`
    are the names that the module itself imports."""

    lines: list[str]
    imports: frozenset[str] = frozenset()
    index: dict[tuple[type[ast.AST], int], list[tuple[Any, str | None]]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, code: CodeType, lines: list[str]) -> _File:
        known = _FILES.get(code.co_filename)
        if known is not None and known.lines is lines:
            return known
        file = cls(lines)
        try:
            tree = compile_quietly(
                "".join(lines), code.co_filename, future_flags(code) | ast.PyCF_ONLY_AST
            )
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        file._enter(tree)
        _FILES[code.co_filename] = file
        _shorten(_FILES, _MOST_FILES)
        return file

    def _enter(self, tree: ast.AST) -> None:
        pending: list[tuple[ast.AST, str | None, bool]] = [(tree, None, True)]
        imports: set[str] = set()
        while pending:
            node, private, is_module = pending.pop()
            if isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp
            ):
                kind = ast.FunctionDef if isinstance(node, ast.AsyncFunctionDef) else type(node)
                self.index.setdefault((kind, _first_line(node)), []).append((node, private))
                is_module = False
            elif isinstance(node, ast.ClassDef):
                private, is_module = node.name, False
            elif is_module and isinstance(node, ast.Import | ast.ImportFrom):
                imports.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
            pending.extend((child, private, is_module) for child in ast.iter_child_nodes(node))
        self.imports = frozenset(imports)

    def functions(self, code: CodeType) -> Iterable[Source]:
        """Return the functions that start on the line of `code`, inner (smaller) ones first."""
        kind = {"<lambda>": ast.Lambda, "<genexpr>": ast.GeneratorExp}.get(
            code.co_name, ast.FunctionDef
        )
        found = [
            Source(node, 0, private)
            for node, private in self.index.get((kind, code.co_firstlineno), ())
        ]
        return sorted(found, key=_extent)


_IMPORT = re.compile(
    r"^(?:import|from\s+[\w.]+\s+import)\b[ \t]*(\([^)]*\)|(?:[^\n\\]|\\\n?)*)", re.MULTILINE
)
_MARGINS: dict[str, tuple[list[str], frozenset[str]]] = {}


def _imports_at_margin(filename: str, lines: list[str]) -> frozenset[str]:
    """Return the names that unindented statements import: a guess, which the caller verifies."""
    known = _MARGINS.get(filename)
    if known is None or known[0] is not lines:
        names = set()
        for match in _IMPORT.finditer("".join(lines)):
            for part in re.sub(r"#.*", "", match[1]).strip("() \n").replace("\\", " ").split(","):
                words = part.split()
                if words:
                    names.add(words[-1] if "as" in words else words[0].partition(".")[0])
        known = _MARGINS[filename] = (
            lines,
            frozenset(name for name in names if name.isidentifier()),
        )
    return known[1]


_FILES: OrderedDict[str, _File] = OrderedDict()
_MOST_FILES = 8


def _first_line(node: Any) -> int:
    first: int = min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))
    return first


def _extent(source: Source) -> tuple[int, int]:
    node: Any = source.node
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset
