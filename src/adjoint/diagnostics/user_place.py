"""Places in user code, and tracebacks that show user code instead of generated code."""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

from adjoint.diagnostics.generated_code import place_of, walk_stack, walk_tb
from adjoint.errors import Place
from adjoint.ir.nodes import Span
from adjoint.primal.code_owner import LIBRARY, USER_PARTS, exclude, is_excluded, is_user_code
from adjoint.primal.packages import is_of_a_library, package


def current_place() -> Place | None:
    """Return the innermost place in user code whose generated code runs now, with the innermost
    place in the library that it calls.

    Places in rules of Adjoint are skipped, and so are places without text where there are others.
    Where all code is of a library, the innermost place counts as the user's. In the sweep of a
    derivative inside another one no user code runs: then the result is ``None``.
    """
    running: list[tuple[Any, Span]] = []
    for frame, line in walk_stack(sys._getframe(1)):
        found = place_of(frame.f_code, line)
        if found is not None and not is_library_file(found[0].function.filename):
            running.append(found)
            if _is_certainly_user_code(*found):
                break  # stacks are deep, and places are asked for often
    with_text = [one for one in running if linecache.getline(one[0].function.filename, one[1].line)]
    places = [Place(unit.function.filename, span) for unit, span in with_text or running[:1]]
    own = [i for i, (unit, _) in enumerate(with_text) if not _is_anothers(unit, with_text[-1][0])]
    if own and own[0] > 0:
        called = public_name(with_text[own[0] - 1][0])
        return places[own[0]]._replace(called=called, inner=places[0][:2])
    return places[0] if places else None


def _is_certainly_user_code(unit: Any, span: Span) -> bool:
    """Return whether a place has source text that lies in no known or installed package."""
    filename = unit.function.filename
    home = unit.namespace.get("__name__")
    installed = _INSTALLED.search(filename) is not None
    return (
        not installed and not is_of_a_library(home) and bool(linecache.getline(filename, span.line))
    )


def _is_anothers(unit: Any, outermost: Any) -> bool:
    """Return whether a function is probably of a package by another author: of a known library, or
    installed and of another package than the outermost differentiated function. Messages only."""
    home, own = unit.namespace.get("__name__"), outermost.namespace.get("__name__")
    installed = _INSTALLED.search(unit.function.filename) is not None
    return is_of_a_library(home) or (installed and package(home) != package(own))


_INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")


def public_name(unit: Any) -> str:
    """Return the public name of a function: in the outermost module that has it."""
    module, name = str(unit.namespace.get("__name__", "")), unit.function.code.co_qualname
    own, packages = _named(module, name), module.split(".")
    for n in range(1, len(packages)):
        shorter = ".".join(packages[:n])
        if own is not None and _named(shorter, name) is own:
            return f"{shorter}.{name}"
    return f"{module}.{name}"


def _named(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found


def current_module() -> str:
    """Return the module of the running user code, for functions that look for it in frames."""
    for frame, line in walk_stack(sys._getframe(1)):
        found = place_of(frame.f_code, line)
        if found is not None:
            return str(found[0].namespace.get("__name__", "__main__"))
    return "__main__"


def user_traceback(trace: TracebackType | None, unbound: str = "") -> TracebackType | None:
    """Return `trace` without frames of the library and with user frames for generated code. For a
    NameError, mark the name `unbound`."""
    entries: list[TracebackType] = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    result: TracebackType | None = None
    for entry in reversed(entries):
        code = entry.tb_frame.f_code
        found = place_of(code, entry.tb_lineno)
        if found is not None:
            unit, span = found
            if not is_library_file(unit.function.filename):
                if unbound and result is None:
                    span = _span_of_name(unit.function.filename, span, unbound)
                frame = _frame_of(unit, span)
                has_columns = (span.line, span.column) != (span.end_line, span.end_column)
                at = frame.f_lasti if has_columns else -1
                result = TracebackType(result, frame, at, span.line)
        elif not is_library_file(code.co_filename) and not is_excluded(code):
            result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def as_user_error(error: BaseException) -> BaseException:
    """Give an error of user code, and the errors that it was raised from or during, the traceback
    that plain Python would show."""
    seen: set[int] = set()
    stack: list[BaseException | None] = [error]
    while stack:
        current = stack.pop()
        if current is not None and id(current) not in seen:
            seen.add(id(current))
            if current is not error and _is_user_traceback(current.__traceback__):
                continue  # it was handled when it was caught, with its causes
            unbound = _QUOTED.search(str(current)) if isinstance(current, NameError) else None
            name = unbound[1] if unbound is not None else ""
            current.__traceback__ = user_traceback(current.__traceback__, name)
            stack += [current.__cause__, current.__context__]
    return error


def _is_user_traceback(trace: TracebackType | None) -> bool:
    """Return whether a traceback shows no frame of the library or of generated code."""
    return trace is not None and not any(
        place_of(frame.f_code, line) is not None or is_library_file(frame.f_code.co_filename)
        for frame, line in walk_tb(trace)
    )


_QUOTED = re.compile("'(.+?)'")


def _span_of_name(filename: str, span: Span, name: str) -> Span:
    """Return the span of a name inside an operation of one line, since a name is no operation."""
    text = linecache.getline(filename, span.line).encode()[span.column : span.end_column]
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return span
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and span.line == span.end_line:
            start = span.column + node.col_offset
            return Span(span.line, start, span.line, start + len(name.encode()))
    return span


def is_library_file(filename: str) -> bool:
    """Return whether a file belongs to the library, whose frames are hidden."""
    return filename.startswith(LIBRARY) and not filename.startswith(USER_PARTS)


# ---- code that inspects its callers --------------------------------------------------------------


def called_from_user_place(f: Any, depth: int) -> Callable[..., Any]:
    """Return a function that calls `f` from frames like the innermost `depth` user frames."""
    frames: list[tuple[CodeType, dict[str, Any], int]] = []
    for frame, line in walk_stack(sys._getframe(1)):
        if len(frames) == depth:
            break
        found = place_of(frame.f_code, line)
        if found is not None and not is_library_file(found[0].function.filename):
            unit, span = found
            frames.append((unit.function.code, unit.namespace, span.line))
        elif found is None and is_user_code(frame.f_code, frame.f_globals):
            frames.append((frame.f_code, frame.f_globals, line))

    def call(*args: Any, **kwargs: Any) -> Any:
        run: Any = functools.partial(f, *args, **kwargs)
        for code, namespace, line in frames:
            run = functools.partial(eval, _calling(code, line), namespace, {"call": run})
        return run()

    return call


@functools.lru_cache(maxsize=256)
def _calling(code: CodeType, line: int) -> CodeType:
    """Return code that makes one call at a line of a function."""
    first = min(code.co_firstlineno, line)
    stub = compile("\n" * (line - first) + "call()", code.co_filename, "eval")
    stub = stub.replace(co_name=code.co_name, co_qualname=code.co_qualname, co_firstlineno=first)
    exclude(stub)
    return stub


# ---- tracebacks ----------------------------------------------------------------------------------


def _frame_of(unit: Any, span: Span) -> FrameType:
    """Return the frame that a traceback shows for a place in a generated function."""
    code, module = unit.function.code, unit.namespace.get("__name__")
    named = module if type(module) is str else None
    place = code.co_filename, code.co_name, code.co_qualname, code.co_firstlineno
    return _stand_in(*place, named, span)[0]


@functools.lru_cache(maxsize=512)
def _stand_in(
    filename: str, name: str, qualname: str, first: int, module: str | None, span: Span
) -> tuple[FrameType, Any]:
    """Return a frame with name and file of the user's function at `span`, and the generator that
    keeps it alive.

    A traceback takes name, file and columns from the code of the frame. The frame of a suspended
    generator refers to no other frame, and so to nothing of the call that raised the error.
    """
    first = min(first, span.line)  # lines of code count from here
    made = compile(_waiting_at(span, first - 1), filename, "exec")
    stub = next(const for const in made.co_consts if isinstance(const, CodeType))
    stub = stub.replace(co_name=name, co_qualname=qualname, co_firstlineno=first)
    generator = FunctionType(stub, _Scope(__name__=module, __file__=filename))()
    next(generator)
    return generator.gi_frame, generator


class _Scope(dict[str, Any]):
    """The global variables of a stand-in frame."""

    __slots__ = ()


def is_stand_in(frame: FrameType) -> bool:
    """Return whether a frame in a traceback stands for one of generated code."""
    return type(frame.f_globals) is _Scope


def _waiting_at(span: Span, before: int) -> ast.Module:
    """Return a generator function that waits at a place, `before` lines up."""
    tree = ast.parse("def waiting():\n    yield")
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.Yield):
            node.lineno, node.col_offset = span.line - before, span.column
            node.end_lineno, node.end_col_offset = span.end_line - before, span.end_column
    return tree
