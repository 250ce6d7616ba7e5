"""Parts of subscripts: as operands of the program, and the shapes that they select."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.result_types.lengths import (
    UNIT,
    Misfit,
    fresh_length,
    settled,
    smaller,
)
from adjoint.fast.evaluate.result_types.records import broadcast
from adjoint.fast.evaluate.types import ANYTHING, Array, Dim, Number, Symbol
from adjoint.fast.evaluate.values import Abstract, Known, SliceOf, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import primitives
from adjoint.ir.single import Const, Operand, Value


def known_slice(index: Abstract) -> slice | None:
    """Return `index` as a slice with known ends, or ``None``."""
    if isinstance(index, Known) and isinstance(index.value, slice):
        return index.value
    if isinstance(index, SliceOf):
        ends = (index.start, index.stop, index.step)
        if all(isinstance(end, Known) for end in ends):
            return slice(*(end.value for end in ends))  # type: ignore[union-attr]
    return None


def keys_of(index: Abstract) -> tuple[Abstract, ...]:
    """Return the parts of an index."""
    if isinstance(index, Known) and type(index.value) is tuple:
        return tuple(map(Known, index.value))
    return index.items if isinstance(index, Tuple) else (index,)


def keeps_array(keys: Sequence[Abstract]) -> bool:
    """Return whether an index has an ellipsis, which makes the result an array even of rank 0."""
    return any(isinstance(key, Known) and key.value is Ellipsis for key in keys)


def is_fancy(ev: Evaluator, key: Abstract) -> bool:
    return isinstance(key, Value) and isinstance(ev.types[key], Array)


def is_truth_value(ev: Evaluator, index: Abstract) -> bool:
    """Return whether an index is a mask of rank 0: it selects all or nothing along a new axis."""
    t = ev.types[index] if isinstance(index, Value) else None
    if isinstance(t, Number):
        return t.kinds == {np.bool_}
    return isinstance(t, Array) and t.dtype == bool and not t.shape


def along_new_axis(ev: Evaluator, a: Value, mask: Abstract) -> tuple[Value, Abstract]:
    """Return ``a[None]``, and a mask of rank 1 for one of rank 0."""
    whole = ev.call(Known(operator.getitem), [a, Known(None)], {})
    assert isinstance(whole, Value)
    return whole, ev.call(Known(np.reshape), [mask, Known((1,))], {})


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
    ev.note_alias(made, [x for x in operands if isinstance(x, Value)])
    return made


def indexed_shape(ev: Evaluator, t: Array, keys: Sequence[Abstract]) -> tuple[Dim, ...]:
    """Return the shape of ``a[keys]`` for an array of type `t`.

    Arrays, and integers beside them, select elements together: their shapes are broadcast. The
    axes of this shape stand where these parts of the index stand, or first if other parts are
    between them.
    """
    used = sum(_axes_used(ev, key) for key in keys)
    if used > len(t.shape):
        raise NotCovered("too many indices", ev.span)
    shape: list[Dim] = []
    axis = 0
    selecting: list[tuple[Dim, ...]] = []
    places: list[int] = []
    at = 0
    for place, key in enumerate(keys):
        if _adds_axis(key):
            shape.append(1)
        elif keeps_array([key]):
            shape += t.shape[axis : axis + len(t.shape) - used]
            axis += len(t.shape) - used
        elif isinstance(key, SliceOf) or (isinstance(key, Known) and isinstance(key.value, slice)):
            shape.append(_sliced(ev, t.shape[axis], key))
            axis += 1
        elif is_fancy(ev, key) or _is_whole(ev, key):
            at = at if places else len(shape)
            places.append(place)
            selecting.append(_selected(ev, key))
            axis += _axes_used(ev, key)
        else:
            raise NotCovered("an index of another kind", ev.span)
    if any(is_fancy(ev, key) for key in keys):
        if places[-1] - places[0] >= len(places):
            at = 0
        shape[at:at] = _broadcast(ev, selecting)
    return (*shape, *t.shape[axis:])


def _axes_used(ev: Evaluator, key: Abstract) -> int:
    """Return how many axes a part of an index stands for."""
    if _adds_axis(key) or keeps_array([key]):
        return 0
    t = ev.types[key] if isinstance(key, Value) else None
    return len(t.shape) if isinstance(t, Array) and t.dtype.kind == "b" else 1


def _selected(ev: Evaluator, key: Abstract) -> tuple[Dim, ...]:
    """Return the shape of what an array, or an integer, selects."""
    t = ev.types[key] if isinstance(key, Value) else None
    if not isinstance(t, Array):
        return ()
    if t.dtype.kind == "b" and t.shape:
        assert isinstance(key, Value)
        may_be_written = not all(map(ev.outside.is_leaf, ev.aliased_by(key)))
        return (fresh_length() if may_be_written else ev.derived("count", key),)
    if t.dtype.kind not in "iu":
        raise NotCovered("an index that is an array of another kind", ev.span)
    return t.shape


def _broadcast(ev: Evaluator, shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    try:
        return broadcast(*shapes)  # type: ignore[return-value]
    except Misfit as error:
        ev.demand_known("indices of lengths that are not known to fit", *error.pair)
        raise NotCovered("indices of lengths that are not known to fit", ev.span) from None


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
    if isinstance(key, SliceOf):
        key = SliceOf(*(_with_known(ev, end) for end in (key.start, key.stop, key.step)))
    part = known_slice(key)
    if part is None:
        start, stop, step = (_named(ev, end) for end in (key.start, key.stop, key.step))
        is_leading = start in (None, 0) and step in (None, 1)
        if is_leading and isinstance(stop, Symbol) and _is_length(stop, dim):
            return settled(smaller(dim, stop), ev.derived)  # type: ignore[no-any-return]
        return ev.derived(UNIT if _is_unit(ev, key) else "slice", dim, (start, stop, step))
    if part == slice(None):
        return dim
    if isinstance(dim, int):
        return len(range(*part.indices(dim)))
    start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
    if step == -1 and part.start is None and stop is None:
        return dim
    if step == 1 and _is_unit_slice(start, stop):
        long_enough = dim.is_argument and start in (0, 1, -1, -2)
        return 1 if long_enough else ev.derived(UNIT, dim, (start, stop, step))
    if step == 1 and stop is None and start >= 0:
        return ev.derived("less", dim, start)
    if step == 1 and start >= 0 and stop is not None and stop < 0:
        return ev.derived("less", dim, start - stop)
    return ev.derived("slice", dim, (part.start, part.stop, part.step))


def _is_unit_slice(start: int, stop: int | None) -> bool:
    """Return whether a slice with known ends is of one element, if the axis is long enough."""
    return start == -1 if stop is None else stop == start + 1 and stop != 0


def _is_length(n: Symbol, dim: Dim) -> bool:
    """Return whether an integer is the length of an array, and not negative."""
    return n == dim or n.is_argument or n.key[:1] == ("smaller",)


def _is_unit(ev: Evaluator, key: SliceOf) -> bool:
    """Return whether a slice is ``k : k + 1``."""
    if not isinstance(key.start, Value) or not isinstance(key.stop, Value):
        return False
    is_plain = isinstance(key.step, Known) and key.step.value in (None, 1)
    return is_plain and ev.integers.get(key.stop) in (
        (operator.add, (key.start, Const(1))),
        (operator.add, (Const(1), key.start)),
    )


def _with_known(ev: Evaluator, end: Abstract) -> Abstract:
    """Return an end of a slice, as `Known` if its value has to be known."""
    known = ev.known_integer(end) if isinstance(end, Value) else None
    return end if known is None else Known(known)


def _named(ev: Evaluator, end: Abstract) -> Any:
    if isinstance(end, Known):
        return end.value
    return ev.dims.get(end, end) if isinstance(end, Value) else end
