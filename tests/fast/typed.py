"""Runs what the evaluator has written of a function, and demands of each value what is held of it:
its type, its lengths, whether it may be absent, and which memory it shows."""

from __future__ import annotations

import contextlib
import copy
from collections import Counter

import numpy as np

from adjoint.fast.evaluate.types import Anything, Array, Number, Row, Symbol
from adjoint.fast.evaluate.writes.listed_arrays import ListedMemory
from adjoint.fast.evaluate.writes.memory_sharing import Sharing
from adjoint.fast.not_covered import Deoptimize
from adjoint.fast.reverse import forward_sweep
from adjoint.fast.reverse.activity import find_all_active
from adjoint.fast.single_assignment.walk import operands, results
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.rows import Keys
from adjoint.ir.single import Call, Const, Undefined, Value
from tests.fast.interpreter import Activation

MOST_STEPS = 20_000


class Stop(Exception):
    """A program that runs for too long here."""


RAISED = (ArithmeticError, ValueError, LookupError, TypeError)
"""Exceptions of user code, which end a program."""


class Typed(Activation):
    """One run of one program.

    Attributes
    ----------
    problems
        What does not hold.
    in_sight
        The values of the blocks that are running.
    """

    def __init__(self, ev, leaves, program):
        self.ev, self.deep, self.values = ev, None, {}
        self.sharing, self.listed = Sharing(ev, program), ListedMemory(ev, program)
        self.in_sight = set()
        self.sizes = {}
        self.problems = []
        self.steps = 0
        for leaf in leaves:
            sample = self.values[leaf.value] = copy.deepcopy(leaf.sample)
            if isinstance(leaf.type, Array):
                pairs = zip(leaf.type.shape, sample.shape, strict=True)
                self.sizes |= {dim: n for dim, n in pairs if isinstance(dim, Symbol)}

    def block(self, block, given=()):
        lengths = {}
        for parameter, x in zip(block.parameters, given, strict=True):
            self.demand(parameter, x, lengths)
        around = self.in_sight
        self.in_sight = around.union(block.parameters)
        try:
            return super().block(block, given)
        finally:
            self.in_sight = around

    def step(self, op):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Stop
        super().step(op)
        self.in_sight.update(results(op))
        lengths = {}  # those of one symbol are equal among what is there at one time
        read = operands(op) if isinstance(op, Call) else ()
        for x in (*read, *results(op)):
            if isinstance(x, Value):
                self.demand(x, self.values[x], lengths)
        if isinstance(op, Call) and op.callee != Const(runtime.foreseen):
            self.demand_memory(op)

    def demand(self, v, value, lengths):
        t = self.ev.types[v]
        if isinstance(t, Anything):
            return
        if value is None or type(value) is Undefined:
            self.require(v in self.ev.maybe, v, value, "is not there")
        elif isinstance(t, Number):
            self.require(type(value) in t.kinds, v, value, "has another class")
            if v in self.ev.dims:
                self.fits(self.ev.dims[v], value, v, value, lengths)
        elif isinstance(t, Row):
            fits = type(value) in (list, Keys)
            if isinstance(t.item, Array):
                fits = fits and all(x.dtype == t.item.dtype for x in value)
                fits = fits and len({x.shape for x in value}) < 2
            else:
                fits = fits and all(type(x) in t.item.kinds for x in value)
            self.require(fits, v, value, "is no such list")
        elif type(value) is not np.ndarray or value.dtype != t.dtype or value.ndim != len(t.shape):
            self.require(False, v, value, "is no such array")
        else:
            for dim, n in zip(t.shape, value.shape, strict=True):
                self.fits(dim, n, v, value, lengths)

    def fits(self, dim, n, v, value, lengths):
        if isinstance(dim, int):
            known = dim
        else:
            known = (self.sizes if dim.is_argument else lengths).setdefault(dim, n)
        self.require(known == n, v, value, f"has a length of {n} for {known}")

    def demand_memory(self, op):
        """A new array is new, and where there are writes, it is known of each value in sight that
        it may share memory with the result, or that lists may hold both: nothing writes to
        these."""
        result = op.result
        made = self.values.get(result)
        if not isinstance(self.ev.types.get(result), Array) or not made.size:
            return
        for v, x in self.values.items():
            if v is result or not isinstance(self.ev.types.get(v), Array) or x is None:
                continue
            if type(x) is np.ndarray and np.may_share_memory(made, x):
                self.require(result not in self.ev.fresh, result, made, f"shows {v.name}")
                if self.ev.written and v in self.in_sight:
                    known = self.sharing.share(v, result)
                    known = known or (self.listed.holds(v) and self.listed.holds(result))
                    self.require(known, result, made, f"may show {v.name}")

    def require(self, holds, v, value, problem):
        if not holds:
            self.problems.append(f"{v.name}: {self.ev.types[v]} {problem}: {value!r:.80}")


@contextlib.contextmanager
def typed_runs(monkeypatch):
    """Every program that is specialised is run here, at the point that it was made for.

    Yields the problems, and how many programs were run, how many of them to their end.
    """
    problems, counts = [], Counter()

    def run(sweep, primal):
        ev = sweep.ev
        typed = Typed(ev, ev.outside.leaves, primal)
        counts["programs"] += 1
        with (
            np.errstate(all="ignore"),
            contextlib.suppress(
                Deoptimize, Stop, ArithmeticError, ValueError, LookupError, TypeError
            ),
        ):
            typed.block(primal, [typed.values[x] for x in primal.parameters])
            counts["to their end"] += 1
            problems.extend(typed.problems)
        return find_all_active(sweep, primal)

    monkeypatch.setattr(forward_sweep, "find_all_active", run)
    yield problems, counts
