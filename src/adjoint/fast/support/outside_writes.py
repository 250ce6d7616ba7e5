"""Writes of a program to arrays, containers and objects of its caller.

The program writes to arrays themselves, like the function, so that results that are one of them, or
a view of one, need no care. Their incoming contents are kept: if the program fails, they are put
back, and the generic tier runs the call from its beginning. What the program stores in containers
and objects is written to them at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.fast.not_covered import Deoptimize
from adjoint.primal.array_memory import names_twice


class Incoming:
    """The contents of what a program is going to write to.

    Parameters
    ----------
    arrays
        The arrays that the program writes to, and the generators of random numbers that it uses.
    other_arrays
        The other arrays that it reads.
    containers
        The lists, dicts and objects that it changes.
    other_containers
        The others that it reads.

    Raises
    ------
    Deoptimize
        An array is read-only, or something written to shows in something else: two arrays share
        memory, or two containers are one.
    """

    __slots__ = ("_all", "_arrays", "_contents")

    def __init__(
        self,
        arrays: Sequence[Any],
        other_arrays: Sequence[Any],
        containers: Sequence[Any],
        other_containers: Sequence[Any],
    ) -> None:
        of_numbers = [a for a in arrays if isinstance(a, np.ndarray)]
        if not all(a.flags.writeable for a in of_numbers):
            raise Deoptimize("a write to an array that is read-only")
        for i, a in enumerate(of_numbers):
            if any(_share_memory(a, b) for b in (*of_numbers[:i], *other_arrays)):
                raise Deoptimize("a write to memory that two arrays share")
            if a.base is not None and names_twice(a):
                raise Deoptimize("a write to memory that elements of an array share")
        seen = {*map(id, containers), *map(id, other_containers)}
        if len(seen) != len(containers) + len(other_containers):
            raise Deoptimize("a write to a container that is given twice")
        self._arrays, self._all = arrays, (*arrays, *containers)
        self._contents = [*map(_content, self._all)]

    def put_back(self) -> None:
        """Give the arrays their incoming contents."""
        for a, content in zip(self._arrays, self._contents, strict=False):
            _set_content(a, content)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put all incoming contents back for a further run of the function."""
        now = [*map(_content, self._all)]
        try:
            for x, content in zip(self._all, self._contents, strict=True):
                _set_content(x, content)
            yield
        finally:
            for x, content in zip(self._all, now, strict=True):
                _set_content(x, content)

    def failed(self, failed: Callable[[Any], Any], error: Any) -> Any:
        """Put the incoming contents back and report the failure of a program."""
        self.put_back()
        return failed(error)


def _share_memory(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(b) is list:
        return False
    if a.base is None and b.base is None and a.flags.owndata and b.flags.owndata:
        return False
    return bool(np.may_share_memory(a, b))


def _is_generator(x: Any) -> bool:
    return type(x).__module__ in ("numpy.random._generator", "numpy.random.mtrand")


def _content(x: Any) -> Any:
    if _is_generator(x):
        is_legacy = hasattr(x, "get_state")
        return x.get_state(legacy=False) if is_legacy else x.bit_generator.state
    return x.copy() if isinstance(x, np.ndarray | list | dict) else vars(x).copy()


def _set_content(x: Any, content: Any) -> None:
    if isinstance(x, np.ndarray):
        x[...] = content
    elif isinstance(x, list):
        x[:] = content
    elif hasattr(x, "set_state"):
        x.set_state(content)
    elif _is_generator(x):
        x.bit_generator.state = content
    else:
        fields = x if isinstance(x, dict) else vars(x)
        fields.clear()
        fields.update(content)


def new_object(cls: Any, fields: dict[str, Any]) -> Any:
    """Return an object of a user class with these fields."""
    made = object.__new__(cls)
    vars(made).update(fields)
    return made
