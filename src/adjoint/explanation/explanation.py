"""What the public function `explain` returns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjoint.diagnostics.pullback_text import StaysHere
from adjoint.explanation.contributions import Contribution, contributions
from adjoint.explanation.page import page_of
from adjoint.explanation.run import Run
from adjoint.explanation.run_graph import graph_of
from adjoint.explanation.steps import Step, steps
from adjoint.explanation.text import bad_text, contribution_rows, contributions_text, text
from adjoint.explanation.value_text import text_of
from adjoint.pictures.graph_drawing import dot, svg
from adjoint.pictures.html import framed, table_html

HEIGHT = 720
"""The height of a page in a notebook, in pixels."""


class Explanation(StaysHere):
    """What happened in one derivative; `explain` makes it.

    Printed, it is text for a terminal; in a notebook, a page. It cannot be pickled: send its text
    or its page.

    Attributes
    ----------
    value
        The value of the function.
    gradient : tuple
        As `withgradient` gives it.
    """

    send_instead = "call ad.explain there; or send str(explanation) or explanation.to_html()"

    def __init__(self, run: Run) -> None:
        self._run = run
        self.value: Any = run.value
        self.gradient: tuple[Any, ...] = run.gradient

    def __str__(self) -> str:
        return text(self._run)

    __repr__ = __str__

    def _named(self) -> str:
        return "an explanation"

    def _repr_html_(self) -> str:
        return framed(self.to_html(), HEIGHT)

    @property
    def first_not_finite(self) -> str | None:
        """Line and operation where a NaN or an infinity arises first, in the values, else in the
        cotangents; ``None`` where all are finite."""
        bad = self._run.first_bad()
        return None if bad is None else bad_text(bad)

    def to(self, path: str) -> Contributions:
        """Which lines contribute how much to the cotangent of one input.

        Parameters
        ----------
        path : str
            The input, as the function's parameters name it: ``"x"``, ``"x[3]"``,
            ``"model.weights[0, 1]"``, ``"params['w']"``.

        Raises
        ------
        ArgumentError
            `path` names no input, or the parts are not kept: they are too large, or the shape of an
            input is assigned.

        Examples
        --------
        >>> explain(lambda x: x * x + 3.0 * x, 2.0).to("x").total
        7.0
        """
        return Contributions(self._run, path)

    def steps(self) -> Iterator[Step]:
        """The derivative step by step, each with its line, its operation, value, local derivative,
        cotangent, and a sentence.

        Examples
        --------
        >>> for step in explain(lambda x: x * x, 3.0).steps():
        ...     print(f"{step.sweep}: value {step.value}, cotangent {step.cotangent or '-'}")
        forward: value 9, cotangent -
        reverse: value 9, cotangent 1
        gradient: value 3, cotangent 6
        """
        return steps(self._run)

    def to_html(self) -> str:
        """The page, as one document that loads nothing from elsewhere."""
        return page_of(self._run)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def to_svg(self) -> str:
        """The graph of the operations that lead to the value, the last 60 of them."""
        return svg(graph_of(self._run)[0])

    def to_dot(self) -> str:
        """The graph of `to_svg` in the language of Graphviz."""
        return dot(graph_of(self._run)[0])


class Contributions(StaysHere):
    """The parts of one input's cotangent; iterates over pairs (line, part).

    Attributes
    ----------
    path : str
        The input.
    total
        Its cotangent, the sum of the parts; 0.0 if there is none.
    """

    send_instead = "call ad.explain there; or send str(contributions) or list(contributions)"

    def __init__(self, run: Run, path: str) -> None:
        self.path = path
        self._found: list[Contribution] = contributions(run.tape, path)
        self.total: Any = sum((one.amount for one in self._found), 0.0)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return ((0 if one.event is None else one.event.line, one.amount) for one in self._found)

    def __str__(self) -> str:
        return contributions_text(self.path, text_of(self.total), self._found)

    __repr__ = __str__

    def _named(self) -> str:
        return f"the contributions to {self.path}"

    def _repr_html_(self) -> str:
        title = f"cotangent of {self.path}: {text_of(self.total)}"
        return table_html(title, *contribution_rows(self._found))
