"""Tables of the runtime's function for each operator, for the emitter and the engine."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.special_methods import special_of
from adjoint.primal.value_kinds import FLOAT64, NUMBERS
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent
from adjoint.runtime.dispatch.number_protocols import as_c_takes
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.arithmetic import (
    add,
    mul,
    mul_left,
    mul_right,
    neg,
    pow_left,
    sub,
    truediv,
    truediv_left,
)
from adjoint.runtime.operators.array_factors import is_plain
from adjoint.runtime.operators.binary import REALS, binary, by_classes, has_ufuncs, unary
from adjoint.runtime.operators.binary_protocol import (
    Candidate,
    first_result,
    is_number,
    overrides,
    protocol,
    reflected_first,
)
from adjoint.runtime.operators.comparison import compare, contains
from adjoint.runtime.operators.constant_methods import refuse_stored
from adjoint.runtime.operators.in_place import updater
from adjoint.runtime.operators.matmul import matmul_left, matmul_right


def _plain_operator(op: Any, name: str, only: int | None = None) -> Callable[..., Any]:
    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        return binary(record, slot, op, a, b, only)

    run.__name__ = name
    return run


def _sum_of_one(op: Any, name: str, only: int, scale: int) -> Callable[..., Any]:
    """Return the function of ``a + b`` or ``a - b`` for calls with one active operand, `only`."""
    two_sided = add if op is operator.add else sub

    def sum_back(y_bar: Any) -> tuple[Any, ...]:
        if scale != 1 and y_bar is not None:
            y_bar = -y_bar
        return (None, None, y_bar) if only else (None, y_bar, None)

    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        memory: Memory = record[0]
        if memory.globals_written:
            return two_sided(record, slot, a, b)
        active, constant = (b, a) if only else (a, b)
        if type(active) is float and type(constant) in REALS:
            record[slot] = sum_back
            return op(a, b)
        if type(active) is ndarray and is_plain(memory, active):
            kind = type(constant)
            if kind in REALS or (kind is ndarray and is_plain(memory, constant)):
                y = op(a, b)
                if type(y) is ndarray and y.dtype is FLOAT64 and y.shape == active.shape:
                    result = note_made(memory, y)

                    def array_back(y_bar: Any) -> tuple[Any, ...]:
                        if type(y_bar) is not ndarray or memory.buffers:
                            y_bar = finished_cotangent(memory, result, y_bar)
                        return sum_back(y_bar)

                    record[slot] = array_back
                    return y
        return binary(record, slot, op, a, b, only)

    run.__name__ = name
    return run


def _comparison(op: Any, name: str) -> Callable[..., Any]:
    """Return the function of a comparison; user methods are called as differentiated code."""

    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        kind = type(a)
        if kind in NUMBERS or kind is str or (kind is ndarray and not a.dtype.hasobject):
            if type(b) in NUMBERS or type(b) is ndarray or type(b) is str:
                return op(a, b)
        return compare(record, slot, op, name, a, b)

    run.__name__ = name
    return run


def _in_place(op: Any, plain: Callable[..., Any], special: str, name: str) -> Callable[..., Any]:
    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        kind = type(a)
        if kind in NUMBERS:
            return plain(record, slot, a, b)
        if special_of(kind, special) is not None:
            candidates: list[Candidate] = [(kind, special, (a, b), False)]
            if reflected_first(op.__name__, a, b):
                if is_number(b):
                    return plain(record, slot, a, b)
                candidates.insert(0, (type(b), f"__r{op.__name__[1:]}__", (b, a), True))
            blank = record[slot]
            y = first_result(record, slot, candidates)
            if y is not NotImplemented:
                return y
            record[slot] = blank
        return plain(record, slot, a, b)

    run.__name__ = name
    return updater(op, plain, run)


def run_divmod(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """Run ``divmod(a, b)`` of objects; return `NotImplemented` for numbers, which have a rule."""
    if is_number(a) and is_number(b) and not overrides(divmod, a, b):
        return by_classes(record, slot, np.divmod, a, b) if has_ufuncs(a, b) else NotImplemented
    return protocol(record, slot, divmod, "divmod", a, b)


def truth(record: list[Any], slot: int, value: Any) -> bool:
    """Run ``bool(value)``; ``__bool__`` or ``__len__`` in Python is differentiated code."""
    if value is True or value is False:
        return value
    kind = type(value)
    if kind in NUMBERS or kind is ndarray:
        return bool(value)
    for special in ("__bool__", "__len__"):
        f = special_of(kind, special)
        if type(f) is FunctionType:
            result = call_keywords(record, slot, f, (value,), {})
            refuse_stored(record, slot, value, special)
            if type(result) is bool or (special == "__len__" and type(result) is int):
                if result >= 0:
                    return bool(result)
            return bool(as_c_takes(bool, special, (value,), result))
        if f is not None:
            break
    return bool(value)


def not_(record: list[Any], slot: int, value: Any) -> bool:
    """``not value``"""
    return not truth(record, slot, value)


_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
BINARY: dict[Any, Callable[..., Any]] = {
    operator.add: add,
    operator.sub: sub,
    operator.mul: mul,
    operator.truediv: truediv,
    **{
        op: _plain_operator(op, op.__name__)
        for op in (
            *(operator.floordiv, operator.mod, operator.pow, operator.matmul),
            *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
        )
    },
    **{op: _comparison(op, op.__name__) for op in _COMPARISONS},
}
for _op in [op for op in BINARY if op not in _COMPARISONS]:
    _name = f"i{_op.__name__.rstrip('_')}"
    _updater = _in_place(getattr(operator, _name), BINARY[_op], f"__{_name}__", f"i{_op.__name__}")
    BINARY[getattr(operator, _name)] = _updater
ONE_SIDED: dict[tuple[Any, int], Callable[..., Any]] = {
    (operator.mul, 0): mul_left,
    (operator.mul, 1): mul_right,
    (operator.truediv, 0): truediv_left,
    **{
        (op, i): _sum_of_one(op, f"{op.__name__}_{side}", i, scale)
        for op, scales in ((operator.add, (1, 1)), (operator.sub, (1, -1)))
        for i, side, scale in ((0, "left", scales[0]), (1, "right", scales[1]))
    },
    (operator.truediv, 1): _plain_operator(operator.truediv, "truediv_right", 1),
    (operator.pow, 0): pow_left,
    (operator.pow, 1): _plain_operator(operator.pow, "pow_right", 1),
    (operator.matmul, 0): matmul_left,
    (operator.matmul, 1): matmul_right,
}
"""By operator and position, 0 or 1, of the operand that can be active."""
UNARY: dict[Any, Callable[..., Any]] = {
    operator.neg: neg,
    **{op: unary(op, op.__name__) for op in (operator.pos, operator.invert)},
    operator.truth: truth,
    operator.not_: not_,
    operator.contains: contains,
}
