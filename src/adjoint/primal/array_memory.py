"""Memory that arrays share.

An array knows the array that it is a view of, unless it was made by `as_strided` or from a
memoryview: then another object stands between. A view may name an element twice.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]

_Strided: Any = type(as_strided(np.zeros(1)).base)
"""The type that links an array to its view by `as_strided`."""


def root_of(array: Array) -> Array:
    """Return the array that owns the memory of `array`, as far as bases tell."""
    base: Any = array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            array, base = base, base.base
        else:
            base = _behind(base)
    return array


def _behind(base: Any) -> Any:
    """Return the array behind another kind of base; ``None`` if that has memory of its own."""
    if type(base) is _Strided:
        return base.base
    if type(base) is memoryview and isinstance(base.obj, np.ndarray):
        return base.obj
    return None


def owner_of(array: Array) -> str | None:
    """Return the name of the type that owns the memory of `array`; ``None`` if an array does."""
    base: Any = root_of(array).base
    base = base.obj if type(base) is memoryview else base
    return None if base is None or type(base) is Alias else type(base).__name__


class Alias:
    """Links an array to an alias that counts as the root of its own views."""

    __slots__ = ("_array", "is_open")

    is_open: bool

    def __init__(self, array: Array) -> None:
        self._array, self.is_open = array, True

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__

    def __buffer__(self, _: int) -> memoryview:
        """Give NumPy a buffer (from Python 3.12 on). NumPy also asks when the alias or a view of it
        is made writable."""
        array: Any = self._array
        if not self.is_open:
            raise BufferError("a view of what is locked is not unlocked")
        was = array.flags.writeable
        np.ndarray.setflags(array, write=True)
        try:
            return memoryview(array if array.flags.c_contiguous else array.T).cast("B")
        finally:
            np.ndarray.setflags(array, write=was)


def note_flag_change(array: Array) -> None:
    """Announce that the flags of `array` will change: the owner of the memory may be made writable,
    a view of a read-only array may not."""
    root: Any = root_of(array)
    if type(root.base) is Alias:
        root.base.is_open = array is root


def alias_of_root(root: Array) -> Array | None:
    """Return an alias of `root` that is no view; ``None`` where its parts could not be named."""
    base: Any = root.base
    if type(base) not in (type(None), Alias) or not root.size or type(root) is not np.ndarray:
        return None
    if not (root.flags.c_contiguous or root.flags.f_contiguous):
        return None
    twin: Any = Alias(root)
    if sys.version_info >= (3, 12):  # may be made writable later
        made: Array = np.ndarray(root.shape, root.dtype, twin, 0, root.strides)
        if not root.flags.writeable:
            made.flags.writeable = False
    else:
        made = np.asarray(twin)
    same = made.dtype == root.dtype and address_of(made) == address_of(root)
    return made if same and made.strides == root.strides else None


def assign_shape(array: Any, shape: tuple[int, ...]) -> None:
    """Assign ``array.shape`` without the warning of newer versions of NumPy."""
    if hasattr(array, "_set_shape"):
        array._set_shape(shape)
    else:
        array.shape = shape


def owners_of(root: Array) -> list[Array]:
    """Return the arrays that count as owners of the memory: `root`, the array that it is a twin of,
    and so on to the real owner."""
    names, base = [root], root.base  # type: list[Array], Any
    while type(base) is Alias:
        names.append(base._array)
        base = base._array.base
    return names


def original_of(array: Array) -> Array:
    """Return the array that really owns the memory of `array`."""
    return owners_of(root_of(array))[-1]


def part_of(twin: Array, root: Array, array: Array) -> Array:
    """Return the alias of `array`, a view of `root`, in the memory of its twin."""
    if array is root and array.shape == twin.shape:  # its shape was not assigned
        return twin
    whole = twin if twin.flags.c_contiguous else twin.T
    offset = address_of(array) - address_of(root)
    return placed(array, whole, offset)


def as_writable_as(part: Array, array: Array) -> Array:
    """Make `part`, an alias of `array`, read-only if `array` is; return it."""
    if not array.flags.writeable:
        part.flags.writeable = False
    return part


def restore_form(array: Array, alias: Array) -> None:
    """Give `array` the shape and the flag that its alias was given meanwhile."""
    if alias.shape != array.shape:
        assign_shape(array, alias.shape)
    if alias.flags.writeable != array.flags.writeable:
        np.ndarray.setflags(array, write=alias.flags.writeable)


def placed(like: Array, memory: Any, offset: int) -> Array:
    """Return an array with the layout of `like` that begins `offset` bytes into `memory`."""
    return np.ndarray(like.shape, like.dtype, memory, offset if like.size else 0, like.strides)


def shadow_view(x: Array, memory: Any, offset: int) -> Array:
    """Return the part of `memory`, a shadow, that belongs to `x`, which begins `offset` bytes into
    its owner. The shadow of integers and booleans holds doubles."""
    if x.dtype.kind not in "iub":
        return placed(x, memory, offset)
    scale = _FLOAT64.itemsize // x.itemsize
    strides = tuple(step * scale for step in x.strides)
    return np.ndarray(x.shape, _FLOAT64, memory, offset * scale if x.size else 0, strides)


_FLOAT64 = np.dtype(float)


def is_seen_as_stored(array: Array, root: Array) -> bool:
    """Return whether a view of floats or complex numbers reads the memory of `root` as that stores
    it: the numbers of its elements, or one field of each."""
    if root.dtype.kind in "fc":
        return _same_numbers(array.dtype, root.dtype)
    if root.dtype.names is None:
        return False
    place = (address_of(array) - address_of(root)) % root.itemsize
    return any(
        place == offset and _same_numbers(array.dtype, field)
        for offset, field in _fields(root.dtype)
    )


def is_integer_field(array: Array, root: Array) -> bool:
    """Return whether a view reads integers or booleans from fields of `root` that do not overlap
    others: they are constants."""
    if array.dtype.kind not in "iub" or root.dtype.names is None:
        return False
    fields = [*_fields(root.dtype)]
    if sum(field.itemsize for _, field in fields) > root.itemsize:  # overlapping fields
        return False
    place = (address_of(array) - address_of(root)) % root.itemsize
    return any(place == offset and array.dtype == field for offset, field in fields)


def _same_numbers(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    return a is b or (a.char.lower() == b.char.lower() and a.byteorder == b.byteorder)


def _fields(dtype: np.dtype[Any]) -> Iterator[tuple[int, np.dtype[Any]]]:
    """Yield the offset and type of each number in an element."""
    if dtype.names is not None:
        for field, offset, *_ in (dtype.fields or {}).values():
            for inner, number in _fields(field):
                yield offset + inner, number
    elif dtype.subdtype is not None:
        part, shape = dtype.subdtype
        for i in range(math.prod(shape)):
            for inner, number in _fields(part):
                yield i * part.itemsize + inner, number
    else:
        yield 0, dtype


def address_of(array: Array) -> int:
    """Return the address of the first element."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def bounds_of(array: Array) -> tuple[int, int]:
    """Return the lowest address of an array and the address after its highest."""
    low = high = address_of(array)
    for n, stride in zip(array.shape, array.strides, strict=True):
        step = (n - 1) * stride
        low, high = (low + step, high) if step < 0 else (low, high + step)
    return low, high + array.itemsize


def names_twice(array: Array) -> bool:
    """Return whether elements of a view may share memory (`broadcast_to`, `as_strided`)."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    extent = array.itemsize
    for step, n in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if n > 1:
            if step < extent:
                return True
            extent += step * (n - 1)
    return False
