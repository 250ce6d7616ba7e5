"""Results cached per class."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any


class ByClass:
    """A function of classes that caches its results for as long as the classes live."""

    __slots__ = ("_find", "_known")

    def __init__(self, find: Callable[[type], Any]) -> None:
        self._find = find
        self._known: dict[int, tuple[Any, Any]] = {}

    def __call__(self, kind: type) -> Any:
        known = self._known.get(id(kind))
        if known is None:
            reference = weakref.ref(kind, functools.partial(self._forget, id(kind)))
            known = self._known[id(kind)] = self._find(kind), reference
        return known[0]

    def _forget(self, identity: int, _: Any) -> None:
        self._known.pop(identity, None)
