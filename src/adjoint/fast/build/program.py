"""A function specialised for one kind of arguments, with its derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjoint.diagnostics.dump import Stages
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import Source
from adjoint.fast.evaluate.writes.final_contents import Stored
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support.result_memory import OWN_MEMORY
from adjoint.ir.single import Block, Call, Const, Operand, Value


@dataclass(eq=False, repr=False)
class Program:
    """A function specialised for one kind of arguments.

    Attributes
    ----------
    leaves
        The leaves that the program takes, in order.
    wanted
        The leaves whose cotangents the program returns, in order.
    forward, reverse
        The sweeps; the results of `reverse` are the cotangents.
    results
        The results of the function, as values or constants: one, or the items of a tuple.
    is_tuple
        Whether the function returns a tuple, or what is given to `shaped`.
    shaped
        Makes another structure of such a tuple; ``None`` for a tuple.
    y_bars
        The parameters of the reverse sweep, one for each result; ``None`` for constants.
    has_tangents
        Whether it is a program of tangents.
    dots
        The parameters of `reverse` in a program of tangents, one for each wanted leaf. There,
        `forward` is what does not depend on the tangents, and the results of `reverse` are `count`
        values, then their tangents.
    most_rows
        How many rows to take at once, in programs of rows; see `Draft.most_rows`.
    stored
        What is stored in containers and objects from outside.
    adopted
        The containers and objects from outside that it writes to, also those that hold at the end
        what they held before.
    values_stored
        The values of the program in it; the forward sweep returns them behind `results`.
    is_singular
        Whether a slope of an array may be infinite.
    is_careful
        Whether zero cotangents stay zero beside such slopes.
    stages
        Writes the stages of the program to files, if that is enabled.
    definite
        For each cotangent: ``None`` if it is absent, true if it has memory of its own, false if
        only a call can tell.
    """

    name: str
    outside: Outside
    ev: Evaluator
    leaves: list[Leaf]
    wanted: list[Leaf]
    forward: Block
    reverse: Block
    results: tuple[Operand, ...]
    is_tuple: bool
    y_bars: tuple[Value | None, ...]
    stages: Stages
    definite: tuple[bool | None, ...] = ()
    has_tangents: bool = False
    dots: tuple[Value, ...] = ()
    count: int = 0
    most_rows: int = 0

    shaped: Callable[[tuple[Any, ...]], Any] | None = None
    stored: list[Stored] = field(default_factory=list)
    values_stored: tuple[Value, ...] = ()
    adopted: tuple[Source, ...] = ()
    is_singular: bool = False
    is_careful: bool = False

    @property
    def writes(self) -> bool:
        """Whether the program writes to something from outside."""
        return bool(self.written or self.adopted)

    @property
    def written(self) -> list[Leaf]:
        """The leaves that the program writes to."""
        return [leaf for leaf in self.outside.leaves if leaf.value in self.ev.written]


def written_to(ev: Evaluator) -> set[Value]:
    """Return the values that are written to, and their aliases."""
    if not ev.written:
        return set()
    return ev.written | {view for view in ev.aliases if ev.aliased_by(view) & ev.written}


def definite_results(ev: Evaluator, forward: Block, reverse: Block) -> tuple[bool | None, ...]:
    """Return for each result of `reverse`: ``None`` if it is ``None``, true if it certainly has
    memory of its own, false if only a call can tell."""
    made = {op.result: op for op in (*forward.ops, *reverse.ops) if type(op) is Call}
    found: list[bool | None] = []
    results = reverse.results or ()
    for x in results:
        if isinstance(x, Const):
            found.append(None if x.value is None else True)
            continue
        assert isinstance(x, Value)
        op = made.get(x)
        while op is not None and op.callee == Const(same) and op.operands[0] in made:
            op = made[op.operands[0]]
        f = None if op is None else callee_of(op)
        if isinstance(ev.types[x], Row):
            found.append(False)
        elif isinstance(ev.types[x], Array):
            own = isinstance(f, np.ufunc) or f in OWN_MEMORY
            found.append(own and results.count(x) == 1)
        else:
            found.append(True)
    return tuple(found)
