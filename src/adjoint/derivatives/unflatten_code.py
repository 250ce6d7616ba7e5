"""The inverse of `flatten` as a straight function of the vector, written for one structure.

A function without loops and calls of its own is followed by each mode as fast as the code that one
would write by hand::

    def unflatten(vector):
        if np.ndim(vector) != 1 or np.size(vector) != 7:
            raise wrong_shape(np.shape(vector), 7)
        x2 = vector[0:6].reshape((2, 3)).astype('<f8')
        x3 = float(vector[6])
        x1 = {'w': x2, 'b': x3, 'n': 3}
        return x1

What is no number or text (classes, keys, constants of the structure) is captured, so nothing of a
structure is ever run as code.
"""

from __future__ import annotations

import copy
import linecache
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from adjoint.derivatives.tree_plan import Node, refuse_copy
from adjoint.errors import ArgumentError
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.python.plain_fields import is_made_of_fields, object_of
from adjoint.tangent import tangent_of


@dataclass(frozen=True)
class LeafPlace:
    """The range of a leaf in the vector, and what the leaf is.

    Attributes
    ----------
    dtype
        ``None`` for Python's numbers.
    """

    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: str | None
    is_complex: bool
    is_array: bool


def unflatten_function(root: Node, model: Any, places: dict[int, LeafPlace]) -> Callable[..., Any]:
    """Return the function that makes a structure like `model` of a vector."""
    writing = _Writing(root, places)
    result = writing.part(root, model)
    size = max(place.stop for place in places.values())
    lines = [
        f"if np.ndim(vector) != 1 or np.size(vector) != {size}:",
        f"    raise wrong_shape(np.shape(vector), {size})",
        *writing.lines,
        f"return {result}",
    ]
    names = ", ".join(f"k{i}" for i in range(len(writing.captured)))
    body = "\n".join(f"        {line}" for line in lines)
    text = f"def make({names}):\n    def unflatten(vector):\n{body}\n\n    return unflatten\n"
    made: Callable[..., Any] = _maker(text)(*writing.captured)
    return made


class _Writing:
    """The statements that make a structure."""

    def __init__(self, root: Node, places: dict[int, LeafPlace]) -> None:
        self.lines: list[str] = []
        self.captured: list[Any] = []
        self._places = places
        self._names: dict[int, str] = {}
        self._loops: set[int] = set()
        self._find_loops(root)

    def _find_loops(self, node: Node) -> bool:
        """Note the parts that contain themselves, or such a part."""
        inside = [self._find_loops(child) for _, child in node.children]
        if any(inside):
            self._loops.add(node.number)
        return node.kind == "again" or any(inside)

    def part(self, node: Node, value: Any) -> str:
        """Write the statements for a part; return the expression that gives it."""
        if node.kind == "constant" or (node.kind == "tuple" and not node.changes):
            return self._constant(value)
        if node.number in self._names:
            return self._names[node.number]
        name = f"x{node.number}"
        if node.kind == "leaf":
            self.lines.append(f"{name} = {_leaf(self._places[node.number])}")
        elif node.number in self._loops or not _is_simple(node.kind, value):
            self._copy(node, value, name)
        else:
            parts = [(key, self.part(child, _at(node, value, key))) for key, child in node.children]
            self.lines.append(f"{name} = {self._display(node.kind, value, parts)}")
        self._names[node.number] = name
        return name

    def _display(self, kind: str, value: Any, parts: list[tuple[Any, str]]) -> str:
        items = ", ".join(part for _, part in parts)
        if kind == "list":
            return f"[{items}]"
        if kind in ("dict", "tangent"):
            pairs = ", ".join(f"{self._constant(key)}: {part}" for key, part in parts)
            is_dict = kind == "dict"
            return (
                f"{{{pairs}}}" if is_dict else f"tangent_of({self._constant(value)}, {{{pairs}}})"
            )
        if kind == "tuple":
            is_named = hasattr(value, "_fields")
            one = "," * (len(parts) == 1)
            return f"{self._constant(type(value))}({items})" if is_named else f"({items}{one})"
        cls, names = self._constant(type(value)), tuple(key for key, _ in parts)
        return f"object_of({cls}, {names!r}, {items})"

    def _copy(self, node: Node, value: Any, name: str) -> None:
        """Write a copy whose parts are replaced one by one, for what may contain itself."""
        if node.kind in ("tuple", "tangent"):  # which cannot be changed
            parts = [(key, self.part(child, value[key])) for key, child in node.children]
            self.lines.append(f"{name} = {self._display(node.kind, value, parts)}")
            return
        if copy.copy(value) is value:
            refuse_copy(value)
        self._names[node.number] = name
        self.lines.append(f"{name} = copy({self._constant(value)})")
        for key, child in node.children:
            if child.kind == "constant":
                continue
            part, key_text = self.part(child, _at(node, value, key)), self._constant(key)
            is_object = node.kind == "object"
            put = f"set_field({name}, {key_text}, {part})" if is_object else ""
            self.lines.append(put or f"{name}[{key_text}] = {part}")

    def _constant(self, value: Any) -> str:
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        self.captured.append(value)
        return f"k{len(self.captured) - 1}"


def _at(node: Node, value: Any, key: Any) -> Any:
    return getattr(value, key) if node.kind == "object" else value[key]


def _is_simple(kind: str, value: Any) -> bool:
    """Return whether a part is made again by a display, or of its fields."""
    if kind in ("tuple", "tangent"):
        return True
    return type(value) in (list, dict) or (kind == "object" and is_made_of_fields(value))


def _leaf(place: LeafPlace) -> str:
    """Return the expression that reads a leaf."""
    start, stop = place.start, place.stop
    part = f"vector[{start}:{stop}]"
    if place.is_complex:
        middle = (start + stop) // 2
        part = f"(vector[{start}:{middle}] + 1j * vector[{middle}:{stop}])"
    if place.is_array:
        return f"{part}.reshape({place.shape!r}).astype({place.dtype!r})"
    if place.dtype is not None:
        return f"{part}.astype({place.dtype!r})[0]"
    if place.is_complex:
        return f"complex(vector[{start}], vector[{start + 1}])"
    return f"float(vector[{start}])"


def wrong_shape(shape: tuple[int, ...], size: int) -> ArgumentError:
    """Return the error for a vector of another shape."""
    return ArgumentError(
        f"the vector has shape {tuple(shape)}, the structure has {size} numbers",
        hint=f"give a vector of shape ({size},)",
    )


non_differentiable(wrong_shape)

_NAMES = {
    "__name__": __name__,
    "np": np,
    "copy": copy.copy,
    "object_of": object_of,
    "set_field": object.__setattr__,
    "tangent_of": tangent_of,
    "wrong_shape": wrong_shape,
}


@lru_cache(256)
def _maker(text: str) -> Any:
    filename = f"<unflatten {len(text)}-{zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = dict(_NAMES)
    exec(compile(text, filename, "exec", dont_inherit=True), scope)
    return scope["make"]
