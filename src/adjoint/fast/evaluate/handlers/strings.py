"""Handlers of strings: known ones, and those with numbers that are not known."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import IMMUTABLE_TYPE, special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import demand_listed
from adjoint.fast.evaluate.objects.constants import TEXT_METHODS
from adjoint.fast.evaluate.objects.containers import closed
from adjoint.fast.evaluate.objects.exceptions import text_of_exception
from adjoint.fast.evaluate.plain_classes import has_own, is_plain_object
from adjoint.fast.evaluate.rows import row_of
from adjoint.fast.evaluate.types import Array, Number, holds_arrays, witnesses
from adjoint.fast.evaluate.values import (
    TEXT,
    Abstract,
    External,
    Known,
    Partial,
    Ref,
    Text,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir.single import Const, Value

_PLAIN = (str, int, float, bool, type(None))
_CONSTANT = (*_PLAIN, complex, bytes, range, type(...), np.dtype, np.generic)


def _search(f: Any) -> None:
    @handler(f)
    def _(
        ev: Evaluator, pattern: Abstract, string: Abstract, flags: Abstract = Known(0)
    ) -> Abstract:
        """Search in a known string; only whether something is found is known."""
        given = (pattern, string, flags)
        if not all(isinstance(x, Known) and isinstance(x.value, str | int) for x in given):
            raise NotCovered("a search in a string that is not known", ev.span)
        found = f(*[x.value for x in given])  # type: ignore[union-attr]
        return Known(None) if found is None else Known(found)


for _f in (re.match, re.search, re.fullmatch):
    _search(_f)


def of_text(ev: Evaluator, f: Any, args: Any, keywords: dict[str, Abstract]) -> Abstract | None:
    """Evaluate a method of a known string; ``None`` for any other callee."""
    if type(getattr(f, "__self__", None)) is not str:
        return None
    if f.__name__ == "format":
        return _formatted(ev, f, [*args], keywords)
    values: list[Any] = []
    for a in args:
        if isinstance(a, Known) and isinstance(a.value, (*_PLAIN, tuple)):
            values.append(a.value)
            continue
        items = demand_listed(ev, a, "a method of a string") if f.__name__ == "join" else None
        if items is None or not all(ev.class_of(x) is str for x in items):
            raise NotCovered("a method of a string", ev.span)
        if any(isinstance(x, Text) for x in items):
            return unknown_text(ev, f, [Tuple(tuple(items))], {})
        values.append([x.value for x in items])  # type: ignore[union-attr]
    if keywords:
        raise NotCovered("a method of a string", ev.span)
    return closed(ev, _tried(ev, f, *values))


def _tried(ev: Evaluator, f: Any, /, *values: Any, **named: Any) -> Any:
    try:
        return f(*values, **named)
    except Exception as error:
        raise NotCovered(f"a call that raises {type(error).__name__}", ev.span) from None


def _formatted(
    ev: Evaluator, f: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Format operands by `f`; the result is known if they are."""
    shown = [_shown(ev, x) for x in (*args, *keywords.values())]
    found = None
    for given in _each([xs for xs, _ in shown]):
        named = zip(keywords, given[len(args) :], strict=True)
        found = _tried(ev, f, *given[: len(args)], **dict(named))
    is_known = all(known for _, known in shown)
    return Known(found) if is_known else unknown_text(ev, f, args, keywords)


def _each(columns: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield tuples of one object of each column, until each object was in one."""
    for i in range(max(map(len, columns), default=1)):
        yield tuple(xs[i % len(xs)] for xs in columns)


def unknown_text(ev: Evaluator, f: Any, args: Any, keywords: dict[str, Abstract]) -> Text:
    """Return a text that `f` makes; with its recipe if it may be printed."""
    if not ev.outside.may_print:
        return TEXT
    given = [as_now(ev, x) for x in args]
    named = {k: as_now(ev, x) for k, x in keywords.items()}
    if None in given or None in named.values():
        return TEXT
    return Text((Partial(Known(f), tuple(given), tuple(named.items())),))  # type: ignore[arg-type]


def as_now(ev: Evaluator, a: Abstract) -> Abstract | None:
    """Return an operand of a text, which later writes do not change; ``None`` for other things."""
    if (row := _row(ev, a)) is not None:
        copy = ev.operation(rows.part, (row, Const(slice(None))), ev.types[row])
        return Text((Partial(Known(ev.class_of(a)), (copy,), ()),))
    if isinstance(a, Value):
        return ev.call(Known(np.copy), [a], {}) if isinstance(ev.types[a], Array) else a
    if isinstance(a, Tuple):
        items = [as_now(ev, x) for x in a.items]
        return None if None in items else Tuple(tuple(items), a.kind)  # type: ignore[arg-type]
    if isinstance(a, Known | Text):
        return None if a is TEXT else a
    found = as_now(ev, Tuple(tuple(_items(ev, a) or ())))
    if found is None or _items(ev, a) is None:
        return None
    keys = ev.keys(a)
    make = list if keys is None else partial(_dict, keys)
    return Text((Partial(Known(make), (found,), ()),))


def _dict(keys: Sequence[Any], items: Sequence[Any]) -> dict[Any, Any]:
    return dict(zip(keys, items, strict=True))


def _row(ev: Evaluator, a: Abstract) -> Value | None:
    """Return a list or a tuple of numbers of unknown length."""
    row = row_of(ev, a) if ev.class_of(a) in (list, tuple) else None
    return None if row is None or holds_arrays(ev.types[row]) else row


def _items(ev: Evaluator, a: Abstract) -> Sequence[Abstract] | None:
    """Return the items of a list, or those of a dict with constants as keys."""
    if ev.class_of(a) is list:
        return ev.sequence(a)
    entries = ev.entries(a) if ev.class_of(a) is dict else None
    if entries is None or not all(isinstance(key, _CONSTANT) for key in entries):
        return None
    return [*entries.values()]


def _shown(ev: Evaluator, a: Abstract) -> tuple[list[Any], bool]:
    """Return objects that are formatted like `a`, one of each class that it may have, and whether
    the text is that of `a`."""
    if isinstance(a, Known) and isinstance(a.value, _CONSTANT):
        return [a.value], True
    if isinstance(a, Known) and type(a.value) is type and a.value.__flags__ & IMMUTABLE_TYPE:
        return [a.value], True
    if isinstance(a, Text):
        return [""], False
    if isinstance(a, Value):
        t = ev.types[a]
        if isinstance(t, Number):
            return witnesses(t), False
        if isinstance(t, Array):
            return [t], False
    if isinstance(a, Tuple) or (isinstance(a, Known) and type(a.value) is tuple):
        shown = [_shown(ev, x) for x in ev.sequence(a) or ()]
        return [*_each([xs for xs, _ in shown])], all(known for _, known in shown)
    items, cls = [] if _row(ev, a) else _items(ev, a), ev.class_of(a)
    if items is None or cls is None:
        raise NotCovered("a string of what is not known", ev.span)
    for x in items:
        if not isinstance(x, Known):
            _shown(ev, x)  # refuses objects
    return [cls()], False


def _text_of(ev: Evaluator, a: Abstract, name: str) -> Abstract:
    """Return what ``__str__`` or ``__repr__`` of an object of a user class returns; any other value
    unchanged."""
    cls = ev.class_of(a)
    if isinstance(a, Known) and isinstance(a.value, Enum) and name == "__str__":
        return _of_member(ev, a, type(a.value))
    if isinstance(a, Ref) and cls is not None and issubclass(cls, BaseException):
        return text_of_exception(ev, a, cls) if name == "__str__" else a
    if not isinstance(a, Ref | External) or cls is None or not is_plain_object(cls):
        return a
    if has_own(cls, "__format__"):
        raise NotCovered(f"__format__ of {cls.__qualname__}", ev.span)
    if name == "__str__" and not has_own(cls, "__str__"):
        name = "__repr__"
    if not has_own(cls, name):
        return TEXT
    return ev.call(special_method(ev, cls, name), [a], {})


def _of_member(ev: Evaluator, a: Known, cls: Any) -> Abstract:
    """Return ``str`` of a member of an enumeration."""
    owner = next(base for base in cls.__mro__ if "__str__" in vars(base))
    if owner.__module__ == "enum" and not issubclass(cls, int | float | str):
        return Known(str(a.value))
    if owner.__module__ in ("enum", "builtins") or cls.__format__ is not Enum.__format__:
        return a
    return ev.call(special_method(ev, cls, "__str__"), [a], {})


@handler(primitives.format_value)
def _(ev: Evaluator, a: Abstract, conversion: Abstract, spec: Abstract) -> Abstract:
    is_str = isinstance(conversion, Known) and conversion.value in (None, "s")
    shown = _text_of(ev, a, "__str__" if is_str else "__repr__")
    if shown is not a:
        conversion = Known(None)
    return _formatted(ev, primitives.format_value, [shown, conversion, spec], {})


@handler(format)
def _(ev: Evaluator, a: Abstract, spec: Abstract = Known("")) -> Abstract:
    return ev.call(Known(primitives.format_value), [a, Known(None), spec], {})


@handler(primitives.build_string)
def _(ev: Evaluator, *parts: Abstract) -> Abstract:
    return _formatted(ev, primitives.build_string, [*parts], {})


@handler(str)
def _(ev: Evaluator, a: Abstract = Known("")) -> Abstract:
    return _formatted(ev, str, [_text_of(ev, a, "__str__")], {})


@handler(repr)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    shown = _text_of(ev, a, "__repr__")
    return _formatted(ev, repr, [a], {}) if shown is a else shown


def formatted_by_percent(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """Evaluate ``a % b`` for a known string."""
    return _formatted(ev, operator.mod, [a, b], {})


def _changing(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *operands: Abstract) -> Abstract:
        """Evaluate a method of a string that returns another."""
        return _formatted(ev, f, [*operands], {})


for _name in TEXT_METHODS:
    _changing(getattr(str, _name))
