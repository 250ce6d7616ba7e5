"""One vector of all numbers in a structure, and the inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.derivatives.tree_plan import Node, Path, found, is_variable, plan_of
from adjoint.derivatives.unflatten_code import LeafPlace, unflatten_function
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
        occurs twice again. It pickles, if the structure does.

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
    vector = np.concatenate([_reals(found(model, path)) for path in layout.paths.values()])
    return vector.astype(layout.dtype), _unflatten_of(layout, model)


class Unflatten:
    """Makes a structure of a vector: the second result of `flatten`.

    It pickles with the structure.
    """

    def __init__(self, model: Any, size: int, make: Callable[[Any], Any]) -> None:
        self._model, self._size, self._make = model, size, make

    def __call__(self, vector: Any) -> Any:
        """Return the structure with these numbers."""
        return self._make(vector)

    def __repr__(self) -> str:
        return f"<unflatten: {self._size} numbers to a {type(self._model).__name__}>"

    def __reduce__(self) -> Any:
        return _of_model, (self._model,)


def _of_model(model: Any) -> Unflatten:
    return _unflatten_of(_layout(model), model)


def _unflatten_of(layout: _Layout, model: Any) -> Unflatten:
    make = unflatten_function(layout.root, model, layout.places)
    return Unflatten(model, layout.size, make)


@dataclass(frozen=True)
class _Layout:
    """The layout of a structure, without its numbers."""

    root: Node
    paths: dict[int, Path]
    places: dict[int, LeafPlace]
    size: int
    dtype: str


def _layout(model: Any) -> _Layout:
    root, plan = plan_of(model, (), is_variable, True)
    if not plan.leaves:
        raise ArgumentError(
            f"a {type(model).__name__} in which there are no floats in sight cannot be flattened",
            hint="integers are constants, and so is what sets hold",
        )
    paths: dict[int, Path] = {}
    places: dict[int, LeafPlace] = {}
    size, dtypes = 0, []
    for number, path, value, _ in plan.leaves:
        is_complex = np.iscomplexobj(value)
        stop = size + int(np.size(value)) * (2 if is_complex else 1)
        dtype = value.dtype if isinstance(value, np.ndarray | np.generic) else None
        dtypes += [] if dtype is None else [dtype]
        named = None if dtype is None else dtype.str
        is_array = isinstance(value, np.ndarray)
        paths[number] = path
        places[number] = LeafPlace(size, stop, np.shape(value), named, is_complex, is_array)
        size = stop
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)
    return _Layout(root, paths, places, size, np.empty(0, dtype).real.dtype.str)


def places(model: Any) -> Iterator[tuple[tuple[tuple[str, Any], ...], tuple[int, ...], str]]:
    """Yield path, index and, for a complex number, the part (``.real``, ``.imag``) of each number
    of the vector."""
    for path in _layout(model).paths.values():
        value = found(model, path)
        for part in (".real", ".imag") if np.iscomplexobj(value) else ("",):
            for index in np.ndindex(np.shape(value)):
                yield path, index, part


# ---- differentiated code -------------------------------------------------------------------------


def _reals(value: Any) -> Any:
    flat = np.ravel(value)
    return np.concatenate([np.real(flat), np.imag(flat)]) if np.iscomplexobj(flat) else flat


non_differentiable(_layout, _unflatten_of)
