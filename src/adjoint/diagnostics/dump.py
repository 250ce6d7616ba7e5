"""Each stage of what is differentiated as a file: ``ADJOINT_DUMP`` names the folder.

``4711-0002-heat-01-ir.txt`` is the first stage of the second function that process 4711 has
differentiated. The folder is made where it is missing, for its owner alone, and no file that is
there is written again: neither another process nor a later one takes the same names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from adjoint.errors import ArgumentError
from adjoint.locks import make_lock

Stages = Callable[[str, Callable[[], str]], None]
"""``stages(what, text)`` writes the next stage of one function; `text` is called where it is
wanted."""

_LONGEST_NAME = 60
_lock = make_lock()
_last: dict[tuple[str, int], int] = {}
"""The number of the last function, by folder and process."""


class DumpError(ArgumentError):
    """The folder that ``ADJOINT_DUMP`` names cannot be written."""


def is_dumping() -> bool:
    """Whether the environment asks for the stages."""
    return bool(os.environ.get("ADJOINT_DUMP"))


def stages_of(name: str) -> Stages:
    """What writes the stages of a function of that name, or does nothing.

    Raises
    ------
    DumpError
        The folder cannot be made or read.
    """
    folder = os.environ.get("ADJOINT_DUMP")
    return _Files(os.path.abspath(folder), name) if folder else _no_stages


def _no_stages(what: str, text: Callable[[], str]) -> None:
    """Nobody asks for them."""


class _Files:
    """The files of one function."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._count = folder, 0
        plain = re.sub(r"\W+", "-", name).strip("-")[:_LONGEST_NAME] or "function"
        try:
            self._head = f"{os.getpid()}-{_next_number(folder):04}-{plain}"
        except OSError as error:
            raise _refused(folder, error) from None

    def __call__(self, what: str, text: Callable[[], str]) -> None:
        self._count += 1
        path = os.path.join(self._folder, f"{self._head}-{self._count:02}-{what}.txt")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(_text_of(text))
        except OSError as error:
            raise _refused(self._folder, error) from None


def _next_number(folder: str) -> int:
    """The next number of this process, after those that an earlier one of the same id has used."""
    pid = os.getpid()
    with _lock:
        if (folder, pid) not in _last:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            used = (re.match(rf"{pid}-(\d+)-", file) for file in os.listdir(folder))
            _last[folder, pid] = max((int(found[1]) for found in used if found), default=0)
        _last[folder, pid] += 1
        return _last[folder, pid]


def _text_of(text: Callable[[], str]) -> str:
    """A constant may be an object whose ``__repr__`` raises, which must not end the call."""
    try:
        return text()
    except Exception as error:
        return f"no text: {type(error).__name__}: {error}\n"


def _refused(folder: str, error: OSError) -> DumpError:
    return DumpError(
        f"the folder {folder!r}, which ADJOINT_DUMP names, cannot be written: {error.strerror}",
        hint="set ADJOINT_DUMP to a folder that can be written, or leave it out",
    )
