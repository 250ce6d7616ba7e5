"""Results with the shape of the operands broadcast together, and of functions of one number."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Shape
from adjoint.fast.evaluate.result_types.records import Record, broadcast, dims, shape_of
from adjoint.fast.evaluate.types import Array, Symbol, has_integer

_OPERATORS = frozenset(
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow neg pos abs invert inv lt le eq ne gt ge "
    "and_ or_ xor lshift rshift".split()
)
POWERS: frozenset[Any] = frozenset({operator.pow, pow, operator.ipow})


def is_ufunc(f: Any) -> bool:
    """Return whether `f` is an elementwise ufunc with one result."""
    return isinstance(f, np.ufunc) and f.signature is None and f.nout == 1


def is_broadcast(f: Any) -> bool:
    """Return whether `f` is an operator, or a ufunc, of each element of its operands."""
    return f in _OPERATORS or is_ufunc(f)


@shape_of(*_OPERATORS, abs, of_numbers=True)
def _(*operands: Any) -> Shape:
    _demand_no_lists(operands)
    return broadcast(*map(dims, operands))


def _demand_no_lists(operands: Sequence[Any]) -> None:
    """Refuse lists without an array beside them: operators join, repeat or compare them."""
    if any(isinstance(x, tuple | list) for x in operands):
        if not any(isinstance(x, Array | np.ndarray) for x in operands):
            raise TypeError("an operator of lists")


@shape_of(np.sinc, np.i0, of_numbers=True)
def broadcasting(*operands: Any, dtype: Any = None) -> Shape:
    return broadcast(*map(dims, operands))


@shape_of(operator.pow, pow, of_numbers=True)
def _(base: Any, exp: Any) -> Shape:
    _demand_no_lists((base, exp))
    if isinstance(base, Array) and (isinstance(exp, Symbol) or has_integer(exp)):
        if base.dtype.kind == "b" or (not base.shape and base.dtype.char not in "dD"):
            raise TypeError("a square has another dtype than other powers")  # () in NumPy 1
    return broadcast(dims(base), dims(exp))


BROADCASTING = Record(broadcasting, of_numbers=True)


@shape_of(float, int, bool, complex, round, divmod, max, min, arrays=0, of_numbers=True)
def of_one_number(*operands: Any) -> Shape:
    """The result of a function that takes an array of one element as a number."""
    if any(n != 1 for x in operands if isinstance(x, Array) for n in x.shape):
        raise ValueError("an array of several elements, or none, as a number")
    return ()


@shape_of(math.prod, arrays=0)
def _(iterable: Any, *, start: Any = 1) -> Shape:
    if isinstance(iterable, Array):
        (n,) = iterable.shape
        if n == 0 or (isinstance(n, Symbol) and not n.is_argument):
            raise ValueError("the product of no elements is an integer")
    return ()


@shape_of(math.dist, arrays=0)
def _(p: Any, q: Any) -> Shape:
    if len(dims(p)) != 1 or dims(p) != dims(q):
        raise ValueError("points with other numbers of coordinates")
    return ()


OF_ONE_NUMBER = Record(of_one_number, arrays=0, of_numbers=True)


@shape_of(np.where, arrays=3)
def _(condition: Any, x: Any, y: Any) -> Shape:
    return broadcast(dims(condition), dims(x), dims(y))


@shape_of(np.clip, arrays=3)
def _(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: None = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Shape:
    return broadcast(*(dims(x) for x in (a, a_min, a_max, min, max) if x is not None))


@shape_of(np.ndarray.clip, arrays=3)
def _(a: Any, min: Any = None, max: Any = None, out: None = None) -> Shape:
    return broadcast(*(dims(x) for x in (a, min, max) if x is not None))
