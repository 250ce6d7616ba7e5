"""A program under construction whose operations get their types by inference."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.fast.evaluate.draft import Draft
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.result_types.elementwise import POWERS, is_broadcast
from adjoint.fast.evaluate.result_types.inference import result_type, sizes_in
from adjoint.fast.evaluate.result_types.lengths import (
    UNIT,
    Derived,
    Misfit,
    leaves_of,
    less,
    product,
    settled,
    symbols_in,
    total,
    values_in,
)
from adjoint.fast.evaluate.result_types.of_numbers import known_of_numbers
from adjoint.fast.evaluate.result_types.ones import kind_of_constant
from adjoint.fast.evaluate.result_types.options import is_elementwise, with_known_options
from adjoint.fast.evaluate.result_types.records import Several, broadcast
from adjoint.fast.evaluate.types import (
    ANYTHING,
    FLOAT,
    Array,
    Dim,
    Number,
    Symbol,
    Type,
    has_complex,
    has_integer,
    is_float,
    number,
)
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.not_covered import NeedsKnown, NeedsSize, NotCovered, UnknownSizes
from adjoint.fast.support.functions import fitting, length, real
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value

_OF_LENGTHS = (operator.add, operator.sub, operator.mul)
_ZEROS = (Const(0), Const(0.0))
MOST_MISFITS = 8
_ONE_LENGTH = "arrays of one length, which is known of one"


class InferringDraft(Draft):
    """A `Draft` that finds the result types of operations, and the lengths that these demand."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        self._known_types: dict[tuple[Any, ...] | None, Type] = {}

    def infer(
        self, f: Any, args: Sequence[Abstract], keywords: Sequence[tuple[str, Abstract]] = ()
    ) -> Abstract:
        """Write a call whose result type follows from the types of the operands."""
        key: tuple[Any, ...] | None = None
        if not is_elementwise(f):
            if f is np.arange:
                for x in args:
                    if isinstance(x, Value) and is_float(self.types[x]):
                        self.demand_value(x, "a range of values that are not known")
                if len(args) + len(keywords) > 1:
                    self._demand_constant_steps(args)
            try:
                args = [with_known_options(self, f, x, i) for i, x in enumerate(args)]
                keywords = [(k, with_known_options(self, f, x, k)) for k, x in keywords]
            except NeedsKnown as error:
                self.demand_value(error.value, error.reason)
        elif not keywords:
            found = self._infer_of_numbers(f, args)
            if found is not None:
                return found
        operands = tuple(map(self.operand, args))
        named = tuple((k, self.operand(v)) for k, v in keywords)
        if not named and is_broadcast(f):
            key = self._key_of(f, operands)
            known = self._known_types.get(key)
            if known is not None:
                return self.operation(f, operands, known)
        for _ in range(MOST_MISFITS):
            try:
                made = self._inferred(f, operands, named)
            except UnknownSizes as error:
                operands, key = self._fitted(operands, error), None
                continue
            if key is not None and type(made) is Value and type(self.types[made]) is Array:
                self._known_types[key] = self.types[made]
            return made
        raise NotCovered("arrays of too many lengths that are not known to fit", self.span)

    def _inferred(
        self, f: Any, operands: tuple[Operand, ...], named: tuple[tuple[str, Operand], ...]
    ) -> Abstract:
        """Write a call of operands, whose result type follows from their types."""
        if f is operator.truediv and operands[1] in _ZEROS and is_float(self.type_at(operands[0])):
            return self.operation(f, operands, FLOAT)  # raises, if it is ever reached
        try:
            types = {k: self.type_of(v) for k, v in named}
            t = result_type(f, [*map(self.type_of, operands)], types, self.derived)
        except NotCovered as error:
            self._demand_sizes_for(error, (*operands, *(v for _, v in named)))
            raise
        if isinstance(t, Several):
            return self._several(self.operation(f, operands, ANYTHING, named), t)
        if isinstance(t, Number) and complex in t.kinds and self._is_real(f, operands):
            kinds = Number(t.kinds - {complex} or frozenset({float}))
            return self.operation(real, (self.operation(f, operands, kinds, named),), kinds)
        made = self.operation(f, operands, t, named)
        if f in _OF_LENGTHS and any(x in self.dims for x in operands):
            self._note_length(f, operands, made)
        return made

    def _note_length(self, f: Any, operands: Sequence[Operand], made: Value) -> None:
        """Record of which length a sum, a difference or a product of lengths is the value."""
        found: Any
        lengths: list[Any] = [
            self.dims.get(x) if isinstance(x, Value) else getattr(x, "value", None)
            for x in operands
        ]
        if not all(isinstance(n, Symbol) or (type(n) is int and n >= 0) for n in lengths):
            return
        a, b = lengths
        if f is operator.add:
            found = total([a, b])
        elif f is operator.mul:
            found = product([a, b])
        elif b == 1 and isinstance(a, Symbol) and a.is_argument:
            found = less(a, 1)
        else:
            found = Derived(("minus", a, b))
        if not isinstance(found, int):
            self.dims[made] = settled(found, self.derived)

    def _several(self, made: Value, t: Several) -> Tuple:
        """Unpack the results of a function that returns a tuple."""
        self.several[made] = t.types
        values = tuple(self.value(one) for one in t.types)
        self.write(Unpack(values, made, None, self.span))
        return Tuple(values, t.kind)

    def opposite(self, x: Operand) -> Operand | None:
        """Return the operand that `x` is the negative of, unless either is written to."""
        found = self.negated.get(x) if type(x) is Value else None
        if found is None or not self.written:
            return found
        aliased = self.aliased_by(x) | self.aliased_by(found)
        return found if aliased.isdisjoint(self.written) else None

    def known_type(self, f: Any, operands: Sequence[Operand]) -> Type | None:
        """Return the type of an array that a function of each element makes, if the types of the
        operands have occurred before."""
        return self._known_types.get(self._key_of(f, operands))

    def _key_of(self, f: Any, operands: Sequence[Operand]) -> tuple[Any, ...] | None:
        """Return what decides the result type of a function of each element; ``None`` for operands
        that are no arrays, floats or integers."""
        key: list[Any] = [f]
        for x in operands:
            if type(x) is Value:
                t = self.types[x]
                if type(t) is Array:
                    key.append((t.dtype, t.shape))
                elif type(t) is Number and x not in self.dims:
                    key.append(t.kinds)
                else:
                    return None
            elif type(x) is Const and type(x.value) in (int, float):
                key.append((type(x.value), x.value))
            else:
                return None
        return tuple(key)

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

    def broadcast_together(
        self, operands: tuple[Operand, ...]
    ) -> tuple[tuple[Operand, ...], tuple[Dim, ...]]:
        """Return arrays that are known to fit, and the shape that they are broadcast to."""
        for _ in range(MOST_MISFITS):
            try:
                with self.demanding_sizes(operands):
                    try:
                        return operands, broadcast(*(self.array_type(x).shape for x in operands))  # type: ignore[return-value]
                    except Misfit as error:
                        raise UnknownSizes("broadcast_arrays", error.pair) from None
            except UnknownSizes as error:
                operands = self._fitted(operands, error)
        raise NotCovered("arrays of too many lengths that are not known to fit", self.span)

    @contextmanager
    def demanding_sizes(self, operands: Sequence[Operand]) -> Iterator[None]:
        """Turn `NotCovered` into `NeedsSize` if symbolic sizes may be why the types of operands do
        not determine a result."""
        try:
            yield
        except NotCovered as error:
            self._demand_sizes_for(error, operands)
            raise

    def _demand_sizes_for(self, error: NotCovered, operands: Sequence[Operand]) -> None:
        """Raise `NeedsSize` if symbolic sizes may be why the types of operands do not determine a
        result, which `error` says."""
        pair = getattr(error, "pair", None) or ()
        if any(map(self._depends_on_data, pair)):
            return
        self._demand_sizes(operands)
        if isinstance(error, UnknownSizes):
            self.demand_known(error.reason, *sizes_in(map(self.type_of, operands)))

    def _depends_on_data(self, dim: Dim) -> bool:
        """Return whether a length follows from more than the lengths of the arguments."""
        if isinstance(dim, int) or dim.is_argument:
            return False
        return not dim.key or any(
            isinstance(part, Value) or (isinstance(part, Symbol) and self._depends_on_data(part))
            for part in leaves_of(dim.key)
        )

    def _fitted(self, operands: tuple[Operand, ...], error: UnknownSizes) -> tuple[Operand, ...]:
        """Write the check that two lengths are equal; return the operands with one of them. Where
        they are not, the program leaves the call to the generic tier."""
        if error.pair is None:
            raise error
        first, second = error.pair
        kept, left = (second, first) if self._depends_on_data(first) else (first, second)
        for dim in error.pair:
            if isinstance(dim, Symbol) and dim.key[:1] == (UNIT,):
                kept, left = 1, dim
        if not self._depends_on_data(left):
            raise error
        found = tuple(self._with_length(x, left, kept, operands) for x in operands)
        if found == operands:
            raise error
        return found

    def _with_length(
        self, x: Operand, left: Dim, kept: Dim, operands: tuple[Operand, ...]
    ) -> Operand:
        """Write the check that each axis of `x` of length `left` has the length `kept`."""
        if isinstance(x, Value) and x in self.packs:
            return self._with_length_inside(x, left, kept, operands)
        t = self.type_at(x)
        if not isinstance(t, Array) or left not in t.shape:
            return x
        to = self.length_operand(kept, operands)
        lengths = tuple(to if n == left else Const(None) for n in t.shape)
        shape = tuple(kept if n == left else n for n in t.shape)
        return self.with_shape(x, t, lengths, shape)

    def _with_length_inside(
        self, x: Value, left: Dim, kept: Dim, operands: tuple[Operand, ...]
    ) -> Operand:
        """`_with_length` of each item of a list or a tuple."""
        items = self.packs[x]
        found = tuple(self._with_length(one, left, kept, (*operands, *items)) for one in items)
        if found == items:
            return x
        callee = self.built[x].callee
        assert isinstance(callee, Const)
        made = self.operation(callee.value, found, ANYTHING, name="parts")
        self.packs[made] = found
        self.note_alias(made, found)
        return made

    def with_shape(
        self, x: Operand, t: Array, lengths: Sequence[Operand], shape: tuple[Dim, ...]
    ) -> Value:
        """Write the check that `x` has the `lengths` (``None``: any); return it with the shape."""
        given: Operand = Const(tuple(n.value for n in lengths if isinstance(n, Const)))
        if not all(isinstance(n, Const) for n in lengths):
            given = self.operation(primitives.build_tuple, lengths, ANYTHING, name="shape")
        made = self.operation(
            fitting, (x, given), t.with_shape(shape), name=getattr(x, "name", "t")
        )
        self.note_alias(made, (x,))
        return made

    def length_operand(self, dim: Dim, operands: Sequence[Operand]) -> Operand:
        """Return a length as an operand: that of an axis of one of `operands`; ``None`` if no axis
        has it."""
        if isinstance(dim, int):
            return Const(dim)
        for x in operands:
            t = self.type_at(x)
            if isinstance(t, Array) and dim in t.shape:
                axis = Const(t.shape.index(dim))
                made = self.operation(length, (x, axis), number(int), name="n")
                self.dims[made] = dim
                return made
        return Const(None)

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
                    self.demand_known(_ONE_LENGTH, m, n)

    def demand_value(self, a: Abstract, reason: str) -> None:
        """Require that `a` is known; it may become so where integers from outside are known."""
        if not isinstance(a, Value):
            return
        pending: list[Any] = [a]
        while pending:
            x = pending.pop()
            if isinstance(x, Value) and self.outside.is_leaf(x) and has_integer(self.types[x]):
                raise NeedsKnown(x, reason, self.span)
            if isinstance(x, Value) and x in self.dims:
                self.demand_known(reason, self.dims[x])
            pending += self._calculated_from(x)
        raise NotCovered(reason, self.span)

    def _calculated_from(self, x: Operand) -> Sequence[Operand]:
        """Return the operands that a number, or an array of integers, is calculated from."""
        if not isinstance(x, Value):
            return ()
        if x in self.integers:
            return self.integers[x][1]
        if x in self.packs:
            return self.packs[x]
        op = self.defined.get(x)
        is_known = has_integer(self.types[x]) or is_float(self.types[x])
        return op.operands if isinstance(op, Call) and is_known else ()

    def demand_known(self, reason: str, *dims: Any) -> None:
        """Require known values for the integers from outside, and known lengths for the argument
        dimensions, that `dims` are derived from."""
        for dim in dims:
            for x in self._integers_of(dim):
                raise NeedsKnown(x, reason, self.span)
        for dim in dims:
            for symbol in self.arguments_of(dim):
                raise NeedsSize(symbol, reason, self.span)

    def _integers_of(self, dim: Dim) -> list[Value]:
        """Return the integers from outside that `dim` is derived from."""
        pending = [] if isinstance(dim, int) else [*values_in(dim.key)]
        found = []
        while pending:
            x = pending.pop()
            _, operands = self.integers.get(x, (None, ()))
            pending += [y for y in operands if isinstance(y, Value)]
            if self.outside.is_leaf(x):
                found.append(x)
        return found

    def _demand_constant_steps(self, args: Sequence[Abstract]) -> None:
        """Refuse a range whose start or step is an integer that carries a derivative."""
        wanted = {x.value for x in self.outside.leaves if self.outside.is_wanted(x.source)}
        pending = [x for x in (*args[:1], *args[2:]) if isinstance(x, Value)]
        while pending:
            x = pending.pop()
            if x in wanted:
                raise NotCovered("a range of values that are not known", self.span)
            pending += [y for y in self.integers.get(x, (None, ()))[1] if isinstance(y, Value)]

    def known_integer(self, x: Operand) -> int | None:
        """Return the value of an integer that follows from those that have to be known."""
        if isinstance(x, Const):
            return x.value if type(x.value) is int else None
        assert isinstance(x, Value)
        if x in self.outside.fixed:
            return self.outside.fixed[x]
        f, operands = self.integers.get(x, (None, ()))
        known = [self.known_integer(y) for y in operands]
        if f is None or None in known or (f is operator.floordiv and known[1] == 0):
            return None
        if f is operator.pow and not 0 <= known[1] < 64:  # type: ignore[operator]
            return None
        return f(*known)  # type: ignore[no-any-return]

    def arguments_of(self, dim: Dim) -> list[Symbol]:
        """Return the argument dimensions that `dim` is derived from."""
        if isinstance(dim, int):
            return []
        if dim.is_argument and not dim.key:
            return [dim]
        return [symbol for part in symbols_in(dim.key) for symbol in self.arguments_of(part)]
