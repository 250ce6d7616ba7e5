"""Results of blocks that stand for ``break``, ``continue`` and ``return``.

Single assignment has no jumps: each path through a block ends with the results of the block, and
some of the results are flags that tell by which way the block was left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from adjoint.fast.single_assignment.liveness import Variables, Way
from adjoint.ir.node import node
from adjoint.ir.nodes import Operand as NamedOperand
from adjoint.ir.single import Const, Operand, Undefined, Value

YES: Final = Const(True)
NO: Final = Const(False)
RETURNED: Final = "returned()"
"""Name of the value with the result of a function, which is only read where it is assigned."""


@node
class Slots:
    """New values for the results of an `Ending`, in the order of the results."""

    flags: tuple[Value, ...]
    returned: Value | None
    variables: tuple[Value, ...]

    @property
    def all(self) -> tuple[Value, ...]:
        """All values, in the order of the results."""
        one = () if self.returned is None else (self.returned,)
        return (*self.flags, *one, *self.variables)


@dataclass(slots=True, eq=False, repr=False)
class Ending:
    """Layout of the results of a block.

    Attributes
    ----------
    live
        By way: the variables that are read after the block is left by the way.
    variables
        The variables at the end of the results.
    flags
        Names of the flags at the front of the results.
    ways
        By way: the values of the flags.
    returned
        Whether the value of a ``return`` is among the results, after the flags.
    fall
        The way that reaching the end of the block counts as.
    first
        Operands at the very front of the results.
    unsure
        By way: the variables that may be unassigned after it. Grows with each path.
    """

    live: Mapping[Way, Variables]
    variables: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    ways: Mapping[Way, tuple[Operand, ...]] = field(default_factory=dict)
    returned: bool = False
    fall: Way = Way.FALL
    first: tuple[NamedOperand, ...] = ()
    unsure: dict[Way, set[str]] = field(default_factory=dict)

    def slots(self) -> Slots:
        """Return new values for the results."""
        return Slots(
            tuple(map(Value, self.flags)),
            Value(RETURNED) if self.returned else None,
            tuple(map(Value, self.variables)),
        )

    def results(
        self, way: Way, value: Operand | None, variables: tuple[Operand, ...]
    ) -> tuple[Operand, ...]:
        """Return the results of a path that leaves by `way` with the given variables."""
        return (*self.ways.get(way, ()), *self.values(value), *variables)

    def values(self, value: Operand | None) -> tuple[Operand, ...]:
        """Return the part of the results that holds the value of a ``return``."""
        if not self.returned:
            return ()
        return (Undefined(RETURNED) if value is None else value,)
