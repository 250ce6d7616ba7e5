"""Where a derivative spends its time: ``python -m adjoint.profile path.py:function``.

The arguments come from the file: ``--args NAME`` names a tuple of them there (or one argument), or
a function that returns it; by default ``<function>_example``, else ``example``.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from adjoint.command_line.target import Args, add_target, target_of

STAGES: dict[str, tuple[str, ...]] = {
    "lowering": ("frontend/", "ir/", "runtime/cache/"),
    "transform": ("transform/", "fast/evaluate/", "fast/single_assignment/", "fast/reverse/",
                  "fast/passes/", "fast/build/", "fast/support/"),
    "code generation": ("emit/", "fast/source/", "fast/entry_code/", "fast/programs/"),
    "rules, and loading them": ("rules/", "rulekit/", "extensions/", "importlib"),
    "runtime": ("runtime/", "levels/", "cotangents/", "primal/", "diagnostics/", "api/"),
}  # fmt: skip
SECONDS, MOST_CALLS = 0.5, 200
ROWS = 12


def main(arguments: list[str] | None = None) -> None:
    """Print where the first call of a derivative and the later ones spend their time."""
    parser = argparse.ArgumentParser(prog="python -m adjoint.profile", description=__doc__)
    add_target(parser)
    asked = parser.parse_args(arguments)
    os.environ["ADJOINT_CACHE"] = "off"  # the first call is to be one
    target = target_of(parser, asked)
    target.args()  # an error if there are none
    print(report(target.f, target.args))


def report(f: Callable[..., Any], args: Callable[[], Args]) -> str:
    """The tables, as text."""
    import numpy as np

    import adjoint
    from adjoint.derivatives.differences import random_like
    from adjoint.diagnostics.line_times import line_shares

    y = f(*args())
    is_scalar = np.shape(y) == () and not np.iscomplexobj(y) and isinstance(y, float | np.generic)
    y_bar = random_like(y, np.random.default_rng(0))

    def derivative(*xs: Any) -> Any:
        return adjoint.gradient(f, *xs) if is_scalar else adjoint.pullback(f, *xs)[1](y_bar)

    name = "gradient" if is_scalar else "pullback and back"
    start = time.perf_counter()
    adjoint.gradient(lambda x: np.sum(x * x), np.ones(2))
    loading = 1e3 * (time.perf_counter() - start)
    first = _first_call(derivative, args())
    steady = {"value, by Python": _seconds(f, args), name: _seconds(derivative, args)}
    forward = steady["  forward sweep"] = _seconds(lambda *xs: adjoint.pullback(f, *xs), args)
    both = _seconds(lambda *xs: adjoint.pullback(f, *xs)[1](y_bar), args)
    steady["  reverse sweep"] = max(both - forward, 0.0)
    unit = steady["value, by Python"] or 1e-9
    shares = {what: f"{1e3 * t:10.3f} ms  {t / unit:8.1f}" for what, t in steady.items()}
    return "\n".join([
        str(adjoint.tier(f, *args())), "",
        f"rules of NumPy, once in a process: {loading:.0f} ms", "",
        _table(f"first call, {1e3 * sum(first.values()):.0f} ms under the profiler", {
            stage: f"{1e3 * t:10.1f} ms" for stage, t in first.most_common() if t > 1e-5}),
        _table("later calls, times the value; sweeps are those of pullback", shares),
        _table(f"lines, share of {name}, each without the lines that it calls", {
            line: f"{share:6.1%}" for line, share in line_shares(derivative, args)[:ROWS]}),
    ])  # fmt: skip


def _table(title: str, rows: dict[str, str]) -> str:
    width = max(map(len, rows), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in rows.items()), ""])


def _first_call(derivative: Callable[..., Any], args: Args) -> Counter[str]:
    """Seconds of the first call by stage: of each function without those that it calls."""
    profiler = cProfile.Profile()
    profiler.runcall(derivative, *args)
    found: Counter[str] = Counter()
    for (path, _, name), (_, _, seconds, _, callers) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        if path != "~":
            found[_stage(path)] += seconds
            continue
        for (caller, _, _), (_, _, seconds, _) in callers.items():  # C is part of what calls it
            is_compiling = name.endswith("builtins.compile>") and not caller.startswith("<frozen")
            found["compilation" if is_compiling else _stage(caller)] += seconds
    return found


def _stage(path: str) -> str:
    own = path.replace("\\", "/").rpartition("/adjoint/")[2]
    for stage, folders in STAGES.items():
        if own.startswith(folders) or (path.startswith("<frozen") and "importlib" in folders):
            return stage
    return "the function itself, and the rest"


def _seconds(call: Callable[..., Any], args: Callable[[], Args]) -> float:
    """The median of several calls after two that are not counted."""
    samples: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(samples) < 5 or (time.perf_counter() < end and len(samples) < MOST_CALLS):
        given = args()
        start = time.perf_counter()
        call(*given)
        samples.append(time.perf_counter() - start)
    return statistics.median(samples[2:])


if __name__ == "__main__":
    main()
