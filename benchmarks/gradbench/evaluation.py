"""What GradBench calls: functions by name, in one of two styles, timed as they run."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

__all__ = ["EVALUATIONS", "STYLES", "Function", "Functions", "Style", "choose", "load"]

Style = Literal["arrays", "loops"]
STYLES: tuple[Style, ...] = get_args(Style)

EVALUATIONS = (
    "ba",
    "det",
    "gmm",
    "hello",
    "ht",
    "kmeans",
    "llsq",
    "lse",
    "lstm",
    "ode",
    "particle",
    "saddle",
)
"""The modules with a function ``functions(style)``, by the names that GradBench has for them."""

Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class Function:
    """One function of an evaluation.

    Attributes
    ----------
    prepare
        Makes the arguments of `call` from an input, not timed.
    call
        What is timed.
    finish
        Makes what JSON can hold from the result, not timed.
    """

    prepare: Callable[[Any], tuple[Any, ...]]
    call: Callable[..., Any]
    finish: Callable[[Any], Any]

    def run(self, input: Any) -> tuple[Any, list[int]]:
        """The output, and the nanoseconds of each call.

        The input says by ``min_runs`` and ``min_seconds`` how many calls there have to be at least,
        and how long they have to take together; without them there is one.
        """
        limits = input if isinstance(input, dict) else {}
        runs, least = limits.get("min_runs", 1), 1e9 * limits.get("min_seconds", 0)
        arguments = self.prepare(input)
        times: list[int] = []
        while len(times) < max(runs, 1) or sum(times) < least:
            start = time.perf_counter_ns()
            result = self.call(*arguments)
            times.append(time.perf_counter_ns() - start)
        return self.finish(result), times


Functions = dict[str, Function]


def choose(style: Style, *, arrays: Written, loops: Written) -> Written:
    """Of two ways of writing the same thing, the one of this style."""
    return arrays if style == "arrays" else loops


def load(name: str, style: Style) -> Functions:
    """The functions of an evaluation; `LookupError` if there is none of this name."""
    if name not in EVALUATIONS:
        raise LookupError(f"no evaluation {name!r}; there are {', '.join(EVALUATIONS)}")
    module = importlib.import_module(f"benchmarks.gradbench.{name}")
    functions: Functions = module.functions(style)
    return functions
