"""A function in a file, ``path.py:function``, and its arguments."""

from __future__ import annotations

import argparse
import copy
import difflib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

Args = tuple[Any, ...]


@dataclass(frozen=True)
class Target:
    """A function, and what gives its arguments.

    Attributes
    ----------
    name, path
        The function, and the file that it is in.
    given
        A tuple of arguments, one argument, or a function that returns either; ``None`` if the file
        has none.
    looked_for
        The names that the arguments would have in the file.
    """

    name: str
    path: Path
    f: Callable[..., Any]
    given: Any
    looked_for: tuple[str, ...]
    fail: Callable[[str], NoReturn]

    @property
    def has_args(self) -> bool:
        """Return whether the file has arguments for the function."""
        return self.given is not None

    def args(self) -> Args:
        """Return new arguments."""
        if self.given is None:
            names = " or ".join(self.looked_for)
            self.fail(f"{self.path} has no {names} that gives the arguments of {self.name!r}")
        found = self.given() if callable(self.given) else copy.deepcopy(self.given)
        return found if isinstance(found, tuple) else (found,)


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a parser that name a function and its arguments."""
    parser.add_argument("function", metavar="path.py:function")
    parser.add_argument("--args", metavar="NAME", help="what in the file gives the arguments")


def target_of(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Target:
    """Return what a command line names, or leave with an error of the parser."""
    path, _, name = asked.function.rpartition(":")
    if not all(map(str.isidentifier, name.split("."))) or not Path(path).is_file():
        parser.error(f"{asked.function!r} is not path.py:function, where path.py is a file")
    module = loaded(Path(path))
    f: Any = module
    for part in name.split("."):
        f = getattr(f, part, None)
    if not callable(f):
        near = difflib.get_close_matches(name, _functions(module))
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        parser.error(f"there is no function {name!r} in {path}{hint}")
    names = (asked.args,) if asked.args else (f"{name.replace('.', '_')}_example", "example")
    given = next((getattr(module, one) for one in names if hasattr(module, one)), None)
    return Target(name, Path(path), f, given, names, parser.error)


def _functions(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value)]


class NotLoaded(Exception):
    """A file that cannot be imported; the argument is the message for the user."""


def loaded(path: Path) -> ModuleType:
    """Run a file as a module of its name, beside the files of its folder.

    Raises
    ------
    NotLoaded
        The file is not Python, or raises an error.
    """
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise NotLoaded(f"{path}: this is no file of Python: its name does not end in .py")
    before = sys.modules.get(path.stem)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[path.stem]
        if before is not None:
            sys.modules[path.stem] = before
        raise NotLoaded(f"{place_of(error, path)}: cannot be imported: {told(error)}") from error
    return module


def place_of(error: BaseException, path: Path) -> str:
    """Return the file, and the innermost line of it that led to an error."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}:{error.lineno}:{error.offset}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == path.resolve()
    ]
    return f"{path}:{lines[-1]}" if lines else str(path)


def told(error: BaseException) -> str:
    """Return an error in one line."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {' '.join(text.split())}" if text else type(error).__name__
