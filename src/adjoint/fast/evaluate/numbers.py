"""Functions of numbers and arrays that are told apart by more than types."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast import runtime
from adjoint.fast.covered import NotCovered
from adjoint.fast.evaluate.reading import length_of, product
from adjoint.fast.evaluate.rows import (
    as_row,
    reduced,
    row_of,
)
from adjoint.fast.evaluate.types import Array, Number, number
from adjoint.fast.evaluate.values import (
    Abstract,
    Flag,
    Known,
)
from adjoint.ir.single import Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.calls import call, fold_known, handler, infer_call
from adjoint.fast.evaluate.operators import is_numeric

__all__ = []


@handler(float)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Known) and isinstance(a.value, int | float) and not isinstance(a, Flag):
        return Known(float(a.value))
    if isinstance(a, Value):
        t = ev.types[a]
        if isinstance(t, Number) and t.kinds <= {float}:
            return a
        if isinstance(t, Number) or all(d == 1 for d in t.shape):  # type: ignore[union-attr]
            return ev.infer(float, [a])
    raise NotCovered("float of something else than a number", ev.span)


def _extreme(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *operands: Abstract) -> Abstract:
        items: Sequence[Abstract] | None = operands
        if len(operands) == 1:
            from adjoint.fast.evaluate.iterables import collected

            row = row_of(ev, operands[0])
            if row is None:
                made = collected(ev, operands[0])
                row, items = row_of(ev, made), ev.sequence(made)
            if row is not None:
                return reduced(ev, runtime.greatest if f is max else runtime.least, row)
        if not items or not all(map(is_numeric, items)):
            raise NotCovered(f"{f.__name__} of such operands", ev.span)
        if len(items) == 1:
            return items[0]
        folded = fold_known(f, items, {})
        if folded is not None:
            return folded
        kinds: set[type] = set()
        for x in items:
            t = ev.types[x] if isinstance(x, Value) else number(type(x.value))  # type: ignore[union-attr]
            if not isinstance(t, Number):
                raise NotCovered(f"{f.__name__} of arrays", ev.span)
            kinds |= t.kinds
        return ev.operation(f, tuple(map(ev.operand, items)), Number(frozenset(kinds)))


for _f in (max, min):
    _extreme(_f)


@handler(np.mean, np.ndarray.mean)
def _(
    ev: Evaluator, a: Abstract, axis: Abstract = Known(None), *, keepdims: Abstract = Known(False)
) -> Abstract:
    """The sum over the number of elements, which is how NumPy computes it."""
    t = ev.types.get(a) if isinstance(a, Value) else None
    plain = isinstance(t, Array) and t.dtype.char in "fd"
    if not plain or not isinstance(axis, Known) or not isinstance(keepdims, Known):
        return infer_call(ev, np.mean, [a, axis], {"keepdims": keepdims})
    assert isinstance(t, Array) and isinstance(a, Value)
    options: dict[str, Abstract] = {"axis": axis} if axis.value is not None else {}
    if keepdims.value:
        options["keepdims"] = keepdims
    total = call(ev, Known(np.sum), [a], options)
    axes = range(len(t.shape)) if axis.value is None else np.atleast_1d(axis.value).tolist()
    count: Abstract = Known(1)
    for i in axes:
        count = product(ev, count, length_of(ev, a, i))
    return call(ev, Known(operator.truediv), [total, count], {})


@handler(math.fsum)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    from adjoint.fast.evaluate.iterables import collected

    row = row_of(ev, xs)
    if row is None:
        made = collected(ev, xs)
        if row_of(ev, made) is None:
            as_row(ev, made.address)
        row = row_of(ev, made)
    assert row is not None
    found = reduced(ev, runtime.exact_total, row)
    assert isinstance(found, Value)
    ev.types[found] = number(float)
    return found
