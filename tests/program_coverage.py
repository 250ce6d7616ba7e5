"""``python -m tests.program_coverage``: how much of ordinary code runs as programs.

Prints, for the functions of the corpus and for those of other packages, the share that the fast
tier covers, the cost of a gradient in multiples of the function, and the reasons of the generic
tier, most frequent first, each with one function that shows it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.fast.programs import store
from tests import corpus, library
from tests.support import Sample, random_cotangent

CALLS = 3
"""Calls of each function: what a first call has met may be covered in a later one."""

LEAST = 2e-6
"""Seconds that a function takes at least whose ratio counts."""


@dataclass
class Coverage:
    """Counts over a set of functions.

    Attributes
    ----------
    functions, programs : int
        The number of functions, and of those whose call runs as a program.
    reasons : Counter
        Number of functions by the reason of the generic tier.
    example : dict
        One function by reason.
    ratios : dict
        Time of a gradient over that of the function, by name and tier.
    """

    functions: int = 0
    programs: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)
    ratios: dict[tuple[str, str], float] = field(default_factory=dict)

    def add(self, name: str, sample: Sample) -> None:
        """Count one function; one that raises at its own arguments does not count."""
        store.forget()  # functions that share their code are specialised one by one
        try:
            plain = _timed(sample, lambda f, *args: f(*args, **sample.kwargs))
            y, _ = sample.plain()
            y_bar = random_cotangent(y, np.random.default_rng(0))
            report, taken = _report(sample, y_bar)
        except Exception:  # refused by design, or no structure that has cotangents
            return
        self.functions += 1
        if report.tier == "fast":
            self.programs += 1
        else:
            reason = report.reason or "no reason"
            self.reasons[reason] += 1
            self.example.setdefault(reason, name)
        if plain >= LEAST:
            self.ratios[name, report.tier] = taken / plain

    def lines(self, title: str, most: int) -> Iterator[str]:
        """Return the text of the report."""
        share = 100 * self.programs / max(self.functions, 1)
        yield f"{title}: {self.programs} of {self.functions} run as programs ({share:.1f} %)"
        for tier in ("fast", "generic"):
            found = [ratio for (_, of), ratio in self.ratios.items() if of == tier]
            if found:
                yield f"  {tier} tier: gradient / function {median(found):.1f} in the median"
        if self.ratios:
            yield f"  both: {median(self.ratios.values()):.1f}"
        for reason, count in self.reasons.most_common(most):
            yield f"  {count:4d}  {reason}  ({self.example[reason]})"


def _report(sample: Sample, y_bar: Any) -> tuple[ad.TierReport, float]:
    """Return the tier of a call that has been made before, and the time of its gradient."""

    def gradient(f: Any, *args: Any) -> None:
        _, back = ad.pullback(f, *args, **sample.kwargs)
        back(y_bar)

    taken = _timed(sample, gradient)
    f, *args = sample.fresh()
    return ad.tier(f, *args, **sample.kwargs), taken


def _timed(sample: Sample, run: Callable[..., Any]) -> float:
    """Seconds of the quickest of `CALLS` calls; each has its own arguments."""
    times = []
    for _ in range(CALLS):
        f, *args = sample.fresh()
        start = time.perf_counter()
        run(f, *args)
        times.append(time.perf_counter() - start)
    return min(times)


def of_the_corpus() -> Iterator[tuple[str, Sample]]:
    """Return the functions of the corpus."""
    for case in corpus.all_cases():
        yield case.name, case.sample


def of_the_library() -> Iterator[tuple[str, Sample]]:
    """Return the functions of other packages."""
    for case in library.all_cases():
        yield case.name, Sample(case.call, case.args, case.kwargs)


def main(most: int = 40) -> None:
    """Print the report; `most` is the number of reasons of each set."""
    for title, cases in (("corpus", of_the_corpus()), ("library", of_the_library())):
        coverage = Coverage()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for name, sample in cases:
                coverage.add(name, sample)
        print(*coverage.lines(title, most), sep="\n", flush=True)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]))
