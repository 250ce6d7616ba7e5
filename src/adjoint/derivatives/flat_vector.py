"""One vector of all numbers in a structure, and the inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.derivatives.tree_plan import Node, Path, found, is_variable, plan_of, rebuilt
from adjoint.errors import ArgumentError
from adjoint.rulekit.registry import non_differentiable


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
    layout = _layout(model)
    leaves = layout.leaves
    vector = np.concatenate([_reals(found(model, leaf.path)) for leaf in leaves.values()])
    vector = vector.astype(layout.dtype)

    def unflatten(vector: Any) -> Any:
        """Return the structure with these numbers."""
        if np.shape(vector) != (layout.size,):
            _refuse_shape(np.shape(vector), layout.size)

        def new(number: int, value: Any) -> Any:
            return _value_of(leaves[number], vector)

        return rebuilt(layout.root, new, model, (), {})

    return vector, unflatten


@dataclass(frozen=True)
class _Leaf:
    """A leaf and its range in the vector."""

    path: Path
    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: str | None
    is_complex: bool
    is_array: bool


@dataclass(frozen=True)
class _Layout:
    """The layout of a structure, without its numbers."""

    root: Node
    leaves: dict[int, _Leaf]
    size: int
    dtype: str


def _layout(model: Any) -> _Layout:
    root, plan = plan_of(model, (), is_variable, True)
    if not plan.leaves:
        raise ArgumentError(
            f"a {type(model).__name__} in which there are no floats in sight cannot be flattened",
            hint="integers are constants, and so is what sets hold",
        )
    leaves: dict[int, _Leaf] = {}
    size, dtypes = 0, []
    for number, path, value, _ in plan.leaves:
        is_complex = np.iscomplexobj(value)
        stop = size + int(np.size(value)) * (2 if is_complex else 1)
        dtype = value.dtype if isinstance(value, np.ndarray | np.generic) else None
        dtypes += [] if dtype is None else [dtype]
        leaves[number] = _Leaf(
            path,
            size,
            stop,
            np.shape(value),
            None if dtype is None else dtype.str,
            is_complex,
            isinstance(value, np.ndarray),
        )
        size = stop
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)
    return _Layout(root, leaves, size, np.empty(0, dtype).real.dtype.str)


def places(model: Any) -> Iterator[tuple[tuple[tuple[str, Any], ...], tuple[int, ...], str]]:
    """Yield path, index and, for a complex number, the part (``.real``, ``.imag``) of each number
    of the vector."""
    for leaf in _layout(model).leaves.values():
        path, value = leaf.path, found(model, leaf.path)
        for part in (".real", ".imag") if np.iscomplexobj(value) else ("",):
            for index in np.ndindex(np.shape(value)):
                yield path, index, part


def _refuse_shape(shape: Sequence[int], size: int) -> None:
    raise ArgumentError(
        f"the vector has shape {tuple(shape)}, the structure has {size} numbers",
        hint=f"give a vector of shape ({size},)",
    )


# ---- differentiated code -------------------------------------------------------------------------


def _reals(value: Any) -> Any:
    flat = np.ravel(value)
    return np.concatenate([np.real(flat), np.imag(flat)]) if np.iscomplexobj(flat) else flat


def _part_of(leaf: _Leaf, vector: Any) -> Any:
    """Return the numbers of a leaf as a vector."""
    if not leaf.is_complex:
        return vector[leaf.start : leaf.stop]
    middle = (leaf.start + leaf.stop) // 2
    return vector[leaf.start : middle] + 1j * vector[middle : leaf.stop]


def _value_of(leaf: _Leaf, vector: Any) -> Any:
    """Return the new value of a leaf."""
    if leaf.is_array:
        return np.reshape(_part_of(leaf, vector), leaf.shape).astype(leaf.dtype)
    if leaf.dtype is not None:
        return _part_of(leaf, vector).astype(leaf.dtype)[0]
    if leaf.is_complex:
        return complex(vector[leaf.start], vector[leaf.start + 1])
    return float(vector[leaf.start])


non_differentiable(_layout)
