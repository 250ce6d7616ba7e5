"""Constant copies of active values."""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.container_contents import base_of, elements_of, entries_of
from adjoint.primal.rebuild import rebuild, rebuild_dict
from adjoint.primal.value_kinds import (
    by_value,
    content_of,
    fields_of,
    filled_slots,
    held_by_c,
    is_objects,
    is_partly_c,
    is_plain_object,
    slots_of,
)
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.poisoning import is_opaque


def detached(x: Any, number: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of `x` whose cotangent does not reach `x`.

    A number is constant because the caller records no pullback; `number`, if given, is applied to
    each number. Arrays, containers, functions and objects may carry their cotangent by identity, so
    each is copied once. No user code is called, because a constructor may have any effect. The
    exception is `copy.deepcopy` of an object of C that holds numbers.

    Raises
    ------
    MutationError
        `x` holds an iterator, or an object of C that holds numbers and cannot be copied.
    """
    return Copies(number).of(x)


class Copies:
    """Copies by the identity of their originals."""

    def __init__(self, number: Callable[[Any], Any] | None) -> None:
        self._number = number
        self._made: dict[int, Any] = {}

    def of(self, x: Any) -> Any:
        if by_value(x) and not isinstance(x, np.ndarray):
            return x if self._number is None else self._number(x)
        if not _is_seen(x) and not _holds_reals(x):
            return x
        if id(x) not in self._made:
            self._made[id(x)] = self._copied(x)
        return self._made[id(x)]

    def _copied(self, x: Any) -> Any:
        if issubclass(type(x), ActiveIterator):
            raise refused(
                f"an iterator of type '{x.__class__.__name__}' is made constant",
                "make its elements constant one by one, or a list of them",
            )
        if isinstance(x, np.ndarray):
            return self._array(x)
        if isinstance(x, FunctionType):
            return self._function(x)
        if isinstance(x, MethodType):
            return MethodType(self.of(x.__func__), self.of(x.__self__))
        twin: Any
        if isinstance(x, tuple):
            twin = rebuild(x, [self.of(part) for part in elements_of(x)])
        elif isinstance(x, list | deque):
            twin = self._made[id(x)] = rebuild(x, ())
            base: Any = list if isinstance(x, list) else deque
            base.extend(twin, [self.of(part) for part in elements_of(x)])
        elif isinstance(x, dict):
            twin = self._dict(x)
        elif isinstance(x, set):
            twin = set.__new__(type(x))
            set.update(twin, map(self.of, set.__iter__(x)))
        elif isinstance(x, frozenset):
            twin = frozenset.__new__(type(x), map(self.of, frozenset.__iter__(x)))
        elif isinstance(x, functools.partial):
            named = {key: self.of(value) for key, value in x.keywords.items()}
            twin = functools.partial.__new__(
                type(x), self.of(x.func), *map(self.of, x.args), **named
            )
        else:
            twin = _empty(x)
        self._made[id(x)] = twin
        self._attributes(x, twin)
        return twin

    def _array(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        twin = self._made[id(x)] = x.copy()
        if is_objects(x):
            for index in np.ndindex(x.shape):
                twin[index] = self.of(x[index])
        return twin

    def _dict(self, x: Any) -> Any:
        twin = self._made[id(x)] = rebuild_dict(x, ())
        for key, value in entries_of(x):
            base_of(x).__setitem__(twin, key, self.of(value))
        return twin

    def _function(self, x: FunctionType) -> FunctionType:
        """Copy a function with its cells, defaults and attributes."""
        cells = tuple(map(self._cell, x.__closure__ or ()))
        twin = FunctionType(x.__code__, x.__globals__, x.__name__, None, cells or None)
        self._made[id(x)] = twin
        for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
            setattr(twin, name, getattr(x, name))
        for cell, other in zip(cells, x.__closure__ or (), strict=True):
            if cell is not other and content_of(cell) is None:  # else filled by another function
                with suppress(ValueError):  # an empty cell stays empty
                    cell.cell_contents = self.of(other.cell_contents)
        if x.__defaults__:
            twin.__defaults__ = tuple(map(self.of, x.__defaults__))
        if x.__kwdefaults__:
            twin.__kwdefaults__ = {key: self.of(part) for key, part in x.__kwdefaults__.items()}
        twin.__dict__.update((key, self.of(value)) for key, value in x.__dict__.items())
        return twin

    def _cell(self, cell: CellType) -> CellType:
        """Return the cell of the copy for a captured variable, filled later."""
        return self._made.setdefault(id(cell), CellType())  # type: ignore[no-any-return]

    def _attributes(self, x: Any, twin: Any) -> None:
        """Copy fields and slot attributes without calling ``__setattr__``."""
        fields = fields_of(x)
        if fields:
            own = fields_of(twin)
            if own is not None:
                dict.update(own, {key: self.of(value) for key, value in entries_of(fields)})
        if isinstance(x, tuple):
            return  # its slots are elements, those of `time.struct_time` for example
        slots = slots_of(type(x))
        for name, value in filled_slots(x).items():
            if slots[name].__objclass__ is not functools.partial:  # set by its constructor
                slots[name].__set__(twin, self.of(value))


def _is_seen(x: Any) -> bool:
    """Return whether `x` may hold parts, all of which Python code can read.

    A function of a module is not copied: the copy would have no rule.
    """
    if isinstance(x, FunctionType):
        return bool(x.__closure__) or "<locals>" in x.__qualname__
    return isinstance(x, _CONTAINERS) or is_plain_object(x)


def _holds_reals(x: Any) -> bool:
    """Return whether an object of C holds real or complex numbers that the collector reports."""
    if not is_opaque(x):
        return False
    pending, seen = [x], {id(x)}
    while pending and len(seen) < _MOST_HELD:
        for part in held_by_c(pending.pop()):
            if by_value(part) and np.asarray(part).dtype.kind in "fc":
                return True
            if id(part) not in seen and (isinstance(part, _CONTAINERS) or is_opaque(part)):
                seen.add(id(part))
                pending.append(part)
    return False


_MOST_HELD = 1000


def _empty(x: Any) -> Any:
    """Return an object of the class of `x` without fields, with a copy of its part in C."""
    kind = type(x)
    if _holds_reals(x):
        try:
            return copy.deepcopy(x)
        except Exception as error:
            raise refused(
                f"a {kind.__name__} is made constant, of which there is no copy: {error}",
                "make what it was made from constant",
            ) from None
    if is_partly_c(kind):
        return copy.copy(x)
    made_by: Any = next(base for base in kind.__mro__ if not base.__flags__ & _HEAP_TYPE)
    return made_by.__new__(kind)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_CONTAINERS = (
    *(np.ndarray, list, tuple, deque, dict, set, frozenset),
    *(functools.partial, MethodType),
)
