"""Handlers of functions of numbers and arrays that result types alone do not cover."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import attribute
from adjoint.fast.evaluate.calls import fold_known, infer_call
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.operators import is_numeric
from adjoint.fast.evaluate.handlers.sorting import first, first_of_many
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import collected, listed
from adjoint.fast.evaluate.items import length_of, product
from adjoint.fast.evaluate.rows import as_row, reduced, row_of
from adjoint.fast.evaluate.types import Array, Number, has_complex, number, witnesses
from adjoint.fast.evaluate.values import Abstract, Flag, Known, ListOf, Tuple
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir.single import Value
from adjoint.rulekit.partials import is_constant
from adjoint.rules.python.math_of_many import distance


@handler(float)
def _(ev: Evaluator, a: Abstract = Known(0)) -> Abstract:
    if isinstance(a, Known) and isinstance(a.value, int | float) and not isinstance(a, Flag):
        return Known(float(a.value))
    if isinstance(a, Value):
        t = ev.types[a]
        if has_complex(t):
            raise NotCovered("float of a complex number", ev.span)
        if isinstance(t, Number) and t.kinds <= {float}:
            return a
        if isinstance(t, Number) or all(d == 1 for d in t.shape):  # type: ignore[union-attr]
            return ev.infer(float, [a])
    if isinstance(a, Known) and type(a.value) is str:
        try:
            return Known(float(a.value))
        except ValueError:
            raise Raises(ValueError, "float of a text that is no number", ev.span) from None
    raise Raises(_error_of_float(ev, a), "float of something else than a number", ev.span)


def _error_of_float(ev: Evaluator, a: Abstract) -> type[BaseException] | None:
    """Return the exception that ``float(a)`` certainly raises, if it is known."""
    if isinstance(a, Value):
        t = ev.types[a]
        shape = t.shape if isinstance(t, Array) else ()
        several = any(d != 1 if isinstance(d, int) else d.is_argument for d in shape)
        return TypeError if several else None  # NumPy: "only length-1 arrays can be converted"
    return TypeError if ev.class_of(a) in (list, tuple, dict, type(None)) else None


@handler(int)
def _(ev: Evaluator, a: Abstract = Known(0), *base: Abstract) -> Abstract:
    if isinstance(a, Value) and a in ev.dims:
        return a
    if isinstance(a, Value) and isinstance(ev.types[a], Number) and not has_complex(ev.types[a]):
        return ev.infer(int, [a, *base])
    constants = [x.value for x in (a, *base) if isinstance(x, Known) and not isinstance(x, Flag)]
    if len(constants) != 1 + len(base) or not isinstance(a.value, _TO_INTEGER):  # type: ignore[union-attr]
        raise NotCovered("int has a rule", ev.span)
    try:
        return Known(int(*constants))
    except Exception as error:
        raise Raises(type(error), "int of what is no integer", ev.span) from None


@handler(math.dist)
def _(ev: Evaluator, p: Abstract, q: Abstract) -> Abstract:
    """Of lists and tuples, it is the norm of a difference."""
    if ev.sequence(p) is None or ev.sequence(q) is None:
        return ev.infer(math.dist, [p, q])
    return ev.call(ev.outside.own(distance), [p, q], {})


def _number_of_numpy(kind: type) -> None:
    @handler(kind)
    def _(ev: Evaluator, a: Abstract) -> Abstract:
        if isinstance(a, Known) and type(a.value) in (int, float):
            return Known(kind(a.value))
        t = ev.types[a] if isinstance(a, Value) else None
        if isinstance(t, Array) and t.shape and t.dtype.kind != "c":
            return ev.call(Known(np.asarray), [a, Known(np.dtype(kind))], {})
        if not isinstance(t, Number) or has_complex(t):
            raise NotCovered(f"{kind.__name__} has a rule", ev.span)
        return a if t == number(kind) else ev.operation(kind, (ev.operand(a),), number(kind))


for _kind in (np.float64, np.float32, np.float16, np.int64, np.int32):
    _number_of_numpy(_kind)


_TO_INTEGER = (int, float, str, type(None), tuple)


def _extreme(f: Any) -> None:
    @handler(f)
    def _(
        ev: Evaluator,
        *operands: Abstract,
        key: Abstract = Known(None),
        default: Abstract | None = None,
    ) -> Abstract:
        items: Sequence[Abstract] | None = operands
        is_plain = isinstance(key, Known) and key.value is None
        if default is not None and len(operands) != 1:
            raise NotCovered(f"such a call of {f.__name__}", ev.span)
        if not is_plain or default is not None:
            given = listed(ev, operands[0]) if len(operands) == 1 else [*operands]
            if given is None:
                return first_of_many(ev, f, operands[0], key, default)
            if default is not None and not given:
                return default
            items = given
            if not is_plain and given:
                return first(ev, f, given, key)
            operands = (ev.allocate(ListOf(tuple(given))),)
        if len(operands) == 1:
            row = row_of(ev, operands[0])
            if row is None:
                made = collected(ev, operands[0])
                row, items = row_of(ev, made), ev.sequence(made)
            if row is not None:
                return reduced(ev, rows.greatest if f is max else rows.least, row)
        if items and not all(map(is_numeric, items)):
            return first(ev, f, [*items], Known(None))
        if not items:
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
            if has_complex(t):
                raise NotCovered(f"{f.__name__} of complex numbers", ev.span)
            kinds |= t.kinds
        return ev.operation(f, tuple(map(ev.operand, items)), Number(frozenset(kinds)))


for _f in (max, min):
    _extreme(_f)


def _class_of_numbers(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, x: Abstract) -> Abstract:
        """The answer for an integer is known, though the integer may not be."""
        t = ev.types[x] if isinstance(x, Value) else None
        if isinstance(t, Number) and t.kinds <= {int, bool}:
            return Known(f is math.isfinite)
        folded = fold_known(f, [x], {})
        return infer_call(ev, f, [x], {}) if folded is None else folded


for _test in (math.isnan, math.isinf, math.isfinite):
    _class_of_numbers(_test)


@handler(np.mean, np.ndarray.mean)
def _(
    ev: Evaluator,
    a: Abstract,
    axis: Abstract = Known(None),
    *,
    keepdims: Abstract = Known(False),
    where: Abstract = Known(True),
) -> Abstract:
    """Divide the sum by the number of elements, as NumPy does."""
    t = ev.types.get(a) if isinstance(a, Value) else None
    plain = isinstance(t, Array) and t.dtype.char in "fdD"  # NumPy divides other dtypes differently
    whole = isinstance(where, Known) and where.value is True
    if not plain or not whole or not isinstance(axis, Known) or not isinstance(keepdims, Known):
        return infer_call(ev, np.mean, [a, axis], {"keepdims": keepdims, "where": where})
    assert isinstance(t, Array) and isinstance(a, Value)
    options: dict[str, Abstract] = {"axis": axis} if axis.value is not None else {}
    if keepdims.value:
        options["keepdims"] = keepdims
    total = ev.call(Known(np.sum), [a], options)
    axes = range(len(t.shape)) if axis.value is None else np.atleast_1d(axis.value).tolist()
    count: Abstract = Known(1)
    for i in axes:
        count = product(ev, count, length_of(ev, a, i))
    return ev.call(Known(operator.truediv), [total, count], {})


# ---- complex numbers -----------------------------------------------------------------------------


@handler(complex)
def _(ev: Evaluator, real: Abstract = Known(0), imag: Abstract | None = None) -> Abstract:
    operands = [real] if imag is None else [real, imag]
    if not all(map(is_numeric, operands)) or any(isinstance(x, Flag) for x in operands):
        raise NotCovered("complex of something else than numbers", ev.span)
    if all(isinstance(x, Known) for x in operands):
        return Known(complex(*(x.value for x in operands)))  # type: ignore[union-attr]
    if any(isinstance(x, Value) and isinstance(ev.types[x], Array) for x in operands):
        raise NotCovered("complex of an array", ev.span)
    return ev.infer(complex, operands)


def _part(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, val: Abstract) -> Abstract:
        if not is_numeric(val):
            reason = f"np.{f.__name__} of something else than a number or an array"
            raise NotCovered(reason, ev.span)
        return attribute(ev, val, f.__name__)


for _f in (np.real, np.imag):  # type: ignore[assignment]
    _part(_f)


@handler(runtime.conjugate)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    """Write ``a.conjugate()``; return a real `a` unchanged."""
    if isinstance(a, Known):
        return Known(a.value.conjugate())
    assert isinstance(a, Value)
    t = ev.types[a]
    if isinstance(t, Array):
        return ev.call(Known(np.conjugate), [a], {}) if has_complex(t) else a
    assert isinstance(t, Number)
    if all(issubclass(kind, float | np.floating) for kind in t.kinds):
        return a
    kinds = number(*(type(x.conjugate()) for x in witnesses(t)))
    return ev.operation(runtime.conjugate, (a,), kinds)


@handler(cmath.polar)
def _(ev: Evaluator, z: Abstract) -> Abstract:
    if not isinstance(z, Value):
        raise NotCovered("cmath.polar of a constant", ev.span)
    t = ev.types[z]
    if not isinstance(t, Number) or not t.kinds <= {float, complex}:
        raise NotCovered("cmath.polar of what is no number of Python's", ev.span)
    return Tuple((ev.call(Known(abs), [z], {}), ev.call(Known(cmath.phase), [z], {})))


@handler(math.fsum)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    row = row_of(ev, xs)
    if row is None:
        made = collected(ev, xs)
        if row_of(ev, made) is None:
            as_row(ev, made.address)
        row = row_of(ev, made)
    assert row is not None
    found = reduced(ev, rows.exact_total, row)
    assert isinstance(found, Value)
    ev.types[found] = number(float)
    return found


@handler(is_constant)
def _(ev: Evaluator, x: Abstract) -> Abstract:
    return Known(isinstance(x, Known))
