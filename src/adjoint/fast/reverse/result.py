"""Results of functions that programs cover."""

from __future__ import annotations

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.plain_classes import is_named_tuple
from adjoint.fast.evaluate.types import (
    Array,
    Number,
    bar_type,
    has_complex,
    is_complex,
    number,
    type_of,
)
from adjoint.fast.evaluate.values import Abstract, DictOf, Known, ListOf, Ref, Tuple
from adjoint.fast.not_covered import NOT_SCALAR, NotCovered
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.result_structure import Structure
from adjoint.ir.single import Const, Operand, Value


def returned(
    ev: Evaluator, y: Abstract, one: bool
) -> tuple[tuple[Value | Known, ...], Structure | None]:
    """Return the numbers, arrays and constants of a result, and its structure: ``None`` for one
    number or array."""
    if isinstance(y, Tuple | Ref) and not one:
        leaves: list[Value | Known] = []
        structure = _structure(ev, y, leaves, set())
        if any(isinstance(x, Value) for x in leaves):
            return tuple(leaves), structure
        raise NotCovered("a result that is constant")
    if not isinstance(y, Value | Known):
        raise NotCovered(NOT_SCALAR if one else "a result of another kind")
    if not one and not isinstance(y, Value):
        raise NotCovered("a result that is constant")
    return (y,), None


def _structure(
    ev: Evaluator, y: Abstract, leaves: list[Value | Known], above: set[int]
) -> Structure | None:
    """Return the structure of `y`, and append its leaves; `above` are the addresses so far."""
    if _is_result(y):
        leaves.append(y)  # type: ignore[arg-type]
        return None
    if isinstance(y, Tuple) and (y.kind is tuple or is_named_tuple(y.kind)):
        return Structure(y.kind, (), tuple(_structure(ev, x, leaves, above) for x in y.items))
    held = ev.held(y)
    if not isinstance(held, ListOf | DictOf) or getattr(held, "kind", dict) is not dict:
        raise NotCovered("a result of another kind")
    assert isinstance(y, Ref)
    if y.address in above or any(x.ref == y for x in ev.outside.adopted):
        raise NotCovered("a result that holds a container twice, or one from outside")
    above.add(y.address)
    keys = held.keys if isinstance(held, DictOf) else ()
    if not all(type(key) in (str, int) for key in keys):
        raise NotCovered("a result that is a dict with other keys than strings and integers")
    kind = dict if isinstance(held, DictOf) else list
    return Structure(kind, keys, tuple(_structure(ev, x, leaves, above) for x in held.items))


def _is_result(x: Abstract) -> bool:
    return isinstance(x, Value) or (
        isinstance(x, Known) and type(x.value) in (float, int, bool, complex, str, type(None))
    )


def demand_real_scalar(y: Value | Known, ev: Evaluator) -> None:
    """Require that a result is one real number or an array of rank 0."""
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


def finished(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """Convert the cotangent of `x` to the type that is returned."""
    t = ev.types[x]
    name = f"{x.name}_bar"
    if isinstance(t, Array):
        return whole(ev, bar, x)
    if isinstance(bar, Const) and bar_type(t) == number(float):
        return Const(float(bar.value))  # type: ignore[arg-type]
    if isinstance(t, Number) and t != number(float):
        return ev.operation(runtime.present, (bar, x), bar_type(t), name=name)
    if isinstance(bar, Value) and isinstance(t, Number) and ev.types[bar] != t:
        return ev.operation(float, (bar,), t, name=name)
    return bar
