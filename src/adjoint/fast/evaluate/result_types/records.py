"""Records: for a function of arrays, how the shape of its result follows from its operands.

A record has the parameters of the function, and returns a shape; then class and dtype of the result
are those of a call on operands whose lengths are all 1 (`ones`). Where such a call would be illegal
or large, the record returns an `Array`, a `Number`, or `Several`. An operand is given to it as an
`Array`, a `Number`, a `Symbol` for a length, a tuple of such, or itself where it is known. It
raises a ValueError for operands that do not fit, as the function does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import UNKNOWN, Derived, Length, Misfit, Shape
from adjoint.fast.evaluate.types import Array, Number, Symbol, is_covered
from adjoint.fast.not_covered import NotCovered

F = TypeVar("F", bound=Callable[..., Any])


class Record(NamedTuple):
    """A record.

    Attributes
    ----------
    result
        Returns the shape or the type of the result.
    arrays
        How many of the first operands are taken as arrays where they are lists.
    of_numbers
        A result of numbers alone is a number, whose class depends on their signs, too.
    """

    result: Callable[..., Any]
    arrays: int = 1
    of_numbers: bool = False


class Several(NamedTuple):
    """Types of the results of a function that returns a tuple of class `kind`."""

    types: tuple[Any, ...]
    kind: type = tuple


records: dict[Any, Record] = {}
converted_operands: dict[Any, int] = {}
"""How many of its first operands a function converts to arrays, if they are lists."""


def shape_of(*functions: Any, arrays: int = 1, of_numbers: bool = False) -> Callable[[F], F]:
    """Register the decorated function as the record of each of `functions`."""

    def add(result: F) -> F:
        records.update(dict.fromkeys(functions, Record(result, arrays, of_numbers)))
        return result

    return add


def dims(x: Any) -> Shape:
    """Return the shape of an operand, a list of operands taken as an array."""
    if type(x) is Array:
        return x.shape
    if isinstance(x, Number | Symbol | int | float | complex | np.generic):
        return ()
    if isinstance(x, Array | np.ndarray):
        return x.shape
    if not isinstance(x, tuple | list):
        raise TypeError("an operand is neither a number nor an array")
    shapes = {dims(item) for item in x}
    if len(shapes) > 1:
        raise ValueError("a list of parts of several shapes")
    return (len(x), *shapes.pop()) if x else (0,)


def dtype_of(x: Any) -> np.dtype[Any]:
    """Return the dtype of an operand as an array."""
    if isinstance(x, Array):
        return x.dtype
    if isinstance(x, Number):
        found = {np.dtype(kind) for kind in x.kinds}
        if len(found) != 1:
            raise NotCovered("numbers of several classes, or of none, in an array")
        return found.pop()
    if isinstance(x, tuple | list):
        return common_dtype(*map(dtype_of, x)) if x else np.dtype(np.float64)
    return np.dtype(int) if isinstance(x, Symbol) else np.asarray(x).dtype


def common_dtype(*dtypes: Any) -> np.dtype[Any]:
    """Return the dtype of arrays with such dtypes that are joined."""
    return np.result_type(*dtypes)


def array(dtype: Any, shape: Any) -> Array:
    """Return the type of an array."""
    found = np.dtype(dtype)
    if not is_covered(found.type):
        raise NotCovered(f"an array of dtype {found}")
    return Array(found, shape)


def cast(dtype: np.dtype[Any], to: Any) -> np.dtype[Any]:
    """Return the dtype `to`, or `dtype` if it is ``None``; refuse to discard imaginary parts."""
    found = dtype if to is None else np.dtype(to)
    if dtype.kind == "c" and found.kind != "c":
        raise TypeError("complex numbers in an array of real ones")
    return found


def integer(x: Any) -> int:
    """Return a known axis or option."""
    if isinstance(x, Symbol):
        raise ValueError("an axis that is a length")
    return operator.index(x)


def axis_of(axis: Any, rank: int) -> int:
    """Return an axis as an index from 0."""
    at = integer(axis)
    if not -rank <= at < rank:
        raise ValueError(f"axis {at} of an array of rank {rank}")
    return at % rank


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    """Return one axis or several as indices from 0."""
    many = axes if isinstance(axes, tuple | list) else (axes,)
    found = tuple(axis_of(axis, rank) for axis in many)
    if len({*found}) < len(found):
        raise ValueError("repeated axis")
    return found


def lengths_of(shape: Any) -> Shape:
    """Return the lengths in an operand that is a shape; an integer that is not known gives a length
    that is not known."""
    many = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(map(_length_of, many))


def made_lengths(shape: Any) -> Shape:
    """Return the lengths in a shape, none of which may be negative."""
    found = lengths_of(shape)
    if any(isinstance(n, int) and n < 0 for n in found):
        raise ValueError("a negative length")
    return found


def _length_of(x: Any) -> Length:
    if isinstance(x, Symbol | Derived):
        return x
    if isinstance(x, Number):
        if not all(kind is int or issubclass(kind, np.integer) for kind in x.kinds):
            raise TypeError("a length that is no integer")
        return UNKNOWN
    return integer(x)


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape that shapes are broadcast to."""
    whole: Shape = ()
    for shape in shapes:
        if len(shape) > len(whole):
            whole = shape
    if all(shape == whole or not shape for shape in shapes):
        return whole
    found: list[Length] = []
    for i in range(1, len(whole) + 1):
        longer = {shape[-i] for shape in shapes if len(shape) >= i and shape[-i] != 1}
        if len(longer) > 1:
            raise Misfit(*sorted(longer, key=str)[:2])
        found.append(longer.pop() if longer else 1)
    return tuple(found[::-1])
