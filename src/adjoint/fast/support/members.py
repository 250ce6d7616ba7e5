"""Sets of functions by their names."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def members(module: Any, names: str) -> frozenset[Any]:
    """Return the members of a module with the names (two or more) in a text."""
    return frozenset(attrgetter(*names.split())(module))
