"""Reductions, rearrangements, reads and writes of arrays for all rows at once."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.batch.formulas import formula
from adjoint.fast.evaluate.types import ANYTHING, Array, Number
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.members import members
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.row_sums import column_sums

if TYPE_CHECKING:
    from adjoint.fast.batch.values import BatchValues


def known(sweep: BatchValues, x: Operand) -> Any:
    """Return the value of an option."""
    if isinstance(x, Const):
        return x.value
    raise NotCovered("an option of rows that is not known", sweep.ev.span)


def evaluated(
    sweep: BatchValues, f: Any, args: Sequence[Operand], options: dict[str, Any] | None = None
) -> Value:
    """Write ``f(*args, **options)`` by the evaluator, which finds its type."""
    given: list[Abstract] = [Known(x.value) if isinstance(x, Const) else x for x in args]  # type: ignore[misc]
    named: dict[str, Abstract] = {name: Known(x) for name, x in (options or {}).items()}
    found = sweep.ev.call(Known(f), given, named)
    assert isinstance(found, Value)
    return found


def written(sweep: BatchValues, op: Call, f: Any, *operands: Operand) -> Value:
    """Write ``f(*operands)``, whose type is that of all rows of the result of `op`."""
    t = sweep.type_of_rows(sweep.ev.types[result_of(op)])
    return sweep.ev.operation(f, operands, t, name=result_of(op).name)


# ---- reductions ----------------------------------------------------------------------------------


@formula(
    *members(
        np,
        "sum mean prod max min amax amin var std any all argmax argmin ptp cumsum cumprod flip "
        "sort count_nonzero median ndarray.sum ndarray.mean ndarray.prod ndarray.max ndarray.min "
        "ndarray.var ndarray.std ndarray.any ndarray.all ndarray.cumsum linalg.norm",
    )
)
def _(sweep: BatchValues, op: Call) -> Value:
    f, x = callee_of(op), op.operands[0]
    options = {name: known(sweep, value) for name, value in op.keywords}
    if len(op.operands) > 1:
        if f is np.linalg.norm or len(op.operands) > 2:
            raise NotCovered("an option of a reduction of rows", op.span)
        options["axis"] = known(sweep, op.operands[1])
    rank, axis = sweep.rank(x), options.get("axis", -1 if f is np.sort else None)
    if rank == 0:
        if f not in _OF_ONE or options.get("keepdims"):
            raise NotCovered("a reduction of a number in each row", op.span)
        return sweep.full(x)
    if axis is None:
        if f is np.linalg.norm and rank > 2:
            raise NotCovered("a norm of all elements of rows", op.span)
        axis = tuple(range(rank))
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    if isinstance(axis, tuple):
        if f in _ONE_AXIS:
            raise NotCovered(f"{f.__name__} along all axes of rows", op.span)
        options["axis"] = tuple(i % rank + 1 for i in axis)
    else:
        options["axis"] = axis % rank + 1
    return evaluated(sweep, f, [sweep.full(x)], options)


_OF_ONE = members(np, "sum mean prod max min ndarray.sum ndarray.mean ndarray.max ndarray.min")
"""Reductions that give a number back."""
_ONE_AXIS = members(
    np, "argmax argmin cumsum cumprod sort ndarray.cumsum ndarray.cumprod ndarray.argmax median"
)


@formula(column_sums)
def _(sweep: BatchValues, op: Call) -> Value:
    return evaluated(sweep, np.sum, [sweep.full(op.operands[0])], {"axis": 1})


@formula(runtime.to_extremes)
def _(sweep: BatchValues, op: Call) -> Value:
    x, y, y_bar, axis, keepdims = op.operands
    given = map(sweep.full, (x, y, y_bar))
    shifted = Const(tuple(i % sweep.rank(x) + 1 for i in known(sweep, axis)))
    return written(sweep, op, callee_of(op), *given, shifted, keepdims)


# ---- rearrangements ------------------------------------------------------------------------------


def shape_of_rows(sweep: BatchValues, shape: Sequence[Operand]) -> Value:
    """Write the shape of all rows from that of one: one operand, or one for each axis."""
    ev = sweep.ev
    if len(shape) > 1:
        shape = (ev.operation(primitives.build_tuple, shape, ANYTHING, name="shape"),)
    return ev.operation(runtime.with_count, (sweep.count, *shape), ANYTHING, name="shape")


@formula(np.reshape, np.ndarray.reshape)
def _(sweep: BatchValues, op: Call) -> Value:
    x, *shape = op.operands
    if op.keywords:
        raise NotCovered("an option of a reshape of rows", op.span)
    return written(sweep, op, np.reshape, sweep.full(x), shape_of_rows(sweep, shape))


@formula(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def _(sweep: BatchValues, op: Call) -> Value:
    if op.keywords or len(op.operands) > 1:
        raise NotCovered("an option of a reshape of rows", op.span)
    shape = shape_of_rows(sweep, (Const(-1),))
    found = written(sweep, op, np.reshape, sweep.full(op.operands[0]), shape)
    is_copy = callee_of(op) is np.ndarray.flatten
    return written(sweep, op, np.copy, found) if is_copy else found


@formula(np.transpose, np.ndarray.transpose)
def _(sweep: BatchValues, op: Call) -> Value:
    x, *axes = op.operands
    rank = sweep.rank(x)
    turned = known(sweep, axes[0]) if len(axes) == 1 else [known(sweep, i) for i in axes] or None
    order = range(rank)[::-1] if turned is None else [i % rank for i in turned]
    shifted = Const((0, *(i + 1 for i in order)))
    return written(sweep, op, np.transpose, sweep.full(x), shifted)


@formula(np.swapaxes, np.moveaxis, np.ndarray.swapaxes)
def _(sweep: BatchValues, op: Call) -> Value:
    x, *axes = op.operands
    rank = sweep.rank(x)
    shifted = []
    for axis in axes:
        at = known(sweep, axis)
        shifted.append(at % rank + 1 if isinstance(at, int) else tuple(i % rank + 1 for i in at))
    return evaluated(sweep, callee_of(op), [sweep.full(x), *map(Const, shifted)])


@formula(np.expand_dims, np.squeeze)
def _(sweep: BatchValues, op: Call) -> Value:
    t = sweep.ev.array_type(result_of(op))
    if not all(isinstance(n, int) for n in t.shape):
        raise NotCovered("axes of length 1 of rows of unknown length", op.span)
    shape = shape_of_rows(sweep, (Const(t.shape),))
    return written(sweep, op, np.reshape, sweep.full(op.operands[0]), shape)


@formula(np.broadcast_to)
def _(sweep: BatchValues, op: Call) -> Value:
    x, *shape = op.operands
    given = sweep.aligned(x, sweep.rank(result_of(op)))
    return written(sweep, op, np.broadcast_to, given, shape_of_rows(sweep, shape))


@formula(runtime.fitting)
def _(sweep: BatchValues, op: Call) -> Value:
    x, *shape = op.operands
    return written(sweep, op, runtime.fitting, sweep.full(x), shape_of_rows(sweep, shape))


@formula(runtime.broadcast_like)
def _(sweep: BatchValues, op: Call) -> Value:
    x_bar, x = op.operands
    given = sweep.aligned(x_bar, sweep.rank(x))
    return written(sweep, op, callee_of(op), given, sweep.full(x))


@formula(np.ndarray.astype)
def _(sweep: BatchValues, op: Call) -> Value:
    return written(sweep, op, np.ndarray.astype, sweep.full(op.operands[0]), *op.operands[1:])


@formula(np.array)
def _(sweep: BatchValues, op: Call) -> Value:
    """An array, or a structure of numbers and arrays; the axis of the rows is moved."""
    ev, x = sweep.ev, op.operands[0]
    t = ev.array_type(result_of(op))
    if op.keywords:
        raise NotCovered("an option of a new array of rows", op.span)
    if isinstance(x, Value) and x in sweep.rows:
        return written(sweep, op, np.array, sweep.rows[x])
    depth, pack = 0, x
    while (items := _items(sweep, pack)) is not None:
        pack, depth = items[0], depth + 1
    found = ev.operation(
        np.array,
        (_packed(sweep, x),),
        Array(t.dtype, (*t.shape[:depth], sweep.length, *t.shape[depth:])),
        name=result_of(op).name,
    )
    return written(sweep, op, np.moveaxis, found, Const(depth), Const(0))


def _packed(sweep: BatchValues, x: Operand) -> Value:
    """Write a structure of all rows of its numbers and arrays."""
    ev, items = sweep.ev, _items(sweep, x)
    if items is None:
        return sweep.full(x)
    parts = tuple(_packed(sweep, part) for part in items)
    made = ev.operation(primitives.build_list, parts, ANYTHING, name="parts")
    ev.packs[made] = parts
    ev.note_alias(made, parts)
    return made


def _items(sweep: BatchValues, x: Operand) -> tuple[Operand, ...] | None:
    """Return the items of a list or a tuple; ``None`` for others."""
    if isinstance(x, Const):
        return tuple(map(Const, x.value)) if isinstance(x.value, list | tuple) else None
    return sweep.ev.packs.get(x) if isinstance(x, Value) else None


@formula(np.concatenate, np.stack)
def _(sweep: BatchValues, op: Call) -> Value:
    ev, pack, f = sweep.ev, op.operands[0], callee_of(op)
    options = {name: known(sweep, value) for name, value in op.keywords}
    axis = options.pop("axis", known(sweep, op.operands[1]) if len(op.operands) > 1 else 0)
    if options or not isinstance(axis, int) or not isinstance(pack, Value):
        raise NotCovered("an option of a join of rows", op.span)
    if pack not in ev.packs:
        raise NotCovered("a join of the parts of rows", op.span)
    rank = sweep.rank(result_of(op))
    return written(sweep, op, f, _packed(sweep, pack), Const(axis % rank + 1))


# ---- reads and writes ----------------------------------------------------------------------------


def index_of_rows(sweep: BatchValues, index: Operand) -> Operand:
    """Return the index into all rows for an index into one."""
    ev = sweep.ev
    if sweep.differs(index):
        raise NotCovered("an index that differs between rows", ev.span)
    if isinstance(index, Const):
        value = index.value
        _demand_one_array(sweep, value if isinstance(value, tuple) else (value,))
        return Const((slice(None), *(value if isinstance(value, tuple) else (value,))))
    assert isinstance(index, Value)
    given = _parts_of_index(sweep, index)
    _demand_one_array(sweep, given)
    made = ev.operation(runtime.behind_rows, (index,), ANYTHING, name="index")
    ev.indices[made] = (Const(slice(None)), *given)
    return made


def _parts_of_index(sweep: BatchValues, index: Value) -> tuple[Operand, ...]:
    made = sweep.built.get(index) or sweep.ev.built.get(index)
    if made is None or callee_of(made) is primitives.build_slice:
        return (index,)
    return made.operands


def _rank_of_part(sweep: BatchValues, x: Operand, index: Operand) -> int:
    """Return the number of axes of ``x[index]``."""
    if isinstance(index, Const):
        value = index.value
        parts: Sequence[Any] = value if isinstance(value, tuple) else (value,)
    else:
        assert isinstance(index, Value)
        parts = _parts_of_index(sweep, index)
    rank = sweep.rank(x)
    for part in parts:
        value = part.value if isinstance(part, Const) else part
        if value is None:
            rank += 1
        elif isinstance(value, Value):
            t = sweep.ev.types[value]
            is_slice = value in sweep.built or value in sweep.ev.built
            is_mask = isinstance(t, Array) and t.dtype.kind == "b"
            rank += 0 if is_slice else (sweep.rank(value) - 1) * (-1 if is_mask else 1)
        elif not _is_slice(value):
            rank += np.asarray(value).ndim - 1
    return rank


def _demand_one_array(sweep: BatchValues, parts: Sequence[Any]) -> None:
    """Refuse several advanced indices, whose axes NumPy may move to the front."""
    types = sweep.ev.types
    arrays = [isinstance(types[x], Array) if isinstance(x, Value) else _is_array(x) for x in parts]
    if any(arrays):
        others = [x for x in parts if not _is_slice(x)]
        if len(others) > 1:
            raise NotCovered("several indices into rows", sweep.ev.span)


def _is_array(x: Any) -> bool:
    return isinstance(x.value if isinstance(x, Const) else x, np.ndarray | list)


def _is_slice(x: Any) -> bool:
    value = x.value if isinstance(x, Const) else x
    return value is None or value is Ellipsis or isinstance(value, slice)


@formula(operator.getitem)
def _(sweep: BatchValues, op: Call) -> Value:
    x, index = op.operands
    if not isinstance(x, Value) or x not in sweep.rows:
        raise NotCovered("an index that differs between rows", op.span)
    found = written(sweep, op, operator.getitem, sweep.rows[x], index_of_rows(sweep, index))
    if sweep.has_writes and isinstance(sweep.ev.types[result_of(op)], Number):
        return written(sweep, op, runtime.own, found)  # a number of one row is no view
    return found


def _demand_no_view(sweep: BatchValues, y: Value) -> None:
    """Refuse a write to a view: all rows of what shows an array may be a copy."""
    if y in sweep.ev.views:
        raise NotCovered("a write to a view in all rows", sweep.ev.span)


_OF_ALL_ROWS: dict[Any, Any] = {
    runtime.put: runtime.put_broadcast,
    runtime.add_part: runtime.add_at,
}
"""Writes of what is the same in all rows, which is broadcast."""


@formula(
    runtime.put,
    runtime.put_broadcast,
    runtime.add_at,
    runtime.add_part,
    runtime.scatter,
    runtime.clear,
)
def _(sweep: BatchValues, op: Call) -> None:
    ev, (y, index, *value) = sweep.ev, op.operands
    assert isinstance(y, Value)
    _demand_no_view(sweep, y)
    f = callee_of(op)
    given = []
    for x in value:
        rank = max(sweep.rank(x), _rank_of_part(sweep, y, index))
        given.append(sweep.aligned(x, rank))
    if f in _OF_ALL_ROWS and not sweep.differs(value[0]):
        f = _OF_ALL_ROWS[f]
    ev.write(
        Call(None, Const(f), (sweep.rows[y], index_of_rows(sweep, index), *given), (), op.span)
    )


@formula(runtime.add_to, runtime.subtract_from, runtime.scale, runtime.divide)
def _(sweep: BatchValues, op: Call) -> None:
    y, value = op.operands
    assert isinstance(y, Value)
    _demand_no_view(sweep, y)
    given = sweep.aligned(value, sweep.rank(y))
    sweep.ev.write(Call(None, op.callee, (sweep.rows[y], given), (), op.span))


@formula(runtime.summed_part, runtime.last_part)
def _(sweep: BatchValues, op: Call) -> Value:
    y_bar, index, value = op.operands
    rank = _rank_of_part(sweep, y_bar, index)
    if sweep.rank(value) != rank:
        raise NotCovered("a sum over rows that were broadcast", op.span)
    given = sweep.full(y_bar), index_of_rows(sweep, index), sweep.full(value)
    return written(sweep, op, callee_of(op), *given)


# ---- copies for all rows -------------------------------------------------------------------------


@formula(runtime.repeated)
def _(sweep: BatchValues, op: Call) -> Value:
    x, count, axis = op.operands
    return written(sweep, op, runtime.repeated, sweep.full(x), count, Const(known(sweep, axis) + 1))
