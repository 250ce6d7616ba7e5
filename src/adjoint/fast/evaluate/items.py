"""Reads of items and lengths of known objects, sequences, dicts and arrays; unpacking."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.types import ANYTHING, Array, Dim, Number, number
from adjoint.fast.evaluate.values import (
    Abstract,
    DictOf,
    External,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Ref,
    SliceOf,
    Tuple,
)
from adjoint.fast.not_covered import NeedsKnown, NotCovered
from adjoint.fast.support.functions import length
from adjoint.ir import primitives
from adjoint.ir.single import Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator

# ---- lengths -------------------------------------------------------------------------------------


def product(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """Return the product of two lengths."""
    if isinstance(a, Known) and isinstance(b, Known):
        return Known(a.value * b.value)
    if isinstance(a, Known) and a.value == 1:
        return b
    if isinstance(b, Known) and b.value == 1:
        return a
    return ev.infer(operator.mul, [a, b])


def length_of(ev: Evaluator, a: Value, axis: int) -> Abstract:
    """Return the length of an axis of an array."""
    dim = ev.array_type(a).shape[axis]
    if isinstance(dim, int):
        return Known(dim)
    made = ev.operation(length, (a, Const(axis)), number(int), name="n")
    ev.dims[made] = dim
    return made


# ---- items ---------------------------------------------------------------------------------------


def item(ev: Evaluator, a: Abstract, index: Abstract) -> Abstract:
    """Evaluate ``a[index]``."""
    from adjoint.fast.evaluate.rows import as_row, item_of, row_of

    row = row_of(ev, a)
    if row is not None:
        return item_of(ev, a, row, index)
    if isinstance(a, Value):
        return _of_array(ev, a, index)
    held = ev.held(a)
    if isinstance(a, Ref) and isinstance(index, Value) and isinstance(held, ListOf):
        if not held.items or not all(is_number(x, ev.types) for x in held.items):
            if ev.outside.is_leaf(index):
                raise NeedsKnown(index, "an index of a list that is not known", ev.span)
        return item_of(ev, a, as_row(ev, a.address), index)
    if isinstance(a, Known):
        if isinstance(index, Known) and not isinstance(a.value, type):
            try:
                return Known(a.value[index.value])
            except Exception as error:
                raise NotCovered(f"an index that raises {type(error).__name__}", ev.span) from None
        raise NotCovered("an index that is not known", ev.span)
    if isinstance(held, DictOf) and isinstance(index, Known):
        for key, found in zip(held.keys, held.items, strict=True):
            if type(key) is type(index.value) and key == index.value:
                return found
        raise NotCovered(f"the key {index.value!r} is missing", ev.span)
    if isinstance(a, External) and type(a.sample) is dict and isinstance(index, Known):
        if type(index.value) not in (str, int, bool) or index.value not in a.sample:
            raise NotCovered("a key of a dict from outside", ev.span)
        return ev.outside.read(a.source, "item", index.value, a.sample[index.value])
    if isinstance(a, External) and isinstance(a.sample, list | tuple) and isinstance(index, Known):
        if type(index.value) is int and -len(a.sample) <= index.value < len(a.sample):
            at = index.value % len(a.sample)
            return ev.outside.read(a.source, "item", at, a.sample[at])
    items = ev.sequence(a)
    if items is None:
        raise NotCovered("an index of something else than a sequence or a dict", ev.span)
    return _of_sequence(ev, a, items, index)


def _of_sequence(
    ev: Evaluator, a: Abstract, items: tuple[Abstract, ...], index: Abstract
) -> Abstract:
    if isinstance(index, Known) and isinstance(index.value, int):
        if not -len(items) <= index.value < len(items):
            raise NotCovered("an index out of range", ev.span)
        return items[index.value]
    part = known_slice(index)
    if part is None:
        raise NotCovered("an index of a sequence that is not known", ev.span)
    chosen = items[part]
    return ev.allocate(ListOf(chosen)) if ev.is_list(a) or isinstance(a, Ref) else Tuple(chosen)


def known_slice(index: Abstract) -> slice | None:
    """Return `index` as a slice with known ends, or ``None``."""
    if isinstance(index, Known) and isinstance(index.value, slice):
        return index.value
    if isinstance(index, SliceOf):
        ends = (index.start, index.stop, index.step)
        if all(isinstance(end, Known) for end in ends):
            return slice(*(end.value for end in ends))  # type: ignore[union-attr]
    return None


def _of_array(ev: Evaluator, a: Value, index: Abstract) -> Abstract:
    """Write a read of an element or a part of an array."""
    t = ev.types[a]
    if not isinstance(t, Array):
        raise NotCovered(f"an index of a {t}", ev.span)
    keys = keys_of(index)
    shape = indexed_shape(ev, t, keys)
    operand = index_operand(ev, index)
    if shape == () and not _keeps_array(keys):
        result: Any = number(t.dtype.type)
    else:
        result = Array(t.dtype, shape)
    made = ev.operation(operator.getitem, (a, operand), result)
    if any(_is_fancy(ev, key) for key in keys):
        ev.aliases.pop(made, None)
    elif isinstance(result, Array):
        ev.parts_of[made] = a, index
    return made


def keys_of(index: Abstract) -> tuple[Abstract, ...]:
    """Return the parts of an index."""
    if isinstance(index, Known) and type(index.value) is tuple:
        return tuple(map(Known, index.value))
    return index.items if isinstance(index, Tuple) else (index,)


def _keeps_array(keys: Sequence[Abstract]) -> bool:
    """Return whether an index has an ellipsis, which makes the result an array even of rank 0."""
    return any(isinstance(key, Known) and key.value is Ellipsis for key in keys)


def _is_fancy(ev: Evaluator, key: Abstract) -> bool:
    return isinstance(key, Value) and isinstance(ev.types[key], Array)


def index_operand(ev: Evaluator, index: Abstract) -> Any:
    if isinstance(index, Tuple):
        parts = [index_operand(ev, key) for key in index.items]
        if all(isinstance(part, Const) for part in parts):
            return Const(tuple(part.value for part in parts))
        return _index(ev, primitives.build_tuple, parts)
    if isinstance(index, SliceOf):
        ends = [ev.operand(end) for end in (index.start, index.stop, index.step)]
        if all(isinstance(end, Const) for end in ends):
            start, stop, step = (end.value for end in ends)  # type: ignore[union-attr]
            return Const(slice(start, stop, step))
        return _index(ev, primitives.build_slice, ends)
    return ev.operand(index)


def _index(ev: Evaluator, build: Any, operands: list[Operand]) -> Value:
    made = ev.operation(build, operands, ANYTHING, name="index")
    ev.indices[made] = tuple(operands)
    return made


def indexed_shape(ev: Evaluator, t: Array, keys: Sequence[Abstract]) -> tuple[Dim, ...]:
    """Return the shape of ``a[keys]`` for an array of type `t`."""
    used = sum(1 for key in keys if not _adds_axis(key) and not _keeps_array([key]))
    if used > len(t.shape):
        raise NotCovered("too many indices", ev.span)
    shape: list[Dim] = []
    axis, fancy, beside = 0, False, False
    for key in keys:
        if _adds_axis(key):
            shape.append(1)
        elif _keeps_array([key]):
            shape += t.shape[axis : axis + len(t.shape) - used]
            axis += len(t.shape) - used
        elif isinstance(key, SliceOf) or (isinstance(key, Known) and isinstance(key.value, slice)):
            shape.append(_sliced(ev, t.shape[axis], key))
            axis += 1
        elif _is_fancy(ev, key):
            of_key = ev.types[key]  # type: ignore[index]
            assert isinstance(of_key, Array)
            if of_key.dtype.kind not in "iu" or fancy:
                raise NotCovered("an index by a mask, or by several arrays", ev.span)
            fancy = True
            shape += of_key.shape
            axis += 1
        elif _is_whole(ev, key):
            beside = True
            axis += 1
        else:
            raise NotCovered("an index of another kind", ev.span)
    if fancy and beside:
        raise NotCovered("an index by an array beside numbers", ev.span)
    return (*shape, *t.shape[axis:])


def _adds_axis(key: Abstract) -> bool:
    return isinstance(key, Known) and key.value is None


def _is_whole(ev: Evaluator, key: Abstract) -> bool:
    """Return whether a part of an index is an integer."""
    if isinstance(key, Known):
        return type(key.value) is int
    t = ev.types[key] if isinstance(key, Value) else None
    return isinstance(t, Number) and all(k is int or issubclass(k, np.integer) for k in t.kinds)


def _sliced(ev: Evaluator, dim: Dim, key: Any) -> Dim:
    """Return the length of a slice of an axis of length `dim`."""
    part = known_slice(key)
    if part is None:
        ends = tuple(_named(ev, end) for end in (key.start, key.stop, key.step))
        return ev.derived("slice", dim, ends)
    if part == slice(None):
        return dim
    if isinstance(dim, int):
        return len(range(*part.indices(dim)))
    start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
    if step == -1 and part.start is None and stop is None:
        return dim
    if step == 1 and stop is None and start >= 0:
        return ev.derived("less", dim, start)
    if step == 1 and start >= 0 and stop is not None and stop < 0:
        return ev.derived("less", dim, start - stop)
    return ev.derived("slice", dim, (part.start, part.stop, part.step))


def _named(ev: Evaluator, end: Abstract) -> Any:
    if isinstance(end, Known):
        return end.value
    return ev.dims.get(end, end) if isinstance(end, Value) else end


# ---- unpacking -----------------------------------------------------------------------------------


def unpacked(ev: Evaluator, a: Abstract, n: int, starred: int | None) -> list[Abstract]:
    """Return the values of ``x, y, *z = a``."""
    if isinstance(a, Value):
        t = ev.types[a]
        length = t.shape[0] if starred is None and isinstance(t, Array) and t.shape else None
        if length is None or (isinstance(length, int) and length != n):
            raise NotCovered("unpacking something else than a tuple or a list", ev.span)
        if length != n:
            wrong = ev.infer(operator.ne, [length_of(ev, a, 0), Known(n)])
            ev.branch(wrong, ev._leave, list, ev.span)  # type: ignore[arg-type]
        return [item(ev, a, Known(i)) for i in range(n)]
    items_known = ev.sequence(a)
    if isinstance(a, Known) and type(a.value) is tuple:
        items_known = tuple(map(Known, a.value))
    if items_known is None and is_iterator(ev, a):
        from adjoint.fast.evaluate.iterables import listed

        found = listed(ev, a)
        items_known = None if found is None else tuple(found)
    if items_known is None:
        raise NotCovered("unpacking something else than a tuple or a list", ev.span)
    if starred is None:
        if len(items_known) != n:
            raise NotCovered("unpacking into another number of variables", ev.span)
        return list(items_known)
    after = n - starred - 1
    if len(items_known) < n - 1:
        raise NotCovered("unpacking into another number of variables", ev.span)
    middle = items_known[starred : len(items_known) - after]
    last = items_known[len(items_known) - after :] if after else ()
    return [*items_known[:starred], ev.allocate(ListOf(tuple(middle))), *last]


def is_iterator(ev: Evaluator, a: Abstract) -> bool:
    """Return whether `a` is an iterator or a ``range``."""
    return isinstance(a, Iterating) or isinstance(ev.held(a), IteratorOf)
