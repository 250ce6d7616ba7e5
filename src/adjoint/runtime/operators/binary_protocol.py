"""Python's binary protocol: order and calls of the special methods of two operands."""

from __future__ import annotations

import operator
from collections import deque
from types import FunctionType, WrapperDescriptorType
from typing import Any, TypeAlias

import numpy as np
from numpy import float64, ndarray

from adjoint.primal.array_classes import has_array_wrap
from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.primal.value_kinds import NUMBERS, PLAIN, is_one_object, plain_number
from adjoint.rulekit.registry import lookup, method_rules
from adjoint.runtime.arrays.overrides import ufunc_override
from adjoint.runtime.arrays.wrap_results import scalar_operator, scalars_wrap
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED, NO_KEYWORDS, linked
from adjoint.runtime.dispatch.number_protocols import is_sequence
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.native_call import foreign_call
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.memory import Memory

NONE2 = (None, None, None)


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
    return kind is ndarray or kind in NUMBERS or (issubclass(kind, _NUMERIC) and kind not in _TEXTS)


_NUMERIC = (np.generic, ndarray, float, int, complex)
_TEXTS = frozenset({np.str_, np.bytes_})


def exchanged(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (None, bars[2], bars[1])


def _stands_for_array(value: Any) -> bool:
    kind = type(value)
    return (
        is_number(value)
        or isinstance(value, list | tuple)
        or python_method(kind, "__array__")
        or is_sequence(kind)
    )


def _as_numpy_number(memory: Memory, value: Any) -> Any:
    """Convert a number as NumPy does: an instance of a subclass of float has double precision."""
    plain = plain_number(value)
    if type(plain) is float and type(value) is not float:
        plain = float64(plain)
    if plain is not value and memory.level is not None:
        return memory.level.link(plain, value)
    return plain


def unchanged(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return bars


def overrides(op: Any, a: Any, b: Any) -> bool:
    """Return whether the class of an operand defines the operator in Python."""
    name = op.__name__.rstrip("_")
    left, right = type(a), type(b)
    return (left not in PLAIN and python_method(left, f"__{name}__")) or (
        right not in PLAIN and python_method(right, f"__{REFLECTED[name]}__")
    )


_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
REFLECTED = _MIRRORED | {
    name: f"r{name}"
    for name in (
        "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split()
    )
}
COMPARISONS = frozenset(_MIRRORED)


def protocol(record: list[Any], slot: int, op: Any, name: str, a: Any, b: Any) -> Any:
    """Run an operator in Python's order: the left operand's method, then the right one's reflected
    method, which is first if the right class is an overriding subclass."""
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
    elif reflected_first(name, a, b):
        candidates.reverse()
    if name == "mul":
        candidates = [one for one in candidates if not _lacks_index(one)]
    if not answers_ufunc(a, b) and not any(
        python_method(kind, special)
        or method_rules(kind, special)
        or (name == "ne" and python_method(kind, "__eq__"))
        for kind, special, _, _ in candidates
    ):
        return run_unknown(record[0], record, slot, op, (a, b), {})
    y = first_result(record, slot, candidates)
    if y is NotImplemented:
        return foreign_call(
            [record[0], None], 1, op, (a, b), {}
        )  # Python's own message, or its default
    return y


def answers_ufunc(a: Any, b: Any) -> bool:
    """Return whether NumPy calls ``__array_ufunc__`` of an operand, which may return anything."""
    of_numpy = ndarray | np.generic
    return (isinstance(a, of_numpy) or isinstance(b, of_numpy)) and any(
        type(x) not in PLAIN and type(class_attribute(type(x), "__array_ufunc__")) is FunctionType
        for x in (a, b)
    )


Candidate: TypeAlias = tuple[type, str, tuple[Any, Any], bool]
"""A class, its special method, the operands of the method, and whether they are exchanged."""


def first_result(record: list[Any], slot: int, candidates: list[Candidate]) -> Any:
    """Call the methods in order; return the first result that is not ``NotImplemented``."""
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


def _lacks_index(candidate: Candidate) -> bool:
    """Return whether the method repeats a sequence, and its operand has no ``__index__``."""
    kind, special, (_, other), _ = candidate
    return _is_of_sequence(class_attribute(kind, special)) and not hasattr(other, "__index__")


def reflected_first(name: str, a: Any, b: Any) -> bool:
    """Return whether the reflected method of `b` precedes the method of `a`: in C, methods of
    numbers for ``+`` and ``*`` precede those of sequences, on either side."""
    if name.removeprefix("i") not in ("add", "mul") or type(b) in _NO_NUMBERS:
        return False
    if not _is_of_sequence(class_attribute(type(a), f"__{name}__")):
        return False
    reflected = class_attribute(type(b), f"__{REFLECTED[name.removeprefix('i')]}__")
    if reflected is None or _is_of_sequence(reflected):
        return False
    return not (name.endswith("mul") and isinstance(b, np.generic))  # a count of repetitions


def _is_of_sequence(method: Any) -> bool:
    return type(method) is WrapperDescriptorType and method.__objclass__ in _SEQUENCES


_SEQUENCES = frozenset({list, tuple, str, bytes, bytearray, deque})
_NO_NUMBERS = _SEQUENCES | {int, float, bool, type(None)}
"""Types whose reflected methods do not take sequences."""


def python_method(kind: type, special: str) -> bool:
    """Return whether a class defines a special method in Python."""
    return type(special_of(kind, special)) is FunctionType


_UNEQUAL = object.__ne__
"""Calls ``==`` of the class."""


_REPEATS = ("__mul__", "__rmul__", "__imul__")


def special_method(inner: list[Any], kind: type, special: str, operands: tuple[Any, ...]) -> Any:
    f = special_of(kind, special)
    if f is _UNEQUAL and python_method(kind, "__eq__"):
        f = lookup(operator.ne).substitute  # type: ignore[union-attr]
    if type(f) is FunctionType:
        return call_keywords(inner, 1, f, operands, {})
    if f is None:
        return NotImplemented
    if is_number(operands[0]):
        if special in _REPEATS and issubclass(type(operands[0]), np.generic):
            if _is_of_sequence(class_attribute(type(operands[1]), "__mul__")):
                return NotImplemented  # NumPy's scalars leave repetition to the sequence
        if issubclass(type(operands[0]), ndarray | np.generic):
            if special in _FORWARD and defers_to(operands[0], operands[1]):
                return NotImplemented
            y = _by_ufunc(inner, special, operands)
            if y is not DECLINED:
                return y
            if len(operands) > 1 and _may_be_deferred_to(type(operands[1])):
                if f(*operands) is NotImplemented:
                    return NotImplemented
            if special in _OF_ONE and _is_one_object(*operands):
                if special in _OF_ORDER and issubclass(type(operands[0]), np.complexfloating):
                    return NotImplemented  # NumPy does not convert the scalar to Python's number
                a, b = _as_python_number(inner[0], operands[0]), operands[1]
                return linked(inner, 1, unchanged, protocol, *_OF_ONE[special], a, b)
            if special in _BY_SPECIAL and issubclass(type(operands[0]), ndarray):
                if len(operands) > 1 and is_one_object(operands[1]) and operands[1] is not None:
                    ufunc, swapped = _BY_SPECIAL[special]
                    arrange = exchanged if swapped else unchanged
                    given = operands[::-1] if swapped else operands
                    return linked(inner, 1, arrange, call_keywords, ufunc, given, {})
            if special in _BY_SPECIAL and all(map(_stands_for_array, operands)):
                ufunc, swapped = _BY_SPECIAL[special]
                if _ignores_wrap(*operands):
                    given = (ufunc, *operands, swapped)
                    return linked(
                        inner,
                        1,
                        lambda bars: (None, bars[2], bars[3]),
                        call_function,
                        scalar_operator,
                        given,
                        NO_KEYWORDS,
                    )
                numbers = tuple([_as_numpy_number(inner[0], x) for x in operands])
                arrange = exchanged if swapped else unchanged
                given = numbers[::-1] if swapped else numbers
                return linked(inner, 1, arrange, call_keywords, ufunc, given, {})
        elif f(*operands) is NotImplemented:
            return NotImplemented  # int leaves the operator to a subclass of float
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


def _ignores_wrap(number: Any, other: Any = None) -> bool:
    """Return whether a scalar of NumPy ignores ``__array_wrap__`` of `other`, because scalars of
    this version convert the operand to an array first."""
    if issubclass(type(number), ndarray) or issubclass(type(other), ndarray | np.generic):
        return False
    return has_array_wrap(other) and not scalars_wrap()


def _is_one_object(number: Any, other: Any) -> bool:
    """Return whether NumPy treats the other operand of a scalar as a single object, and gives its
    reflected method Python's number."""
    kind = type(other)
    return (
        isinstance(number, np.generic)
        and type(number.item()) in (float, int, bool, complex)
        and not is_number(other)
        and any(python_method(kind, f"__{name}__") for name in REFLECTED.values())
        and not any(hasattr(kind, name) for name in _ARRAY_LIKE)
    )


_ARRAY_LIKE = ("__array__", "__array_interface__", "__array_struct__", "__getitem__", "__buffer__")


def _as_python_number(memory: Memory, number: Any) -> Any:
    value = number.item()
    if memory.level is not None:
        return memory.level.link(value, number)
    return value


def defers_to(x: Any, other: Any) -> bool:
    """Return whether an array leaves an operator to the operand on its right, whose class has a
    higher ``__array_priority__``, or ``__array_ufunc__ = None``."""
    kind = type(other)
    if not issubclass(type(x), ndarray) or kind in PLAIN:
        return False
    if isinstance(other, ndarray | np.generic | float | int | complex):
        return False
    told = class_attribute(kind, "__array_ufunc__", ...)
    if told is not ...:
        return told is None
    if not hasattr(kind, "__array_priority__"):
        return False
    return bool(x.__array_priority__ < other.__array_priority__)


_FORWARD = frozenset(f"__{name}__" for name in (*(op.__name__ for op in UFUNCS), *COMPARISONS))


def _may_be_deferred_to(kind: type) -> bool:
    """Return whether NumPy may leave an operator to instances of `kind`; only a call tells."""
    return (
        kind not in PLAIN
        and not issubclass(kind, ndarray)
        and any(special in vars(base) for base in kind.__mro__ for special in _LEFT_TO)
    )


_LEFT_TO = ("__array_priority__", "__array_ufunc__")


def _by_ufunc(inner: list[Any], special: str, operands: tuple[Any, ...]) -> Any:
    """Run an array's operator by ``__array_ufunc__`` of an operand; `DECLINED` if none has it."""
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
"""Special methods of comparisons and of ``divmod``, their ufunc, and whether they are reflected."""
_OF_ONE = {f"__{op.__name__}__": (op, op.__name__) for op in UFUNCS} | {
    f"__{name}__": (getattr(operator, name), name) for name in COMPARISONS
}
_OF_ONE |= {
    f"__{name}__": (getattr(operator, f"__{name}__"), name)
    for name in ("and", "or", "xor", "lshift", "rshift")
}
_OF_ONE["__divmod__"] = divmod, "divmod"
_OF_ORDER = ("__mod__", "__floordiv__", "__divmod__")
"""Special methods that complex numbers do not have."""
