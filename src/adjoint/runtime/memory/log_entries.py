"""Entries of the log of writes.

An entry is a list whose first element is its swap function, which exchanges the current contents
with the overwritten ones. Where possible the exchange is one line without calls, so that an
interrupt comes before or after it, and the entry tells which (`adjoint.runtime.memory.undo_log`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from adjoint.primal.array_memory import note_flag_change, root_of
from adjoint.primal.container_contents import ABSENT, base_of


def swap_slice(entry: list[Any]) -> None:
    """``[swap, xs, start, stop, saved]``: ``xs[start:stop]`` of a list."""
    _, xs, start, stop, saved = entry
    part, end = slice(start, stop), start + len(saved)
    current = list.__getitem__(xs, part)
    if type(xs) is list:
        xs[part], entry[3], entry[4] = saved, end, current
    else:
        list.__setitem__(xs, part, saved); entry[3:] = end, current  # fmt: skip  # noqa: E702


def swap_item(entry: list[Any]) -> None:
    """``[swap, mapping, key, saved]``: one key of a dict; `ABSENT` for a missing key.

    A restored key becomes the last one. A sweep reads rewound memory by key only, and the replay
    restores the order. A weak key disappears when its referent is freed.
    """
    _, mapping, key, saved = entry
    current = dict.get(mapping, key, ABSENT)
    if type(mapping) is dict:
        if saved is not ABSENT:
            mapping[key], entry[3] = saved, current
        elif current is not ABSENT:
            del mapping[key]; entry[3] = current  # fmt: skip  # noqa: E702
        return
    base = base_of(mapping)
    if saved is not ABSENT:
        base.__setitem__(mapping, key, saved); entry[3] = current  # fmt: skip  # noqa: E702
    elif current is not ABSENT:
        base.__delitem__(mapping, key); entry[3] = current  # fmt: skip  # noqa: E702


def swap_end(entry: list[Any]) -> None:
    """``[swap, push, pop, saved]``: one end of a list or deque; `ABSENT` for no element."""
    _, push, pop, saved = entry
    if saved is not ABSENT:
        push(saved); entry[3] = ABSENT  # fmt: skip  # noqa: E702
        return
    owner = getattr(pop, "__self__", None)
    if type(owner) is list or type(owner) is deque:
        end = 0 if pop.__name__ == "popleft" else -1
        current = owner[end]
        del owner[end]; entry[3] = current  # fmt: skip  # noqa: E702
    else:
        entry[3] = pop()


def swap_cell(entry: list[Any]) -> None:
    """``[swap, cell, saved]``: the contents of a cell."""
    _, cell, saved = entry
    try:
        current = cell.cell_contents
    except ValueError:
        current = ABSENT
    if saved is ABSENT:
        del cell.cell_contents; entry[2] = current  # fmt: skip  # noqa: E702
    else:
        cell.cell_contents, entry[2] = saved, current


def swap_slot(entry: list[Any]) -> None:
    """``[swap, descriptor, obj, saved]``: a slot attribute."""
    _, descriptor, obj, saved = entry
    try:
        entry[3] = descriptor.__get__(obj)
    except AttributeError:
        entry[3] = ABSENT
    _put_slot(descriptor, obj, saved)


def _put_slot(descriptor: Any, obj: Any, saved: Any) -> None:
    if saved is not ABSENT:
        descriptor.__set__(obj, saved)
    else:
        with suppress(AttributeError):  # nested operations may log the same deletion twice
            descriptor.__delete__(obj)


def swap_array(entry: list[Any]) -> None:
    """``[swap, array, index, saved]``: ``array[index]``."""
    _, array, index, saved = entry
    current = array[index]
    if type(current) is not np.float64:
        current = current.copy() if isinstance(current, np.ndarray) else current
    try:
        array[index], entry[3] = saved, current
    except ValueError:
        put(array, index, saved); entry[3] = current  # fmt: skip  # noqa: E702


def swap_objects(entry: list[Any]) -> None:
    """``[swap, array, index, saved]``: the references in the array ``array[index]``."""
    _, array, index, saved = entry
    current = array[index].copy()
    try:
        array[index], entry[3] = saved, current
    except ValueError:
        put(array, index, saved); entry[3] = current  # fmt: skip  # noqa: E702


def swap_contents(entry: list[Any]) -> None:
    """``[swap, array, saved]``: all of an array."""
    _, array, saved = entry
    current = array.copy()
    try:
        array[...], entry[2] = saved, current
    except ValueError:
        put(array, ..., saved); entry[2] = current  # fmt: skip  # noqa: E702


def put(array: np.ndarray[Any, Any], index: Any, value: Any) -> None:
    """Assign ``array[index] = value``, even if the array has become read-only since its write."""
    with writable(array):
        array[index] = value


@contextmanager
def writable(array: np.ndarray[Any, Any]) -> Iterator[None]:
    """Make an array and its owner writable within a ``with`` statement."""
    root = root_of(array)
    locked = [x for x in (root, array) if not x.flags.writeable]
    note_flag_change(root)
    for x in locked:
        np.ndarray.setflags(x, write=True)
    try:
        yield
    finally:
        for x in reversed(locked):
            np.ndarray.setflags(x, write=False)


def swap_with(entry: list[Any]) -> None:
    """``[swap, undo, redo]``: any other write; the two functions are called alternately."""
    entry[1]()
    entry[1], entry[2] = entry[2], entry[1]


def complete(entry: list[Any], before: list[Any]) -> bool:
    """Return whether the interrupted swap of `entry`, a copy of which is `before`, was made.

    A swap that may be half made, and that can safely be repeated, is completed first.
    """
    if entry[0] is swap_with:
        if entry[1] is before[1]:
            swap_with(entry)
        return True
    is_made = any(a is not b for a, b in zip(entry, before, strict=True))
    if is_made and entry[0] is swap_slot:
        _put_slot(*before[1:])
    return is_made
