"""Tangents of functions that are linear, or piecewise linear, in their active operands.

A linear function is applied to the tangents. A piecewise linear one has a forward rule and a
pullback that do not change with the operands: both are called as they are.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.types import ANYTHING, Array, Number, bar_type
from adjoint.fast.evaluate.values import RulePair
from adjoint.fast.forward.formulas import formula, formulas
from adjoint.fast.forward.number_tangents import total_of
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import pullbacks
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value
from adjoint.rulekit.registry import lookup

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues

_NOT_LINEAR = frozenset({"fillvalue", "initial", "out"})
"""Options whose value enters the result."""


def linear_tangent(sweep: TangentValues, op: Call) -> Operand | None:
    """Return the tangent of the result of `op`, by calls of the function with tangents; ``None`` if
    it is not linear in each active operand."""
    ev, f, y = sweep.ev, callee_of(op), result_of(op)
    rules, dots = lookup(f), _dots(sweep, op)
    if rules is None or dots is None or not dots.keys() <= {*rules.linear}:
        return None
    if not _is_inexact(ev.types[y]) or not is_linear(f, op):
        return None

    def terms() -> Iterator[Operand]:
        for i, dot in dots.items():
            given = (*op.operands[:i], dot, *op.operands[i + 1 :])
            term = sweep.linear(f, given, y, op.keywords)
            ev.note_alias(term, given)
            yield term

    return total_of(ev, terms(), f"{y.name}_dot") if dots else None


def is_linear(f: Any, op: Call) -> bool:
    """Return whether no option of a call, by keyword or position, enters the result."""
    if len(op.operands) + len(op.keywords) == 1 or f is operator.matmul:
        return True  # the signature of a function of C takes long to read
    given = zip(_parameters(f), op.operands, strict=False)
    options = {name for name, x in given if x != Const(None)} | {k for k, _ in op.keywords}
    return _NOT_LINEAR.isdisjoint(options)


@functools.cache
def _parameters(f: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a function that takes no number of operands."""
    try:
        found = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return ()
    has_any = any(p.kind is p.VAR_POSITIONAL for p in found.values())
    return () if has_any else tuple(found)


def steady_tangent(sweep: TangentValues, op: Call) -> Operand | None:
    """Return the tangent of the result of `op` by a call of its forward rule; ``None`` if the
    function is not piecewise linear in the active operands."""
    rules, dots = lookup(callee_of(op)), _dots(sweep, op)
    if rules is None or dots is None or not dots.keys() <= {*rules.steady}:
        return None
    given = tuple(dots.get(i, Const(None)) for i in range(len(op.operands)))
    return _pushed(sweep, (op.callee, Const(len(given)), *given, *op.operands), op, result_of(op))


def _pushed(sweep: TangentValues, operands: tuple[Operand, ...], op: Call, y: Value) -> Operand:
    made = sweep.linear(pullbacks.pushed, operands, y, op.keywords)
    sweep.ev.note_alias(made, operands)
    return made


@formula(pullbacks.pushed)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """A tangent of a piecewise linear function is linear in those of its operands."""
    f, count, *given = op.operands
    assert isinstance(f, Const) and isinstance(count, Const)
    n: Any = count.value
    rules, dots = lookup(f.value), _dots(sweep, op)
    if (
        rules is None
        or dots is None
        or any(i >= 2 + n and i - 2 - n not in rules.steady for i in dots)
    ):
        return None
    moved = (dots.get(2 + i, Const(None)) for i in range(n))
    return _pushed(sweep, (f, count, *moved, *given[n:]), op, y)


def linear_pair(sweep: TangentValues, op: Call) -> Operand | None:
    """Write the call of a rule; return the pair of the tangent of its value and that of its
    pullback, ``None`` if the function is not piecewise linear, or linear in many operands."""
    ev, pair = sweep.ev, sweep.ev.rule_pairs[result_of(op)]
    place = len(ev.block)
    ev.write(op)
    primal = Call(pair.y, Const(pair.f), op.operands, op.keywords, op.span)
    y_dot = linear_tangent(sweep, primal) or steady_tangent(sweep, primal)
    back_dot = None if y_dot is None else _back_dot(sweep, op, pair)
    if y_dot is None:
        y_dot, back_dot = _joined_tangent(sweep, primal, pair), Const(None)
    if y_dot is None or back_dot is None:
        del ev.block[place:]
        return None
    if pair.y in ev.written:
        y_dot = ev.operation(runtime.own, (y_dot,), bar_type(ev.types[pair.y]), name="y_dot")
    return ev.operation(primitives.build_tuple, (y_dot, back_dot), ANYTHING, name="pair_dot")


def _joined_tangent(sweep: TangentValues, op: Call, pair: RulePair) -> Operand | None:
    """Return the tangent of a list of numbers or arrays that are joined, in which the function is
    linear; ``None`` for other functions."""
    active = {i for i, x in enumerate(op.operands) if sweep.of(x) is not None}
    if pair.f not in _JOINING or not active | {*pair.pulled} <= {0}:
        return None
    return formulas[pair.f](sweep, op, pair.y)


_JOINING = frozenset({np.array, np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack})


def _back_dot(sweep: TangentValues, op: Call, pair: RulePair) -> Operand | None:
    """Return the pullback at the tangents of two operands: linear in each, the function has a
    pullback that is linear in both together."""
    ev, rules, dots = sweep.ev, lookup(pair.f), _dots(sweep, op)
    assert rules is not None and dots is not None
    is_steady = {*dots, *pair.pulled} <= {*rules.steady}
    if is_steady or all(i == j for i in pair.pulled for j in dots):
        return Const(None)
    places = {*pair.pulled, *dots}
    if len(places) > 2 or not places <= {*rules.linear}:
        return None
    given = tuple(
        x if i not in places else dots[i] if i in dots else sweep.full(x)
        for i, x in enumerate(op.operands)
    )
    made = ev.value(ANYTHING, name="pair")
    back = ev.value(ANYTHING, name="back_dot")
    ev.write(Call(made, op.callee, given, op.keywords, op.span))
    ev.write(Unpack((ev.value(ev.types[pair.y]), back), made, None, op.span))
    ev.note_alias(back, given)
    return back


def _dots(sweep: TangentValues, op: Call) -> dict[int, Operand] | None:
    """Return the tangents by place, in the shapes of their primals; ``None`` if one is a list."""
    found: dict[int, Operand] = {}
    for i, x in enumerate(op.operands):
        dot = sweep.shaped(x)
        if dot is None:
            continue
        if not isinstance(x, Value) or sweep.activity.parts_of(x) is not None:
            return None
        found[i] = dot
    return found


def _is_inexact(t: object) -> bool:
    """Return whether a value has a derivative: it is not rounded to integers."""
    if isinstance(t, Array):
        return t.dtype.kind in "fc"
    return isinstance(t, Number) and not any(issubclass(k, (int, np.integer)) for k in t.kinds)
