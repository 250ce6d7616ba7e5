"""The reverse of one operation: formulas of linear operations, slopes of elementwise ones, and the
registered rule of everything else."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast import runtime
from adjoint.fast.covered import NotCovered
from adjoint.fast.infer import name_of
from adjoint.fast.primitives import same
from adjoint.fast.types import ANYTHING, Array, Number, Row, bar_type, number, witnesses
from adjoint.fast.values import Abstract, Known, Tuple
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value
from adjoint.rules.registry import lookup
from adjoint.rules.rule import Rule
from adjoint.rules.slopes import Slopes

if TYPE_CHECKING:
    from adjoint.fast.evaluate import Evaluator
    from adjoint.fast.reverse import Scope, Sweep

__all__ = ["differentiated", "formula", "inferred", "is_carrier", "plain", "whole", "written_back"]

Step = Callable[["Scope"], None]
Formula = Callable[..., None]
formulas: dict[Any, Formula] = {}
"""``formula(scope, op, y_bar)`` adds what `y_bar` contributes to the operands of `op`."""

_CONSTANT: frozenset[Any] = frozenset(
    {
        runtime.length,
        runtime.shape_of,
        runtime.zeros_like,
        runtime.new_tape,
        runtime.count,
        len,
        range,
        zip,
        enumerate,
        reversed,
        int,
        bool,
        primitives.build_slice,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
    }
)


steps: dict[Any, Callable[[Sweep, Call], Step]] = {}
"""``steps[f](sweep, op)`` writes what the reverse of `op` needs besides, and gives that."""


def formula(*callees: Any) -> Callable[[Formula], Formula]:
    """The decorated function is the reverse of a call of each of `callees`."""

    def add(function: Formula) -> Formula:
        for callee in callees:
            formulas[callee] = function
        return function

    return add


def _callee(op: Call) -> Any:
    assert isinstance(op.callee, Const)
    return op.callee.value


def is_carrier(op: Call, ev: Evaluator) -> bool:
    """Whether the result of an operation on active operands may be active."""
    f = _callee(op)
    if f in _CONSTANT or (f is round and len(op.operands) == 1):
        return False
    if f in formulas or f in steps:
        return True
    rules = lookup(f)
    if rules is not None and rules.inactive:
        return False
    slopes = _slopes(f)
    if slopes is not None:
        return any(p is not None for p in slopes.partials)
    return len(_absent(ev, op)) < len(op.operands)


def _absent(ev: Evaluator, op: Call) -> frozenset[int]:
    """The operands to which the rule of an operation gives no cotangent, for such operands: what it
    rounds, orders of functions."""
    rule = _rule_for(ev, op)
    if rule is None:
        return frozenset()
    args = [_example(ev, x) for x in op.operands]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y, back = rule.function(*args, **{k: _example(ev, x) for k, x in op.keywords})
            bars = back(np.ones_like(y) if isinstance(y, np.ndarray) else 1.0)
    except Exception:  # it declines, or the examples are none of its own: nothing is known of it
        return frozenset()
    return frozenset(i for i, bar in enumerate(bars[1:]) if bar is None)


def _slopes(f: Any) -> Slopes | None:
    rules = lookup(f)
    if rules is None or not rules.rrules or rules.overridden:
        return None
    return getattr(rules.rrules[0].function, "slopes", None)


def differentiated(sweep: Sweep, op: Call) -> Step:
    """Write the forward part of an active operation; what its reverse does."""
    f, ev = _callee(op), sweep.ev
    y = op.result
    assert y is not None
    if f in steps:
        ev.block.append(op)
        return steps[f](sweep, op)
    if has_formula(ev, op):
        ev.block.append(op)
        return lambda scope: _taken(scope, y, lambda bar: formulas[f](scope, op, bar))
    slopes = _slopes(f)
    if slopes is not None and _are_inlined(sweep, op, slopes):
        ev.block.append(op)
        return lambda scope: _taken(scope, y, lambda bar: _elementwise(scope, op, slopes, bar))
    return _by_rule(sweep, op)


def _are_inlined(sweep: Sweep, op: Call, slopes: Slopes) -> bool:
    """Whether the evaluator understands the partial derivatives that are needed."""
    if len(slopes.partials) != len(op.operands) or op.keywords or op.result is None:
        return False
    if _callee(op) in _PRODUCTS:
        return True
    ev = sweep.ev
    operands = (op.result, *op.operands)
    for x, p in zip(op.operands, slopes.partials, strict=True):
        if not callable(p) or x not in sweep.active:
            continue
        key = p, tuple(map(_kind_of_operand(ev), operands))
        if key not in _inlinable:
            try:
                with ev.writing():
                    _evaluated(ev, p, operands)
                _inlinable[key] = True
            except NotCovered:
                _inlinable[key] = False
        if not _inlinable[key]:
            return False
    return True


_inlinable: dict[Any, bool] = {}
"""By partial derivative and kinds of operands: whether it was understood."""


def _kind_of_operand(ev: Evaluator) -> Callable[[Operand], Any]:
    def kind(x: Operand) -> Any:
        if isinstance(x, Const):
            return type(x.value), repr(x.value)
        t = ev.types[x]  # type: ignore[index]
        if isinstance(t, Array):
            return t.dtype, tuple(n if isinstance(n, int) else -1 for n in t.shape)
        return t

    return kind


def _taken(scope: Scope, y: Value, use: Callable[[Operand], None]) -> None:
    y_bar = scope.take(y)
    if y_bar is not None:
        use(y_bar)


# ---- fitting -------------------------------------------------------------------------------------


def _type(ev: Evaluator, x: Operand) -> Any:
    if isinstance(x, Value):
        return ev.types[x]
    assert isinstance(x, Const)
    return number(type(x.value))


def whole(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """A cotangent of the very type of that of `x`: one number may stand for an array of it."""
    t, found = bar_type(ev.types[x]), _type(ev, bar)
    if not isinstance(t, Array):
        return bar
    if isinstance(found, Array) and found.shape == t.shape:
        return bar if found.dtype == t.dtype else _cast(ev, bar, t)
    return ev.operation(runtime.broadcast_like, (bar, x), t, name=f"{x.name}_bar")


def plain(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """A contribution to a number of Python's, as one: NumPy's take longer in all that follows."""
    t, found = bar_type(ev.types[x]), _type(ev, bar)
    if isinstance(t, Number) and t.kinds == {float} and isinstance(found, Number):
        if not found.kinds <= {float, int, bool}:
            return ev.operation(float, (bar,), t, name=f"{x.name}_bar")
    return bar


def _cast(ev: Evaluator, bar: Operand, t: Array) -> Operand:
    return ev.operation(np.ndarray.astype, (bar, Const(t.dtype)), t, name="t")


def fit(ev: Evaluator, bar: Operand, x: Value, y: Value) -> Operand:
    """What a cotangent of `y` contributes to `x`, which was broadcast in an elementwise operation:
    summed along what it was broadcast along."""
    of_x, of_y, found = ev.types[x], ev.types[y], _type(ev, bar)
    if isinstance(of_y, Number):
        return bar
    assert isinstance(of_y, Array)
    shape = of_x.shape if isinstance(of_x, Array) else ()
    if shape == of_y.shape:
        # one of fewer elements stands for what it is broadcast to
        t = bar_type(of_x)
        if isinstance(found, Array) and isinstance(t, Array) and found.dtype != t.dtype:
            return _cast(ev, bar, Array(t.dtype, found.shape))
        return bar
    if not isinstance(found, Array) or found.shape != of_y.shape:
        bar = ev.operation(runtime.broadcast_like, (bar, y), bar_type(of_y), name="t")
    if isinstance(of_x, Number):
        return ev.operation(np.sum, (bar,), number(of_y.dtype.type), name=f"{x.name}_bar")
    return _summed(ev, bar, x, of_x, of_y)


def _summed(ev: Evaluator, bar: Operand, x: Value, of_x: Any, of_y: Array) -> Operand:
    extra = len(of_y.shape) - len(of_x.shape)
    axes = tuple(range(extra)) + tuple(
        i + extra
        for i, (m, n) in enumerate(zip(of_x.shape, of_y.shape[extra:], strict=True))
        if m == 1 and n != 1
    )
    if not extra and axes:
        return _summed_in_place(ev, bar, x, of_x, of_y, axes)
    kept = tuple(n for i, n in enumerate(of_y.shape) if i not in axes)
    axis = Const(axes[0] if len(axes) == 1 else axes)
    t = bar_type(of_x)
    assert isinstance(t, Array)
    dtype = of_y.dtype if of_y.dtype.kind == "f" else np.dtype(np.float64)
    if not kept:
        total: Operand = ev.operation(np.sum, (bar,), number(dtype.type), name=f"{x.name}_bar")
        return whole(ev, total, x)
    total = ev.operation(
        np.sum, (bar,), Array(dtype, kept), (("axis", axis),), name=f"{x.name}_bar"
    )
    if kept != of_x.shape:
        shape = ev.operation(runtime.shape_of, (x,), ANYTHING, name="shape")
        total = ev.operation(np.reshape, (total, shape), Array(dtype, of_x.shape), name="t")
    return total if dtype == t.dtype else _cast(ev, total, t)


def _summed_in_place(
    ev: Evaluator, bar: Operand, x: Value, of_x: Array, of_y: Array, axes: tuple[int, ...]
) -> Operand:
    """Along axes of length 1, which stay."""
    t = bar_type(of_x)
    assert isinstance(t, Array)
    dtype = of_y.dtype if of_y.dtype.kind == "f" else np.dtype(np.float64)
    axis = Const(axes[0] if len(axes) == 1 else axes)
    options = (("axis", axis), ("keepdims", Const(True)))
    total = ev.operation(np.sum, (bar,), Array(dtype, of_x.shape), options, f"{x.name}_bar")
    return total if dtype == t.dtype else _cast(ev, total, t)


# ---- elementwise operations ----------------------------------------------------------------------


def _elementwise(scope: Scope, op: Call, slopes: Slopes, y_bar: Operand) -> None:
    ev = scope.ev
    y = op.result
    assert y is not None
    for x, p in zip(op.operands, slopes.partials, strict=True):
        if p is None or not isinstance(x, Value) or x not in scope.sweep.active:
            continue
        _demand_floats(ev, x)
        if callable(p):
            slope = _slope(ev, op, x, p)
            bar = product(ev, y_bar, slope, f"{x.name}_bar")
            bar = fit(ev, bar, x, y)
        else:
            bar = product(ev, fit(ev, y_bar, x, y), Const(p), f"{x.name}_bar")
        scope.add(x, bar)


_PRODUCTS = frozenset({operator.mul, np.multiply})


def _slope(ev: Evaluator, op: Call, x: Value, p: Callable[..., Any]) -> Operand:
    assert op.result is not None
    if _callee(op) in _PRODUCTS:  # there are many of them
        a, b = op.operands
        if a is not b:
            return b if x is a else a
    return _evaluated(ev, p, (op.result, *op.operands))


def _demand_floats(ev: Evaluator, x: Value) -> None:
    t = ev.types[x]
    if isinstance(t, Array) and t.dtype.kind != "f":
        raise NotCovered("a derivative with respect to integers", ev.span)


def _evaluated(ev: Evaluator, p: Callable[..., Any], operands: tuple[Operand, ...]) -> Operand:
    """A partial derivative: a Python function, inlined."""
    from adjoint.fast.calls import call

    args: list[Abstract] = [Known(x.value) if isinstance(x, Const) else x for x in operands]  # type: ignore[misc]
    ev.hint = "slope"
    found = call(ev, ev.outside.own(p), args, {})
    return ev.operand(found)


def product(ev: Evaluator, bar: Operand, slope: Operand, name: str) -> Operand:
    """``bar * slope``, without the factor 1, and with what is negated outermost."""
    for x, other in ((slope, bar), (bar, slope)):
        if isinstance(x, Const) and type(x.value) in (int, float):
            if x.value == 1:
                return other
            if x.value == -1:
                return _negated(ev, other, name)
    for x, other in ((slope, bar), (bar, slope)):
        opposite = ev.opposite(x)
        if opposite is not None:
            return _negated(ev, product(ev, opposite, other, name), name)
    return inferred(ev, operator.mul, (bar, slope), name)


def _negated(ev: Evaluator, x: Operand, name: str) -> Operand:
    opposite = ev.opposite(x)
    return inferred(ev, operator.neg, (x,), name) if opposite is None else opposite


def inferred(ev: Evaluator, f: Any, operands: tuple[Operand, ...], name: str) -> Operand:
    from adjoint.fast.calls import call

    ev.hint = name
    args: list[Abstract] = [Known(x.value) if isinstance(x, Const) else x for x in operands]  # type: ignore[misc]
    return ev.operand(call(ev, Known(f), args, {}))


@formula(operator.truediv, np.true_divide)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (a, b), y = scope.ev, op.operands, op.result
    assert y is not None
    quotient = inferred(ev, operator.truediv, (y_bar, b), _bar_name(a))
    if isinstance(a, Value) and a in scope.sweep.active:
        _demand_floats(ev, a)
        scope.add(a, fit(ev, quotient, a, y))
    if isinstance(b, Value) and b in scope.sweep.active:
        _demand_floats(ev, b)
        bar = inferred(ev, operator.mul, (quotient, y), _bar_name(b))
        bar = inferred(ev, operator.neg, (bar,), _bar_name(b))
        scope.add(b, fit(ev, bar, b, y))


def _bar_name(x: Operand) -> str:
    return f"{x.name}_bar" if isinstance(x, Value) else "t"


@formula(np.log)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    (x,) = op.operands
    bar = inferred(scope.ev, operator.truediv, (y_bar, x), _bar_name(x))
    scope.add(x, bar)


@formula(np.maximum, np.minimum)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (a, b), y = scope.ev, op.operands, op.result
    assert y is not None
    share = runtime.share_of_greater if _callee(op) is np.maximum else runtime.share_of_less
    t = bar_type(ev.types[y])
    for x, other in ((a, b), (b, a)):
        if isinstance(x, Value) and x in scope.sweep.active:
            _demand_floats(ev, x)
            slope: Operand = ev.operation(share, (x, other, y), t, name="slope")
            if isinstance(y_bar, Const) and isinstance(t, Array):
                slope = _cast(ev, slope, t)  # it may consist of truth values
            scope.add(x, fit(ev, product(ev, y_bar, slope, _bar_name(x)), x, y))


@formula(
    runtime.real,
    runtime.inexact,
    runtime.assigned,
    runtime.foreseen,
    runtime.foreseen_number,
    float,
    np.asarray,
)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    scope.add(op.operands[0], y_bar)


def _share(y: Any, a: Any, b: Any) -> float:
    """What `a` has of the greatest or the least of two numbers; equal ones share it."""
    return 0.5 if a == b else 1.0 if y == a else 0.0


@formula(max, min)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    assert op.result is not None
    if len(op.operands) > 2:
        _share_of_many(scope, op.operands, op.result, y_bar)
        return
    a, b = op.operands
    for x, other in ((a, b), (b, a)):
        if isinstance(x, Value) and x in scope.sweep.active:
            slope = _evaluated(scope.ev, _share, (op.result, x, other))
            scope.add(x, product(scope.ev, y_bar, slope, _bar_name(x)))


def _ties(y: Any, *xs: Any) -> int:
    n = 0
    for x in xs:
        if x == y:
            n += 1
    return n


def _portion(y: Any, x: Any, share: Any) -> Any:
    return share if x == y else 0.0


def _share_of_many(scope: Scope, xs: tuple[Operand, ...], y: Value, y_bar: Operand) -> None:
    ev = scope.ev
    count = _evaluated(ev, _ties, (y, *xs))
    share = inferred(ev, operator.truediv, (y_bar, count), "share")
    for x in xs:
        if isinstance(x, Value) and x in scope.sweep.active:
            scope.add(x, _evaluated(ev, _portion, (y, x, share)))


@formula(primitives.build_tuple, primitives.build_list)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev = scope.ev
    if not op.operands:
        return
    if op.result is not None and isinstance(of_row := ev.types[op.result], Row):
        bars = tuple(ev.value(bar_type(of_row.item), name="item_bar") for _ in op.operands)
        ev.write(Unpack(bars, y_bar))
        for x, bar in zip(op.operands, bars, strict=True):
            scope.add(x, bar)
        return
    bars = tuple(ev.value(ANYTHING, name="bar") for _ in op.operands)
    ev.write(Unpack(bars, y_bar))
    for x, bar in zip(op.operands, bars, strict=True):
        if isinstance(x, Value) and x in scope.sweep.active:
            t = bar_type(ev.types[x])
            scope.add(x, ev.operation(runtime.present, (bar, x), t, name=_bar_name(x)))


# ---- linear operations on arrays -----------------------------------------------------------------


def _reduced(scope: Scope, op: Call, y_bar: Operand, mean: bool) -> None:
    ev, x = scope.ev, op.operands[0]
    keepdims = dict(op.keywords).get("keepdims")
    assert isinstance(x, Value)
    t = ev.types[x]
    assert isinstance(t, Array)
    axis = _axes(op, len(t.shape))
    if isinstance(_type(ev, y_bar), Array):
        assert op.result is not None
        y_bar = whole(ev, y_bar, op.result)
    if mean:
        from adjoint.fast.reading import length_of
        from adjoint.fast.reading import product as times

        count: Abstract = Known(1)
        for i in axis:
            count = times(ev, count, length_of(ev, x, i))
        y_bar = inferred(ev, operator.truediv, (y_bar, ev.operand(count)), "scale")
    if len(axis) == len(t.shape) and not isinstance(_type(ev, y_bar), Array):
        scope.add(x, y_bar)
        return
    kept = keepdims is not None and isinstance(keepdims, Const) and keepdims.value
    found = _type(ev, y_bar)
    if not kept and isinstance(found, Array):
        shape = tuple(1 if i in axis else n for i, n in enumerate(t.shape))
        index = tuple(None if i in axis else slice(None) for i in range(len(t.shape)))
        y_bar = ev.operation(
            operator.getitem, (y_bar, Const(index)), Array(found.dtype, shape), name="t"
        )
    scope.add(x, y_bar)


def _axes(op: Call, rank: int) -> tuple[int, ...]:
    operand = dict(op.keywords).get("axis", op.operands[1] if len(op.operands) > 1 else Const(None))
    assert isinstance(operand, Const)
    axis = operand.value
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(i % rank for i in axes)


def _simple_reduction(op: Call) -> bool:
    names = {name for name, _ in op.keywords}
    return names <= {"axis", "keepdims"} and len(op.operands) <= 2


@formula(np.sum, np.ndarray.sum)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    _reduced(scope, op, y_bar, mean=False)


@formula(np.mean, np.ndarray.mean)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    _reduced(scope, op, y_bar, mean=True)


_REDUCTIONS = {
    np.sum,
    np.ndarray.sum,
    np.mean,
    np.ndarray.mean,
    np.max,
    np.min,
    np.ndarray.max,
    np.ndarray.min,
}


@formula(np.max, np.min, np.ndarray.max, np.ndarray.min)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x, y = scope.ev, op.operands[0], op.result
    assert isinstance(x, Value) and y is not None
    _demand_floats(ev, x)
    t = ev.types[x]
    assert isinstance(t, Array)
    axis = _axes(op, len(t.shape))
    keepdims = dict(op.keywords).get("keepdims", Const(False))
    if isinstance(_type(ev, y_bar), Array):
        y_bar = whole(ev, y_bar, y)
    operands = (x, y, y_bar, Const(axis), keepdims)
    scope.add(x, ev.operation(runtime.to_extremes, operands, bar_type(t), name=_bar_name(x)))


@formula(np.transpose, np.ndarray.transpose)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x = scope.ev, op.operands[0]
    assert isinstance(x, Value) and op.result is not None
    y_bar = whole(ev, y_bar, op.result)
    axes: Any = op.operands[1].value if len(op.operands) > 1 else None  # type: ignore[union-attr]
    inverse = () if axes is None else (Const(tuple(int(i) for i in np.argsort(axes))),)
    t = bar_type(ev.types[x])
    scope.add(x, ev.operation(np.transpose, (y_bar, *inverse), t, name=_bar_name(x)))


@formula(np.reshape, np.ravel, np.ndarray.reshape, np.ndarray.ravel, np.ndarray.flatten)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x = scope.ev, op.operands[0]
    assert isinstance(x, Value) and op.result is not None
    if not isinstance(_type(ev, y_bar), Array):
        scope.add(x, y_bar)
        return
    y_bar = whole(ev, y_bar, op.result)
    shape = ev.operation(runtime.shape_of, (x,), ANYTHING, name="shape")
    t = bar_type(ev.types[x])
    scope.add(x, ev.operation(np.reshape, (y_bar, shape), t, name=_bar_name(x)))


@formula(np.ndarray.tolist)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (x,) = scope.ev, op.operands
    assert isinstance(x, Value)
    t = bar_type(ev.types[x])
    assert isinstance(t, Array)
    scope.add(x, ev.operation(np.array, (y_bar, Const(t.dtype)), t, name=_bar_name(x)))


@formula(operator.getitem)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (x, index) = scope.ev, op.operands
    assert isinstance(x, Value)
    buffer = scope.buffer(x)
    add = runtime.scatter if _may_repeat(ev, index) else runtime.add_at
    ev.write(Call(None, Const(add), (buffer, index, y_bar)))


def _may_repeat(ev: Evaluator, index: Operand) -> bool:
    """Whether an index may name an element more than once."""
    if isinstance(index, Const):
        return False
    assert isinstance(index, Value)
    if isinstance(ev.types[index], Array):
        return True
    made = ev.indices.get(index, ())
    return any(_may_repeat(ev, part) for part in made)


@formula(operator.matmul, np.matmul, np.dot, np.ndarray.dot)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (a, b) = scope.ev, op.operands
    assert isinstance(a, Value) and isinstance(b, Value) and op.result is not None
    of_a, of_b = ev.types[a], ev.types[b]
    assert isinstance(of_a, Array) and isinstance(of_b, Array)
    ranks = len(of_a.shape), len(of_b.shape)
    y_bar = whole(ev, y_bar, op.result)
    active = scope.sweep.active
    if a in active:
        if ranks == (2, 1):
            bar = _multiplied(ev, np.outer, y_bar, b, a)
        elif ranks == (1, 1):
            bar = inferred(ev, operator.mul, (y_bar, b), _bar_name(a))
        elif ranks == (1, 2):
            bar = _multiplied(ev, operator.matmul, b, y_bar, a)
        else:
            bar = _multiplied(ev, operator.matmul, y_bar, _turned(ev, b, of_b), a)
        scope.add(a, whole(ev, bar, a))
    if b in active:
        if ranks == (1, 2):
            bar = _multiplied(ev, np.outer, a, y_bar, b)
        elif ranks == (1, 1):
            bar = inferred(ev, operator.mul, (y_bar, a), _bar_name(b))
        else:
            bar = _multiplied(ev, operator.matmul, _turned(ev, a, of_a), y_bar, b)
        scope.add(b, whole(ev, bar, b))


def _multiplied(ev: Evaluator, f: Any, left: Operand, right: Operand, x: Value) -> Operand:
    """The cotangent of `x` as a product of arrays, in the precision of the factors."""
    dtypes = [t.dtype if isinstance(t := _type(ev, y), Array) else float for y in (left, right)]
    of_x = ev.types[x]
    assert isinstance(of_x, Array)
    t = Array(np.result_type(*dtypes), of_x.shape)
    return ev.operation(f, (left, right), t, name=_bar_name(x))


def _turned(ev: Evaluator, x: Value, t: Array) -> Value:
    return ev.operation(np.transpose, (x,), Array(t.dtype, t.shape[::-1]), name=f"{x.name}_T")


@formula(np.where)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (condition, a, b), y = scope.ev, op.operands, op.result
    assert y is not None
    y_bar = whole(ev, y_bar, y)
    for x, picked in ((a, (condition, y_bar, Const(0.0))), (b, (condition, Const(0.0), y_bar))):
        if isinstance(x, Value) and x in scope.sweep.active:
            _demand_floats(ev, x)
            bar = ev.operation(np.where, picked, bar_type(ev.types[y]), name=_bar_name(x))
            scope.add(x, fit(ev, bar, x, y))


# ---- writes --------------------------------------------------------------------------------------


def written_back(sweep: Sweep, op: Call) -> Step:
    """The reverse of a write to an array."""
    f, ev = _callee(op), sweep.ev
    y = op.operands[0]
    assert isinstance(y, Value)
    value = op.operands[-1]
    if isinstance(ev.types[y], Row):
        from adjoint.fast.rows_back import row_written_back

        return lambda scope: row_written_back(scope, op)

    def back(scope: Scope) -> None:
        if scope.bar(y) is None and not scope.has_any(y):
            return
        y_bar = scope.buffer(y)
        if f is runtime.put:
            _put_back(scope, op, y_bar)
        elif f in (runtime.add_to, runtime.subtract_from):
            if isinstance(value, Value) and value in sweep.active:
                bar = fit(ev, ev.operation(runtime.own, (y_bar,), ev.types[y]), value, y)
                sign = Const(1 if f is runtime.add_to else -1)
                scope.add(value, product(ev, bar, sign, _bar_name(value)))
        elif isinstance(value, Value) and value in sweep.active:
            raise NotCovered("an array that is scaled in place by what is active", op.span)
        else:
            ev.write(Call(None, Const(f), (y_bar, value), (), op.span))

    return back


def _put_back(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (y, index, value) = scope.ev, op.operands
    assert isinstance(y, Value)
    of_y = ev.types[y]
    assert isinstance(of_y, Array)
    if isinstance(value, Value) and value in scope.sweep.active:
        t = ev.types[value]
        scalar = isinstance(t, Number)
        slot = Array(of_y.dtype, ()) if scalar else t
        if scalar and not _names_one(ev, index, len(of_y.shape)):
            part: Operand = ev.operation(operator.getitem, (y_bar, index), slot)
            bar: Operand = ev.operation(np.sum, (part,), number(of_y.dtype.type))
        elif scalar:
            bar = ev.operation(
                operator.getitem, (y_bar, index), number(of_y.dtype.type), name=_bar_name(value)
            )
        else:
            part = ev.operation(operator.getitem, (y_bar, index), slot)
            bar = ev.operation(runtime.own, (part,), slot, name=_bar_name(value))
        scope.add(value, bar)
    ev.write(Call(None, Const(runtime.clear), (y_bar, index)))


def _names_one(ev: Evaluator, index: Operand, rank: int) -> bool:
    """Whether an index names one element."""
    if isinstance(index, Const):
        parts = index.value if isinstance(index.value, tuple) else (index.value,)
        return len(parts) == rank and all(isinstance(part, int) for part in parts)
    assert isinstance(index, Value)
    if isinstance(ev.types[index], Number):
        return rank == 1
    made = ev.indices.get(index, ())
    return len(made) == rank and all(
        isinstance(x.value, int) if isinstance(x, Const) else isinstance(ev.types[x], Number)  # type: ignore[index]
        for x in made
    )


# ---- everything else: by its rule ----------------------------------------------------------------


def has_formula(ev: Evaluator, op: Call) -> bool:
    """Whether the formula of a callee is for such operands."""
    f = _callee(op)
    if f not in formulas:
        return False
    if f in _REDUCTIONS:
        return _simple_reduction(op) and isinstance(_type(ev, op.operands[0]), Array)
    if f in (operator.matmul, np.matmul, np.dot, np.ndarray.dot):
        types = [_type(ev, x) for x in op.operands]
        if len(types) == 2 and all(isinstance(t, Array) and t.shape for t in types):
            a, b = types
            # a number has the precision of neither vector
            fits = a.dtype == b.dtype or len(a.shape) + len(b.shape) > 2
            return fits and all(len(t.shape) in (1, 2) and t.dtype.kind == "f" for t in types)
        return False
    if f is np.array:
        return True
    if f is np.where:
        return len(op.operands) == 3 and not op.keywords
    if f in (np.transpose, np.ndarray.transpose):
        return not op.keywords and len(op.operands) <= 2
    if f in (np.reshape, np.ravel, np.ndarray.reshape, np.ndarray.ravel, np.ndarray.flatten):
        return not op.keywords
    return not op.keywords


def _by_rule(sweep: Sweep, op: Call) -> Step:
    """The registered rule is called as it is."""
    ev, f, y = sweep.ev, _callee(op), op.result
    assert y is not None
    rule = _rule_for(ev, op)
    if rule is None:
        raise NotCovered(f"{name_of(f)} has no rule for such operands", op.span)
    inlined = _inlined(sweep, op, rule)
    if inlined is not None:
        return inlined
    t = ev.types[y]
    pair = ev.value(ANYTHING, name=f"{y.name}_and_back")
    back = ev.value(ANYTHING, name=f"{y.name}_back")
    ev.block.append(Call(pair, Const(rule.function), op.operands, op.keywords, op.span))
    ev.block.append(Unpack((y, back), pair, None, op.span))
    ev.look_at(back, (y, *op.operands, *(x for _, x in op.keywords)))

    absent = _absent(ev, op)

    def use(scope: Scope, y_bar: Operand) -> None:
        if isinstance(t, Array):
            y_bar = whole(ev, y_bar, y)
        found = ev.operation(_Called, (back, y_bar), ANYTHING, name="bars")
        bars = tuple(ev.value(ANYTHING, name="bar") for _ in range(len(op.operands) + 1))
        ev.write(Unpack(bars, found))
        for i, (x, bar) in enumerate(zip(op.operands, bars[1:], strict=True)):
            if isinstance(x, Value) and x in sweep.active and i not in absent:
                if x in ev.packs:
                    scope.add(x, bar)
                    continue
                fitted = ev.operation(
                    runtime.present, (bar, x), bar_type(ev.types[x]), name=_bar_name(x)
                )
                scope.add(x, fitted)

    return lambda scope: _taken(scope, y, lambda bar: use(scope, bar))


def _inlined(sweep: Sweep, op: Call, rule: Rule) -> Step | None:
    """A rule whose source the evaluator understands: its value is computed in the forward sweep,
    its pullback in the reverse one; ``None`` if it is beyond it."""
    from adjoint.fast.calls import call

    ev, y = sweep.ev, op.result
    assert y is not None
    if type(rule.function) is not FunctionType:
        return None
    args: list[Abstract] = [Known(x.value) if isinstance(x, Const) else x for x in op.operands]  # type: ignore[misc]
    named = {k: Known(x.value) if isinstance(x, Const) else x for k, x in op.keywords}
    heap, place = dict(ev.heap), len(ev.block)
    try:
        found = call(ev, ev.outside.own(rule.function), args, named)  # type: ignore[arg-type]
        if not isinstance(found, Tuple) or len(found.items) != 2:
            raise NotCovered("a rule that declines")
        value, back = found.items
        if not isinstance(value, Value):
            raise NotCovered("a rule whose value is a structure")
        with ev.writing():
            t = ev.types[y]
            like = bar_type(t) if isinstance(t, Array) else number(float)
            call(ev, back, [ev.value(like, name="y_bar")], {})
    except NotCovered:
        ev.heap = heap
        del ev.block[place:]
        return None
    if y in ev.written:
        ev.written.add(value)
    ev.look_at(value, (y,))
    ev.write(Call(y, Const(same), (value,), (), op.span))

    def use(scope: Scope, y_bar: Operand) -> None:
        given: Abstract = Known(y_bar.value) if isinstance(y_bar, Const) else y_bar  # type: ignore[assignment]
        if isinstance(ev.types[y], Array):
            given = whole(ev, y_bar, y)  # type: ignore[assignment]
        bars = call(ev, back, [given], {})
        items = ev.sequence(bars)
        assert items is not None
        for x, bar in zip(op.operands, items[1:], strict=True):
            if isinstance(x, Value) and x in sweep.active:
                if not (isinstance(bar, Known) and bar.value is None):
                    scope.add(x, whole(ev, ev.operand(bar), x))

    return lambda scope: _taken(scope, y, lambda bar: use(scope, bar))


_Called: Any = operator.call
"""The callee of a call of a value of the program."""


def _rule_for(ev: Evaluator, op: Call) -> Rule | None:
    rules = lookup(_callee(op))
    if rules is None or rules.overridden:
        return None
    args = tuple(_example(ev, x) for x in op.operands)
    kwargs = {name: _example(ev, x) for name, x in op.keywords}
    for rule in rules.rrules:
        if not rule.keyword_bars and rule.accepts(args, kwargs):
            return rule
    return None


def _example(ev: Evaluator, x: Operand) -> Any:
    """Something of the class of an operand."""
    if isinstance(x, Const):
        return x.value
    assert isinstance(x, Value)
    if x in ev.packs:
        return [_example(ev, part) for part in ev.packs[x]]
    t = ev.types[x]
    if isinstance(t, Array):
        return np.ones((1,) * len(t.shape), t.dtype)
    if isinstance(t, Number):
        return witnesses(t)[0]
    return None
