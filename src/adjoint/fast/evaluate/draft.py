"""The program under construction: its operations, its values, and facts about them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from adjoint.fast.evaluate.call_frames import Attempt, Frame, Suspension
from adjoint.fast.evaluate.objects.heap import Heap
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.result_types.lengths import fresh_length
from adjoint.fast.evaluate.result_types.ones import Constant
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Dim,
    Number,
    Row,
    Symbol,
    Type,
    has_integer,
    may_overflow,
    number,
)
from adjoint.fast.evaluate.values import (
    Abstract,
    Flag,
    HeapObject,
    Iterating,
    Known,
    Origin,
    Ref,
    RulePair,
    Slot,
)
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.fast.support.result_memory import NEW_ARRAYS, VIEWS
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.single import Call, Const, Operand, Value

T = TypeVar("T")
MOST_OPERATIONS = 60_000
"""Greatest size of a program; compiling a larger one would cost more than it saves."""
_OF_INTEGERS = frozenset({operator.add, operator.sub, operator.mul, operator.floordiv})
_INTEGER = number(int)
LARGE = 1000
"""Arrays of this many elements are freed after their last read, and added to in place."""


class Draft(Heap):
    """A program under construction.

    Attributes
    ----------
    dims
        By value: the symbolic dimension whose length it is.
    parts_of
        By alias of a part of an array: the array, and the index of the part.
    packs
        By tuple or list built as an operand: its items.
    integers
        By sum, difference, product or power of Python integers: the operator and the operands.
    negated
        By value: the operand whose negative it is.
    fresh
        Arrays that the program made in memory of their own.
    locked
        Arrays of the program that ``setflags(write=False)`` has made read-only.
    written
        Arrays and lists that the program writes to.
    unsure
        By array that the program writes to, and that may have another name: the place of a write.
    totals
        Sums over all elements of a cotangent, made by the reverse sweep.
    row_lengths
        By list of numbers: the dimension that is its length.
    row_writes
        Number of writes to lists of numbers so far.
    maybe, nones
        Values that are ``None`` where a variable is unassigned, or holds ``None``; the latter.
    built
        By tuple, list or slice that the program builds: the operation, before any pass.
    most_rows
        How many rows to take at once; 0 without rows.
    rule_pairs
        By pair of a value and a pullback that a registered rule returns at run time: the call.
    several
        By tuple that a function returns: the types of its items.
    places
        By value: file and line of its user code.
    attempts, caught
        The ``try`` bodies, and the exceptions whose handlers, are being evaluated, outermost first.
    choices
        The outcomes of comparisons of elements (`objects.choices`), outermost first.
    cached
        Results of cached functions that are in sight, by function and operands.
    cached_states
        By cached function: the contents of the variables that it has captured.
    read_by_cached, shared_results
        Arrays that cached functions read, and contents of what they take and return, by address:
        nothing may write to these.
    origins
        By value, also of reverse sweeps: its place, and those of the calls that led there.
    origin
        The origin of what is made outside of all frames: of the operation whose reverse is written.
    """

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        self.dims: dict[Value, Dim] = {}
        self.packs: dict[Value, tuple[Operand, ...]] = {}
        self.places: dict[Value, tuple[str, int]] = {}
        self.origins: dict[Value, Origin] = {}
        self.origin: Origin | None = None
        self.rule_pairs: dict[Value, RulePair] = {}
        self.several: dict[Value, tuple[Type, ...]] = {}
        self.maybe: set[Value] = set()
        self.nones: set[Value] = set()
        self.fresh: set[Value] = set()
        self.locked: set[Value] = set()
        self.defined: dict[Value | None, ir.Op] = {}
        self.integers: dict[Value, tuple[Any, tuple[Operand, ...]]] = {}
        self.negated: dict[Operand, Operand] = {}
        self.written: set[Value] = set()
        self.row_writes = 0
        self.unsure: dict[Value, Any] = {}
        self.totals: set[Value] = set()
        self.parts_of: dict[Value, tuple[Value, Abstract]] = {}
        self.row_lengths: dict[Value, Dim] = {}
        self.built: dict[Value, Call] = {}
        self.most_rows = 0
        self.attempts: list[Attempt] = []
        self.caught: list[Raises] = []
        self.cached: dict[Any, Abstract] = {}
        self.cached_states: dict[Any, list[Abstract]] = {}
        self.read_by_cached: set[Value] = set()
        self.shared_results: dict[int, HeapObject] = {}
        self.choices: list[Any] = []
        self._certain_from = 0
        self.block: list[ir.Op] = []
        self.frames: list[Frame] = []
        self.hint = "t"
        self._operations = 0
        self._derived: dict[tuple[Any, ...], Symbol] = {}

    # ---- values and operations -------------------------------------------------------------------

    def value(self, t: Type, name: str | None = None) -> Value:
        """Return a new value of type `t`."""
        made = Value(name or self.hint)
        self.types[made] = t
        if self.span is not None and self.frames:
            self.places[made] = self.frames[-1].filename, self.span.line
        origin = self.origin_now() if self.frames else self.origin
        if origin is not None:
            self.origins[made] = origin
        return made

    def origin_now(self) -> Origin | None:
        """Return the origin of a value that is made now."""
        if not self.frames:
            return self.origin
        frame = self.frames[-1]
        return frame.caller if self.span is None else (frame.filename, self.span.line, frame.caller)

    def slot_value(self, slot: Slot, name: str) -> Value:
        """Return a new value for a slot of a template."""
        t = slot.type
        if isinstance(t, Array) and slot.own:
            t = t.with_shape(tuple(fresh_length() if n in slot.own else n for n in t.shape))
        made = self.value(t, name)
        if slot.maybe:
            self.maybe.add(made)
        if slot.none:
            self.nones.add(made)
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
        op = Call(result, Const(f), tuple(operands), keywords, self.span)
        if isinstance(t, Array):
            if isinstance(f, np.ufunc) or f in NEW_ARRAYS or self._is_matrix(f, operands):
                self.fresh.add(result)
            elif f in VIEWS:
                self.note_view(op)
        if f is operator.neg:
            self.note_negated(result, operands[0])
        elif type(t) is Number and self._is_of_integers(f, operands, t):
            self.integers[result] = f, tuple(operands)
        if f in primitives.BUILDING:
            self.built[result] = op
        self.write(op)
        return result

    def _is_of_integers(self, f: Any, operands: Sequence[Operand], t: Number) -> bool:
        """Return whether a result becomes known with the integers that it is made of."""
        if f is operator.truth:
            return self.type_at(operands[0]) == _INTEGER
        if f in _OF_INTEGERS:
            return t.kinds == _INTEGER.kinds
        return f is operator.pow and has_integer(t)

    def _is_matrix(self, f: Any, operands: Sequence[Operand]) -> bool:
        """Return whether a call makes a diagonal matrix; else `np.diag` returns a view."""
        return f is np.diag and len(getattr(self.type_at(operands[0]), "shape", ())) == 1

    def note_negated(self, result: Value, x: Operand) -> None:
        """Record that `result` is ``-x``, except for NumPy integers, whose negation may wrap."""
        if not may_overflow(self.types[result]):
            self.negated[result] = x

    def write(self, op: ir.Op) -> None:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            raise NotCovered("the specialised program would be too large", self.span)
        self.block.append(op)
        if type(op) is Call:
            self.defined[op.result] = op
        elif isinstance(op, ir.Unpack | ir.If):
            self.defined.update(dict.fromkeys(op.results, op))

    @contextmanager
    def writing(self, block: list[ir.Op] | None = None) -> Iterator[list[ir.Op]]:
        """Write into a new block, or into `block`, which may not run."""
        outer, self.block = self.block, [] if block is None else block
        cached, self.cached = self.cached, dict(self.cached)
        try:
            with self.uncertain():
                yield self.block
        finally:
            self.block, self.cached = outer, cached

    @contextmanager
    def uncertain(self) -> Iterator[None]:
        """Keep exceptions from the handlers around the context: its code may not run at all, or
        they do not belong to it."""
        before, self._certain_from = self._certain_from, len(self.attempts)
        try:
            yield
        except Raises as error:
            raise error.uncertain() from None
        except Suspension:
            raise NotCovered("a context manager that yields in a branch or a loop") from None
        finally:
            self._certain_from = before

    def may_handle(self) -> bool:
        """Return whether a ``try`` around would catch an exception raised here."""
        return any(not one.is_over for one in self.attempts[self._certain_from :])

    def splitting(self) -> Any:
        """Return the ``try`` around that is split by what may raise here; ``None`` without one."""
        around = (one for one in self.attempts[self._certain_from :] if not one.is_over)
        state = next(around, None)
        return state if self.outside.splits and state is not None and state.splits else None

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

    def provisionally(self, run: Callable[[], T]) -> T | None:
        """Return what `run` returns; undo what it writes if that is ``None``, or if something is
        not covered."""
        heap, place = dict(self.heap), len(self.block)
        try:
            found = run()
        except NotCovered:
            found = None
        if found is None:
            self.heap = heap
            del self.block[place:]
        return found

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
        if isinstance(a, Iterating) and a.kind is range:
            if all(isinstance(x, Known) for x in a.operands):
                return Const(range(*(x.value for x in a.operands)))  # type: ignore[union-attr]
        items = self.sequence(a)
        if items is None:
            raise NotCovered("a structure as an operand of an operation", self.span)
        if isinstance(a, Ref):
            self.demand_tree(a)
        operands = tuple(map(self.operand, items))
        kind = list if isinstance(a, Ref) or self.is_list(a) else tuple
        if all(isinstance(x, Const) for x in operands):
            return Const(kind(x.value for x in operands if isinstance(x, Const)))
        build = primitives.build_list if kind is list else primitives.build_tuple
        made = self.operation(build, operands, ANYTHING, name="parts")
        self.packs[made] = operands
        self.note_alias(made, operands)
        return made

    def type_of(self, a: Operand) -> Any:
        """Return the type of an operand in the form that `result_type` takes."""
        if isinstance(a, Const):
            return Constant(a.value)
        assert isinstance(a, Value)
        if a in self.packs:
            return tuple(map(self.type_of, self.packs[a]))
        symbol = self.dims.get(a)
        return self.types[a] if symbol is None else symbol

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

    def derived(self, *key: Any) -> Symbol:
        """Return the symbolic dimension of an expression `key`; equal keys share a symbol."""
        if key not in self._derived:
            self._derived[key] = Symbol(f"m{len(self._derived)}", is_argument=False, key=key)
        return self._derived[key]
