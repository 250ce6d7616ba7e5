"""Two thousand random programs; ``make fuzz`` checks as many as asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.batches import Checker, Report
from tests.fuzz.levels import check_levels
from tests.fuzz.nested import check_nested, check_twice
from tests.fuzz.templates import grammar

SEED = 1
BATCHES, BATCH = 20, 100
TOTAL = Report()
PRODUCTIONS = {str(production) for table in grammar().values() for production in table}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_programs(batch: int) -> None:
    checker = Checker(SEED)
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        checker.check(number)
        for text in checker.report.failures.values():
            pytest.fail(text, pytrace=False)
    report = checker.report
    assert report.refused.total() <= 2 and report.discarded.total() <= 10, report
    assert len(report.ran) > 0.4 * len(PRODUCTIONS), report
    assert report.specialised > 0.3 * BATCH, report
    TOTAL.add(report)


@pytest.mark.parametrize("batch", range(5))
def test_programs_on_levels(batch: int) -> None:
    """Forward mode, and reverse mode on a tape."""
    checker = Checker(seed=3, held_to=check_levels)
    for number in range(batch * 40, (batch + 1) * 40):
        checker.check(number)
        for text in checker.report.failures.values():
            pytest.fail(text, pytrace=False)
    report = checker.report
    assert report.checked >= 30 and report.refused.total() <= 1, report


@pytest.mark.parametrize("held_to", [check_nested, check_twice])
@pytest.mark.parametrize("batch", range(4))
def test_programs_inside_another_derivative(batch: int, held_to: Any) -> None:
    """With integers in containers, and with an array that is given twice."""
    checker = Checker(seed=4, held_to=held_to)
    for number in range(batch * 10, (batch + 1) * 10):
        checker.check(number)
        for text in checker.report.failures.values():
            pytest.fail(text, pytrace=False)
    report = checker.report
    assert report.checked >= 7 and report.refused.total() <= 1, report


def test_programs_are_judged_and_varied() -> None:
    if TOTAL.programs < BATCHES * BATCH:
        pytest.skip("this process ran only some of the programs")
    assert TOTAL.refused.total() < 0.01 * TOTAL.programs
    assert TOTAL.discarded.total() < 0.1 * TOTAL.programs
    assert len(TOTAL.ran) > 0.97 * len(PRODUCTIONS), PRODUCTIONS - set(TOTAL.ran)
