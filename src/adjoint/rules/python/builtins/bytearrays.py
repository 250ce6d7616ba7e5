"""In-place methods of byte arrays: arrays may alias the bytes, so overwritten bytes are logged."""

from __future__ import annotations

import operator
from typing import Any

from adjoint.rulekit.registry import structural, substitute
from adjoint.runtime.memory.log_entries import swap_bytes
from adjoint.runtime.memory.memory import Memory

_READ_BY_C = frozenset({bytes, bytearray, memoryview, list, tuple, range, int, str})
"""Types of values that C reads without running an iterator of user code."""


def _changed(
    memory: Memory, xs: Any, name: str, operands: tuple[Any, ...], start: int, stop: int
) -> Any:
    """Call a method that changes only ``xs[start:stop]``; return its value and pullback."""
    size = bytearray.__len__(xs)
    saved = bytes(bytearray.__getitem__(xs, slice(start, stop)))
    y = getattr(bytearray, name)(xs, *operands)
    if memory.level is not None:
        _note_on_level(memory.level, xs, start, stop, saved)
    position = memory.note(swap_bytes, xs, start, stop + bytearray.__len__(xs) - size, saved)

    def changed_back(_: Any) -> tuple[None, ...]:
        memory.rewind(position)
        return (None,) * (len(operands) + 2)

    return y, changed_back


def _note_on_level(level: Any, xs: Any, start: int, stop: int, saved: bytes) -> None:
    """Note a change on a level. If the size has changed, no array aliases the bytes."""
    if bytearray.__len__(xs) >= stop and len(saved) == stop - start:
        place = slice(start, stop)
        level.note_bytes_changed(
            lambda held: bytearray.__setitem__(xs, place, held),
            saved,
            bytes(bytearray.__getitem__(xs, place)),
        )


def _range_of(xs: Any, index: Any) -> tuple[int, int]:
    """Return the bounds of ``xs[index]``, or of `xs` if that is absent or not contiguous."""
    size = bytearray.__len__(xs)
    if isinstance(index, slice):
        start, stop, step = index.indices(size)
        return (start, max(start, stop)) if step == 1 else (0, size)
    place = operator.index(index) if hasattr(type(index), "__index__") else size
    if not -size <= place < size:
        return 0, size
    return place % size, place % size + 1


@structural((bytearray, "__setitem__"))
def _(memory: Memory, xs: Any, index: Any, values: Any, /) -> Any:
    if isinstance(index, slice) and type(values) not in _READ_BY_C:
        return NotImplemented
    return _changed(memory, xs, "__setitem__", (index, values), *_range_of(xs, index))


@substitute((bytearray, "__setitem__"))
def _(xs: Any, index: Any, values: Any, /) -> None:
    bytearray.__setitem__(xs, index, list(values))


@structural((bytearray, "__delitem__"))
def _(memory: Memory, xs: Any, index: Any, /) -> Any:
    return _changed(memory, xs, "__delitem__", (index,), *_range_of(xs, index))


@structural((bytearray, "extend"))
def _(memory: Memory, xs: Any, values: Any, /) -> Any:
    if type(values) not in _READ_BY_C:
        return NotImplemented
    size = bytearray.__len__(xs)
    return _changed(memory, xs, "extend", (values,), size, size)


@substitute((bytearray, "extend"))
def _(xs: Any, values: Any, /) -> None:
    bytearray.extend(xs, list(values))


def _at_the_end(name: str) -> None:
    @structural((bytearray, name))
    def run(memory: Memory, xs: Any, value: Any, /) -> Any:
        size = bytearray.__len__(xs)
        return _changed(memory, xs, name, (value,), size, size)


def _anywhere(name: str) -> None:
    @structural((bytearray, name))
    def run(memory: Memory, xs: Any, /, *operands: Any) -> Any:
        return _changed(memory, xs, name, operands, 0, bytearray.__len__(xs))


for _name in ("append", "__iadd__"):
    _at_the_end(_name)
for _name in ("__imul__", "clear", "insert", "pop", "remove", "reverse"):
    _anywhere(_name)
