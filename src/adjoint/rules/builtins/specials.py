"""``len``, ``str``, ``hash`` and their like of objects whose class defines them in Python.

Their results carry no derivative, but what they do to objects does.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.rules.registry import primitive
from adjoint.run.dispatch import call, class_attribute

SPECIALS: dict[Any, tuple[str, ...]] = {
    len: ("__len__",),
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    hash: ("__hash__",),
    int: ("__int__", "__index__", "__trunc__"),
    format: ("__format__", "__str__", "__repr__"),
    bool: ("__bool__", "__len__"),
}


def _by_special(f: Any, names: tuple[str, ...]) -> Any:
    def run(record: list[Any], slot: int, *args: Any, **options: Any) -> Any:
        if not args or options:
            return NotImplemented
        kind = type(args[0])
        for name in names:
            special = class_attribute(kind, name)
            if type(special) is FunctionType:
                rest = args[1:] if name == "__format__" else ()
                if name == "__format__" and not rest:
                    rest = ("",)
                inner: list[Any] = [record[0], None]
                n = len(args) + 1

                def special_back(_: Any) -> tuple[None, ...]:
                    if inner[1] is not None:
                        inner[1](None)
                    return (None,) * n

                record[slot] = special_back
                result = call(inner, 1, special, args[0], *rest)
                return _checked(f, result)
            if special is not None and special is not class_attribute(object, name):
                break  # of C
        return NotImplemented

    return run


def _checked(f: Any, result: Any) -> Any:
    """What Python makes of the result: ``bool`` of a length, an error for what is none."""
    if f is bool:
        return bool(result)
    if f is len:
        return len(range(result)) if isinstance(result, int) and result >= 0 else f(_Of(result))
    return result


class _Of:
    """Has the length that it is given, for Python's own message."""

    def __init__(self, length: Any) -> None:
        self._length = length

    def __len__(self) -> Any:
        return self._length


for _f, _names in SPECIALS.items():
    primitive(_f)(_by_special(_f, _names))
