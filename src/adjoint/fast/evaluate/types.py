"""Types of the values that a program computes.

A number has a set of possible classes, an array a dtype and a symbolic shape. Dimensions that are
equal when the function is specialised share one symbol, and a guard checks their equality in every
call. A dimension of 1 is never symbolic, so that broadcasting is always known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.members import members
from adjoint.ir.node import node
from adjoint.rulekit.partials import LOW


@node(eq=False)
class Symbol:
    """A symbolic dimension, compared by identity; never 0 or 1 if `is_argument`.

    `key` is the expression that it follows from, if it has one (see `Draft.derived`).
    """

    name: str
    is_argument: bool = True
    key: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return self.name


Dim: TypeAlias = "int | Symbol"


@node
class Number:
    """A number of one of the classes `kinds`."""

    kinds: frozenset[type]

    def __repr__(self) -> str:
        return "|".join(sorted(kind.__name__ for kind in self.kinds))


@dataclass(frozen=True, slots=True)
class Array:
    """A `numpy.ndarray` (no subclass), in the machine's own byte order."""

    dtype: np.dtype[Any]
    shape: tuple[Dim, ...]

    def __post_init__(self) -> None:
        if not self.dtype.isnative:
            raise NotCovered("an array in another byte order than the machine's")

    def with_shape(self, shape: tuple[Dim, ...]) -> Array:
        """Return the type of an array of the same dtype."""
        return Array(self.dtype, shape)

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class IntegersOrFloats(Array):
    """An array of 64-bit integers, or one of 64-bit floats, by a branch or an iteration. What asks
    for its dtype is not covered."""

    __slots__ = ()

    def __init__(self, shape: tuple[Dim, ...]) -> None:
        object.__setattr__(self, "shape", shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        raise NotCovered("an array of integers or floats, by a branch or an iteration")

    def with_shape(self, shape: tuple[Dim, ...]) -> Array:
        return IntegersOrFloats(shape)

    def __eq__(self, other: object) -> bool:
        return type(other) is IntegersOrFloats and self.shape == other.shape

    def __hash__(self) -> int:
        return hash(self.shape)

    def __repr__(self) -> str:
        return f"int64|float64[{', '.join(map(str, self.shape))}]"


INTEGERS_OR_FLOATS = (np.dtype(np.int64), np.dtype(np.float64))


@node
class Row:
    """A list of any length of numbers or arrays of type `item`; its cotangent is a list of equal
    length."""

    item: Number | Array

    def __repr__(self) -> str:
        return f"list[{self.item}]"


@node
class Anything:
    """A value that is no number and carries no cotangent: a tape, an iterator, a pullback."""

    def __repr__(self) -> str:
        return "object"


Type: TypeAlias = Number | Array | Row | Anything
ANYTHING = Anything()

_WITNESSES: dict[type, Any] = {bool: True, int: 2, float: 1.5, complex: 1.5 + 0.5j}
_SCALARS = members(
    np, "float64 float32 float16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 bool_"
)
_COMPLEX_SCALARS = (np.complex128, np.complex64)
for _kind in (*_SCALARS, *_COMPLEX_SCALARS):
    _WITNESSES[_kind] = _kind(1)


def holds_arrays(t: Any) -> bool:
    """Return whether a type is that of lists of arrays."""
    return isinstance(t, Row) and isinstance(t.item, Array)


def number(*kinds: type) -> Number:
    return Number(frozenset(kinds))


_OF_KIND = {kind: number(kind) for kind in _WITNESSES}


def number_of_class(kind: type) -> Number:
    """Return the type of numbers of one class."""
    return _OF_KIND.get(kind) or number(kind)


FLOAT = number(float)
LOW_KINDS = frozenset(np.dtype(char).type for char in LOW)
"""Classes of NumPy numbers of less than double precision."""
_COMPLEX = frozenset({complex, *_COMPLEX_SCALARS})
_FLOAT = frozenset({float})
_PYTHON = frozenset({float, int, bool})
PYTHON_NUMBERS = _PYTHON | {complex}
_PYTHON_AND_NUMPY = frozenset({float, np.float64})
_PYTHON_AND_NUMPY_COMPLEX = frozenset({complex, np.complex128})


def is_covered(kind: type) -> bool:
    """Return whether numbers of a class are covered."""
    return kind in _WITNESSES


def is_float(t: Any) -> bool:
    """Return whether a type is that of Python floats."""
    return type(t) is Number and t.kinds == _FLOAT


def may_warn(t: Any) -> bool:
    """Return whether operations on a value of a type may raise warnings of NumPy."""
    return isinstance(t, Array) or (isinstance(t, Number) and not t.kinds <= PYTHON_NUMBERS)


def has_integer(t: Any) -> bool:
    """Return whether a number may be a Python or NumPy integer."""
    if type(t) is not Number or t.kinds == _FLOAT:
        return False
    return any(kind is int or issubclass(kind, np.integer) for kind in t.kinds)


def is_inexact(t: Any) -> bool:
    """Return whether a value of a type may carry a derivative: it is no integer or truth value."""
    if isinstance(t, IntegersOrFloats):
        return True
    if isinstance(t, Array):
        return t.dtype.kind in "fc"
    return not isinstance(t, Number) or not all(
        issubclass(kind, int | np.integer | np.bool_) for kind in t.kinds
    )


def has_truth_value(t: Any) -> bool:
    """Return whether a number may be a Python or NumPy truth value."""
    return isinstance(t, Number) and not t.kinds.isdisjoint({bool, np.bool_})


def has_complex(t: Any) -> bool:
    """Return whether a value of a type may be complex."""
    if type(t) is Number:
        return not t.kinds.isdisjoint(_COMPLEX)
    return type(t) is Array and t.dtype.kind == "c"


def is_complex(t: Any) -> bool:
    """Return whether every value of a type is complex."""
    if isinstance(t, IntegersOrFloats):
        return False
    if isinstance(t, Array):
        return t.dtype.kind == "c"
    return isinstance(t, Number) and t.kinds <= _COMPLEX


def type_of(value: Any) -> Type | None:
    """Return the type of a number or an array, with constant dimensions; ``None`` for any other
    object, and for dtypes that are not covered."""
    kind = type(value)
    if kind in _WITNESSES:
        return number(kind)
    if kind is np.ndarray and value.dtype.kind in "fiubc" and value.dtype.isnative:
        if value.dtype.type not in _WITNESSES:
            return None
        return Array(value.dtype, value.shape)
    return None


def may_overflow(t: Any) -> bool:
    """Return whether a type includes NumPy integers or truth values, whose arithmetic wraps
    around."""
    if isinstance(t, Array):
        return isinstance(t, IntegersOrFloats) or t.dtype.kind in "iub"
    if type(t) is not Number or t.kinds <= PYTHON_NUMBERS:
        return False
    return any(issubclass(kind, np.integer | np.bool_) for kind in t.kinds)


def join(a: Type, b: Type) -> Type | None:
    """Return the smallest type that includes two types, or ``None``."""
    if isinstance(a, Row) or isinstance(b, Row):
        return None
    if a == b:
        return a
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(a.kinds | b.kinds)
    if isinstance(a, Array) and isinstance(b, Array) and a.shape == b.shape:
        if all(isinstance(t, IntegersOrFloats) or t.dtype in INTEGERS_OR_FLOATS for t in (a, b)):
            return IntegersOrFloats(a.shape)
    return None


def witnesses(t: Number) -> list[Any]:
    """Return one number per class of `t`."""
    return [_WITNESSES[kind] for kind in t.kinds]


def bar_type(t: Type) -> Type:
    """Return the type of the cotangent of a value of type `t`."""
    if type(t) is Array and t.dtype.kind in "fc":
        return t
    if isinstance(t, Array):
        return Array(np.dtype(np.float64), t.shape)
    if isinstance(t, Row):
        return Row(_bar_of_item(t.item))
    if isinstance(t, Number) and not t.kinds.isdisjoint(_COMPLEX):
        return _bar_of_complex(t.kinds)
    if isinstance(t, Number) and not t.kinds <= _PYTHON:
        return Number(_PYTHON_AND_NUMPY | {k for k in t.kinds if issubclass(k, np.floating)})
    return FLOAT


def _bar_of_item(t: Number | Array) -> Number | Array:
    """Return the type of the cotangent of an item of a list: plain numbers for numbers."""
    if isinstance(t, Array):
        return t
    return FLOAT if t.kinds.isdisjoint(_COMPLEX) else _bar_of_complex(t.kinds)


def _bar_of_complex(kinds: frozenset[type]) -> Number:
    """Return the type of the cotangent of a number that may be complex."""
    found = _PYTHON_AND_NUMPY_COMPLEX | (kinds & _COMPLEX)
    if kinds & _COMPLEX == {complex}:
        found = frozenset({complex})
    rest = kinds - _COMPLEX
    if rest:
        of_rest = bar_type(Number(rest))
        assert isinstance(of_rest, Number)
        found |= of_rest.kinds
    return Number(found)


def part_type(t: Type, name: str) -> Type:
    """Return the type of ``x.real`` or ``x.imag``, according to `name`."""
    if isinstance(t, Array):
        return Array(getattr(np.empty(0, t.dtype), name).dtype, t.shape)
    assert isinstance(t, Number)
    return number(*(type(getattr(x, name)) for x in witnesses(t)))
