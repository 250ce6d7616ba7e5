"""Results of functions, noted by the generic tier for the fast tier, which asks for their types."""

from __future__ import annotations

import itertools
from types import CodeType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

MOST = 8
"""Number of results that are noted of a function."""


class Observed(NamedTuple):
    """The operands and the result of a call, with arrays of zeros in place of theirs.

    Attributes
    ----------
    is_alias
        Whether the result may be an alias of an operand, or a part of it one of another part.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    y: Any
    is_alias: bool


observed: WeakKeyDictionary[CodeType, list[Observed]] = WeakKeyDictionary()
"""Noted calls by the code of the function."""
wanted: WeakSet[CodeType] = WeakSet()
"""The code of functions whose next calls are noted."""


def ask(code: CodeType) -> int:
    """Ask for the results of a function; return how many were noted so far."""
    count = len(observed.setdefault(code, []))
    if count < MOST:
        wanted.add(code)
    return count


def note(code: CodeType, args: tuple[Any, ...], kwargs: dict[str, Any], y: Any) -> None:
    """Note the result of a call, unless it has a list of the operands."""
    wanted.discard(code)
    given = (*args, *kwargs.values())
    if has_list_of(y, given):
        return
    named = {name: _outline(x) for name, x in kwargs.items()}
    shared = is_alias(y, given)
    observed[code].append(Observed(tuple(map(_outline, args)), named, _outline(y), shared))


def is_alias(y: Any, given: Any) -> bool:
    """Return whether an array of a result may share memory with one of `given` or of the result."""
    parts = _arrays(y)
    outside = itertools.product(parts, _arrays(given))
    pairs = itertools.chain(outside, itertools.combinations(parts, 2))
    return any(np.may_share_memory(a, b) for a, b in pairs)


def has_list_of(y: Any, given: Any) -> bool:
    """Return whether a list in a result is one of `given`, or in one of these."""
    if type(y) is tuple:
        return any(has_list_of(part, given) for part in y)
    return isinstance(y, list) and any(
        x is y or (isinstance(x, list | tuple) and has_list_of(y, x)) for x in given
    )


def _outline(x: Any) -> Any:
    """Return a value with arrays of zeros that take no memory; an ellipsis for other objects."""
    if type(x) is np.ndarray:
        return np.broadcast_to(np.zeros((), x.dtype), x.shape)
    if isinstance(x, list | tuple):
        parts = map(_outline, x)
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x if isinstance(x, int | float | complex | str | np.generic) or x is None else Ellipsis


def _arrays(x: Any) -> list[Any]:
    if isinstance(x, list | tuple):
        return [array for part in x for array in _arrays(part)]
    return [x] if isinstance(x, np.ndarray) else []
