"""Which calls take operands as they are: numbers that may be ``None``, and one of several things.

Other calls demand that a number is not ``None``, and are evaluated for each of several things.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.callees.numpy_definitions import definitions
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handlers
from adjoint.fast.evaluate.objects.alternatives import for_each
from adjoint.fast.evaluate.values import Abstract, Bound, Closure, Either, Known, Partial
from adjoint.fast.single_assignment import primitives as single_primitives
from adjoint.ir import primitives

_PASSING: dict[Any, int] = {
    **dict.fromkeys((primitives.store_cell, single_primitives.assigned, single_primitives.same), 0),
    **dict.fromkeys((single_primitives.wrote, single_primitives.latest), 0),
    **dict.fromkeys((setattr, primitives.call_method), 2),
}
"""By function: the position from which it takes operands of both sorts as they are."""
_HOLDING: dict[Any, int] = {
    **dict.fromkeys((primitives.build_tuple, primitives.build_list, primitives.build_dict), 0),
    **dict.fromkeys((primitives.list_append, list.append), 1),
    operator.setitem: 2,
}
"""By function: the position from which it takes one of several things as it is."""
_TESTS = (operator.truth, operator.not_, bool)
_OF_IDENTITY = (operator.is_, operator.is_not)
_NEVER = 1 << 30


def divided(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract | None:
    """Evaluate a call for each of the several things that its callee or an operand may be; return
    ``None`` if it takes them as they are."""
    if isinstance(callee, Either):
        return for_each(ev, callee, lambda f: [ev.call_any(f, args, keywords)])[0]
    if not any(isinstance(x, Either) for x in (*args, *keywords.values())):
        return None
    f = callee.value if isinstance(callee, Known) else None
    if f is primitives.call_method and isinstance(args[0], Either):
        return ev.call_any(ev.call(Known(getattr), args[:2], {}), args[2:], keywords)
    start = _start(ev, callee, _PASSING | _HOLDING)
    for i, x in enumerate(args[:start]):
        if isinstance(x, Either):

            def with_item(y: Abstract, i: int = i) -> list[Abstract]:
                return [ev.call_any(callee, [*args[:i], y, *args[i + 1 :]], keywords)]

            return for_each(ev, x, with_item)[0]
    for name, x in keywords.items() if start == _NEVER else ():
        if isinstance(x, Either):

            def with_named(y: Abstract, name: str = name) -> list[Abstract]:
                return [ev.call_any(callee, args, {**keywords, name: y})]

            return for_each(ev, x, with_named)[0]
    return None


def without_none(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> tuple[Sequence[Abstract], dict[str, Abstract]]:
    """Return operands of a call; demand that those are not ``None`` that it does not take so."""
    if not ev.nones or _takes_none(ev, callee, args):
        return args, keywords
    return [*map(ev.demand_some, args)], {k: ev.demand_some(x) for k, x in keywords.items()}


def _takes_none(ev: Evaluator, callee: Abstract, args: Sequence[Abstract]) -> bool:
    f = callee.value if isinstance(callee, Known) else None
    if any(f is one for one in _OF_IDENTITY):
        return any(isinstance(x, Known) and x.value is None for x in args)
    return any(f is one for one in _TESTS) or _start(ev, callee, _PASSING) < _NEVER


def _start(ev: Evaluator, callee: Abstract, table: dict[Any, int]) -> int:
    """Return the position from which a callee takes operands as they are."""
    match callee:
        case Closure(function=f):
            has_handler = f is not None and (f in handlers or f in definitions)
            return _NEVER if has_handler or callee.code in ev.outside.compiled else 0
        case Bound() | Partial():
            return 0
        case Known(value=f):
            return next((at for one, at in table.items() if f is one), _NEVER)
    return _NEVER
