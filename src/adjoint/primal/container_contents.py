"""Contents of containers, ignoring methods of subclasses; keys whose comparison runs user code."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import ItemsView, Iterator
from types import FunctionType
from typing import Any
from weakref import ref

ABSENT: Any = object()
"""Stands for the value before a write that created the place."""


_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)


def size_of(xs: Any) -> int:
    """Return the length of a list, tuple or deque, ignoring an overridden ``__len__``."""
    for kind in _SEQUENCES:
        if isinstance(xs, kind):
            return kind.__len__(xs)  # type: ignore[no-any-return]
    return len(xs)


def elements_of(xs: Any) -> Iterator[Any]:
    """Return an iterator over a list, tuple or deque, ignoring an overridden ``__iter__``."""
    for kind in _SEQUENCES:
        if isinstance(xs, kind):
            return kind.__iter__(xs)  # type: ignore[no-any-return]
    return iter(xs)


def base_of(d: Any) -> Any:
    """Return the builtin type whose methods reach the entries of a dict."""
    return OrderedDict if isinstance(d, OrderedDict) else dict


def entries_of(d: Any) -> ItemsView[Any, Any]:
    """Return the items of a dict, ignoring an overridden ``items``."""
    return base_of(d).items(d)  # type: ignore[no-any-return]


def factory_of(d: defaultdict[Any, Any]) -> Any:
    """Return the factory of a `defaultdict`, ignoring attributes of a subclass."""
    return _FACTORY.__get__(d)


_FACTORY: Any = vars(defaultdict)["default_factory"]


_PLAIN_KEYS = frozenset({str, int, float, bool, bytes, type(None), type})
"""Types of keys whose comparison runs no Python code."""


def compares_by_user_code(key: Any) -> bool:
    """Return whether comparing `key` may run user code."""
    kind = type(key)
    return kind not in _PLAIN_KEYS and _asks_user(kind)


def any_compares_by_user_code(d: Any) -> bool:
    """Return whether comparing a key that a dict holds may run user code."""
    return any(map(_asks_user, set(map(type, dict.__iter__(d))) - _PLAIN_KEYS))


def _asks_user(kind: type) -> bool:
    return (
        issubclass(kind, tuple)  # compares its elements
        or kind is frozenset
        or issubclass(kind, ref)  # compares its referent
        or type(kind.__hash__) is FunctionType
        or type(kind.__eq__) is FunctionType
    )


def place_of_held(key: Any) -> Any:
    """Return `Memory.place` for a key that the dict itself holds."""
    return ("held", id(key)) if compares_by_user_code(key) else key


def args_of(error: BaseException) -> tuple[Any, ...]:
    """Return the ``args`` of an exception, ignoring an overriding attribute."""
    return _ARGS.__get__(error)  # type: ignore[no-any-return]


_ARGS: Any = vars(BaseException)["args"]
