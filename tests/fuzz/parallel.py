"""Checks many programs in several processes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from adjoint.fast.programs import store as tier
from tests.fuzz.batches import Checker, Report
from tests.fuzz.nested import check_all

BATCH = 50
BATCHES_PER_PROCESS = 40
"""A process ends after so many, and gives its memory back."""


def batch(numbers: range, seed: int, shrink: bool, size: int) -> Report:
    """The report of the programs with these numbers."""
    warnings.simplefilter("error")
    tier.is_strict[0] = True
    checker = Checker(seed, shrink, size, check_all)
    for number in numbers:
        checker.check(number)
    return checker.report


def reports(numbers: range, seed: int, shrink: bool, size: int, processes: int) -> Iterator[Report]:
    """The reports of batches, in the order in which they are done."""
    parts = (numbers[k : k + BATCH] for k in range(0, len(numbers), BATCH))
    with ProcessPoolExecutor(
        processes,
        mp_context=get_context("spawn"),
        max_tasks_per_child=BATCHES_PER_PROCESS,
    ) as pool:
        waiting: set[Future[Report]] = set()
        for part in parts:
            if len(waiting) >= 2 * processes:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            waiting.add(pool.submit(batch, part, seed, shrink, size))
        for future in waiting:
            yield future.result()
