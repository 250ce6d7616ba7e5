"""Assembly of rows and columns into one array, by code that nested derivatives differentiate."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.levels.arguments.flat_leaves import on_level
from adjoint.primal.object_array_places import elements_of
from adjoint.primal.reachability import reached
from adjoint.primal.value_kinds import ATOMS, by_value, is_objects
from adjoint.rulekit.registry import non_differentiable
from adjoint.runtime.leaves import object_fields


def by_rows(rows: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array whose rows belong to the entries of the result."""
    return np.reshape(np.stack(rows), shape).astype(dtype)


def by_columns(columns: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array whose columns belong to the entries of the argument."""
    flat = np.reshape(np.stack(columns), (len(columns), -1))
    return np.reshape(flat.T.copy(), shape).astype(dtype)


def complex_row(real: Any, imaginary: Any) -> Any:
    """Return the row of a complex entry from the cotangents of its two parts."""
    return real + 1j * imaginary


def conjugate(bar: Any) -> Any:
    """Return the row of a holomorphic entry from the cotangent of its real part."""
    return np.conj(bar)


def independent_copy(x: Any) -> Any:
    """Copy an array or a structure; return a number itself."""
    if isinstance(x, np.ndarray) and not is_objects(x):
        return x.copy()
    if by_value(x):
        return x
    _refuse_exceptions(x)
    _refuse_overlaps(x)
    try:
        return copy.deepcopy(x)
    except TypeError:  # a lock or an open file cannot be copied
        return tuple([independent_copy(part) for part in x]) if type(x) is tuple else x


def _refuse_exceptions(x: Any) -> None:
    """Refuse a structure with numbers in an exception: a copy takes its fields from ``args``."""
    seen: set[int] = set()
    stack = [x]
    while stack:
        value = stack.pop()
        if by_value(value) or type(value) in ATOMS or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, list | tuple | deque):
            stack += value
            continue
        if is_objects(value):
            stack += elements_of(value)
            continue
        named = value if isinstance(value, dict) else object_fields(value)
        if isinstance(value, BaseException) and any(map(by_value, (*named.values(), *value.args))):
            raise ArgumentError(
                f"a {type(value).__name__} that holds numbers is among the arguments, and cannot"
                " be copied for second derivatives",
                hint="give the numbers as arguments of their own",
            )
        stack += named.values()


def _refuse_overlaps(x: Any) -> None:
    """Refuse arrays that share elements: copies of them would not share, which a function that
    writes to them can tell."""
    arrays = [part for part in reached((x,)) if isinstance(part, np.ndarray)]
    for i, one in enumerate(arrays):
        for other in arrays[:i]:
            if other is not one and np.may_share_memory(one, other) and _share(one, other):
                raise ArgumentError(
                    "arrays that overlap are among the arguments, and cannot be copied for second"
                    " derivatives",
                    hint="give the array that they are parts of, and take the parts in the"
                    " function",
                )


_MOST_WORK: Any = 100_000  # an int, whatever the stubs of NumPy say


def _share(one: Any, other: Any) -> bool:
    try:
        return np.shares_memory(one, other, max_work=_MOST_WORK)
    except np.exceptions.TooHardError:
        return True


non_differentiable(_refuse_exceptions, _refuse_overlaps)


def entry(x: Any, place: tuple[int, ...]) -> Any:
    """Return one entry of an array, or a number itself."""
    return x[place] if place else x


def from_entries(entries: list[Any], like: Any) -> Any:
    """Return an array of the shape and dtype of `like`, or a number."""
    if not isinstance(like, np.ndarray):
        return entries[0]
    dtype = like.dtype if like.dtype.kind == "f" else float
    return np.reshape(np.array(entries), like.shape).astype(dtype)


def picked(sweeps: list[Any], first: Any, second: Any, dtype: Any) -> Any:
    """Pick entries from the results of several sweeps."""
    return np.reshape(np.stack(sweeps), (len(sweeps), -1))[first, second].astype(dtype)


def sparse_of(data: Any, columns: Any, starts: Any, shape: tuple[int, int]) -> Any:
    """Return a sparse array in row order."""
    from scipy.sparse import csr_array

    return csr_array((data, columns, starts), shape=shape)


def block(parts: list[Any], y: Any, x: Any, rows: bool) -> Any:
    """Return the derivative of one leaf of the result by one leaf of an argument."""
    shape = np.shape(y) + np.shape(x)
    dtype = dtype_of(y, x)
    if not isinstance(y, np.ndarray) and not isinstance(x, np.ndarray):
        if parts[0] is not None:
            return parts[0]
        return (
            complex(0)
            if dtype.kind == "c"
            else dtype.type(0)
            if isinstance(y, np.inexact) or isinstance(x, np.inexact)
            else 0.0
        )
    given = next((part for part in parts if part is not None), None)
    if given is None:
        return np.zeros(shape, dtype)
    zero = np.zeros(np.shape(given), dtype)
    filled = [zero if part is None else part for part in parts]
    return on_level(by_rows if rows else by_columns, filled, shape, dtype)


def dtype_of(y: Any, x: Any) -> np.dtype[Any]:
    """Return the floating dtype of a derivative; Python numbers adapt to the dtype of an array."""
    kinds: list[Any] = []
    for leaf in (y, x):
        dtype = np.asarray(leaf).dtype
        if dtype.kind not in "fc":
            kinds.append(np.dtype(float))
        elif isinstance(leaf, np.ndarray | np.generic):
            kinds.append(dtype)
        else:
            kinds.append(0j if isinstance(leaf, complex) else 0.0)  # the other leaf decides
    found = np.result_type(*kinds)
    return found if found.kind in "fc" else np.dtype(float)
