"""What containers hold, whatever methods a subclass has; keys that ask the user's code."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import ItemsView, Iterator
from types import FunctionType
from typing import Any
from weakref import ref

ABSENT: Any = object()
"""What a write overwrote where there was nothing."""


_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)


def size_of(xs: Any) -> int:
    """How many elements a list, tuple or deque holds, whatever ``__len__`` a subclass has."""
    for kind in _SEQUENCES:
        if isinstance(xs, kind):
            return kind.__len__(xs)  # type: ignore[no-any-return]
    return len(xs)


def elements_of(xs: Any) -> Iterator[Any]:
    """The elements of a list, tuple or deque, whatever ``__iter__`` a subclass has."""
    for kind in _SEQUENCES:
        if isinstance(xs, kind):
            return kind.__iter__(xs)  # type: ignore[no-any-return]
    return iter(xs)


def base_of(d: Any) -> Any:
    """The builtin type whose methods reach the keys of a dict, whatever methods a subclass has."""
    return OrderedDict if isinstance(d, OrderedDict) else dict


def entries_of(d: Any) -> ItemsView[Any, Any]:
    """The keys and values of a dict, whatever ``items`` a subclass has."""
    return base_of(d).items(d)  # type: ignore[no-any-return]


def factory_of(d: defaultdict[Any, Any]) -> Any:
    """What fills a dict where a key is missing, whatever attributes a subclass has."""
    return _FACTORY.__get__(d)


_FACTORY: Any = vars(defaultdict)["default_factory"]


_PLAIN_KEYS = frozenset({str, int, float, bool, bytes, type(None), type})
"""Types of keys that are compared by nobody's code."""


def asks_user(key: Any) -> bool:
    """Whether comparing `key` may run code of the user's."""
    kind = type(key)
    return kind not in _PLAIN_KEYS and _asks_user(kind)


def any_asks_user(d: Any) -> bool:
    """Whether comparing a key that a dict holds may do so."""
    return any(map(_asks_user, set(map(type, dict.__iter__(d))) - _PLAIN_KEYS))


def _asks_user(kind: type) -> bool:
    return (
        issubclass(kind, tuple)  # equal to others whose elements are equal
        or kind is frozenset
        or issubclass(kind, ref)  # equal as long as what they refer to is there
        or type(kind.__hash__) is FunctionType
        or type(kind.__eq__) is FunctionType
    )


def place_of_held(key: Any) -> Any:
    """`Memory.place` of a key that the dict itself holds."""
    return ("held", id(key)) if asks_user(key) else key


def args_of(error: BaseException) -> tuple[Any, ...]:
    """What an exception was made of, whatever its class has under the name ``args``."""
    return _ARGS.__get__(error)  # type: ignore[no-any-return]


_ARGS: Any = vars(BaseException)["args"]
