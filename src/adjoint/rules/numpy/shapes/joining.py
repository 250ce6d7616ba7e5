"""Rules of NumPy's functions that join arrays, or split one."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.rulekit.projection import SEQUENCES, as_numeric, projector
from adjoint.rulekit.registry import non_differentiable, primitive, rrule
from adjoint.rules.numpy.aggregates.reductions import constant_back
from adjoint.rules.numpy.forward_rules import linear_frule, partwise_frule
from adjoint.rules.numpy.operands import (
    array_rule,
    cotangent_dtype,
    like_sequence,
    severed,
)
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.number_protocols import is_sequence
from adjoint.runtime.dispatch.source_call import call_function

# ---- joining -------------------------------------------------------------------------------------


def _parts(arrays: Any) -> list[Any] | None:
    """List the arrays in a sequence or along the first axis of an array; return None for others."""
    if not isinstance(arrays, (*SEQUENCES, np.ndarray)):
        return None
    parts = list(arrays)
    return None if any(as_numeric(part) is None for part in parts) else parts


def _joined(
    parts: list[Any], shapes: list[tuple[int, ...]], axis: int, arrays: Any
) -> Callable[[Any], Any]:
    """Return the pullback of a concatenation of `parts`, reshaped to `shapes`, along `axis`."""
    fits = [_fit(part) for part in parts]
    axis %= len(shapes[0])
    lead = (slice(None),) * axis
    lengths = [shape[axis] for shape in shapes]

    def joined_back(y_bar):
        bars, start = [], 0
        for fit, length in zip(fits, lengths, strict=True):
            bars.append(fit(y_bar[(*lead, slice(start, start + length))]))
            start += length
        return None, like_sequence(bars, arrays)

    return joined_back


def _fit(part: Any) -> Callable[[Any], Any]:
    """Return a function that gives a cotangent the shape, dtype and nesting of `part`."""
    shape, dtype = np.shape(part), cotangent_dtype(part)
    to_bar = None if type(part) is np.ndarray else projector(part)

    def fit(bar):
        if bar.shape != shape:
            bar = bar.reshape(shape)
        if to_bar is not None or bar.dtype != dtype:
            return (to_bar or projector(part))(bar)
        return bar

    return fit


def _join(
    name: str, lift: Callable[[list[Any]], tuple[list[tuple[int, ...]], int]], operand: str = "tup"
) -> None:
    """Register a function that reshapes and concatenates; `lift` returns shapes and axis."""
    f = getattr(np, name)

    def rule(tup, *, dtype=None, casting="same_kind"):
        parts = _parts(tup)
        if not parts:
            return NotImplemented
        y = (
            f(tup)
            if dtype is None and casting == "same_kind"
            else f(tup, dtype=dtype, casting=casting)
        )
        return y, constant_back if severed(y, *parts) else _joined(parts, *lift(parts), tup)

    array_rule(f, operands=operand, nested=False, exact=True)(rule)


@array_rule(np.concatenate, operands="arrays", nested=False, exact=True)
def _(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    parts = _parts(arrays)
    if not parts or out is not None:
        return NotImplemented
    y = np.concatenate(arrays, axis, dtype=dtype, casting=casting)
    if severed(y, *parts):
        return y, constant_back
    shapes = [np.shape(part) for part in parts]
    if axis is None:
        axis, shapes = 0, [(math.prod(shape),) for shape in shapes]
    return y, _joined(parts, shapes, axis, arrays)


@array_rule(np.stack, operands="arrays", nested=False, exact=True)
def _(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    parts = _parts(arrays)
    if not parts or out is not None:
        return NotImplemented
    y = np.stack(arrays, axis, dtype=dtype, casting=casting)
    if severed(y, *parts):
        return y, constant_back
    axis %= y.ndim
    shape = np.shape(parts[0])
    return y, _joined(parts, [(*shape[:axis], 1, *shape[axis:])] * len(parts), axis, arrays)


def _lift_vstack(parts):
    return [np.shape(np.atleast_2d(part)) for part in parts], 0


def _lift_hstack(parts):
    shapes = [np.shape(np.atleast_1d(part)) for part in parts]
    return shapes, 0 if len(shapes[0]) == 1 else 1


def _lift_dstack(parts):
    return [np.shape(np.atleast_3d(part)) for part in parts], 2


def _lift_columns(parts):
    shapes = [np.shape(part) for part in parts]
    return [(*shape, 1) if len(shape) == 1 else shape or (1, 1) for shape in shapes], 1


_join("vstack", _lift_vstack)
_join("hstack", _lift_hstack)
_join("dstack", _lift_dstack)
_join("column_stack", _lift_columns)


@array_rule(np.block, operands="arrays", nested=False, exact=True)
def _(arrays):
    """Join blocks; `np.block` of positions tells the origin of each element."""
    leaves: list[Any] = []
    _map_nested(leaves.append, arrays)
    if not leaves or any(as_numeric(leaf) is None for leaf in leaves):
        return NotImplemented
    sizes = [np.size(leaf) for leaf in leaves]
    starts = iter(np.cumsum([0, *sizes]).tolist())
    positions = np.block(
        _map_nested(lambda x: next(starts) + np.arange(np.size(x)).reshape(np.shape(x)), arrays)
    )
    y = np.block(arrays)

    def block_back(y_bar):
        flat = np.empty(sum(sizes), y_bar.dtype)
        flat[positions] = y_bar
        bars = iter(
            [
                projector(leaf)(part.reshape(np.shape(leaf)))
                for leaf, part in zip(leaves, np.split(flat, np.cumsum(sizes)[:-1]), strict=True)
            ]
        )
        return None, _map_nested(lambda _: next(bars), arrays)

    return y, block_back


def _map_nested(f: Callable[[Any], Any], nested: Any) -> Any:
    """Apply `f` to each leaf of nested lists."""
    return [_map_nested(f, item) for item in nested] if isinstance(nested, list) else f(nested)


@primitive(np.block)
def blocks(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    """Convert sequences other than lists, which `np.block` does not nest, to arrays."""
    if len(args) != 1 or kwargs or not _has_sequences(args[0]):
        return NotImplemented
    return linked(
        record,
        slot,
        lambda bars: (None, *bars[2:]),
        call_function,
        block_of_arrays,
        (np.block, args[0]),
        {},
    )


def block_of_arrays(f: Any, arrays: Any) -> Any:
    return f(_with_arrays(arrays))


def _with_arrays(nested):
    if isinstance(nested, list):
        return [_with_arrays(item) for item in nested]
    return np.asanyarray(nested) if _has_sequences(nested) else nested


@non_differentiable
def _has_sequences(nested: Any) -> bool:
    if isinstance(nested, list):
        return any(map(_has_sequences, nested))
    return isinstance(nested, deque) or is_sequence(type(nested))


# ---- splitting: the parts of the cotangent are views of it ---------------------------------------


def _fill(
    split: Callable[[Any], Any], shape: tuple[int, ...], dtype: Any
) -> Callable[[Any], tuple[Any, ...]]:
    def split_back(y_bar):
        bar = np.zeros(shape, dtype)
        for part, part_bar in zip(split(bar), y_bar, strict=True):
            if part_bar is not None:
                part[...] = part_bar
        return None, bar

    return split_back


def _split(f: Callable[..., Any]) -> None:
    def rule(ary, indices_or_sections, axis=None):
        def split(x: Any) -> Any:
            return f(x, indices_or_sections) if axis is None else f(x, indices_or_sections, axis)

        if not isinstance(ary, np.ndarray):
            # NumPy takes the length of a list as that of any axis.
            if axis not in (None, 0) or as_numeric(ary) is None:
                return NotImplemented
        y, to_bar = split(ary), projector(ary)
        fill = _fill(split, np.shape(ary), cotangent_dtype(np.asarray(ary)))
        return y, lambda y_bar: (None, to_bar(fill(y_bar)[1]))

    array_rule(f, operands="ary", alias=True, nested=False)(rule)


for _f in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit):
    _split(_f)

if hasattr(np, "unstack"):

    @array_rule(np.unstack, operands="x", alias=True)
    def unstack(x, *, axis=0):
        shape, dtype, n = np.shape(x), cotangent_dtype(x), axis % np.ndim(x)

        def unstack_back(y_bar):
            bar = np.zeros(shape, dtype)
            for i, part_bar in enumerate(y_bar):
                if part_bar is not None:
                    bar[(slice(None),) * n + (i,)] = part_bar
            return None, bar

        return np.unstack(x, axis=axis), unstack_back


@rrule.register(np.meshgrid, alias=True, partwise=True)
def _(*xi, copy=True, sparse=False, indexing="xy"):
    if any(as_numeric(x) is None for x in xi):
        return NotImplemented
    y = np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing)
    shapes, to_bars, n = [np.shape(x) for x in xi], [projector(x) for x in xi], len(xi)

    def meshgrid_back(y_bar):
        bars = []
        for i, (bar, shape, to_bar) in enumerate(zip(y_bar, shapes, to_bars, strict=True)):
            own = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
            others = tuple(axis for axis in range(n) if axis != own)
            bars.append(
                None if bar is None else to_bar(np.reshape(np.sum(bar, axis=others), shape))
            )
        return None, *bars

    return y, meshgrid_back


linear_frule(
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.split,
    np.array_split, np.hsplit, np.vsplit, np.dsplit,
)  # fmt: skip
if hasattr(np, "unstack"):
    linear_frule(np.unstack)
partwise_frule(np.meshgrid)
