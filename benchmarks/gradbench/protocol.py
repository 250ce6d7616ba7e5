"""The tool's side of GradBench's protocol: a message per line of JSON, and an answer to each.

Source: https://github.com/gradbench/gradbench, ``CONTRIBUTING.md``, section "Protocol".
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.gradbench.evaluation import Style, load

__all__ = ["answer", "serve"]


def serve(lines: Iterable[str], style: Style) -> Iterator[str]:
    """The line that answers each line, as they come."""
    for line in lines:
        if line.strip():
            yield json.dumps(answer(json.loads(line), style))


def answer(message: dict[str, Any], style: Style) -> dict[str, Any]:
    """The answer to a message.

    What is neither a definition nor an evaluation (``start``, ``analysis``, whatever comes later)
    is acknowledged by its number. What an evaluation raises is part of the answer.
    """
    try:
        match message["kind"]:
            case "start":
                reply: dict[str, Any] = {"tool": "adjoint", "config": {"style": style}}
            case "define":
                load(message["module"], style)
                reply = {"success": True}
            case "evaluate":
                reply = _evaluated(message, style)
            case _:
                reply = {}
    except Exception as error:
        reply = {"success": False, "error": "".join(traceback.format_exception(error))}
    return {"id": message["id"]} | reply


def _evaluated(message: dict[str, Any], style: Style) -> dict[str, Any]:
    functions, name = load(message["module"], style), message["function"]
    if name not in functions:
        raise LookupError(f"no function {name!r}; there are {', '.join(functions)}")
    output, times = functions[name].run(message["input"])
    timings = [{"name": "evaluate", "nanoseconds": time} for time in times]
    return {"success": True, "output": output, "timings": timings}
