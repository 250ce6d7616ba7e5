"""The structure of results that hold other containers than one tuple: programs return the parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


class Misfit(Exception):
    """A cotangent has another structure than the result."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A tuple (also a named one), list or dict: its class, the keys of a dict, and the structure of
    each part, ``None`` for a number, an array or a constant."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Structure | None, ...]

    def filled(self, leaves: Iterable[Any]) -> Any:
        """Return a new container with `leaves`, in order."""
        return self._filled(iter(leaves))

    def _filled(self, leaves: Iterator[Any]) -> Any:
        items = [next(leaves) if part is None else part._filled(leaves) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.keys, items, strict=True))
        return items if self.kind is list else tuple.__new__(self.kind, items)

    def leaves(self, x: Any) -> list[Any]:
        """Return the leaves of a result, or of a cotangent of one; ``None`` for those of a part
        that is ``None``.

        Raises
        ------
        Misfit
            `x` has another structure.
        """
        found: list[Any] = []
        for part, y in zip(self.parts, self._items(x), strict=True):
            found += [y] if part is None else part.leaves(y)
        return found

    def _items(self, x: Any) -> Any:
        if x is None:
            return [None] * len(self.parts)
        if self.kind is dict:
            if type(x) is not dict or x.keys() != {*self.keys}:
                raise Misfit
            return [x[key] for key in self.keys]
        if not isinstance(x, list | tuple) or len(x) != len(self.parts):
            raise Misfit
        return x


def structure_of(y: Any) -> Structure | None:
    """Return the structure of what a program has returned; ``None`` for a number or an array."""
    if type(y) is dict:
        return Structure(dict, tuple(y), tuple(map(structure_of, y.values())))
    if isinstance(y, list | tuple):
        return Structure(type(y), (), tuple(map(structure_of, y)))
    return None
