"""What a program prints when it has finished."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from adjoint.rulekit.registry import non_differentiable


def new_lines() -> list[Any]:
    """Return the list of the calls of `print` and of loggers."""
    return []


@non_differentiable
def line_of(make: Callable[[tuple[Any, ...]], Any], *given: Any) -> Any:
    """Return the function that prints, and its operands: texts, or parts of a record."""
    return make(given)


def write_line(lines: list[Any], line: Any) -> None:
    """Keep a line until the program has finished."""
    lines.append(line)


def print_lines(lines: list[Any]) -> None:
    """Print what a program has printed."""
    for emit, given in lines:
        emit(*given)


def print_texts(texts: tuple[str, ...], sep: str, end: str, flush: bool, file: str) -> None:
    print(*texts, sep=sep, end=end, flush=flush, file=getattr(sys, file))


@contextmanager
def silent() -> Iterator[None]:
    """Print and log nothing, while the generic tier runs a function again that has done so."""
    logging: Any = sys.modules.get("logging")  # nothing is logged where it is not imported
    before = 0 if logging is None else logging.root.manager.disable
    if logging is not None:
        logging.disable(sys.maxsize)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        if logging is not None:
            logging.disable(before)
