"""The names (aliases) under which a level knows an array.

An array that is given or captured several times (itself or as a view) is several variables, each
with an alias of its own. A write through one alias has the same effect under all.
"""

from __future__ import annotations

from typing import Any

from adjoint.primal.array_memory import original_of, owners_of


class Aliases:
    """The aliases of the arrays that one level was given."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[int, list[tuple[Any, list[Any]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, made: Any, root: Any) -> None:
        """Note that `made` is an alias of `root`."""
        names = owners_of(root)
        self._found.setdefault(id(names[-1]), []).append((made, names))

    def all_of(self, x: Any) -> list[tuple[Any, list[Any]]]:
        """Return the aliases of the memory of `x`, each with the arrays that it was made of."""
        return self._found.get(id(original_of(x)), [])

    def of(self, x: Any) -> list[Any]:
        """Return the aliases of the memory of `x`."""
        return [made for made, _ in self.all_of(x)]
