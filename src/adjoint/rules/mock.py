"""`unittest.mock`: what it puts in the place of something else is read there unseen, and what its
doubles are told to do and to return is done by code like any other."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any
from unittest import mock

import numpy as np

from adjoint.rules.registry import primitive
from adjoint.run.attribute_writes import check_exchange
from adjoint.run.dispatch import call, call_keywords, linked
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory
from adjoint.run.native import native, watched
from adjoint.run.refused import refused


def _carries(value: Any) -> bool:
    if isinstance(value, dict | list | tuple):
        return any(map(_carries, value.values() if isinstance(value, dict) else value))
    return by_value(value) and np.asarray(value).dtype.kind in "fc"


def _names(f: Any, target: Any, attribute: Any = None, /, *_: Any, **kwargs: Any) -> list[Any]:
    """Which builtin functions are exchanged."""
    if f is mock.patch:
        *module, name = str(target).split(".")
        return [name] if module == ["builtins"] else []
    if target is not builtins and target != "builtins":
        return []
    return [attribute] if f is mock.patch.object else [*kwargs]


def _refusing(f: Any) -> None:
    def run(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        level = record[0].level  # which knows what does
        if _carries((args, kwargs)) and (level is None or level.knows(args, kwargs)):
            raise refused(
                f"'{f.__module__}.{f.__qualname__}' is given a number that may carry a derivative",
                "assign it in the function, and put back what was there in a finally clause",
            )
        if args:
            for name in _names(f, *args, **kwargs):
                check_exchange(builtins, name)
        return NotImplemented

    primitive(f)(run)


for _f in (mock.patch, mock.patch.object, mock.patch.dict, mock.patch.multiple):
    _refusing(_f)


# ---- doubles -------------------------------------------------------------------------------------


def _place(double: Any, name: str = "return_value") -> tuple[Any, str]:
    """Where a double keeps what it is told by a keyword: the fields, and the name among these."""
    *path, name = name.split(".")
    for part in path:
        double = getattr(double, part)
    if name != "return_value":
        return vars(double), name
    if type(double) is FunctionType:  # an autospec of a function
        return vars(double), name
    told = double._mock_delegate
    return (vars(double), "_mock_return_value") if told is None else (vars(told), name)


def _making(f: Any, keywords: list[str]) -> None:
    """A function that makes doubles, or a part of one that is there."""

    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        inner: list[Any] = [memory, None, None]
        names = [*keywords[: len(args)], *kwargs]
        given = [*args, *kwargs.values()]
        at = names.index("side_effect") if "side_effect" in names else None
        if at is not None and not callable(given[at]) and isinstance(given[at], Iterable):
            given[at] = call(inner, 2, iter, given[at])  # as its maker does
        options = dict(zip(kwargs, given[len(args) :], strict=True))
        y = native(inner, 1, f, tuple(given[: len(args)]), options)
        double = args[0] if y is None else y

        def made_back(_: Any) -> tuple[Any, ...]:
            bars: list[Any] = [None] * (len(given) + 1)
            for i, name in enumerate(names):
                if by_value(given[i]):
                    bars[i + 1] = memory.take_entry(*_place(double, name))
            if at is not None and inner[2] is not None:
                bars[at + 1] = inner[2](None)[1]
            if inner[1] is not None:
                inner[1](None)
            return tuple(bars)

        record[slot] = made_back
        return y

    primitive(f)(run)


def _keywords(f: Any) -> list[str]:
    return [*inspect.signature(f).parameters]


_OF_DOUBLES = _keywords(mock.CallableMixin.__init__)
for _kind in (mock.CallableMixin, mock.MagicMixin):
    _making(_kind.__init__, _OF_DOUBLES)
for _kind in (mock.Mock, mock.MagicMock):
    _making(_kind, _OF_DOUBLES[1:])
_making(mock.NonCallableMock.__init__, _keywords(mock.NonCallableMock.__init__))
for _kind in (mock.NonCallableMock, mock.NonCallableMagicMock):
    _making(_kind, _keywords(mock.NonCallableMock.__init__)[1:])
_making(mock.create_autospec, _keywords(mock.create_autospec))


@primitive(mock.NonCallableMock.__getattr__)
def _(record: list[Any], slot: int, double: Any, name: str, /) -> Any:
    """Another double, around an attribute of what this one is around, which code may compute."""
    make, fields = mock.NonCallableMock.__getattr__, vars(double)
    around = fields.get("_mock_wraps")
    if around is None or name in fields["_mock_children"]:
        return make(double, name)
    attribute = linked(record, slot, lambda _: (None, None, None), call, getattr, around, name)
    fields["_mock_wraps"] = None
    try:
        made = make(double, name)
    finally:
        fields["_mock_wraps"] = around
    vars(made)["_mock_wraps"] = attribute
    return made


def _note(double: Any, /, *args: Any, **kwargs: Any) -> None:
    """A double notes what it is called with."""
    double._mock_check_sig(*args, **kwargs)
    double._increment_mock_call(*args, **kwargs)


def _called(record: list[Any], slot: int, double: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a double does is code like any other, in the order of ``_execute_mock_call``."""
    f = mock.CallableMixin.__call__
    kind = type(double)
    if any(
        getattr(kind, name) is not getattr(mock.CallableMixin, name)
        for name in ("_mock_call", "_execute_mock_call")
    ):
        return watched(record, slot, f, f, (double, *args), kwargs, kept=(double,))
    memory: Memory = record[0]
    steps: list[Any] = [memory, None, None, None]
    place: tuple[Any, str] | None = None
    operands = 0  # the step whose operands are those of the call

    def called_back(y_bar: Any) -> tuple[Any, ...]:
        bars: tuple[Any, ...] = (None,) * (len(args) + len(kwargs))
        if place is not None:
            memory.add_entry(*place, y_bar)
        for step in (3, 2, 1):
            if steps[step] is not None:
                found = steps[step](y_bar if step == max(operands, 2) else None)
                bars = found[1:] if step == operands else bars
        return None, None, *bars

    record[slot] = called_back
    watched(steps, 1, f, _note, (double, *args), kwargs, kept=(double,))
    effect, y = double.side_effect, mock.DEFAULT
    if isinstance(effect, BaseException) or (
        isinstance(effect, type) and issubclass(effect, BaseException)
    ):
        raise effect
    if callable(effect):
        operands = 2
        y = call_keywords(steps, 2, effect, args, kwargs)
    elif effect is not None:
        y = call(steps, 2, next, effect)
        if isinstance(y, BaseException) or (isinstance(y, type) and issubclass(y, BaseException)):
            raise y
    if y is not mock.DEFAULT:
        return y
    told = double._mock_delegate
    by_default = double._mock_return_value is mock.DEFAULT and (
        told is None or told.return_value is mock.DEFAULT
    )
    if by_default and double._mock_wraps is not None:
        operands = 3
        return call_keywords(steps, 3, double._mock_wraps, args, kwargs)
    y = double.return_value
    place = _place(double) if by_value(y) else None
    return y


primitive(mock.CallableMixin.__call__)(_called)
