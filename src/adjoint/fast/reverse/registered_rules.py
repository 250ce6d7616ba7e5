"""The reverse of operations by their registered rule."""

from __future__ import annotations

import cmath
import operator
import warnings
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.alternatives import for_each
from adjoint.fast.evaluate.result_types.ones import name_of
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Number,
    Type,
    bar_type,
    has_complex,
    number,
    witnesses,
)
from adjoint.fast.evaluate.values import Abstract, Closure, Either, Known, RulePair, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import abstract_of, operand_type, whole
from adjoint.fast.reverse.formulas import formulas, steps, with_cotangent
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.linear_functions import REDUCTIONS, simple_reduction
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.pullbacks import pushed
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value
from adjoint.rulekit.registry import lookup
from adjoint.rulekit.rule import Rule
from adjoint.rulekit.wanted import code_asks


def has_formula(ev: Evaluator, op: Call) -> bool:
    """Return whether the formula of a callee applies to such operands."""
    f = callee_of(op)
    if f not in formulas:
        return False
    if f in REDUCTIONS:
        return simple_reduction(op) and isinstance(operand_type(ev, op.operands[0]), Array)
    if f in PRODUCTS_OF_ARRAYS:
        return _is_plain_product(f, [operand_type(ev, x) for x in op.operands])
    if f is np.array:
        return True
    if f in (np.where, np.transpose, np.ravel, np.reshape) and any(
        x in ev.packs for x in op.operands
    ):
        return False  # an operand is a list
    return not op.keywords and len(op.operands) in _NUMBERS_OF_OPERANDS.get(f, (len(op.operands),))


_NUMBERS_OF_OPERANDS: dict[Any, tuple[int, ...]] = {
    cmath.log: (1,),
    np.where: (3,),
    np.reshape: (2,),
    **dict.fromkeys((np.transpose, np.ndarray.transpose), (1, 2)),
    **dict.fromkeys((np.ravel, np.ndarray.ravel, np.ndarray.flatten), (1,)),  # C order only
}
"""Numbers of operands with which a formula applies, if not with any."""
PRODUCTS_OF_ARRAYS: frozenset[Any] = frozenset(
    {operator.matmul, np.matmul, np.dot, np.ndarray.dot, np.vdot}
)


def _is_plain_product(f: Any, types: list[Any]) -> bool:
    """Return whether the formula covers a product: one of vectors and matrices."""
    if len(types) != 2 or not all(isinstance(t, Array) and t.shape for t in types):
        return False
    a, b = types
    ranks = len(a.shape), len(b.shape)
    # An inner product of mixed precision has the precision of one factor only.
    fits = _precision(a) == _precision(b) or sum(ranks) > 2
    ranked = ranks == (1, 1) if f is np.vdot else max(ranks) <= 2
    return fits and ranked and all(t.dtype.kind in "fc" for t in types)


def _precision(t: Array) -> Any:
    """Return the dtype of the real part of an array."""
    return np.empty(0, t.dtype).real.dtype


def by_rule(sweep: Sweep, op: Call) -> Step:
    """Write the reverse by the registered rule: inlined if possible, else called."""
    ev, f, y = sweep.ev, callee_of(op), result_of(op)
    rule = _rule_for(ev, op)
    if rule is None:
        raise NotCovered(f"{name_of(f)} has no rule for such operands", op.span)
    inlined = _inlined(sweep, op, rule)
    if inlined is not None:
        return inlined
    function = _of_active(sweep, op, rule.for_wanted(_wanted(sweep, op.operands)))
    return _called(sweep, op, function, y, op.operands)


def _wanted(sweep: Sweep, operands: Sequence[Operand]) -> tuple[bool, ...]:
    """Return which operands are active. Lists count as active."""
    return tuple(
        isinstance(x, Value) and (x in sweep.active or x in sweep.ev.packs) for x in operands
    )


def _called(
    sweep: Sweep, op: Call, function: Any, y_dot: Value, targets: Sequence[Operand]
) -> Step:
    """Write the call of the rule `function` for `op`; its pullback takes the cotangent of `y_dot`
    to those of `targets`."""
    ev, y = sweep.ev, result_of(op)
    t = ev.types[y]
    pair, back, pulled = new_pair(sweep, op, callee_of(op), targets)
    if y in ev.places:
        ev.places[pair] = ev.places[y]
    shown = _shown_to_pullback(op, pulled)
    given = tuple(_contents_now(ev, x) if x in shown else x for x in op.operands)
    held = {x for x, before in zip(given, op.operands, strict=True) if before in shown}
    ev.block.append(Call(pair, Const(function), given, op.keywords, op.span))
    if y in ev.written and y in shown:
        first = ev.value(t, name=y.name)
        ev.block.append(Unpack((first, back), pair, None, op.span))
        ev.block.append(Call(y, Const(runtime.own), (first,), (), op.span))
    else:
        ev.block.append(Unpack((y, back), pair, None, op.span))
    ev.note_alias(back, (*held, *(x for _, x in op.keywords)))
    return called_back(sweep, op, back, y_dot, targets)


def new_pair(
    sweep: Sweep, op: Call, f: Any, targets: Sequence[Operand]
) -> tuple[Value, Value, list[int]]:
    """Return values for what a rule of `f`, or a pullback, returns for `op`: the pair of the result
    and a pullback, and the pullback; and the places of the active `targets`."""
    ev, y = sweep.ev, result_of(op)
    pair = ev.value(ANYTHING, name=f"{y.name}_and_back")
    back = ev.value(ANYTHING, name=f"{y.name}_back")
    pulled = [i for i, x in enumerate(targets) if isinstance(x, Value) and x in sweep.active]
    ev.rule_pairs[pair] = RulePair(f, y, pulled)
    return pair, back, pulled


def called_back(
    sweep: Sweep, op: Call, back: Value, y_dot: Value, targets: Sequence[Operand]
) -> Step:
    """Write the call of `back`, which takes the cotangent of `y_dot` to those of `targets`."""
    ev, y = sweep.ev, result_of(op)

    def use(scope: Scope, y_bar: Operand) -> None:
        if isinstance(ev.types[y], Array):
            y_bar = whole(ev, y_bar, y)
        found = ev.operation(operator.call, (back, y_bar), ANYTHING, name="bars")
        bars = tuple(ev.value(ANYTHING, name="bar") for _ in range(len(op.operands) + 1))
        ev.write(Unpack(bars, found))
        for x, bar in zip(targets, bars[1:], strict=True):
            scope.add_present(x, bar)

    return lambda scope: with_cotangent(scope, y_dot, lambda bar: use(scope, bar))


def _shown_to_pullback(op: Call, pulled: Sequence[int]) -> set[Operand]:
    """Return the result and operands whose contents the pullback of a rule may read; that of a
    linear function reads neither the result nor the operand."""
    rules = lookup(callee_of(op))
    whole: tuple[Operand | None, ...] = (op.result, *op.operands)
    if rules is not None and len(pulled) == 1 and pulled[0] in rules.linear:
        whole = (*op.operands[: pulled[0]], *op.operands[pulled[0] + 1 :])
    return {x for x in (*whole, *(x for _, x in op.keywords)) if x is not None}


def _contents_now(ev: Evaluator, x: Operand) -> Operand:
    """Return an operand of a rule whose pullback reads the present contents: a copy, if it is
    written to."""
    t = ev.type_at(x)
    if not isinstance(t, Array) or ev.aliased_by(x).isdisjoint(ev.written):
        return x
    return ev.operation(runtime.own, (x,), t)


def _pushed(sweep: Sweep, op: Call) -> Step:
    """Write a tangent by a forward rule that does not change with the operands of the function:
    its reverse is the pullback of the function, for the tangents."""
    ev, (f, count, *given) = sweep.ev, op.operands
    assert isinstance(f, Const) and isinstance(count, Const)
    n: Any = count.value
    y = ev.value(ev.types[result_of(op)], name="y")
    primal = Call(y, f, tuple(given[n:]), op.keywords, op.span)
    rule, rules = _rule_for(ev, primal), lookup(f.value)
    active = {i for i, x in enumerate(given[n:]) if x in sweep.active}
    if rule is None or rules is None or not active <= {*rules.steady}:
        raise NotCovered(f"{name_of(f.value)} has no rule for such operands", op.span)
    function = rule.for_wanted(_wanted(sweep, given[:n]))
    return _called(sweep, primal, function, result_of(op), given[:n])


steps[pushed] = _pushed


def _of_active(sweep: Sweep, op: Call, function: Any) -> Any:
    """Return the form of a rule for a single active operand, if it applies; else the rule."""
    ev, only = sweep.ev, getattr(function, "only", None)
    active = [i for i, is_active in enumerate(_wanted(sweep, op.operands)) if is_active]
    if only is None or op.keywords or len(active) != 1 or only[active[0]] is None:
        return function
    examples = [example(ev, x) for x in op.operands]
    declines = tried(only[active[0]], examples, {}) in (None, NotImplemented, UNFIT)
    return function if declines else only[active[0]]


def _inlined(sweep: Sweep, op: Call, rule: Rule) -> Step | None:
    """Inline a rule: its value in the forward sweep, its pullback in the reverse sweep.

    Return ``None`` if the evaluator does not cover the source of the rule.
    """
    ev, y = sweep.ev, result_of(op)
    function = rule.written
    if all(is_double(ev, x, x in sweep.active) for x in op.operands):
        function = getattr(function, "of_arrays", function)
    if type(function) is not FunctionType:
        return None
    args = [*map(abstract_of, op.operands)]
    named = {k: abstract_of(x) for k, x in op.keywords}
    heap, place = dict(ev.heap), len(ev.block)
    try:
        found = ev.call(ev.outside.own(function), args, named)
        if not isinstance(found, Tuple) or len(found.items) != 2:
            raise NotCovered("a rule that declines")
        value, back = found.items
        values = ev.sequence(value) if y in ev.several else (value,)
        if values is None or not all(isinstance(part, Value) for part in values):
            raise NotCovered("a rule whose value is another structure")
        told: dict[str, Abstract] = {}
        if rule.asking and isinstance(back, Closure) and code_asks(back.code):
            told["wanted"] = Tuple(tuple(map(Known, _wanted(sweep, op.operands))))
        with ev.trial():
            likes = [ev.value(_like(t), name="y_bar") for t in ev.several.get(y, (ev.types[y],))]
            ev.call(back, [Tuple(tuple(likes)) if y in ev.several else likes[0]], told)
    except NotCovered:
        ev.heap = heap
        del ev.block[place:]
        return None
    if y in ev.several:
        made = tuple(map(ev.operand, values))
        ev.write(Call(y, Const(primitives.build_tuple), made, (), op.span))
    else:
        assert isinstance(value, Value)
        if y in ev.written:
            ev.written.update(ev.owners(value))
        ev.note_alias(value, (y,))
        ev.write(Call(y, Const(same), (value,), (), op.span))

    def use(scope: Scope, y_bar: Operand) -> None:
        given = abstract_of(whole(ev, y_bar, y) if isinstance(ev.types[y], Array) else y_bar)
        if y in ev.several:
            given = Tuple(tuple(map(abstract_of, ev.packs[y_bar])))  # type: ignore[index]
        bars = ev.call(back, [given], told)
        items = ev.sequence(bars)
        assert items is not None
        for x, bar in zip(op.operands, items[1:], strict=True):
            if isinstance(x, Value) and x in sweep.active:
                if isinstance(bar, Either):  # ``None``, as numbers decide
                    bar = _or_zeros(ev, bar, abstract_of(scope.zeros(x)))
                if not (isinstance(bar, Known) and bar.value is None):
                    scope.add(x, whole(ev, ev.operand(bar), x))

    return lambda scope: with_cotangent(scope, y, lambda bar: use(scope, bar))


def _or_zeros(ev: Evaluator, bar: Either, zeros: Abstract) -> Abstract:
    """Return `bar`, or zeros where it is ``None``."""

    def one(x: Abstract) -> list[Abstract]:
        return [zeros if isinstance(x, Known) and x.value is None else x]

    return for_each(ev, bar, one)[0]


def _like(t: Type) -> Type:
    """Return the type of the cotangent of a number or an array."""
    return bar_type(t) if isinstance(t, Array) or has_complex(t) else number(float)


def is_double(ev: Evaluator, x: Operand, is_active: bool) -> bool:
    """Return whether an operand is constant, or a number or an array of no other precision; active
    integers are left to the rule itself."""
    if isinstance(x, Const):
        return True
    t = ev.type_at(x)
    if isinstance(t, Array):
        return t.dtype.char in ("d" if is_active else "dlq?")
    whole = set() if is_active else {int, bool}
    return isinstance(t, Number) and t.kinds <= {float, np.float64, *whole}


def _rule_for(ev: Evaluator, op: Call) -> Rule | None:
    rules = lookup(callee_of(op))
    if rules is None or rules.overridden:
        return None
    args, kwargs = examples_of(ev, op)
    for rule in rules.rrules:
        if not rule.keyword_bars and rule.accepts(args, kwargs):
            if len(rules.rrules) == 1 or tried(rule.function, args, kwargs) is not NotImplemented:
                return rule
    return None


UNFIT = object()
"""Result of a rule for examples, whose lengths of 1 it may not accept."""


def tried(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the result of a rule for examples; ``None`` if it does not accept them, `UNFIT` if
    this may be due to their lengths."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    except (ValueError, IndexError):
        return UNFIT
    except Exception:  # the rule does not accept the examples
        return None


def examples_of(ev: Evaluator, op: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return examples of the operands of a call, and of those by name."""
    named = {name: example(ev, x) for name, x in op.keywords}
    return tuple(example(ev, x) for x in op.operands), named


def example(ev: Evaluator, x: Operand) -> Any:
    """Return an example of the type of an operand."""
    if isinstance(x, Const):
        return x.value
    assert isinstance(x, Value)
    if x in ev.packs:
        return [example(ev, part) for part in ev.packs[x]]
    t = ev.types[x]
    if isinstance(t, Array):
        return np.ones((1,) * len(t.shape), t.dtype)
    if isinstance(t, Number):  # among several classes, complex has the most general derivative
        return max(witnesses(t), key=np.iscomplexobj)
    return None
