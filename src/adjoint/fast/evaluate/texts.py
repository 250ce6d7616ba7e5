"""Handlers of strings, dict views, `sorted` and `hasattr` of values known at specialisation."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.calls import class_of, handler
from adjoint.fast.evaluate.plain import is_plain_object
from adjoint.fast.evaluate.reading import attribute
from adjoint.fast.evaluate.rows import restorable
from adjoint.fast.evaluate.types import Array
from adjoint.fast.evaluate.values import Abstract, External, Instance, Iterating, Known, ListOf, Ref
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import primitives
from adjoint.ir.single import Value
from adjoint.primal.special_methods import class_attribute

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator

_PLAIN = (str, int, float, bool, type(None))


def of_text(ev: Evaluator, f: Any, args: Any, keywords: dict[str, Abstract]) -> Abstract | None:
    """Evaluate a method of a known string; ``None`` for any other callee."""
    from adjoint.fast.evaluate.iterables import listed

    if type(getattr(f, "__self__", None)) is not str or keywords:
        return None
    values: list[Any] = []
    for a in args:
        if isinstance(a, Known) and isinstance(a.value, (*_PLAIN, tuple)):
            values.append(a.value)
            continue
        items = listed(ev, a) if f.__name__ == "join" else None
        if items is None or not all(isinstance(x, Known) for x in items):
            raise NotCovered("a method of a string", ev.span)
        values.append([x.value for x in items])  # type: ignore[union-attr]
    try:
        found = f(*values)
    except Exception as error:
        raise NotCovered(f"a call that raises {type(error).__name__}", ev.span) from None
    if type(found) is list:
        return ev.allocate(ListOf(tuple(map(Known, found))))
    return Known(found)


@handler(primitives.format_value)
def _(ev: Evaluator, a: Abstract, conversion: Abstract, spec: Abstract) -> Abstract:
    known = (a, conversion, spec)
    if not all(isinstance(x, Known) and isinstance(x.value, _PLAIN) for x in known):
        raise NotCovered("a string of what is not known", ev.span)
    try:
        return Known(primitives.format_value(*(x.value for x in known)))  # type: ignore[union-attr]
    except Exception as error:
        raise NotCovered(f"a format that raises {type(error).__name__}", ev.span) from None


@handler(primitives.build_string)
def _(ev: Evaluator, *parts: Abstract) -> Abstract:
    if not all(isinstance(x, Known) and isinstance(x.value, str) for x in parts):
        raise NotCovered("a string of what is not known", ev.span)
    return Known("".join(x.value for x in parts))  # type: ignore[union-attr]


# ---- dicts ---------------------------------------------------------------------------------------


def _view(kind: Any) -> None:
    @handler(kind)
    def _(ev: Evaluator, mapping: Abstract) -> Abstract:
        return Iterating(kind, (mapping,))


for _kind in (dict.items, dict.keys, dict.values):
    _view(_kind)


@handler(dict.get)
def _(ev: Evaluator, mapping: Abstract, key: Abstract, default: Abstract = Known(None)) -> Abstract:
    from adjoint.fast.evaluate.calls import call

    present = call(ev, Known(operator.contains), [mapping, key], {})
    assert isinstance(present, Known)
    return call(ev, Known(operator.getitem), [mapping, key], {}) if present.value else default


# ---- orders, attributes --------------------------------------------------------------------------


@handler(sorted)
def _(ev: Evaluator, xs: Abstract, *, reverse: Abstract = Known(False)) -> Abstract:
    from adjoint.fast.evaluate.iterables import listed

    items = listed(ev, xs)
    if items is None or not isinstance(reverse, Known) or type(reverse.value) is not bool:
        raise NotCovered("a call of sorted", ev.span)
    kinds = {type(x.value) if isinstance(x, Known) else None for x in items}
    if len(kinds) > 1 or not kinds <= {int, str}:
        raise NotCovered("a call of sorted", ev.span)
    values = sorted((x.value for x in items), reverse=bool(reverse.value))  # type: ignore[union-attr]
    return ev.allocate(ListOf(tuple(map(Known, values))))


@handler(hasattr)
def _(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    if not isinstance(name, Known) or type(name.value) is not str:
        raise NotCovered("hasattr", ev.span)
    cls = class_of(ev, a)
    if isinstance(a, Value):
        if isinstance(ev.types[a], Array) or cls is not None:
            one = np.empty(0) if isinstance(ev.types[a], Array) else cls()  # type: ignore[misc]
            return Known(hasattr(one, name.value))
    elif cls is not None and is_plain_object(cls) and isinstance(a, External | Ref):
        return Known(_has(ev, a, cls, name.value))
    raise NotCovered("hasattr", ev.span)


def _has(ev: Evaluator, a: External | Ref, cls: type, name: str) -> bool:
    held = ev.held(a)
    if isinstance(held, Instance) and name in held.names:
        return True
    fields = getattr(a.sample, "__dict__", ()) if isinstance(a, External) else ()
    if name not in fields and not any(name in vars(base) for base in cls.__mro__):
        raise NotCovered("an attribute that may be missing", ev.span)
    if isinstance(class_attribute(cls, name), property):
        raise NotCovered("hasattr of a property, which may raise", ev.span)
    with restorable(ev) as restore:
        attribute(ev, a, name)  # adds guards
        restore()
    return True
