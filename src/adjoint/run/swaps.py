"""Entries of the log of writes: each is a list that begins with a function of it, which exchanges
what is there with what was overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.run.contents import ABSENT, base_of
from adjoint.run.views import root_of, tell_twin

__all__ = [
    "Swap",
    "put",
    "swap_array",
    "swap_bytes",
    "swap_cell",
    "swap_contents",
    "swap_end",
    "swap_item",
    "swap_objects",
    "swap_slice",
    "swap_slot",
    "swap_with",
    "writable",
]


def swap_slice(entry: list[Any]) -> None:
    """``[swap, xs, start, stop, saved]``: ``xs[start:stop]`` of a list."""
    _, xs, start, stop, saved = entry
    entry[4] = list.__getitem__(xs, slice(start, stop))
    list.__setitem__(xs, slice(start, stop), saved)
    entry[3] = start + len(saved)


def swap_bytes(entry: list[Any]) -> None:
    """``[swap, xs, start, stop, saved]``: ``xs[start:stop]`` of a byte array."""
    _, xs, start, stop, saved = entry
    entry[4] = bytes(bytearray.__getitem__(xs, slice(start, stop)))
    bytearray.__setitem__(xs, slice(start, stop), saved)
    entry[3] = start + len(saved)


def swap_item(entry: list[Any]) -> None:
    """``[swap, mapping, key, saved]``: one key of a dict; `ABSENT` for a key that is not there.

    A key that comes back is the last one. Rewound memory is read by key only, and the writes that
    follow are made again before anyone sees the order. What a weak key referred to may have gone,
    and the key with it.
    """
    _, mapping, key, saved = entry
    base = dict if type(mapping) is dict else base_of(mapping)
    entry[3] = dict.get(mapping, key, ABSENT)
    if saved is not ABSENT:
        base.__setitem__(mapping, key, saved)
    elif entry[3] is not ABSENT:
        base.__delitem__(mapping, key)


def swap_end(entry: list[Any]) -> None:
    """``[swap, push, pop, saved]``: one end of a deque; `ABSENT`: nothing was there."""
    _, push, pop, saved = entry
    if saved is ABSENT:
        entry[3] = pop()
    else:
        push(saved)
        entry[3] = ABSENT


def swap_cell(entry: list[Any]) -> None:
    """``[swap, cell, saved]``: the contents of a cell."""
    _, cell, saved = entry
    try:
        entry[2] = cell.cell_contents
    except ValueError:
        entry[2] = ABSENT
    if saved is ABSENT:
        del cell.cell_contents
    else:
        cell.cell_contents = saved


def swap_slot(entry: list[Any]) -> None:
    """``[swap, descriptor, obj, saved]``: an attribute in a slot."""
    _, descriptor, obj, saved = entry
    try:
        entry[3] = descriptor.__get__(obj)
    except AttributeError:
        entry[3] = ABSENT
    if saved is not ABSENT:
        descriptor.__set__(obj, saved)
    elif entry[3] is not ABSENT:  # it may be logged twice, by an operation within another
        descriptor.__delete__(obj)


def swap_array(entry: list[Any]) -> None:
    """``[swap, array, index, saved]``: ``array[index]``."""
    _, array, index, saved = entry
    current = array[index]
    entry[3] = current if type(current) is np.float64 else _copied(current)
    try:
        array[index] = saved
    except ValueError:
        put(array, index, saved)


def _copied(part: Any) -> Any:
    return part.copy() if isinstance(part, np.ndarray) else part


def swap_objects(entry: list[Any]) -> None:
    """``[swap, array, index, saved]``: the references in ``array[index]``, which is an array."""
    _, array, index, saved = entry
    entry[3] = array[index].copy()
    try:
        array[index] = saved
    except ValueError:
        put(array, index, saved)


def swap_contents(entry: list[Any]) -> None:
    """``[swap, array, saved]``: all of an array."""
    _, array, saved = entry
    entry[2] = array.copy()
    try:
        array[...] = saved
    except ValueError:
        put(array, ..., saved)


def put(array: np.ndarray[Any, Any], index: Any, value: Any) -> None:
    """``array[index] = value`` of an array that may have been made read-only since it was
    written."""
    with writable(array):
        array[index] = value


@contextmanager
def writable(array: np.ndarray[Any, Any]) -> Iterator[None]:
    """Let an array be written that may have been made read-only since."""
    root = root_of(array)
    locked = [x for x in (root, array) if not x.flags.writeable]
    tell_twin(root)
    for x in locked:
        np.ndarray.setflags(x, write=True)
    try:
        yield
    finally:
        for x in reversed(locked):
            np.ndarray.setflags(x, write=False)


def swap_with(entry: list[Any]) -> None:
    """``[swap, undo, redo]``: anything else, by two functions that take turns."""
    entry[1]()
    entry[1], entry[2] = entry[2], entry[1]


Swap = Callable[[list[Any]], None]
