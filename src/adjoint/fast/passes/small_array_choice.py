"""Which small arrays of a program are held as separate numbers.

Arrays that an operation joins, a loop carries or a branch chooses stand or fall together. A group
of them is taken apart if the operations on numbers are faster by more than it takes to read the
elements of arrays and to put arrays together for all other operations, those in loops counted as
often as `ITERATIONS` tells.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.result_types.elementwise import is_ufunc
from adjoint.fast.evaluate.types import (
    ANYTHING,
    INTEGERS_OR_FLOATS,
    Array,
    Dim,
    IntegersOrFloats,
    Number,
    Type,
    number,
)
from adjoint.fast.passes.small_array_writes import (
    DOTS,
    OPERATORS,
    SUMS,
    UPDATES,
    fits_into,
    still_written,
)
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import (
    blocks,
    callee_of,
    carried_values,
    defined_values,
    operands,
    results,
)
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.members import members
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Undefined, Value

MOST = 4
"""Greatest number of elements of a small array."""
ITERATIONS = 10
LEAST, LEAST_FOR_LENGTHS = 500, 2000
"""What a group has to save, in nanoseconds of each call, to be worth more code; and what all have
to save to be worth a program for these lengths alone, which is specialised once more."""
ARRAY, SUM, PUT, TAKE, NUMBER, UFUNC = 350, 1300, 800, 150, 40, 100
"""Nanoseconds of an operation on an array, of the sum of one, of putting one together and taking
one apart, in both directions, and of an operator and another ufunc on one number."""
MADE = 120
"""Nanoseconds of one of some hundred calls that it takes to make one more operation."""

Meaning = Literal["elementwise", "copy", "part", "new", "sum", "dot", "norm"]

_CHECKS: frozenset[Any] = frozenset({runtime.inner_derivative, runtime.assigned, same})
_COPIES = members(np, "ndarray.copy copy array")
_SHOWING: frozenset[Any] = frozenset({operator.getitem, runtime.assigned, same})
"""Functions of an array whose results are it or a part of it."""
_ALIKE = members(np, "zeros_like ones_like empty_like full_like")
FILLED = _ALIKE | members(np, "zeros ones empty eye identity full")
_NEW = members(np, "array stack concatenate")
PACKS = (Const(primitives.build_list), Const(primitives.build_tuple))
_FLOAT64, _INT64 = INTEGERS_OR_FLOATS[::-1]
_RESULTS = frozenset({float, np.float64, np.int64})
_KINDS: frozenset[type] = frozenset({float, int, np.float64, np.float32, np.int64, np.int32})
"""Classes of numbers that give a number of class `np.float64` together with one."""


@dataclass(eq=False)
class Choice:
    """The arrays that are taken apart.

    Attributes
    ----------
    split
        The arrays.
    meanings
        By result of an operation on their elements: what it computes.
    packs
        Lists and tuples of the elements and parts of such arrays.
    """

    split: set[Value] = field(default_factory=set)
    meanings: dict[Value, Meaning] = field(default_factory=dict)
    packs: set[Value] = field(default_factory=set)


def choice_of(ev: Evaluator, block: Block, kept: set[Value]) -> Choice:
    """Return which arrays of a program are taken apart; `kept` are not."""
    sizes = {x: n for x in defined_values(block) if (n := _size(ev, ev.types[x]))}
    if not sizes:
        return Choice()
    written = still_written(ev, block)
    for x in kept | {x for x in sizes if ev.aliased_by(x) & written}:
        sizes.pop(x, None)
    groups = _Groups(ev, sizes)
    groups.block(block, 1)
    groups.results(block)
    return groups.choice()


def _size(ev: Evaluator, t: Type) -> int:
    """Return the number of elements of a small array; 0 for anything else."""
    if not isinstance(t, Array) or not t.shape or element_type(t) is None:
        return 0
    n = math.prod(shape_now(ev, t))
    return n if n <= MOST else 0


def shape_now(ev: Evaluator, t: Type) -> tuple[int, ...]:
    """Return the shape of an array at specialisation, with 0 for lengths that are not known."""
    assert isinstance(t, Array)
    return tuple(n if isinstance(n, int) else ev.outside.size_of(n) or 0 for n in t.shape)


def element_type(t: Array) -> Number | None:
    """Return the type of an element of an array that may be taken apart; ``None`` for others."""
    if isinstance(t, IntegersOrFloats):
        return _EITHER
    return _ELEMENTS.get(t.dtype)


def is_missing(x: Operand) -> bool:
    """Return whether an operand stands for an array on a path that makes none."""
    return isinstance(x, Undefined) or (isinstance(x, Const) and x.value is None)


_ELEMENTS = {_FLOAT64: number(np.float64), _INT64: number(np.int64)}
_EITHER = number(np.int64, np.float64)


def _is_zero(x: Operand) -> bool:
    return isinstance(x, Const) and type(x.value) is int and x.value == 0


class _Groups:
    """Groups of arrays that are taken apart together, by union and find, with what each saves.

    `_sizes` has the small arrays, `_meanings` an array of the group for each operation; `_apart`
    are the arrays that are put together where they are needed as a whole, `_made_of` has what an
    array may be the same as, or a part of.
    """

    def __init__(self, ev: Evaluator, sizes: dict[Value, int]) -> None:
        self._ev, self._sizes = ev, sizes
        self._above: dict[Value, Value] = {}
        self._saved: dict[Value, float] = {}
        self._meanings: dict[Value, tuple[Meaning, Value, tuple[Operand, ...]]] = {}
        self._packs: dict[Value, tuple[Operand, ...]] = {}
        self._made_of: dict[Value, list[Operand]] = {}
        self._apart: set[Value] = set()

    def results(self, block: Block) -> None:
        """Put the results of a program together, unless they may be arrays of its caller's."""
        pending: list[Operand] = [*(block.results or ())]
        seen: set[Operand] = set()
        self.use(pending, 1)
        while pending:
            x = pending.pop()
            if isinstance(x, Value) and x not in seen:
                seen.add(x)
                pending += self._made_of.get(x, ())
                if x in block.parameters and self._is_small(x) and x not in (block.results or ()):
                    self._save(x, -math.inf)

    def choice(self) -> Choice:
        """Return the groups that save enough."""
        worth = {x for x, saved in self._saved.items() if saved > LEAST}
        if sum(self._saved[x] for x in worth) < LEAST_FOR_LENGTHS:
            worth = {x for x in worth if all(isinstance(n, int) for n in self._shape(x))}
        made = Choice({x for x in {*self._above, *worth} if self._top(x) in worth})
        for y, (what, x, given) in self._meanings.items():
            if x in made.split:
                made.meanings[y] = what
                if what == "new":
                    made.packs.update(self._inside(given))
        return made

    def _inside(self, given: Iterable[Operand]) -> Iterator[Value]:
        for x in given:
            if isinstance(x, Value) and x in self._packs:
                yield x
                yield from self._inside(self._packs[x])

    # ---- union and find --------------------------------------------------------------------------

    def _top(self, x: Value) -> Value:
        while x in self._above:
            x = self._above[x]
        return x

    def _join(self, values: Sequence[Value]) -> None:
        first = self._top(values[0])
        for x in map(self._top, values[1:]):
            if x is not first:
                self._above[x] = first
                self._save(first, self._saved.pop(x, 0.0))

    def _save(self, x: Value, time: float) -> None:
        top = self._top(x)
        self._saved[top] = self._saved.get(top, 0.0) + time

    # ---- blocks ----------------------------------------------------------------------------------

    def block(self, block: Block, weight: int) -> None:
        """Look at the operations of a block that runs about `weight` times."""
        for op in block.ops:
            if isinstance(op, Call):
                self._call(op, weight)
            elif isinstance(op, If):
                self.use((op.condition,), weight)
                for inner in (op.body, op.orelse):
                    self.block(inner, weight)
                ends = [x.results for x in (op.body, op.orelse) if x.results is not None]
                for x, *made_of in zip(op.results, *ends, strict=False):
                    self._either((x,), made_of, weight)
            elif isinstance(op, Loop):
                self._loop(op, weight)
            else:
                self.use(operands(op), weight)
                self.define(results(op), weight)

    def _loop(self, op: Loop, weight: int) -> None:
        if op.iterable is not None:
            self.use((op.iterable,), weight)
            self.define(op.body.parameters[:1], weight * ITERATIONS)
        for values, made_of in carried_values(op):
            self._either(values, made_of, weight)
        for inner in blocks(op):
            self.block(inner, weight * ITERATIONS)

    def _either(self, values: Sequence[Value], made_of: Sequence[Operand], weight: int) -> None:
        """Join values of which each is one or another, by a branch or an iteration."""
        if not any(map(self._is_small, values)):
            self.use(made_of, weight)
            return
        ends = [x for x in made_of if not is_missing(x)]
        together = [x for x in (*values, *ends) if self._is_small(x)]
        self._join(together)
        self._apart.update(values)
        for x in values:
            self._made_of[x] = ends
        if len(together) < len(values) + len(ends):
            self._save(together[0], -math.inf)

    def define(self, values: Iterable[Value], weight: int) -> None:
        """Take arrays apart that are made as a whole."""
        for x in values:
            if self._is_small(x):
                self._save(x, -weight * (TAKE + NUMBER * self._sizes[x]))

    def use(self, values: Iterable[Operand], weight: int) -> None:
        """Put arrays together that are needed as a whole."""
        for x in values:
            if isinstance(x, Value) and x in self._packs:
                self.use(self._packs[x], weight)
            elif isinstance(x, Value) and x in self._apart and self._is_small(x):
                self._save(x, -math.inf if x in self._ev.maybe else -weight * PUT)

    # ---- calls -----------------------------------------------------------------------------------

    def _call(self, op: Call, weight: int) -> None:
        y = op.result
        if callee_of(op) in UPDATES and self._is_small(op.operands[0]):
            self._update(op, op.operands[0], weight)
            return
        meaning = None if y is None or not isinstance(op.callee, Const) else self._meaning(op, y)
        if y is None or meaning is None:
            if op.callee in PACKS and y is not None and self._ev.types[y] == ANYTHING:
                self._packs[y] = op.operands
                return
            self.use(operands(op), weight)
            self.define(results(op), weight)
            return
        arrays = [x for x in (y, *self._parts(op.operands)) if self._is_small(x)]
        self._join(arrays)
        self._meanings[y] = meaning, arrays[0], op.operands
        n = max(self._sizes[x] for x in arrays)
        saved, count = self._saved_by(op, meaning, n)
        self._save(arrays[0], weight * saved - MADE * (count - 1))
        self._apart.add(y)
        if callee_of(op) in _SHOWING:
            self._made_of[y] = [*op.operands[:1]]

    def _update(self, op: Call, x: Value, weight: int) -> None:
        """Look at a write to a small array, which gives new elements."""
        *index, value = op.operands[1:]
        arrays = [x, value] if self._is_small(value) else [x]
        self._join(arrays)
        part = self._part(x, index[0] if index else Const(...))
        is_known = self._fits(value) and self._is_of_floats(self._ev.types[x])
        is_some = isinstance(value, Const) or value not in self._ev.maybe
        if not (is_known and is_some and fits_into(self._shape_now(value), part)):
            self._save(x, -math.inf)
        self._save(x, weight * ARRAY - MADE)

    def _parts(self, given: Iterable[Operand]) -> Iterator[Value]:
        """Yield the values among operands, and in the lists among them."""
        for x in given:
            if isinstance(x, Value):
                yield from self._parts(self._packs[x]) if x in self._packs else (x,)

    def _saved_by(self, op: Call, meaning: Meaning, n: int) -> tuple[int, int]:
        """Return the time that an operation on `n` numbers saves, and the number of operations that
        take its place."""
        match meaning:
            case "elementwise":
                is_cheap = callee_of(op) in OPERATORS
                return ARRAY - n * (NUMBER if is_cheap else UFUNC), n
            case "sum":
                return SUM - n * NUMBER, n
            case "dot" | "norm":
                return (ARRAY if meaning == "dot" else 2 * SUM) - 2 * n * NUMBER, 2 * n
            case "new" | "copy":
                return ARRAY, 1
            case "part":
                return NUMBER, 1

    def _meaning(self, op: Call, y: Value) -> Meaning | None:
        """Return what an operation computes of the elements of small arrays; ``None`` if it needs
        them as a whole."""
        f, given = callee_of(op), op.operands
        first = given[0] if given else Const(None)
        if op.keywords and not (f is np.array and op.keywords == (("dtype", Const(_FLOAT64)),)):
            return None
        if f is operator.getitem:
            return "part" if self._is_small(first) and self._is_part(op, y) else None
        t = self._ev.types[y]
        if not self._is_small(y):
            return self._reduction(f, given) if self._is_number(t) else None
        if self._is_small(first) and t == self._ev.type_at(first):
            if f in _COPIES:
                return "copy"
            if f in _CHECKS:
                return "elementwise"
        if not isinstance(t, IntegersOrFloats) and not self._is_of_floats(t):
            return None
        if f is np.ndarray.astype:
            return "elementwise" if self._is_small(first) else None
        if f in FILLED | _NEW and not self._is_of_floats(t):
            return None  # what is put in may be rounded
        if f in FILLED:
            is_filled = all(isinstance(x, Const) for x in given[f in _ALIKE :])
            return "new" if is_filled and self._is_of_floats(t) else None
        if f in _NEW:
            return "new" if self._is_list(first) and all(map(_is_zero, given[1:])) else None
        is_known = f in OPERATORS or is_ufunc(f)
        return "elementwise" if is_known and all(map(self._fits, given)) else None

    def _is_of_floats(self, t: Type) -> bool:
        return not isinstance(t, IntegersOrFloats) and isinstance(t, Array) and t.dtype == _FLOAT64

    def _is_number(self, t: Any) -> bool:
        return type(t) is Number and t.kinds <= _RESULTS and t.kinds != {float}

    def _reduction(self, f: Any, given: Sequence[Operand]) -> Meaning | None:
        if not all(map(self._is_small, given)):
            return None
        if f in SUMS and len(given) == 1:
            return "sum"
        if any(len(self._shape(x)) != 1 for x in given):
            return None
        if f is np.linalg.norm and len(given) == 1:
            return "norm"
        return "dot" if f in DOTS and len(given) == 2 else None

    def _is_part(self, op: Call, y: Value) -> bool:
        """Return whether an index is known, and within the array."""
        x, index = op.operands
        is_taken = self._is_small(y) or self._is_number(self._ev.types[y])
        return is_taken and self._part(x, index) == self._shape_now(y)

    def _part(self, x: Operand, index: Operand) -> tuple[int, ...] | None:
        """Return the shape of a part of an array at specialisation; ``None`` for an index that is
        not known, or not within the array."""
        at: Any = index.value if isinstance(index, Const) else None
        keys = at if isinstance(at, tuple) else (at,)
        if not isinstance(index, Const) or not all(
            key is None or key is ... or type(key) in (int, slice) for key in keys
        ):
            return None
        try:
            return tuple(np.shape(np.empty(self._shape_now(x))[at]))
        except IndexError:
            return None

    def _shape_now(self, x: Operand) -> tuple[int, ...]:
        """Return the shape of a small array at specialisation; that of a number is ``()``."""
        if isinstance(x, Const):
            value: Any = x.value
            return tuple(np.shape(value))
        return shape_now(self._ev, self._ev.types[x]) if self._is_small(x) else ()

    def _is_list(self, x: Operand) -> bool:
        """Return whether an operand is a list of numbers and small arrays."""
        if isinstance(x, Const):
            is_list = isinstance(x.value, list | tuple)
            return is_list and np.asarray(x.value).dtype.type in _KINDS
        items = self._packs.get(x)  # type: ignore[arg-type]
        return items is not None and all(
            x not in self._ev.maybe and (self._fits(x) or self._is_list(x)) for x in items
        )

    def _fits(self, x: Operand) -> bool:
        """Return whether an operand is a number that gives a `np.float64` together with one, or a
        small array."""
        if isinstance(x, Const):
            value = x.value
            return type(value) in _KINDS or (
                type(value) is np.ndarray and value.dtype == _FLOAT64 and value.size <= MOST
            )
        t = self._ev.types.get(x)  # type: ignore[arg-type]
        return (type(t) is Number and t.kinds <= _KINDS) or self._is_small(x)

    def _is_small(self, x: Operand) -> TypeGuard[Value]:
        return type(x) is Value and x in self._sizes

    def _shape(self, x: Operand) -> tuple[Dim, ...]:
        return self._ev.array_type(x).shape
