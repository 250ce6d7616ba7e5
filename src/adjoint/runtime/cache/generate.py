"""From a Python function to generated source: the passes, in their order."""

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
"""The functions that generated code calls: by the callee that they stand for, and by name."""


@dataclass(frozen=True, slots=True)
class Generated:
    """What is known of a function before its generated source is compiled.

    Attributes
    ----------
    guards
        The global names that the source relies on, with what they stood for.
    paths
        What it reads from modules by name: ``("np", "linalg", "norm")``.
    blank
        The first contents of the record of the function.
    blanks
        The same for the iterations of its loops, by the name that the source knows them under.
    """

    function: Function
    source: Source
    guards: dict[str, Any]
    paths: frozenset[tuple[str, ...]]
    blank: tuple[Blank, ...]
    blanks: dict[str, tuple[Blank, ...]] = field(default_factory=dict)


def generate(f: FunctionType) -> Generated:
    """Lower `f`, make both sweeps, write them.

    Raises
    ------
    SourceError
        There is no source, or it is not that of this function, and its bytecode is beyond us.
    UnsupportedSyntaxError
        It contains what is not differentiated.
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


# ---- records before anything has run -------------------------------------------------------------

_nothings: dict[int, Callable[..., Any]] = {}


def nothing(n: int) -> Callable[..., Any]:
    """The pullback of a call of `n` operands that did not run, or has an inactive result."""
    known = _nothings.get(n)
    if known is None:
        bars = (None,) * (n + 1)

        def nothing_back(*_: Any) -> tuple[None, ...]:
            return bars

        known = _nothings[n] = nothing_back
    return known


def show_source(filename: str, text: str) -> None:
    """Let tracebacks and debuggers have the lines of generated source."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def arity_of(function: Function) -> int:
    """The number of positional arguments of the plainest call, which needs no binding; -1 if there
    is none."""
    simple = all(parameter.kind <= 1 for parameter in function.parameters)
    return len(function.parameters) if simple else -1


def blank_of(blanks: tuple[Blank, ...]) -> tuple[Any, ...]:
    """The first contents of a record, slot 0 left out."""
    return tuple(nothing(blank) if isinstance(blank, int) else blank for blank in blanks)
