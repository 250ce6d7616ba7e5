"""The functions that generated code of a level calls.

Numbers and arrays go to the level directly, all other operands to the functions of the runtime.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import PLAIN, is_objects
from adjoint.rulekit.registry import entry, leveled, table
from adjoint.runtime.dispatch.call import call as call_any
from adjoint.runtime.dispatch.generators import Generator
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.entries import ENTRIES as REVERSE_ENTRIES
from adjoint.runtime.entries import RUNTIME as REVERSE_RUNTIME
from adjoint.runtime.operators.binary import binary, unary
from adjoint.runtime.operators.in_place import base_updater
from adjoint.runtime.operators.table import BINARY
from adjoint.runtime.python.loops import iterator_of

ARITHMETIC = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split()


def _binary(op: Any) -> Callable[..., Any]:
    rules = entry(op)

    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        if (
            type(a) in PLAIN
            and type(b) in PLAIN
            and a is not None
            and b is not None
            and (type(a) is not np.ndarray or a.dtype.char != "O")
            and (type(b) is not np.ndarray or b.dtype.char != "O")
        ):
            return record[0].level.operate(op, rules, a, b)
        return binary(record, slot, op, a, b)

    run.__name__ = op.__name__
    return run


def _updater(op: Any, plain: Any) -> Callable[..., Any]:
    otherwise = BINARY[op]

    def run(record: list[Any], slot: int, x: Any, value: Any) -> Any:
        if type(x) in PLAIN and type(x) is not np.ndarray:
            return plain(record, slot, x, value)
        return otherwise(record, slot, x, value)

    run.__name__ = op.__name__
    return run


PLAIN_OPERATORS: dict[Any, Callable[..., Any]] = {}
"""By in-place operator, the function that runs the operator without writing."""


def call(record: list[Any], slot: int, f: Any, *args: Any) -> Any:
    """``f(*args)``"""
    if type(f) in _OF_C:
        rules = table.get(f)
        if rules is not None and rules.frules and _is_plain_rule(rules):
            for arg in args:
                if type(arg) not in _SIMPLE or is_objects(arg):
                    break
            else:
                y = record[0].level.apply(record, slot, f, rules, args, {})
                if y is not DECLINED:
                    return record[0].level.made(y, args)
    return call_any(record, slot, f, *args)


_OF_C = frozenset({BuiltinFunctionType, np.ufunc})
_SIMPLE = frozenset({float, int, np.float64, np.ndarray})


def _is_plain_rule(rules: Any) -> bool:
    return (
        rules.leveled is None
        and rules.primitive is None
        and rules.structural is None
        and not rules.inactive
    )


_plain_neg = unary(operator.neg, "neg")


def iterate(record: list[Any], slot: int, xs: Any) -> Iterable[Any]:
    """Return the iterable that a ``for`` loop runs over."""
    kind = type(xs)
    if kind is list or kind is tuple or kind is range or kind is str:
        return xs  # type: ignore[no-any-return]
    return _elements(record, xs)


def _elements(record: list[Any], xs: Any) -> Iterable[Any]:
    iterator = iterator_of(record[0], record, 1, xs)
    try:
        while True:
            try:
                value = iterator.step(record, 1)
            except StopIteration:
                return
            yield value
    except GeneratorExit:
        del iterator
        if type(xs) is Generator and sys.getrefcount(xs) <= _HELD_HERE:
            xs.finish(record, 1)  # as Python closes a generator without references
        raise


_HELD_HERE = 2
"""`sys.getrefcount` of an iterable that only its loop references."""


def _tables() -> tuple[dict[Any, Any], dict[str, Any]]:
    entries = {key: run for key, run in REVERSE_ENTRIES.items() if type(key) is not tuple}
    for name in ARITHMETIC:
        op = getattr(operator, name)
        entries[op] = _binary(op)
        in_place = getattr(operator, f"i{name.rstrip('_')}")
        PLAIN_OPERATORS[in_place] = entries[op]
        entries[in_place] = _updater(in_place, entries[op])
    entries[operator.neg] = _plain_neg
    return entries, {**REVERSE_RUNTIME, "call": call, "iterate": iterate}


ENTRIES, RUNTIME = _tables()


def _as_leveled(op: Any, run: Any) -> None:
    """Register `run` for calls of `op` by name, from user code or a rule."""

    @leveled(op)
    def by_name(level: Any, record: list[Any], slot: int, *args: Any) -> Any:
        return run(record, slot, *args) if len(args) == 2 else NotImplemented


@leveled(operator.neg)
def _(level: Any, record: list[Any], slot: int, *args: Any) -> Any:
    return _plain_neg(record, slot, *args) if len(args) == 1 else NotImplemented


for _name in ARITHMETIC:
    _special = f"__i{_name.rstrip('_')}__"
    if hasattr(np.ndarray, _special):
        _in_place = getattr(operator, f"i{_name.rstrip('_')}")
        _as_leveled((np.ndarray, _special), base_updater(_in_place, ENTRIES[_in_place]))
    for _op in (getattr(operator, _name), getattr(operator, f"i{_name.rstrip('_')}")):
        _as_leveled(_op, ENTRIES[_op])
