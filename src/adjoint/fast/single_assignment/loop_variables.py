"""Carried variables and results of loops in single assignment."""

from __future__ import annotations

from collections.abc import Mapping

from adjoint.fast.single_assignment.endings import NO, RETURNED, YES, Ending
from adjoint.fast.single_assignment.liveness import Liveness, Variables, Way, endless
from adjoint.ir.node import node
from adjoint.ir.nodes import For, If, Op, Region, Return, Var, While
from adjoint.ir.single import Operand, Undefined, Value


@node
class Form:
    """The form of one loop.

    Attributes
    ----------
    names
        Carried variables of user code: those that the loop writes and that are read in a later
        iteration, in the body after the test, or after the loop.
    ended, returning, returned
        Hidden variables, ``None`` where the loop needs none: whether the loop ended without
        ``break`` or ``return``, whether ``return`` left it (if ``break`` may leave it too), and
        the returned value.
    deletes
        The variables that the loop deletes.
    endless
        Whether only ``break`` or ``return`` ends the loop.
    """

    names: tuple[str, ...]
    ended: str | None
    returning: str | None
    returned: str | None
    deletes: Variables
    endless: bool

    @classmethod
    def of(cls, op: For | While, live: Liveness, number: int) -> Form:
        """Return the form of a loop; `number` makes its hidden names unique."""
        body = live.summary(op.body)
        written, deletes = body.writes, body.deletes
        read = live.head[id(op)]
        if isinstance(op, While):
            test = live.summary(op.test)
            written, deletes = written | test.writes, deletes | test.deletes
            read |= live.tested[id(op)]
        else:
            written |= live.mask(op.target.name)
        breaks, returns = Way.BREAK in body.ways, Way.RETURN in body.ways
        if breaks:
            read |= live.after[id(op)]
        return cls(
            tuple(live.names(written & read)),
            f"<ended {number}>" if breaks or returns else None,
            f"<returning {number}>" if breaks and returns else None,
            f"<returned {number}>" if returns else None,
            deletes,
            endless(op) and (breaks or returns),
        )

    @property
    def own(self) -> tuple[str, ...]:
        """The hidden carried variables, which precede `names`."""
        return tuple(name for name in (self.returning, self.returned) if name is not None)

    @property
    def carried(self) -> tuple[str, ...]:
        """All carried variables, hidden ones first."""
        return (*self.own, *self.names)

    def values(self) -> tuple[Value, ...]:
        """Return new values for the carried variables."""
        return tuple(
            Value(RETURNED if name == self.returned else name.strip("<>").partition(" ")[0])
            for name in self.carried
        )

    def initial(self, variables: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Return the initial values of `carried`, given those of `names`."""
        own = tuple(NO if name == self.returning else Undefined(RETURNED) for name in self.own)
        return (*own, *variables)

    def ending(self, live: Mapping[Way, Variables]) -> Ending:
        """Return the ending of the body."""
        flags: tuple[str, ...] = ()
        ways: dict[Way, tuple[Operand, ...]] = {}
        if self.ended is not None:
            flags = ("going",)
            ways = {Way.CONTINUE: (YES,), Way.BREAK: (NO,), Way.RETURN: (NO,)}
        if self.returning is not None:
            flags = ("going", "returning")
            ways = {Way.CONTINUE: (YES, NO), Way.BREAK: (NO, NO), Way.RETURN: (NO, YES)}
        returned = self.returned is not None
        return Ending(live, self.names, flags, ways, returned, fall=Way.CONTINUE)

    def behind(self, op: For | While) -> Region:
        """Return the operations directly after the loop: its ``else`` and its ``return``."""
        leave: Region = ()
        if self.returned is not None:
            leave = (Return(Var(self.returned), op.span),)
        if self.ended is None:
            return op.orelse
        behind: list[Op] = []
        if self.returning is not None:
            behind.append(If(Var(self.returning), leave, (), op.span))
            leave = ()
        if self.endless:
            behind.extend(leave)
        elif op.orelse or leave:
            behind.append(If(Var(self.ended), op.orelse, leave, op.span))
        return tuple(behind)
