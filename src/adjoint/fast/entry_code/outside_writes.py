"""Source that keeps the incoming contents of arrays that a program writes to."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.fast.entry_code.inputs import Reading
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.types import Array
from adjoint.fast.source.formulas import tuple_text
from adjoint.fast.support.outside_writes import Incoming


def keeping(made: Reading, written: Sequence[Leaf], failure: str = "FAILED") -> list[str]:
    """Return the lines that keep the incoming contents and begin the run of the program, whose
    result is `failure` if it cannot run."""
    made.bound["Incoming"] = Incoming
    known = {id(leaf) for leaf in written}
    others = [
        made.names[id(leaf.source)]
        for leaf in made.outside.leaves
        if isinstance(leaf.type, Array) and id(leaf) not in known
    ]
    arrays = tuple_text(made.names[id(leaf.source)] for leaf in written)
    return [
        "    try:",
        f"        incoming = Incoming({arrays}, {tuple_text(others)})",
        "    except Exception as error:",
        "        failed(error)",
        f"        return {failure}",
        "    try:",
    ]


def undoing(lines: Sequence[str]) -> list[str]:
    """Return the lines of a run with the incoming contents put back where it fails."""
    return [line.replace("failed(", "incoming.failed(failed, ") for line in lines]
