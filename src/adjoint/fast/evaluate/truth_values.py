"""Truth values."""

from __future__ import annotations

import operator
import re
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.plain_classes import is_plain_class, is_plain_object
from adjoint.fast.evaluate.rows import count, row_of
from adjoint.fast.evaluate.types import Array, Number, number
from adjoint.fast.evaluate.values import Abstract, Bound, Closure, Either, Known, Partial, TableOf
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value

_WITH_TRUTH = (bool, np.bool_, int, float, complex, str, tuple, FunctionType)


def truth(ev: Evaluator, a: Abstract) -> Any:
    """Return the truth value of `a`: a `Known`, or a value of the program."""
    if isinstance(a, Either):
        return ev.call(Known(operator.truth), [a], {})
    table = ev.held(a)
    row = row_of(ev, table.items[0] if isinstance(table, TableOf) else a)
    if row is not None:
        return ev.infer(operator.gt, [count(ev, row), Known(0)])
    if isinstance(a, Value):
        t = ev.types[a]
        if a in ev.nones and isinstance(t, Number):
            return ev.operation(operator.truth, (a,), number(bool))
        if isinstance(t, Number):
            if t.kinds <= {bool}:
                return a
            return ev.infer(operator.truth, [a])
        if isinstance(t, Array) and all(d == 1 for d in t.shape):
            return ev.infer(operator.truth, [a])
        raise NotCovered("the truth value of an array", ev.span)
    if isinstance(a, Known):
        if a.value is None or isinstance(a.value, _WITH_TRUTH):
            return Known(bool(a.value))
        is_class = isinstance(a.value, type) and is_plain_class(a.value)
        if is_class or isinstance(a.value, re.Match):
            return Known(True)
    if isinstance(a, Closure | Bound | Partial):
        return Known(True)
    n = ev.count(a)
    if n is not None:
        return Known(bool(n))
    cls = ev.class_of(a)
    if cls is not None and is_plain_object(cls):
        if hasattr(cls, "__bool__"):
            return truth(ev, ev.call(special_method(ev, cls, "__bool__"), [a], {}))
        if hasattr(cls, "__len__"):
            return truth(ev, ev.call(Known(len), [a], {}))
        return Known(True)
    raise NotCovered("a truth value", ev.span)


@handler(operator.truth, bool)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return truth(ev, a)  # type: ignore[no-any-return]


@handler(operator.not_)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    known = truth(ev, a)
    if isinstance(known, Known):
        return Known(not known.value)
    return ev.infer(operator.not_, [known])
