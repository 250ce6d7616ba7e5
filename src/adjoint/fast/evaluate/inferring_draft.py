"""A program under construction whose operations get their types by inference."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint.fast.evaluate.draft import Draft
from adjoint.fast.evaluate.result_types.elementwise import POWERS
from adjoint.fast.evaluate.result_types.inference import result_type, sizes_in
from adjoint.fast.evaluate.result_types.lengths import symbols_in, values_in
from adjoint.fast.evaluate.result_types.of_numbers import known_of_numbers
from adjoint.fast.evaluate.result_types.ones import kind_of_constant
from adjoint.fast.evaluate.result_types.options import is_elementwise, with_known_options
from adjoint.fast.evaluate.types import FLOAT, Array, Dim, Number, Symbol, has_complex, is_float
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NeedsKnown, NeedsSize, NotCovered, UnknownSizes
from adjoint.fast.support.functions import real
from adjoint.ir.single import Const, Operand, Value

_ZEROS = (Const(0), Const(0.0))
_ONE_LENGTH = "arrays of one length, which is known of one"


class InferringDraft(Draft):
    """A `Draft` that finds the result types of operations, and the lengths that these demand."""

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
        """Require known values for the integers from outside, and known lengths for the argument
        dimensions, that `dims` are derived from."""
        for dim in dims:
            for x in self._integers_of(dim):
                raise NeedsKnown(x, reason, self.span)
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
        return f(*known)  # type: ignore[no-any-return]

    def _arguments_of(self, dim: Dim) -> list[Symbol]:
        """Return the argument dimensions that `dim` is derived from."""
        if isinstance(dim, int):
            return []
        if dim.is_argument:
            return [dim]
        return [symbol for part in symbols_in(dim.key) for symbol in self._arguments_of(part)]
