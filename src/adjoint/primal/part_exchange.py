"""Places of the parts of containers and objects, for reading and exchanging them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.locks import make_lock
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.value_kinds import (
    content_of,
    fields_of,
    filled_slots,
    is_objects,
    is_plain_object,
    slots_of,
)
from adjoint.tangent import Tangent

_lock = make_lock()
"""Held while parts of the caller's containers are exchanged."""


class Exchanges:
    """Parts of the caller's containers that are replaced until all are put back."""

    def __init__(self) -> None:
        self._made: list[tuple[Callable[[], Any], Callable[[Any], None], Any, Any]] = []
        self._locked = False

    def lock(self) -> None:
        """Keep other threads from exchanging anything until `undo`."""
        if not self._locked:
            _lock.acquire()
            self._locked = True

    def put(
        self, read: Callable[[], Any], write: Callable[[Any], None], old: Any, new: Any
    ) -> None:
        """Replace `old` by `new`."""
        self.lock()
        write(new)
        self._made.append((read, write, old, new))

    def undo(self) -> None:
        """Put back what was exchanged, except where something else was stored since."""
        for read, write, old, new in reversed(self._made):
            try:
                stands = read()
            except (LookupError, AttributeError, ValueError):  # the part was removed
                continue
            if stands is new:
                write(old)
        if self._locked:
            self._locked = False
            _lock.release()

    def again(self) -> None:
        """Exchange once more what `undo` has put back."""
        for read, write, old, new in self._made:
            try:
                stands = read()
            except (LookupError, AttributeError, ValueError):  # the part was removed
                continue
            if stands is old:
                self.lock()
                write(new)


def slots_in(value: Any) -> Iterator[tuple[Callable[[], Any], Callable[[Any], None]]]:
    """Yield a getter and a setter for each part of a container or an object."""
    if isinstance(value, list | deque | dict):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield partial(value.__getitem__, key), partial(value.__setitem__, key)
    elif is_objects(value):
        x = np.ndarray.view(value, np.ndarray)
        for index in np.ndindex(x.shape):
            yield partial(x.__getitem__, index), partial(x.__setitem__, index)
    elif isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            yield from slots_in(cell)
    elif isinstance(value, CellType):
        if content_of(value, ABSENT) is not ABSENT:
            yield partial(getattr, value, "cell_contents"), partial(setattr, value, "cell_contents")
    elif isinstance(value, MethodType):
        yield from slots_in(value.__self__)
    elif isinstance(value, Tangent):
        yield from slots_in(value._fields)
    elif is_plain_object(value):
        fields = fields_of(value) or {}
        for name in list(fields):
            yield partial(fields.__getitem__, name), partial(fields.__setitem__, name)
        for name in filled_slots(value):
            slot = slots_of(type(value))[name]
            yield partial(get_slot, slot, value, name), partial(set_slot, slot, value, name)


def get_slot(slot: Any, owner: Any, _: str) -> Any:
    """Return the value of a slot attribute."""
    return slot.__get__(owner)


def set_slot(slot: Any, owner: Any, name: str, new: Any) -> None:
    """Assign a slot attribute; refuse where it is read-only."""
    try:
        slot.__set__(owner, new)
    except AttributeError:
        raise ArgumentError(
            f"the attribute {name!r} of a {type(owner).__name__} cannot be exchanged, so that no"
            " derivative is taken in what it holds",
            hint="hold it by keyword instead (functools.partial(f, k=x)), or in a function",
        ) from None
