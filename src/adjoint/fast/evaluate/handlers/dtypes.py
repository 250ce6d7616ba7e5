"""Handlers of NumPy's questions about dtypes, which types and constants answer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.types import Array, Number
from adjoint.fast.evaluate.values import Abstract, Flag, Known
from adjoint.fast.not_covered import NotCovered, Raises

UNKNOWN = "a question about a dtype that is not known"


def _examples(ev: Evaluator, x: Abstract) -> list[Any]:
    """Return a constant, or examples of a number or an array: only their types matter."""
    t = ev.types.get(x)  # type: ignore[arg-type]
    if isinstance(t, Array):
        return [np.empty((1,) * len(t.shape), t.dtype)]
    if isinstance(t, Number) and t.kinds.isdisjoint({int, bool}):  # before NumPy 2, values mattered
        return [kind(1) for kind in t.kinds]
    items = ev.sequence(x)
    if items is not None:
        return [*itertools.product(*(_examples(ev, item) for item in items))]
    if isinstance(x, Known) and not isinstance(x, Flag):
        if isinstance(x.value, int | float | complex | str | type | tuple | np.dtype | None):
            return [x.value]
    ev.demand_value(x, UNKNOWN)
    raise NotCovered(UNKNOWN, ev.span)


def _question(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *operands: Abstract, **options: Abstract) -> Abstract:
        examples = [_examples(ev, x) for x in (*operands, *options.values())]
        found = []
        for given in itertools.product(*examples):
            named = dict(zip(options, given[len(operands) :], strict=True))
            try:
                found.append(f(*given[: len(operands)], **named))
            except Exception as error:
                raise Raises(type(error), f"a call that raises {type(error).__name__}") from None
        if any(one != found[0] for one in found):
            raise NotCovered(UNKNOWN, ev.span)
        return Known(found[0])


for _name in ("result_type", "promote_types", "issubdtype", "can_cast", "isdtype", "common_type"):
    if hasattr(np, _name):
        _question(getattr(np, _name))
for _f in (np.finfo, np.iinfo):
    _question(_f)
