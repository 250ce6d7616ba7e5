"""How long lines of generated code take, by the user's lines that they stand for."""

from __future__ import annotations

import linecache
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from adjoint.diagnostics.generated_code import place_of

RUNS = 7

Place = tuple[CodeType | None, int]


def line_shares(
    f: Callable[..., Any], args: Callable[[], tuple[Any, ...]]
) -> list[tuple[str, float]]:
    """The share of each line in the time of ``f(*args())``, the largest first.

    What the library does for a line is part of it, other generated code that it calls is not. Each
    line has the median of several runs, so that what else the machine does is left out.
    """
    f(*args())
    runs = [_run(f, args()) for _ in range(RUNS)]
    names = {name for run in runs for name in run}
    times = {name: statistics.median(run.get(name, 0.0) for run in runs) for name in names}
    total = sum(times.values()) or 1.0
    shares = ((name, seconds / total) for name, seconds in times.items())
    return sorted(shares, key=lambda pair: -pair[1])


def _run(f: Callable[..., Any], args: tuple[Any, ...]) -> dict[str, float]:
    """Seconds by line, in one traced call."""
    spent: defaultdict[Place, float] = defaultdict(float)
    stack: list[Place] = [(None, 0)]
    last = time.perf_counter()

    def step(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal last
        spent[stack[-1]] += time.perf_counter() - last
        if event == "call":
            stack.append((frame.f_code, frame.f_lineno))
        elif event == "line":
            stack[-1] = frame.f_code, frame.f_lineno
        elif event == "return" and len(stack) > 1:
            stack.pop()
        last = time.perf_counter()
        return step

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        is_generated = frame.f_code.co_filename.startswith("<adjoint ")
        return step(frame, event, argument) if is_generated else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        f(*args)
    finally:
        sys.settrace(before)
    named: defaultdict[str, float] = defaultdict(float)
    for place, seconds in spent.items():
        named[_name_of(*place)] += seconds
    return named


def _name_of(code: CodeType | None, line: int) -> str:
    if code is None:
        return "outside generated code"
    found = place_of(code, line)
    if found is not None:
        path, line = found[0].function.filename, found[1].line
        return f"{Path(path).name}:{line} {code.co_name}: {linecache.getline(path, line).strip()}"
    text = linecache.getline(code.co_filename, line).strip()
    return f"{code.co_filename}:{line} {text}" if text else f"{code.co_filename}: guards"
