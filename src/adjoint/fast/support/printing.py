"""What a program prints when it has finished."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from typing import Any

from adjoint.rulekit.registry import non_differentiable


def new_lines() -> list[Any]:
    """Return the list of the calls of `print`."""
    return []


@non_differentiable
def line_of(make: Callable[[tuple[Any, ...]], Any], *given: Any) -> Any:
    """Return the texts of one call of `print`, and its options."""
    return make(given)


def write_line(lines: list[Any], line: Any) -> None:
    """Keep a call of `print` until the program has finished."""
    lines.append(line)


def print_lines(lines: list[Any]) -> None:
    """Print what a program has printed."""
    for texts, sep, end, flush in lines:
        print(*texts, sep=sep, end=end, flush=flush)


def silent() -> AbstractContextManager[Any]:
    """Print nothing, while the generic tier runs a function again that has printed."""
    return redirect_stdout(io.StringIO())
