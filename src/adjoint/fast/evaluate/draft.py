"""The program under construction: its operations, its values, and facts about them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.fast.evaluate.frames import Frame
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.result_types.elementwise import POWERS
from adjoint.fast.evaluate.result_types.inference import result_type, sizes_in
from adjoint.fast.evaluate.result_types.lengths import symbols_in
from adjoint.fast.evaluate.result_types.of_numbers import known_of_numbers
from adjoint.fast.evaluate.result_types.ones import Constant, kind_of_constant
from adjoint.fast.evaluate.result_types.options import is_elementwise, with_known_options
from adjoint.fast.evaluate.types import (
    ANYTHING,
    FLOAT,
    Array,
    Dim,
    Number,
    Row,
    Symbol,
    Type,
    has_complex,
    is_float,
    may_overflow,
)
from adjoint.fast.evaluate.values import (
    Abstract,
    DictOf,
    External,
    Flag,
    HeapObject,
    Known,
    ListOf,
    Ref,
    RulePair,
    Slot,
    Tuple,
)
from adjoint.fast.not_covered import NeedsSize, NotCovered, UnknownSizes
from adjoint.fast.support.result_memory import NEW_ARRAYS, VIEWS
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.nodes import Span
from adjoint.ir.single import Call, Const, Operand, Value

MOST_OPERATIONS = 60_000
"""Greatest size of a program; compiling a larger one would cost more than it saves."""
_ZEROS = (Const(0), Const(0.0))
_ONE_LENGTH = "arrays of one length, which is known of one"
LARGE = 1000
"""Arrays of this many elements are freed after their last read, and added to in place."""


class Draft:
    """A program under construction.

    Attributes
    ----------
    outside
        The outside values that the program reads, and its guards.
    types
        The type of each value of the program.
    dims
        By value: the symbolic dimension whose length it is.
    parts_of
        By alias of a part of an array: the array, and the index of the part.
    packs
        By tuple or list built as an operand: its items.
    negated
        By value: the operand whose negative it is.
    fresh
        Arrays that the program made in memory of their own.
    written
        Arrays and lists that the program writes to.
    totals
        Sums over all elements of a cotangent, made by the reverse sweep.
    row_lengths
        By list of numbers: the dimension that is its length.
    shared_lists
        Addresses of lists of which a variable holds one or another.
    row_writes
        Number of writes to lists of numbers so far.
    aliases
        By value: the values that it may be an alias of.
    maybe
        Values that are ``None`` where a variable is unassigned.
    indices
        By tuple or slice built as an index: its parts.
    built
        By tuple, list or slice that the program builds: the operation, before any pass.
    most_rows
        How many rows to take at once; 0 without rows.
    rule_pairs
        By pair of a value and a pullback that a registered rule returns at run time: the call.
    places
        By value: file and line of its user code.
    """

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.types = outside.types
        self.dims: dict[Value, Dim] = {}
        self.packs: dict[Value, tuple[Operand, ...]] = {}
        self.places: dict[Value, tuple[str, int]] = {}
        self.rule_pairs: dict[Value, RulePair] = {}
        self.maybe: set[Value] = set()
        self.fresh: set[Value] = set()
        self.negated: dict[Operand, Operand] = {}
        self.written: set[Value] = set()
        self.row_writes = 0
        self.totals: set[Value] = set()
        self.aliases: dict[Value, set[Value]] = {}
        self.parts_of: dict[Value, tuple[Value, Abstract]] = {}
        self.row_lengths: dict[Value, Dim] = {}
        self.indices: dict[Value, tuple[Operand, ...]] = {}
        self.built: dict[Value, Call] = {}
        self.most_rows = 0
        self.heap: dict[int, HeapObject] = {}
        self.shared_lists: set[int] = set()
        self.block: list[ir.Op] = []
        self.frames: list[Frame] = []
        self.hint = "t"
        self.span: Span | None = None
        self._addresses = 0
        self._operations = 0
        self._derived: dict[tuple[Any, ...], Symbol] = {}

    # ---- values and operations -------------------------------------------------------------------

    def value(self, t: Type, name: str | None = None) -> Value:
        """Return a new value of type `t`."""
        made = Value(name or self.hint)
        self.types[made] = t
        if self.span is not None and self.frames:
            self.places[made] = self.frames[-1].filename, self.span.line
        return made

    def slot_value(self, slot: Slot, name: str) -> Value:
        """Return a new value for a slot of a template."""
        made = self.value(slot.type, name)
        if slot.maybe:
            self.maybe.add(made)
        return made

    def operation(
        self,
        f: Any,
        operands: Sequence[Operand],
        t: Type,
        keywords: tuple[tuple[str, Operand], ...] = (),
        name: str | None = None,
    ) -> Value:
        """Write ``f(*operands, **keywords)``; return its result, of type `t`."""
        result = self.value(t, name)
        if isinstance(t, Array):
            if isinstance(f, np.ufunc) or f in NEW_ARRAYS:
                self.fresh.add(result)
            elif f in VIEWS:
                self.note_alias(result, operands)
        if f is operator.neg:
            self.note_negated(result, operands[0])
        op = Call(result, Const(f), tuple(operands), keywords, self.span)
        if f in primitives.BUILDING:
            self.built[result] = op
        self.write(op)
        return result

    def note_negated(self, result: Value, x: Operand) -> None:
        """Record that `result` is ``-x``, except for NumPy integers, whose negation may wrap."""
        if not may_overflow(self.types[result]):
            self.negated[result] = x

    def note_alias(self, view: Value, owners: Iterable[Operand]) -> None:
        """Record that `view` may be an alias of the values `owners`."""
        self.aliases.setdefault(view, set()).update(x for x in owners if isinstance(x, Value))

    def aliased_by(self, x: Operand) -> set[Value]:
        """Return the values that `x` may be an alias of, including `x`."""
        found: set[Value] = set()
        pending = [x] if isinstance(x, Value) else []
        while pending:
            owner = pending.pop()
            if owner not in found:
                found.add(owner)
                pending += self.aliases.get(owner, ())
        return found

    def opposite(self, x: Operand) -> Operand | None:
        """Return the operand that `x` is the negative of, unless either is written to."""
        found = self.negated.get(x)
        if found is None or not (self.aliased_by(x) | self.aliased_by(found)).isdisjoint(
            self.written
        ):
            return None
        return found

    def write(self, op: ir.Op) -> None:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            raise NotCovered("the specialised program would be too large", self.span)
        self.block.append(op)

    @contextmanager
    def writing(self, block: list[ir.Op] | None = None) -> Iterator[list[ir.Op]]:
        """Write into a new block, or into `block`."""
        outer, self.block = self.block, [] if block is None else block
        try:
            yield self.block
        finally:
            self.block = outer

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Discard all operations and heap changes made in the context."""
        heap, self.heap = self.heap, dict(self.heap)
        lengths, self.row_lengths = self.row_lengths, dict(self.row_lengths)
        try:
            with self.writing():
                yield
        finally:
            self.heap, self.row_lengths = heap, lengths

    def is_large(self, x: Value) -> bool:
        """Return whether an array had at least `LARGE` elements at specialisation, so that saving
        memory is worth more code."""
        t = self.types.get(x)
        return isinstance(t, Array) and self.size_of(t) >= LARGE

    def size_of(self, t: Array) -> int:
        """Return a lower bound of the number of elements of an array at specialisation."""
        size = 1
        for dim in t.shape:
            size *= dim if isinstance(dim, int) else self.outside.size_of(dim) or 1
        return size

    # ---- operands --------------------------------------------------------------------------------

    def operand(self, a: Abstract) -> Operand:
        """Return `a` as an operand of the program; build tuples and lists in the program."""
        if isinstance(a, Value):
            return a
        if isinstance(a, Flag):
            raise NotCovered("a truth value as a number", self.span)
        if isinstance(a, Known):
            return Const(a.value)
        items = self.sequence(a)
        if items is None:
            raise NotCovered("a structure as an operand of an operation", self.span)
        operands = tuple(map(self.operand, items))
        kind = list if isinstance(a, Ref) or self.is_list(a) else tuple
        if all(isinstance(x, Const) for x in operands):
            return Const(kind(x.value for x in operands if isinstance(x, Const)))
        build = primitives.build_list if kind is list else primitives.build_tuple
        made = self.operation(build, operands, ANYTHING, name="parts")
        self.packs[made] = operands
        self.note_alias(made, operands)
        return made

    def sequence(self, a: Abstract) -> tuple[Abstract, ...] | None:
        """Return the items of a tuple or list of known length; ``None`` for anything else."""
        if isinstance(a, Tuple):
            return a.items
        if isinstance(held := self.held(a), ListOf):
            return held.items
        if isinstance(a, External) and isinstance(a.sample, list | tuple):
            return tuple(self.outside.read(a.source, "item", i, x) for i, x in enumerate(a.sample))
        return None

    def is_list(self, a: Abstract) -> bool:
        return isinstance(getattr(a, "sample", None), list)

    def keys(self, a: Abstract) -> tuple[Any, ...] | None:
        """Return the keys of a dict; ``None`` for anything else."""
        if isinstance(a, External) and type(a.sample) is dict:
            return tuple(a.sample)
        held = self.held(a)
        return held.keys if isinstance(held, DictOf) else None

    def type_of(self, a: Operand) -> Any:
        """Return the type of an operand in the form that `result_type` takes."""
        if isinstance(a, Const):
            return Constant(a.value)
        assert isinstance(a, Value)
        if a in self.packs:
            return tuple(map(self.type_of, self.packs[a]))
        symbol = self.dims.get(a)
        return self.types[a] if symbol is None else symbol

    def infer(
        self, f: Any, args: Sequence[Abstract], keywords: Sequence[tuple[str, Abstract]] = ()
    ) -> Abstract:
        """Write a call whose result type follows from the types of the operands."""
        if is_elementwise(f):
            found = None if keywords else self._infer_of_numbers(f, args)
            if found is not None:
                return found
        else:
            args = [with_known_options(self, f, x, i) for i, x in enumerate(args)]
            keywords = [(k, with_known_options(self, f, x, k)) for k, x in keywords]
        operands = tuple(map(self.operand, args))
        named = tuple((k, self.operand(v)) for k, v in keywords)
        if f is operator.truediv and operands[1] in _ZEROS and is_float(self.type_at(operands[0])):
            return self.operation(f, operands, FLOAT)  # raises, if it is ever reached
        with self.demanding_sizes((*operands, *(v for _, v in named))):
            types = {k: self.type_of(v) for k, v in named}
            t = result_type(f, [*map(self.type_of, operands)], types, self.derived)
        if isinstance(t, Number) and complex in t.kinds and self._is_real(f, operands):
            from adjoint.fast.support.functions import real

            kinds = Number(t.kinds - {complex} or frozenset({float}))
            return self.operation(real, (self.operation(f, operands, kinds, named),), kinds)
        return self.operation(f, operands, t, named)

    def _infer_of_numbers(self, f: Any, args: Sequence[Abstract]) -> Value | None:
        """`infer` of real numbers by a cached result type; ``None`` if none is cached."""
        operands: list[Operand] = []
        key: list[Any] = [f]
        for a in args:
            if type(a) is Value:
                t = self.types[a]
                if type(t) is not Number or a in self.dims:
                    return None
                operands.append(a)
                key.append(t.kinds)
            elif type(a) is Known:
                operands.append(Const(a.value))
                key.append(kind_of_constant(a.value))
            else:
                return None
        found = known_of_numbers(key)
        if found is None or complex in found.kinds:
            return None
        return self.operation(f, operands, found)

    def _is_real(self, f: Any, operands: Sequence[Operand]) -> bool:
        """Return whether `f` is a power of real operands, whose result is foreseen to be real."""
        return f in POWERS and not any(
            isinstance(x.value, complex) if isinstance(x, Const) else has_complex(self.type_at(x))
            for x in operands
        )

    @contextmanager
    def demanding_sizes(self, operands: Sequence[Operand]) -> Iterator[None]:
        """Turn `NotCovered` into `NeedsSize` if symbolic sizes may be why the types of operands do
        not determine a result."""
        try:
            yield
        except NotCovered as error:
            self._demand_sizes(operands)
            if isinstance(error, UnknownSizes):
                self._demand_known(error.reason, *sizes_in(map(self.type_of, operands)))
            raise

    def _demand_sizes(self, operands: Sequence[Operand]) -> None:
        """Require known lengths for symbolic dimensions that may have to fit another one."""
        shapes = [t.shape for x in operands if isinstance(t := self.type_at(x), Array)]
        known = {n for shape in shapes for n in shape if isinstance(n, int) and n > 1}
        for shape in shapes:
            for n in shape:
                if isinstance(n, Symbol) and self.outside.size_of(n) in known:
                    raise NeedsSize(n, _ONE_LENGTH, self.span)
        for a, b in itertools.combinations(shapes, 2):
            for m, n in zip(a[::-1], b[::-1], strict=False):
                if m != n and 1 not in (m, n):
                    self._demand_known(_ONE_LENGTH, m, n)

    def _demand_known(self, reason: str, *dims: Dim) -> None:
        """Require known lengths for the argument dimensions that `dims` are derived from."""
        for dim in dims:
            for symbol in self._arguments_of(dim):
                raise NeedsSize(symbol, reason, self.span)

    def demand_broadcast(self, shape: Sequence[Dim], to: Sequence[Dim]) -> None:
        """Require that an array of shape `shape` can be broadcast to the shape `to`."""
        if len(shape) > len(to):
            raise NotCovered("a write of an array with more axes than there are", self.span)
        for m, n in zip(shape[::-1], to[::-1], strict=False):
            if m not in (1, n):
                reason = "a write of an array that is not known to be as long as its place"
                self._demand_known(reason, m, n)
                raise NotCovered(reason, self.span)

    def _arguments_of(self, dim: Dim) -> list[Symbol]:
        """Return the argument dimensions that `dim` is derived from."""
        if isinstance(dim, int):
            return []
        if dim.is_argument:
            return [dim]
        return [symbol for part in symbols_in(dim.key) for symbol in self._arguments_of(part)]

    def type_at(self, x: Operand) -> Type | None:
        """Return the type of a value; ``None`` for a constant."""
        return self.types[x] if isinstance(x, Value) else None

    def array_type(self, x: Operand) -> Array:
        """Return the type of an array."""
        t = self.type_at(x)
        assert isinstance(t, Array)
        return t

    def row_type(self, x: Operand) -> Row:
        """Return the type of a list of numbers."""
        t = self.type_at(x)
        assert isinstance(t, Row)
        return t

    def has_rows(self) -> bool:
        """Return whether a list of numbers is a value of the program."""
        return any(type(t) is Row for t in self.types.values())

    # ---- the heap --------------------------------------------------------------------------------

    def allocate(self, held: HeapObject) -> Ref:
        self._addresses += 1
        self.heap[self._addresses] = held
        return Ref(self._addresses)

    def demand_own_list(self, address: int) -> None:
        """Refuse a write to a list that a variable may hold another of (`joins`)."""
        if address in self.shared_lists:
            raise NotCovered(
                "a write to a list that depends on a branch or an iteration", self.span
            )

    def held(self, a: Any) -> HeapObject | None:
        """Return the content of the heap that `a` refers to; ``None`` if it refers to none."""
        return self.heap.get(a.address) if isinstance(a, Ref) else None

    def derived(self, *key: Any) -> Symbol:
        """Return the symbolic dimension of an expression `key`; equal keys share a symbol."""
        if key not in self._derived:
            self._derived[key] = Symbol(f"m{len(self._derived)}", is_argument=False, key=key)
        return self._derived[key]
