"""A function specialised for one kind of arguments, with its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from adjoint.diagnostics.dump import Stages
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import Source
from adjoint.fast.evaluate.writes.final_contents import Stored, StoredGlobal
from adjoint.fast.passes.sequence import simplified
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.printer import format_block
from adjoint.fast.single_assignment.walk import callee_of, is_call_of
from adjoint.fast.support.result_memory import OWN_MEMORY
from adjoint.ir.node import node
from adjoint.ir.single import Block, Call, Const, Operand, Value

T = TypeVar("T")


@node(eq=False)
class Task:
    """What the blocks of one function share while its program is built.

    Attributes
    ----------
    wanted
        The leaves with cotangents or tangents, in order.
    is_tuple
        Whether the function returns a tuple, or what is given to `Program.shaped`.
    apart
        Values that have calls of their own.
    """

    ev: Evaluator
    name: str
    wanted: list[Leaf]
    is_tuple: bool
    apart: set[Value]
    stages: Stages

    @property
    def moving(self) -> list[Value]:
        """The values of the wanted leaves."""
        return [leaf.value for leaf in self.wanted]

    def show(self, what: str, block: Block) -> None:
        """Write a stage of the program to a file, if that is enabled."""
        self.stages(what, partial(format_block, self.name, block))

    def simplified(self, block: Block, own: Block | None = None) -> Block:
        """Run the passes over a block; see `passes.sequence`."""
        written = written_to(self.ev) | self.apart | self.ev.ignored.keys()
        return simplified(block, self.name, self.ev.types, written, self.stages, own)


@dataclass(eq=False, repr=False)
class Program:
    """A function specialised for one kind of arguments.

    Attributes
    ----------
    task
        What it is made for.
    forward, reverse
        The sweeps; the results of `reverse` are the cotangents.
    results
        The results of the function, as values or constants: one, or the items of a tuple.
    shaped
        Makes another structure of such a tuple; ``None`` for a tuple.
    y_bars
        The parameters of the reverse sweep, one for each result; ``None`` for constants.
    has_tangents
        Whether it is a program of tangents.
    dots
        The parameters of `reverse` in a program of tangents, one for each wanted leaf. There,
        `forward` is what does not depend on the tangents, and the results of `reverse` are `count`
        values, then their tangents, then `values_stored`.
    most_rows
        How many rows to take at once, in programs of rows; see `Draft.most_rows`.
    stored
        What is stored in containers and objects from outside.
    adopted
        The containers and objects from outside that it writes to, also those that hold at the end
        what they held before.
    in_globals
        The global variables that it stores.
    values_stored
        The values of the program in both, and the list of what it prints; the forward sweep returns
        them behind `results`.
    definite
        For each cotangent: ``None`` if it is absent, true if it has memory of its own, false if
        only a call can tell.
    """

    task: Task
    forward: Block
    reverse: Block
    results: tuple[Operand, ...]
    y_bars: tuple[Value | None, ...] = ()
    definite: tuple[bool | None, ...] = ()
    has_tangents: bool = False
    dots: tuple[Value, ...] = ()
    count: int = 0
    most_rows: int = 0

    shaped: Callable[[tuple[Any, ...]], Any] | None = None
    stored: list[Stored] = field(default_factory=list)
    in_globals: tuple[StoredGlobal, ...] = ()
    values_stored: tuple[Value, ...] = ()
    adopted: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        self.ev, self.name = self.task.ev, self.task.name
        self.outside, self.stages = self.ev.outside, self.task.stages

    @property
    def wanted(self) -> list[Leaf]:
        """The leaves whose cotangents the program returns, in order."""
        return self.task.wanted

    def parts(self, results: Sequence[T]) -> tuple[Sequence[T], Sequence[T], Sequence[T]]:
        """Return the values, their tangents and the rest among the results of a program of
        tangents."""
        n = self.count
        return results[:n], results[n : 2 * n], results[2 * n :]

    @property
    def commits(self) -> bool:
        """Whether the entry code has something to do when the program has finished."""
        return bool(self.stored or self.ev.prints or self.in_globals)

    @property
    def writes(self) -> bool:
        """Whether the program writes to something from outside."""
        return bool(self.written or self.adopted)

    @property
    def acts(self) -> bool:
        """Whether another run of the function would be noticed."""
        return self.writes or self.ev.prints

    @property
    def written(self) -> list[Leaf]:
        """The leaves that the program writes to."""
        return [leaf for leaf in self.outside.leaves if leaf.value in self.ev.written]


def written_to(ev: Evaluator) -> set[Value]:
    """Return the values that are written to, and their aliases."""
    if not ev.written:
        return set()
    return ev.written | {view for view in ev.aliases if ev.aliased_by(view) & ev.written}


def written_together(ev: Evaluator) -> dict[Value, set[Value]]:
    """Return for each value that is written to, and for each that may share memory with it, the set
    of all these."""
    groups: dict[Value, set[Value]] = {x: {x} for x in ev.written}
    for view, owners in ev.aliases.items() if ev.written else ():
        for x in owners:
            small, large = sorted((groups.get(y, {y}) for y in (view, x)), key=len)
            if small is not large:
                large |= small
                groups |= dict.fromkeys(small, large)
            groups |= {x: large, view: large}
    return {x: group for x, group in groups.items() if not group.isdisjoint(ev.written)}


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
        while op is not None and is_call_of(op, same) and op.operands[0] in made:
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
