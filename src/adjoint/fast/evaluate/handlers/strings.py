"""Handlers of strings."""

from __future__ import annotations

from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import listed
from adjoint.fast.evaluate.values import Abstract, Known, ListOf
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import primitives

_PLAIN = (str, int, float, bool, type(None))


def of_text(ev: Evaluator, f: Any, args: Any, keywords: dict[str, Abstract]) -> Abstract | None:
    """Evaluate a method of a known string; ``None`` for any other callee."""
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
