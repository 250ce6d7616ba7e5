"""A few hundred random programs of each kind; ``make fuzz`` runs as many as asked for."""

from __future__ import annotations

import pytest

from tests.fuzz.runner import KINDS, Report, run, smallest, valid_program

SEED = 20
BATCHES, BATCH = 10, 30
REQUIRED = {
    "control": {
        "return in finally", "raise in finally", "break in finally", "continue in finally",
        "break in with", "return in with", "return in try", "raised again", "exception's value",
        "with suppressing", "with generator", "yield in try", "yield in with", "yield in loop",
        "yield from with result", "send", "throw", "closing", "for generator", "next", "recursion",
        "nonlocal function", "generator expression", "dict comprehension", "lambda", "match", "del",
    },
    "memory": {
        "alias or view", "view of a view", "overlapping slice written", "mask written",
        "repeated fancy written", "rows exchanged through views", "out of accumulation",
        "out with where", "callee returns view", "callee's buffer", "slice insertion",
        "sort by function", "setdefault written", "dict pop", "attribute set to alias",
        "property's view written", "closure rebinds", "closure writes", "items replaced in a loop",
    },
}  # fmt: skip


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("kind", KINDS)
def test_programs(kind: str, batch: int) -> None:
    report = Report()
    for report in run(kind, SEED, range(batch * BATCH, (batch + 1) * BATCH)):
        if report.failures:
            pytest.fail(str(smallest(report.failures[0], budget=150)), pytrace=False)
    assert report.unsound < 0.2 * BATCH


@pytest.mark.parametrize("kind", KINDS)
def test_programs_exercise_what_matters(kind: str) -> None:
    report = Report()
    for number in range(BATCHES * BATCH):
        valid_program(kind, f"{SEED}:{number}", report).forget()
    assert REQUIRED[kind] <= set(report.tags), REQUIRED[kind] - set(report.tags)
    assert report.rejected < 0.1 * BATCHES * BATCH
