"""Cotangents that users give to a pullback, and that the pullback returns."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from types import BuiltinMethodType, FunctionType, MethodType, MethodWrapperType
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.poison import Poison
from adjoint.errors import CotangentError
from adjoint.ir.node import node
from adjoint.primal.object_array_places import as_objects, elements_of
from adjoint.primal.value_kinds import by_value, fields_of, is_objects, is_plain_object
from adjoint.rulekit.loading import load_for
from adjoint.rulekit.projection import project
from adjoint.rulekit.refusal import demand_entries
from adjoint.runtime.leaves import object_fields
from adjoint.runtime.memory.collect import CONSTANT, Reader
from adjoint.runtime.session import leaving, session
from adjoint.tangent import Tangent, tangent_of

_METHODS = (MethodType, BuiltinMethodType, MethodWrapperType)
"""Types of bound methods, whose cotangent is that of ``__self__``."""


def checked_cotangent(y: Any, y_bar: Any, within: tuple[int, ...] = ()) -> Any:
    """Check a user's cotangent of `y`, and convert it to the dtype of `y`; `deposit` checks the
    structure. `within` holds the identities of enclosing structures."""
    kind, given = type(y), type(y_bar)  # the most frequent cases first
    if kind is given and (kind in _FLOATS or (kind is np.ndarray and _is_like(y_bar, y))):
        return y_bar
    if kind is np.float64 and given is float:
        return np.float64(y_bar)
    if not by_value(y):
        if y is None or isinstance(y, str | bytes | type):
            raise CotangentError(
                f"the result is a {type(y).__name__}, which has no cotangent", hint="give None"
            )
        return _checked_parts(y, y_bar, (*within, id(y_bar)))
    if isinstance(y_bar, list | tuple | dict | str) and not (
        isinstance(y, np.ndarray) and isinstance(y_bar, list)
    ):
        raise CotangentError(
            f"the cotangent of a {type(y).__name__} cannot be a {type(y_bar).__name__}",
            hint=_LIKE_THE_RESULT,
        )
    found = np.shape(y_bar)
    if found != np.shape(y):
        raise CotangentError(
            f"the cotangent has shape {found}, the result has shape {np.shape(y)}",
            hint=_LIKE_THE_RESULT,
        )
    array = np.asarray(y_bar)
    if array.dtype.kind not in "fciub":
        raise CotangentError(
            f"the cotangent of a number or an array has to be numeric, not {array.dtype}",
            hint=_LIKE_THE_RESULT,
        )
    if array.dtype.kind == "c" and not np.iscomplexobj(y):
        raise CotangentError(
            "the cotangent of a real result cannot be complex", hint="give its real part"
        )
    return project(y_bar if not isinstance(y_bar, list) else array, y)


_FLOATS = frozenset({float, np.float64, np.float32})


def _is_like(y_bar: Any, y: Any) -> bool:
    """Return whether an array has the shape and dtype of another one, of numbers."""
    return y_bar.shape == y.shape and y_bar.dtype is y.dtype and y.dtype.kind in "fc"


_LIKE_THE_RESULT = "give an array of the shape of the result, a number for a number"


def _checked_parts(y: Any, y_bar: Any, within: tuple[int, ...]) -> Any:
    """Check and convert the leaves of a structured cotangent; `deposit` checks the structure."""

    def checked(part: Any, part_bar: Any) -> Any:
        if id(part_bar) in within:
            raise CotangentError(
                f"the cotangent of a {type(y).__name__} contains itself",
                hint="give each part once, and None at the other places",
            )
        if part_bar is None or part is None:
            return part_bar
        return checked_cotangent(part, part_bar, within)

    if is_objects(y) and isinstance(y_bar, np.ndarray) and y_bar.shape == y.shape:
        parts_of = zip(elements_of(y), elements_of(y_bar), strict=True)
        return as_objects(y.shape, [checked(*pair) for pair in parts_of])
    if isinstance(y, list | tuple) and isinstance(y_bar, list | tuple):
        found = [checked(*pair) for pair in zip(y, y_bar, strict=False)] + [*y_bar[len(y) :]]
        return found if isinstance(y_bar, list) else tuple(found)
    if isinstance(y, dict) and isinstance(y_bar, Mapping):
        parts = {key: dict.__getitem__(y, key) for key in y_bar if dict.__contains__(y, key)}
    elif isinstance(y, Tangent) and isinstance(y_bar, Mapping):
        parts = {name: y[name] for name in y_bar if name in y}
    elif isinstance(y_bar, Mapping) and (fields := fields_of(y)) is not None:
        parts = {name: fields[name] for name in y_bar if name in fields}
    else:
        return y_bar
    named = {key: checked(parts[key], x) if key in parts else x for key, x in y_bar.items()}
    return Tangent(y_bar._primal, named) if isinstance(y_bar, Tangent) else named


def collect_arguments(
    reader: Reader,
    f: Any,
    args: tuple[Any, ...],
    bars: tuple[Any, ...],
    y_bar: Any,
    of_function: bool,
    wanted: Collection[int] | None = None,
) -> tuple[Any, ...]:
    """Collect the cotangents of `f` and of `args` as plain structures that the user owns.

    `bars` are the cotangents by value. The result has ``None`` for `f` unless `of_function`, and
    for arguments whose position is not `wanted`.
    """
    values = (f, *args) if of_function else args
    first = -1 if of_function else 0  # the function precedes its arguments
    given = [*enumerate(zip(values, bars[1 + first :], strict=False), first)]
    if reader.memory.written or not all(map(_is_plain, values)):
        # An array that occurs twice in an argument shows its whole cotangent at both places, like
        # objects with a shadow.
        reader.totals, reader.counting = {}, True
        for i, (value, bar) in given:
            reader.read_at(i, value, bar)
        reader.counting = False
    owned = _OwnedByUser((y_bar, values))
    found = tuple(
        owned.own(value, reader.read_at(i, value, bar))
        if wanted is None or i < 0 or i in wanted
        else None
        for i, (value, bar) in given
    )
    return found if of_function else (None, *found)


def plain_cotangents(
    args: tuple[Any, ...], bars: tuple[Any, ...], y_bar: Any
) -> tuple[Any, ...] | None:
    """Return the result of `collect_arguments` for arguments that are floats or arrays, else
    ``None``."""
    found: list[Any] = [None]
    arrays = [y_bar, *args]
    for value, bar in zip(args, bars[1 : len(args) + 1], strict=True):
        bar = finish(bar)
        kind = type(bar)
        if type(value) is float:
            if kind is not float:
                return None
        elif type(value) is not np.ndarray:
            return None
        elif kind is not np.ndarray or bar.dtype is not value.dtype or bar.shape != value.shape:
            return None
        elif bar.base is not None or not bar.flags.writeable or any(bar is x for x in arrays):
            bar = bar.copy()
        demand_entries(bar)
        arrays.append(bar)
        found.append(bar)
    return tuple(found)


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number, an array, a text or a function without captured
    variables, so that no array occurs twice in it."""
    return (
        by_value(value)
        or type(value) is str
        or (isinstance(value, FunctionType) and not value.__closure__)
    )


class _OwnedByUser:
    """Copies cotangents where needed, so that the user owns them: each array is writable, occurs
    once, and is not referenced by a rule."""

    def __init__(self, elsewhere: Any) -> None:
        self._seen = {id(array) for array in _arrays(elsewhere, set())}

    def own(self, value: Any, bar: Any) -> Any:
        if bar is None:
            return None
        if type(bar) is Poison:
            raise bar.error
        if by_value(value):
            return self._number(value, bar)
        return self._structure(value, bar)

    def _number(self, value: Any, bar: Any) -> Any:
        bar = project(bar, value)
        demand_entries(bar)
        if not isinstance(bar, np.ndarray):
            return bar
        if bar.base is not None or not bar.flags.writeable or id(bar) in self._seen:
            bar = bar.copy()
        self._seen.add(id(bar))
        return bar

    def _structure(self, value: Any, bar: Any) -> Any:
        if isinstance(value, _METHODS):
            return self.own(value.__self__, bar)
        if isinstance(bar, Tangent):
            return Tangent(
                bar._primal,
                {name: self.own(_field(value, name), part) for name, part in bar.items()},
            )
        if isinstance(bar, dict):
            return {key: self.own(value[key], part) for key, part in bar.items()}
        if is_objects(value):
            return as_objects(
                value.shape, list(map(self.own, elements_of(value), elements_of(bar)))
            )
        if isinstance(bar, list | tuple):
            parts = [self.own(item, part) for item, part in zip(value, bar, strict=True)]
            return bar._make(parts) if hasattr(bar, "_make") else type(bar)(parts)
        return bar


def _arrays(value: Any, seen: set[int]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays in a cotangent or in arguments, through containers."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping | list | tuple) and id(value) not in seen:
        seen.add(id(value))
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _arrays(part, seen)


def _field(value: Any, name: str) -> Any:
    if isinstance(value, FunctionType):
        cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
        return cells[name].cell_contents
    fields = getattr(value, "__dict__", {})
    return fields[name] if name in fields else getattr(value, name)


def _zero(value: Any) -> Any:
    """Return the zero cotangent of a number or an array; ``None`` for arrays of text or dates."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in "fciub":
        return None
    if isinstance(value, np.ndarray):
        return np.zeros(value.shape, value.dtype if value.dtype.kind in "fc" else float)
    return project(0.0, value)


@node
class _Before:
    """A container or an object, with its parts at the time of construction."""

    of: Any
    parts: Any


def structure_of(value: Any) -> Any:
    """Return a snapshot of the structure of `value` for `with_zeros`, which keeps no objects alive,
    so that the function may free them."""
    if by_value(value):
        return value
    with leaving, session:  # for deeply nested values
        return _as_it_is(value, ())


def _as_it_is(value: Any, within: tuple[int, ...]) -> Any:
    """Return `structure_of` of a part; `within` holds the identities of enclosing values."""
    if issubclass(type(value), _METHODS):
        return _as_it_is(value.__self__, within)
    parts = _parts_of(value)
    if parts is None:
        return value
    if id(value) in within:
        return _Before(None, None)
    within = (*within, id(value))
    if isinstance(parts, dict):
        of = value if isinstance(value, dict) else tangent_of(value, {})
        return _Before(of, {key: _as_it_is(part, within) for key, part in parts.items()})
    return _Before(value, [_as_it_is(part, within) for part in parts])


def _parts_of(value: Any) -> Any:
    """Return the parts of a value, ``None`` for one whose cotangent has no parts."""
    kind = type(value)  # `isinstance` would run ``__class__`` of proxies and user classes
    if by_value(value):
        return None
    if issubclass(kind, list | tuple | deque | dict):
        return value
    if is_objects(value):
        return elements_of(value)
    if issubclass(kind, Tangent | FunctionType):
        return object_fields(value)
    if not is_plain_object(value):
        return None
    load_for(kind.__module__)  # fills `CONSTANT` with the classes of a library
    return None if issubclass(kind, tuple(CONSTANT)) else object_fields(value)


def with_zeros(value: Any, bar: Any) -> Any:
    """Return a cotangent of `value` with zeros in place of ``None``, also in containers."""
    if by_value(value):
        return _zero(value) if bar is None else bar
    with leaving, session:
        return _filled(value, bar, ())


def _filled(value: Any, bar: Any, within: tuple[int, ...]) -> Any:
    """Return `with_zeros` of a part; `within` holds the identities of enclosing values."""
    if issubclass(type(value), _METHODS):
        return _filled(value.__self__, bar, within)
    if by_value(value):
        return _zero(value) if bar is None else bar
    of, parts = (value.of, value.parts) if type(value) is _Before else (value, _parts_of(value))
    if parts is None or id(of) in within:
        return bar
    within = (*within, id(of))
    if is_objects(of):
        bars = [None] * of.size if bar is None else elements_of(bar)
        return as_objects(
            of.shape, [_filled(*pair, within) for pair in zip(parts, bars, strict=True)]
        )
    if isinstance(of, list | tuple | deque):
        found = [
            _filled(item, None if bar is None else bar[i], within) for i, item in enumerate(parts)
        ]
        if not isinstance(of, tuple):
            return found
        return of._make(found) if hasattr(of, "_make") else tuple(found)
    named = {
        key: _filled(item, None if bar is None else bar.get(key), within)
        for key, item in parts.items()
    }
    if isinstance(of, dict):
        return named
    return tangent_of(of, named) if any(part is not None for part in named.values()) else bar
