"""Handlers of NumPy's questions about dtypes, which types and constants answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.types import Array, Number
from adjoint.fast.evaluate.values import Abstract, Flag, Known
from adjoint.fast.not_covered import NotCovered, Raises

UNKNOWN = "a question about a dtype that is not known"


def _example(ev: Evaluator, x: Abstract) -> Any:
    """Return a constant, or an example of a number or an array: only their types matter."""
    t = ev.types.get(x)  # type: ignore[arg-type]
    if isinstance(t, Array):
        return np.empty((1,) * len(t.shape), t.dtype)
    if isinstance(t, Number) and len(t.kinds) == 1:
        (kind,) = t.kinds
        if kind is not int and kind is not bool:  # before NumPy 2, their values mattered
            return kind(1)
    items = ev.sequence(x)
    if items is not None:
        return tuple(_example(ev, item) for item in items)
    if isinstance(x, Known) and not isinstance(x, Flag):
        if isinstance(x.value, int | float | complex | str | type | tuple | np.dtype | None):
            return x.value
    ev.demand_value(x, UNKNOWN)
    raise NotCovered(UNKNOWN, ev.span)


def _question(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *operands: Abstract, **options: Abstract) -> Abstract:
        given = [_example(ev, x) for x in operands]
        named = {name: _example(ev, x) for name, x in options.items()}
        try:
            return Known(f(*given, **named))
        except Exception as error:
            raise Raises(type(error), f"a call that raises {type(error).__name__}") from None


for _name in ("result_type", "promote_types", "issubdtype", "can_cast", "isdtype", "common_type"):
    if hasattr(np, _name):
        _question(getattr(np, _name))
for _f in (np.finfo, np.iinfo):
    _question(_f)
