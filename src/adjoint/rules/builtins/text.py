"""Text made of objects: ``str`` of lists, ``%``, ``str.format``, ``print``.

C asks the objects in it for their text. Where that is a method written in Python that may store
something, C is given stand-ins, which ask as part of the operation.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from adjoint.rules.builtins import functions, specials
from adjoint.rules.registry import entry, primitive
from adjoint.run.misfits import calls_rules
from adjoint.run.native import lend, watched
from adjoint.run.reach import Asks, has_code, reaches
from adjoint.run.region import Region

_RULES = (functions, specials)
"""What is refined here has to be loaded."""

_TEXT = Asks(
    "__str__", "__repr__", "__format__", "__int__", "__float__", "__index__", "__getattr__",
    "__getattribute__", "__getitem__",
)  # fmt: skip


class _Shown:
    """Stands for an object of which text is made."""

    __slots__ = ("_region", "_value")

    def __init__(self, region: Region, value: Any) -> None:
        self._region, self._value = region, value

    def _ask(self, f: Any, *args: Any) -> Any:
        return self._region.call(f, (self._value, *args), {})

    def __str__(self) -> str:
        return self._ask(str)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return self._ask(repr)  # type: ignore[no-any-return]

    def __format__(self, spec: str) -> str:
        return self._ask(format, spec)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._ask(int)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._ask(float)  # type: ignore[no-any-return]

    def __index__(self) -> int:
        return self._ask(operator.index)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return _shown(self._region, self._ask(getattr, name))

    def __getitem__(self, key: Any) -> Any:
        return _shown(self._region, self._ask(operator.getitem, key))


def _shown(region: Region, value: Any, within: tuple[int, ...] = ()) -> Any:
    """`value`, or a stand-in that gives the same text."""
    kind = type(value)
    if _TEXT.of(kind) == 2 and not issubclass(kind, str | int | float | list | tuple | dict):
        return _Shown(region, value)
    if kind not in (list, tuple, dict) or id(value) in within or _TEXT(value) < 2:
        return value
    within = (*within, id(value))
    if kind is dict:
        return {key: _shown(region, item, within) for key, item in value.items()}
    return kind(_shown(region, item, within) for item in value)


def _text(key: Any) -> None:
    """Of all operands of `key`."""
    f: Any = getattr(*key) if isinstance(key, tuple) else key
    plain = entry(key).primitive

    @calls_rules
    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if plain is not None:
            y = plain(record, slot, *args, **options)
            if y is not NotImplemented:
                return y
        if key in _OF_ONE and type(args[0] if args else None) not in (list, tuple, dict):
            return NotImplemented  # its own method is in C
        if _TEXT(*args, *options.values()) < 2:
            return NotImplemented
        region = Region(record[0], f)
        record[slot] = region.before(record[slot], len(args) + len(options))
        shown = [_shown(region, arg) for arg in args]
        named = {name: _shown(region, option) for name, option in options.items()}
        return region.run(f, tuple(shown), named)

    primitive(key)(run)


_OF_ONE = (str, repr, ascii, format)
for _f in _OF_ONE:
    _text(_f)
for _name in ("__mod__", "format", "format_map"):
    _text((str, _name))


@primitive(print)
def _(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
    """A file that is given is written to as to any object; what stands for the standard output is
    not differentiated."""
    given = options.get("file")
    to_object = given is not None and has_code(type(given))
    if not to_object and _TEXT(*args) < 2:
        if reaches(args) or (given is None and has_code(type(sys.stdout))):
            return watched(record, slot, print, print, args, options)
        return print(*args, **options)
    region = Region(record[0], print)
    record[slot] = region.before(record[slot], len(args) + len(options))
    if to_object:
        options["file"] = _File(region, given)
    return region.run(print, tuple(_shown(region, arg) for arg in args), options)


class _File:
    """Stands for the object that `print` writes to."""

    def __init__(self, region: Region, file: Any) -> None:
        self._region, self._file = region, file

    def __getattr__(self, name: str) -> Any:
        f = self._region.call(getattr, (self._file, name), {})
        return lend(self._region.memory, f)
