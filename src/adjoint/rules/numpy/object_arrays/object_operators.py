"""Ufuncs, sums and products of arrays of objects, by the operators and methods of the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.array_memory import names_twice
from adjoint.primal.object_array_places import is_container
from adjoint.primal.value_kinds import is_objects, is_one_object
from adjoint.rulekit.registry import non_differentiable, on_objects, primitive
from adjoint.rules.numpy.object_arrays.object_moves import substitute_on_objects
from adjoint.runtime.arrays.object_conversion import as_objects
from adjoint.runtime.arrays.object_layout import indices
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.operators.object_ufuncs import (
    _OPERATORS,
    _core,
    _visits,
    is_of_objects,
    operation_of,
    writes_directly,
)

# ---- functions of each element -------------------------------------------------------------------


@primitive(np.frompyfunc)
def _(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
    """Make a ufunc; the function runs only when the ufunc is called."""
    return np.frompyfunc(*args, **kwargs)


non_differentiable(is_of_objects, operation_of, _visits, writes_directly)


def absolute(a):
    return np.absolute(a)


substitute_on_objects(absolute, abs)

# ---- sums and products ---------------------------------------------------------------------------


def reduced(f, a, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True, /):
    """Compute ``f.reduce(a, axis)`` in Python."""
    a = as_objects(a)
    op, places = operation_of(f), indices(a.shape)
    rows, steps = _reduction(a, axis, keepdims, not _is_missing(initial))
    made = np.empty_like(rows, object)
    values: dict[int, Any] = {}
    for row, i in steps:
        value = values[row] if row in values else _first(a, places, row, initial)
        values[row] = op(value, a[places[i]])
    for index in indices(rows.shape):
        row = rows[index]
        made[index] = values[row] if row in values else a[places[row]]
    return made if rows.ndim else made[()]


def _first(a, places, row, initial):
    return a[places[row]] if _is_missing(initial) else initial


def accumulated(f, a, axis=0, dtype=None, out=None):
    """Compute ``f.accumulate(a, axis)`` in Python."""
    a = as_objects(a)
    op, places = operation_of(f), indices(a.shape)
    plain, steps = _accumulation(a, axis)
    made = np.empty_like(plain)
    added = {i for _, i in steps}
    for index, place in enumerate(places):
        if index not in added:
            made[place] = a[place]
    for previous, i in steps:
        made[places[i]] = op(made[places[previous]], a[places[i]])
    return made


def _numbered(a: Any) -> Any:
    """Return an array of the numbers of the elements, in the layout of `a`."""
    numbers = np.empty_like(a)
    numbers[...] = np.arange(a.size).reshape(a.shape)
    return numbers


def _reduction(a: Any, axis: Any, keepdims: Any, begun: bool) -> Any:
    """Return the row of each result and NumPy's operations in order, each of a row and an element.

    A row is named by its first element.
    """
    steps: list[tuple[int, int]] = []

    def step(row: int, i: int) -> int:
        row = i if row == -1 else row
        steps.append((row, i))
        return row

    loop: Any = np.frompyfunc(step, 2, 1, identity=0)
    options = {"initial": -1} if begun else {}
    rows = loop.reduce(_numbered(a), axis=axis, keepdims=keepdims, **options)
    return np.asarray(rows, object), steps


def _accumulation(a: Any, axis: Any) -> Any:
    """Return NumPy's result for numbers, and its operations in order: previous and next element."""
    steps: list[tuple[int, int]] = []

    def step(previous: int, i: int) -> int:
        steps.append((previous, i))
        return i

    loop: Any = np.frompyfunc(step, 2, 1)
    return loop.accumulate(_numbered(a), axis), steps


def _is_missing(initial: Any) -> bool:
    return initial is np._NoValue or initial is None


non_differentiable(_accumulation, _is_missing, _reduction)


def folds_objects(f: Any, a: Any, dtype: Any) -> bool:
    """Return whether NumPy folds objects: elements of `a`, or objects that it makes of numbers."""
    if f.nin != 2 or f.nout != 1 or operation_of(f) is None:
        return False
    if is_objects(a):
        return is_container(a)
    return f not in _OPERATORS or (dtype is not None and np.dtype(dtype).char == "O")


def _is_one_axis(axis: Any, a: Any) -> bool:
    return a.ndim == 1 if axis is None else not isinstance(axis, tuple) or len(axis) == 1


def _is_of_objects(a: Any) -> bool:
    """Return whether NumPy makes an array with one object per element of a list."""
    kinds = set(map(type, a))
    if not kinds or kinds <= _FLAT or len(a) > _LONG:
        return False
    return all(type(x) in _FLAT or is_one_object(x) for x in a)


_FLAT = frozenset({float, int, bool, complex})
_LONG = 10_000


def _folds(name: str, source: Any, most: int) -> None:
    def of_list(f, a, /, *args, **kwargs):
        array = np.empty(len(a), object)
        for i, x in enumerate(a):
            array[i] = x
        return getattr(f, name)(array, *args, **kwargs)

    @on_objects((np.ufunc, name))
    def fold(record: list[Any], slot: int, f: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        if (type(a) is list or type(a) is tuple) and _is_of_objects(a):
            return call_function(record, slot, of_list, (f, a, *args), kwargs)
        names = ("axis", "dtype", "out", "keepdims", "initial", "where")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        defaults = {"axis": 0, "dtype": None, "out": None, "keepdims": False, "where": True}
        options = {name: given.get(name, default) for name, default in defaults.items()}
        if type(a) is not np.ndarray or not folds_objects(f, a, options["dtype"]):
            return NotImplemented
        if not a.size or options["where"] is not True or options["out"] is not None:
            return NotImplemented
        if options["dtype"] is not None and np.dtype(options["dtype"]).char != "O":
            return NotImplemented
        if f not in _OPERATORS and f.identity is None and not _is_one_axis(options["axis"], a):
            return NotImplemented  # NumPy may refuse several axes
        if names_twice(a):
            return NotImplemented  # NumPy's order is not known
        operands = tuple(
            given.get(name, np._NoValue if name == "initial" else defaults.get(name))
            for name in names
        )
        inner: list[Any] = [record[0], None]

        def fold_back(y_bar: Any) -> tuple[Any, ...]:
            bars = inner[1](y_bar)
            by_name = dict(zip(names, bars[3:], strict=False))
            positional = [by_name.get(name) for name in names[: len(args)]]
            return (*bars[:3], *positional, *map(by_name.get, kwargs))

        record[slot] = fold_back
        return call_function(inner, 1, source, (f, a, *operands[:most]), {})


_folds("reduce", reduced, 6)
_folds("accumulate", accumulated, 3)


def _method(name: str, f: Any) -> Any:
    def by_ufunc(
        a, axis=None, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True
    ):
        return f.reduce(a, axis, dtype, out, keepdims, initial, where)

    return by_ufunc


for _name, _f in (("sum", np.add), ("prod", np.multiply), ("max", np.maximum), ("min", np.minimum)):
    substitute_on_objects(
        _method(_name, _f), (np.ndarray, _name), or_asked=_name in ("sum", "prod")
    )


def trace(a: Any, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return a.diagonal(offset, axis1, axis2).sum(-1, dtype)


substitute_on_objects(trace, (np.ndarray, "trace"))


def conjugate(a, out=None):
    return np.conjugate(a)


substitute_on_objects(conjugate, (np.ndarray, "conj"), (np.ndarray, "conjugate"))
substitute_on_objects(_core._methods._clip, (np.ndarray, "clip"))
_truth: Any = np.array([2.0], object).any()
if type(_truth) is float:  # NumPy 1 returns an element, not a boolean
    for _name in ("any", "all"):
        substitute_on_objects(getattr(_core._methods, f"_{_name}"), (np.ndarray, _name))
        substitute_on_objects(getattr(np, _name).__wrapped__, getattr(np, _name))

for _name in ("mean", "var", "std"):  # the Python source that a C method calls
    _f = getattr(np, _name)
    substitute_on_objects(_f.__wrapped__, (np.ndarray, _name))


def _cumulated(f: Any) -> Any:
    def cumulated(a, axis=None, dtype=None, out=None):
        return f.accumulate(np.ravel(a), 0) if axis is None else f.accumulate(a, axis)

    return cumulated


for _name, _f in (("cumsum", np.add), ("cumprod", np.multiply)):
    substitute_on_objects(_cumulated(_f), (np.ndarray, _name), getattr(np, _name))
