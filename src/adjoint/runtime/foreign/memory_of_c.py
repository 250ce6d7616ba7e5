"""Objects that NumPy converts to arrays through their memory.

These are `array.array`, `memoryview`, arrays of `ctypes` and objects with an
``__array_interface__``. The origin of their numbers is unknown. A separate call converts them, and
its result is poisoned like that of any unknown callee (`adjoint.runtime.foreign.unknown_call`). So
all rules see arrays, and only a derivative through such numbers is refused. A `memoryview` of an
array is an alias of that array, and is differentiated.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from adjoint.primal.engine_object import EngineObject
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import C_METHODS, class_attribute
from adjoint.primal.value_kinds import fields_of
from adjoint.rulekit.registry import primitive
from adjoint.runtime.foreign.unknown_call import run_unknown

_NONE = (
    np.ndarray, np.generic, np.flatiter, np.dtype, str, bytes, float, int, complex, type(None),
    list, tuple, dict, set, frozenset, deque, type, slice, range, EngineObject,
)  # fmt: skip
"""Types that never show their memory to NumPy."""
_SPECIALS: tuple[str, ...] = ("__array_interface__", "__array_struct__")


def _by_class(kind: type) -> bool | None:
    """Return whether instances show their memory; ``None`` where each has to be asked: Python 3.11
    does not tell which classes have a buffer, and an instance may have the attributes itself."""
    if issubclass(kind, _NONE):
        return False
    if any(class_attribute(kind, name) is not None for name in _SPECIALS):
        return True
    if class_attribute(kind, "__buffer__") is not None:
        return True
    if type(class_attribute(kind, "__array__")) in C_METHODS:
        return True
    return None


_known = ByClass(_by_class)


def shows_memory(value: Any) -> bool:
    """Return whether NumPy converts `value` to an array through its memory."""
    known = _known(type(value))
    if known is not None:
        return bool(known)
    return _has_buffer(value) or _answers(value)


def _answers(value: Any) -> bool:
    """Return whether an object itself has one of the attributes that NumPy looks up."""
    kind, names = type(value), _SPECIALS
    if class_attribute(kind, "__array__") is None:
        names = (*_SPECIALS, "__array__")
        if class_attribute(kind, "__getattr__") is not None:
            return any(hasattr(value, name) for name in names)
    fields = fields_of(value)
    return fields is not None and any(name in fields for name in names)


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except (TypeError, BufferError, ValueError):
        return False
    return True


def seen_as_array(value: Any) -> Any:
    """Return ``np.asarray(value)``."""
    return np.asarray(value)


@primitive(seen_as_array)
def _(record: list[Any], slot: int, value: Any) -> Any:
    why = f"takes the numbers out of the memory of a '{type(value).__name__}'"
    return run_unknown(record[0], record, slot, np.asarray, (value,), {}, why, trusted=True)
