"""Tangents by registered forward rules: inlined if possible, else called."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.types import ANYTHING, Array, Number, bar_type
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.cotangent_types import abstract_of
from adjoint.fast.reverse.registered_rules import UNFIT, examples_of, is_double, tried
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value
from adjoint.rulekit.registry import lookup
from adjoint.rulekit.rule import Rule

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


def by_rule(sweep: TangentValues, op: Call) -> Operand:
    """Write an operation by its forward rule, and return the tangent of its result."""
    f, y = callee_of(op), result_of(op)
    dots = [sweep.shaped(x) for x in op.operands]
    rule = _rule_for(sweep, op, dots)
    if rule is None:
        named = _with_named_options(op)
        rule = None if named is None else _rule_for(sweep, named, dots[: len(named.operands)])
        if rule is not None and named is not None:
            op, dots = named, dots[: len(named.operands)]
    if rule is None:
        name = getattr(f, "__name__", f)
        raise NotCovered(f"{name} has no forward rule for such operands", op.span)
    if y in sweep.ev.several:
        given = sweep, op, rule, dots
        return sweep.ev.provisionally(lambda: _inlined_several(*given)) or _called(*given)
    if not isinstance(sweep.ev.types[y], Array | Number):
        raise NotCovered("a forward rule of a structure", op.span)
    for inlined in (_inlined_tangent, _inlined_pair):
        found = sweep.ev.provisionally(partial(inlined, sweep, op, rule, dots))
        if found is not None:
            return found
    return _called(sweep, op, rule, dots)


def _with_named_options(op: Call) -> Call | None:
    """Return a call with the constant operands after the first by keyword; ``None`` if there are
    others."""
    first, *options = op.operands
    if not options or not all(isinstance(x, Const) for x in options):
        return None
    names = [*inspect.signature(callee_of(op)).parameters][1:]
    pairs = zip(names, options, strict=False)
    named = tuple((name, x) for name, x in pairs if x != Const(None))
    return replace(op, operands=(first,), keywords=(*named, *op.keywords))


def _rule_for(sweep: TangentValues, op: Call, dots: Sequence[Operand | None]) -> Rule | None:
    rules = lookup(callee_of(op))
    if rules is None or rules.overridden:
        return None
    args, kwargs = examples_of(sweep.ev, op)
    given = tuple(None if dot is None else _ones_like(x) for x, dot in zip(args, dots, strict=True))
    for rule in rules.frules:
        if rule.accepts((given, *args), kwargs):
            found = tried(rule.function, (given, *args), kwargs)
            if found is NotImplemented and len(rules.frules) > 1:
                continue
            is_pair = isinstance(found, tuple) and len(found) == 2
            return rule if is_pair or found is UNFIT else None
    return None


def _ones_like(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [*map(_ones_like, x)]
    return np.ones(np.shape(x)) if isinstance(x, np.ndarray) else 1.0


def _inlined_tangent(
    sweep: TangentValues, op: Call, rule: Rule, dots: Sequence[Operand | None]
) -> Operand | None:
    """Inline a rule of `array_frule`, which computes the tangent from the result."""
    plan, ev, y = getattr(rule.function, "plan", None), sweep.ev, result_of(op)
    if plan is None or any(sweep.activity.parts_of(x) is not None for x in op.operands):
        return None
    ev.write(op)
    given = Tuple(tuple(_abstract(dots[i]) if i < len(dots) else Known(None) for i in plan.places))
    args = [given, y, *map(abstract_of, op.operands)]
    named = {k: abstract_of(x) for k, x in op.keywords}
    return ev.operand(ev.call(ev.outside.own(plan.function), args, named))


def _pair(
    sweep: TangentValues, op: Call, rule: Rule, dots: Sequence[Operand | None]
) -> tuple[Abstract, Abstract]:
    """Inline a rule that computes the result and the tangent; ``None`` twice if there are none."""
    function = getattr(rule.function, "rule", rule.function)
    pairs = zip(op.operands, dots, strict=True)
    if all(is_double(sweep.ev, x, dot is not None) for x, dot in pairs):
        function = getattr(function, "of_arrays", function)
    if type(function) is FunctionType:
        args = [Tuple(tuple(map(_abstract, dots))), *map(abstract_of, op.operands)]
        named = {k: abstract_of(x) for k, x in op.keywords}
        found = sweep.ev.call(sweep.ev.outside.own(function), args, named)
        if isinstance(found, Tuple) and len(found.items) == 2:
            return found.items[0], found.items[1]
    return Known(None), Known(None)


def _inlined_several(
    sweep: TangentValues, op: Call, rule: Rule, dots: Sequence[Operand | None]
) -> Operand | None:
    """Inline a rule of a function that returns a tuple."""
    ev, y = sweep.ev, result_of(op)
    values, found = map(ev.sequence, _pair(sweep, op, rule, dots))
    if values is None or found is None or not all(isinstance(one, Value) for one in values):
        return None
    tangents = []
    for one, dot in zip(values, found, strict=True):
        assert isinstance(one, Value)
        is_zero = isinstance(dot, Known) and dot.value is None
        tangents.append(sweep.zeros(one) if is_zero else sweep.settle(ev.operand(dot), one))
    made = tuple(map(ev.operand, values))
    ev.write(Call(y, Const(primitives.build_tuple), made, (), op.span))
    return ev.operation(primitives.build_tuple, tangents, ANYTHING, name=f"{y.name}_dot")


def _inlined_pair(
    sweep: TangentValues, op: Call, rule: Rule, dots: Sequence[Operand | None]
) -> Operand | None:
    """Inline a rule that computes the result and the tangent."""
    ev, y = sweep.ev, result_of(op)
    value, dot = _pair(sweep, op, rule, dots)
    if not isinstance(value, Value) or (isinstance(dot, Known) and dot.value is None):
        return None
    if y in ev.written:
        ev.written.update(ev.owners(value))
    ev.note_alias(value, (y,))
    ev.write(Call(y, Const(same), (value,), (), op.span))
    return ev.operand(dot)


def _abstract(dot: Operand | None) -> Abstract:
    return Known(None) if dot is None else abstract_of(dot)


def _called(sweep: TangentValues, op: Call, rule: Rule, dots: Sequence[Operand | None]) -> Operand:
    """Write a call of a rule."""
    ev, y = sweep.ev, result_of(op)
    given = tuple(Const(None) if dot is None else dot for dot in dots)
    packed = ev.operation(primitives.build_tuple, given, ANYTHING, name="dots")
    pair = ev.operation(rule.function, (packed, *op.operands), ANYTHING, op.keywords, name="pair")
    raw = ev.value(ANYTHING, name=f"{y.name}_dot")
    ev.write(Unpack((y, raw), pair, None, op.span))
    f: Any = runtime.all_present if y in ev.several else runtime.present
    made = ev.operation(f, (raw, y), bar_type(ev.types[y]), name=f"{y.name}_dot")
    ev.note_alias(made, (*given, *op.operands, y))
    return made
