"""Residuals of branches and iterations: saved in the forward sweep, or computed again.

A residual of a branch is a further result of the branch; one of an iteration is pushed on the tape
of its loop.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, Number
from adjoint.fast.passes.residuals import select_residuals
from adjoint.fast.reverse.forward_blocks import ForwardBlock, ForwardLoop
from adjoint.fast.single_assignment.substitution import free_values, renamed
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.members import members
from adjoint.ir.single import Block, Call, Const, Operand, Unpack, Value

# Prices in nanoseconds, measured in long loops with CPython 3.12 and NumPy 2. A saved value cannot
# reuse freed memory, which is most of its price.
_SAVED = 60
_SAVED_FLAG = 15
_SAVED_ARRAY, _SAVED_ENTRY = 100, 5
_ARRAY, _ENTRY = 350, 0.6
_ELEMENT, _VIEW = 40, 80
_RANGE = 40
_AGAIN: dict[Any, int] = {
    operator.add: 13,
    operator.sub: 13,
    operator.mul: 13,
    operator.neg: 12,
    operator.truediv: 18,
    **dict.fromkeys(members(operator, "lt le gt ge eq ne"), 12),
    operator.not_: 6,
    math.sqrt: 30,
    math.sin: 40,
    math.cos: 40,
    math.exp: 45,
    math.log: 45,
    math.tanh: 45,
}
"""Prices of functions that are pure for Python numbers."""
_PYTHON = frozenset({float, int, bool})
_ON_ARRAYS = frozenset({operator.add, operator.sub, operator.mul, operator.neg})
"""Functions of arrays with reproducible rounding, and as fast as memory allows."""


def on_tape(
    ev: Evaluator, made: ForwardLoop, body: Block, tape: Value, free: Collection[Value]
) -> tuple[Block, Operand, int]:
    """Return the reverse body of a loop with parameters for its residuals, its iterable, and the
    number of items on the tape per iteration (0 if the counter is the only residual)."""
    body, names = with_values(ev, made.body, body, free)
    counter = None if made.range is None else made.op.body.parameters[0]
    stored = [v for v in names if v is not counter]
    columns: list[tuple[Value, Operand]] = []
    if made.range is not None and counter in names:
        again = ev.operation(reversed, (made.range,), ANYTHING, name="steps")
        columns.append((made.op.body.parameters[0], again))
    if stored or made.range is None:
        pushed = tuple(stored) or (Const(None),)
        made.body.ops.append(Call(None, Const(runtime.push), (tape, *pushed)))
        steps: Operand = ev.operation(reversed, (tape,), ANYTHING, name="steps")
        columns += [(v, steps) for v in reversed(stored)]
    else:
        pushed, steps = (), made.range
    if len(columns) == 1:
        ((v, steps),) = columns
        return replace(body, parameters=(names[v], *body.parameters)), steps, len(pushed)
    item = ev.value(ANYTHING, name="step")
    ops = body.ops
    if columns:
        steps = ev.operation(zip, [x for _, x in columns], ANYTHING, name="steps")
        ops = (Unpack(tuple(names[v] for v, _ in columns), item), *ops)
    return Block((item, *body.parameters), ops, body.results), steps, len(pushed)


def with_values(
    ev: Evaluator, region: ForwardBlock, block: Block, free: Collection[Value] | None
) -> tuple[Block, dict[Value, Value]]:
    """Return the reverse of a block with its recomputations in front, and its names for residuals.

    `free` values cost nothing to save; ``None`` if saving is cheap for all values.
    """
    read = free_values(block)
    needed = [v for v in read if v in region.defined]
    if not needed:
        return block, {}
    at_hand = set(read).difference(needed)

    def saving(v: Value) -> int:
        if v in at_hand or (v not in region.defined if free is None else v in free):
            return 0
        return 1 if free is None else _price(ev, v)

    def again(op: Call) -> int | None:
        if free is None:
            return 0 if op.callee == Const(range) else None
        return _again(ev, op)

    had, calls = select_residuals(region.ops, needed, saving, again)
    given = {v: _copy(ev, v) for v in had if v in region.defined}
    names = {op.result: _copy(ev, op.result) for op in calls if op.result is not None}
    first = (replace(op, result=names[op.result]) for op in calls if op.result is not None)
    return renamed(replace(block, ops=(*first, *block.ops)), given | names), given


def _copy(ev: Evaluator, v: Value) -> Value:
    """Return a new value that stands for `v` in the reverse sweep."""
    made = Value(v.name)
    ev.types[made] = ev.types[v]
    if v in ev.places:
        ev.places[made] = ev.places[v]
    return made


def _price(ev: Evaluator, v: Value) -> int:
    t = ev.types[v]
    if isinstance(t, Array):
        return _SAVED_ARRAY + (0 if v in ev.aliases else _SAVED_ENTRY * ev.size_of(t))
    return _SAVED_FLAG if isinstance(t, Number) and t.kinds == {bool} else _SAVED


def _again(ev: Evaluator, op: Call) -> int | None:
    """Return the price of repeating a call; ``None`` if the price is unknown or the result may
    differ."""
    f = callee_of(op)
    if op.keywords or op.result is None:
        return None
    t = ev.types[op.result]
    if all(_is_python(ev, x) for x in op.operands):
        if f is range:
            return _RANGE
        return _AGAIN.get(f) if _is_python(ev, op.result) else None
    if not all(_stays(ev, x) for x in (op.result, *op.operands)):
        return None
    if f is operator.getitem and _is_index(ev, op.operands[1]):
        return _VIEW if isinstance(t, Array) else _ELEMENT
    if f in _ON_ARRAYS and type(t) is Array and t.dtype.kind == "f":
        return _ARRAY + int(_ENTRY * ev.size_of(t))
    return None


def _stays(ev: Evaluator, x: Operand) -> bool:
    """Return whether an operand is a number or an array that is never written to."""
    if isinstance(x, Const):
        return isinstance(x.value, int | float | slice)
    t = ev.types.get(x) if isinstance(x, Value) else None
    return isinstance(t, Number | Array) and ev.aliased_by(x).isdisjoint(ev.written)


def _is_index(ev: Evaluator, x: Operand) -> bool:
    """Return whether an operand is a basic index, not an array."""
    return isinstance(x, Const) or _is_python(ev, x)


def _is_python(ev: Evaluator, x: Operand) -> bool:
    if isinstance(x, Const):
        return type(x.value) in _PYTHON
    t = ev.types.get(x) if isinstance(x, Value) else None
    return isinstance(t, Number) and t.kinds <= _PYTHON
