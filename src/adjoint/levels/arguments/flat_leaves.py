"""Flat lists of the leaves of a structure, and structures rebuilt from values per leaf."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.levels.current import current
from adjoint.primal.object_array_places import as_objects, elements_of
from adjoint.primal.value_kinds import by_value, is_objects
from adjoint.runtime.leaves import object_fields
from adjoint.tangent import tangent_of


class Form:
    """The leaves of a value and their positions.

    Attributes
    ----------
    leaves
        The numbers and arrays, without bools and arrays of objects.
    """

    def __init__(self, value: Any) -> None:
        self.leaves: list[Any] = []
        self._tree = self._planted(value, ())

    def _planted(self, value: Any, above: tuple[int, ...]) -> Any:
        if by_value(value):
            if not _is_numeric(value):
                return None
            self.leaves.append(value)
            return len(self.leaves) - 1
        if value is None or isinstance(value, str | bytes | type) or id(value) in above:
            return None
        above = (*above, id(value))
        if isinstance(value, list | tuple | deque):
            make = getattr(value, "_make", tuple if isinstance(value, tuple) else list)
            return _Parts(make, {i: self._planted(x, above) for i, x in enumerate(value)}, False)
        if is_objects(value):
            nodes: dict[Any, Any] = {
                i: self._planted(x, above) for i, x in enumerate(elements_of(value))
            }
            return _Parts(partial(as_objects, value.shape), nodes, False, value.shape)
        if isinstance(value, dict):
            return _Parts(dict, {key: self._planted(x, above) for key, x in value.items()}, True)
        if isinstance(value, MethodType):
            return self._planted(value.__self__, above)
        fields = object_fields(value)
        if not fields:
            return None
        nodes = {name: self._planted(x, above) for name, x in fields.items()}
        return _Parts(lambda named: tangent_of(value, named), nodes, True)

    @property
    def size(self) -> int:
        """Return the number of scalars in all leaves."""
        return sum(int(np.size(leaf)) for leaf in self.leaves)

    def build(self, parts: Mapping[int, Any] | Sequence[Any]) -> Any:
        """Return a structure like the value, with `parts` in place of the leaves. ``None`` stands
        for a missing part, and for a container without any part."""
        known = parts if isinstance(parts, Mapping) else dict(enumerate(parts))
        return _built(self._tree, known)

    def split(self, bar: Any, what: str) -> list[Any]:
        """Return the parts of a structure like the value, one per leaf; ``None`` for missing parts.

        Raises
        ------
        ArgumentError
            The structures or the shapes differ; the message names `what`.
        """
        found: list[Any] = [None] * len(self.leaves)
        self._split(self._tree, bar, found, what)
        return found

    def _split(self, node: Any, bar: Any, found: list[Any], what: str) -> None:
        if bar is None or node is None:
            return
        if isinstance(node, int):
            leaf = self.leaves[node]
            if np.shape(bar) != np.shape(leaf):
                raise ArgumentError(
                    f"{what} has shape {np.shape(bar)}, that which it belongs to has shape"
                    f" {np.shape(leaf)}",
                    hint="give one of the same structure and shape, None for zero",
                )
            if isinstance(leaf, np.ndarray) and not isinstance(bar, np.ndarray):
                bar = on_level(np.array, bar)
            found[node] = bar
            return
        entries = node.entries_of(bar)
        if entries is None:
            raise ArgumentError(
                f"{what} is a {type(bar).__name__} that does not fit",
                hint="give one of the same structure and shape, None for zero",
            )
        for key, part in entries:
            self._split(node.nodes[key], part, found, what)


class _Parts:
    """A container or an object: its constructor and its parts."""

    __slots__ = ("make", "named", "nodes", "shape")

    def __init__(
        self,
        make: Callable[[Any], Any],
        nodes: dict[Any, Any],
        named: bool,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        self.make, self.nodes, self.named, self.shape = make, nodes, named, shape

    def entries_of(self, bar: Any) -> list[tuple[Any, Any]] | None:
        """Return the part of `bar` for each key; ``None`` if the structures differ."""
        if self.shape is not None:
            if not isinstance(bar, np.ndarray) or bar.shape != self.shape:
                return None
            return list(enumerate(elements_of(bar)))
        if not self.named:
            if not isinstance(bar, list | tuple | deque) or len(bar) != len(self.nodes):
                return None
            return list(enumerate(bar))
        entries = bar if isinstance(bar, Mapping) else object_fields(bar)
        return list(entries.items()) if set(entries) <= set(self.nodes) else None


def _built(node: Any, parts: Mapping[int, Any]) -> Any:
    if node is None or isinstance(node, int):
        return None if node is None else parts.get(node)
    made = {key: _built(part, parts) for key, part in node.nodes.items()}
    if all(part is None for part in made.values()):
        return None
    return node.make(made if node.named else list(made.values()))


def _is_numeric(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, np.ndarray | np.generic):
        return bool(value.dtype.kind in "fciu")
    return True


def is_real_leaf(value: Any) -> bool:
    """Return whether a leaf can have a derivative: integers cannot."""
    return bool(np.asarray(value).dtype.kind in "fc")


def on_level(f: Callable[..., Any], /, *args: Any) -> Any:
    """Run ``f(*args)`` on the current level."""
    level = current.level
    return f(*args) if level is None else level.run(f, *args)
