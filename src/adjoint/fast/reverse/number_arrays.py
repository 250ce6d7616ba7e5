"""The reverse of arrays made of numbers and lists."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.types import ANYTHING, FLOAT, Array, bar_type, has_complex, number
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import operand_type, whole
from adjoint.fast.reverse.formulas import formula
from adjoint.ir.primitives import build_list, build_tuple
from adjoint.ir.single import Call, Const, Operand, Unpack, Value

MOST_READ = 2
"""Greatest number of elements of a cotangent that are read one by one."""


@formula(np.array)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x, y = scope.ev, op.operands[0], op.result
    assert isinstance(x, Value) and y is not None
    y_bar = whole(ev, y_bar, y)
    parts = _pack(scope, x)
    if parts is None:
        scope.add(x, y_bar)
        return
    t = ev.array_type(y)
    active = [(at, v) for at, v in _parts(scope, x, ()) if v in scope.sweep.active]
    if len(t.shape) == 1 and len(active) > MOST_READ:
        # the elements as Python numbers, by one `tolist`
        of_item = number(complex) if has_complex(operand_type(ev, y_bar)) else FLOAT
        bars = tuple(ev.value(of_item, name="item_bar") for _ in parts)
        ev.write(Unpack(bars, ev.operation(np.ndarray.tolist, (y_bar,), ANYTHING, name="bars")))
        for part, bar in zip(parts, bars, strict=True):
            scope.add(part, bar)
        return
    for at, v in active:
        of_v = ev.types[v]
        dtype = bar_type(t).dtype  # type: ignore[union-attr]
        found: Any = Array(dtype, of_v.shape) if isinstance(of_v, Array) else number(dtype.type)
        index = Const(at[0] if len(at) == 1 else at)
        scope.add(v, whole(ev, ev.operation(operator.getitem, (y_bar, index), found, name="t"), v))


def _pack(scope: Scope, x: Value) -> tuple[Operand, ...] | None:
    """Return the items of a list or a tuple built as an operand; ``None`` for anything else."""
    made = scope.sweep.made_by.get(x)
    if made is None or made.callee not in (Const(build_list), Const(build_tuple)):
        return None
    return made.operands


def _parts(scope: Scope, x: Value, at: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Value]]:
    """Yield the numbers and arrays in a structure, each with its index."""
    for i, part in enumerate(_pack(scope, x) or ()):
        if isinstance(part, Value):
            if _pack(scope, part) is not None:
                yield from _parts(scope, part, (*at, i))
            else:
                yield (*at, i), part
