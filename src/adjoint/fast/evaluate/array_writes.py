"""Writes to arrays.

The program writes in place, like the function: to arrays that it made in memory of their own, and
to arrays from outside, whose incoming contents the entry code keeps (`support.outside_writes`). No
alias of one is read after a write. `reverse.contents` copies contents that the reverse sweep reads
and that are overwritten later.
"""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.new_arrays import new_arrays
from adjoint.fast.evaluate.indices import index_operand, indexed_shape, keys_of
from adjoint.fast.evaluate.types import Array, Number, Row, has_complex
from adjoint.fast.evaluate.values import Abstract, Known, SliceOf
from adjoint.fast.evaluate.writes.carried_arrays import slots_apart
from adjoint.fast.not_covered import CarriedWrite, NotCovered
from adjoint.fast.single_assignment.walk import blocks, carried_values, operands, results, walk
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Unpack, Value


def _demand_own(ev: Evaluator, a: Value, value: Any) -> Array:
    t = ev.types[a]
    if not isinstance(t, Array) or t.dtype.kind not in "fc":
        raise NotCovered(f"a write to {t}", ev.span)
    if a not in ev.fresh and not _may_write(ev, a):
        reason = "a write to an array that the function is not known to have made"
        raise CarriedWrite(a, reason, ev.span)
    of_value = ev.types[value] if isinstance(value, Value) else None
    if isinstance(of_value, Array) and of_value.dtype != t.dtype:
        raise NotCovered("a write of another dtype", ev.span)
    is_complex = isinstance(value, Const) and isinstance(value.value, complex)
    if t.dtype.kind == "f" and (is_complex or has_complex(of_value)):
        raise NotCovered("a write of a complex number to a real array", ev.span)
    ev.written.add(a)
    return t


def _may_write(ev: Evaluator, a: Value) -> bool:
    """Return whether an array is one from outside that the program may write to."""
    leaf = next((leaf for leaf in ev.outside.leaves if leaf.value is a), None)
    return leaf is not None and ev.outside.may_write(leaf.source, True)


def _given(ev: Evaluator, a: Value, value: Abstract) -> Operand:
    """Return the operand to write to `a`; copy an alias of `a`, as NumPy does."""
    given = ev.operand(*new_arrays(ev, (value,)))
    t = ev.types[given] if isinstance(given, Value) else None
    if isinstance(t, Array) and a in ev.aliased_by(given):
        return ev.operation(np.copy, (given,), t)
    return given


def put(ev: Evaluator, a: Value, index: Abstract, value: Abstract) -> None:
    given = _given(ev, a, value)
    t = _demand_own(ev, a, given)
    keys = keys_of(index)
    if isinstance(value, Value) and a in ev.aliased_by(value):
        _demand_same_order(ev, a, index, value)
    shape = indexed_shape(ev, t, keys)
    if any(isinstance(key, Value) and isinstance(ev.types[key], Array) for key in keys):
        raise NotCovered("a write by an index that is an array", ev.span)
    of_value = ev.types[given] if isinstance(given, Value) else None
    f: Any = runtime.put
    if isinstance(of_value, Array) and of_value.shape != shape:
        ev.demand_broadcast(of_value.shape, shape)
        f = runtime.put_broadcast
    if of_value is None and not isinstance(given, Const):
        raise NotCovered("a write of something else than a number or an array", ev.span)
    ev.write(Call(None, Const(f), (a, index_operand(ev, index), given), (), ev.span))


def _demand_same_order(ev: Evaluator, a: Value, index: Abstract, value: Value) -> None:
    """Refuse the write of a vector of `a` to another one with other strides: NumPy copies one
    element after the other, and may read what it has just written."""
    t = ev.array_type(a)
    if len(indexed_shape(ev, t, keys_of(index))) != 1:
        return
    owner, at = ev.parts_of.get(value, (None, index))
    stride = _stride(t, keys_of(index))
    if owner is not a or stride is None or stride != _stride(t, keys_of(at)):
        raise NotCovered("a write whose value may overlap its place in another order", ev.span)


def _stride(t: Array, keys: tuple[Abstract, ...]) -> tuple[int, int] | None:
    """Return axis and step of an index that selects a vector; ``None`` if they are not known."""
    found: list[tuple[int, Any]] = []
    for axis in range(len(t.shape)):
        key = keys[axis] if axis < len(keys) else Known(slice(None))
        ends = key.value if isinstance(key, Known) else key
        if isinstance(ends, slice | SliceOf):
            step = ends.step.value if isinstance(ends.step, Known) else ends.step
            found.append((axis, 1 if step is None else step))
    return found[0] if len(found) == 1 and type(found[0][1]) is int else None


_UPDATES = {
    operator.add: runtime.add_to,
    operator.sub: runtime.subtract_from,
    operator.mul: runtime.scale,
    operator.truediv: runtime.divide,
}


def is_alias_of_part(ev: Evaluator, a: Value, index: Abstract, value: Abstract) -> bool:
    """Return whether `value` is an alias of ``a[index]``, as at the end of ``a[index] += ...``."""
    if not isinstance(value, Value) or value not in ev.parts_of:
        return False
    owner, at = ev.parts_of[value]
    if owner is not a:
        return False
    if at is index:
        return True
    if not isinstance(at, Known) or not isinstance(index, Known):
        return False
    return type(at.value) is type(index.value) and bool(at.value == index.value)


def update(ev: Evaluator, f: Any, a: Value, value: Abstract) -> Abstract:
    """Write an augmented assignment ``a += value``; return `a`."""
    if a in ev.parts_of and f in _UPDATES:
        owner, index = ev.parts_of[a]
        put(ev, owner, index, ev.call(Known(f), [a, value], {}))
        return a
    given = _given(ev, a, value)
    t = _demand_own(ev, a, given)
    if f not in _UPDATES:
        raise NotCovered("an augmented assignment of another kind", ev.span)
    of_value = ev.types[given] if isinstance(given, Value) else None
    if isinstance(of_value, Array):
        ev.demand_broadcast(of_value.shape, t.shape)
    elif isinstance(of_value, Number) and t.dtype.char not in "dD":
        if not of_value.kinds <= {float, int, complex}:
            raise NotCovered("an augmented assignment of another dtype", ev.span)
    ev.write(Call(None, Const(_UPDATES[f]), (a, given), (), ev.span))
    return a


# ---- views ---------------------------------------------------------------------------------------


def note_block_aliases(ev: Evaluator, block: Block) -> None:
    """Record results of branches and loops, and loop parameters, as aliases of their operands."""
    for op in walk(block):
        if isinstance(op, If):
            for inner in (op.body, op.orelse):
                for result, x in zip(op.results, inner.results or (), strict=False):
                    _note_result_alias(ev, result, x)
        elif isinstance(op, Loop):
            apart = slots_apart(ev, block, op)
            for i, (values, made_of) in enumerate(carried_values(op)):
                if i in apart:
                    continue
                for result, x in product(values, made_of):
                    _note_result_alias(ev, result, x)
            if op.iterable is not None:
                _note_result_alias(ev, op.body.parameters[0], op.iterable)
        elif isinstance(op, Unpack):
            for result in op.results:
                _note_result_alias(ev, result, op.value)
        elif isinstance(op, Call) and op.callee in _ITERATING and op.result is not None:
            ev.note_alias(op.result, op.operands)


_ITERATING = tuple(map(Const, (zip, enumerate, reversed)))


def _note_result_alias(ev: Evaluator, result: Value, x: Operand) -> None:
    if not isinstance(ev.types[result], Number | Row):
        ev.note_alias(result, (x,))


def check_views(ev: Evaluator, block: Block) -> None:
    """Raise `NotCovered` if an alias is read after a write to its array: its cotangent would come
    too late."""
    if ev.written:
        _Viewer(ev).block(block)


class _Viewer:
    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.writes: dict[Value, int] = {}
        self.seen: dict[Value, dict[Value, int]] = {}

    def block(self, block: Block) -> None:
        for parameter in block.parameters:
            self.define(parameter)
        for op in block.ops:
            for x in operands(op):
                self.read(x)
            if isinstance(op, Call) and isinstance(op.callee, Const):
                if op.callee.value in runtime.WRITES | runtime.BUFFER_WRITES:
                    target = op.operands[0]
                    assert isinstance(target, Value)
                    self.writes[target] = self.writes.get(target, 0) + 1
            for _ in range(2 if isinstance(op, Loop) else 1):  # reads in the next iteration
                for inner in blocks(op):
                    self.block(inner)
                if isinstance(op, Loop) and op.iterable is not None:
                    self.read(op.iterable)  # by the next iteration
            for result in results(op):
                self.define(result)
        for x in block.results or ():
            self.read(x)

    def define(self, x: Value) -> None:
        if x in self.ev.aliases:
            owners = self.ev.aliased_by(x) & self.ev.written
            self.seen[x] = {owner: self.writes.get(owner, 0) for owner in owners if owner is not x}

    def read(self, x: Operand) -> None:
        if isinstance(x, Value) and x in self.seen:
            if any(self.writes.get(owner, 0) != n for owner, n in self.seen[x].items()):
                raise NotCovered("a view that is read after a write to what it looks at")
