"""Cache of generated code on disk, so that a second process starts without lowering.

Each function has one file, and one of its IR where that is needed, in a folder with private
permissions. The file name is a hash of all that the generated code depends on: this library's own
code, the version of Python, the function's code, the text of its source file, and the kind of each
global variable. The file holds plain values and a code object in the format of ``.pyc`` files,
after a hash of its contents. Deleting the folder, or a part of it, is safe at any time.

`adjoint.runtime.cache.folder` says where the folder is, and how large it may become.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import linecache
import marshal
import os
from collections.abc import Callable, Iterator
from functools import cache
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from adjoint.emit.python import Source
from adjoint.ir.nodes import Function, Parameter, Span, Var
from adjoint.runtime.cache.folder import digest_of_file, folder, note_used, note_written, sha256
from adjoint.runtime.cache.generate import Generated, blank_of, entries, runtime
from adjoint.transform.activity import COUNTERS, RESULT_INACTIVE_BUILTINS
from adjoint.transform.paths import is_constant_path

if TYPE_CHECKING:
    from hashlib import _Hash


_open = open  # independent of replacements of the builtin


def load(f: FunctionType) -> tuple[Generated, CodeType] | None:
    """Return what an earlier process generated for `f`, with the compiled source, or ``None``."""
    kept = read(f)
    if kept is None:
        return None
    try:
        return _restored(f, *kept)
    except Unknown:
        return None


def store(f: FunctionType, made: Generated, compiled: CodeType) -> None:
    """Write what was generated for `f` to its file, if all of it has a reference."""
    write(f, lambda: _written(f, made, compiled))


def read(f: FunctionType, ending: str = "") -> Any:
    """Return what `write` has stored for `f` under `ending`, or ``None``."""
    path = _path_of(f)
    if path is None:
        return None
    try:
        with _open(path + ending, "rb") as file:
            data = file.read()
    except OSError:
        return None
    digest, body = data[:32], data[32:]
    if sha256(body).digest() != digest:
        return None  # a truncated or modified file
    note_used(path + ending)
    return marshal.loads(body)


def write(f: FunctionType, plain: Callable[[], Any], ending: str = "") -> None:
    """Store the plain values that `plain` returns, unless it raises `Unknown`."""
    path = _path_of(f)
    if path is None:
        return
    path += ending
    try:
        body = marshal.dumps(plain())
    except (Unknown, ValueError):
        return
    # Another process may be reading or writing the same file.
    unique = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):
        handle = os.open(unique, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(sha256(body).digest() + body)
        os.replace(unique, path)
        note_written(len(body) + 32)


# ---- what is written -----------------------------------------------------------------------------


class Unknown(Exception):
    """Raised for an object that has no reference, or for a reference without an object."""


_PLAIN = (type(None), bool, int, float, complex, str, bytes, EllipsisType)
_MODULES = ("builtins", "operator", "adjoint.ir.primitives")
"""Modules of the functions that the frontend calls by name."""


def _written(f: FunctionType, made: Generated, compiled: CodeType) -> tuple[Any, ...]:
    function, source = made.function, made.source
    if function.code is not f.__code__:
        raise Unknown
    return (
        source.text,
        compiled,
        [None if span is None else _span(span) for span in source.spans],
        [
            (name, ("blank", made.blanks[name]) if name in made.blanks else _reference(f, value))
            for name, value in source.bound.items()
        ],
        [*made.guards],
        [*made.paths],
        made.blank,
        function.name,
        [(parameter.name, parameter.kind) for parameter in function.parameters],
        [(name, var.name) for name, var in function.free],
        function.is_generator,
        function.filename,
        None if function.span is None else _span(function.span),
    )


def _span(span: Span) -> tuple[int, ...]:
    return span.line, span.column, span.end_line, span.end_column


def _restored(
    f: FunctionType,
    text: str,
    compiled: CodeType,
    spans: list[Any],
    bound: list[Any],
    guards: list[str],
    paths: list[tuple[str, ...]],
    blank: Any,
    name: str,
    parameters: list[tuple[str, int]],
    free: list[tuple[str, str]],
    is_generator: bool,
    filename: str,
    span: Any,
) -> tuple[Generated, CodeType]:
    namespace = f.__globals__
    if not all(is_constant_path(namespace, path) for path in paths):
        raise Unknown
    function = Function(
        name,
        tuple([Parameter(*parameter) for parameter in parameters]),
        tuple([(captured, Var(variable)) for captured, variable in free]),
        (),
        is_generator,
        f.__code__,
        filename,
        None if span is None else Span(*span),
    )
    source = Source(
        text,
        tuple([None if place is None else Span(*place) for place in spans]),
        {name: referred(f, reference) for name, reference in bound},
    )
    relied = {name: namespace.get(name, getattr(builtins, name, None)) for name in guards}
    return Generated(function, source, relied, frozenset(paths), blank), compiled


def _reference(f: FunctionType, value: Any) -> tuple[Any, ...]:
    """Return a reference, of plain values, to an object that generated code uses."""
    known = _of_runtime().get(id(value))
    if known is not None:
        return known
    if value is f.__globals__:
        return ("namespace",)
    if type(value) is tuple:
        return "tuple", [_reference(f, item) for item in value]
    return constant_reference(f, value)


def constant_reference(f: FunctionType, value: Any) -> tuple[Any, ...]:
    """Return a reference, of plain values, to a constant of the IR."""
    kind = type(value)
    if kind in _PLAIN:
        return "plain", value
    if kind is slice:
        return "slice", value.start, value.stop, value.step
    if kind is tuple:
        return "tuple", [constant_reference(f, item) for item in value]
    if kind is CodeType:
        for place, code in _inner(f.__code__):
            if code is value:
                return "code", place
    name = getattr(value, "__name__", None) or "MISSING"
    for module in _MODULES:
        if getattr(importlib.import_module(module), name, None) is value:
            return "named", module, name
    raise Unknown


def referred(f: FunctionType, reference: tuple[Any, ...]) -> Any:
    """Return the object of a reference."""
    match reference:
        case "runtime", name:
            return runtime[name]
        case "entry", position:
            return [*entries.values()][position]
        case "blank", blank:
            return blank_of(blank)
        case ("namespace",):
            return f.__globals__
        case "plain", value:
            return value
        case "slice", start, stop, step:
            return slice(start, stop, step)
        case "tuple", items:
            return tuple([referred(f, item) for item in items])
        case "code", place:
            code: Any = f.__code__
            for position in place:
                code = code.co_consts[position]
            return code
        case "named", module, name:
            return getattr(importlib.import_module(module), name)
        case _:
            raise Unknown


@cache
def _of_runtime() -> dict[int, tuple[Any, ...]]:
    """Return references to the functions of the runtime, by identity."""
    found: dict[int, tuple[Any, ...]] = {
        id(entry): ("entry", i) for i, entry in enumerate(entries.values())
    }
    found.update({id(value): ("runtime", name) for name, value in runtime.items()})
    return found


def _inner(code: CodeType, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the code objects inside a code object, with their paths through the constants."""
    for i, value in enumerate(code.co_consts):
        if isinstance(value, CodeType):
            yield (*place, i), value
            yield from _inner(value, (*place, i))


# ---- the name of a file --------------------------------------------------------------------------


def _path_of(f: FunctionType) -> str | None:
    """Return the path of the file of `f`, or ``None`` if there is no cache."""
    kept = folder()
    if kept is None:
        return None
    text = _digest_of_text(f.__code__.co_filename)
    if text is None:
        return None
    digest = sha256(text)
    names = _describe(f.__code__, digest)
    namespace = f.__globals__
    for name in sorted(names):
        digest.update(_kind(namespace.get(name, getattr(builtins, name, _ABSENT)), name))
    return os.path.join(kept, digest.hexdigest()[:40])


_ABSENT = object()


def _kind(value: Any, name: str) -> bytes:
    """Return what generated code may depend on of a global variable."""
    if isinstance(value, ModuleType):
        return f"module {value.__name__} {getattr(value, '__version__', '')};".encode()
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        return f"{value.__name__};".encode() if id(value) in _special() else b"function;"
    return b"absent;" if value is _ABSENT else b"value;"


@cache
def _special() -> frozenset[int]:
    """Return the identities of functions that the transform treats specially."""
    return frozenset(map(id, COUNTERS | RESULT_INACTIVE_BUILTINS))


def _describe(code: CodeType, digest: _Hash) -> set[str]:
    """Hash a code object; return the names that it and its inner code objects read."""
    names = set(code.co_names)
    constants = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            names |= _describe(value, digest)
        elif isinstance(value, frozenset):
            constants.append(f"frozenset {sorted(map(repr, value))}")
        else:
            constants.append(f"{type(value).__name__} {value!r}")
    fields = (
        code.co_qualname,
        code.co_firstlineno,
        code.co_flags,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_names,
        code.co_code,
        code.co_linetable,
        code.co_exceptiontable,
        constants,
    )
    digest.update(repr(fields).encode())
    return names


def _digest_of_text(filename: str) -> bytes | None:
    """Return a digest of the source file, or ``None`` if the file is missing.

    Code made by ``exec`` has no file; its text may be in `linecache`.
    """
    digest = digest_of_file(filename)
    if digest is not None or not (filename.startswith("<") and filename.endswith(">")):
        return digest
    text = "".join(linecache.getlines(filename))
    return filename.encode() + sha256(text.encode()).digest()
