"""What in a file cannot be differentiated, and why."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.errors import AdjointError
from adjoint.frontend import lower_any
from adjoint.ir import nodes as ir
from adjoint.ir.walk import walk
from adjoint.primal.compiled_functions import foreign_package
from adjoint.primal.packages import FOREIGN
from adjoint.rulekit.registry import lookup
from adjoint.runtime.dispatch.inert_packages import is_inert
from adjoint.transform.paths import join_paths

SILENT = frozenset({"print", "input", "open", "vars", "locals", "globals", "dir", "help"})
"""Functions of Python whose results hold no numbers that anybody differentiates."""


@dataclass(frozen=True, order=True)
class Finding:
    """One place.

    Attributes
    ----------
    line, column : int
        Counted from 1, as editors do.
    function : str
        The function that it is in.
    problem, hint : str
        What cannot be differentiated, and what to do.
    is_error : bool
        The whole function is refused; otherwise only a derivative through the call is.
    """

    line: int
    column: int
    function: str
    problem: str
    hint: str
    is_error: bool

    def text(self, path: str) -> str:
        kind = "error" if self.is_error else "note"
        where = f"{path}:{self.line}:{self.column}"
        hint = f"\n    hint: {self.hint}" if self.hint else ""
        return f"{where}: {kind}: {self.problem} (in {self.function}){hint}"


def findings(module: ModuleType) -> list[Finding]:
    """Return what in the functions and classes of a module cannot be differentiated.

    The functions are read, not called. What they call is looked up by the names that they use, so
    calls of what a variable holds are not judged.
    """
    found: dict[tuple[int, int], Finding] = {}
    for f in _functions(module):  # outer functions first, which refuse what is inside
        for one in _of_function(f):
            found.setdefault((one.line, one.column), one)
    return sorted(found.values())


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions that a module defines, with methods and inner functions."""
    codes: set[CodeType] = set()
    pending = [value for value in vars(module).values() if _is_own(value, module)]
    while pending:
        value = pending.pop()
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        elif isinstance(value, property):
            pending += [one for one in (value.fget, value.fset) if one is not None]
        elif isinstance(value, type):
            pending += [one for one in vars(value).values() if _is_own(one, module)]
        elif not isinstance(value, FunctionType):
            value = getattr(value, "__wrapped__", None)
        if not isinstance(value, FunctionType) or value.__code__ in codes:
            continue
        if value.__code__.co_filename != module.__file__:  # what a decorator has put around it
            pending.append(getattr(value, "__wrapped__", None))
            continue
        codes.add(value.__code__)
        yield value
        pending += [
            FunctionType(code, value.__globals__, code.co_name, None, _cells(code))
            for code in value.__code__.co_consts
            if isinstance(code, CodeType) and code.co_flags & inspect.CO_OPTIMIZED
            and not code.co_name.startswith("<")
        ]  # fmt: skip


def _is_own(value: Any, module: ModuleType) -> bool:
    if isinstance(value, staticmethod | classmethod | property):
        return True
    return callable(value) and getattr(value, "__module__", None) == module.__name__


def _cells(code: CodeType) -> tuple[CellType, ...]:
    return tuple(CellType() for _ in code.co_freevars)


def _of_function(f: FunctionType) -> Iterator[Finding]:
    name = f.__qualname__
    try:
        lowered, _ = join_paths(lower_any(f), f.__globals__)
    except AdjointError as error:
        span = error.span
        line, column = (span.line, span.column + 1) if span else (f.__code__.co_firstlineno, 1)
        yield Finding(line, column, name, error.problem, error.hint or "", True)
        return
    for op in walk(lowered.body):
        if not isinstance(op, ir.Call) or op.span is None:
            continue
        names = _names(op.callee)
        callee = _found(f, names)
        if callee is not None and (problem := _missing(callee, ".".join(names))) is not None:
            yield Finding(op.span.line, op.span.column + 1, name, *problem, False)


def _names(callee: ir.Operand) -> tuple[str, ...]:
    if isinstance(callee, ir.Global):
        return (callee.name,)
    return callee.names if isinstance(callee, ir.Path) else ()


def _found(f: FunctionType, names: tuple[str, ...]) -> Any:
    """Return what names stand for in a function; ``None`` if that is not known."""
    if not names:
        return None
    value = f.__globals__.get(names[0])
    for name in names[1:]:
        value = getattr(value, name, None)
    return value


def _missing(f: Any, name: str) -> tuple[str, str] | None:
    """Return why a derivative through a call of `f` is an error, and what to do; else ``None``."""
    package = foreign_package(f)
    if package is not None:
        why = f"'{name}' is of '{package}', whose functions are not differentiated"
        return why, FOREIGN[package]
    is_of_c = isinstance(f, BuiltinFunctionType | np.ufunc)
    is_left_alone = isinstance(f, FunctionType) and is_inert(f)
    if not (is_of_c or is_left_alone) or name in SILENT or lookup(f) is not None:
        return None
    why = "is not differentiated" if is_left_alone else "has neither a rule nor Python source"
    return (
        f"'{name}' {why}: a derivative through it is an error",
        f"write a rule: @ad.rrule.register({name}), or ad.non_differentiable({name})",
    )
