"""Conversion of objects with ``__array__`` in Python to arrays."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.special_methods import class_attribute
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.memory_of_c import shows_memory

_ARRAYS = (np.ndarray, np.generic, float, int, complex)
"""Types whose subclasses NumPy converts without ``__array__``."""


def array_of_object(f: Any, object: Any, *args: Any, **kwargs: Any) -> Any:
    """Call `f` on the array that ``__array__`` returns."""
    return f(object.__array__(), *args, **kwargs)


def _through(f: Any) -> None:
    @primitive(f)
    def converted(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        kind = type(args[0]) if args else float
        if kind is list or kind is tuple or issubclass(kind, _ARRAYS):
            return NotImplemented
        if shows_memory(args[0]):
            return NotImplemented  # NumPy prefers the memory
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


# ---- DLPack --------------------------------------------------------------------------------------


def _alias_or_copy(x, /, *, device=None, copy=None):
    """Return an alias of `x`, or a copy if demanded."""
    return np.array(x) if copy else x.view()


@primitive(np.from_dlpack)
def _(record: list[Any], slot: int, x: Any, /, **options: Any) -> Any:
    if type(x) is not np.ndarray or x.dtype.kind not in "fciub":
        return NotImplemented
    np.from_dlpack(x, **options)  # for its own errors
    return call_function(record, slot, _alias_or_copy, (x,), options)
