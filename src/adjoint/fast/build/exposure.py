"""How much of what a program reads may be written by differentiated code around it, without the
program knowing that it carries a derivative then."""

from __future__ import annotations

from typing import Literal

from adjoint.fast.evaluate.outside import Leaf, Outside
from adjoint.fast.evaluate.types import Number, Row

Exposure = Literal["constants", "shared"] | None
"""``None``: the program reads what it is given, with a cotangent for each number and array, and
numbers that only an assignment to a global variable or to the defaults of a function changes, which
is known; ``constants``: also global arrays or attributes of classes, which are constants as long as
nothing was written; ``shared``: also what those hold, which may be held by others as well."""

_CONSTANTS = frozenset(
    {"cell", "class attribute", "default", "getter", "global", "member", "named default", "object"}
)

_SHARING = frozenset({"partial argument", "partial keyword", "self"})


def exposure(outside: Outside) -> Exposure:
    """What a program exposes itself to inside other differentiated code."""
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
            # one of a function that was made on the way may carry a derivative
            # (its name may be another's, by functools.wraps)
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
        return "shared"  # others may have captured the variable, too, or hold the list
    if isinstance(leaf.type, Number) and leaf.source.kind in ("default", "global", "named default"):
        return None if _CONSTANTS.issuperset(kinds) else "shared"
    return "constants" if _CONSTANTS.issuperset(kinds) else "shared"
