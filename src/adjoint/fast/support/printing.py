"""What a program prints when it has finished."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
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
    for texts, sep, end, flush, file in lines:
        print(*texts, sep=sep, end=end, flush=flush, file=getattr(sys, file))


def silent(
    other: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Callable[[], AbstractContextManager[Any]]:
    """Return a function like `other`: in its context the generic tier runs a function that has
    printed again, without a line."""

    @contextmanager
    def quiet() -> Iterator[None]:
        with other(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield

    return quiet
