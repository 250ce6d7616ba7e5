"""What the values of a program may be aliases of, and how views show their arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint.fast.evaluate.types import Array, Row, Type, number
from adjoint.fast.single_assignment.walk import result_of
from adjoint.fast.support.result_memory import MAY_SHOW, SHOWING
from adjoint.ir.single import Call, Const, Operand, Value

_INTEGER = number(int)


class Aliases:
    """The aliases among the values of a program.

    Attributes
    ----------
    types
        The type of each value of the program.
    indices
        By tuple or slice built as an index: its parts.
    aliases
        By value: the values that it may be an alias of.
    views
        By view of an array: the operation that shows the array, its first operand.
    shown
        Views that are written to, or read after a write to their array.
    rows_of
        By item of an iteration over an array: the array.
    counted
        Arrays whose rows an iteration writes to.
    listed
        Arrays that are put into lists of unknown length, or taken from them: two may be one.
    """

    def __init__(self, types: dict[Value, Type]) -> None:
        self.types = types
        self.indices: dict[Value, tuple[Operand, ...]] = {}
        self.aliases: dict[Value, set[Value]] = {}
        self.views: dict[Value, Call] = {}
        self.shown: set[Value] = set()
        self.rows_of: dict[Value, Value] = {}
        self.counted: set[Value] = set()
        self.listed: set[Value] = set()

    def note_alias(self, view: Value, owners: Iterable[Operand]) -> None:
        """Record that `view` may be an alias of the values `owners`. Lists are left out: arrays in
        them are not written to (`listed_arrays`)."""
        known = self.aliases.setdefault(view, set())
        known.update(
            x for x in owners if isinstance(x, Value) and not isinstance(self.types.get(x), Row)
        )

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

    def note_view(self, op: Call) -> None:
        """Record the result of an operation as an alias of its operands."""
        self.note_alias(result_of(op), op.operands)
        x = op.operands[0]
        if isinstance(x, Value) and isinstance(self.types[x], Array) and self._shows(op):
            self.views[result_of(op)] = op

    def _shows(self, op: Call) -> bool:
        """Return whether an operation shows the elements of its first operand."""
        assert isinstance(op.callee, Const)
        if op.callee.value is operator.getitem:
            index = op.operands[1]
            parts = self.indices.get(index, (index,)) if isinstance(index, Value) else (index,)
            return all(map(self._is_basic, parts))
        return op.callee.value in SHOWING or op.callee.value in MAY_SHOW

    def _is_basic(self, key: Operand) -> bool:
        """Return whether a part of an index is none of an array or a list of places."""
        if isinstance(key, Value):
            return key in self.indices or self.types[key] == _INTEGER
        value = getattr(key, "value", object)
        parts = value if isinstance(value, tuple) else (value,)
        return all(x is None or x is Ellipsis or type(x) in (int, slice) for x in parts)

    def owners(self, x: Value) -> list[Value]:
        """Return an array, and what it is a view of, up to the array that owns the memory."""
        found = [x]
        while (op := self.views.get(found[-1])) is not None:
            found.append(op.operands[0])  # type: ignore[arg-type]
        return found
