"""The values of a program of all rows, by the values of the program of one row."""

from __future__ import annotations

import operator
from typing import TypeAlias

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Dim, Number, Type, type_of
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import results, walk
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, Operand, Value

_DTYPES = {float: np.float64, complex: np.complex128, bool: np.bool_}

Part: TypeAlias = "bool | Value | tuple[Part, ...]"
"""Whether a part of the items of an iterable differs between rows; a tape stands for tapes like it,
a tuple for items with parts."""

MOST_ELEMENTS = 2**20
"""Greatest number of elements of an intermediate result of many rows at once."""


def note_rows(ev: Evaluator, block: Block) -> None:
    """Note how many rows leave intermediate results of moderate size, by those of one row."""
    types = [ev.types.get(x) for op in walk(block) for x in results(op)]
    most = max((ev.size_of(t) for t in types if isinstance(t, Array)), default=1)
    ev.most_rows = min(ev.most_rows or MOST_ELEMENTS, max(1, MOST_ELEMENTS // most))


class BatchValues:
    """The values of one program for all rows.

    Parameters
    ----------
    length, count
        The number of rows: as a dimension, and as an operand.

    Attributes
    ----------
    rows
        By value that differs between rows: the value of all rows.
    built
        By tuple, list or slice that the program builds: the operation.
    has_writes
        Whether the program writes to arrays: what it has read before does not follow.
    columns
        By iterable, and by item of one: which parts of its items differ between rows.
    """

    count: Operand
    ev: Evaluator
    length: Dim

    def __init__(self, ev: Evaluator, length: Dim, count: Operand) -> None:
        self.ev, self.length, self.count = ev, length, count
        self.rows: dict[Value, Value] = {}
        self.columns: dict[Operand, tuple[Part, ...]] = {}
        self.built: dict[Value, Call] = {}
        self.has_writes = False

    # ---- values ----------------------------------------------------------------------------------

    def differs(self, x: Operand) -> bool:
        """Return whether an operand, or a part of it, differs between rows."""
        if type(x) is not Value:
            return False
        if x in self.rows:
            return True
        made = self.built.get(x)
        return made is not None and any(map(self.differs, made.operands))

    def full(self, x: Operand) -> Value:
        """Return the value of all rows, where needed as copies of the one value."""
        if isinstance(x, Value):
            if x in self.rows:
                return self.rows[x]
            t: Type | None = self.ev.types[x]
        else:
            t = type_of(x.value) if isinstance(x, Const) else None
        if t is None:
            raise NotCovered("a value that is missing in some rows", self.ev.span)
        return self.ev.operation(
            runtime.repeated, (x, self.count, Const(0)), self.type_of_rows(t), name="t"
        )

    def full_for(self, x: Operand, y: Value) -> Operand:
        """Return the value of all rows of `x`, one of the values that `y` may have; ``None`` stays.

        Raises
        ------
        NotCovered
            It is of another dtype: an integer beside numbers of less precision, or integers that
            wrap around.
        """
        if x == Const(None):
            return x
        foreseen = self.type_of_rows(self.ev.types[y])
        if isinstance(x, Const) and type(x.value) is int and foreseen.dtype == np.float64:
            x = Const(float(x.value))
        found = self.full(x)
        if self.ev.types[found] != foreseen:
            raise NotCovered("numbers of several dtypes in a row", self.ev.span)
        return found

    def type_of_rows(self, t: Type) -> Array:
        """Return the type of all rows of a value of type `t`."""
        if isinstance(t, Array):
            return Array(t.dtype, (self.length, *t.shape))
        if isinstance(t, Number):
            kinds = t.kinds if t.kinds == {int} else t.kinds - {int}
            dtypes = {np.dtype(_DTYPES.get(kind, kind)) for kind in kinds}
            if len(dtypes) == 1:
                return Array(dtypes.pop(), (self.length,))
        raise NotCovered("a structure that differs between rows", self.ev.span)

    def rank(self, x: Operand) -> int:
        """Return the number of axes of an operand in one row."""
        t = self.ev.types[x] if isinstance(x, Value) else None
        return len(t.shape) if isinstance(t, Array) else 0

    def aligned(self, x: Operand, rank: int) -> Operand:
        """Return an operand for all rows that NumPy broadcasts with results of `rank` axes."""
        if not isinstance(x, Value) or x not in self.rows:
            return x
        missing = rank - self.rank(x)
        all_rows = self.rows[x]
        if missing <= 0:
            return all_rows
        index = (slice(None), *(None,) * missing)
        t = self.ev.array_type(all_rows)
        shape = (self.length, *(1,) * missing, *t.shape[1:])
        return self.ev.operation(
            operator.getitem, (all_rows, Const(index)), Array(t.dtype, shape), name="t"
        )

    def bind(self, y: Value, found: Value) -> None:
        """Record the value of all rows of `y`."""
        ev, foreseen = self.ev, self.type_of_rows(self.ev.types[y])
        t = ev.types[found]
        if not isinstance(t, Array) or t != foreseen:
            raise NotCovered(f"rows of {ev.types[y]} as {t}", ev.span)
        if y in ev.written:
            ev.written.add(found)
        self.rows[y] = found

    def new(self, x: Value) -> Value:
        made = self.rows[x] = self.ev.value(self.type_of_rows(self.ev.types[x]), name=x.name)
        return made

    def turned(self, x: Operand) -> Value:
        """Return all rows of an array, with the rows along the second axis."""
        assert isinstance(x, Value)
        t = self.ev.array_type(self.rows[x])
        shape = (t.shape[1], t.shape[0], *t.shape[2:])
        operands = (self.rows[x], Const(0), Const(1))
        return self.ev.operation(np.swapaxes, operands, Array(t.dtype, shape), name=x.name)
