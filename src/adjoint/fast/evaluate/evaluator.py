"""The partial evaluator: runs a function in single assignment on what is known of its arguments.

What is known is computed at once: calls of functions, attributes, containers, tests that the types
decide. What is left are operations on numbers and arrays, branches and loops: the program that
`Evaluator` writes, in the same IR, with a type for each value.
"""

from __future__ import annotations

import itertools
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import CO_GENERATOR
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.errors import AdjointError
from adjoint.fast.covered import NeedsSize, NotCovered, UnknownSizes
from adjoint.fast.evaluate.infer import POWERS, Constant, result_type, sizes_in
from adjoint.fast.evaluate.joining import contents_template, generalise, instantiate, match
from adjoint.fast.evaluate.outside import Outside, is_own
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Dim,
    Number,
    Row,
    Symbol,
    Type,
    has_complex,
)
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    Abstract,
    CellOf,
    Closure,
    Flag,
    Generating,
    HeapObject,
    IteratorOf,
    Known,
    ListOf,
    Ref,
    Slot,
    Tuple,
)
from adjoint.fast.fresh import NEW_ARRAYS, VIEWS
from adjoint.fast.single.convert import single
from adjoint.ir import single as ir
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, If, Operand, Unpack, Value
from adjoint.run.lowered import lowered

if TYPE_CHECKING:
    from adjoint.fast.evaluate.generators import Consumer

__all__ = ["Evaluator", "Frame", "single_of"]

MOST_OPERATIONS = 60_000
"""A larger program is left to the generic tier: compiling it would cost more than it gives."""
MOST_STEPS = 60_000
"""Operations that are looked at: recursion and unrolled loops may leave no trace of them."""
_ONE_LENGTH = "arrays of one length, which is known of one"
LARGE = 1000
"""Arrays of so many elements are let go as soon as nothing reads them any more, and added to."""
MOST_CALLS = 60
"""The depth of calls that are inlined into one another."""


class Frame:
    """One call that is being inlined."""

    __slots__ = ("cells", "code", "consumer", "filename", "namespace", "values")

    def __init__(self, function: ir.Function, closure: Closure) -> None:
        self.values: dict[Value, Abstract] = {}
        self.namespace = closure.namespace
        self.filename = function.filename
        self.code = closure.code
        self.consumer: Consumer | None = None


_singles: weakref.WeakKeyDictionary[CodeType, Any] = weakref.WeakKeyDictionary()


def single_of(closure: Closure) -> ir.Function:
    """The single-assignment form of a function, made once.

    Raises
    ------
    NotCovered
        There is no source, or it contains what this form does not cover.
    """
    known = _singles.get(closure.code)
    if known is None:
        f: Any = closure.function
        if f is None:
            cells = tuple(CellType() for _ in closure.code.co_freevars)
            f = FunctionType(closure.code, closure.namespace, closure.code.co_name, None, cells)
        try:
            known = single(lowered(f), yields=True)
        except NotCovered as error:
            known = error
        except AdjointError as error:
            known = NotCovered(str(error).partition("\n")[0])
        _singles[closure.code] = known
    if isinstance(known, NotCovered):
        refused = NotCovered(known.reason, known.span)
        _place(refused, closure, None, closure.code.co_filename)
        raise refused
    return known


def _place(error: NotCovered, closure: Closure, span: Span | None, filename: str) -> None:
    """Say where it is: at a line of the user's, who does not look into this library."""
    if not is_own(closure.namespace):
        error.at(span, filename)
    elif error.filename is None:
        error.span = None


class Evaluator:
    """Writes one program.

    Attributes
    ----------
    outside
        What the program reads from outside.
    types
        The type of each value of the program.
    dims
        Values that are the length of a symbolic dimension.
    parts_of
        Parts of arrays: of which, by what index.
    packs
        Tuples and lists that were made for an operation of the program: what they consist of.
    negated
        Values that are others negated.
    fresh
        Arrays that the program made itself, in memory of their own.
    written
        Those of them that it writes to.
    turned
        Lists that the next loop goes through backwards, of which it has a copy.
    row_lengths
        Dimensions that are the lengths of lists of numbers.
    views
        Arrays that may be, or look at the memory of, others: which.
    maybe
        Values that are ``None`` where a variable has no value.
    indices
        Tuples and slices that were made for an index: what they consist of.
    places
        File and line of the user's that a value comes from.
    inlined
        The names of the user's functions that were run.
    """

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.types = outside.types
        self.dims: dict[Value, Dim] = {}
        self.packs: dict[Value, tuple[Operand, ...]] = {}
        self.places: dict[Value, tuple[str, int]] = {}
        self.maybe: set[Value] = set()
        self.fresh: set[Value] = set()
        self.negated: dict[Operand, Operand] = {}
        self.written: set[Value] = set()
        self.views: dict[Value, set[Value]] = {}
        self.parts_of: dict[Value, tuple[Value, Abstract]] = {}
        self.row_lengths: dict[Value, Dim] = {}
        self.turned: set[Value] = set()
        self.indices: dict[Value, tuple[Operand, ...]] = {}
        self.heap: dict[int, HeapObject] = {}
        self.block: list[ir.Op] = []
        self.frames: list[Frame] = []
        self.inlined: dict[str, None] = {}
        self.hint = "t"
        self.span: Span | None = None
        self._addresses = 0
        self._operations = self._steps = 0
        self._lengths: dict[Symbol, Value] = {}
        self._derived: dict[tuple[Any, ...], Symbol] = {}

    def release(self) -> None:
        """Let go of what the program was specialised with."""
        self.heap.clear()
        self.frames.clear()
        self.outside.release()

    # ---- writing the program ---------------------------------------------------------------------

    def value(self, t: Type, name: str | None = None) -> Value:
        """A new value of the program."""
        made = Value(name or self.hint)
        self.types[made] = t
        if self.span is not None and self.frames:
            self.places[made] = self.frames[-1].filename, self.span.line
        return made

    def operation(
        self,
        f: Any,
        operands: Sequence[Operand],
        t: Type,
        keywords: tuple[tuple[str, Operand], ...] = (),
        name: str | None = None,
    ) -> Value:
        """Write ``f(*operands, **keywords)``, whose result has type `t`."""
        result = self.value(t, name)
        if isinstance(t, Array):
            if isinstance(f, np.ufunc) or f in NEW_ARRAYS:
                self.fresh.add(result)
            elif f in VIEWS:
                self.look_at(result, operands)
        if f is operator.neg:
            self.negated[result] = operands[0]
        self.write(Call(result, Const(f), tuple(operands), keywords, self.span))
        return result

    def look_at(self, view: Value, owners: Iterable[Operand]) -> None:
        """Note that a value may show what is in others."""
        self.views.setdefault(view, set()).update(x for x in owners if isinstance(x, Value))

    def shown_by(self, x: Operand) -> set[Value]:
        """The values whose memory `x` may show, with itself."""
        found: set[Value] = set()
        pending = [x] if isinstance(x, Value) else []
        while pending:
            owner = pending.pop()
            if owner not in found:
                found.add(owner)
                pending += self.views.get(owner, ())
        return found

    def opposite(self, x: Operand) -> Operand | None:
        """What `x` is the negative of, if it still is: nothing is written to either."""
        found = self.negated.get(x)
        if found is None or not (self.shown_by(x) | self.shown_by(found)).isdisjoint(self.written):
            return None
        return found

    def write(self, op: ir.Op) -> None:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            raise NotCovered("the specialised program would be too large", self.span)
        self.block.append(op)

    @contextmanager
    def writing(self, block: list[ir.Op] | None = None) -> Iterator[list[ir.Op]]:
        """Write into a block of its own, or into one that was begun."""
        outer, self.block = self.block, [] if block is None else block
        try:
            yield self.block
        finally:
            self.block = outer

    def is_large(self, x: Value) -> bool:
        """Whether an array had many elements in the call at hand: then memory is worth some lines
        more."""
        t = self.types.get(x)
        return isinstance(t, Array) and self.size_of(t) >= LARGE

    def size_of(self, t: Array) -> int:
        """How many elements an array had in the call at hand, at least."""
        size = 1
        for dim in t.shape:
            size *= dim if isinstance(dim, int) else self.outside.size_of(dim) or 1
        return size

    # ---- operands --------------------------------------------------------------------------------

    def operand(self, a: Abstract) -> Operand:
        """`a` as an operand of the program; tuples and lists are built there."""
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
        from adjoint.ir import primitives

        build = primitives.build_list if kind is list else primitives.build_tuple
        made = self.operation(build, operands, ANYTHING, name="parts")
        self.packs[made] = operands
        self.look_at(made, operands)
        return made

    def sequence(self, a: Abstract) -> tuple[Abstract, ...] | None:
        """The items of a tuple or list whose length is known."""
        if isinstance(a, Tuple):
            return a.items
        if isinstance(a, Ref):
            held = self.heap[a.address]
            return held.items if isinstance(held, ListOf) else None
        from adjoint.fast.evaluate.reading import items_outside

        return items_outside(self, a)

    def is_list(self, a: Abstract) -> bool:
        return isinstance(getattr(a, "sample", None), list)

    def type_of(self, a: Operand) -> Any:
        """What `infer` is told of an operand."""
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
        """Write a call whose result has the type that the operands' types decide."""
        operands = tuple(map(self.operand, args))
        named = tuple((k, self.operand(v)) for k, v in keywords)
        with self.demanding_sizes((*operands, *(v for _, v in named))):
            found = result_type(
                f, [self.type_of(x) for x in operands], {k: self.type_of(v) for k, v in named}
            )
        if isinstance(found, tuple):
            raise NotCovered(f"several results of {getattr(f, '__name__', f)}", self.span)
        if isinstance(found, Number) and complex in found.kinds and self._is_real(f, operands):
            from adjoint.fast.runtime import real

            kinds = Number(found.kinds - {complex} or frozenset({float}))
            return self.operation(real, (self.operation(f, operands, kinds, named),), kinds)
        return self.operation(f, operands, found, named)

    def _is_real(self, f: Any, operands: Sequence[Operand]) -> bool:
        """Whether a call is foreseen to give a real number: a power of real ones."""
        return f in POWERS and not any(
            isinstance(x.value, complex) if isinstance(x, Const) else has_complex(self.type_at(x))
            for x in operands
        )

    @contextmanager
    def demanding_sizes(self, operands: Sequence[Operand]) -> Iterator[None]:
        """Where the types of operands do not tell that of a result, require that sizes are known
        that may be why."""
        try:
            yield
        except NotCovered as error:
            self._demand_sizes(operands)
            if isinstance(error, UnknownSizes):
                self._demand_known(error.reason, *sizes_in(map(self.type_of, operands)))
            raise

    def _demand_sizes(self, operands: Sequence[Operand]) -> None:
        """Dimensions that are as long as one that is known have to be known, too."""
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
        """The dimensions of the arguments that these are made of have to be known."""
        for dim in dims:
            for symbol in self._arguments_of(dim):
                raise NeedsSize(symbol, reason, self.span)

    def demand_broadcast(self, shape: Sequence[Dim], to: Sequence[Dim]) -> None:
        """Require that an array of one shape is broadcast when it is written to one of another."""
        if len(shape) > len(to):
            raise NotCovered("a write of an array with more axes than there are", self.span)
        for m, n in zip(shape[::-1], to[::-1], strict=False):
            if m not in (1, n):
                reason = "a write of an array that is not known to be as long as its place"
                self._demand_known(reason, m, n)
                raise NotCovered(reason, self.span)

    def _arguments_of(self, dim: Dim) -> list[Symbol]:
        """The dimensions of the arguments that one is made of."""
        if isinstance(dim, int):
            return []
        if dim.is_argument:
            return [dim]
        key = next((key for key, known in self._derived.items() if known is dim), ())
        inside = [part for part in key if isinstance(part, Symbol)]
        return [symbol for part in inside for symbol in self._arguments_of(part)]

    def type_at(self, x: Operand) -> Type | None:
        """The type of a value; ``None`` for a constant."""
        return self.types[x] if isinstance(x, Value) else None

    def has_rows(self) -> bool:
        """Whether a list of numbers is a value of the program."""
        return any(isinstance(t, Row) for t in self.types.values())

    # ---- the heap --------------------------------------------------------------------------------

    def allocate(self, held: HeapObject) -> Ref:
        self._addresses += 1
        self.heap[self._addresses] = held
        return Ref(self._addresses)

    def derived(self, *key: Any) -> Symbol:
        """The dimension that an expression stands for: the same for the same expression."""
        if key not in self._derived:
            self._derived[key] = Symbol(f"m{len(self._derived)}", is_argument=False)
        return self._derived[key]

    # ---- functions -------------------------------------------------------------------------------

    def inline(
        self, closure: Closure, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Run a Python function here."""
        from adjoint.fast.evaluate.binding import bind

        if len(self.frames) >= MOST_CALLS:
            raise NotCovered(f"calls more than {MOST_CALLS} deep, or recursion", self.span)
        function = single_of(closure)
        values = bind(self, function, closure, args, keywords)
        if closure.code.co_flags & CO_GENERATOR:
            return self.allocate(IteratorOf(Generating(closure, tuple(values))))
        if len(function.body.parameters) != len(values) + len(closure.cells):
            raise NotCovered("a function whose variables are not those of its source", self.span)
        frame = Frame(function, closure)
        frame.values.update(zip(function.body.parameters, (*values, *closure.cells), strict=True))
        span, hint = self.span, self.hint
        self.frames.append(frame)
        if not is_own(closure.namespace):
            self.inlined.setdefault(closure.code.co_qualname)
        try:
            found = self.run(function.body)
        except NotCovered as error:
            _place(error, closure, self.span, function.filename)
            raise
        finally:
            self.frames.pop()
            self.span, self.hint = span, hint
        if found is None:
            raise NotCovered("a function that always raises", self.span)
        (result,) = found
        if result is MISSING or result is LOST:
            raise NotCovered("a function without a result in some way")
        return result

    # ---- blocks ----------------------------------------------------------------------------------

    def run(self, block: Block) -> list[Abstract] | None:
        """Run a block; its results, or ``None`` where its end is never reached."""
        from adjoint.fast.evaluate.loops import loop

        self._steps += len(block.ops)
        if self._steps > MOST_STEPS:
            raise NotCovered("what takes too long to specialise", self.span)
        for i, op in enumerate(block.ops):
            if op.span is not None:
                self.span = op.span
            match op:
                case Call():
                    self._call(op)
                case Unpack():
                    self._unpack(op)
                case If():
                    if not self._if(op):
                        return None
                case ir.Loop():
                    if not loop(self, op):
                        return None
                case ir.Raise():
                    self._leave()
                    return None
            consumer = self.frames[-1].consumer
            if consumer is not None and consumer.may_have_stopped(self):
                return consumer.rest(self, replace(block, ops=block.ops[i + 1 :]))
        if block.results is None:
            return None
        return [self.read(x) for x in block.results]

    def read(self, operand: Operand) -> Abstract:
        """What is known of an operand of the function being run."""
        match operand:
            case Const(value=value):
                return Known(value)
            case Value():
                return self.frames[-1].values[operand]
            case ir.Global(name=name):
                return self.outside.global_(self.frames[-1].namespace, name)
            case ir.Undefined():
                return MISSING
            case _:
                raise NotCovered(f"the operand {operand}")

    def _present(self, operand: Operand) -> Abstract:
        found = self.read(operand)
        if found is MISSING:
            raise NotCovered("a variable that may have no value", self.span)
        if found is LOST:
            raise NotCovered("a variable that has a value in some ways only", self.span)
        return found

    def _call(self, op: Call) -> None:
        from adjoint.fast.evaluate.calls import call

        if op.result is not None:
            self.hint = op.result.name if not op.result.name.startswith("_") else "t"
        result = call(
            self,
            self._present(op.callee),
            [self._present(x) for x in op.operands],
            {name: self._present(x) for name, x in op.keywords},
        )
        if op.result is not None:
            self.frames[-1].values[op.result] = result

    def _unpack(self, op: Unpack) -> None:
        from adjoint.fast.evaluate.reading import unpacked

        items = unpacked(self, self._present(op.value), len(op.results), op.starred)
        self.frames[-1].values.update(zip(op.results, items, strict=True))

    def _leave(self) -> None:
        """The user's code raises: the generic tier says what, where it happens."""
        from adjoint.fast.runtime import leave

        self.write(Call(None, Const(leave), (), (), self.span))

    def _if(self, op: If) -> bool:
        from adjoint.fast.evaluate.calls import truth

        condition = truth(self, self._present(op.condition))
        values = self.frames[-1].values
        if isinstance(condition, Known):
            found = self.run(op.body if condition.value else op.orelse)
            if found is None:
                return False
            values.update(zip(op.results, found, strict=True))
            return True
        found = self.branch(
            condition,
            lambda: self._side(op.body),
            lambda: self._side(op.orelse),
            op.span,
            tuple(result.name for result in op.results),
        )
        if found is None:
            return False
        for value, result in zip(op.results, found, strict=True):
            values[value] = result
        return True

    def _side(self, block: Block) -> list[Abstract] | None:
        if block.results is None:
            self._leave()  # nothing of it is seen: what it computes is for the error
            return None
        return self.run(block)

    def branch(
        self,
        condition: Value,
        body: Callable[[], list[Abstract] | None],
        orelse: Callable[[], list[Abstract] | None],
        span: Span | None,
        names: tuple[str, ...] = (),
    ) -> list[Abstract] | None:
        """Write both ways, and join what is known after them."""
        from adjoint.fast.evaluate.rows import growing

        return growing(self, lambda: self._branch(condition, body, orelse, span, names))

    def _branch(
        self,
        condition: Value,
        body: Callable[[], list[Abstract] | None],
        orelse: Callable[[], list[Abstract] | None],
        span: Span | None,
        names: tuple[str, ...],
    ) -> list[Abstract] | None:
        before = dict(self.heap)
        with self.writing() as ops_a:
            a = body()
        heap_a, self.heap = self.heap, dict(before)
        with self.writing() as ops_b:
            b = orelse()
        heap_b = self.heap
        if a is None and b is None:
            self.write(
                If(
                    (),
                    condition,
                    Block((), tuple(ops_a), None),
                    Block((), tuple(ops_b), None),
                    span,
                )
            )
            return None
        if a is None or b is None:
            # What the other way computes is seen from here on as its results.
            self.heap = heap_b if a is None else heap_a
            known = b if a is None else a
            assert known is not None
            return self._only(condition, ops_a, ops_b, a is not None, known, before, span)
        templates = [generalise(x, y, self) for x, y in zip(a, b, strict=True)]
        left: list[Operand] = []
        right: list[Operand] = []
        for template, x, y in zip(templates, a, b, strict=True):
            match(template, x, left)
            match(template, y, right)
        results: list[Value] = []
        name = ""

        def new(slot: Slot) -> Value:
            results.append(self.value(slot.type, name=name))
            if slot.maybe:
                self.maybe.add(results[-1])
            return results[-1]

        found = []
        for i, template in enumerate(templates):
            name = names[i] if i < len(names) and not names[i].startswith("_") else "t"
            found.append(instantiate(template, new))
        heap = dict(before)
        for address in before:
            one, other = heap_a[address], heap_b[address]
            if one is not other:
                name = getattr(one, "name", "held")
                template = contents_template(one, other, self, address)
                match(template, one, left)
                match(template, other, right)
                heap[address] = instantiate(template, new)
        for address, held in (*heap_a.items(), *heap_b.items()):
            if address not in heap:
                heap[address] = held
        self.heap = heap
        self.write(
            If(
                tuple(results),
                condition,
                Block((), tuple(ops_a), tuple(left)),
                Block((), tuple(ops_b), tuple(right)),
                span,
            )
        )
        return found

    def _only(
        self,
        condition: Value,
        ops_a: list[ir.Op],
        ops_b: list[ir.Op],
        first: bool,
        known: list[Abstract],
        before: dict[int, HeapObject],
        span: Span | None,
    ) -> list[Abstract]:
        """A branch of which one way is left: the other one goes on after it."""
        ops = ops_a if first else ops_b
        leaving = ops_b if first else ops_a
        # the test and the way out, then the operations of the way that goes on, unconditionally
        empty, out = Block((), (), ()), Block((), tuple(leaving), None)
        self.write(If((), condition, empty if first else out, out if first else empty, span))
        self.block.extend(ops)
        return known

    # ---- cells -----------------------------------------------------------------------------------

    def load_cell(self, cell: Abstract) -> Abstract:
        from adjoint.fast.evaluate.values import External

        if isinstance(cell, External):
            return self.outside.of_cell(cell)
        if isinstance(cell, Known):
            return self.outside.own(cell.value.cell_contents)
        assert isinstance(cell, Ref), cell
        held = self.heap[cell.address]
        assert isinstance(held, CellOf)
        return held.items[0]
