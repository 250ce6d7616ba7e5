"""Python functions: compiled once, then called with a record."""

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
    """One differentiated function: what was lowered, what was generated, and the callables.

    Attributes
    ----------
    arity
        See `arity_of`.
    calls
        How often the function was called, until it is called so often that it is specialised; -1 if
        it never is.
    misses
        How often no specialised program was for its arguments.
    is_specialised
        Whether there was one.
    places
        See `place_of`; found out when it is first asked for.
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
        """Whether the global names that the generated code relies on still stand for the same."""
        namespace = self.namespace
        for name, value in self.guards:  # a generator would cost more than the loop
            if namespace.get(name, value) is not value:
                return False
        return True


_counter = itertools.count(1)

bare: dict[int, dict[str, Any]] = {}
"""Dicts that are the globals of functions, and have no ``__builtins__`` to tell."""


def _compile(f: FunctionType) -> Unit:
    kept = None if is_dumping() else disk.load(f)
    if kept is not None:
        made, compiled = kept
        filename = _filename(made.function)
        if compiled.co_filename != filename:  # another function has that name
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
        -1 if function.is_generator or _is_ours(f) else 0,
    )
    note_generated(replace(unit, forward=_gone, reverse=_gone), forward, backward)
    return unit


def _gone(*_: Any) -> Any:
    raise AssertionError("what is known of generated code does not keep it")


_cache = UnitCache(_compile)
known_unit, unit_of = _cache.known, _cache.of


def built(compiled: CodeType, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The one function that generated source defines.

    By itself, for ``exec`` would put ``__builtins__`` into a dict of the user's that lacks it.
    """
    if "__builtins__" not in namespace:
        bare[id(namespace)] = namespace
    (code,) = (part for part in compiled.co_consts if isinstance(part, CodeType))
    return FunctionType(code, namespace)


def _is_ours(f: FunctionType) -> bool:
    """Whether a function is of this library, and not such as users write."""
    module = str(f.__globals__.get("__name__"))
    return module.startswith("adjoint.") and not module.startswith(_LIKE_USERS)


_LIKE_USERS = ("adjoint.nn", "adjoint.value", "adjoint.demo")


def _python(made: Generated, filename: str) -> CodeType:
    return compile_quietly(made.source.text, filename, 0)  # type: ignore[no-any-return]


def _filename(function: Function) -> str:
    line = function.code.co_firstlineno
    name = f"<adjoint {function.code.co_qualname} ({os.path.basename(function.filename)}:{line})>"
    return name if name not in linecache.cache else f"{name[:-1]} #{next(_counter)}>"


# ---- binding -------------------------------------------------------------------------------------
