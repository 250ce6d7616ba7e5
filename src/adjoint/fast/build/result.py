"""What a function returns, as a program gives it."""

from __future__ import annotations

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, has_complex, is_complex, type_of
from adjoint.fast.evaluate.values import Abstract, Known, Tuple
from adjoint.fast.not_covered import NOT_SCALAR, NotCovered
from adjoint.ir.single import Value


def returned(y: Abstract, one: bool) -> tuple[Value | Known, ...]:
    """The number or array that a function returns, or the items of the tuple."""
    if isinstance(y, Tuple) and y.kind is tuple and not one:
        items = tuple(x for x in y.items if _is_result(x))
        if len(items) == len(y.items) and any(isinstance(x, Value) for x in items):
            return items  # type: ignore[return-value]
    if not isinstance(y, Value | Known):
        raise NotCovered(NOT_SCALAR if one else "a result of another kind")
    if not one and not isinstance(y, Value):
        raise NotCovered("a result that is constant")
    return (y,)


def _is_result(x: Abstract) -> bool:
    return isinstance(x, Value) or (
        isinstance(x, Known) and type(x.value) in (float, int, bool, complex, str, type(None))
    )


def demand_real_scalar(y: Value | Known, ev: Evaluator) -> None:
    """A gradient is that of one real number, of whatever class."""
    if isinstance(y, Known):
        known = type_of(y.value)
        found = isinstance(known, Number) and not has_complex(known)
    else:
        t = ev.types[y]
        if isinstance(t, Number) and has_complex(t) and not is_complex(t):
            raise NotCovered("a result that may be complex")
        is_one = isinstance(t, Number) or (isinstance(t, Array) and t.shape == ())
        found = is_one and not has_complex(t)
    if not found:
        raise NotCovered(NOT_SCALAR)
