"""Where the rows of the arguments and of the results of a mapped function lie."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.primal.value_kinds import by_value, is_objects
from adjoint.rulekit.registry import non_differentiable


@dataclass(frozen=True)
class Node:
    """A part of an argument or a result.

    Attributes
    ----------
    kind
        ``array``: has rows along `axis`; ``whole``: is the same for all rows; otherwise the kind of
        the container.
    before
        Full slices, as many as there are axes before `axis`.
    children
        Key and node of each part of a container.
    """

    kind: str
    axis: int = 0
    before: tuple[slice, ...] = ()
    children: tuple[tuple[Any, Node], ...] = ()


@dataclass(frozen=True)
class Layout:
    """The nodes of all arguments, the number of rows, and whether all arguments are positional
    and arrays mapped along axis 0."""

    positional: tuple[Node, ...]
    named: dict[str, Node]
    rows: int
    is_simple: bool


WHOLE = Node("whole")


def checked_in_axes(in_axes: Any) -> Any:
    """Return a copy of `in_axes`: an axis, ``None``, or a list with the axes of each argument."""
    if isinstance(in_axes, dict):
        raise ArgumentError(
            "in_axes is a dict",
            hint="give one axis for all arguments, or a tuple with one entry for each positional"
            " argument, which may be a dict",
        )
    return checked_axes(in_axes, "in_axes")


def checked_axes(axes: Any, where: str) -> Any:
    """Return a copy of axes, a structure of whole numbers and ``None``."""
    if axes is None:
        return None
    if isinstance(axes, tuple | list):
        return [checked_axes(part, where) for part in axes]
    if isinstance(axes, dict):
        return {key: checked_axes(part, where) for key, part in axes.items()}
    try:
        if not isinstance(axes, bool | np.bool_ | np.ndarray):
            return operator.index(axes)
    except TypeError:
        pass
    raise ArgumentError(
        f"{where} contains {axes!r}, which is no axis",
        hint="an axis is a whole number, or None for what is the same for all rows",
    )


def layout_of(
    f: Callable[..., Any], in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Layout:
    """Find the rows of the arguments.

    Raises
    ------
    ArgumentError
        There are none, or their numbers differ.
    """
    if isinstance(in_axes, list) and len(in_axes) != len(args):
        raise ArgumentError(
            f"in_axes has {len(in_axes)} entries, and there are {len(args)} positional arguments",
            hint="give one entry for each positional argument, or one axis for all;"
            " keyword arguments are mapped along axis 0",
        )
    of_args = in_axes if isinstance(in_axes, list) else [in_axes] * len(args)
    found: list[tuple[str, int, int]] = []
    names = _names(f, len(args))
    positional = tuple(
        _argument_node(x, axes, name, found)
        for x, axes, name in zip(args, of_args, names, strict=True)
    )
    named = {name: _argument_node(x, 0, f"'{name}'", found) for name, x in kwargs.items()}
    if not found:
        raise ArgumentError(
            "no argument is mapped",
            hint="give the axis of an array in in_axes, or call the function itself",
        )
    lengths = {length for _, _, length in found}
    if len(lengths) > 1:
        each = ", ".join(f"{name} has {length} along axis {axis}" for name, axis, length in found)
        raise ArgumentError(
            f"the arguments differ in the number of rows: {each}",
            hint="map axes of one length, and give None in in_axes for what is the same for all"
            " rows",
        )
    if lengths == {0}:
        name, axis, _ = found[0]
        raise ArgumentError(
            f"{name} has no rows along axis {axis}",
            hint="there is no row that tells the shape of the result: treat this case before",
        )
    is_simple = not named and all(node == Node("array") for node in positional)
    return Layout(positional, named, lengths.pop(), is_simple)


def _names(f: Callable[..., Any], count: int) -> list[str]:
    """Return the quoted names of the first parameters, or ``argument 0`` and so on."""
    if type(f) is FunctionType and not f.__dict__:  # its signature takes longer to read
        code = f.__code__
        if count <= code.co_argcount:
            return [f"'{name}'" for name in code.co_varnames[:count]]
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a function of C
        parameters = ()  # type: ignore[assignment]
    known = [
        f"'{one.name}'" for one in parameters if one.kind in (one.POSITIONAL_ONLY, _BY_POSITION)
    ]
    return [*known[:count], *(f"argument {i}" for i in range(len(known), count))]


_BY_POSITION = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _argument_node(x: Any, axes: Any, name: str, found: list[tuple[str, int, int]]) -> Node:
    """Return the node of an argument; add name, axis and length of what is mapped to `found`."""
    if axes is None or x is None:
        return WHOLE
    if _is_leaf(x):
        axis = _argument_axis(x, axes, name)
        found.append((name, axis, x.shape[axis]))
        return Node("array", axis, (slice(None),) * axis)
    kind, keys = _container(x)
    if not kind:
        raise ArgumentError(
            f"{name} is {_described(x)}, and in_axes maps it",
            hint="arrays, and tuples, named tuples, lists and dicts of arrays, are mapped; in"
            " in_axes, None stands for what is the same for all rows, and functools.partial binds a"
            " keyword argument",
        )
    of_keys = _axes_of(kind, keys, axes, name, "in_axes")
    children = tuple(
        (key, _argument_node(x[key], of_keys[key], f"{name}[{key!r}]", found)) for key in keys
    )
    is_whole = all(child.kind == "whole" for _, child in children)
    return WHOLE if is_whole else Node(kind, children=children)


def _argument_axis(x: Any, axis: Any, name: str) -> int:
    """Return an axis of an array, counted from the first."""
    if type(axis) is not int or not -np.ndim(x) <= axis < np.ndim(x):
        raise ArgumentError(
            f"in_axes is {axis!r} for {name}, which is {_described(x)}",
            hint="axes count from 0, or from -1 backwards; None stands for what is the same for all"
            " rows, and functools.partial binds a keyword argument",
        )
    return axis % np.ndim(x)


def result_node(ys: Sequence[Any], axes: Any, name: str) -> Node:
    """Return the node of the results of all rows.

    Raises
    ------
    ArgumentError
        They differ in structure or shape, or do not match the axes.
    """
    first = ys[0]
    if axes is None:
        for i, y in enumerate(ys):
            if not _is_same(first, y):
                raise ArgumentError(
                    f"out_axes is None for {name}, which is not the same in rows 0 and {i}",
                    hint="None stands for what does not depend on the row: give an axis",
                )
        return WHOLE
    if first is None and all(y is None for y in ys):
        return WHOLE
    kind, keys = _container(first)
    for i, y in enumerate(ys):
        if not (_is_leaf(y) if _is_leaf(first) else _is_alike(first, y)):
            raise _differing(name, i, f"{_described(first)}, and {_described(y)}", "structure")
    if kind:
        of_keys = _axes_of(kind, keys, axes, name, "out_axes")
        parts = [
            (key, result_node([y[key] for y in ys], of_keys[key], f"{name}[{key!r}]"))
            for key in keys
        ]
        return Node(kind, children=tuple(parts))
    if not _is_leaf(first):
        raise ArgumentError(
            f"{name} is {_described(first)}, which cannot be stacked",
            hint="return numbers, arrays, or tuples, named tuples, lists and dicts of them",
        )
    for i, y in enumerate(ys):
        if np.shape(y) != np.shape(first):
            raise _differing(name, i, f"{_described(first)}, and {_described(y)}", "shape")
    return Node("array", _result_axis(first, axes, name))


def _differing(name: str, i: int, what: str, kind: str) -> ArgumentError:
    return ArgumentError(
        f"{name} differs between rows 0 and {i}: {what}",
        hint=f"return results of one {kind} for all rows, or loop over the rows",
    )


def _result_axis(y: Any, axis: Any, name: str) -> int:
    """Return the axis of the rows in the stacked result, counted from the first."""
    count = np.ndim(y) + 1
    if type(axis) is not int or not -count <= axis < count:
        raise ArgumentError(
            f"out_axes is {axis!r} for {name}, which has {count} {'axis' if count == 1 else 'axes'}"
            " when it is stacked",
            hint="axes count from 0, or from -1 backwards",
        )
    return axis % count


def _axes_of(kind: str, keys: list[Any], axes: Any, name: str, where: str) -> Any:
    """Return the axes of each part of a container, by its key."""
    if type(axes) is int:
        return dict.fromkeys(keys, axes)
    if kind == "dict":
        fits = isinstance(axes, dict) and axes.keys() == set(keys)
    else:
        fits = isinstance(axes, list) and len(axes) == len(keys)
    if not fits:
        parts = f"the keys {keys}" if kind == "dict" else f"{len(keys)} parts"
        raise ArgumentError(
            f"{where} is {axes!r} for {name}, which is a {kind} with {parts}",
            hint="give a structure of axes that matches, or one axis for all parts",
        )
    return axes


def _container(x: Any) -> tuple[str, list[Any]]:
    """Return the kind of a container, empty for anything else, and the keys of its parts."""
    kind = type(x)
    if kind is dict:
        return "dict", list(x)
    if kind is list or kind is tuple:
        return kind.__name__, list(range(len(x)))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return "named tuple", list(range(len(x)))
    return "", []


def _is_alike(x: Any, y: Any) -> bool:
    """Return whether two containers have the same kind and keys, or two objects the same class."""
    if type(x) is not type(y):
        return False
    return x.keys() == y.keys() if type(x) is dict else _container(x) == _container(y)


def _is_leaf(x: Any) -> bool:
    """Return whether NumPy stacks values like `x`: numbers, and arrays but for those that would
    lose their mask or have always two axes."""
    if not by_value(x) or isinstance(x, np.ma.MaskedArray | np.matrix):
        return False
    return type(x) is not int or np.asarray(x).dtype.char != "O"


def _is_same(x: Any, y: Any) -> bool:
    """Return whether two results are equal."""
    if x is y:
        return True
    if by_value(x) and by_value(y):
        is_inexact = np.asarray(x).dtype.kind in "fc" and np.asarray(y).dtype.kind in "fc"
        return np.array_equal(x, y, equal_nan=is_inexact)
    kind, keys = _container(x)
    if kind:
        return _is_alike(x, y) and all(_is_same(x[key], y[key]) for key in keys)
    return type(x) is str and type(y) is str and x == y


def _described(x: Any) -> str:
    """Return what a value is, as errors say it."""
    if isinstance(x, np.ndarray) and not isinstance(x, np.ma.MaskedArray | np.matrix):
        return f"an array {'of objects ' if is_objects(x) else ''}of shape {x.shape}"
    if x is None:
        return "None"
    if type(x) is int and not _is_leaf(x):
        return "an integer of more than 64 bits"
    if by_value(x) and np.ndim(x) == 0:
        return f"a number ({type(x).__name__})"
    kind, keys = _container(x)
    if kind == "dict":
        return f"a dict with the keys {keys}"
    if kind:
        name = "" if kind != "named tuple" else f" '{type(x).__name__}'"
        return f"a {kind}{name} with {len(keys)} {'part' if len(keys) == 1 else 'parts'}"
    return f"an object of class '{type(x).__name__}'"


non_differentiable(checked_in_axes, checked_axes, layout_of, result_node)
