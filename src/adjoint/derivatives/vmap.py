"""Functions of one row applied to all rows of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.derivatives.row_layout import (
    Layout,
    Node,
    checked_axes,
    checked_in_axes,
    layout_of,
    result_node,
)
from adjoint.diagnostics.function_argument import demand_function
from adjoint.diagnostics.public_function import MadeBy, named_after, public
from adjoint.diagnostics.user_place import as_user_error
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs.store import known
from adjoint.fast.programs.tangents import along_of
from adjoint.levels.current import current
from adjoint.rulekit import nested
from adjoint.rulekit.registry import substitute


@public
def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Function that applies `f` to each row of its arguments and stacks the results.

    Values and dtypes are those of a Python loop over the rows. The returned function is
    differentiable in all modes, and `f` may itself differentiate: ``vmap(grad(f))``.

    Parameters
    ----------
    f : callable
        A function of one row of each mapped argument. It returns numbers and arrays, or tuples,
        named tuples, lists and dicts of them, of the same structure and shapes for all rows.
    in_axes : int, None, tuple or list
        The axis along which the rows of the arguments lie; negative axes count from the last one.
        A tuple or list has one entry per positional argument. ``None``: the argument is not mapped,
        each row gets all of it. An axis for a tuple, list or dict applies to all arrays in it; a
        structure of axes that matches the argument says it part by part.
    out_axes : int, None, tuple, list or dict
        The axis of the result along which the rows are stacked, or a structure of axes that matches
        the result. ``None``: what does not depend on the row; it is the same for all rows, and
        returned once.

    Returns
    -------
    callable
        With the positional arguments of `f`. For an argument of shape ``(n, *s)`` mapped along axis
        0, `f` is called with rows of shape ``s``; of an array of shape ``(n,)`` with numbers. A
        result of shape ``r`` gives an array of shape ``(n, *r)``, numbers give one of shape
        ``(n,)``. Keyword arguments are mapped along axis 0; bind one that is the same for all rows
        by ``functools.partial``. ``None`` in an argument or a result stays ``None``. As in a loop,
        rows are views: where `f` writes to its row, it writes to the argument.

    Raises
    ------
    ArgumentError
        `in_axes` or `out_axes` is no axis or does not match; when called: no argument is mapped, an
        axis is out of range, lengths differ, there are no rows, or an object that is neither an
        array nor a structure of arrays is mapped; results of rows differ in structure or shape.

    Examples
    --------
    >>> vmap(lambda row: row @ row)(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    >>> vmap(lambda x, w: x * w, in_axes=(0, None), out_axes=1)(np.array([1.0, 2.0]), np.ones(3))
    array([[1., 2.],
           [1., 2.],
           [1., 2.]])
    >>> vmap(lambda p: p["a"] + p["b"], in_axes=({"a": 0, "b": None},))({"a": np.arange(3), "b": 5})
    array([5, 6, 7])
    >>> from adjoint import grad
    >>> vmap(grad(lambda t: t**3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    in_axes = checked_in_axes(in_axes)
    out_axes = checked_axes(out_axes, "out_axes")

    demand_function(f, "vmap(f)")
    made_by = MadeBy(vmap, (f, in_axes, out_axes), {}, is_plain=True)
    return named_after(_mapped(f, in_axes, out_axes), made_by)  # type: ignore[no-any-return]


def _mapped(f: Callable[..., Any], in_axes: Any, out_axes: Any) -> Callable[..., Any]:
    def mapped(*args: Any, **kwargs: Any) -> Any:
        try:
            layout = layout_of(f, in_axes, args, kwargs)
            found = _at_once(mapped, layout, args, kwargs, out_axes)
            if found is not None:
                return found[0]
            return _row_by_row(f, layout, args, kwargs, out_axes)
        except BaseException as error:  # as in `public`, whose functions hide what they captured
            as_user_error(error)
            raise

    return mapped


FIRST_ROWS = 32
"""The number of rows that a new program gets, which tells how many it should get."""


def _at_once(
    mapped: Any, layout: Layout, args: tuple[Any, ...], kwargs: dict[str, Any], out_axes: Any
) -> tuple[Any] | None:
    """Return the result by a program for all rows, or for many at a time, in a tuple; ``None`` if
    there is none."""
    if current.level is not None:
        return None
    found = []
    start, step = 0, FIRST_ROWS
    kept = known(mapped, mode_of("pushforward", (), tuple(kwargs)))
    if kept is not None and kept.entries:
        step = min(entry.most_rows for entry in kept.entries)
    while start < layout.rows:
        given, named = args, kwargs
        if start or layout.rows > step:
            part = slice(start, start + step)
            given = tuple(
                _row(node, x, part) for node, x in zip(layout.positional, args, strict=True)
            )
            named = {name: _row(node, kwargs[name], part) for name, node in layout.named.items()}
        along = along_of("pushforward", mapped, given, named, ())
        pair = None if along is None else along((None,) * len(args))
        if along is None or pair is None:
            return None
        found.append(pair[0])
        start, step = start + step, along.most_rows
    return (_joined(found, out_axes) if len(found) > 1 else found[0],)


def _joined(parts: list[Any], axis: Any) -> Any:
    """Return the results of several parts of the rows as one."""
    if type(parts[0]) is tuple:
        return tuple(_joined(list(part), axis) for part in zip(*parts, strict=True))
    return None if parts[0] is None else np.concatenate(parts, axis)


@substitute(_at_once)
def _(
    mapped: Any, layout: Layout, args: tuple[Any, ...], kwargs: dict[str, Any], out_axes: Any
) -> None:
    """Inside differentiated code, which only follows the rows one by one."""


def _row_by_row(
    f: Callable[..., Any],
    layout: Layout,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    out_axes: Any,
) -> Any:
    """Call `f` for one row after the other, and stack the results."""
    ys = []
    for i in range(layout.rows):
        if layout.is_simple:
            ys.append(f(*[x[i] for x in args]))
        else:
            row = [_row(node, x, i) for node, x in zip(layout.positional, args, strict=True)]
            named = {name: _row(node, kwargs[name], i) for name, node in layout.named.items()}
            ys.append(f(*row, **named))
    return _stacked(result_node(ys, out_axes, "the result"), ys)


def _row(node: Node, x: Any, i: int | slice) -> Any:
    """Return row `i` of an argument, or some rows."""
    if node.kind == "whole":
        return x
    if node.kind == "array":
        return x[(*node.before, i)] if node.before else x[i]
    return _made(node, x, [_row(child, x[key], i) for key, child in node.children])


def _stacked(node: Node, ys: list[Any]) -> Any:
    """Return the results of all rows as one."""
    if node.kind == "whole":
        return ys[0]
    if node.kind == "array":
        return np.stack(ys, axis=node.axis)
    return _made(node, ys[0], [_stacked(part, [y[key] for y in ys]) for key, part in node.children])


def _made(node: Node, like: Any, parts: list[Any]) -> Any:
    """Return a container of the kind of `like` with these parts."""
    if node.kind == "named tuple":
        return type(like)(*parts)
    if node.kind == "dict":
        return dict(zip([key for key, _ in node.children], parts, strict=True))
    return tuple(parts) if node.kind == "tuple" else parts


nested.vmap = vmap
nested.code_of_mapped = _mapped(len, 0, 0).__code__
