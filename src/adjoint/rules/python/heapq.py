"""Substitutes for `heapq`, in the steps of the C functions, so that heaps have the same layout."""

from __future__ import annotations

import heapq
from typing import Any

from adjoint.rulekit.registry import non_differentiable, substitute


def _push(heap: Any, item: Any, largest: bool) -> None:
    heap.append(item)
    _rise(heap, 0, len(heap) - 1, largest)


def _pop(heap: Any, largest: bool) -> Any:
    last = heap.pop()
    return _replace(heap, last, largest) if heap else last


def _replace(heap: Any, item: Any, largest: bool) -> Any:
    first = heap[0]
    heap[0] = item
    _sink(heap, 0, largest)
    return first


def _push_pop(heap: Any, item: Any, largest: bool) -> Any:
    return _replace(heap, item, largest) if heap and _before(heap[0], item, largest) else item


def _heapify(heap: Any, largest: bool) -> None:
    for place in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, place, largest)


def _before(a: Any, b: Any, largest: bool) -> Any:
    return b < a if largest else a < b


def _rise(heap: Any, top: int, place: int, largest: bool) -> None:
    """Move the item at `place` towards `top` until its parent comes before it."""
    item = heap[place]
    while place > top:
        parent = (place - 1) // 2
        if not _before(item, heap[parent], largest):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def _sink(heap: Any, place: int, largest: bool) -> None:
    """Move the item at `place` down to a leaf, then up to where it belongs."""
    top, item, end = place, heap[place], len(heap)
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not _before(heap[child], heap[child + 1], largest):
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = item
    _rise(heap, top, place, largest)


def _check(function: str, heap: Any, *item: Any) -> None:
    if not isinstance(heap, list):
        getattr(heapq, function)(heap, *item)  # Python's own message


non_differentiable(_check)


def _register(largest: bool, *names: str) -> None:
    """Register the functions that this version of Python has."""
    push_name, pop_name, replace_name, push_pop_name, heapify_name = names

    def push(heap: Any, item: Any, /) -> None:
        _check(push_name, heap, item)
        _push(heap, item, largest)

    def pop(heap: Any, /) -> Any:
        _check(pop_name, heap)
        return _pop(heap, largest)

    def replace(heap: Any, item: Any, /) -> Any:
        _check(replace_name, heap, item)
        return _replace(heap, item, largest)

    def push_pop(heap: Any, item: Any, /) -> Any:
        _check(push_pop_name, heap, item)
        return _push_pop(heap, item, largest)

    def heapify(heap: Any, /) -> None:
        _check(heapify_name, heap)
        _heapify(heap, largest)

    functions: tuple[Any, ...] = (push, pop, replace, push_pop, heapify)
    for name, function in zip(names, functions, strict=True):
        if hasattr(heapq, name):
            substitute(getattr(heapq, name))(function)


_register(False, "heappush", "heappop", "heapreplace", "heappushpop", "heapify")
_register(True, "heappush_max", "heappop_max", "heapreplace_max", "heappushpop_max", "heapify_max")
_register(
    True, "_heappush_max", "_heappop_max", "_heapreplace_max", "_heappushpop_max", "_heapify_max"
)
