"""Numbers outside of the domain of a function, in the body of a ``try``: the program tests them,
so that the handler of the exception is a part of it.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.truth_values import truth
from adjoint.fast.evaluate.types import Number, has_complex, type_of
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import Raises
from adjoint.ir.single import Value

MOST_TESTED = 3
"""How many operations in the body of a ``try`` are tested."""
_PLAIN = frozenset({int, float, bool})
_GREATEST = math.log(sys.float_info.max)


def _is_zero(x: Any) -> Any:
    return x == 0


def _is_not_positive(x: Any) -> Any:
    return x <= 0


def _is_negative(x: Any) -> Any:
    return x < 0


def _is_beyond_one(x: Any) -> Any:
    return x < -1 or x > 1


def _is_too_large(x: Any) -> Any:
    return x > _GREATEST and x < math.inf


_Domain = tuple[type[Exception], Any, int]
_DOMAINS: dict[Any, _Domain] = {
    **dict.fromkeys((math.log, math.log2, math.log10), (ValueError, _is_not_positive, 0)),
    math.sqrt: (ValueError, _is_negative, 0),
    **dict.fromkeys((math.asin, math.acos), (ValueError, _is_beyond_one, 0)),
    math.exp: (OverflowError, _is_too_large, 0),
}
"""By function: what it raises, the test for that, and the operand which it tests."""
_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod, operator.itruediv})


def demand_in_domain(ev: Evaluator, f: Any, args: Sequence[Abstract]) -> None:
    """Raise what `f` raises for its operands to the ``try`` around, for which the program tests."""
    state = ev.splitting()
    domain = None if state is None else _domain_of(ev, f, args)
    if state is None or domain is None:
        return
    kind, test, place = domain
    if state.choice.is_open() and state.choice.met >= MOST_TESTED:
        return
    found = truth(ev, ev.inline(ev.outside.own_closure(test), [args[place]], {}))
    if isinstance(found, Value):
        found = Known(state.choice.outcome(found))
    if found.value:
        raise Raises(kind, f"a call that raises {kind.__name__}", ev.span)


def _domain_of(ev: Evaluator, f: Any, args: Sequence[Abstract]) -> _Domain | None:
    types = [
        ev.types[x] if isinstance(x, Value) else type_of(getattr(x, "value", ...)) for x in args
    ]
    if not all(isinstance(t, Number) and not has_complex(t) for t in types):
        return None
    if f in _DIVISIONS and all(t.kinds <= _PLAIN for t in types):  # type: ignore[union-attr]
        return ZeroDivisionError, _is_zero, 1
    return _DOMAINS.get(f)
