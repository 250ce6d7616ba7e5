"""Leaves: the numbers and arrays in a structure, and cotangents of the same structure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.diagnostics.public_function import PublicFunction, plain_function
from adjoint.errors import CotangentError
from adjoint.primal.array_memory import root_of
from adjoint.primal.object_array_places import as_objects, elements_in, elements_of
from adjoint.primal.value_kinds import (
    by_value,
    fields_of,
    filled_slots,
    is_objects,
    is_plain_object,
)
from adjoint.runtime.dispatch.inert_packages import is_operator
from adjoint.runtime.memory.active_iterator import ActiveIterator as ActiveIterator
from adjoint.runtime.memory.collect import attribute_of_container_error
from adjoint.tangent import Tangent, tangent_of

_CONTAINERS = (list, tuple, dict, deque)


class Leaves:
    """The leaves of a value and their places, at the time of construction.

    Parameters
    ----------
    value
        A number, an array, a container, an object or a function.
    once
        Identities of parts to leave out; the parts that are met are added. ``None``: a part that
        occurs twice is read twice.
    """

    def __init__(self, value: Any, once: set[Any] | None = None) -> None:
        self._tree = self._node(value, once, ())

    def _node(self, value: Any, once: set[Any] | None, above: tuple[int, ...]) -> Any:
        if type(value) in (bool, str, type(None)) or id(value) in above:
            return None
        if once is not None:
            if id(value) in once:
                return None
            if not by_value(value) or isinstance(value, np.ndarray):
                once.add(id(value))
        if by_value(value):
            return lambda read: read(value)
        above = (*above, id(value))
        if isinstance(value, list | tuple | deque):
            parts = [self._node(part, once, above) for part in value]
            make = getattr(value, "_make", tuple if isinstance(value, tuple) else list)
            return self._without_attributes(
                value, above, lambda read: _all_or_none([_read(part, read) for part in parts], make)
            )
        if isinstance(value, dict):
            named = {key: self._node(part, once, above) for key, part in value.items()}
            return self._without_attributes(value, above, lambda read: _named(named, read, dict))
        if is_objects(value):
            parts = [
                self._node(part, once, above) if _is_first(value, place, once) else None
                for place, part in elements_in(value)
            ]
            return lambda read: _all_or_none(
                [_read(part, read) for part in parts], partial(as_objects, value.shape)
            )
        if isinstance(value, MethodType):
            return self._node(value.__self__, once, above)
        if once is None and is_operator(value):
            return self._node(_differentiated(value), once, above)
        fields = object_fields(value)
        if not fields:
            return None
        named = {key: self._node(part, once, above) for key, part in fields.items()}
        return lambda read: _named(named, read, lambda found: tangent_of(value, found))

    def _without_attributes(self, value: Any, above: tuple[int, ...], node: Any) -> Any:
        """Return the node of a container; its own attributes must not have a cotangent."""
        kind, fields = type(value), fields_of(value)
        if not fields or fields is value:
            return node
        beside = {name: self._node(part, None, above) for name, part in fields.items()}

        def read_alone(read: Any) -> Any:
            for name, part in beside.items():
                if _read(part, read) is not None:
                    base = next(base for base in _CONTAINERS if issubclass(kind, base))
                    raise attribute_of_container_error(name, kind, base)
            return node(read)

        return read_alone

    def read(self, of: Callable[[Any], Any]) -> Any:
        """Return ``of(leaf)`` for each leaf in the structure of the value; ``None`` for no leaf."""
        return _read(self._tree, of)


def _differentiated(made: Any) -> Any:
    """Return the `f` of an operator such as ``grad(f)``, whose captured variables it holds."""
    asked = getattr(made, "asks_for", None)
    if asked is not None:
        return asked.f
    f = made.__wrapped__ if isinstance(made, PublicFunction) else made
    return object_fields(f).get("f")


def _read(node: Any, of: Callable[[Any], Any]) -> Any:
    return None if node is None else node(of)


def _all_or_none(parts: list[Any], make: Callable[[Any], Any]) -> Any:
    return None if all(part is None for part in parts) else make(parts)


def _is_first(x: Any, place: int, once: set[Any] | None) -> bool:
    """Return whether an element of an array of objects was not met before, through any view."""
    if once is None:
        return True
    element = id(root_of(x)), place
    first = element not in once
    once.add(element)
    return first


def _named(named: dict[Any, Any], of: Callable[[Any], Any], make: Callable[[Any], Any]) -> Any:
    found = {key: _read(part, of) for key, part in named.items()}
    return None if all(part is None for part in found.values()) else make(found)


def object_fields(value: Any) -> dict[str, Any]:
    """Return, by name, fields and slot attributes, or the captured variables of a function."""
    if isinstance(value, Tangent):
        return dict(value)
    if issubclass(type(value), ActiveIterator):
        return {}  # the remaining elements are not known
    value = plain_function(value) or value
    if isinstance(value, FunctionType):
        found = {}
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue
        return found
    if not is_plain_object(value):
        return {}
    return {**(fields_of(value) or {}), **filled_slots(value)}


class Places:
    """The leaves of a result and their places, at the time of construction, for its cotangents."""

    def __init__(self, value: Any, above: tuple[int, ...] = ()) -> None:
        if isinstance(value, MethodType):
            value = value.__self__
        self._value, self._parts = value, dict[Any, Places]()
        if by_value(value) or id(value) in above:
            return
        above = (*above, id(value))
        if isinstance(value, list | tuple | deque):
            named: Any = enumerate(value)
        elif is_objects(value):
            named = enumerate(elements_of(value))
        else:
            named = (value if isinstance(value, dict) else object_fields(value)).items()
        self._parts = {key: Places(part, above) for key, part in named}

    def pairs(self, bar: Any) -> list[tuple[Any, Any]]:
        """Return pairs of a leaf and its part of a cotangent of the same structure.

        Raises
        ------
        CotangentError
            The structures differ.
        """
        if bar is None:
            return []
        value, parts = self._value, self._parts
        if by_value(value):
            if np.shape(bar) != np.shape(value):
                raise CotangentError(
                    f"the cotangent has shape {np.shape(bar)},"
                    f" the result has shape {np.shape(value)}",
                    hint="give an array of the shape of the result, a number for a number",
                )
            return [(value, bar)]
        if is_objects(value):
            if not isinstance(bar, np.ndarray) or bar.shape != value.shape:
                raise _unlike(value, bar)
            named: Any = enumerate(bar.flat)
        elif isinstance(value, list | tuple | deque):
            if not isinstance(bar, list | tuple | deque) or len(bar) != len(parts):
                raise _unlike(value, bar)
            named = enumerate(bar)
        else:
            if not isinstance(bar, Mapping):
                raise _unlike(value, bar)
            for name in bar:
                if name not in parts:
                    raise CotangentError(
                        f"the cotangent of a {type(value).__name__} has a field that it has not:"
                        f" {name!r}",
                        hint="name the fields of the result",
                    )
            named = bar.items()
        return [pair for key, part in named for pair in parts[key].pairs(part)]


def _unlike(value: Any, bar: Any) -> CotangentError:
    return CotangentError(
        f"a cotangent of type {type(bar).__name__!r} does not fit a {type(value).__name__!r}",
        hint="give one of the structure of the result, None where there is none",
    )
