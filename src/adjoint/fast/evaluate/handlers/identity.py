"""Tests of identity: ``is`` and ``is not``."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.plain_classes import is_enumeration
from adjoint.fast.evaluate.result_types.inference import sizes_in
from adjoint.fast.evaluate.types import Array, Number, number
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    Closure,
    External,
    Known,
    Partial,
    Ref,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.ir.single import Call, Const, Value
from adjoint.primal.packages import is_of_a_library


@handler(operator.is_)
def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    return _is_none(ev, operator.is_, a, b) or Known(_identical(ev, a, b))


@handler(operator.is_not)
def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    return _is_none(ev, operator.is_not, a, b) or Known(not _identical(ev, a, b))


def _is_none(ev: Evaluator, f: Any, a: Abstract, b: Abstract) -> Value | None:
    """Compare a number or an array that may be ``None`` with ``None``; return ``None`` for
    others."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Value) and x in ev.nones and isinstance(y, Known) and y.value is None:
            return ev.operation(f, (x, Const(None)), number(bool))
    return None


_SINGLE = (True, False, Ellipsis, NotImplemented)
_WITHOUT_IDENTITY = (str, bytes, int, float, complex, tuple, np.dtype, np.number)
"""Classes whose equal values may or may not be one object."""


def _identical(ev: Evaluator, a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Known) and isinstance(b, Known):
        if any(a.value is x for x in _SINGLE) or is_enumeration(type(a.value)):
            return a.value is b.value
        if type(a.value) is type(b.value) and isinstance(a.value, _WITHOUT_IDENTITY):
            if isinstance(a.value, np.dtype) and ev.frames and is_own(ev.frames[-1].namespace):
                return bool(a.value == b.value)  # library code treats equal dtypes as one
            if a.value == b.value or a.value != a.value:
                raise NotCovered("a test of identity of values that are equal", ev.span)
            return False
        return a.value is b.value
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Known) and not isinstance(y, Known):
            if x.value is None or isinstance(x.value, type | str) or callable(x.value):
                return False
            cls = ev.class_of(y)
            if cls is not None and cls is not type(x.value):
                return False
            if isinstance(y, Value) and any(x.value is z for z in _SINGLE):
                t = ev.types[y]
                if isinstance(t, Array) or (isinstance(t, Number) and bool not in t.kinds):
                    return False
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Ref) and x.address in ev.copies and isinstance(y, Ref | External):
            raise NotCovered("a test of identity of one list or object or another", ev.span)
    if isinstance(a, Ref) and isinstance(b, Ref):
        return a.address == b.address
    if a is b and isinstance(a, Closure | Partial | Bound):
        return True
    if all(isinstance(x, Closure | Partial | Bound | Ref) for x in (a, b)):
        if type(a) is not type(b):
            return False
    if isinstance(a, Closure) and isinstance(b, Closure) and a.code is not b.code:
        return False
    if isinstance(a, Partial) and isinstance(b, Partial):
        if not _identical(ev, a.function, b.function):
            return False
    if isinstance(a, External) and isinstance(b, External):
        if a.source is not b.source:
            if a.sample is b.sample:
                raise NotCovered("a test of identity of an object in two places", ev.span)
            ev.outside.distinguish(a.source, b.source)
        return a.source is b.source
    if isinstance(a, Value) and isinstance(b, Value):
        return _are_one_array(ev, a, b)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and _are_one_tuple(ev, a, b):
        return True
    if {type(a), type(b)} in ({Ref, External}, {Ref, Known}):
        return False  # the program has made the one, and not the other
    raise NotCovered("a test of identity", ev.span)


def _is_in_library(ev: Evaluator) -> bool:
    """Return whether code of a library runs."""
    return bool(ev.frames) and is_of_a_library(ev.frames[-1].namespace.get("__name__"))


def _are_one_tuple(ev: Evaluator, a: Tuple, b: Tuple) -> bool:
    """Return whether two tuples are one object; containers of a library do not tell those of one
    content apart."""
    is_same = a.kind is b.kind and len(a.items) == len(b.items) and _is_in_library(ev)
    return a is b or (is_same and all(map(partial(_identical, ev), a.items, b.items)))


_MAKING_VIEWS = frozenset({np.moveaxis, np.transpose, np.swapaxes, operator.getitem})
"""Functions whose results are objects of their own, though not memory of their own."""


def _is_new(ev: Evaluator, a: Value) -> bool:
    """Return whether an array became an object where the program made it."""
    made = ev.defined.get(a)
    is_view = isinstance(made, Call) and callee_of(made) in _MAKING_VIEWS
    return isinstance(ev.types[a], Array) and (a in ev.fresh or is_view)


def _are_one_array(ev: Evaluator, a: Value, b: Value) -> bool:
    """Return whether two arrays are one object; those from outside, as they are at
    specialisation."""
    one, other = (next((x for x in ev.outside.leaves if x.value is y), None) for y in (a, b))
    if a is b and (isinstance(ev.types[a], Array) or _is_in_library(ev)):
        return True  # libraries ask whether a number is handed on as it is
    if all(leaf is not None or _is_new(ev, x) for x, leaf in ((a, one), (b, other))):
        if one is None or other is None:  # the program has made one of them
            return False
    if one is None or other is None or not all(isinstance(ev.types[x], Array) for x in (a, b)):
        sizes = sizes_in([ev.types[x] for x in (a, b)])
        ev.demand_known("a test of identity", *sizes)  # a branch on these may have made one
        raise NotCovered("a test of identity", ev.span)
    if one.sample is other.sample:
        raise NotCovered("a test of identity of an object in two places", ev.span)
    ev.outside.distinguish(one.source, other.source)
    return False
