"""What a program reads on entry, and the conditions on it in every call."""

from __future__ import annotations

from typing import Any

from adjoint.fast.evaluate.types import Type
from adjoint.fast.evaluate.values import Abstract, Known, Source, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.node import node
from adjoint.ir.single import Value

LONG = 17
"""Length from which a list of numbers is one value, not read number by number."""


@node
class Guard:
    """A condition on the value of `source` in every call.

    `kind` names the test, such as ``is``, ``equal``, ``type``, ``length``, ``keys`` or ``code``.
    """

    source: Source
    kind: str
    value: Any


@node
class Leaf:
    """A number, an array or a list of numbers that the program takes as a parameter."""

    source: Source
    value: Value
    type: Type
    sample: Any


def path_of(source: Source) -> tuple[Any, ...]:
    """Return the keys that lead to a source; equal for the same source of another program."""
    found: list[Any] = []
    at: Source | None = source
    while at is not None:
        found.append((at.kind, id(at.key) if at.kind == "object" else at.key))
        at = at.parent
    return tuple(reversed(found))


def name_of(source: Source, names: tuple[str, ...]) -> str:
    """Return a name for a leaf, after its parameter, one of `names`, or its field."""
    if source.kind in ("attribute", "global", "named default"):
        return str(source.key)
    if source.kind == "argument":
        return names[source.key] if source.key < len(names) else f"x{source.key}"
    above = "" if source.parent is None else name_of(source.parent, names)
    return f"{above}_{source.key}" if isinstance(source.key, int | str) else above or "value"


def is_of_method(source: Source) -> bool:
    """Return whether a source is in the function of a method, found in a class or bound."""
    above: Source | None = source
    while above is not None and above.kind not in ("class attribute", "underlying"):
        above = above.parent
    return above is not None


def is_within(source: Source, other: Source) -> bool:
    """Return whether a source is a part of another."""
    at: Source | None = source
    while at is not None and at is not other:
        at = at.parent
    return at is not None


def is_row(value: list[Any], is_wanted: bool) -> bool:
    """Return whether a list is one value of the program: long, and of numbers."""
    if len(value) < LONG:
        return False
    kinds = {*map(type, value)}
    return kinds in ({float}, {complex}) or (kinds <= {float, int} and not is_wanted)


def constant_structure(value: Any) -> Abstract:
    """Return the abstract value of strings and integers in nested tuples."""
    if type(value) is tuple:
        return Tuple(tuple(map(constant_structure, value)))
    if type(value) not in (str, int, bool):
        raise NotCovered("keys other than strings and integers")
    return Known(value)
