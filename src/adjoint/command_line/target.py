"""A function in a file, ``path.py:function``, and its arguments."""

from __future__ import annotations

import argparse
import copy
import importlib.util
import sys
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
        parser.error(f"there is no function {name!r} in {path}")
    names = (asked.args,) if asked.args else (f"{name.replace('.', '_')}_example", "example")
    given = next((getattr(module, one) for one in names if hasattr(module, one)), None)
    return Target(name, Path(path), f, given, names, parser.error)


def loaded(path: Path) -> ModuleType:
    """Run a file as a module of its name, beside the files of its folder."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
