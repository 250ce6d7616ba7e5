"""The commands of ``python -m adjoint``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import adjoint as ad
from adjoint.command_line import cache, lint
from adjoint.command_line.target import (
    NotLoaded,
    Target,
    add_target,
    loaded,
    place_of,
    target_of,
    told,
)

EPILOG = """\
The arguments of a function come from its file: --args NAME names a tuple of them there (or one
argument), or a function that returns it; by default <function>_example, else example. The file is
run as Python imports it. Exit status: 0 if all is well, 1 if something was found or refused, 2 for
a wrong command line, or a file that cannot be imported.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "cache":
            print(cache.report(clearing=asked.clear))
            return 0
        if asked.command == "lint":
            return _lint(asked)
        return _run(target_of(parser, asked), asked)
    except ad.AdjointError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except NotLoaded as error:
        print(error, file=sys.stderr)
        return 2


def _run(target: Target, asked: argparse.Namespace) -> int:
    """Run a command for a function."""
    try:
        return COMMANDS[asked.command](target, asked)
    except ad.AdjointError:
        raise
    except Exception as error:
        written = getattr(asked, "output", None) or getattr(asked, "save", None)
        if isinstance(error, OSError) and written is not None and error.filename == written:
            print(f"{written}: cannot be written: {error.strerror}", file=sys.stderr)
            return 2
        where = place_of(error, target.path)
        print(f"{where}: {target.name} raises {told(error)}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m adjoint",
        description="What Adjoint makes of a function, a file, and its cache.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {}
    for name, command in COMMANDS.items():
        text = (command.__doc__ or "").partition(".")[0]
        made[name] = commands.add_parser(name, help=text, description=text, epilog=EPILOG)
        add_target(made[name])
    made["explain"].add_argument("--save", metavar="PATH", help="write it to a file, too")
    made["export"].add_argument("--output", metavar="PATH", help="the file; by default the screen")
    linting = commands.add_parser(
        "lint", help="say what in files cannot be differentiated, and why"
    )
    linting.add_argument("files", metavar="path.py", nargs="+", type=Path)
    linting.add_argument(
        "--strict", action="store_true", help="exit status 1 also for calls without a derivative"
    )
    caching = commands.add_parser("cache", help="say where generated code is kept, and how much")
    caching.add_argument("--clear", action="store_true", help="remove it")
    return parser


def _code(target: Target, asked: argparse.Namespace) -> int:
    """Print the code that is generated: for the arguments, or without them for any."""
    print(ad.code(target.f, *target.args()) if target.has_args else ad.code(target.f))
    return 0


def _ir(target: Target, asked: argparse.Namespace) -> int:
    """Print the intermediate representation."""
    print(ad.ir(target.f))
    return 0


def _tier(target: Target, asked: argparse.Namespace) -> int:
    """Print which tier runs a gradient, and why."""
    print(ad.tier(target.f, *target.args()))
    return 0


def _explain(target: Target, asked: argparse.Namespace) -> int:
    """Print how a gradient comes about."""
    explain = getattr(ad, "explain", None)
    if explain is None:
        print("this version has no explanations: see the commands code and tier", file=sys.stderr)
        return 1
    found = explain(target.f, *target.args())
    print(found)
    if asked.save:
        found.save(asked.save)
    return 0


def _check(target: Target, asked: argparse.Namespace) -> int:
    """Compare the derivatives in all modes with finite differences."""
    try:
        print(ad.testing.check_gradient(target.f, *target.args()))
    except AssertionError as error:
        print(f"wrong: {error}", file=sys.stderr)
        return 1
    return 0


def _export(target: Target, asked: argparse.Namespace) -> int:
    """Write a standalone file with the value and the gradient."""
    text = ad.export(target.f, *target.args(), path=asked.output)
    print(f"written: {asked.output}" if asked.output else text)
    return 0


COMMANDS: dict[str, Callable[[Target, argparse.Namespace], int]] = {
    "code": _code,
    "ir": _ir,
    "tier": _tier,
    "explain": _explain,
    "check": _check,
    "export": _export,
}


def _files(folder: Path) -> list[Path]:
    """Return the files of Python in a folder."""
    return sorted(folder.rglob("*.py"))


def _lint(asked: argparse.Namespace) -> int:
    """Print what in files cannot be differentiated, by line."""
    status, count = 0, 0
    files = [one for path in asked.files for one in (_files(path) if path.is_dir() else [path])]
    for path in files:
        if not path.is_file():
            print(f"{path}: there is no such file", file=sys.stderr)
            return 2
        try:
            module = loaded(path)
        except NotLoaded as error:
            print(error, file=sys.stderr)
            status = 2
            continue
        for one in lint.findings(module):
            print(one.text(str(path)))
            count += 1
            if one.is_error or asked.strict:
                status = max(status, 1)
    if not count and status < 2:
        print("nothing found")
    return status
