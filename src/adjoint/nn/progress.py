"""A progress bar, if the extra is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Advance: TypeAlias = Callable[[str], None]
"""Called after each step with a short text to show behind the bar."""


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Advance]:
    """Show a bar on the terminal while the body runs; the body calls the yielded function once per
    step.

    Raises
    ------
    ImportError
        The extra ``progress`` is not installed.
    """
    try:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError as error:
        raise ImportError(
            "progress bars need the package 'rich': pip install 'adjoint-ad[progress]'"
        ) from error
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns) as bar:
        task = bar.add_task(description, total=total, note="")

        def advance(note: str) -> None:
            bar.update(task, advance=1, note=note)

        yield advance
