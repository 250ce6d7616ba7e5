"""New arrays from lists, tuples and ranges."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np

from adjoint.fast.evaluate.callees.arguments import is_none
from adjoint.fast.evaluate.callees.library import checked
from adjoint.fast.evaluate.callees.numpy_definitions import several, vectorized, windows
from adjoint.fast.evaluate.callees.samples import repeated
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.objects.memory_orders import is_contiguous, order_of
from adjoint.fast.evaluate.objects.records import columns, records
from adjoint.fast.evaluate.rows import array_of, row_of
from adjoint.fast.evaluate.types import Array, Dim, Number, is_covered, witnesses
from adjoint.fast.evaluate.values import (
    Abstract,
    DequeOf,
    External,
    Iterating,
    Known,
    ListOf,
    Partial,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Const, Operand, Value


@handler(np.array)
def _(
    ev: Evaluator,
    a: Abstract,
    dtype: Abstract = Known(None),
    *,
    copy: Abstract = Known(True),
    order: Abstract = Known("K"),
    subok: Abstract = Known(False),  # all arrays are of the class itself
    ndmin: Abstract = Known(0),
) -> Abstract:
    is_copied = isinstance(copy, Known) and copy.value is True
    orders = (None, "K", "A", "C") if is_copied else (None, "K")
    if not isinstance(order, Known) or order.value not in orders:
        raise NotCovered("an array of another order in memory", ev.span)
    if not isinstance(ndmin, Known) or type(ndmin.value) is not int:
        raise NotCovered("an array of a rank that is not known", ev.span)
    made = _array(ev, a, dtype, copy)
    missing = ndmin.value - len(ev.array_type(ev.operand(made)).shape)
    if missing <= 0:
        return made
    return ev.call(Known(np.expand_dims), [made, Known(tuple(range(missing)))], {})


def _array(ev: Evaluator, a: Abstract, dtype: Abstract, copy: Abstract) -> Abstract:
    """Evaluate ``np.array(a, dtype, copy=copy)``."""
    if not isinstance(copy, Known):
        raise NotCovered("an array that is copied or not", ev.span)
    if copy.value is not True:
        same = _as_it_is(ev, a, dtype)
        if same is not None:
            return same
        if copy.value is not None and copy.value is not getattr(_COPY_MODE, "IF_NEEDED", None):
            raise NotCovered("an array that must not be copied", ev.span)
    return new_array(ev, a, dtype)


_COPY_MODE: Any = getattr(np, "_CopyMode", None)
"""The other values of the option `copy`."""


def _as_it_is(ev: Evaluator, a: Abstract, dtype: Abstract) -> Abstract | None:
    """Return `a`, if it is an array of the dtype."""
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array):
        if isinstance(dtype, Known) and (dtype.value is None or np.dtype(dtype.value) == t.dtype):
            return a
    return None


@handler(np.ascontiguousarray)
def _(ev: Evaluator, a: Abstract, dtype: Abstract = Known(None)) -> Abstract:
    if isinstance(a, Value) and isinstance(ev.types[a], Array):
        same = _as_it_is(ev, a, dtype)
        if not ev.array_type(a).shape:
            raise NotCovered("an array of no axes as one of one axis", ev.span)
        if same is not None and ev.outside.is_leaf(a) and order_of(ev, a, is_contiguous):
            return same
        found = ev.operand(new_array(ev, a, dtype) if same is None else same)
        return ev.operation(np.ascontiguousarray, (found,), ev.array_type(found))
    return new_array(ev, a, dtype)


@handler(np.ndarray.astype)
def _(
    ev: Evaluator,
    a: Abstract,
    dtype: Abstract,
    order: Abstract = Known("K"),
    casting: Abstract = Known("unsafe"),
    subok: Abstract = Known(True),
    copy: Abstract = Known(True),
) -> Abstract:
    for option, default in ((order, "K"), (casting, "unsafe")):
        if not isinstance(option, Known) or option.value != default:
            raise NotCovered("an option of an array", ev.span)
    same = _as_it_is(ev, a, dtype)
    if same is None or not isinstance(copy, Known):
        return ev.infer(np.ndarray.astype, [a, dtype])
    if copy.value:
        operand = ev.operand(a)
        return ev.operation(np.array, (operand,), ev.array_type(operand))
    return same


@handler(np.asarray, np.asanyarray)
def _(
    ev: Evaluator,
    a: Abstract,
    dtype: Abstract = Known(None),
    order: Abstract = Known(None),
    copy: Abstract = Known(None),
) -> Abstract:
    is_c = isinstance(order, Known) and order.value == "C"
    if is_c and isinstance(a, Value) and isinstance(ev.types[a], Array) and ev.array_type(a).shape:
        order, a = Known(None), ev.call(Known(np.ascontiguousarray), [a, dtype], {})
    for option in (order, copy):
        if not isinstance(option, Known) or option.value is not None:
            raise NotCovered("an option of an array", ev.span)
    same = _as_it_is(ev, a, dtype)
    return new_array(ev, a, dtype) if same is None else same


def new_array(ev: Evaluator, a: Abstract, dtype: Abstract) -> Abstract:
    """Write ``np.array(a, dtype)``."""
    if not isinstance(dtype, Known):
        raise NotCovered("a dtype that is not known", ev.span)
    row = row_of(ev, a)
    if row is not None:
        return array_of(ev, row, dtype.value)
    if (held := records(ev, a)) is not None:
        arrays = ev.allocate(ListOf(tuple(new_array(ev, x, dtype) for x in columns(ev, held))))
        return ev.call(Known(np.stack), [arrays], {"axis": Known(1)})
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array):
        if dtype.value is not None and np.dtype(dtype.value) != t.dtype:
            return ev.call(Known(np.ndarray.astype), [a, dtype], {})
        return ev.operation(np.array, (a,), t)
    leaves: list[list[Any]] = []
    shape = _layout(ev, a, leaves)
    if not shape and leaves:
        return ev.infer(np.reshape, [new_array(ev, Tuple((a,)), dtype), Tuple(())])
    if not leaves:
        raise NotCovered("an array of something else than a list", ev.span)
    found, is_certain = _dtype(leaves, dtype.value)
    keywords = () if dtype.value is None else (("dtype", Const(found)),)
    made = ev.operation(np.array, (ev.operand(a),), Array(found, shape), keywords)
    return made if is_certain else checked(ev, made, Array(found, shape), ())


LISTED = frozenset({list, tuple, deque, range})
"""Classes whose objects NumPy converts to arrays item by item."""


def as_list(ev: Evaluator, a: Abstract) -> Abstract:
    """Return a deque or a range as a tuple; anything else unchanged."""
    held = ev.held(a)
    if isinstance(held, DequeOf):
        return Tuple(held.items)
    if isinstance(a, Iterating) and a.kind is range:
        ends = [x.value for x in a.operands if isinstance(x, Known)]
        if len(ends) == len(a.operands) and len(range(*ends)) <= MOST_LISTED:
            return Tuple(tuple(map(Known, range(*ends))))
    return a


MOST_LISTED = 64


def new_arrays(ev: Evaluator, args: Sequence[Abstract]) -> list[Abstract]:
    """Convert the lists and tuples among operands to arrays."""
    listed = (as_list(ev, x) for x in args)
    return [new_array(ev, x, Known(None)) if is_list(ev, x) else x for x in listed]


def with_arrays(ev: Evaluator, index: Abstract) -> Abstract:
    """Return an index whose lists are arrays, as NumPy takes them."""
    if isinstance(index, Tuple) and index.kind is tuple:
        made = [_array_key(ev, key) for key in index.items]
        same = all(x is y for x, y in zip(made, index.items, strict=True))
        return index if same else Tuple(tuple(made))
    if isinstance(index, Known) and type(index.value) is tuple:
        if any(isinstance(x, tuple | list) for x in index.value):
            return with_arrays(ev, Tuple(tuple(map(Known, index.value))))
    if isinstance(index, Known | Value):
        return index
    if isinstance(index, External) and isinstance(index.sample, tuple):
        return with_arrays(ev, Tuple(ev.sequence(index) or ()))
    return new_arrays(ev, (index,))[0]


def _array_key(ev: Evaluator, key: Abstract) -> Abstract:
    """Return a part of an index; a list, a tuple or a range as an array."""
    if isinstance(key, Iterating) and key.kind is range:
        return ev.call(Known(np.arange), key.operands, {})
    if isinstance(key, Known) and isinstance(key.value, tuple | list):
        key = Tuple(tuple(map(Known, key.value)))
    if isinstance(key, External) and isinstance(key.sample, tuple):
        key = Tuple(ev.sequence(key) or ())
    if isinstance(key, Tuple):
        return new_array(ev, key, Known(None))
    return with_arrays(ev, key)


def is_list(ev: Evaluator, a: Abstract) -> bool:
    return row_of(ev, a) is not None or (
        not isinstance(a, Value | Known) and ev.sequence(a) is not None
    )


@handler(np.ndarray)
def _(ev: Evaluator, shape: Abstract, dtype: Abstract = Known(float)) -> Abstract:
    return ev.infer(np.empty, [shape], [("dtype", dtype)])


@handler(np.where)
def _(ev: Evaluator, condition: Abstract, *values: Abstract) -> Abstract:
    return ev.infer(np.where if values else np.nonzero, [condition, *values])


if hasattr(np, "vecdot"):

    @handler(np.vecdot)
    def vecdot(ev: Evaluator, a: Abstract, b: Abstract, *, axis: Abstract = Known(-1)) -> Abstract:
        if not isinstance(axis, Known) or axis.value != -1:
            last = Known(-1)
            a, b = (ev.call(Known(np.moveaxis), [x, axis, last], {}) for x in (a, b))
        return ev.infer(np.vecdot, [a, b])


@handler(np.broadcast_arrays)
def _(ev: Evaluator, *args: Abstract, subok: Abstract = Known(False)) -> Abstract:
    """Each array or number, or a view of it in the common shape."""
    is_array = [isinstance(x, Value) and isinstance(ev.types[x], Array) for x in args]
    if args and not any(is_array) and all(map(_is_array_or_number, repeat(ev), args)):
        return _several(ev, tuple(ev.call(Known(np.asarray), [x], {}) for x in args))
    if not any(is_array) or not all(map(_is_array_or_number, repeat(ev), args)):
        raise NotCovered("a broadcast of something else than arrays", ev.span)
    arrays = tuple(ev.operand(x) for x, chosen in zip(args, is_array, strict=True) if chosen)
    operands, shape = ev.broadcast_together(arrays)
    to = Tuple(tuple(_abstract(ev.length_operand(n, operands)) for n in shape))
    rest = iter(operands)
    whole = [_abstract(next(rest)) if one else x for x, one in zip(args, is_array, strict=True)]
    found: tuple[Any, ...] = tuple(
        x if one and ev.array_type(x).shape == shape else ev.infer(np.broadcast_to, [x, to])  # type: ignore[arg-type]
        for x, one in zip(whole, is_array, strict=True)
    )
    return _several(ev, found)


def _is_array_or_number(ev: Evaluator, x: Abstract) -> bool:
    if isinstance(x, Value):
        return isinstance(ev.types[x], Array | Number)
    return isinstance(x, Known) and type(x.value) in (float, int, bool)


def _several(ev: Evaluator, found: tuple[Any, ...]) -> Abstract:
    return Tuple(found) if several is tuple else ev.allocate(ListOf(found))


def _at_least(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *arrays: Abstract) -> Abstract:
        found = tuple(ev.infer(f, [x]) for x in new_arrays(ev, arrays))
        return found[0] if len(found) == 1 else _several(ev, found)


for _f in (np.atleast_1d, np.atleast_2d):
    _at_least(_f)


def _abstract(x: Operand) -> Abstract:
    return Known(x.value) if isinstance(x, Const) else x  # type: ignore[return-value]


@handler(np.vectorize)
def _(ev: Evaluator, pyfunc: Abstract) -> Abstract:
    return Partial(ev.outside.own(vectorized), (pyfunc,), ())


@handler(np.lib.stride_tricks.sliding_window_view)
def _(ev: Evaluator, x: Abstract, *args: Abstract, **keywords: Abstract) -> Abstract:
    """The program reads the windows into an array, which stands for a view of `x`."""
    made = ev.call(ev.outside.own(windows), [x, *args], keywords)
    if isinstance(made, Value):
        ev.fresh.discard(made)
        ev.note_alias(made, [ev.operand(x)])
    return made


@handler(np.stack)
def _(ev: Evaluator, arrays: Abstract, axis: Abstract = Known(0)) -> Abstract:
    first = isinstance(axis, Known) and type(axis.value) is int and axis.value == 0
    if row_of(ev, arrays) is not None:
        arrays = new_array(ev, arrays, Known(None))
        return arrays if first else ev.infer(np.stack, [arrays, axis])
    items = ev.sequence(arrays)
    if first and items and all(isinstance(x, Value) for x in items):
        if all(isinstance(ev.types[x], Array) for x in items):  # type: ignore[index]
            return new_array(ev, arrays, Known(None))
    return ev.infer(np.stack, [arrays, axis])


def _layout(ev: Evaluator, a: Abstract, leaves: list[list[Any]]) -> tuple[Dim, ...]:
    """Return the shape of the array made of a structure; append to `leaves` one list of examples,
    of each possible class, per number or array."""
    if isinstance(a, Value) and isinstance(t := ev.types[a], Number | Array):
        leaves.append(witnesses(t) if isinstance(t, Number) else [t.dtype.type(1)])
        return t.shape if isinstance(t, Array) else ()
    if isinstance(a, Known) and type(a.value) in (int, float, bool, complex):
        if type(a.value) is int and abs(a.value) > 2**53:
            raise NotCovered("an array of large integers", ev.span)
        leaves.append([a.value])
        return ()
    if isinstance(a, Known) and type(a.value) in (list, tuple):  # an operand of a rule
        items: Sequence[Abstract] | None = tuple(map(Known, a.value))
    else:
        a = as_list(ev, a)
        items = ev.sequence(a) if not isinstance(a, Value | Known) else None
    if not items:
        raise NotCovered("an array of something else than a list", ev.span)
    shapes = {_layout(ev, x, leaves) for x in items}
    if len(shapes) > 1:
        raise NotCovered("an array of parts of several shapes", ev.span)
    return (len(items), *shapes.pop())


def _dtype(leaves: list[list[Any]], given: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype of the array, and whether it is certain: it is float64 for all classes that
    the numbers may have but integers alone. Not covered if it depends on these classes otherwise,
    or if there are none: where the numbers are made, an exception is raised in any case."""
    is_certain = True
    if not all(leaves):
        raise NotCovered("a call that raises in any case")
    if given is not None:
        found: np.dtype[Any] = np.dtype(given)
    else:
        ends = [
            [min(kinds, key=lambda x: np.dtype(type(x)).num) for kinds in leaves],
            [max(kinds, key=lambda x: np.dtype(type(x)).num) for kinds in leaves],
        ]
        dtypes: set[np.dtype[Any]] = {np.array(end).dtype for end in ends}
        found = max(dtypes, key=lambda one: one.num)
        is_certain = len(dtypes) == 1
        if not is_certain and (
            found != np.float64 or min(dtypes, key=lambda one: one.num).kind != "i"
        ):
            raise NotCovered("an array of numbers of several classes")
    if not is_covered(found.type):
        raise NotCovered(f"an array of dtype {found}")
    if found.kind != "c" and any(np.iscomplexobj(x) for kinds in leaves for x in kinds):
        raise NotCovered(f"complex numbers in an array of dtype {found}")
    return found, is_certain


@handler(np.arange)
def _(
    ev: Evaluator,
    start: Abstract,
    stop: Abstract = Known(None),
    step: Abstract = Known(None),
    *,
    dtype: Abstract = Known(None),
) -> Abstract:
    ends = [start] if is_none(stop) else [start, stop]
    if not is_none(step):
        ends = [*([Known(0)] if is_none(stop) else []), *ends, step]
    return ev.infer(np.arange, ends, () if is_none(dtype) else [("dtype", dtype)])


@handler(np.linspace)
def _(
    ev: Evaluator,
    start: Abstract,
    stop: Abstract,
    num: Abstract = Known(50),
    *,
    endpoint: Abstract = Known(True),
    dtype: Abstract = Known(None),
) -> Abstract:
    if not is_none(dtype) and not (isinstance(dtype, Known) and dtype.value in (float, np.float64)):
        raise NotCovered("linspace of another dtype", ev.span)
    for x in (start, stop):
        t = ev.types[x] if isinstance(x, Value) else None
        if isinstance(t, Number) and not t.kinds <= {float, np.float64}:
            raise NotCovered("linspace between integers of the caller's", ev.span)
    return ev.infer(np.linspace, [start, stop, num], [("endpoint", endpoint)])


def _repeats(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, repeats: Abstract, axis: Abstract = Known(None)) -> Abstract:
        """Take the elements at repeated places where there is an array of counts."""
        n = ev.types[repeats] if isinstance(repeats, Value) else None
        if isinstance(n, Array) and len(n.shape) == 1 and n.shape[0] != 1:
            return ev.call(ev.outside.own(repeated), [a, repeats, axis], {})
        return ev.infer(f, [a, repeats, axis])


_repeats(np.repeat)
_repeats(np.ndarray.repeat)
