"""The program of the fast tier beside an explanation, its lines with their places."""

from __future__ import annotations

from typing import TypeAlias

from adjoint.api.program_choice import gradient_mode
from adjoint.errors import AdjointError
from adjoint.explanation.run import Run
from adjoint.explanation.sections import Section
from adjoint.fast.build.program_source import written
from adjoint.fast.build.specialisation import specialise
from adjoint.fast.evaluate.values import Origin
from adjoint.fast.not_covered import NotCovered
from adjoint.runtime.session import leaving, session

Line: TypeAlias = "tuple[str, Origin | None]"
"""A line of a program, and the place that it belongs to."""


def program_of(run: Run) -> list[Line]:
    """Return the lines of the program that `gradient` runs for the arguments of a run; none if it
    runs the generic tier."""
    f, args, kwargs = run.call
    try:
        with leaving, session:
            writer = written(specialise(f, (*args, *kwargs.values()), gradient_mode(kwargs)))
    except (NotCovered, AdjointError, ArithmeticError):
        return []
    return [*zip(writer.lines, writer.origins, strict=True)]


def in_sections(lines: list[Line], sections: list[Section]) -> list[tuple[str, int, int]]:
    """Return for each line of a program its text, and the section and the line there, or of the
    innermost call that a section has; -1 and 0 if there is none."""
    known: dict[tuple[str, int], int] = {}
    for i, section in enumerate(sections):
        for number, _ in section.lines:
            known.setdefault((section.filename, number), i)

    def placed(text: str, origin: Origin | None) -> tuple[str, int, int]:
        while origin is not None:
            filename, line, origin = origin
            if (filename, line) in known:
                return text, known[filename, line], line
        return text, -1, 0

    return [placed(text, place) for text, place in lines]
