"""``python -m benchmarks.gradbench [--style arrays|loops]``: answer GradBench's messages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import cast

from benchmarks.gradbench.evaluation import STYLES, Style
from benchmarks.gradbench.protocol import serve

VARIABLE = "GRADBENCH_STYLE"


def main(arguments: Sequence[str]) -> None:
    """Answer the messages that come in, until there are no more."""
    style = style_of(arguments)
    # What a program prints must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in serve(sys.stdin, style):
        print(line, file=answers, flush=True)


def style_of(arguments: Sequence[str]) -> Style:
    """The style that the arguments ask for, else the environment."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gradbench",
        description="Speak GradBench's protocol: a message per line of stdin, answers on stdout.",
    )
    parser.add_argument(
        "--style",
        default=os.environ.get(VARIABLE, "arrays"),
        help=f"{' or '.join(STYLES)}: how the objectives are written; else {VARIABLE} says it",
    )
    style = parser.parse_args(arguments).style
    if style not in STYLES:
        parser.error(f"the style is {' or '.join(STYLES)}, not {style!r}")
    return cast(Style, style)


if __name__ == "__main__":
    main(sys.argv[1:])
