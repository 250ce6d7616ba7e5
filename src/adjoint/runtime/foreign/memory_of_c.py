"""Numbers in other clothes: what NumPy takes for an array although it is none, by its memory.

`array.array`, `memoryview`, arrays of `ctypes`, and what has an ``__array_interface__``: C looks at
numbers of which nobody knows where they come from. They are seen as an array by a call of its own,
whose result is poisoned like that of any call that cannot be followed
(`adjoint.runtime.foreign.unknown_call`). So all rules see arrays, a derivative through such numbers
is refused where it is needed, and what is constant costs nothing. A `memoryview` of an array is an
array of the same memory, and is followed.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from adjoint.primal.engine_object import Hidden
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import C_METHODS, class_attribute
from adjoint.primal.value_kinds import fields_of
from adjoint.rulekit.registry import primitive
from adjoint.runtime.foreign.unknown_call import run_unknown

_NONE = (
    np.ndarray, np.generic, np.flatiter, np.dtype, str, bytes, float, int, complex, type(None),
    list, tuple, dict, set, frozenset, deque, type, slice, range, Hidden,
)  # fmt: skip
"""Types that NumPy takes for what they are."""
_SPECIALS: tuple[str, ...] = ("__array_interface__", "__array_struct__")


def _by_class(kind: type) -> bool | None:
    """Whether instances show their memory; ``None``: each has to be asked, for Python 3.11 says of
    no class that its instances have a buffer, and attributes may be their own."""
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
    """Whether NumPy takes `value` for an array because of the memory that it shows."""
    known = _known(type(value))
    if known is not None:
        return bool(known)
    return _has_buffer(value) or _answers(value)


def _answers(value: Any) -> bool:
    """Whether an object has one of the attributes by itself; NumPy asks for them in this way."""
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
    """``np.asarray(value)``, as an array of its own class."""
    return np.asarray(value)


@primitive(seen_as_array)
def _(record: list[Any], slot: int, value: Any) -> Any:
    why = f"takes the numbers out of the memory of a '{type(value).__name__}'"
    return run_unknown(record[0], record, slot, np.asarray, (value,), {}, why, trusted=True)
