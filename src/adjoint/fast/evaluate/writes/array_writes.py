"""Writes to arrays.

The program writes in place, like the function: to arrays that it made in memory of their own, to
arrays from outside, whose incoming contents the entry code keeps (`support.outside_writes`), and to
views of both (`writes.views`). `reverse.contents` copies contents that the reverse sweep reads and
that are overwritten later.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.new_arrays import new_arrays, with_arrays
from adjoint.fast.evaluate.indices import (
    along_new_axis,
    index_operand,
    indexed_shape,
    is_fancy,
    is_truth_value,
    keys_of,
)
from adjoint.fast.evaluate.result_types.ones import name_of
from adjoint.fast.evaluate.types import Array, Dim, Number, has_complex, is_inexact, type_of
from adjoint.fast.evaluate.values import Abstract, Known, ListOf, Ref, SliceOf, Tuple
from adjoint.fast.evaluate.writes.views import demand_view
from adjoint.fast.not_covered import CarriedWrite, NotCovered, UnknownSizes
from adjoint.fast.single_assignment.walk import callee_of, walk_ops
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand, Value


def _demand_own(ev: Evaluator, a: Value, value: Any) -> Array:
    t = ev.types[a]
    if not isinstance(t, Array):
        raise NotCovered(f"a write to {t}", ev.span)
    owners = ev.owners(a)
    _demand_may_write(ev, owners[-1])
    of_value = ev.types[value] if isinstance(value, Value) else None
    if t.dtype.kind in "iub" and is_inexact(of_value or type_of(getattr(value, "value", None))):
        raise NotCovered(f"a write of {of_value} to {t}", ev.span)
    is_complex = isinstance(value, Const) and isinstance(value.value, complex)
    if t.dtype.kind == "f" and (is_complex or has_complex(of_value)):
        raise NotCovered("a write of a complex number to a real array", ev.span)
    ev.written.update(owners)
    for view in owners[-2::-1]:
        demand_view(ev, view)
    return t


def _demand_may_write(ev: Evaluator, a: Value) -> None:
    """Require that the program may write to an array: to its own, or one from outside."""
    if a in ev.locked:
        raise NotCovered("a write to an array that is read-only", ev.span)
    if a in ev.fresh:
        return
    leaf = next((leaf for leaf in ev.outside.leaves if leaf.value is a), None)
    place = ev.place_now()
    if leaf is not None and ev.outside.may_write(leaf.source, True):
        return
    if leaf is None and a not in ev.rows_of and place not in ev.outside.shared_writes:
        ev.unsure.setdefault(a, place)
        return
    reason = "a write to an array that the function is not known to have made"
    raise CarriedWrite(a, reason, ev.span)


def _given(ev: Evaluator, a: Value, value: Abstract) -> Operand:
    """Return the operand to write to `a`; copy an alias of `a`, as NumPy does."""
    given = ev.operand(*new_arrays(ev, (value,)))
    t = ev.types[given] if isinstance(given, Value) else None
    if isinstance(t, Array) and _share(ev, a, given):
        return ev.operation(np.copy, (given,), t)
    return given


def _share(ev: Evaluator, a: Value, value: Operand) -> bool:
    """Return whether a value may show elements of an array that is written to."""
    return not ev.aliased_by(value).isdisjoint(ev.owners(a))


def put(ev: Evaluator, a: Value, index: Abstract, value: Abstract) -> None:
    """Write ``a[index] = value``."""
    _write_part(ev, runtime.put, a, index, value)


def _write_part(ev: Evaluator, f: Any, a: Value, index: Abstract, value: Abstract) -> None:
    """Write to a part of an array by `f`: `runtime.put` or `runtime.scatter`."""
    index = with_arrays(ev, index)
    if is_truth_value(ev, index):
        a, index = along_new_axis(ev, a, index)
    given = _given(ev, a, value)
    t = _demand_own(ev, a, given)
    shape = indexed_shape(ev, t, keys_of(index))
    if f is runtime.put and isinstance(value, Value) and _share(ev, a, value):
        _demand_order(ev, a, index, shape, value)
    of_value = ev.type_at(given)
    if isinstance(of_value, Array) and of_value.shape != shape:
        if len(of_value.shape) > len(shape):
            raise NotCovered("a write of an array with more axes than there are", ev.span)
        if f is runtime.put:
            f = runtime.put_broadcast  # NumPy raises where the lengths do not fit
    ev.write(Call(None, Const(f), (a, index_operand(ev, index), given), (), ev.span))


def _demand_order(
    ev: Evaluator, a: Value, index: Abstract, shape: Sequence[Dim], value: Value
) -> None:
    """Demand that NumPy assigns an alias of `a` as if it were a copy: it copies what has several
    axes first, and moves elements along one axis by one distance."""
    basic = not any(is_fancy(ev, key) for key in keys_of(index))
    if basic and len(shape) != 1:
        return
    owner, part = (a, Known(slice(None))) if value is a else ev.parts_of.get(value, (None, index))
    steps, others = [*map(_step, keys_of(index))], [*map(_step, keys_of(part))]
    if owner is not a or not basic or steps != others or None in steps:
        raise NotCovered("a write within overlapping memory", ev.span)


def _step(index: Abstract) -> int | None:
    """Return the step of a slice, if it is known and positive; 0 for an integer."""
    if isinstance(index, Value) or (isinstance(index, Known) and type(index.value) is int):
        return 0
    if isinstance(index, Known) and index.value is Ellipsis:
        return 1
    if isinstance(index, Known) and isinstance(index.value, slice):
        step = index.value.step
    elif isinstance(index, SliceOf) and isinstance(index.step, Known):
        step = index.step.value
    else:
        return None
    step = 1 if step is None else step
    return step if type(step) is int and step > 0 else None


def add_at(ev: Evaluator, a: Abstract, index: Abstract, value: Abstract) -> Abstract:
    """Write ``np.add.at(a, index, value)``."""
    if not isinstance(a, Value):
        raise NotCovered("a write to something else than an array", ev.span)
    _write_part(ev, runtime.scatter, a, index, value)
    return Known(None)


_UPDATES = {
    operator.add: runtime.add_to,
    operator.sub: runtime.subtract_from,
    operator.mul: runtime.scale,
    operator.truediv: runtime.divide,
}


def is_alias_of_part(ev: Evaluator, a: Value, index: Abstract, value: Abstract) -> bool:
    """Return whether `value` is an alias of ``a[index]``, as at the end of ``a[index] += ...``,
    which has written to `a`."""
    if not isinstance(value, Value) or value not in ev.parts_of:
        return False
    owner, at = ev.parts_of[value]
    if owner is not a or a not in ev.written:
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
        if _adds_to_part(ev, f, a, value):
            _add_to_part(ev, a, value if f is operator.add else ev.infer(operator.neg, [value]))
        else:
            put(ev, owner, index, ev.call(Known(f), [a, value], {}))
        return a
    given = _given(ev, a, value)
    t = _demand_own(ev, a, given)
    of_value = ev.types[given] if isinstance(given, Value) else None
    if f not in _UPDATES or not _is_updated(f, of_value, t):
        put(ev, a, Known(Ellipsis), ev.call(Known(f), [a, value], {}))
        return a
    if isinstance(of_value, Number) and t.dtype.char not in "dD":
        if not of_value.kinds <= {float, int, complex}:
            raise NotCovered("an augmented assignment of another dtype", ev.span)
    ev.write(Call(None, Const(_UPDATES[f]), (a, given), (), ev.span))
    return a


def _adds_to_part(ev: Evaluator, f: Any, part: Value, value: Abstract) -> bool:
    """Return whether ``part += value`` or ``-=`` adds an array of the same dtype with as many axes,
    apart from its memory, to a view."""
    made = ev.views.get(part)
    if f not in (operator.add, operator.sub) or made is None:
        return False
    if made.callee != Const(operator.getitem) or made.operands[0] != ev.parts_of[part][0]:
        return False
    t, of_value = ev.types[part], ev.types[value] if isinstance(value, Value) else None
    if not isinstance(t, Array) or not isinstance(of_value, Array) or t.dtype.kind not in "fc":
        return False
    alike = of_value.dtype == t.dtype and len(of_value.shape) == len(t.shape) > 0
    return alike and not _share(ev, ev.parts_of[part][0], ev.operand(value))


def _add_to_part(ev: Evaluator, part: Value, value: Abstract) -> None:
    owner, index = ev.views[part].operands
    given = ev.operand(value)
    assert isinstance(owner, Value)
    _demand_own(ev, owner, given)
    is_whole = ev.array_type(part).shape == ev.array_type(given).shape
    add = runtime.add_part if is_whole else runtime.add_at
    ev.write(Call(None, Const(add), (owner, index, given), (), ev.span))


def write_into(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate ``f(*args, out=out)``: a write of the result; with ``where=``, of some elements."""
    named = dict(keywords)
    out, where = named.pop("out"), named.pop("where", None)
    if isinstance(out, Tuple) and len(out.items) == 1:
        (out,) = out.items
    t = ev.types[out] if isinstance(out, Value) else None
    if not isinstance(out, Value) or not isinstance(t, Array):
        raise NotCovered(f"{name_of(f)} with something else than an array to write to", ev.span)
    if not isinstance(f, np.ufunc) and f not in _OF_UFUNCS:  # a ufunc copies what overlaps first
        _demand_apart(ev, args, out)
    if where is None:
        y = ev.call(Known(f), args, named)
        of_y = ev.types[y] if isinstance(y, Value) else None
        if not isinstance(f, np.ufunc):
            if (of_y.dtype if isinstance(of_y, Array) else np.float64) != t.dtype:
                raise NotCovered(f"{name_of(f)} into an array of another dtype", ev.span)
            if getattr(of_y, "shape", ()) != t.shape:
                y = _in_shape(ev, y, of_y, out, t)
        put(ev, out, Known(Ellipsis), y)
        return out
    if not isinstance(f, np.ufunc):
        raise NotCovered(f"an option of {name_of(f)}", ev.span)
    where, *given = (_spread(ev, x, out, t) for x in (where, *args))
    of_where = ev.types[where] if isinstance(where, Value) else None
    if not isinstance(of_where, Array) or of_where.dtype.kind != "b":
        raise NotCovered("a condition that is not an array of truth values", ev.span)
    chosen = [
        ev.call(Known(operator.getitem), [x, where], {})
        if isinstance(x, Value) and isinstance(ev.types[x], Array)
        else x
        for x in given
    ]
    put(ev, out, where, ev.call(Known(f), chosen, named))
    return out


_OF_UFUNCS = (np.clip, np.ndarray.clip)
"""Functions that pass the array to write to on to a ufunc."""


def _demand_apart(ev: Evaluator, args: Sequence[Abstract], out: Value) -> None:
    """Require that no operand shares memory with the array that is written."""
    memory = ev.aliased_by(out)
    for x in args:
        held = ev.heap[x.address] if isinstance(x, Ref) else x
        for part in held.items if isinstance(held, ListOf | Tuple) else (held,):
            if not isinstance(part, Value | Known) or (
                isinstance(part, Value) and not memory.isdisjoint(ev.aliased_by(part))
            ):
                raise NotCovered("a write within overlapping memory", ev.span)


def _in_shape(ev: Evaluator, y: Abstract, of_y: Any, out: Value, t: Array) -> Abstract:
    """Write the check that a result has the shape of the array that it is written to."""
    if not isinstance(y, Value) or not isinstance(of_y, Array) or len(of_y.shape) != len(t.shape):
        raise NotCovered("an array to write to of another shape", ev.span)
    lengths = tuple(ev.length_operand(n, (out,)) for n in t.shape)
    return ev.with_shape(y, of_y, lengths, t.shape)


def _spread(ev: Evaluator, x: Abstract, out: Value, t: Array) -> Abstract:
    """Return an operand in the shape of `out`; a number as it is."""
    of_x = ev.types[x] if isinstance(x, Value) else None
    if not isinstance(of_x, Array) or of_x.shape == t.shape:
        return x
    shape = ev.call(Known(getattr), [out, Known("shape")], {})
    try:
        return ev.call(Known(np.broadcast_to), [x, shape], {})
    except UnknownSizes:
        return _in_shape(ev, x, of_x, out, t)


def _is_updated(f: Any, of_value: Any, t: Array) -> bool:
    """Return whether the program may write ``a += value``, not only the whole ``a = a + value``:
    the reverse sweep divides and multiplies by constants only, and sums over known axes."""
    if of_value is not None and f in (operator.mul, operator.truediv):
        return False
    if not isinstance(of_value, Array):
        return True
    pairs = zip(of_value.shape[::-1], t.shape[::-1], strict=False)
    fits = len(of_value.shape) <= len(t.shape) and all(m in (1, n) for m, n in pairs)
    return fits and of_value.dtype == t.dtype


def written_in(ops: Sequence[Any]) -> set[Any]:
    """Return the operands that some operations write to."""
    return {
        op.operands[0]
        for op in walk_ops(ops)
        if isinstance(op, Call) and callee_of(op) in runtime.WRITES | runtime.BUFFER_WRITES
    }
