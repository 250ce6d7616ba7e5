"""Operators in general: numbers and arrays by rule, all else by Python's binary protocol."""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable
from types import FunctionType, WrapperDescriptorType
from typing import Any, TypeAlias

import numpy as np
from numpy import float64, ndarray

from adjoint.rules.projection import CONSTANT_SEQUENCES, SEQUENCES
from adjoint.rules.registry import direct, direct_rule, lookup
from adjoint.run.conversion import is_sequence
from adjoint.run.dispatch import DECLINED, call_keywords, linked, run_closure_rules, run_rules
from adjoint.run.kinds import NUMBERS, plain_number, plain_on
from adjoint.run.memory import Memory
from adjoint.run.native import native
from adjoint.run.seal import PLAIN, seal_direct
from adjoint.run.specials import class_attribute, method_rules, special_of
from adjoint.run.unknown import run_unknown

__all__ = [
    "DOUBLES",
    "HUGE",
    "NONE2",
    "POLES",
    "REALS",
    "REFLECTED",
    "UFUNCS",
    "both_sides",
    "attempt",
    "base_operator",
    "base_unary",
    "binary",
    "has_ufuncs",
    "is_number",
    "overrides",
    "protocol",
    "python_method",
    "right_first",
    "special_method",
    "unary",
    "both_sides_negated",
]

NONE2 = (None, None, None)
DOUBLES = frozenset({float, float64})
REALS = frozenset({float, int, float64})
POLES = (ZeroDivisionError, OverflowError)
"""What Python raises where NumPy's numbers are infinite."""
HUGE = 1e300


def both_sides(y_bar: Any) -> tuple[Any, ...]:
    return None, y_bar, y_bar


def both_sides_negated(y_bar: Any) -> tuple[Any, ...]:
    return (None, y_bar, -y_bar) if y_bar is not None else NONE2


def binary(record: list[Any], slot: int, op: Any, a: Any, b: Any, only: int | None = None) -> Any:
    if record[0].level is not None:
        return _general(record, slot, op, a, b)
    if type(a) in REALS and type(b) in REALS and op in _SCALAR_BACKS:
        y = op(a, b)
        record[slot] = _SCALAR_BACKS[op](a, b)
        return y
    if only is not None and record[0].globals_written:
        only = None  # what seemed constant may be a global variable with a derivative
    if type(a) in PLAIN and type(b) in PLAIN:
        known = direct[op] if op in direct else direct_rule(op)
        if known is not None:
            rule = known[0]
            if only is not None:
                rule = rule.only[only] or rule  # type: ignore[attr-defined]
            result = rule(a, b)
            if result is not NotImplemented:
                y, back = result
                sealed = seal_direct(record[0], y, back, (a, b))
                if sealed is not None:
                    record[slot] = sealed
                    return y
    return _general(record, slot, op, a, b)


def _general(record: list[Any], slot: int, op: Any, a: Any, b: Any) -> Any:
    """Operands of any type."""
    if overrides(op, a, b):
        return protocol(record, slot, op, op.__name__.rstrip("_"), a, b)
    if not isinstance(a, str | bytes | bytearray):  # which ask their operand for its text
        plain_a, plain_b = plain_on(record[0], a), plain_on(record[0], b)
        if (plain_a is not a or plain_b is not b) and _takes_up(op, a, b):
            y = _by_override(record, slot, op, a, b)
            if y is not DECLINED:
                return y
        a, b = plain_a, plain_b  # the class says nothing of this operator
    numbers = is_number(a) and is_number(b)
    if (
        numbers or issubclass(type(a), ndarray) or issubclass(type(b), ndarray)
    ):  # an array takes a list for an array
        rules = lookup(op)
        if rules is not None:
            y = run_closure_rules(record, slot, op, rules, (a, b), {})
            if y is not DECLINED:
                return y
    if op in UFUNCS and (
        issubclass(type(a), ndarray | np.generic) or issubclass(type(b), ndarray | np.generic)
    ):
        y = _by_override(record, slot, op, a, b)
        if y is not DECLINED:
            return y
        for one in (a, b):
            if not issubclass(type(one), SEQUENCES + CONSTANT_SEQUENCES):
                continue
            repeats = op is operator.mul and hasattr(one, "__mul__")
            if not repeats or issubclass(type(a), ndarray) or issubclass(type(b), ndarray):
                return call_keywords(record, slot, UFUNCS[op], (a, b), {})
    if numbers:
        return run_unknown(record[0], record, slot, op, (a, b), {})
    name = op.__name__.rstrip("_")
    return protocol(record, slot, op, name, a, b)


def _takes_up(op: Any, a: Any, b: Any) -> bool:
    """Whether an operator is a ufunc for one of the operands, a number of a class of its own."""
    of_numpy = ndarray | np.generic
    return op in UFUNCS and (
        isinstance(a, of_numpy) or (isinstance(b, of_numpy) and not isinstance(b, float | complex))
    )


def _by_override(record: list[Any], slot: int, op: Any, *operands: Any) -> Any:
    from adjoint.run.overrides import ufunc_override  # it needs the calls, which need this

    ufunc = UFUNCS[op] if len(operands) == 2 else _UNARY_UFUNCS[op]
    return ufunc_override(record, slot, ufunc, "__call__", operands, {})


_UNARY_UFUNCS: dict[Any, Any] = {
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    abs: np.absolute,
}


def has_ufuncs(*operands: Any) -> bool:
    """Whether one of them is an array of a class that says itself what ufuncs do."""
    return any(
        isinstance(value, ndarray)
        and type(value) is not ndarray
        and type(class_attribute(type(value), "__array_ufunc__")) is FunctionType
        for value in operands
    )


def _sum_back(a: Any, b: Any) -> Callable[..., Any]:
    return both_sides


def _difference_back(a: Any, b: Any) -> Callable[..., Any]:
    return both_sides_negated


def _product_back(a: Any, b: Any) -> Callable[..., Any]:
    def mul_back(y_bar: Any) -> tuple[Any, ...]:
        return (None, y_bar * b, y_bar * a) if y_bar else (None, y_bar, y_bar)

    return mul_back


_SCALAR_BACKS: dict[Any, Callable[[Any, Any], Callable[..., Any]]] = {
    operator.add: _sum_back,
    operator.sub: _difference_back,
    operator.mul: _product_back,
}
"""Pullbacks for Python's and NumPy's double-precision scalars and integers in any mixture."""


UFUNCS: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.matmul: np.matmul,
}


def is_number(value: Any) -> bool:
    kind = type(value)
    return kind is ndarray or kind in NUMBERS or issubclass(kind, _NUMERIC)


_NUMERIC = (np.generic, ndarray, float, int, complex)


def base_operator(op: Any, reflected: bool = False) -> Callable[..., Any]:
    """``float.__add__(a, b)`` and its like, or ``float.__radd__(b, a)``: what a subclass does
    itself is passed by."""

    def run(record: list[Any], slot: int, a: Any, b: Any, *modulus: Any) -> Any:
        rules = lookup(op)
        if rules is None or modulus:
            return NotImplemented
        if issubclass(type(a), ndarray) and op in UFUNCS and has_ufuncs(a, b):
            operands: tuple[Any, ...] = (b, a) if reflected else (a, b)
            arrange = _exchanged if reflected else _as_they_are
            return linked(record, slot, arrange, _by_override, op, *operands)
        if not issubclass(type(a), ndarray):
            a, b = plain_on(record[0], a), plain_on(record[0], b)
        f = (
            op
            if not issubclass(type(a), ndarray) or type(a) is ndarray
            else _of_plain(op, reflected)
        )
        if not reflected:
            y = run_closure_rules(record, slot, f, rules, (a, b), {})
        else:
            operands = (f, rules, (b, a), {})
            y = linked(record, slot, _exchanged, run_closure_rules, *operands)
        return NotImplemented if y is DECLINED else y

    return run


def base_unary(op: Any, special: str) -> Callable[..., Any]:
    """``float.__neg__(a)`` and its like: what a subclass does itself is passed by."""
    of_arrays = getattr(ndarray, special, op)

    def run(record: list[Any], slot: int, a: Any) -> Any:
        rules = lookup(op)
        if rules is None or not is_number(a):
            return NotImplemented
        if op in _UNARY_UFUNCS and has_ufuncs(a):
            return _by_override(record, slot, op, a)
        f = of_arrays if issubclass(type(a), ndarray) and type(a) is not ndarray else op
        y = run_closure_rules(record, slot, f, rules, (plain_on(record[0], a),), {})
        return NotImplemented if y is DECLINED else y

    return run


@functools.cache
def _of_plain(op: Any, reflected: bool) -> Callable[[Any, Any], Any]:
    """The operator as arrays have it, for one of a class that has another."""
    name = op.__name__.rstrip("_")
    special = getattr(ndarray, f"__{REFLECTED[name] if reflected else name}__")

    def run(a: Any, b: Any) -> Any:
        return special(b, a) if reflected else special(a, b)

    run.__name__ = run.__qualname__ = op.__name__
    run.__module__ = op.__module__  # what messages call it
    return run


def _exchanged(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (None, bars[2], bars[1])


def _stands_for_array(value: Any) -> bool:
    kind = type(value)
    return (
        is_number(value)
        or isinstance(value, list | tuple)
        or python_method(kind, "__array__")
        or is_sequence(kind)
    )


def _as_numpy_does(memory: Memory, value: Any) -> Any:
    """A number of a class that is derived from float counts as one of double precision."""
    plain = plain_number(value)
    if type(plain) is float and type(value) is not float:
        plain = float64(plain)
    if plain is not value and memory.level is not None:
        memory.level.link(plain, value)
    return plain


def _as_they_are(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return bars


def overrides(op: Any, a: Any, b: Any) -> bool:
    """Whether the class of a number or an array says itself what the operator does."""
    name = op.__name__.rstrip("_")
    left, right = type(a), type(b)
    return (left not in PLAIN and python_method(left, f"__{name}__")) or (
        right not in PLAIN and python_method(right, f"__{REFLECTED[name]}__")
    )


REFLECTED = {
    "add": "radd",
    "sub": "rsub",
    "mul": "rmul",
    "truediv": "rtruediv",
    "floordiv": "rfloordiv",
    "mod": "rmod",
    "pow": "rpow",
    "matmul": "rmatmul",
    "and": "rand",
    "or": "ror",
    "xor": "rxor",
    "lshift": "rlshift",
    "rshift": "rrshift",
    "lt": "gt",
    "gt": "lt",
    "le": "ge",
    "ge": "le",
    "eq": "eq",
    "ne": "ne",
    "divmod": "rdivmod",
}


COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


def protocol(record: list[Any], slot: int, op: Any, name: str, a: Any, b: Any) -> Any:
    """Python's own order: the left operand's method, the right one's reflected, a subclass on the
    right first."""
    ahead, reflected = f"__{name}__", f"__{REFLECTED[name]}__"
    left, right = type(a), type(b)
    candidates: list[Candidate] = [
        (left, ahead, (a, b), False),
        (right, reflected, (b, a), True),
    ]
    if left is right:
        candidates = candidates if name in COMPARISONS else candidates[:1]
    elif issubclass(right, left) and (
        name in COMPARISONS or getattr(right, reflected, None) is not getattr(left, reflected, None)
    ):
        candidates.reverse()
    elif right_first(name, a, b):
        candidates.reverse()
    if name == "mul":
        candidates = [one for one in candidates if not _is_no_count(one)]
    if not any(
        python_method(kind, special) or method_rules(kind, special)
        for kind, special, _, _ in candidates
    ):
        return run_unknown(record[0], record, slot, op, (a, b), {})
    y = attempt(record, slot, candidates)
    if y is NotImplemented:
        return native([record[0], None], 1, op, (a, b), {})  # Python's own message, or its default
    return y


Candidate: TypeAlias = tuple[type, str, tuple[Any, Any], bool]
"""A class, its special method, what that is given, and whether this is the operands exchanged."""


def attempt(record: list[Any], slot: int, candidates: list[Candidate]) -> Any:
    """What the first of the methods returns that does not return ``NotImplemented``."""
    memory = record[0]
    tried: list[tuple[list[Any], bool]] = []

    def attempt_back(y_bar: Any) -> tuple[Any, ...]:
        bars: list[tuple[Any, Any]] = []
        for inner, swapped in reversed(tried):
            back = inner[1]
            if back is not None:
                _, first, second = back(y_bar)
                bars.append((second, first) if swapped else (first, second))
                y_bar = None  # only the method that answered made the result
        for first, second in bars:
            if first is not None or second is not None:
                return None, first, second
        return NONE2

    for kind, special, operands, swapped in candidates:
        inner: list[Any] = [memory, None]
        tried.append((inner, swapped))
        record[slot] = attempt_back
        y = special_method(inner, kind, special, operands)
        if y is not NotImplemented:
            return y
    return NotImplemented


def _is_no_count(candidate: Candidate) -> bool:
    """Whether a sequence would have to be repeated by what does not count."""
    kind, special, (_, other), _ = candidate
    return _is_of_sequence(class_attribute(kind, special)) and not hasattr(other, "__index__")


def right_first(name: str, a: Any, b: Any) -> bool:
    """Whether the reflected method of `b` has its turn before that of `a`: in C, what sequences do
    for ``+`` and ``*`` comes after what numbers do, on either side."""
    if type(b) in _NO_NUMBERS or not _is_of_sequence(class_attribute(type(a), f"__{name}__")):
        return False
    reflected = class_attribute(type(b), f"__{REFLECTED[name.removeprefix('i')]}__")
    if reflected is None or _is_of_sequence(reflected):
        return False
    return not (name.endswith("mul") and isinstance(b, np.generic))  # which counts repetitions


def _is_of_sequence(method: Any) -> bool:
    return type(method) is WrapperDescriptorType and method.__objclass__ in _SEQUENCES


_SEQUENCES = frozenset({list, tuple, str, bytes, bytearray, deque})
_NO_NUMBERS = _SEQUENCES | {int, float, bool, type(None)}
"""Types whose reflected methods have nothing to say to a sequence."""


def python_method(kind: type, special: str) -> bool:
    """Whether a class has a special method that is not of C."""
    return type(special_of(kind, special)) is FunctionType


_UNEQUAL = object.__ne__
"""Asks ``==`` of the class."""


def special_method(inner: list[Any], kind: type, special: str, operands: tuple[Any, ...]) -> Any:
    f = special_of(kind, special)
    if f is _UNEQUAL and python_method(kind, "__eq__"):
        f = lookup(operator.ne).substitute  # type: ignore[union-attr]
    if type(f) is FunctionType:
        return call_keywords(inner, 1, f, operands, {})
    if f is None:
        return NotImplemented
    if is_number(operands[0]):
        if issubclass(type(operands[0]), ndarray | np.generic):
            y = _by_ufunc(inner, special, operands)
            if y is not DECLINED:
                return y
            if len(operands) > 1 and _wants_to_be_asked(type(operands[1])):
                if f(*operands) is NotImplemented:
                    return NotImplemented
            if special in _OF_ONE and _is_one_object(*operands):
                a, b = _as_python_has_it(inner[0], operands[0]), operands[1]
                return linked(inner, 1, _as_they_are, protocol, *_OF_ONE[special], a, b)
            if special in _BY_SPECIAL and all(map(_stands_for_array, operands)):
                ufunc, swapped = _BY_SPECIAL[special]
                numbers = tuple([_as_numpy_does(inner[0], x) for x in operands])
                arrange = _exchanged if swapped else _as_they_are
                given = numbers[::-1] if swapped else numbers
                return linked(inner, 1, arrange, call_keywords, ufunc, given, {})
        elif f(*operands) is NotImplemented:
            return NotImplemented  # int leaves it to a class that is derived from float
        rules = method_rules(kind, special)
        if rules is not None and all(map(is_number, operands)):
            y = run_rules(inner, 1, f, rules, operands, {})
            if y is not DECLINED:
                return y
        return run_unknown(inner[0], inner, 1, f, operands, {})
    rules = method_rules(kind, special)
    if rules is not None:
        y = run_rules(inner, 1, f, rules, operands, {})
        if y is not DECLINED:
            return y
    return run_unknown(inner[0], inner, 1, f, operands, {})


def _is_one_object(number: Any, other: Any) -> bool:
    """Whether the other operand of a scalar is to NumPy an object: one to which its operator leaves
    it, with the number as Python has it, and not an array or a sequence."""
    kind = type(other)
    return (
        isinstance(number, np.generic)
        and type(number.item()) in (float, int, bool, complex)
        and not is_number(other)
        and any(python_method(kind, f"__{name}__") for name in REFLECTED.values())
        and not any(hasattr(kind, name) for name in _ARRAY_LIKE)
    )


_ARRAY_LIKE = ("__array__", "__array_interface__", "__array_struct__", "__getitem__", "__buffer__")


def _as_python_has_it(memory: Memory, number: Any) -> Any:
    value = number.item()
    if memory.level is not None:
        memory.level.link(value, number)
    return value


def _wants_to_be_asked(kind: type) -> bool:
    """Whether NumPy may leave an operator to numbers of a class; it alone knows when."""
    return (
        kind not in PLAIN
        and not issubclass(kind, ndarray)
        and any(special in vars(base) for base in kind.__mro__ for special in _LEFT_TO)
    )


_LEFT_TO = ("__array_priority__", "__array_ufunc__")


def _by_ufunc(inner: list[Any], special: str, operands: tuple[Any, ...]) -> Any:
    """The operator of an array beside an object whose class says what ufuncs do with it."""
    from adjoint.run.overrides import ufunc_override  # it needs the calls, which need this

    ufunc, swapped = _BY_SPECIAL.get(special) or _ASKED_ALSO.get(special, (None, False))
    if ufunc is None:
        return DECLINED
    if not swapped:
        return ufunc_override(inner, 1, ufunc, "__call__", operands, {})
    first, second = operands

    def as_given(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        return None, bars[2], bars[1]

    return linked(inner, 1, as_given, ufunc_override, ufunc, "__call__", (second, first), {})


_BY_SPECIAL = {f"__{op.__name__}__": (f, False) for op, f in UFUNCS.items()} | {
    f"__r{op.__name__}__": (f, True) for op, f in UFUNCS.items()
}
_ASKED_ALSO: dict[str, tuple[Any, bool]] = {
    "__lt__": (np.less, False),
    "__le__": (np.less_equal, False),
    "__gt__": (np.greater, False),
    "__ge__": (np.greater_equal, False),
    "__eq__": (np.equal, False),
    "__ne__": (np.not_equal, False),
    "__divmod__": (np.divmod, False),
    "__rdivmod__": (np.divmod, True),
}
"""What is not arithmetic of one result."""
_OF_ONE = {f"__{op.__name__}__": (op, op.__name__) for op in UFUNCS}


def unary(op: Any, name: str) -> Callable[..., Any]:
    special = f"__{op.__name__.rstrip('_')}__"

    def run(record: list[Any], slot: int, a: Any) -> Any:
        if is_number(a) and (type(a) in PLAIN or not python_method(type(a), special)):
            if type(a) is not ndarray and has_ufuncs(a):
                return _by_override(record, slot, op, a)
            rules, a = lookup(op), plain_on(record[0], a)
            if rules is not None:
                y = run_closure_rules(record, slot, op, rules, (a,), {})
                if y is not DECLINED:
                    return y
        f = special_of(type(a), special)
        if type(f) is FunctionType:
            return call_keywords(record, slot, f, (a,), {})
        return run_unknown(record[0], record, slot, op, (a,), {})

    run.__name__ = name
    return run
