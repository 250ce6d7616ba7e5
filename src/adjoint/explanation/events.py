"""What an observed run leaves: calls of the user's functions, and the operations in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from adjoint.explanation.value_text import Snapshot
from adjoint.ir.nodes import Span

MOST_EVENTS = 2000
"""The number of operations whose values are kept; of later ones only line and finiteness."""
MOST_CALLS = 500
"""The number of calls of the user's functions that are told apart."""


@dataclass(slots=True)
class Call:
    """One call of a function that the run went into; number 0 is outside of all functions.

    Attributes
    ----------
    parent, line, path
        The call that made it, and the line and the iterations there.
    function
        What is called; ``None`` of a generator, which runs inside whoever resumes it.
    counts
        By number of a loop of the function, the iteration that runs.
    is_kept
        Whether it is one of the first `MOST_CALLS`.
    """

    number: int
    unit: Any
    parent: Call | None
    function: Any = None
    line: int = 0
    path: Path = ()
    counts: dict[int, int] = field(default_factory=dict)
    is_kept: bool = True

    @property
    def code(self) -> CodeType | None:
        return None if self.unit is None else self.unit.function.code

    @property
    def name(self) -> str:
        return "" if self.code is None else self.code.co_qualname.rpartition("<locals>.")[2]

    @property
    def filename(self) -> str:
        return "" if self.unit is None else str(self.unit.function.filename)


Path = tuple[tuple[int, int], ...]
"""The loops around an operation, the outermost first: (number of the loop, iteration from 1)."""


@dataclass(slots=True)
class Operand:
    """An operand of an operation.

    Attributes
    ----------
    sources
        The numbers of the operations that made what it holds; ``-1 - i`` stands for input ``i``.
        Parts that no kept operation is known to have made are left out.
    local
        The derivative of the result in the operand, where it is a number or an array of numbers.
    bar
        What the operation adds to the operand's cotangent.
    """

    label: str
    value: Snapshot
    sources: tuple[int, ...]
    local: Snapshot | None = None
    bar: Snapshot | None = None


@dataclass(slots=True)
class Event:
    """One operation on values that depend on the inputs.

    Attributes
    ----------
    text
        What the user wrote there.
    callee
        The function or operator; ``None`` of reads and writes of arrays.
    form
        ``call``, ``elementwise``, ``read``, ``write`` or ``other``.
    bar
        The cotangent of the result, when all of it has arrived; ``None`` if none did.
    is_kept
        Whether values are kept.
    """

    number: int
    call: Call
    line: int
    span: Span | None
    path: Path
    name: str
    callee: Any = None
    form: str = "call"
    text: str = ""
    value: Snapshot | None = None
    operands: list[Operand] = field(default_factory=list)
    bar: Snapshot | None = None
    is_kept: bool = True
    is_finite: bool = True

    @property
    def place(self) -> tuple[str, int]:
        """Return the file and the line."""
        return self.call.filename, self.line


@dataclass(frozen=True, slots=True)
class Input:
    """A number or an array in the arguments, by the expression that reads it."""

    name: str
    value: Any
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Added:
    """An operation adds `bar` to the cotangent of ``value[index]``, which is, or lies in, an
    input."""

    event: Event | None
    value: Any
    index: Any
    bar: Any


@dataclass(frozen=True, slots=True)
class Taken:
    """A write takes the cotangent of ``value[index]`` away: the input did not have the contents
    that were written."""

    value: Any
    index: Any


@dataclass(frozen=True, slots=True)
class Bad:
    """The first place where a NaN or an infinity arises out of finite numbers."""

    sweep: str
    event: Event | None
    detail: str
