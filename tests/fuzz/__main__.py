"""Check as many random programs as asked for; those that fail are written out, made small."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from tests.fuzz.batches import Report
from tests.fuzz.parallel import reports
from tests.fuzz.templates import grammar
from tests.fuzz.writer import SIZE


class Progress:
    """A bar on a terminal, and a line now and then elsewhere."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._bar: Any = None
        self._next = 0

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True))
            self._task = self._bar.add_task("programs", total=self.total)
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, report: Report) -> None:
        text = f"{len(report.failures)} fail"
        if self._bar is not None:
            self._bar.update(self._task, completed=report.programs, description=text)
        elif report.programs >= self._next:
            print(f"{report.programs} of {self.total}: {report}", file=sys.stderr, flush=True)
            self._next = report.programs + max(1000, self.total // 100)


def write(folder: Path, report: Report, seed: int) -> None:
    """Write the programs that fail into a folder, each as a module that can be run."""
    for number, text in report.failures.items():
        folder.mkdir(parents=True, exist_ok=True)
        problem, _, source = text.partition("\n\n")
        comment = "".join(f"# {line}\n" for line in problem.splitlines())
        (folder / f"seed{seed}_{number}.py").write_text(f"{comment}{source}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("programs", nargs="?", type=int, default=100_000, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=SIZE, help="statements of a program")
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--failures", type=int, default=100, help="stop after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--raw", action="store_true", help="do not make failing programs small")
    parser.add_argument("--folder", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--coverage", action="store_true", help="how often each production ran")
    options = parser.parse_args()
    numbers = range(options.start, options.start + options.programs)

    total = Report()
    with Progress(len(numbers)) as progress:
        for report in reports(
            numbers, options.seed, not options.raw, options.size, options.processes
        ):
            total.add(report)
            write(options.folder, report, options.seed)
            progress.show(total)
            if len(total.failures) >= options.failures:
                break
    print(total)
    for what in (total.discarded, total.refused):
        for reason, count in what.most_common(10):
            print(f"{count:8d}  {reason}")
    if options.coverage:
        for tag in (str(each) for table in grammar().values() for each in table):
            print(f"{total.ran[tag]:8d}  {tag}")
    if total.failures:
        print(f"failing programs are in {options.folder}")
    return int(bool(total.failures))


if __name__ == "__main__":
    sys.exit(main())
