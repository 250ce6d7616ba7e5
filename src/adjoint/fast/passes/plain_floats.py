"""NumPy's numbers computed as numbers of Python.

Before, after::

    t = getitem(x, 0)                      t = item(x, 0)
    y = while with a = np.float64(2.0)     y = while with a = 2.0
        b = mul(a, t)                          b = mul(a, t)
        c = sqrt(b)                            c = math.sqrt(b)
        d = truediv(1, c)                      d = truediv(1, c)
                                               demand_finite(c)
        -> d                                   -> d
    return y                               y' = boxed(y)
                                           return y'

Arithmetic on numbers of class `np.float64` takes three times as long as on Python's floats, which
have the same bits. NumPy warns of overflow and of invalid operations, which leaves the program;
Python gives an infinity or NaN without a word. Sums, differences, products, numerators and roots
pass these on, so it is enough to look at the numbers that come out of such computations, at
divisors and at what is compared. `plain_float_choice` says which numbers the pass takes. It is the
last pass: no other has to know.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import FLOAT, Number, number
from adjoint.fast.passes.plain_float_choice import INSTEAD, Choice, has_many
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of, mapped, results
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Value

_WRITES = (runtime.put, runtime.add_part)


def with_plain_floats(
    ev: Evaluator, forward: Block, reverse: Block
) -> tuple[Block, Block, Mapping[Value, Operand]] | None:
    """Return two blocks, of which the second reads values of the first, with numbers of Python;
    and what is returned in place of results. ``None`` if that would not be faster."""
    if not has_many(ev.types, forward, reverse):
        return None
    found = Choice(ev, forward, reverse)
    if not found.plain or not found.is_faster():
        return None
    writer = _Writer(ev, found)
    first, second = writer.outer(forward), writer.outer(reverse)
    demand = Call(None, Const(runtime.demand_quiet_underflow), ())  # Python reports none
    first = replace(first, ops=(demand, *first.ops))
    for x in found.plain:
        ev.types[x] = FLOAT
    return first, second, writer.results


class _Writer:
    """Writes the blocks of a choice.

    `copies` holds Python's number for one of NumPy's, `boxed` the contrary, `seen` what has to be
    finite at the end of a block, `looked` what is when the second block begins.
    """

    def __init__(self, ev: Evaluator, choice: Choice) -> None:
        self._ev, self._choice, self._chosen = ev, choice, choice.plain
        self._copies: dict[Value, Value] = {}
        self._boxed: dict[Value, Value] = {}
        self._seen: dict[Value, None] = {}
        self._looked: set[Value] = set()
        self._ops: list[Op] = []
        self.results: dict[Value, Operand] = {}

    def outer(self, block: Block) -> Block:
        """Return a whole block, with NumPy's numbers as results."""
        ends = block.results or ()
        made = self._written(block, (None,) * len(ends))
        self.results |= {
            x: y for x, y in zip(ends, made.results or (), strict=True) if x in self._chosen
        }
        self._looked.update(self._seen)
        return made

    def _inner(self, block: Block, targets: Iterable[Value | None]) -> Block:
        """Return a block inside an operation; its results are for `targets`, if not ``None``."""
        before = self._ops, self._copies, self._boxed, self._seen
        self._copies, self._boxed = dict(self._copies), dict(self._boxed)
        made = self._written(block, targets)
        self._ops, self._copies, self._boxed, self._seen = before
        return made

    def _written(self, block: Block, targets: Iterable[Value | None]) -> Block:
        self._ops, self._seen = [], {}
        for x in block.parameters:
            self._copy(x)
        for op in block.ops:
            self._write(op)
            for x in results(op):
                self._copy(x)
        ends = block.results
        if ends is not None:
            ends = tuple(self._end(x, y) for y, x in zip(targets, ends, strict=True))
        if self._seen:
            self._ops.append(Call(None, Const(runtime.demand_finite), (*self._seen,)))
        return Block(block.parameters, tuple(self._ops), ends)

    def _end(self, x: Operand, y: Value | None) -> Operand:
        return self._python(x) if y in self._chosen else self._numpy(x)

    # ---- numbers ---------------------------------------------------------------------------------

    def _copy(self, x: Value) -> None:
        if x in self._choice.read:
            made = self._copies[x] = self._like(x, FLOAT)
            self._ops.append(Call(made, Const(runtime.python_float), (x,)))

    def _python(self, x: Operand) -> Operand:
        """Return an operand as a number of Python."""
        if type(x) is Const:
            return Const(float(x.value)) if type(x.value) is np.float64 else x
        if x in self._choice.read and x not in self._copies:
            self._copy(x)
        return self._copies.get(x, x) if type(x) is Value else x

    def _numpy(self, x: Operand) -> Operand:
        """Return an operand as the program had it."""
        return self._box(x) if x in self._chosen else x

    def _box(self, x: Value) -> Value:
        if x not in self._boxed:
            made = self._boxed[x] = self._like(x, number(np.float64))
            is_looked_at = x not in self._choice.maybe
            if is_looked_at:
                self._look(self._python(x))
            f: Any = np.float64 if is_looked_at else runtime.numpy_float
            self._ops.append(Call(made, Const(f), (self._python(x),)))
        return self._boxed[x]

    def _like(self, x: Value, t: Number) -> Value:
        """Return a new value of the same name and place."""
        ev, made = self._ev, self._ev.value(t, x.name)
        if x in ev.places:
            ev.places[made] = ev.places[x]
        if x in ev.origins:
            ev.origins[made] = ev.origins[x]
        return made

    # ---- operations ------------------------------------------------------------------------------

    def _write(self, op: Op) -> None:
        self._ev.span = op.span
        if type(op) is Call:
            made = self._call(op)
            if made is not None:
                self._ops.append(made)
        elif isinstance(op, If):
            condition = self._numpy(op.condition)
            body, orelse = (self._inner(side, op.results) for side in (op.body, op.orelse))
            self._ops.append(If(op.results, condition, body, orelse, op.span))
        elif isinstance(op, Loop):
            self._loop(op)
        else:
            self._ops.append(mapped(op, self._numpy, lambda block: block))

    def _loop(self, op: Loop) -> None:
        flags: tuple[None, ...] = (None,) * op.stops
        carried = op.results[op.stops :]
        initial = tuple(self._end(x, y) for x, y in zip(op.initial, carried, strict=True))
        test = None if op.test is None else self._inner(op.test, (None, *carried))
        body = self._inner(op.body, (*flags, *carried))
        self._ops.append(Loop(op.results, initial, op.iterable, test, body, op.stops, op.span))

    def _call(self, op: Call) -> Call | None:
        choice, f = self._choice, callee_of(op)
        if op.result in self._chosen:
            return self._arithmetic(op)
        if op.result is None and choice.is_arithmetic(op):
            made = self._ev.value(FLOAT)
            xs = tuple(map(self._python, op.operands))
            self._look(made, *(xs[1:] if f is operator.truediv else ()))
            return replace(op, result=made, operands=xs)
        if choice.is_comparison(op):
            xs = tuple(map(self._python, op.operands))
            self._look(*xs)
            return replace(op, operands=xs)
        xs = tuple(
            self._python(x) if choice.takes_python(op, i, x) else self._numpy(x)
            for i, x in enumerate(op.operands, 1)
        )
        if f in _WRITES:  # NumPy does not warn of infinities that it reads
            self._look(xs[2])
        keywords = tuple((name, self._numpy(x)) for name, x in op.keywords)
        return Call(op.result, Const(f) if f is not None else op.callee, xs, keywords, op.span)

    def _arithmetic(self, op: Call) -> Call | None:
        f = callee_of(op)
        if f is operator.getitem:
            return replace(op, callee=Const(np.ndarray.item))
        xs = tuple(map(self._python, op.operands))
        if f is operator.truediv:
            self._look(xs[1])
        if f in (np.float64, same) and type(xs[0]) is Value and self._is_float(xs[0]):
            self._copies[op.result] = xs[0]  # type: ignore[index]
            return None
        return Call(op.result, Const(INSTEAD.get(f, f)), xs, op.keywords, op.span)

    def _is_float(self, x: Value) -> bool:
        return x in self._chosen or self._ev.types[x] == FLOAT

    def _look(self, *xs: Operand) -> None:
        """Demand that numbers are finite, which NumPy would have warned of."""
        for x in xs:
            if type(x) is Value and x not in self._looked and self._is_float(x):
                self._seen[x] = None
