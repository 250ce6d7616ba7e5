"""Writes of a program to arrays of its caller.

The program writes to the arrays themselves, like the function, so that results that are one of them,
or a view of one, need no care. Their incoming contents are kept: if the program fails, they are put
back, and the generic tier runs the call from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.fast.not_covered import Deoptimize


class Incoming:
    """The contents of the arrays that a program is going to write to.

    Parameters
    ----------
    written
        The arrays that the program writes to.
    others
        The other arrays that it reads.

    Raises
    ------
    Deoptimize
        An array is read-only, or two of them share memory: a write shows in another array.
    """

    __slots__ = ("_arrays", "_contents")

    def __init__(self, written: Sequence[Any], others: Sequence[Any]) -> None:
        if not all(a.flags.writeable for a in written):
            raise Deoptimize("a write to an array that is read-only")
        for i, a in enumerate(written):
            if any(_share_memory(a, b) for b in (*written[:i], *others)) or _overlaps_itself(a):
                raise Deoptimize("a write to memory that two arrays share")
        self._arrays = written
        self._contents = [a.copy() for a in written]

    def put_back(self) -> None:
        """Give the arrays their incoming contents."""
        for a, content in zip(self._arrays, self._contents, strict=True):
            a[...] = content

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the incoming contents back for a further run of the function."""
        now = [a.copy() for a in self._arrays]
        self.put_back()
        try:
            yield
        finally:
            for a, content in zip(self._arrays, now, strict=True):
                a[...] = content

    def failed(self, failed: Callable[[Any], Any], error: Any) -> Any:
        """Put the incoming contents back and report the failure of a program."""
        self.put_back()
        return failed(error)


def _share_memory(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if a.base is None and b.base is None and a.flags.owndata and b.flags.owndata:
        return False
    return bool(np.may_share_memory(a, b))


def _overlaps_itself(a: Any) -> bool:
    """Return whether two elements of an array may share memory, as in a broadcast one."""
    return 0 in a.strides and a.size > 1
