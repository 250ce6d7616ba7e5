"""Functions whose result type follows from the types of the operands."""

from __future__ import annotations

import functools
import inspect
import operator
from typing import Any

import numpy as np

from adjoint.fast.support.members import members
from adjoint.rulekit.row_sums import by_class, by_sample

SHAPED = members(
    np,
    "sum mean prod max min amax amin var std ptp cumsum cumprod diff dot vdot inner outer "
    "matmul tensordot einsum kron trace transpose swapaxes moveaxis ravel reshape expand_dims "
    "squeeze broadcast_to concatenate stack vstack hstack flip roll where clip zeros_like "
    "ones_like full_like empty_like arange linspace zeros ones empty full eye identity copy "
    "sort tril triu diag any all argmax argmin count_nonzero isfinite isnan shape ndim size "
    "tile repeat average atleast_1d atleast_2d searchsorted",
) | {by_class, by_sample}
"""Functions whose result has a dtype and a shape that follow from the types of the operands."""

_METHODS = frozenset(
    "sum mean prod max min var std cumsum cumprod dot transpose swapaxes ravel reshape flatten copy"
    " astype any all argmax argmin squeeze trace clip ptp round repeat".split()
)
"""Methods of `numpy.ndarray` whose result type follows from the types of the operands."""

_OF_NUMBERS: frozenset[Any] = frozenset(
    {abs, float, int, bool, complex, round, max, min, divmod, pow}
)
ELEMENTWISE: frozenset[Any] = frozenset(
    f for f in vars(np).values() if isinstance(f, np.ufunc) and f.signature is None and f.nout == 1
) | {
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow neg pos abs lt le eq ne gt ge".split()
}
"""Functions of numbers and arrays whose result has the shape of the operands broadcast together."""
POWERS: frozenset[Any] = frozenset({operator.pow, pow, operator.ipow})


def is_array_method(f: Any) -> bool:
    """Return whether `f` is one of the array methods in `_METHODS`."""
    return getattr(f, "__objclass__", None) is np.ndarray and f.__name__ in _METHODS


_MOST_OPERANDS = {"clip": 3, "repeat": 3, "swapaxes": 3, "trace": 4, "transpose": 99, "reshape": 99}
"""Number of operands of array methods before ``out``, the array itself included; else 2."""


@functools.cache
def most_operands(f: Any) -> int:
    """Return the number of positional operands of `f` before ``out`` or an ``overwrite_`` flag."""
    if isinstance(f, np.ufunc):
        return f.nin
    if getattr(f, "__objclass__", None) is np.ndarray:
        return _MOST_OPERANDS.get(f.__name__, 2)
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return 99
    by_position = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 99
    writes = (name == "out" or name.startswith("overwrite_") for name in by_position)
    return next((i for i, one in enumerate(writes) if one), 99)


def _is_operator(f: Any) -> bool:
    return getattr(f, "__module__", None) in ("_operator", "math", "cmath")


def is_inferable(f: Any) -> bool:
    """Return whether the result type of `f` follows from the types of the operands."""
    try:
        known = f in SHAPED or f in _OF_NUMBERS
    except TypeError:
        return False
    return (
        known
        or _is_operator(f)
        or (isinstance(f, np.ufunc) and f.signature is None and f.nout == 1)
        or f is np.matmul
        or is_array_method(f)
    )
