"""The Jacobian of an inner function: one sweep for all unit vectors at once."""

from __future__ import annotations

import numpy as np

from adjoint.fast.batch.arrays import evaluated
from adjoint.fast.batch.sweep import BatchSweep
from adjoint.fast.evaluate.composites import expanded
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, number
from adjoint.fast.evaluate.values import Abstract
from adjoint.fast.forward.sweep import ForwardSweep
from adjoint.fast.nested.all_rows import moved
from adjoint.fast.nested.gradient_calls import finite
from adjoint.fast.nested.inner_derivatives import Inner
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.cotangent_types import abstract_of
from adjoint.fast.reverse.forward_sweep import both_sweeps
from adjoint.fast.reverse.result import finished
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Const, Operand, Value


def jacobian(ev: Evaluator, f: Abstract, x: Abstract, mode: str | None) -> Abstract:
    """Write the Jacobian of a function of a vector or of any array, whose result is an array or a
    vector; forward if there are fewer columns than rows."""
    inner = Inner(ev, f, [x], [0], {}, is_forward=mode == "forward")
    y = inner.y
    if not isinstance(y, Value) or len(inner.leaves) != 1:
        raise NotCovered("a Jacobian of structures, inside differentiated code", ev.span)
    (leaf,) = inner.leaves
    of_x, of_y = ev.types[leaf], ev.types[y]
    if not isinstance(of_x, Array) or not isinstance(of_y, Array):
        raise NotCovered("a Jacobian of a number, inside differentiated code", ev.span)
    if of_x.dtype != np.float64 or of_y.dtype != np.float64:
        raise NotCovered("a Jacobian of other numbers, inside differentiated code", ev.span)
    if mode is None:
        mode = "forward" if ev.size_of(of_x) <= ev.size_of(of_y) else "reverse"
    columns, rows = len(of_x.shape) == 1, len(of_y.shape) == 1
    if columns and (mode == "forward" or not rows):
        return _forward(ev, inner, leaf, y)
    if rows:
        return _reverse(ev, inner, leaf, y)
    raise NotCovered("a Jacobian between matrices, inside differentiated code", ev.span)


def _units(ev: Evaluator, x: Value) -> tuple[BatchSweep, Value]:
    """Return the sweep for all unit vectors of a vector, and these as the rows of a matrix."""
    (length,) = ev.array_type(x).shape
    count: Operand = Const(length)
    if not isinstance(length, int):
        n = count = ev.operation(runtime.length, (x, Const(0)), number(int), name="n")
        ev.dims[n] = length
    batch = BatchSweep(ev, length, count)
    return batch, evaluated(batch, np.eye, [count])


def _forward(ev: Evaluator, inner: Inner, x: Value, y: Value) -> Abstract:
    sweep = ForwardSweep(ev, [x])
    dot = ev.value(ev.types[x], name=f"{x.name}_dot")
    ops = sweep.push(inner.block, {x: dot})
    with ev.writing(ops):
        y_dot = sweep.settle(sweep.full(y), y)
    batch, units = _units(ev, x)
    for op in batch.run(expanded(ev, Block((dot,), tuple(ops), ())), {dot: units}):
        ev.write(op)
    found = abstract_of(finite(ev, batch.full(y_dot)))
    assert isinstance(found, Value)
    return moved(ev, found, 0, -1)


def _reverse(ev: Evaluator, inner: Inner, x: Value, y: Value) -> Abstract:
    y_bar = ev.value(ev.types[y], name=f"{y.name}_bar")
    forward, reverse = both_sweeps(
        ev, inner.block, [x], [(y, y_bar)], lambda scope: [finished(ev, scope.take_all(x), x)]
    )
    (bar,) = reverse.results or ()
    for op in forward.ops:
        ev.write(op)
    batch, units = _units(ev, y)
    for op in batch.run(expanded(ev, Block((y_bar,), reverse.ops, ())), {y_bar: units}):
        ev.write(op)
    return abstract_of(finite(ev, batch.full(bar)))
