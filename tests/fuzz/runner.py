"""Runs generated programs through everything that a pullback promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.fuzz.control import control_program
from tests.fuzz.memory import memory_program
from tests.fuzz.program import Program, TooLongError, traced
from tests.fuzz.shrink import shrunk
from tests.structures import mapped
from tests.support import Sample, UnsoundSampleError, check_sample

KINDS: dict[str, Callable[[str], Program]] = {"control": control_program, "memory": memory_program}
DRAWS = 20
"""How many programs may be drawn for one place before a valid one is found."""


@dataclass
class Failure:
    """A program that is differentiated wrongly, or not at all."""

    program: Program
    error: BaseException

    @property
    def kind(self) -> str:
        """What must stay the same while the program is cut."""
        what = str(self.error).partition(":")[0] if isinstance(self.error, AssertionError) else ""
        return f"{type(self.error).__name__} {what}"

    def __str__(self) -> str:
        source = self.program.source()
        arguments = f"# arguments: {self.program.args!r}"
        return f"{type(self.error).__name__}: {self.error}\n\n{source}\n{arguments}"


@dataclass
class Report:
    """What happened to a number of programs."""

    checked: int = 0
    unsound: int = 0
    rejected: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.checked} programs agree, {len(self.failures)} fail, {self.unsound} stand at"
            f" a kink, {self.rejected} drawn again, {len(self.tags)} constructs"
        )


def valid_program(kind: str, seed: str, report: Report) -> Program:
    """A program that runs to its end within the budget; counts what it exercises."""
    for draw in range(DRAWS):
        program = KINDS[kind](f"{seed}:{draw}")
        try:
            tags = traced(program, program.compiled(), mapped(program.args))
        except (TooLongError, RuntimeError, NameError, LookupError):
            # a generator that yields while it is closed, a function used before its definition
            report.rejected += 1
            program.forget()
            continue
        report.tags.update(tags)
        return program
    raise AssertionError(f"no valid program for seed {seed}")


def failure_of(program: Program) -> Failure | None:
    """How the program fails, if it does; `UnsoundSampleError` where it cannot be judged."""
    try:
        check_sample(Sample(program.compiled(), program.args))
    except UnsoundSampleError:
        raise
    except Exception as error:
        return Failure(program, error)
    finally:
        program.forget()
    return None


def run(kind: str, seed: int | str, numbers: range) -> Iterator[Report]:
    """Check the programs with these numbers; yields the same growing report after each."""
    report = Report()
    for number in numbers:
        program = valid_program(kind, f"{seed}:{number}", report)
        try:
            failure = failure_of(program)
        except UnsoundSampleError:
            report.unsound += 1
        else:
            report.checked += failure is None
            if failure is not None:
                report.failures.append(failure)
        yield report


def smallest(failure: Failure, budget: int = 400) -> Failure:
    """The failure of a cut-down program."""
    found = failure

    def fails(candidate: Program) -> bool:
        nonlocal found
        try:
            f = candidate.compiled()
            traced(candidate, f, mapped(candidate.args))
            other = failure_of(candidate)
        except Exception:  # the cut made it invalid
            return False
        if other is None or other.kind != failure.kind:
            return False
        found = other
        return True

    shrunk(failure.program, fails, budget)
    return found
