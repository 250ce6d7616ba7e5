"""One vector of all numbers in a structure, and the inverse."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.primal.value_kinds import is_objects, is_plain_object
from adjoint.rulekit.registry import non_differentiable
from adjoint.runtime.leaves import object_fields


def flatten(model: Any, /) -> tuple[Any, Callable[[Any], Any]]:
    """All numbers in a structure as one real vector, and the inverse.

    Both directions are differentiable: ``minimize(value_and_grad(lambda v: loss(unflatten(v))),
    vector, jac=True)`` fits any model by SciPy.

    Parameters
    ----------
    model
        Floats, complex numbers and arrays of them in lists, tuples, dicts and objects, nested to
        any depth. Integers, booleans, text and functions are constants.

    Returns
    -------
    vector : array, shape (n,)
        The numbers in the order of the structure, each array in C order; an object that occurs
        twice appears once. A complex array gives its real parts, then its imaginary parts. A copy,
        of double precision unless all arrays are of a lower one.
    unflatten : callable
        Makes a new structure of a vector: containers and objects are copies, with arrays of the old
        shapes and dtypes and plain floats. Constants are shared, and an object that occurred twice
        occurs twice again.

    Raises
    ------
    ArgumentError
        There are no floats or complex numbers, or a vector of another shape is given.

    Examples
    --------
    >>> vector, unflatten = flatten({"w": np.array([[1.0, 2.0]]), "b": 3.0, "n": 7})
    >>> vector
    array([1., 2., 3.])
    >>> unflatten(2 * vector)
    {'w': array([[2., 4.]]), 'b': 6.0, 'n': 7}
    """
    plan = _plan(model)
    vector = np.concatenate([_reals(_found(model, path)) for path in plan.paths])
    vector = vector.astype(plan.dtype)

    def unflatten(vector: Any) -> Any:
        """Return the structure with these numbers."""
        if np.shape(vector) != (plan.size,):
            _refuse_shape(np.shape(vector), plan.size)
        return _made(plan.root, model, vector, {})

    return vector, unflatten


@dataclass(frozen=True)
class _Node:
    """A part of the structure: a leaf with its range in the vector, or a container with parts."""

    kind: str
    number: int
    children: tuple[tuple[Any, _Node], ...] = ()
    start: int = 0
    stop: int = 0
    shape: tuple[int, ...] = ()
    dtype: str | None = None

    @property
    def is_complex(self) -> bool:
        """Return whether a leaf has imaginary parts."""
        return self.kind == "complex" or (self.dtype is not None and self.dtype[1] == "c")


@dataclass(frozen=True)
class _Plan:
    """The layout of a structure, without its numbers."""

    root: _Node
    paths: list[tuple[tuple[str, Any], ...]]
    size: int
    dtype: str


class _Planner:
    """Makes a plan; numbers the parts, because they may occur twice."""

    def __init__(self) -> None:
        self.paths: list[tuple[tuple[str, Any], ...]] = []
        self.size = 0
        self.dtypes: list[Any] = []
        self._known: dict[int, _Node] = {}
        self._open: dict[int, int] = {}
        self._count = 0

    def node(self, value: Any, path: tuple[tuple[str, Any], ...]) -> _Node:
        if isinstance(value, float) and not isinstance(value, np.generic):
            return self._leaf("number", value, path)
        if isinstance(value, complex) and not isinstance(value, np.generic):
            return self._leaf("complex", value, path)
        if id(value) in self._known:
            return self._known[id(value)]
        if id(value) in self._open:
            return _Node("again", self._open[id(value)])
        if isinstance(value, np.ndarray | np.generic) and not is_objects(value):
            if value.dtype.kind not in "fc":
                return _Node("constant", -1)
            found = self._leaf("array" if isinstance(value, np.ndarray) else "scalar", value, path)
        else:
            found = self._container(value, path)
        self._known[id(value)] = found
        return found

    def _leaf(self, kind: str, value: Any, path: tuple[tuple[str, Any], ...]) -> _Node:
        self.paths.append(path)
        count = int(np.size(value)) * (2 if np.iscomplexobj(value) else 1)
        start, self.size = self.size, self.size + count
        dtype = getattr(value, "dtype", None)
        self.dtypes.append(dtype)
        return _Node(
            kind, self._next(), (), start, self.size, np.shape(value), getattr(dtype, "str", None)
        )

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _container(self, value: Any, path: tuple[tuple[str, Any], ...]) -> _Node:
        parts: dict[Any, Any]
        if isinstance(value, list | tuple | deque):
            kind, step = "tuple" if isinstance(value, tuple) else "list", "[]"
            parts = dict(enumerate(value))
        elif isinstance(value, dict):
            kind, step, parts = "dict", "[]", value
        elif is_objects(value):
            kind, step, parts = "array of objects", "[]", dict(np.ndenumerate(value))
        elif is_plain_object(value):
            kind, step, parts = "object", ".", object_fields(value)
        else:
            return _Node("constant", -1)
        number = self._open[id(value)] = self._next()
        before = self.size
        nodes = [(key, self.node(part, (*path, (step, key)))) for key, part in parts.items()]
        del self._open[id(value)]
        again = any(node.kind != "constant" for _, node in nodes)
        if self.size == before and not again:
            return _Node("constant", -1)
        return _Node(kind, number, tuple(nodes))


def _plan(model: Any) -> _Plan:
    planner = _Planner()
    root = planner.node(model, ())
    if not planner.paths:
        raise ArgumentError(
            f"a {type(model).__name__} in which there are no floats in sight cannot be flattened",
            hint="integers are constants, and so is what sets hold",
        )
    dtypes = [dtype for dtype in planner.dtypes if dtype is not None]
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)
    return _Plan(root, planner.paths, planner.size, np.empty(0, dtype).real.dtype.str)


def places(model: Any) -> Iterator[tuple[tuple[tuple[str, Any], ...], tuple[int, ...], str]]:
    """Yield path, index and, for a complex number, the part (``.real``, ``.imag``) of each number
    of the vector."""
    for path in _plan(model).paths:
        value = _found(model, path)
        for part in (".real", ".imag") if np.iscomplexobj(value) else ("",):
            for index in np.ndindex(np.shape(value)):
                yield path, index, part


def _refuse_shape(shape: Sequence[int], size: int) -> None:
    raise ArgumentError(
        f"the vector has shape {tuple(shape)}, the structure has {size} numbers",
        hint=f"give a vector of shape ({size},)",
    )


# ---- differentiated code -------------------------------------------------------------------------


def _found(value: Any, path: tuple[tuple[str, Any], ...]) -> Any:
    for kind, key in path:
        value = value[key] if kind == "[]" else getattr(value, key)
    return value


def _reals(value: Any) -> Any:
    flat = np.ravel(value)
    return np.concatenate([np.real(flat), np.imag(flat)]) if np.iscomplexobj(flat) else flat


def _part_of(node: _Node, vector: Any) -> Any:
    """Return the numbers of a leaf as a vector."""
    if not node.is_complex:
        return vector[node.start : node.stop]
    middle = (node.start + node.stop) // 2
    return vector[node.start : middle] + 1j * vector[middle : node.stop]


def _made(node: _Node, value: Any, vector: Any, made: dict[int, Any]) -> Any:
    """Return the new part in the place of `value`."""
    if node.kind == "constant":
        return value
    if node.number in made:
        return made[node.number]
    if node.kind == "number":
        return float(vector[node.start])
    if node.kind == "complex":
        return complex(vector[node.start], vector[node.start + 1])
    if node.kind == "array":
        array = np.reshape(_part_of(node, vector), node.shape).astype(node.dtype)
        made[node.number] = array
        return array
    if node.kind == "scalar":
        return _part_of(node, vector).astype(node.dtype)[0]
    if node.kind == "tuple":
        parts = [_made(child, value[key], vector, made) for key, child in node.children]
        y = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        made[node.number] = y
        return y
    return _copied(node, value, vector, made)


def _copied(node: _Node, value: Any, vector: Any, made: dict[int, Any]) -> Any:
    y = copy.copy(value)
    made[node.number] = y
    for key, child in node.children:
        if node.kind == "object":
            if child.kind != "constant":
                object.__setattr__(y, key, _made(child, getattr(value, key), vector, made))
        else:
            y[key] = _made(child, value[key], vector, made)
    return y


non_differentiable(_plan)
