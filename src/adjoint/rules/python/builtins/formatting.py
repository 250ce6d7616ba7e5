"""Text made of objects: ``str`` of lists, ``%``, ``str.format``, ``print``.

C calls the text methods of the objects. If such a method is written in Python and may store
something, C is given a proxy, which makes the callback part of the operation.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.rulekit.registry import entry, primitive
from adjoint.rules.python.builtins import builtin_functions, specials
from adjoint.runtime.dispatch.argument_mismatch import calls_rules
from adjoint.runtime.foreign.foreign_run import ForeignRun
from adjoint.runtime.foreign.native_call import callback_proxy, run_monitored
from adjoint.runtime.foreign.user_code_reach import UserMethods, has_code, reaches

_RULES = (builtin_functions, specials)
"""Modules that register the rules wrapped here: they must be loaded first."""

_TEXT = UserMethods(
    "__str__", "__repr__", "__format__", "__int__", "__float__", "__index__", "__getattr__",
    "__getattribute__", "__getitem__",
)  # fmt: skip


class _TextProxy:
    """A proxy for an object that is converted to text."""

    __slots__ = ("region", "value")

    def __init__(self, region: ForeignRun, value: Any) -> None:
        _REGION.__set__(self, region)
        _VALUE.__set__(self, value)

    def __str__(self) -> str:
        return _call_back(self, str)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return _call_back(self, repr)  # type: ignore[no-any-return]

    def __format__(self, spec: str) -> str:
        return _call_back(self, format, spec)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return _call_back(self, int)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return _call_back(self, float)  # type: ignore[no-any-return]

    def __index__(self) -> int:
        return _call_back(self, operator.index)  # type: ignore[no-any-return]

    def __getattribute__(self, name: str) -> Any:
        return _found(_REGION.__get__(self), _call_back(self, getattr, name))

    def __getitem__(self, key: Any) -> Any:
        return _found(_REGION.__get__(self), _call_back(self, operator.getitem, key))


_REGION: Any = vars(_TextProxy)["region"]
_VALUE: Any = vars(_TextProxy)["value"]


def _call_back(shown: _TextProxy, f: Any, *args: Any) -> Any:
    return _REGION.__get__(shown).call(f, (_VALUE.__get__(shown), *args), {})


def _found(region: ForeignRun, value: Any) -> Any:
    """Wrap a value that C has looked up, because C may look up parts of it, too."""
    kind = type(value)
    if kind in CHILDLESS_TYPES or issubclass(kind, str | int | float):
        return value
    return _TextProxy(region, value)


def _with_proxies(region: ForeignRun, value: Any, within: tuple[int, ...] = ()) -> Any:
    """Return `value`, or a proxy that gives the same text."""
    kind = type(value)
    if _TEXT.of(kind) == 2 and not issubclass(kind, str | int | float | list | tuple | dict):
        return _TextProxy(region, value)
    if kind not in (list, tuple, dict) or id(value) in within or _TEXT(value) < 2:
        return value
    within = (*within, id(value))
    if kind is dict:
        return {key: _with_proxies(region, item, within) for key, item in value.items()}
    return kind(_with_proxies(region, item, within) for item in value)


def _text(key: Any) -> None:
    """Wrap the rule of `key`, which makes text of all its operands."""
    f: Any = getattr(*key) if isinstance(key, tuple) else key
    plain = entry(key).primitive

    @calls_rules
    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if plain is not None:
            y = plain(record, slot, *args, **options)
            if y is not NotImplemented:
                return y
        if key in _OF_ONE and type(args[0] if args else None) not in (list, tuple, dict):
            return NotImplemented  # the method of the operand is in C
        if _TEXT(*args, *options.values()) < 2:
            return NotImplemented
        region = ForeignRun(record[0], f)
        record[slot] = region.before(record[slot], len(args) + len(options))
        shown = [_with_proxies(region, arg) for arg in args]
        named = {name: _with_proxies(region, option) for name, option in options.items()}
        return region.run(f, tuple(shown), named)

    primitive(key)(run)


_OF_ONE = (str, repr, ascii, format)
for _f in _OF_ONE:
    _text(_f)
for _name in ("__mod__", "format", "format_map"):
    _text((str, _name))


@primitive(print)
def _(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
    """Print; writes to an object of a Python class are differentiated."""
    given = options.get("file")
    given = sys.stdout if given is None else given
    to_object = has_code(type(given))
    if not to_object and _TEXT(*args) < 2:
        if reaches(args):
            return run_monitored(record, slot, print, print, args, options)
        return print(*args, **options)
    region = ForeignRun(record[0], print)
    record[slot] = region.before(record[slot], len(args) + len(options))
    if to_object:
        options["file"] = _FileProxy(region, given)
    return region.run(print, tuple(_with_proxies(region, arg) for arg in args), options)


class _FileProxy:
    """A proxy for the object that `print` writes to."""

    def __init__(self, region: ForeignRun, file: Any) -> None:
        self._region, self._file = region, file

    def __getattr__(self, name: str) -> Any:
        f = self._region.call(getattr, (self._file, name), {})
        return callback_proxy(self._region.memory, f)
