"""The figures of earlier runs: ``make bench`` appends its own, ``make bench-history`` prints them.

``python -m benchmarks.history [module ...] [--last N]``. The file, one JSON object per line, is not
tracked: figures of other machines do not compare with those of this one, two branches that append
to it would conflict, and a run on a busy machine is nothing to keep for good.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Line

__all__ = ["PATH", "append", "machine", "record_of", "records", "table"]

PATH = Path(__file__).with_name("history.jsonl")
LAST = 6
"""How many runs are printed."""

Record = dict[str, Any]


def append(lines: Mapping[str, Sequence[Line]], path: Path = PATH) -> None:
    """Add one run, by the names of its modules."""
    text = json.dumps(record_of(lines), ensure_ascii=False) + "\n"
    with open(path, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a run before this one was cut off
                text = "\n" + text
        file.write(text.encode())


def record_of(lines: Mapping[str, Sequence[Line]]) -> Record:
    """What is kept of one run."""
    figures = [
        {"module": module, "name": line.name, "value": line.value, "unit": line.unit,
         "bar": line.bar, "at_least": line.at_least}
        for module, some in lines.items()
        for line in some
    ]  # fmt: skip
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "machine": machine(),
        "figures": figures,
    }


def machine() -> dict[str, Any]:
    """What figures depend on besides the code."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()


def _git(*command: str) -> str | None:
    """What git says; ``None`` where there is none, or no repository."""
    folder = Path(__file__).parent
    try:
        done = subprocess.run(["git", *command], cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode(errors="replace").strip()


def records(path: Path = PATH) -> Iterator[Record]:
    """The runs in the file, the earliest first; lines that were cut off or changed are left out."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            _check(record)
        except (ValueError, KeyError, TypeError):
            if line.strip():
                print(f"{path.name}:{number} is no record of a run: left out", file=sys.stderr)
            continue
        yield record


def _check(record: Any) -> None:
    """Raise unless everything is there that a table needs."""
    _texts = [record["date"][:10], (record["commit"] or "")[:7], record["machine"].items()]
    for figure in record["figures"]:
        float(figure["value"])
        _texts += [figure["module"] + figure["name"] + figure["unit"]]


def table(runs: Iterable[Record], modules: Sequence[str] = (), last: int = LAST) -> str:
    """The last runs on each machine as text: a row per benchmark, a column per run, and how much
    the last figure is above the one before."""
    by_machine: dict[str, list[Record]] = {}
    for run in runs:
        name = ", ".join(f"{key} {value}" for key, value in run["machine"].items())
        if not modules or any(figure["module"] in modules for figure in run["figures"]):
            by_machine.setdefault(name, []).append(run)
    parts = [f"{name}\n{_of_machine(some[-last:], modules)}" for name, some in by_machine.items()]
    return "\n".join(parts) or "no runs: make bench\n"


def _of_machine(runs: list[Record], modules: Sequence[str]) -> str:
    rows: dict[tuple[str, str, str], list[float | None]] = {}
    for i, run in enumerate(runs):
        for figure in run["figures"]:
            key = figure["module"], figure["name"], figure["unit"]
            if not modules or key[0] in modules:
                rows.setdefault(key, [None] * len(runs))[i] = float(figure["value"])
    names = [f"{name} ({unit})" for _, name, unit in rows]
    width = max(map(len, names), default=0)
    heads = [(run["commit"] or "?")[:7] + ("*" if run.get("changed") else "") for run in runs]
    lines = ["  ".join([" " * (width + 2), *(f"{run['date'][:10]:>10}" for run in runs)])]
    lines.append("  ".join([" " * (width + 2), *(f"{head:>10}" for head in heads), "  change"]))
    module = ""
    for (of, _, _), name, values in zip(rows, names, rows.values(), strict=True):
        if of != module:
            lines.append(of)
            module = of
        texts = [" " * 10 if value is None else f"{value:10.3g}" for value in values]
        lines.append("  ".join([f"  {name:<{width}}", *texts, _change(values)]).rstrip())
    return "\n".join(lines) + "\n"


def _change(values: Sequence[float | None]) -> str:
    """How much the last figure is above the one before."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or not known[-2]:
        return ""
    return f"{known[-1] / known[-2] - 1:+8.1%}"


def main(arguments: Sequence[str]) -> None:
    """Print the runs of this machine and others."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history")
    parser.add_argument("modules", nargs="*", help="modules of benchmarks, all by default")
    parser.add_argument("--last", type=int, default=LAST, help="how many runs of a machine")
    asked = parser.parse_args(arguments)
    print(table(records(), asked.modules, max(asked.last, 1)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
