"""Conversion of numbers, arrays and lists to arrays of objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.value_kinds import NUMBERS, is_objects, is_one_object
from adjoint.rulekit.projection import SEQUENCES
from adjoint.runtime.arrays.object_layout import indices


def boxed(a):
    """Return an array of numbers as an array of objects, Python's own numbers."""
    plain = _astype(a)
    return plain if a.dtype.kind not in "fc" else of_numbers(a, plain)


def _astype(a: Any) -> Any:
    return np.asarray(a).astype(object)


def of_numbers(a, plain):
    """Return an array of objects of the elements of `a`, as `plain` has them: an element itself, or
    Python's number made of it by `item`."""
    made = np.empty_like(plain)
    for index in indices(plain.shape):
        part = a[index] if isinstance(a, np.ndarray) else a
        made[index] = part if _is(part, plain, index) else part.item()
    return made


def of_parts(source, plain):
    """Return an array of objects of the elements of nested lists and arrays, as `plain`, NumPy's
    conversion of `source`, has them."""
    made = np.empty_like(plain)
    for index in indices(plain.shape):
        part = source
        for i in index:
            part = part[i]
        made[index] = part if _is(part, plain, index) else part.item()
    return made


def _is(part: Any, plain: Any, index: tuple[int, ...]) -> bool:
    return plain[index] is part


def follows(source: Any, plain: Any) -> bool:
    """Return whether each element of `plain` is, up to `item`, that of `source` at its index."""
    for index in indices(plain.shape):
        part = source
        for i in index:
            if not isinstance(part, (*SEQUENCES, np.ndarray)):
                return False
            part = part[i]
        found = plain[index]
        if part is not found and not (
            isinstance(part, np.generic) and type(found) is type(part.item())
        ):
            return False
    return True


def as_objects(x):
    """Return an operand of an elementwise function as an array of objects."""
    if is_objects(x):
        return x
    if isinstance(x, np.ndarray | np.generic):
        return boxed(x)
    if isinstance(x, int | float | complex) and type(x) not in NUMBERS:
        return boxed(np.asarray(x))
    if not is_one_object(x) and not isinstance(x, int | float | complex | str):
        return np.array(x, object)
    made = np.empty((), object)
    made[()] = x
    return made
