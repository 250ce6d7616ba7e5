"""Generation of source for a Python function: the passes, in order."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType
from typing import Any

from adjoint.diagnostics.dump import stages_of
from adjoint.emit.python import Source, emit
from adjoint.frontend import lower_any
from adjoint.ir.nodes import Function, Operand, Path
from adjoint.ir.printer import format_function
from adjoint.ir.sweep_printer import format_sweeps
from adjoint.ir.sweeps import Blank
from adjoint.ir.walk import operands, walk
from adjoint.transform.activity import Activity
from adjoint.transform.paths import join_paths
from adjoint.transform.reverse import reverse
from adjoint.transform.temporaries import share_temporaries

entries: dict[Any, Callable[..., Any]] = {}
runtime: dict[str, Callable[..., Any]] = {}
"""The functions that generated code calls: `entries` by callee of the IR, `runtime` by name."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The generated source of a function, before it is compiled.

    Attributes
    ----------
    guards
        The global names that the source relies on, with their values.
    paths
        The names that the source reads from modules: ``("np", "linalg", "norm")``.
    blank
        The blanks of the record of the function.
    blanks
        The blanks of the records of loop iterations, by their name in the source.
    """

    function: Function
    source: Source
    guards: dict[str, Any]
    paths: frozenset[tuple[str, ...]]
    blank: tuple[Blank, ...]
    blanks: dict[str, tuple[Blank, ...]] = field(default_factory=dict)


def generate(f: FunctionType) -> Generated:
    """Lower `f`, derive both sweeps, and emit their source.

    Raises
    ------
    SourceError
        There is no source that matches `f`, and its bytecode is not supported.
    UnsupportedSyntaxError
        The source contains a construct that cannot be differentiated.
    """
    namespace = f.__globals__
    stages = stages_of(f.__name__)
    function = lower_any(f)
    stages("ir", partial(format_function, function))
    joined, modules = join_paths(function, namespace)
    stages("paths", partial(format_function, joined))
    activity = Activity(joined, namespace)

    def is_active(operand: Operand) -> bool:
        return not activity.is_inactive(operand)

    joined = share_temporaries(joined, is_active)
    stages("temporaries", partial(format_function, joined))
    sweeps = reverse(joined, activity)
    stages("sweeps", partial(format_sweeps, joined, sweeps))
    made: list[tuple[Any, tuple[Blank, ...]]] = []

    def blanks(blank: tuple[Blank, ...]) -> Any:
        made.append((blank_of(blank), blank))
        return made[-1][0]

    source = emit(joined, sweeps, entries, runtime, blanks, namespace, is_active)
    stages("source", lambda: source.text)
    of_loops = {id(contents): blank for contents, blank in made}
    return Generated(
        function,
        source,
        {**modules, **activity.guards},
        _paths(joined),
        sweeps.blank,
        {
            name: of_loops[id(value)]
            for name, value in source.bound.items()
            if id(value) in of_loops
        },
    )


def _paths(function: Function) -> frozenset[tuple[str, ...]]:
    return frozenset(
        [
            operand.names
            for op in walk(function.body)
            for operand in operands(op)
            if type(operand) is Path
        ]
    )


# ---- blanks --------------------------------------------------------------------------------------

_blank_pullbacks: dict[int, Callable[..., Any]] = {}


def blank_pullback(n: int) -> Callable[..., Any]:
    """Return the blank of a call of `n` operands, the pullback unless the call replaces it."""
    known = _blank_pullbacks.get(n)
    if known is None:
        bars = (None,) * (n + 1)

        def nothing_back(*_: Any) -> tuple[None, ...]:
            return bars

        known = _blank_pullbacks[n] = nothing_back
    return known


def show_source(filename: str, text: str) -> None:
    """Register generated source in `linecache`, for tracebacks and debuggers."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def arity_of(function: Function) -> int:
    """Return the number of arguments of a positional call that needs no binding, else -1."""
    simple = all(parameter.kind <= 1 for parameter in function.parameters)
    return len(function.parameters) if simple else -1


def blank_of(blanks: tuple[Blank, ...]) -> tuple[Any, ...]:
    """Return the blanks of a record, without slot 0."""
    return tuple(blank_pullback(blank) if isinstance(blank, int) else blank for blank in blanks)
