"""Units: Python functions compiled once to a forward and a reverse function."""

from __future__ import annotations

import itertools
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CodeType, FunctionType
from typing import Any

from adjoint.diagnostics.dump import is_dumping
from adjoint.diagnostics.generated_code import note_generated
from adjoint.emit.python import Source
from adjoint.frontend.same_code import compile_quietly
from adjoint.ir.nodes import Function, Span
from adjoint.runtime.cache import disk
from adjoint.runtime.cache.generate import Generated, arity_of, blank_of, generate, show_source
from adjoint.runtime.cache.unit_cache import UnitCache


@dataclass(slots=True)
class Unit:
    """One compiled function of the generic tier: its IR, its source and the callables.

    Attributes
    ----------
    arity
        See `arity_of`.
    calls
        The number of calls until the function is specialised; -1 if it never is.
    misses
        The number of calls for whose arguments there was no specialised program.
    is_specialised
        Whether there was a specialised program.
    places
        See `place_of`; computed on first use.
    """

    function: Function
    source: Source
    filename: str
    namespace: dict[str, Any]
    guards: tuple[tuple[str, Any], ...]
    blank: list[Any]
    forward: Callable[..., Any]
    reverse: Callable[..., tuple[Any, ...]]
    arity: int
    calls: int = 0
    misses: int = 0
    is_specialised: bool = False
    places: list[Span] | None = None

    def is_current(self) -> bool:
        """Return whether the globals that the generated code relies on have the same values."""
        namespace = self.namespace
        for name, value in self.guards:  # a generator would cost more than the loop
            if namespace.get(name, value) is not value:
                return False
        return True


_counter = itertools.count(1)

namespaces_without_builtins: dict[int, dict[str, Any]] = {}
"""By identity: globals of functions without an entry ``__builtins__`` to recognise them by."""


def _compile(f: FunctionType) -> Unit:
    kept = None if is_dumping() else disk.load(f)
    if kept is not None:
        made, compiled = kept
        filename = _filename(made.function)
        if compiled.co_filename != filename:  # another function has taken that name
            compiled = _python(made, filename)
    else:
        made = generate(f)
        filename = _filename(made.function)
        compiled = _python(made, filename)
        disk.store(f, made, compiled)
    source, function = made.source, made.function
    forward, backward = built(compiled, f.__globals__)(*source.bound.values())
    show_source(filename, source.text)
    unit = Unit(
        function,
        source,
        filename,
        f.__globals__,
        tuple(made.guards.items()),
        [None, *blank_of(made.blank)],
        forward,
        backward,
        arity_of(function),
        -1 if function.is_generator or _is_of_library(f) else 0,
    )
    note_generated(replace(unit, forward=_not_kept, reverse=_not_kept), forward, backward)
    return unit


def _not_kept(*_: Any) -> Any:
    raise AssertionError("what is known of generated code does not keep it")


_cache = UnitCache(_compile)
known_unit: Callable[[FunctionType], Unit | None] = _cache.known
unit_of: Callable[[FunctionType], Unit] = _cache.of


def built(compiled: CodeType, namespace: dict[str, Any]) -> Callable[..., Any]:
    """Return the one function that generated source defines.

    ``exec`` is avoided, because it would add ``__builtins__`` to globals that lack it.
    """
    if "__builtins__" not in namespace:
        namespaces_without_builtins[id(namespace)] = namespace
    (code,) = (part for part in compiled.co_consts if isinstance(part, CodeType))
    return FunctionType(code, namespace)


def _is_of_library(f: FunctionType) -> bool:
    """Return whether a function belongs to the library, except to parts like user code."""
    module = str(f.__globals__.get("__name__"))
    return module.startswith("adjoint.") and not module.startswith(_LIKE_USERS)


_LIKE_USERS = ("adjoint.nn", "adjoint.value", "adjoint.demo")


def _python(made: Generated, filename: str) -> CodeType:
    return compile_quietly(made.source.text, filename, 0)  # type: ignore[no-any-return]


def _filename(function: Function) -> str:
    line = function.code.co_firstlineno
    name = f"<adjoint {function.code.co_qualname} ({os.path.basename(function.filename)}:{line})>"
    return name if name not in linecache.cache else f"{name[:-1]} #{next(_counter)}>"
