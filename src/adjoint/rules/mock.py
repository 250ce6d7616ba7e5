"""`unittest.mock`: what it puts in the place of something else is read there unseen."""

from __future__ import annotations

import builtins
from typing import Any
from unittest import mock

import numpy as np

from adjoint.rules.registry import primitive
from adjoint.run.attribute_writes import check_exchange
from adjoint.run.kinds import by_value
from adjoint.run.native import watched
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


def _called(record: list[Any], slot: int, double: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A double notes what it is called with."""
    f = mock.CallableMixin.__call__
    return watched(record, slot, f, f, (double, *args), kwargs, kept=(double,))


primitive(mock.CallableMixin.__call__)(_called)
