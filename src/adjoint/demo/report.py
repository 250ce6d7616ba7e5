"""Tables that the demo prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.demo.cubic import CubicResult
from adjoint.demo.moons import MoonsResult
from adjoint.demo.scalar import ScalarResult

if TYPE_CHECKING:
    from rich.table import Table


def heading(text: str) -> None:
    """Print a line over the width of the terminal."""
    from rich.console import Console

    console = Console()
    console.print()
    console.rule(f"[bold]{text}", align="left")


def cubic(result: CubicResult) -> None:
    """Print methods, losses and coefficients."""
    table = _table("method", "loss", "coefficients")
    for fit in result.fits:
        coefficients = "  ".join(f"{w:8.3f}" for w in fit.weights)
        table.add_row(fit.method, f"{fit.loss:.2f}", coefficients)
    _show(table)


def moons(result: MoonsResult) -> None:
    """Print loss and accuracy of the network."""
    table = _table("steps", "loss", "accuracy")
    table.add_row(str(len(result.history)), f"{result.loss:.4f}", f"{result.accuracy:.1%}")
    _show(table)


def scalar(arrays: MoonsResult, scalars: ScalarResult) -> None:
    """Print both ways side by side: equal numbers, at different cost."""
    n = len(scalars.history)
    table = _table("", f"loss before step {n}", "seconds per step", "what is recorded")
    table.add_row(
        "arrays",
        f"{arrays.history[n - 1]:.12f}",
        f"{arrays.seconds_per_step:.6f}",
        "operations on arrays",
    )
    table.add_row(
        "scalars",
        f"{scalars.history[-1]:.12f}",
        f"{scalars.seconds_per_step:.6f}",
        f"{scalars.nodes:,} nodes",
    )
    _show(table)
    print(f"  arrays are {scalars.seconds_per_step / arrays.seconds_per_step:,.0f} times faster")


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def _show(table: Table) -> None:
    from rich.console import Console

    Console().print(table)
