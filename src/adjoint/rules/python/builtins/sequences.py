"""Structural rules of lists, tuples and deques that are made of elements of others.

The cotangent of a container is its shadow, a list of the same length in ``memory``. The pullback
of an operation that changes a list makes the inverse change in the shadow.

A rule calls the methods of the base class, as C does: an override may be the caller.
"""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from adjoint.primal.container_contents import size_of
from adjoint.rulekit.registry import non_differentiable, structural, substitute
from adjoint.runtime.memory.memory import Memory

for _kind, _names in (
    (list, "index count __contains__ __len__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__"),
    (tuple, "index count __contains__ __len__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__"),
    (tuple, "__hash__"),
    (deque, "index count __contains__ __len__"),
    (range, "index count __len__"),
):
    for _name in _names.split():
        non_differentiable((_kind, _name))


def _base(xs: Any) -> Any:
    """Return the builtin base class of `xs`."""
    return list if isinstance(xs, list) else tuple if isinstance(xs, tuple) else deque


def _moved(memory: Memory, y: Any, origins: list[tuple[Any, int]], n: int) -> tuple[Any, Any]:
    """Return `y`, whose element i is element ``origins[i][1]`` of ``origins[i][0]``, and the
    pullback of a function of `n` operands.
    """

    def moved_back(_: Any) -> tuple[None, ...]:
        shadow = memory.shadows.pop(id(y), None)
        if shadow is not None:
            for origin, bar in zip(origins, shadow, strict=True):
                memory.add_item(*origin, bar)
        return (None,) * (n + 1)

    return y, moved_back


@structural((list, "__add__"), (tuple, "__add__"))
def _(memory: Memory, a: Any, b: Any) -> Any:
    kind = _base(a)
    if not isinstance(b, kind):
        return NotImplemented, None  # the method of the other is called, or Python raises
    y = kind.__add__(a, b)
    return _moved(memory, y, [(xs, i) for xs in (a, b) for i in range(size_of(xs))], 2)


@structural((list, "__mul__"), (tuple, "__mul__"), (list, "__rmul__"), (tuple, "__rmul__"))
def _(memory: Memory, a: Any, k: Any) -> Any:
    if not hasattr(type(k), "__index__"):
        return NotImplemented, None
    y = _base(a).__mul__(a, k)
    return _moved(memory, y, [(a, i) for i in range(size_of(a))] * max(operator.index(k), 0), 2)


@structural((list, "__getitem__"), (tuple, "__getitem__"), (deque, "__getitem__"))
def _(memory: Memory, a: Any, index: Any) -> Any:
    y = _base(a).__getitem__(a, index)
    places = range(size_of(a))[index]
    if isinstance(index, slice):
        return _moved(memory, y, [(a, i) for i in places], 2)

    def item_back(y_bar: Any) -> tuple[None, ...]:
        memory.add_item(a, places, y_bar)
        return None, None, None

    return y, item_back


@structural((list, "copy"), (deque, "copy"), (deque, "__copy__"))
def _(memory: Memory, a: Any) -> Any:
    if isinstance(a, deque) and type(a) is not deque:
        return NotImplemented
    return _moved(memory, _base(a).copy(a), [(a, i) for i in range(size_of(a))], 1)


@substitute((list, "__iadd__"), (deque, "__iadd__"))
def _(xs: Any, values: Any) -> Any:
    _base(xs).extend(xs, values)
    return xs
