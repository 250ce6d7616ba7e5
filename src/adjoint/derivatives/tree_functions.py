"""`tree_map`, `tree_leaves` and `tree_norm`: functions of all numbers in a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.derivatives.tree_plan import found, is_number, plan_of, rebuilt
from adjoint.errors import ArgumentError

Tree = TypeVar("Tree")


def tree_map(f: Callable[..., Any], tree: Tree, /, *others: Any) -> Tree:
    """A copy of a model in which `f` has been applied to each number and each array.

    Differentiable, as `f` is.

    Parameters
    ----------
    f : callable
        Gets a leaf of `tree`, and what stands in the same place of each of the `others`: a number,
        an array, or ``None``.
    tree
        A number, an array, or lists, tuples, named tuples, dicts, objects with fields and `Tangent`
        of them, nested to any depth. Its leaves are the numbers and arrays of numbers, integers
        included: everything for which `gradient` gives a number. Text, functions, ``True``,
        ``False`` and ``None`` are constants.
    *others
        Structures that fit `tree`. A `Tangent` or a dict may stand beside an object, so a gradient
        fits its model; ``None`` stands for a whole part: `f` gets ``None`` for each leaf of it.

    Returns
    -------
    tree
        New containers of the same types and in the same order, and new objects of the same classes:
        copies as `copy.copy` makes them, without ``__init__``, in which the fields with numbers are
        replaced. Constants are shared with `tree`, which is unchanged. A part that occurs twice,
        with equal parts beside it, is mapped once and occurs twice again.

    Raises
    ------
    ArgumentError
        The structures differ; the message names the first place.

    See Also
    --------
    adjoint.flatten : all floats as one vector.

    Examples
    --------
    >>> model = {"w": np.array([1.0, 2.0]), "b": 3.0, "name": "line"}
    >>> tree_map(lambda p: 10 * p, model)
    {'w': array([10., 20.]), 'b': 30.0, 'name': 'line'}
    >>> gradient = {"w": np.array([1.0, 1.0]), "b": 0.5, "name": None}
    >>> tree_map(lambda p, bar: p - 0.1 * bar, model, gradient)
    {'w': array([0.9, 1.9]), 'b': 2.95, 'name': 'line'}
    """
    if not callable(f):
        raise ArgumentError(
            f"tree_map takes a function first, got a {type(f).__name__}",
            hint="write tree_map(f, tree)",
        )
    root, _ = plan_of(tree, others, is_number, True)

    def leaf(number: int, value: Any, *beside: Any) -> Any:
        return f(value, *beside)

    mapped: Tree = rebuilt(root, leaf, tree, others, {})
    return mapped


def tree_leaves(tree: Any, /) -> list[Any]:
    """All numbers and arrays in a model.

    Parameters
    ----------
    tree
        As for `tree_map`.

    Returns
    -------
    list
        The leaves themselves in the order of the structure (dicts in the order of their items, not
        sorted); one that occurs in two places is listed twice. A part that contains itself is
        listed once.

    See Also
    --------
    adjoint.nn.parameters : each array of floats once.

    Examples
    --------
    >>> tree_leaves({"w": [1.0, 2.0], "name": "line", "n": 3})
    [1.0, 2.0, 3]
    """
    _, plan = plan_of(tree, (), is_number, False)
    return [found(tree, leaf.path) for leaf in plan.leaves]


def tree_norm(tree: Any, /) -> Any:
    """Euclidean norm of all numbers in a model or a gradient.

    Parameters
    ----------
    tree
        As for `tree_map`; ``None`` counts as zero.

    Returns
    -------
    float
        Square root of the sum of ``|x|**2`` over all elements of all leaves; its derivative at
        zero is zero.

    Examples
    --------
    >>> float(tree_norm({"w": np.array([3.0, 0.0]), "b": -4.0}))
    5.0
    """
    norms = [np.linalg.norm(np.ravel(leaf)) for leaf in tree_leaves(tree)]
    return np.linalg.norm(np.stack(norms)) if norms else 0.0
