"""Where the user's text is, and what an error of the library has to say."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adjoint as ad

LIBRARY = str(Path(ad.__file__).parent)


def line_of(function: Callable[..., Any], text: str) -> int:
    """The line of the file in which `text` stands within `function`."""
    first = function.__code__.co_firstlineno
    lines = Path(function.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines[first - 1 :], first) if text in line)


def assert_tells(error: ad.AdjointError, function: Callable[..., Any], text: str) -> None:
    """The message has the file and the line of `text`, the line itself with carets, and a hint."""
    message = str(error)
    filename = function.__code__.co_filename
    assert f"{filename}:{line_of(function, text)}" in message
    assert text in message
    assert re.search(r"^\s+\^+$", message, re.MULTILINE), message
    assert error.hint and f"hint: {error.hint}" in message


def raised(kind: type[BaseException], call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The error that a call raises."""
    with pytest.raises(kind) as info:
        call(*args, **kwargs)
    return info.value


Place = tuple[str, int, str]


SKIPPED = {"raised", "__call__", "<listcomp>", "<setcomp>", "<dictcomp>"}
"""Callers, and frames of comprehensions, which Python 3.11 has and later versions have not."""


def shown(error: BaseException) -> list[Place]:
    """File, line and function of the traceback, without what is `SKIPPED`."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(f.filename, f.lineno or 0, f.name) for f in frames if f.name not in SKIPPED]


def positions(error: BaseException, filename: str) -> list[tuple[Any, ...]]:
    """Lines and columns of the traceback within a file."""
    return [
        (f.name, f.lineno, f.end_lineno, f.colno, f.end_colno)
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename == filename and f.name not in SKIPPED
    ]


def users(error: BaseException) -> list[Place]:
    """What is not ours of a traceback."""
    return [place for place in shown(error) if not place[0].startswith(LIBRARY)]


def ours(error: BaseException) -> list[Place]:
    """What is ours of a traceback, generated code included."""
    return [place for place in shown(error) if place[0].startswith((LIBRARY, "<adjoint"))]
