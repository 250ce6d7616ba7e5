"""Under which names a level knows an array, until the array is written.

An array that is given, or captured, under several names (it and a view of it) is several variables,
each in an array of its own. What is written into it from then on is the same under any name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adjoint.run.views import names_of, original_of, root_of

if TYPE_CHECKING:
    from adjoint.levels.level import Level

__all__ = ["Names", "unite"]


class Names:
    """The names of the arrays that one level was given."""

    __slots__ = ("_found", "_united")

    def __init__(self) -> None:
        self._found: dict[int, list[tuple[Any, list[Any]]]] = {}
        self._united: dict[int, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, made: Any, root: Any) -> None:
        """Note that `made` stands for `root`."""
        names = names_of(root)
        self._found.setdefault(id(names[-1]), []).append((made, names))

    def all_of(self, x: Any) -> list[tuple[Any, list[Any]]]:
        """What stands for the memory of `x`, each with the names that it was made of."""
        return self._found.get(id(original_of(x)), [])

    def of(self, x: Any) -> list[Any]:
        """What stands for the memory of `x`."""
        return [made for made, _ in self.all_of(x)]

    def not_united(self, x: Any, everywhere: int) -> list[Any] | None:
        """What stands for the memory of `x` since this was asked last; ``None`` if nothing does on
        any level, where `everywhere` says how much there is on all of them."""
        key, mine = id(original_of(x)), self.of(x)
        seen, own = self._united.get(key, (0, 0))
        if everywhere == seen:
            return None
        self._united[key] = everywhere, len(mine)
        return mine[own:]


def unite(level: Level, x: Any) -> None:
    """Let all names of the memory of `x` be one variable on a level."""
    # Those below have names of their own for it, which are others here, too.
    found = [entry for names in _known(level) for entry in names.all_of(x)]
    new = level.names.not_united(x, len(found)) if found else None
    if new is None:
        return
    first = level.same.of(next(iter(level.names.of(x)), root_of(x)))
    if new:
        level.merge([first, *(made for made in new if made is not first)])
    for made, names in found:
        for name in (made, *names):
            level.same.join(name, first)


def _known(level: Level) -> Iterator[Names]:
    return (one.names for one in level.down() if one.names)
