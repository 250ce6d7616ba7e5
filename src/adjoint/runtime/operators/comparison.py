"""Comparison, search and sorting of operands other than numbers, whose elements may compare by user
code."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.argument_copies import equal_by_identity, is_in
from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.rulekit.registry import lookup, method_rules
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.foreign_run import ForeignRun
from adjoint.runtime.foreign.native_call import foreign_call, run_monitored
from adjoint.runtime.foreign.user_code_reach import COMPARED, HASHED
from adjoint.runtime.operators.binary_protocol import (
    REFLECTED,
    answers_ufunc,
    exchanged,
    is_number,
    protocol,
    python_method,
)


def compare(record: list[Any], slot: int, op: Any, name: str, a: Any, b: Any) -> Any:
    """Run a comparison such as ``a == b``."""
    if name in ("eq", "ne") and equal_by_identity(a, b):
        return name == "eq"
    left, right = f"__{name}__", f"__{REFLECTED[name]}__"
    of_a, of_b = type(a), type(b)
    if python_method(of_a, left) or python_method(of_b, right):
        if not COMPARED(a, b):  # the methods compare plain fields only
            y = op(a, b)
            if type(y) is bool or type(y) is np.bool_:
                return y
        return protocol(record, slot, op, name, a, b)
    if name == "ne" and (python_method(of_a, "__eq__") or python_method(of_b, "__eq__")):
        return protocol(record, slot, op, name, a, b)  # `object.__ne__` calls ``==``
    if a is None or b is None:
        return op(a, b)
    if answers_ufunc(a, b):
        return protocol(record, slot, op, name, a, b)
    if _is_wrapped(a, b):
        if of_a is of_b or not issubclass(of_b, of_a):
            return call_keywords(record, slot, _UFUNCS[name], (a, b), {})
        ufunc = _UFUNCS[REFLECTED[name]]  # Python calls the method of a subclass first
        return linked(record, slot, exchanged, call_keywords, ufunc, (b, a), {})
    level = COMPARED(a, b)
    if not level:
        return op(a, b)
    if level == 2 and (_by_rule(of_a, left) or _by_rule(of_b, right)):
        return protocol(record, slot, op, name, a, b)
    return foreign_call(record, slot, op, (a, b), {})


def _is_wrapped(a: Any, b: Any) -> bool:
    """Return whether an array subclass is compared with numbers: it may change the result."""
    return any(
        type(x) is not np.ndarray and issubclass(type(x), np.ndarray) for x in (a, b)
    ) and all(is_number(x) and np.asarray(x).dtype.kind in "fciub" for x in (a, b))


_UFUNCS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def _by_rule(kind: type, special: str) -> bool:
    """Return whether a comparison has a rule, or is ``!=`` derived from ``==`` in Python."""
    return method_rules(kind, special) is not None or (
        special == "__ne__" and python_method(kind, "__eq__")
    )


def contains(record: list[Any], slot: int, container: Any, value: Any) -> bool:
    """``value in container``"""
    if is_in(container, value):
        return True
    kind = type(container)
    f: Any = special_of(kind, "__contains__")
    if type(f) is FunctionType:
        return bool(call_keywords(record, slot, f, (container, value), {}))
    if type(value) in CHILDLESS_TYPES:
        if kind is str or kind is dict or kind is set:
            return value in container
        if (kind is list or kind is tuple) and CHILDLESS_TYPES.issuperset(map(type, container)):
            return value in container
    elif issubclass(kind, dict | set | frozenset) and not HASHED(value):
        return value in container
    if f is None:
        search: Any = lookup(operator.contains).substitute  # type: ignore[union-attr]
        if class_attribute(kind, "__iter__") is None and not hasattr(kind, "__getitem__"):
            return value in container  # Python's own message
        return call_function(record, slot, search, (container, value), {})  # type: ignore[no-any-return]
    rules = method_rules(kind, "__contains__")
    if rules is not None:
        y = run_rules(record, slot, f, rules, (container, value), {})
        if y is not DECLINED:
            return bool(y)
    return foreign_call(record, slot, operator.contains, (container, value), {})  # type: ignore[no-any-return]


class _Ordered:
    """A key of a sort, whose ``<`` calls user code through the foreign run."""

    __slots__ = ("key", "region")

    def __init__(self, region: ForeignRun, key: Any) -> None:
        self.region, self.key = region, key

    def __lt__(self, other: _Ordered) -> bool:
        y = self.region.call(operator.lt, (self.key, other.key), {})
        return y if type(y) is bool else self.region.call(bool, (y,), {})


def order(record: list[Any], slot: int, keys: list[Any], reverse: bool) -> list[int]:
    """Return the positions of `keys` in ascending order, or descending if `reverse`."""
    level = COMPARED(*keys)
    if level < 2:
        if not level:
            return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
        options: dict[str, Any] = {"key": keys.__getitem__, "reverse": reverse}
        return run_monitored(record, slot, sorted, sorted, (range(len(keys)),), options)  # type: ignore[no-any-return]
    region = ForeignRun(record[0], sorted)
    blank = record[slot]
    record[slot] = region.before(blank, 2)
    ordered = [_Ordered(region, key) for key in keys]
    options = {"key": ordered.__getitem__, "reverse": reverse}
    return region.run(sorted, (range(len(keys)),), options)  # type: ignore[no-any-return]
