"""Draws programs by number, checks them, and makes those that fail small."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, reject, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from tests.fuzz.check import DiscardedError, RefusedError, WrongError, check_program
from tests.fuzz.choices import ImpossibleError
from tests.fuzz.program import Program
from tests.fuzz.templates import Production
from tests.fuzz.writer import SIZE, Writer

BYTES = 4000
"""How much randomness a program may use."""


@st.composite
def programs(draw: Any, size: int = SIZE) -> Program | None:
    """Random programs."""
    try:
        return Writer(draw, size).program("generated")
    except ImpossibleError:
        return None


@dataclass
class Report:
    """What happened to a number of programs."""

    checked: int = 0
    specialised: int = 0
    discarded: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)

    def add(self, other: Report) -> None:
        """Take in what happened to other programs."""
        self.checked += other.checked
        self.specialised += other.specialised
        self.discarded += other.discarded
        self.refused += other.refused
        self.ran += other.ran
        self.failures |= other.failures

    @property
    def programs(self) -> int:
        """How many programs there were."""
        return self.checked + self.discarded.total() + self.refused.total() + len(self.failures)

    def __str__(self) -> str:
        return (
            f"{self.checked} programs agree ({self.specialised} specialised), "
            f"{len(self.failures)} fail, {self.refused.total()} are refused, "
            f"{self.discarded.total()} were thrown away, "
            f"{len(self.ran)} productions"
        )


class Checker:
    """Checks programs by number.

    Hypothesis draws a program from random bytes. One that fails is kept in its database, from
    where it is taken up and made small.
    """

    def __init__(
        self,
        seed: int = 0,
        shrink: bool = True,
        size: int = SIZE,
        held_to: Callable[[Program, Callable[..., Any]], None] | None = None,
    ) -> None:
        self.seed = seed
        self._held_to = held_to
        self.size = size
        self.shrink = shrink
        self.report = Report()
        self._test = self._new_test()
        self._run = self._test.hypothesis.fuzz_one_input

    def _new_test(self) -> Any:
        @settings(
            database=InMemoryExampleDatabase(),
            deadline=None,
            derandomize=False,
            phases=[Phase.reuse, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
        )
        @given(programs(self.size))
        def test(program: Program | None) -> None:
            try:
                if program is None:
                    raise DiscardedError("nothing can be written")
                self._ran, self._is_specialised = check_program(program, self._held_to)
            except (DiscardedError, RefusedError) as outcome:
                self._outcome = outcome
                reject()

        return test

    def check(self, number: int) -> None:
        """Check the program with this number, and note what happened."""
        randomness = random.Random(f"{self.seed}:{number}").randbytes(
            BYTES * max(1, self.size // SIZE)
        )
        self._outcome: Exception | None = DiscardedError("too long to be drawn")
        self._ran: set[Production] = set()
        self._is_specialised = False
        try:
            valid = self._run(randomness) is not None
        except WrongError as error:
            self.report.failures[number] = self._smallest(error) if self.shrink else str(error)
            return
        match self._outcome:
            case _ if valid:
                self.report.checked += 1
                self.report.specialised += self._is_specialised
                self.report.ran.update(map(str, self._ran))
            case RefusedError() as reason:
                self.report.refused[str(reason)] += 1
            case reason:
                self.report.discarded[str(reason).partition(":")[0]] += 1

    def _smallest(self, first: WrongError) -> str:
        """The smallest program that fails in the same way as the one in the database, which failed
        with the error `first`."""
        found = f"it does not fail each time\n{first}"
        try:
            self._test()
        except WrongError as error:
            found = str(error)
        self._test = self._new_test()
        self._run = self._test.hypothesis.fuzz_one_input
        return found
