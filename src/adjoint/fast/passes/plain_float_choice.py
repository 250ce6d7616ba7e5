"""Which numbers of a program become numbers of Python; see `plain_floats`."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, IntegersOrFloats, Number, Type
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import (
    blocks,
    callee_of,
    carried_values,
    is_call_of,
    operands,
    results,
    walk,
)
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Unpack, Value

_NUMPYS = frozenset({np.float64})
_EITHER = frozenset({float, np.float64})
_PLAIN = frozenset({float, int, bool})
_WHOLE = frozenset({int, np.int64})
_ARITHMETIC: frozenset[Any] = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.neg,
        operator.pos,
        operator.abs,
    }
)
_PASSING: frozenset[Any] = frozenset({runtime.inner_derivative, runtime.assigned, same})
"""Functions that return their operand."""
INSTEAD: dict[Any, Any] = {np.sqrt: math.sqrt, np.absolute: operator.abs, np.float64: float}
"""By function of NumPy: that of Python for the same bits."""
_ORDER: frozenset[Any] = frozenset(
    {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
)
_ASKING: frozenset[Any] = frozenset({operator.truth, operator.not_})
_STORES: frozenset[Any] = frozenset({runtime.add_at, runtime.add_part, runtime.put})
_COSTS = {np.sqrt: 8.0, np.absolute: 8.0, np.float64: 2.0, operator.getitem: 0.0}
"""What is saved, in operations of arithmetic, where that is not 1."""
_CONVERSION, _COPY = 3.0, 2.0
"""What one number that becomes NumPy's or Python's costs in such operations."""
_LOOP = 10.0
_NONE = Const(None)


def has_many(types: Mapping[Value, Type], *whole: Block) -> bool:
    """Return whether there are enough of NumPy's numbers that a choice may be worth making."""
    found = 0
    for block in whole:
        for op in walk(block):
            if type(op) is Call and op.result is not None:
                t = types.get(op.result)
                if type(t) is Number and np.float64 in t.kinds:
                    found += 1
    return found > _CONVERSION


class Choice:
    """The values that become numbers of Python.

    Attributes
    ----------
    plain
        Values that are computed as such.
    read
        NumPy's numbers that these are made of: a copy of each is made.
    maybe
        Values that are ``None`` in some branches and iterations.
    """

    def __init__(self, ev: Evaluator, *whole: Block) -> None:
        self._types, self._ev, self._whole = ev.types, ev, whole
        self._made: dict[Value, Call] = {}
        self._uses: dict[Value, list[tuple[Op, int]]] = {}
        self._joined: dict[Value, list[Operand]] = {}
        self._together: dict[Value, tuple[Value, ...]] = {}
        self._returned: set[Operand] = set()
        self._weights: dict[Value, float] = {}
        self._depths: dict[int, float] = {}
        self.plain: set[Value] = set()
        self.read: set[Value] = set()
        self.maybe: set[Operand] = {*ev.maybe}
        self.is_finite = True
        for block in whole:
            self._collect(block, 1.0)
        self._tapes: dict[Value, list[list[Value]]] = {}
        self._pushes: dict[Value, list[Call]] = {}
        self._slots: dict[Value, tuple[Value, int]] = {}
        for op in self._calls():
            if is_call_of(op, runtime.new_tape) and op.result is not None:
                self._find_reads(op.result)
        if self.is_finite:
            self._choose()
            self._find_missing()

    def _calls(self) -> Iterator[Call]:
        return (op for block in self._whole for op in walk(block) if type(op) is Call)

    # ---- what there is ---------------------------------------------------------------------------

    def _collect(self, block: Block, weight: float) -> None:
        self._returned.update(block.results or ())
        self._weights.update(dict.fromkeys(block.parameters, weight))
        self.is_finite &= all(map(_is_finite, block.results or ()))
        for op in block.ops:
            self._depths[id(op)] = weight
            for i, x in enumerate(operands(op)):
                if type(x) is Value:
                    self._uses.setdefault(x, []).append((op, i))
                self.is_finite &= _is_finite(x)
            self._weights.update(dict.fromkeys(results(op), weight))
            if type(op) is Call:
                if op.result is not None:
                    self._made[op.result] = op
            elif isinstance(op, If):
                ends = [b.results for b in (op.body, op.orelse) if b.results is not None]
                for y, *sides in zip(op.results, *ends, strict=True):
                    self._joined[y] = sides
            elif isinstance(op, Loop):
                for values, made_of in carried_values(op):
                    for y in values:
                        self._joined[y], self._together[y] = [*made_of], values
            inner = weight * _LOOP if isinstance(op, Loop) else weight
            for one in blocks(op):
                self._collect(one, inner)

    def _is_number(self, x: Operand) -> bool:
        t = self._types.get(x) if type(x) is Value else None
        return type(t) is Number and (t.kinds == _NUMPYS or t.kinds == _EITHER)

    def is_arithmetic(self, op: Call) -> bool:
        """Return whether an operation may be one of numbers of Python."""
        f, xs = callee_of(op), op.operands
        if op.keywords or not (op.result is None or self._is_number(op.result)):
            return False
        if op.result is None:  # it may warn
            return f in _ARITHMETIC and all(map(self._is_operand, xs))
        if f is operator.getitem:
            return self._is_element(*xs)
        if f is operator.pow:
            return (
                self._is_operand(xs[0])
                and type(xs[1]) is Const
                and type(xs[1].value) is int
                and xs[1].value > 0
            )
        if f in _ARITHMETIC or f in _PASSING or f in INSTEAD:
            return all(map(self._is_operand, xs))
        return False

    def _is_operand(self, x: Operand) -> bool:
        if type(x) is Const:
            return type(x.value) in _PLAIN or type(x.value) is np.float64
        t = self._types.get(x) if type(x) is Value else None
        return type(t) is Number and (t.kinds <= _PLAIN or self._is_number(x))

    def _is_element(self, x: Operand, index: Operand) -> bool:
        t = self._types.get(x) if type(x) is Value else None
        if type(t) is not Array or t.dtype != np.float64:
            return False
        if type(index) is Const:
            places = index.value if type(index.value) is tuple else (index.value,)
            return len(places) == len(t.shape) and all(type(i) is int for i in places)
        made = self._made.get(index) if type(index) is Value else None
        is_tuple = made is not None and callee_of(made) is primitives.build_tuple
        numbers = made.operands if made is not None and is_tuple else (index,)
        return len(numbers) == len(t.shape) and all(map(self._is_place, numbers))

    def _is_place(self, x: Operand) -> bool:
        if type(x) is Const:
            return type(x.value) is int
        t = self._types.get(x) if type(x) is Value else None
        return type(t) is Number and t.kinds <= _WHOLE

    def _find_reads(self, tape: Value) -> None:
        """Record the values that loops read from a tape, by the place that each has in a push. A
        tape may lie on that of an outer loop, processed before."""
        reads: list[list[Value]] = []
        pushes: list[Call] = []
        names = [tape]
        for name in names:
            if name in self._returned:
                return
            for op, place in self._uses.get(name, ()):
                if is_call_of(op, runtime.push) and place == 1:
                    pushes.append(op)
                    continue
                if is_call_of(op, runtime.push):
                    outer = op.operands[0]
                    if not isinstance(outer, Value) or len(self._pushes.get(outer, ())) != 1:
                        return
                    names += self._column(outer, place - 2)
                    continue
                if is_call_of(op, len):
                    continue
                found = self._columns(op.result) if is_call_of(op, reversed) and op.result else None
                if found is None:
                    return
                reads += found
        if len({*map(len, reads), *(len(op.operands) - 1 for op in pushes)}) > 1:
            return
        self._tapes[tape], self._pushes[tape] = reads, pushes
        for columns in reads:
            for i, x in enumerate(reversed(columns)):
                self._slots[x] = tape, i

    def _columns(self, steps: Value) -> list[list[Value]] | None:
        """Return, for each loop over a reversed tape, the values that an iteration reads."""
        found: list[list[Value]] = []
        if steps in self._returned:
            return None
        for op in {id(op): op for op, _ in self._uses.get(steps, ())}.values():
            if isinstance(op, Loop) and op.iterable is steps:
                found.append([op.body.parameters[0]])
            elif is_call_of(op, zip) and op.result and op.result not in self._returned:
                for loop, _ in self._uses.get(op.result, ()):
                    if not isinstance(loop, Loop) or loop.iterable is not op.result:
                        return None
                    for unpack, _ in self._uses.get(loop.body.parameters[0], ()):
                        if not isinstance(unpack, Unpack) or unpack.starred is not None:
                            return None
                        pairs = zip(unpack.results, op.operands, strict=True)
                        found.append([y for y, x in pairs if x is steps])
            else:
                return None
        return found

    def _find_missing(self) -> None:
        """Record the values that are ``None`` in some branches and iterations."""
        before = -1
        while before != len(self.maybe):
            before = len(self.maybe)
            for y in (*self._joined, *self._slots):
                if any(x == _NONE or x in self.maybe for x in self._made_of(y)):
                    self.maybe.add(y)

    # ---- what is chosen --------------------------------------------------------------------------

    def _choose(self) -> None:
        """Find the greatest choice in which no value has to be what it may not be."""
        made = {y for y, op in self._made.items() if self.is_arithmetic(op)}
        others = {y for y in (*self._joined, *self._slots) if self._is_number(y)}
        self.plain = made | others
        before = -1
        while before != len(self.plain):
            before = len(self.plain)
            self._ends = self._ends_of(self.plain)
            self.plain = {x for x in self.plain if self._may_be(x)}
        reads = {x for y in self.plain for x in self._made_of(y) if type(x) is Value}
        self.read = {x for x in reads - self.plain if self._is_number(x)}

    def _made_of(self, y: Value) -> Iterable[Operand]:
        """Return the operands that a plain value is made of."""
        if y in self._made:
            return self._made[y].operands
        if y in self._slots:
            tape, i = self._slots[y]
            return [op.operands[1 + i] for op in self._pushes[tape]]
        return self._joined[y]

    def _ends_of(self, plain: set[Value]) -> set[Value]:
        """Return the values that blocks return to values that are not plain."""
        ends = {x for block in self._whole for x in block.results or () if type(x) is Value}
        for y, made_of in self._joined.items():
            if y not in plain:
                ends.update(x for x in made_of if type(x) is Value)
        return ends

    def _may_be(self, x: Value) -> bool:
        """Return whether a value may be plain: if it has to be NumPy's somewhere, its class has to
        be known, and it costs more to make it so than to read it."""
        column = self._column(*self._slots[x]) if x in self._slots else ()
        if not all(y in self.plain for y in (*column, *self._together.get(x, ()))):
            return False
        kinds = self._types[x]
        assert isinstance(kinds, Number)
        is_read = x in self._made and callee_of(self._made[x]) is operator.getitem
        if kinds.kinds == _NUMPYS and not is_read:
            return True
        return x not in self._ends and all(self.is_quiet(x, *use) for use in self._uses.get(x, ()))

    def _column(self, tape: Value, i: int) -> list[Value]:
        """Return what loops read at a place of a tape."""
        return [columns[-1 - i] for columns in self._tapes[tape] if i < len(columns)]

    def is_quiet(self, x: Value, op: Op, place: int) -> bool:
        """Return whether an operation does the same with a number of Python."""
        if isinstance(op, Loop):
            return True  # see `_ends_of`
        if type(op) is not Call:
            return False
        f = callee_of(op)
        if (op.result is None or op.result in self.plain) and self.is_arithmetic(op):
            return True
        if f is runtime.push:
            return self._is_pushed_plain(op, place)
        if f in _ORDER:
            return self.is_comparison(op)
        if f in _STORES:
            t = self._types.get(op.operands[0])  # type: ignore[arg-type]
            return (
                place == 3
                and isinstance(t, Array)
                and not isinstance(t, IntegersOrFloats)
                and t.dtype == np.float64
            )
        return f in _ASKING

    def takes_python(self, op: Call, place: int, x: Operand) -> bool:
        """Return whether an operation that is not arithmetic takes a number of Python."""
        if callee_of(op) is runtime.push:
            return self._is_pushed_plain(op, place)
        return type(x) is Value and x in self.plain and self.is_quiet(x, op, place)

    def _is_pushed_plain(self, op: Call, place: int) -> bool:
        tape = op.operands[0]
        if not isinstance(tape, Value) or tape not in self._tapes or place < 2:
            return False
        column = self._column(tape, place - 2)
        return bool(column) and all(x in self.plain for x in column)

    def is_comparison(self, op: Op) -> bool:
        """Return whether a comparison only decides what is done."""
        if type(op) is not Call or callee_of(op) not in _ORDER or op.result is None:
            return False
        if not all(map(self._is_operand, op.operands)):
            return False
        uses = self._uses.get(op.result, ())
        return op.result not in self._returned and all(
            isinstance(use, If) or callee_of(use) in _ASKING for use, _ in uses
        )

    # ---- what it is worth ------------------------------------------------------------------------

    def is_faster(self) -> bool:
        """Return whether the operations that get faster are worth the conversions."""
        gain = 0.0
        for op in self._calls():
            weight = self._depths[id(op)]
            if op.result in self.plain:
                gain += weight * _COSTS.get(callee_of(op), 1.0)
                continue
            loud = {
                x
                for i, x in enumerate(operands(op))
                if x in self.plain and not self.is_quiet(x, op, i)
            }
            gain -= weight * _CONVERSION * len(loud)
        gain -= _COPY * sum(self._weights.get(x, 1.0) for x in self.read)
        ends = {x for block in self._whole for x in block.results or () if x in self.plain}
        return gain > _CONVERSION * (1 + len(ends))


def _is_finite(x: Operand) -> bool:
    """Return whether an operand is no constant that is infinite or NaN."""
    return not (type(x) is Const and isinstance(x.value, float)) or math.isfinite(x.value)
