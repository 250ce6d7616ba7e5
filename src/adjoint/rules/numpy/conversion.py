"""Arrays made of objects that say by ``__array__`` which array they are."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from adjoint.rules.registry import primitive
from adjoint.run.dispatch import call_function, linked
from adjoint.run.kinds import fields_of
from adjoint.run.specials import class_attribute
from adjoint.run.unknown import run_unknown

__all__: list[str] = []

_ARRAYS = (np.ndarray, np.generic, float, int, complex)
"""NumPy takes these for what they are derived from."""


def tells_its_address(value: Any) -> bool:
    """Whether NumPy is told where the memory lies; it asks for that before ``__array__``."""
    fields = fields_of(value) or ()
    return any(
        name in fields or class_attribute(type(value), name, None) is not None
        for name in ("__array_interface__", "__array_struct__")
    )


def array_of_object(f, object, *args, **kwargs):
    """What `f` makes of the array that the object gives."""
    return f(object.__array__(), *args, **kwargs)


def _through(f: Any) -> None:
    @primitive(f)
    def converted(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        kind = type(args[0]) if args else float
        if kind is list or kind is tuple or issubclass(kind, _ARRAYS):
            return NotImplemented
        if tells_its_address(args[0]):
            return run_unknown(record[0], record, slot, f, args, kwargs)
        if kind is not np.flatiter and type(class_attribute(kind, "__array__")) is not FunctionType:
            return NotImplemented
        return linked(
            record,
            slot,
            lambda bars: (None, *bars[2:]),
            call_function,
            array_of_object,
            (f, *args),
            kwargs,
        )


for _f in (
    np.array,
    np.asarray,
    np.asanyarray,
    np.ascontiguousarray,
    np.asfortranarray,
):
    _through(_f)
