"""Structures: deep copies of them and comparison.

A *structure* is any nest of numbers, arrays, lists, tuples, dicts, objects and closures; its
*leaves* are the floating-point numbers and arrays in it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from adjoint.primal.engine_object import EngineObject

ATOMS = (
    types.NoneType,
    bool,
    int,
    str,
    bytes,
    range,
    slice,
    type,
    type(Ellipsis),
    type(NotImplemented),
    types.ModuleType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    np.ufunc,
    np.dtype,
    np.random.Generator,
)
FOREIGN = ("functools", "_thread", "_io", "adjoint.fast.programs.store")
"""Modules whose objects are taken as they are: they keep no derivative of their own."""


# ---- walking a structure -------------------------------------------------------------------------


def is_leaf(x: Any) -> bool:
    """Whether `x` is a floating-point number or array, real or complex."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, float | complex | np.inexact)


def fields_of(x: Any) -> dict[str, Any] | None:
    """The fields of an object or the captured variables of a function; ``None`` for an atom."""
    if isinstance(x, types.FunctionType):
        return {
            name: cell.cell_contents
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            if not _is_empty(cell)
        }
    if isinstance(x, ATOMS) or type(x).__module__ in FOREIGN:
        return None
    fields: dict[str, Any] = {}
    for cls in reversed(type(x).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                fields[name] = getattr(x, name)
    own = getattr(x, "__dict__", {})
    fields.update(own if isinstance(own, dict) else {})  # a library of C answers to any name
    return fields


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def mapped(
    x: Any, leaf: Callable[[Any], Any] = lambda x: x, memo: dict[int, Any] | None = None
) -> Any:
    """A deep copy of `x` with `leaf` applied to every leaf.

    What was shared in `x` is shared in the copy, and `leaf` sees it once.
    """
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)][0]
    if is_leaf(x) and not isinstance(x, np.ndarray):
        return leaf(x)
    y = (
        _container(x, leaf, memo)
        if isinstance(x, list | dict | set | tuple)
        else _object(x, leaf, memo)
    )
    memo[id(x)] = y, x  # x stays alive, so that its id stays its own
    return y


def _container(x: Any, leaf: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    if isinstance(x, list):
        y = _empty_like(x)
        memo[id(x)] = y, x
        y.extend(mapped(item, leaf, memo) for item in x)
    elif isinstance(x, dict):
        y = _empty_like(x)
        memo[id(x)] = y, x
        for key, item in x.items():
            y[key] = mapped(item, leaf, memo)
    elif isinstance(x, set):
        y = {mapped(item, leaf, memo) for item in x}
    else:
        items = [mapped(item, leaf, memo) for item in x]
        y = type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if type(x) not in (list, dict, set, tuple) and hasattr(x, "__dict__"):
        for name, item in x.__dict__.items():
            setattr(y, name, mapped(item, leaf, memo))
    return y


def _empty_like(x: Any) -> Any:
    y = type(x).__new__(type(x))
    if hasattr(x, "default_factory"):
        y.default_factory = x.default_factory
    return y


def _object(x: Any, leaf: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        y = np.empty_like(x)
        memo[id(x)] = y, x
        for index in np.ndindex(x.shape):
            y[index] = mapped(x[index], leaf, memo)
        return y
    if isinstance(x, np.ndarray):
        return np.array(leaf(x) if is_leaf(x) else x, copy=True, subok=True)
    if isinstance(x, types.MethodType):
        return types.MethodType(x.__func__, mapped(x.__self__, leaf, memo))
    fields = fields_of(x)
    if not fields:
        return x
    if isinstance(x, types.FunctionType):
        cells = tuple(types.CellType() for _ in x.__code__.co_freevars)
        y = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        y.__kwdefaults__ = x.__kwdefaults__
        functools.update_wrapper(y, x)
        memo[id(x)] = y, x
        for name, cell in zip(x.__code__.co_freevars, cells, strict=True):
            if name in fields:
                cell.cell_contents = mapped(fields[name], leaf, memo)
        return y
    if getattr(type(x).__new__, "__self__", object) is not object:
        return x  # of C: a decorated function
    y = object.__new__(type(x))
    memo[id(x)] = y, x
    for name, item in fields.items():
        object.__setattr__(y, name, mapped(item, leaf, memo))
    return y


def parts(x: Any) -> Iterator[tuple[Any, Any]] | None:
    """``(key, part)`` of whatever has parts, tangents included; ``None`` for the rest."""
    if isinstance(x, EngineObject):
        return None  # programs that a result of `grad` has found
    if isinstance(x, list | tuple):
        return iter(enumerate(x))
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        return iter(np.ndenumerate(x))
    if isinstance(x, Mapping) or (hasattr(x, "keys") and not isinstance(x, type)):
        return iter((key, x[key]) for key in x.keys())  # noqa: SIM118 - a tangent need not iterate
    if isinstance(x, types.MethodType):
        return parts(x.__self__)
    fields = None if isinstance(x, np.ndarray | np.generic | float | complex) else fields_of(x)
    return iter(fields.items()) if fields else None


# ---- comparison ----------------------------------------------------------------------------------


def difference(
    a: Any, b: Any, rtol: float = 0.0, path: str = "", seen: set[Any] | None = None
) -> str | None:
    """Where and how two structures differ (types, shapes, dtypes and numbers), or ``None``."""
    seen = set() if seen is None else seen
    if (id(a), id(b)) in seen:
        return None
    seen.add((id(a), id(b)))
    if type(a) is not type(b):
        return f"{path or 'value'}: {type(a).__name__} {a!r} against {type(b).__name__} {b!r}"
    if isinstance(a, np.random.Generator):
        states = a.bit_generator.state, b.bit_generator.state
        return difference(*states, path=f"{path or 'value'}.state")
    of_objects = isinstance(a, np.ndarray) and a.dtype.kind == b.dtype.kind == "O"
    if isinstance(a, np.ndarray | np.generic | float | complex) and not of_objects:
        return _difference_of_numbers(a, b, rtol, path)
    inside_a, inside_b = parts(a), parts(b)
    if inside_a is None or inside_b is None:
        equal = a is b or isinstance(a, types.FunctionType) or not isinstance(a, ATOMS) or a == b
        return None if equal else f"{path or 'value'}: {a!r} against {b!r}"
    items_a, items_b = list(inside_a), list(inside_b)
    if [key for key, _ in items_a] != [key for key, _ in items_b]:
        return f"{path or 'value'}: {a!r} against {b!r}"
    for (key, item_a), (_, item_b) in zip(items_a, items_b, strict=True):
        found = difference(item_a, item_b, rtol, f"{path}[{key!r}]", seen)
        if found:
            return found
    return None


def _difference_of_numbers(a: Any, b: Any, rtol: float, path: str) -> str | None:
    x, y = np.asarray(a), np.asarray(b)
    same = x.shape == y.shape and x.dtype == y.dtype
    if same and x.dtype.kind == "O":
        same = bool(np.all(x == y))
    elif same:
        scale = np.max(np.abs(y[np.isfinite(y)]), initial=0.0) if y.dtype.kind in "fc" else 0.0
        atol = 1e-6 * rtol * scale  # of elements whose terms cancel
        same = np.allclose(x, y, rtol=rtol, atol=float(atol), equal_nan=True)
    return None if same else f"{path or 'value'}: {a!r} against {b!r}"


def in_total(bars: Any, values: Any) -> Any:
    """Cotangents of several values, in which what more than one of them holds shows the sum of its
    cotangents in each: what differences give, which move it in all."""
    sums: dict[Any, Any] = {}
    held: list[set[int]] = []
    for bar, value in zip(bars, values, strict=True):
        held.append(set())
        _add_up(bar, value, id(value), sums, held[-1])
    once = set().union(*held)
    if sum(map(len, held)) == len(once):
        return bars
    pairs = zip(bars, values, strict=True)
    return tuple(_summed(bar, value, id(value), sums, ()) for bar, value in pairs)


def _add_up(bar: Any, value: Any, place: Any, sums: dict[Any, Any], seen: set[int]) -> None:
    is_array = isinstance(value, np.ndarray)
    if is_leaf(value) and not is_array:
        if bar is not None:
            sums[place] = sums.get(place, 0.0) + bar
        return
    inside = parts(value)
    if id(value) in seen or not (is_array or inside):
        return
    seen.add(id(value))
    if is_leaf(value):
        if bar is not None:
            sums[id(value)] = sums.get(id(value), 0.0) + bar
        return
    bars = dict(parts(bar) or ()) if bar is not None else {}
    for key, part in inside or ():
        _add_up(bars.get(key), part, (id(value), key), sums, seen)


def _summed(bar: Any, value: Any, place: Any, sums: dict[Any, Any], above: Any) -> Any:
    if is_leaf(value):
        return sums.get(id(value) if isinstance(value, np.ndarray) else place)
    inside = parts(value)
    if inside is None or id(value) in above:
        return bar
    above = (*above, id(value))
    bars = dict(parts(bar) or ()) if bar is not None else {}
    found = {
        key: _summed(bars.get(key), part, (id(value), key), sums, above) for key, part in inside
    }
    return type(value)(found.values()) if isinstance(value, list | tuple) else found


def mismatch(bar: Any, reference: Any, rtol: float, atol: float) -> str | None:
    """Where the cotangent `bar` is not `reference`, which is shaped like the primal; or ``None``.

    A missing part (``None``) means zero. Parts that carry no derivative are not looked at.
    """
    return _mismatch(bar, reference, rtol, atol, "", set())


def _mismatch(
    bar: Any, reference: Any, rtol: float, atol: float, path: str, seen: set[int]
) -> str | None:
    if is_leaf(reference):
        return _mismatch_of_leaf(bar, reference, rtol, atol, path)
    inside = parts(reference)
    if inside is None or id(reference) in seen:
        return None
    seen.add(id(reference))
    found_parts = {} if bar is None else dict(parts(bar) or ())
    if bar is not None and isinstance(reference, list | tuple | dict):
        if not isinstance(bar, type(reference)):
            return (
                f"{path}: a {type(reference).__name__} has a cotangent of type {type(bar).__name__}"
            )
        if len(bar) != len(reference):
            return f"{path}: {len(bar)} cotangents of {len(reference)} parts"
    for key, item in inside:
        found = _mismatch(found_parts.get(key), item, rtol, atol, f"{path}[{key!r}]", seen)
        if found:
            return found
    return None


def _mismatch_of_leaf(bar: Any, reference: Any, rtol: float, atol: float, path: str) -> str | None:
    if bar is None:
        small = np.all(np.abs(reference) <= atol)
        return None if small else f"{path}: None, finite differences give {reference!r}"
    if not isinstance(bar, np.ndarray | np.generic | int | float | complex):
        return f"{path}: a cotangent of type {type(bar).__name__}"
    if np.shape(bar) != np.shape(reference):
        return f"{path}: shape {np.shape(bar)} for a primal of shape {np.shape(reference)}"
    if isinstance(reference, np.ndarray) and np.asarray(bar).dtype != reference.dtype:
        return f"{path}: dtype {np.asarray(bar).dtype} for a primal of dtype {reference.dtype}"
    if np.iscomplexobj(bar) and not np.iscomplexobj(reference):
        return f"{path}: a complex cotangent of a real primal"
    if not np.allclose(bar, reference, rtol=rtol, atol=atol):
        return f"{path}: {bar!r}, finite differences give {reference!r}"
    return None
