"""Cotangents in one block of the reverse sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Number,
    Row,
    bar_type,
    is_complex,
    may_overflow,
)
from adjoint.fast.evaluate.writes.views import demand_view
from adjoint.fast.reverse.arithmetic import sum_of
from adjoint.fast.reverse.cotangent_types import are_floats, cast_to, plain, whole
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.walk import is_call_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.single import Call, Const, Operand, Value

_WHOLE = (int, np.integer, np.bool_)


class Scope:
    """The cotangents in one block of the reverse sweep.

    Attributes
    ----------
    bars
        Cotangents by value.
    buffers
        Values whose cotangent is an array or a list that the program owns and adds to in place.
    views
        By view: the block that makes the same view of a buffer, and this view.
    """

    parent: Scope | None
    sweep: Sweep

    def __init__(self, sweep: Sweep, parent: Scope | None = None) -> None:
        self.sweep, self.parent = sweep, parent
        self.ev: Evaluator = sweep.ev
        self.bars: dict[Value, Operand] = {}
        self.buffers: set[Value] = set()
        self.views: dict[Value, tuple[list[ir.Op], Value]] = {}
        self.inner: set[Value] = set()
        self.kind = "top"
        self.accumulators: dict[Value, Value] = {}
        self.block: list[ir.Op] = self.ev.block

    @property
    def is_repeated(self) -> bool:
        """Whether the block is part of an iteration."""
        if self.kind == "loop":
            return True
        return self.parent is not None and self.parent.is_repeated

    def take(self, v: Value) -> Operand | None:
        """Remove and return the complete cotangent of a value."""
        return self.bars.pop(v, None)

    def take_all(self, v: Value) -> Operand:
        """Remove and return the complete cotangent of a value; zeros if there is none."""
        bar = self.take(v)
        return self.zeros(v) if bar is None else bar

    def _is_inner(self, v: Value) -> bool:
        return self.parent is None or v in self.inner

    def add(self, v: Operand, contribution: Operand | None) -> None:
        """Accumulate a contribution to the cotangent of `v`."""
        if contribution is None or not isinstance(v, Value) or v not in self.sweep.active:
            return
        contribution = self.sweep.contents.contribution_at_step(contribution)
        if not are_floats(self.ev, v, contribution):
            contribution = self._inexact(plain(self.ev, contribution, v), v)
        if v in self.ev.shown:
            self.ev.write(Call(None, Const(runtime.add_to), (self.shown(v), contribution)))
            return
        if not self._is_inner(v):
            self._begin(v)
        if isinstance(contribution, Value):
            self.sweep.contributions[contribution] += 1
        known = self.bars.get(v)
        if known is None:
            self.bars[v] = contribution
        elif v in self._all_buffers():
            self.ev.write(Call(None, Const(runtime.add_to), (known, contribution)))
        elif self._is_own(v, known, contribution):
            self._add_in_place(known, contribution)
        else:
            self.bars[v] = self.sum(v, known, contribution)

    def add_present(self, v: Operand, bar: Operand) -> None:
        """Accumulate a contribution whose class is known at run time only."""
        if isinstance(v, Value) and v in self.sweep.active and v not in self.ev.packs:
            t = bar_type(self.ev.types[v])
            bar = self.ev.operation(runtime.present, (bar, v), t, name=f"{v.name}_bar")
        self.add(v, bar)

    def _is_own(self, v: Value, known: Operand, contribution: Operand) -> bool:
        """Return whether a cotangent is a large array used once, which may be added to in place."""
        ev = self.ev
        if not isinstance(known, Value) or known not in ev.fresh or known in self.sweep.primal:
            return False
        t = bar_type(ev.types[v])
        if self.sweep.contributions[known] != 1 or ev.types[known] != t or not ev.is_large(known):
            return False
        found = ev.types[contribution] if isinstance(contribution, Value) else None
        if not isinstance(found, Array):
            return isinstance(contribution, Const) or isinstance(found, Number)
        assert isinstance(t, Array)
        pairs = zip(found.shape[::-1], t.shape[::-1], strict=False)
        return found.dtype == t.dtype and all(m in (1, n) for m, n in pairs)

    def _add_in_place(self, known: Operand, contribution: Operand) -> None:
        assert isinstance(known, Value)
        ev = self.ev
        ev.written.add(known)
        f: Any = runtime.add_to
        opposite = ev.opposite(contribution)
        if opposite is not None:
            f, contribution = runtime.subtract_from, opposite
        ev.write(Call(None, Const(f), (known, contribution)))

    def _inexact(self, contribution: Operand, v: Value) -> Operand:
        """Convert an integer contribution to a float, since integers may overflow."""
        if isinstance(contribution, Const) and type(contribution.value) in (int, bool):
            return Const(float(contribution.value))  # type: ignore[arg-type]
        t = self.ev.types.get(contribution) if isinstance(contribution, Value) else None
        if isinstance(t, Number) and any(issubclass(kind, _WHOLE) for kind in t.kinds):
            return self.ev.operation(float, (contribution,), bar_type(t), name="t")
        if isinstance(t, Array) and may_overflow(t):
            dtype = getattr(bar_type(self.ev.types[v]), "dtype", np.dtype(np.float64))
            return cast_to(self.ev, contribution, Array(dtype, t.shape))
        return contribution

    def sum(self, v: Value, a: Operand, b: Operand) -> Operand:
        """Write the sum of two cotangents of `v`."""
        parts = [self.ev.packs.get(x) for x in (a, b) if isinstance(x, Value)]
        if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
            return self._sum_of_lists(v, parts[0], parts[1])
        return sum_of(self.ev, a, b, f"{v.name}_bar")

    def _sum_of_lists(self, v: Value, a: Sequence[Operand], b: Sequence[Operand]) -> Operand:
        """Write the sum of two cotangents of a list, item by item."""
        items = tuple(self.sum(v, x, y) for x, y in zip(a, b, strict=True))
        made = self.ev.operation(primitives.build_list, items, ANYTHING, name=f"{v.name}_bar")
        self.ev.packs[made] = items
        self.ev.note_alias(made, items)
        return made

    def _all_buffers(self) -> set[Value]:
        return self.buffers if self.parent is None else self.buffers | self.parent._all_buffers()

    def _begin(self, v: Value) -> None:
        """Prepare the first contribution to a value of an outer block."""
        assert self.parent is not None
        if v in self.bars:
            return
        if isinstance(self.ev.types[v], Array | Row):
            if self.kind == "loop" or self.parent.has_buffer(v):
                self.bars[v] = self.parent.buffer(v)
        elif self.kind == "loop":
            parameter = self.ev.value(bar_type(self.ev.types[v]), name=f"{v.name}_bar")
            self.accumulators[v] = parameter
            self.bars[v] = parameter

    def has_buffer(self, v: Value) -> bool:
        if v in self.buffers:
            return True
        if self._is_inner(v) or not isinstance(self.ev.types[v], Array | Row):
            return False
        assert self.parent is not None
        return self.kind == "loop" or self.parent.has_buffer(v)

    def has_any(self, v: Value) -> bool:
        """Return whether `v` has a cotangent in this block or an outer one."""
        if v in self.bars or v in self.buffers:
            return True
        return self.parent is not None and self.parent.has_any(v)

    def may_get(self, v: Value) -> bool:
        """Return whether `v` may have a cotangent at run time although none is known yet: in a
        loop, operations still to be reversed may have contributed in a later iteration."""
        if self._is_inner(v):
            return False
        assert self.parent is not None
        return self.kind == "loop" or self.parent.may_get(v)

    def buffer(self, v: Value) -> Operand:
        """Return a buffer for the cotangent of `v`: an array or a list, added to in place."""
        if v in self.buffers:
            return self.bars[v]
        if v in self.ev.shown:
            return self.shown(v)
        if not self._is_inner(v):
            assert self.parent is not None
            before = self.bars.get(v)
            self.bars[v] = made = self.parent.buffer(v)
            if before is not None and before != made:  # contributions by value so far
                self.block.append(Call(None, Const(runtime.add_to), (made, before)))
            return made
        known = self.bars.get(v)
        t = bar_type(self.ev.types[v])
        name = f"{v.name}_bar"
        outer, self.ev.block = self.ev.block, self.block
        if known is None:
            made = self.zeros(v)
        else:
            made = whole(self.ev, known, v)
            if made is known or not is_call_of(self.block[-1], runtime.broadcast_like):
                made = self.ev.operation(runtime.own, (made,), t, name=name)
        self.ev.block = outer
        self.ev.written.add(made)  # type: ignore[arg-type]
        self.bars[v] = made
        self.buffers.add(v)
        return made

    def shown(self, v: Value) -> Operand:
        """Return the buffer for the cotangent of an array; for a view, the same view of the buffer
        of its array."""
        ev, op = self.ev, self.ev.views.get(v)
        if op is None:
            return self.buffer(v)
        block, bar = self.views.get(v, (None, None))
        if bar is not None and block is ev.block:
            return bar
        x, *rest = op.operands
        assert isinstance(x, Value) and isinstance(op.callee, Const)
        operands, t = (self.shown(x), *rest), bar_type(ev.types[v])
        bar = ev.operation(op.callee.value, operands, t, op.keywords, name=f"{v.name}_bar")
        ev.written.add(bar)
        demand_view(ev, bar)
        self.views[v] = ev.block, bar
        return bar

    def zeros(self, v: Value) -> Operand:
        t = self.ev.types[v]
        if isinstance(t, Row):
            make: Any = rows.complex_zeros_of if is_complex(t.item) else rows.zeros_of
            make = rows.array_zeros_of if isinstance(t.item, Array) else make
            return self.ev.operation(make, (v,), bar_type(t), name=f"{v.name}_bar")
        if isinstance(t, Array):
            return self.ev.operation(runtime.zeros_like, (v,), bar_type(t), name=f"{v.name}_bar")
        return Const(0j if is_complex(t) else 0.0)
