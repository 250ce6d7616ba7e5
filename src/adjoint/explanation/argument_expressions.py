"""The numbers and arrays in the arguments, by the expressions that read them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.explanation.events import Input
from adjoint.explanation.value_text import is_number, snapshot
from adjoint.runtime.leaves import object_fields

MOST_INPUTS = 1000
"""The number of inputs that have names."""
Index = int | tuple[int, ...] | None


def names_of(f: Callable[..., Any], count: int) -> list[str]:
    """Return a name for each positional argument: that of the parameter."""
    try:
        parameters = [*inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for i in range(count):
        one = parameters[min(i, len(parameters) - 1)] if parameters else None
        if one is None:
            names.append(f"arg{i}")
        elif one.kind is one.VAR_POSITIONAL:
            names.append(f"{one.name}[{i - len(parameters) + 1}]")
        else:
            names.append(one.name)
    return names


def inputs_in(names: list[str], args: list[Any]) -> list[Input]:
    """Return the numbers and arrays in some arguments, at most `MOST_INPUTS`."""
    found: list[Input] = []
    for name, arg in zip(names, args, strict=True):
        for path, value in _walk(name, arg, ()):
            if len(found) == MOST_INPUTS:
                return found
            found.append(Input(path, value, snapshot(value)))
    return found


def _walk(name: str, value: Any, above: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fciu":
            yield name, value
    elif is_number(value):
        if not isinstance(value, bool | np.bool_):
            yield name, value
    elif isinstance(value, str) or value is None or id(value) in above:
        return
    else:
        above = (*above, id(value))
        if isinstance(value, list | tuple):
            parts = [(f"[{i}]", part) for i, part in enumerate(value)]
        elif isinstance(value, dict):
            parts = [(f"[{key!r}]", part) for key, part in value.items() if type(key) in (int, str)]
        else:
            parts = [(f".{key}", part) for key, part in object_fields(value).items()]
        for step, part in parts:
            yield from _walk(name + step, part, above)


def named(inputs: list[Input], path: str) -> tuple[Input, Index]:
    """Return the input that `path` names, and the index of one of its elements.

    Raises
    ------
    ArgumentError
        There is no such input, or no such element.
    """
    try:
        node = ast.parse(path.strip(), mode="eval").body
    except (SyntaxError, ValueError, AttributeError):
        raise _unknown(inputs, path) from None
    known = {one.name: one for one in inputs}
    whole = known.get(ast.unparse(node))
    if whole is not None:
        return whole, None
    if isinstance(node, ast.Subscript):
        owner = known.get(ast.unparse(node.value))
        if owner is not None and isinstance(owner.value, np.ndarray):
            return owner, _index(inputs, owner, path, node.slice)
    raise _unknown(inputs, path)


def _index(inputs: list[Input], owner: Input, path: str, node: ast.expr) -> Index:
    try:
        index = ast.literal_eval(node)
    except ValueError:
        index = None
    given = index if isinstance(index, tuple) else (index,)
    if not all(type(i) is int for i in given):
        raise _unknown(inputs, path)
    shape = owner.value.shape
    if len(given) != len(shape) or not all(-n <= i < n for i, n in zip(given, shape, strict=True)):
        raise ArgumentError(
            f"{path!r} names no element of an array of shape {shape}",
            hint="give one index for each axis",
        )
    return given


def _unknown(inputs: list[Input], path: str) -> ArgumentError:
    some = ", ".join(one.name for one in inputs[:6]) + (", …" if len(inputs) > 6 else "")
    return ArgumentError(
        f"{path!r} names no input", hint=f"inputs are {some}; of an array also x[i], x[i, j]"
    )
