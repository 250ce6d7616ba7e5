"""Conversion of cotangents to the shape and type of their primals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import (
    ANYTHING,
    LOW_KINDS,
    Array,
    Number,
    bar_type,
    has_complex,
    is_complex,
    is_float,
    number,
    number_of_class,
    part_type,
)
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Const, Operand, Value
from adjoint.rulekit.row_sums import column_sums


def operand_type(ev: Evaluator, x: Operand) -> Any:
    if type(x) is Value:
        return ev.types[x]
    assert isinstance(x, Const)
    return number_of_class(type(x.value))


def abstract_of(x: Operand) -> Abstract:
    """Return the abstract value of an operand."""
    return Known(x.value) if type(x) is Const else x  # type: ignore[return-value]


def are_floats(ev: Evaluator, *operands: Operand) -> bool:
    """Return whether all operands are Python floats, which need no fitting: a fast path."""
    types = ev.types
    for x in operands:
        if type(x) is Value:
            if not is_float(types[x]):
                return False
        elif type(x) is not Const or type(x.value) is not float:
            return False
    return True


def whole(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """Return a cotangent with exactly the type of the cotangent of `x`; broadcast if needed."""
    bar = _real_for(ev, bar, x)
    t, found = bar_type(ev.types[x]), operand_type(ev, bar)
    if not isinstance(t, Array):
        return bar
    if isinstance(found, Array) and found.shape == t.shape:
        return bar if found.dtype == t.dtype else cast_to(ev, bar, t)
    return ev.operation(runtime.broadcast_like, (bar, x), t, name=f"{x.name}_bar")


def plain(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """Convert a contribution to a Python number into one, because NumPy numbers are slower.

    Contributions to real numbers and arrays become real.
    """
    if are_floats(ev, x, bar):  # the most frequent case
        return bar
    if has_complex(ev.types[x]) or has_complex(operand_type(ev, bar)):
        bar = _projected(ev, bar, x)
    t, found = bar_type(ev.types[x]), operand_type(ev, bar)
    if isinstance(t, Number) and t.kinds == {float} and isinstance(found, Number):
        if not found.kinds <= {float, int, bool}:
            return ev.operation(float, (bar,), t, name=f"{x.name}_bar")
    if _may_be_less_precise(found, ev.types[x]):
        if has_complex(found):
            return ev.operation(runtime.present, (bar, x), t, name=f"{x.name}_bar")
        return ev.operation(float, (bar,), number(float), name=f"{x.name}_bar")
    if isinstance(t, Number) and isinstance(found, Array) and len(t.kinds) == 1:  # of rank 0
        (kind,) = t.kinds
        return ev.operation(kind, (bar,), t, name=f"{x.name}_bar")
    return bar


def _may_be_less_precise(found: Any, of_x: Any) -> bool:
    """Return whether a cotangent may have fewer digits than its primal, and so reduce the precision
    of operations with Python numbers."""
    if not isinstance(found, Number) or not isinstance(of_x, Number):
        return False
    low = found.kinds & LOW_KINDS
    return any(np.finfo(kind).nmant < _digits(of) for kind in low for of in of_x.kinds)


def _digits(kind: type) -> int:
    dtype = np.dtype(kind)
    return int(np.finfo(dtype if dtype.kind in "fc" else np.float64).nmant)


def _projected(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """Project a contribution onto `x`: complex if `x` is complex, else real."""
    of_x, found = ev.types[x], operand_type(ev, bar)
    if not isinstance(of_x, Number) or not isinstance(found, Number | Array):
        return _real_for(ev, bar, x)
    allowed = bar_type(of_x)
    assert isinstance(allowed, Number)
    if isinstance(found, Number) and found.kinds <= allowed.kinds and _are_alike(of_x, found):
        return bar
    if isinstance(bar, Const) and is_complex(of_x):
        return Const(complex(bar.value))  # type: ignore[call-overload]
    if not has_complex(of_x):
        return _real_for(ev, bar, x)
    if is_complex(of_x) and isinstance(found, Number):
        return ev.operation(complex, (bar,), number(complex), name=f"{x.name}_bar")
    return ev.operation(runtime.present, (bar, x), bar_type(of_x), name=f"{x.name}_bar")


def _are_alike(of_x: Number, found: Number) -> bool:
    """Return whether a cotangent is real or complex like its primal.

    A primal that is real in some calls only accepts both: partial derivatives between real values
    are real, and primals that are always real take the real part.
    """
    if is_complex(of_x):
        return is_complex(found)
    return has_complex(of_x) or not has_complex(found)


def _real_for(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """Return the real part of a complex cotangent of a real `x`; any other cotangent unchanged."""
    of_x, found = ev.types[x], operand_type(ev, bar)
    if not has_complex(found) or has_complex(of_x) or not isinstance(of_x, Number | Array):
        return bar
    return part_of(ev, bar, "real", f"{x.name}_bar")


def part_of(ev: Evaluator, bar: Operand, name: str, of: str) -> Operand:
    """Write ``bar.real`` or ``bar.imag``."""
    if isinstance(bar, Const):
        return Const(getattr(bar.value, name))
    ev.fresh.discard(bar)  # the part of an array is an alias of it
    f = runtime.real_part if name == "real" else runtime.imaginary_part
    return ev.operation(f, (bar,), part_type(operand_type(ev, bar), name), name=of)


def conjugated(ev: Evaluator, x: Operand) -> Operand:
    """Write the conjugate of an operand; return a real one unchanged."""
    if isinstance(x, Const):
        return Const(x.value.conjugate()) if isinstance(x.value, complex) else x
    t = ev.types[x]  # type: ignore[index]
    if not has_complex(t):
        return x
    return ev.operation(
        np.conjugate if isinstance(t, Array) else runtime.conjugate, (x,), t, name="slope"
    )


def cast_to(ev: Evaluator, bar: Operand, t: Array) -> Operand:
    return ev.operation(np.ndarray.astype, (bar, Const(t.dtype)), t, name="t")


def fit(ev: Evaluator, bar: Operand, x: Value, y: Value) -> Operand:
    """Return the contribution of a cotangent of `y` to `x`, an operand that an elementwise
    operation broadcasts to `y`: sum over the broadcast axes."""
    bar = _real_for(ev, bar, x)
    of_x, of_y, found = ev.types[x], ev.types[y], operand_type(ev, bar)
    if isinstance(of_y, Number):
        return bar
    assert isinstance(of_y, Array)
    shape = of_x.shape if isinstance(of_x, Array) else ()
    if shape == of_y.shape:
        # A cotangent with fewer elements is broadcast later.
        t = bar_type(of_x)
        if isinstance(found, Array) and isinstance(t, Array) and found.dtype != t.dtype:
            return cast_to(ev, bar, Array(t.dtype, found.shape))
        return bar
    if not isinstance(found, Array) or found.shape != of_y.shape:
        if has_complex(found) and not has_complex(of_y):
            raise NotCovered("a complex cotangent of a real result", ev.span)
        t = bar_type(of_y)
        broadcast: Any = runtime.broadcast_like
        if has_complex(of_y) and not has_complex(found):
            t, broadcast = part_type(of_y, "real"), runtime.real_like
        bar = ev.operation(broadcast, (bar, y), t, name="t")
        found = t
    if has_complex(found) != has_complex(of_y):
        of_y = Array(found.dtype, of_y.shape)
    if isinstance(of_x, Number):
        return _total(ev, bar, number(of_y.dtype.type), f"{x.name}_bar")
    if not isinstance(of_x, Array):
        raise NotCovered("the cotangent of a list that stands for an array", ev.span)
    return _summed(ev, bar, x, of_x, of_y)


def _total(ev: Evaluator, bar: Operand, t: Number, name: str) -> Operand:
    """Write the sum of all elements; negate the sum instead of the elements."""
    opposite = ev.opposite(bar)
    if opposite is not None:
        return ev.operation(operator.neg, (_total(ev, opposite, t, name),), t, name=name)
    total = ev.operation(np.sum, (bar,), t, name=name)
    ev.totals.add(total)
    return total


def _summed(ev: Evaluator, bar: Operand, x: Value, of_x: Array, of_y: Array) -> Operand:
    """Write the sum over the broadcast axes; negate the sum instead of the elements."""
    opposite = ev.opposite(bar)
    if opposite is not None:
        negative = _summed(ev, opposite, x, of_x, of_y)
        return ev.operation(operator.neg, (negative,), bar_type(of_x), name=f"{x.name}_bar")
    extra = len(of_y.shape) - len(of_x.shape)
    axes = tuple(range(extra)) + tuple(
        i + extra
        for i, (m, n) in enumerate(zip(of_x.shape, of_y.shape[extra:], strict=True))
        if m == 1 and n != 1
    )
    kept = tuple(n for i, n in enumerate(of_y.shape) if i not in axes)
    axis = Const(axes[0] if len(axes) == 1 else axes)
    t = bar_type(of_x)
    assert isinstance(t, Array)
    dtype = of_y.dtype if of_y.dtype.kind in "fc" else np.dtype(np.float64)
    if extra and not kept:
        total: Operand = ev.operation(np.sum, (bar,), number(dtype.type), name=f"{x.name}_bar")
        return whole(ev, total, x)
    f: Any = np.sum
    options: tuple[tuple[str, Operand], ...] = (("axis", axis),)
    if not extra:  # `x` has the axes with length 1
        kept, options = of_x.shape, (*options, ("keepdims", Const(True)))
    elif axes == (0,) and len(kept) == 1 and dtype.char in "fd":
        f, options = column_sums, ()
    total = ev.operation(f, (bar,), Array(dtype, kept), options, name=f"{x.name}_bar")
    if kept != of_x.shape:
        shape = ev.operation(runtime.shape_of, (x,), ANYTHING, name="shape")
        total = ev.operation(np.reshape, (total, shape), Array(dtype, of_x.shape), name="t")
    return total if dtype == t.dtype else cast_to(ev, total, t)
