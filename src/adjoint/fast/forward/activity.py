"""Activity in forward mode: the values of a program that carry a tangent.

The residuals of a loop are on a tape, in a fixed number of items per iteration. So activity is
known for each place among these items, and the reverse loop that reads the tape takes it from
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, is_inexact
from adjoint.fast.forward.constant_functions import carriers
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.differentiate import is_rounded
from adjoint.fast.single_assignment.walk import Carried, callee_of, carried_values
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir.node import node
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Unpack, Value

EFFECTS = runtime.WRITES | runtime.BUFFER_WRITES | rows.EFFECTS
"""Functions that write to their first operand."""


@node
class Column:
    """A value that each iteration of a loop takes from `source`.

    Attributes
    ----------
    tape, place
        The tape whose items `source` yields, last item first, and the place of `value` among the
        items of an iteration; ``None`` if `source` is no tape.
    """

    value: Value
    source: Value
    tape: Value | None = None
    place: int = 0


class Activity:
    """The values of a program that carry a tangent.

    Attributes
    ----------
    active
        These values.
    tapes
        By tape: for each of the items that an iteration pushes, whether it carries a tangent.
    may_change
        Whether a write may make a value active that an operation before it has read.
    """

    def __init__(self, ev: Evaluator, wanted: Iterable[Value]) -> None:
        self.ev = ev
        self.active: set[Value] = set(wanted)
        self.tapes: dict[Value, list[bool]] = {}
        self.may_change = False
        self._constants: dict[Any, bool] = {}
        self._made: dict[Value, Call] = {}
        self._pushed: dict[Value, Sequence[Operand]] = {}
        self._stands_for: dict[Value, Value] = {}

    def find_all(self, block: Block) -> None:
        """Add dependent values until nothing changes: a write may make a value active that was read
        before."""
        self._find(block)
        before: Any = None
        while self.may_change and before != (before := self._count()):
            self._find(block)

    def _count(self) -> tuple[int, ...]:
        return len(self.active), sum(map(sum, self.tapes.values())), len(self._stands_for)

    def is_active(self, x: Operand) -> bool:
        """Return whether an operand carries a tangent."""
        return type(x) is Value and x in self.active

    def tape_of(self, x: Operand) -> Value | None:
        """Return the tape that a value is or stands for; ``None`` for other values."""
        while isinstance(x, Value) and x in self._stands_for:
            x = self._stands_for[x]
        return x if isinstance(x, Value) and x in self.tapes else None

    def is_active_tape(self, x: Operand) -> bool:
        """Return whether a value is a tape with items that carry tangents."""
        tape = self.tape_of(x)
        return tape is not None and any(self.tapes[tape])

    # ---- operations ------------------------------------------------------------------------------

    def _find(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case Call():
                    self._call(op)
                case Unpack():
                    if self.is_active(op.value):
                        self.active.update(x for x in op.results if self._may_be_unpacked(op, x))
                case If():
                    for inner in (op.body, op.orelse):
                        self._find(inner)
                        for result, x in zip(op.results, inner.results or (), strict=False):
                            self._bind(result, x)
                case Loop():
                    self._loop(op)

    def _bind(self, result: Value, x: Operand) -> None:
        """Record that `result` may be `x`."""
        if self.is_active(x):
            self._mark(result)
        tape = self.tape_of(x)
        if tape is not None and result != x:
            self._stands_for[result] = tape

    def _may_be_unpacked(self, op: Unpack, x: Value) -> bool:
        """Return whether a part of what carries tangents may carry one."""
        return op.value not in self.ev.several or is_inexact(self.ev.types[x])

    def _mark(self, x: Operand) -> None:
        if isinstance(x, Value) and self._may_carry(x):
            self.active.add(x)

    def _may_carry(self, x: Value) -> bool:
        t = self.ev.types[x]
        return not (isinstance(t, Number) and t.kinds <= {bool, np.bool_}) and not (
            type(t) is Array and t.dtype.kind == "b"
        )

    def _call(self, op: Call) -> None:
        f = op.callee.value if isinstance(op.callee, Const) else None
        if op.result is not None:
            self._made[op.result] = op
        if f is runtime.new_tape:
            assert op.result is not None
            self.tapes.setdefault(op.result, [])
        elif f is runtime.push:
            self._push(op)
        elif f in EFFECTS and self._reads_active(op.operands[1:]):
            self.may_change = True
            for x in self.ev.owners(op.operands[0]):  # type: ignore[arg-type]
                self._mark(x)
        if op.result is not None and (op.keywords or self._reads_active(op.operands)):
            if self._reads_active(self.carriers(op)) and not self.is_rounded(op):
                self._mark(op.result)

    def carriers(self, op: Call) -> Sequence[Operand]:
        """Return the operands whose tangents the result of a call depends on."""
        return carriers(op, self._constants)

    def _reads_active(self, operands: Iterable[Operand]) -> bool:
        """Return whether one of the operands carries a tangent."""
        for x in operands:  # faster than `any`
            if type(x) is Value and x in self.active:
                return True
        return False

    def is_rounded(self, op: Call) -> bool:
        """Return whether the operands of a call that carry tangents are rounded to integers."""
        return is_rounded(self.ev, op, self.active, self._made)

    def _push(self, op: Call) -> None:
        tape, *items = op.operands
        assert isinstance(tape, Value)
        known = self.tapes[tape] = self.tapes[tape] or [False] * len(items)
        if len(known) != len(items):
            raise NotCovered("a tape with iterations of several kinds")
        self._pushed[tape] = items
        for i, x in enumerate(items):
            known[i] |= self.is_active(x) or self.is_active_tape(x)

    def _loop(self, op: Loop) -> None:
        for column in self.columns(op):
            if column.tape is None:
                if self.is_active(column.source):
                    self._mark(column.value)
            elif self.tapes[column.tape]:
                self._bind(column.value, self._pushed[column.tape][column.place])
        carried = carried_values(op)
        self._bind_carried(carried)
        is_settled = False
        while not is_settled:
            before = self._count()
            if op.test is not None:
                self._find(op.test)
            self._find(op.body)
            if not self.may_change:  # only the carried values may ask for another pass
                before = self._count()
            self._bind_carried(carried)
            is_settled = before == self._count()

    def _bind_carried(self, carried: Carried) -> None:
        for values, made_of in carried:
            for value in values:
                for x in made_of:
                    self._bind(value, x)

    # ---- loops -----------------------------------------------------------------------------------

    def columns(self, op: Loop) -> list[Column]:
        """Return the values that each iteration takes from something that carries tangents.

        Raises
        ------
        NotCovered
            The loop iterates over active values in another way.
        """
        if not isinstance(op.iterable, Value):
            return []
        item, made = op.body.parameters[0], self._made.get(op.iterable)
        f = made.callee.value if made is not None and isinstance(made.callee, Const) else None
        values: Sequence[Value] = (item,)
        sources: Sequence[Operand] = (op.iterable,)
        if made is not None and f in (zip, enumerate) and self._yields_active(op.iterable):
            first: Op | None = op.body.ops[0] if op.body.ops else None
            if not isinstance(first, Unpack) or first.value != item or first.starred is not None:
                raise NotCovered("a loop over pairs that are kept", op.span)
            values = first.results if f is zip else first.results[1:]
            sources = made.operands[: len(values)]
        seen: Counter[Operand] = Counter()
        found: list[Column] = []
        for value, source in zip(values, sources, strict=True):
            if not isinstance(source, Value) or not self._yields_active(source):
                continue
            tape = self._tape_read_by(source)
            if tape is None and not self.is_active(source):
                raise NotCovered("a loop over several arrays in a nested way", op.span)
            place = len(self.tapes[tape]) - 1 - seen[source] if tape is not None else 0
            seen[source] += 1
            found.append(Column(value, source, tape, place))
        return found

    def _tape_read_by(self, source: Value) -> Value | None:
        made = self._made.get(source)
        if made is None or callee_of(made) is not reversed:
            return None
        return self.tape_of(made.operands[0])

    def tape_operand(self, source: Value) -> Operand:
        """Return the operand of the call of `reversed` that made `source`."""
        return self._made[source].operands[0]

    def parts_of(self, x: Operand) -> tuple[Operand, ...] | None:
        """Return the items of a list or a tuple that the program builds; ``None`` for others.

        The passes have replaced values since the evaluator noted them.
        """
        made = self._made.get(x) if isinstance(x, Value) else None
        return made.operands if made is not None and callee_of(made) in _BUILDING else None

    def is_zip(self, iterable: Operand) -> Call | None:
        """Return the call of `zip` that made an iterable; ``None`` for others."""
        made = self._made.get(iterable) if isinstance(iterable, Value) else None
        return made if made is not None and callee_of(made) is zip else None

    def _yields_active(self, x: Operand) -> bool:
        """Return whether iteration over an operand gives values that carry tangents, or tapes."""
        if not isinstance(x, Value):
            return False
        if x in self.active or self._tape_read_by(x) is not None:
            return True
        made = self._made.get(x)
        if made is None or callee_of(made) not in _ITERATING:
            return False
        return any(map(self._yields_active, made.operands))


_BUILDING = (primitives.build_list, primitives.build_tuple)
_ITERATING = (zip, enumerate, reversed)
