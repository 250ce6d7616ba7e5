"""Identity of objects of which an argument holds a copy.

Where an object is given twice, one argument holds a copy while the function runs
(`adjoint.runtime.memory.independence`). The function must see both as one, as in plain Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

_originals: dict[int, tuple[Any, Any]] = {}
"""By the identity of a copy: the copy and its original."""


def stand_for(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Make the first object of each pair count as a copy of the second, until `forget`."""
    for copy, original in pairs:
        _originals[id(copy)] = copy, original


def forget(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Undo `stand_for`."""
    for copy, _ in pairs:
        _originals.pop(id(copy), None)


def _original(x: Any) -> Any:
    while (found := _originals.get(id(x))) is not None:
        x = found[1]
    return x


def is_same(a: Any, b: Any) -> bool:
    """Return ``a is b``, where a copy counts as its original."""
    return a is b or (bool(_originals) and _original(a) is _original(b))


def equal_by_identity(a: Any, b: Any) -> bool:
    """Return whether one of two objects is a copy of the other and they compare by identity."""
    if not _originals or not _by_identity(a) or not _by_identity(b):
        return False
    return _original(a) is _original(b)


def _by_identity(x: Any) -> bool:
    """Return whether an object compares by identity."""
    own: Any = type(x).__eq__
    return own is object.__eq__


def is_in(container: Any, x: Any) -> bool:
    """Return whether a container holds the original of `x` or another copy of it."""
    if not _originals or not _by_identity(x):
        return False
    if not isinstance(container, list | tuple | set | frozenset | dict | deque):
        return False
    original = _original(x)
    copies = [copy for copy, _ in _originals.values() if _original(copy) is original]
    return bool(copies) and any(one in container for one in (original, *copies))
