"""Small arrays held as separate numbers.

Before, after::

    y = while with x = x0              x0_0, x0_1 = x0[0], x0[1]
        ...                            y_0, y_1 = while with x_0 = x0_0, x_1 = x0_1
        t = mul(2.0, x)                    ...
        n = sum(t)                         t_0, t_1 = mul(2.0, x_0), mul(2.0, x_1)
                                           n = add(t_0, t_1)

An operation of NumPy on an array of two elements takes some ten times as long as one on a number of
class `np.float64`, which computes the same bits and warns where the array does. The pass runs
before any sweep is made, so the sweeps are over numbers, too. `small_array_choice` says which
arrays it takes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, Type, number
from adjoint.fast.passes.small_array_choice import (
    FILLED,
    Choice,
    Meaning,
    choice_of,
    element_type,
    is_missing,
)
from adjoint.fast.passes.small_array_writes import ARITHMETIC, UPDATES
from adjoint.fast.single_assignment.walk import (
    callee_of,
    defined_values,
    is_call_of,
    mapped,
    results,
)
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Value

_NUMBER = number(np.float64)
_ZEROS: dict[Any, Any] = {np.empty: np.zeros, np.empty_like: np.zeros_like}
"""Functions of which the results are written before they are read."""


def without_small_arrays(ev: Evaluator, block: Block, kept: set[Value]) -> Block:
    """Return a block that computes with the elements of small arrays where this is faster; `kept`
    stay arrays.

    Raises
    ------
    NeedsSize
        It would be faster, but the lengths of the arrays are symbolic.
    """
    choice = choice_of(ev, block, kept)
    if not choice.split or ev.ignored:  # numbers of Python raise what NumPy ignores
        return block
    split = (x for x in defined_values(block) if x in choice.split)
    lengths = dict.fromkeys(n for x in split for n in ev.array_type(x).shape)
    ev.demand_known("the length of a small array", *lengths)
    ev.has_taken_apart = True
    span, origin = ev.span, ev.origin
    try:
        return _Splitter(ev, choice).block(block)
    finally:
        ev.span, ev.origin = span, origin


class _Splitter:
    """Writes a block with the arrays of a choice as numbers.

    `parts` holds the elements of an array, `whole` arrays put together and packs in sight, `names`
    the numbers in place of what reads an array.
    """

    def __init__(self, ev: Evaluator, choice: Choice) -> None:
        self._ev, self._choice = ev, choice
        self._parts: dict[Value, np.ndarray[Any, Any]] = {}
        self._whole: dict[Value, Value] = {}
        self._packs: dict[Value, Call] = {}
        self._names: dict[Value, Operand] = {}

    # ---- blocks ----------------------------------------------------------------------------------

    def block(
        self, block: Block, first: int | None = None, slots: Sequence[Value] = (), flags: int = 0
    ) -> Block:
        """Return a block; `slots` take its results from number `flags` on, and its parameters from
        number `first` on stand for the same."""
        outer, self._whole = self._whole, dict(self._whole)
        with self._ev.writing() as ops:
            parameters = block.parameters[:first]
            self._read(parameters)
            if first is not None:
                parameters += self._apart(block.parameters[first:])
            for op in block.ops:
                self._write(op)
            ends = block.results
            if ends is not None:
                inside = self._ends(slots, ends[flags:]) if slots else map(self.one, ends[flags:])
                ends = (*map(self.one, ends[:flags]), *inside)
        self._whole = outer
        return Block(parameters, tuple(ops), ends)

    def _apart(self, slots: Iterable[Value]) -> tuple[Value, ...]:
        """Return `slots` with new values for the elements of arrays."""
        found: list[Value] = []
        for x in slots:
            if x not in self._choice.split:
                found.append(x)
                continue
            made = [self._like(x) for _ in range(_size(self._ev.types[x]))]
            self._parts[x] = self._grid(made, self._ev.array_type(x).shape)
            found += made
        return tuple(found)

    def _like(self, x: Value) -> Value:
        made = self._ev.value(self._element(x), x.name)
        if x in self._ev.maybe:
            self._ev.maybe.add(made)
        self._place(made, x)
        return made

    def _place(self, made: Value, x: Value) -> None:
        """Record where `made`, which is of `x`, comes from."""
        ev = self._ev
        if x in ev.places:
            ev.places[made] = ev.places[x]
        if x in ev.origins:
            ev.origins[made] = ev.origins[x]

    def _element(self, x: Value) -> Number:
        """Return the type of an element of an array, or of a number."""
        t = self._ev.types[x]
        found = element_type(t) if isinstance(t, Array) else t
        assert isinstance(found, Number)
        return Number(found.kinds - {float})

    def _ends(self, slots: Sequence[Value], ends: Iterable[Operand]) -> list[Operand]:
        """Return what the values of `slots` become, with the elements of arrays."""
        found: list[Operand] = []
        for x, end in zip(slots, ends, strict=True):
            if x not in self._choice.split:
                found.append(self.one(end))
            elif is_missing(end):
                found += [end] * _size(self._ev.types[x])
            else:
                found += self._elements(end).flat
        return found

    # ---- operations ------------------------------------------------------------------------------

    def _write(self, op: Op) -> None:
        ev, choice = self._ev, self._choice
        ev.span = op.span
        for x in results(op)[:1]:
            ev.origin = ev.origins.get(x)
        if isinstance(op, Call):
            if callee_of(op) in UPDATES and op.operands[0] in choice.split:
                self._update(op)
                return
            if op.result in choice.packs:
                self._packs[op.result] = op
                return
            if op.result in choice.meanings:
                self._split(op, op.result, choice.meanings[op.result])
                return
            ev.block.append(mapped(op, self.one, self.block))
        elif isinstance(op, If) and op.results:
            body, orelse = (self.block(x, None, op.results) for x in (op.body, op.orelse))
            made = self._apart(op.results)
            ev.block.append(If(made, self.one(op.condition), body, orelse, op.span))
        elif isinstance(op, Loop):
            self._loop(op)
        else:
            ev.block.append(mapped(op, self.one, self.block))
        self._read(results(op))

    def _loop(self, op: Loop) -> None:
        first, flags = int(op.iterable is not None), int(op.stops)
        slots = op.results[flags:]
        initial = tuple(self._ends(slots, op.initial))
        iterable = None if op.iterable is None else self.one(op.iterable)
        test = None if op.test is None else self.block(op.test, 0, slots, 1)
        body = self.block(op.body, first, slots, flags)
        made = (*op.results[:flags], *self._apart(slots))
        self._ev.block.append(Loop(made, initial, iterable, test, body, op.stops, op.span))

    def _split(self, op: Call, y: Value, meaning: Meaning) -> None:
        """Write an operation on the elements of its operands."""
        ev = self._ev
        t = ev.types[y]
        match meaning:
            case "elementwise":
                assert isinstance(op.callee, Const)
                f = op.callee.value
                ev.is_singular |= f not in ARITHMETIC
                self._parts[y] = self._elementwise(f, y, [*map(self._elements, op.operands)])
            case "copy":
                self._parts[y] = self._elements(op.operands[0])
            case "part":
                index: Any = op.operands[1]
                found = self._elements(op.operands[0])[index.value]
                if isinstance(t, Array):
                    self._parts[y] = found
                else:
                    self._names[y] = found
            case "new":
                self._parts[y] = self._new(op, y)
            case "sum" | "dot" | "norm":
                parts = [[*self._elements(x).flat] for x in op.operands]
                terms: list[Operand] = parts[0]
                if meaning != "sum":
                    pairs = zip(*(parts if meaning == "dot" else parts * 2), strict=True)
                    terms = [self._operation(operator.mul, y, pair) for pair in pairs]
                total = reduce(lambda a, b: self._operation(operator.add, y, (a, b)), terms)
                if meaning == "norm":
                    ev.is_singular = True
                    total = self._operation(np.sqrt, y, (total,))
                elif len(terms) > (meaning == "dot") and not all(map(self._is_square, terms)):
                    # NumPy adds to zero, so that its sum is never -0.0
                    total = self._operation(operator.add, y, (total, Const(0)))
                self._names[y] = total

    def _update(self, op: Call) -> None:
        """Replace the elements of an array by those after a write to it."""
        x, *index, value = op.operands
        assert isinstance(x, Value)
        f, given = UPDATES[callee_of(op)], self._elements(value)
        self._whole.pop(x, None)
        if f is None:
            at: Any = index[0].value  # type: ignore[union-attr]
            grid = self._parts[x].copy()
            exact = self._grid([self._exact(part, x) for part in given.flat], given.shape)
            grid[at] = exact if exact.ndim else exact[()]
            self._parts[x] = grid
            return
        self._parts[x] = self._elementwise(f, x, (self._parts[x], given))

    def _elementwise(
        self, f: Any, y: Value, grids: Sequence[np.ndarray[Any, Any]]
    ) -> np.ndarray[Any, Any]:
        """Write an elementwise operation; return its results."""
        grids = np.broadcast_arrays(*grids)
        rows = zip(*(grid.flat for grid in grids), strict=True)
        return self._grid([self._number(f, y, row) for row in rows], grids[0].shape)

    def _new(self, op: Call, y: Value) -> np.ndarray[Any, Any]:
        """Return the elements of an array made of numbers and arrays, or of constants."""
        shape: Any = self._ev.array_type(y).shape
        f = callee_of(op)
        if f in FILLED:
            f = _ZEROS.get(f, f)
            constants = [x.value if isinstance(x, Const) else np.empty(shape) for x in op.operands]
            made: list[Any] = [Const(x) for x in np.asarray(f(*constants), np.float64).flat]
            return self._grid(made, shape)
        given = op.operands[0]
        if f is np.concatenate and isinstance(given, Value):
            found = np.concatenate([self._elements(x) for x in self._packs[given].operands])
        else:
            found = self._elements(given)
        return self._grid([self._exact(x, y) for x in found.flat], shape)

    def _exact(self, x: Operand, y: Value) -> Operand:
        """Return a number as an element of an array is: of class `np.float64`."""
        if isinstance(x, Const):
            return Const(np.float64(x.value))  # type: ignore[arg-type]
        if self._ev.type_at(x) == _NUMBER:
            return x
        return self._operation(np.float64, y, (x,))

    def _number(self, f: Any, y: Value, operands: Sequence[Operand]) -> Operand:
        """Write an operation on one element of each operand, which computes the bits that NumPy
        computes for arrays."""
        if f is np.ndarray.astype:
            f, operands = np.float64, operands[:1]
        elif f is operator.pow:
            x, power = operands
            f = np.power
            if isinstance(power, Const) and power.value == 2:
                if type(power.value) is int or self._ev.type_at(x) == _NUMBER:
                    f, operands = operator.mul, (x, x)  # as NumPy does
        return self._operation(f, y, operands)

    def _is_square(self, x: Operand) -> bool:
        made = self._ev.defined.get(x) if isinstance(x, Value) else None
        if made is None or not is_call_of(made, operator.mul):
            return False
        return made.operands[0] is made.operands[1]

    def _operation(self, f: Any, y: Value, operands: Sequence[Operand]) -> Value:
        if any(self._ev.type_at(x) == _NUMBER for x in operands):
            operands = [*map(_plain, operands)]
        made = self._ev.operation(f, operands, self._element(y), name=y.name)
        self._place(made, y)
        return made

    # ---- operands --------------------------------------------------------------------------------

    def _elements(self, x: Operand) -> np.ndarray[Any, Any]:
        """Return the elements of an array, in its shape; a number as an array of shape ``()``."""
        if isinstance(x, Const):
            values = np.asarray(x.value)
            exact = [x] if not values.ndim else [Const(np.float64(v)) for v in values.flat]
            return self._grid(exact, values.shape)
        assert isinstance(x, Value)
        if x in self._parts:
            return self._parts[x]
        if x in self._packs:
            return np.stack([self._elements(part) for part in self._packs[x].operands])
        assert not isinstance(self._ev.types[x], Array)
        return self._grid([self.one(x)], ())

    def _grid(self, parts: Sequence[Operand], shape: Sequence[Any]) -> np.ndarray[Any, Any]:
        made = np.empty(len(parts), object)
        for i, x in enumerate(parts):
            made[i] = x
        return made.reshape(tuple(shape))

    def _read(self, values: Iterable[Value]) -> None:
        """Write reads of the elements of the arrays among `values`."""
        for x in values:
            if x in self._choice.split and x not in self._parts:
                shape: Any = self._ev.array_type(x).shape
                places = [at[0] if len(at) == 1 else at for at in np.ndindex(shape)]
                made = [self._operation(operator.getitem, x, (x, Const(place))) for place in places]
                self._parts[x], self._whole[x] = self._grid(made, shape), x

    def one(self, x: Operand) -> Operand:
        """Return an operand as one value: a number read from an array, or the whole array."""
        if not isinstance(x, Value):
            return x
        if x in self._names:
            return self._names[x]
        if x in self._whole:
            return self._whole[x]
        if x in self._packs:
            parts = tuple(map(self.one, self._packs[x].operands))
            callee = self._packs[x].callee
        elif x in self._parts:
            grid, callee = self._parts[x], Const(np.array)
            parts = (self._nested(grid),)
        else:
            return x
        assert isinstance(callee, Const)
        made = self._ev.operation(callee.value, parts, self._ev.types[x], name=x.name)
        if x in self._packs:
            self._ev.packs[made] = parts
            self._ev.note_alias(made, parts)
        self._whole[x] = made
        return made

    def _nested(self, grid: np.ndarray[Any, Any]) -> Operand:
        """Write a list of the elements of an array."""
        items = tuple(grid if grid.ndim == 1 else map(self._nested, grid))
        made = self._ev.operation(primitives.build_list, items, ANYTHING, name="parts")
        self._ev.packs[made] = items
        return made


def _plain(x: Operand) -> Operand:
    """Return a constant as a Python number, which computes the same beside a `np.float64`."""
    if isinstance(x, Const) and type(x.value) is np.float64:
        return Const(float(x.value))
    return x


def _size(t: Type) -> int:
    assert isinstance(t, Array)
    return int(np.prod(t.shape))  # type: ignore[arg-type]
