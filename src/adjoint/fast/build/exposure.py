"""Exposure of a program to writes of active values by the differentiated code around it."""

from __future__ import annotations

from typing import Literal

from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.types import Number, Row

Exposure = Literal["constants", "shared"] | None
"""``None``: the program reads its arguments, with a cotangent for each number and array, and
numbers that only a known assignment (to a global variable, to the defaults of a function) changes.
``constants``: also global arrays or class attributes, which are constants until they are written.
``shared``: also parts of these, which may have other references."""

_CONSTANTS = frozenset(
    {"cell", "class attribute", "default", "getter", "global", "member", "named default", "object"}
)

_SHARING = frozenset({"partial argument", "partial keyword", "self"})


def exposure(outside: Outside) -> Exposure:
    """Return the exposure of a program with these outside values."""
    found: Exposure = None
    for leaf in outside.leaves:
        one = _of_leaf(outside, leaf)
        if one == "shared":
            return "shared"
        found = found or one
    return found


def _of_leaf(outside: Outside, leaf: Leaf) -> Exposure:
    kinds = [leaf.source.kind]
    source = leaf.source
    is_default = False
    while source.parent is not None:
        if source.kind in ("default", "named default"):
            # A default of a local function may be active; functools.wraps changes __qualname__.
            if "<locals>" in outside.samples[id(source.parent)].__code__.co_qualname:
                return "shared"
            is_default = True
        source = source.parent
        kinds.append(source.kind)
    if source.kind in ("argument", "function"):
        if not is_default:
            return None if _SHARING.isdisjoint(kinds) else "shared"
        kinds.pop()
    if leaf.source.kind == "cell" or isinstance(leaf.type, Row):
        return "shared"  # another function may have captured the variable, or refer to the list
    if isinstance(leaf.type, Number) and leaf.source.kind in ("default", "global", "named default"):
        return None if _CONSTANTS.issuperset(kinds) else "shared"
    return "constants" if _CONSTANTS.issuperset(kinds) else "shared"
