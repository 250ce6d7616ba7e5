"""How the paths through a block hand on what they leave.

``break``, ``continue`` and ``return`` are no jumps in single assignment: each path of a block ends
with its results, some of which say by which way the block was left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from adjoint.fast.single.liveness import Variables, Way
from adjoint.ir.nodes import Operand as NamedOperand
from adjoint.ir.single import Const, Operand, Undefined, Value

YES: Final = Const(True)
NO: Final = Const(False)


@dataclass(frozen=True, slots=True)
class Slots:
    """The values that stand for the results of an `Ending`, in their order."""

    flags: tuple[Value, ...]
    returned: Value | None
    variables: tuple[Value, ...]

    @property
    def all(self) -> tuple[Value, ...]:
        """The values in the order of the results."""
        one = () if self.returned is None else (self.returned,)
        return (*self.flags, *one, *self.variables)


@dataclass(slots=True)
class Ending:
    """What the results of a block are.

    Attributes
    ----------
    live
        By each way that there is: which of `variables` are read behind it.
    variables
        The variables that are handed on, at the end of the results.
    flags
        Names of the flags, at the front of the results.
    ways
        What the flags are, by each way.
    returned
        Whether the value of a ``return`` is among the results, behind the flags.
    fall
        The way that reaching the end of the block is.
    first
        Operands that are read at the end of the block, before its results.
    unsure
        By each way: the variables that may have no value behind it. Grows with each path.
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
        """New values for the results."""
        return Slots(
            tuple(map(Value, self.flags)),
            Value("returned") if self.returned else None,
            tuple(map(Value, self.variables)),
        )

    def results(
        self, way: Way, value: Operand | None, variables: tuple[Operand, ...]
    ) -> tuple[Operand, ...]:
        """The results of a path that is left by `way`, where the variables are `variables`."""
        return (*self.ways.get(way, ()), *self.values(value), *variables)

    def values(self, value: Operand | None) -> tuple[Operand, ...]:
        """The returned value as it stands among the results."""
        if not self.returned:
            return ()
        return (Undefined("returned") if value is None else value,)
