"""Containers and objects from outside that the function writes to.

The program is specialised again with such a container in the heap from the beginning, like one that
the function made. What it holds at the end is written back when the program has finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from adjoint.fast.evaluate.values import (
    Abstract,
    External,
    HeapObject,
    Known,
    Ref,
    Source,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.node import node
from adjoint.ir.nodes import Span
from adjoint.primal.value_kinds import fields_of

Pattern: TypeAlias = tuple[tuple[str, Any], ...]
"""The steps from a root to sources that are treated alike; an index of a list is `ANY`."""

ANY = Known(None)


@node
class Adopted:
    """A container from outside in the heap: its source, and its content at the beginning."""

    source: Source
    ref: Ref
    initial: HeapObject


ALL_FIELDS = "*"
"""Stands for the names of all attributes of an object."""


class NeedsOwn(NotCovered):
    """The program writes to a container or an object from outside; `name` is the attribute, or
    `ALL_FIELDS` where the program also asks which the object has."""

    def __init__(self, owner: External, reason: str, span: Span | None, name: str = "") -> None:
        super().__init__(reason, span)
        self.pattern, self.name = pattern_of(owner.source), name


def pattern_of(source: Source) -> Pattern:
    """Return the steps that lead to a source, and to others in the same lists."""
    steps: list[tuple[str, Any]] = []
    at: Source | None = source
    while at is not None:
        is_index = at.kind == "item" and type(at.key) is int
        steps.append((at.kind, ANY if is_index else _Object(at.key)))
        at = at.parent
    return tuple(reversed(steps))


@node
class _Object:
    """A key: text, a position, or an object that is compared by identity."""

    key: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Object):
            return False
        return self.key is other.key or (isinstance(self.key, str | int) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key) if isinstance(self.key, str | int) else id(self.key)


def parts_along(pattern: Pattern, at: int, owner: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield kind, key and value of the parts of `owner` at step `at` of a pattern."""
    kind, wanted = pattern[at]
    keys: Iterable[Any] = [wanted.key] if wanted is not ANY else []
    if wanted is ANY and type(owner) is dict:
        keys = [key for key in owner if type(key) is int]
    elif wanted is ANY and isinstance(owner, list | tuple):
        keys = range(len(owner))
    for key in keys:
        try:
            part = _part(owner, kind, key)
        except (AttributeError, LookupError, TypeError):
            continue  # another item of a list, which has no such part
        yield kind, key, part


def _part(owner: Any, kind: str, key: Any) -> Any:
    match kind:
        case "item" | "global":
            return owner[key]
        case "attribute":
            return getattr(owner, key)
        case "cell":
            return owner.__closure__[key].cell_contents
        case "self":
            return owner.__self__
        case "default":
            return owner.__defaults__[key]
        case "named default":
            return owner.__kwdefaults__[key]
        case "class attribute":
            return next(vars(base)[key] for base in owner.__mro__ if key in vars(base))
    raise NotCovered("a write to such a place")


def adopted_fields(value: Any, names: set[str]) -> list[str]:
    """Return the fields of an object that are read at the beginning: numbers and arrays, which do
    not restrict later calls, and those of `names`, which are written to."""
    fields = fields_of(value)
    if fields is None:
        raise NotCovered("a write to an attribute of an object without fields")
    return [
        name
        for name, field in fields.items()
        if not names.isdisjoint((name, ALL_FIELDS))
        or isinstance(field, float | int | complex | np.ndarray | np.generic)
    ]


WRITING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem "
    "__setitem__ __delitem__ __iadd__ __imul__ __ior__".split()
)
"""Methods that change a list or a dict."""


def demand_not_written(a: Abstract, name: str, span: Span | None) -> None:
    """Demand that a list or a dict from outside is adopted before a method that changes it."""
    if isinstance(a, External) and type(a.sample) in (list, dict) and name in WRITING:
        raise NeedsOwn(a, f"a write to a {type(a.sample).__name__} from outside", span)
