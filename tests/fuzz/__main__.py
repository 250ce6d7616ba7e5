"""Check as many random programs as asked for; a failing one is printed as small as it gets."""

from __future__ import annotations

import argparse
import sys
import warnings

from tests.fuzz.runner import KINDS, Report, run, smallest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, help="the same as --programs")
    parser.add_argument("--programs", type=int, default=300, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--kind", choices=[*KINDS, "both"], default="both")
    parser.add_argument("--failures", type=int, default=1, help="stop after so many")
    parser.add_argument("--coverage", action="store_true", help="how often each construct ran")
    options = parser.parse_args()
    programs = options.programs if options.count is None else options.count
    numbers = range(options.start, options.start + programs)
    warnings.simplefilter("error")

    failed = False
    for kind in KINDS if options.kind == "both" else [options.kind]:
        report = Report()
        for done, report in enumerate(run(kind, options.seed, numbers), 1):
            if sys.stderr.isatty() and done % 10 == 0:
                print(f"\r{kind}: {done} of {programs}", end="", file=sys.stderr)
            if len(report.failures) >= options.failures:
                break
        print(f"\r{kind}: {report}")
        if options.coverage:
            for tag, count in report.tags.most_common():
                print(f"{count:8d}  {tag}")
        for failure in report.failures:
            print(f"\n{failure.program.name}, cut down:\n{smallest(failure)}")
        failed = failed or bool(report.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
