"""A model as a tree of arrays, whatever its Python type.

The tree consists of dicts, lists, tuples, arrays of objects, objects with attributes (dataclasses,
``__slots__``), captured variables of functions, bound methods and partials. An array of floats is a
parameter; everything else is a constant of the model, numbers included, because they cannot be
updated in place.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.registry import facts, non_differentiable
from adjoint.tangent import Tangent

Array: TypeAlias = NDArray[Any]

_LEAVES = (
    str,
    bytes,
    int,
    float,
    complex,
    type,
    ModuleType,
    BuiltinFunctionType,
    np.generic,
    np.ufunc,
)


def parameters(model: Any) -> list[Array]:
    """The arrays of floats that a model holds.

    Parameters
    ----------
    model
        Any object; it may contain cycles.

    Returns
    -------
    list of array
        The arrays themselves, not copies, each distinct array once, in the order of the fields.
        Results computed from them, such as a penalty of the weights, have derivatives.

    Examples
    --------
    >>> W = np.ones((2, 2))
    >>> [p.shape for p in parameters({"encoder": W, "decoder": W, "bias": np.zeros(2)})]
    [(2, 2), (2,)]
    """
    return [_found(model, path) for path in paths(model)]


def named_parameters(model: Any) -> list[tuple[str, str, Array]]:
    """Return name, class of the owner and array of each distinct array of floats in a model.

    A name has the keys, fields and captured variables on the way, separated by dots.
    """
    named = []
    for path in paths(model):
        keys, node, holder = [], model, "array"
        for step in path:
            kind, key = step
            keys.append(str(node.__code__.co_freevars[key] if kind == "cell" else key))
            holder, node = type(node).__name__, _found(node, (step,))
        named.append((".".join(keys) or "array", holder, node))
    return named


Path: TypeAlias = "tuple[tuple[str, Any], ...]"


def paths(model: Any) -> tuple[Path, ...]:
    """Return the path of each distinct array of floats in a model."""
    found: list[Path] = []
    seen: set[int] = set()
    stack: list[tuple[Any, Any]] = [(None, model)]
    while stack:
        way, node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if _is_parameter(node):
            found.append(_unwound(way))
        else:
            stack += reversed([((way, node, key), child) for key, child in _children(node)])
    return tuple(found)


# the arrays are read again along the paths, where they are differentiated
non_differentiable(paths)
facts.add(paths)


def _unwound(way: Any) -> Path:
    """Return the path of a part from nested triples (way to its node, node, key)."""
    steps: list[tuple[str, Any]] = []
    while way is not None:
        way, node, key = way
        steps += reversed(_steps(node, key))
    return tuple(reversed(steps))


def _steps(node: Any, key: Any) -> Path:
    """Return the steps from a node to one of its parts."""
    if isinstance(node, MethodType):
        return (("attribute", "__self__"), *_steps(node.__self__, key))
    if isinstance(node, FunctionType):
        return (("cell", node.__code__.co_freevars.index(key)),)
    return (("attribute", str(key)),) if isinstance(key, _Attribute) else (("item", key),)


def _found(node: Any, path: Path) -> Any:
    for kind, key in path:
        if kind == "attribute":
            node = getattr(node, key)
        elif kind == "item":
            node = node[key]
        else:
            node = node.__closure__[key].cell_contents
    return node


def update(model: Any, gradient: Any, learning_rate: float) -> None:
    """Do one step of gradient descent in place: ``array -= learning_rate * array_bar`` for each
    parameter.

    Parameters
    ----------
    model
        Any object, as for `parameters`. An array that occurs several times is updated once.
    gradient
        With the structure of the model, as ``ad.gradient`` returns it for the model as argument: a
        dict for a dict, a `Tangent` for an object; ``None`` leaves that part unchanged.
    learning_rate : float
        Not negative; in units of (parameter)² / (loss).

    Raises
    ------
    TypeError, ValueError
        `gradient` does not fit the model, an array cannot be written, or the learning rate is
        negative. Then nothing has been updated.

    Warns
    -----
    RuntimeWarning
        There is nothing to update: the model holds no arrays of floats, or the gradient is ``None``
        in all of them.
    """
    check_learning_rate(learning_rate)
    # check everything before the first write: half a step would leave a useless model
    pairs = list(_pairs(model, gradient))
    if not pairs:
        warnings.warn(_nothing_updated(model), RuntimeWarning, stacklevel=2)
    for array, bar in pairs:
        array -= learning_rate * bar


def cotangents_of(arrays: list[Array], model: Any, gradient: Any) -> list[Any]:
    """Return the cotangents of a model's parameters in their order, ``None`` where there is none.

    Raises
    ------
    TypeError, ValueError
        `gradient` does not fit the model, or an array cannot be written.
    """
    bars = {id(array): bar for array, bar in _pairs(model, gradient)}
    return [bars.get(id(array)) for array in arrays]


def _nothing_updated(model: Any) -> str:
    if parameters(model):
        return "nothing was updated: the gradient is None in all of the model's arrays"
    return f"nothing was updated: {no_arrays(model)}"


def no_arrays(model: Any) -> str:
    """Return what to say of a model without parameters."""
    return (
        f"{type(model).__name__} holds no arrays of floats to train; numbers, lists of numbers"
        " and integer arrays are constants: keep parameters in np.array(..., dtype=float)"
    )


def has_nonzero_gradient(model: Any, gradient: Any) -> bool:
    """Return whether `gradient` is not zero in at least one parameter."""
    return any(np.any(bar) for _, bar in _pairs(model, gradient))


def check_learning_rate(learning_rate: float) -> None:
    if not 0 <= learning_rate < np.inf:
        raise ValueError(f"learning_rate must be finite and not negative, got {learning_rate}")


def _pairs(model: Any, gradient: Any) -> Iterator[tuple[Array, Any]]:
    """Yield each distinct parameter that has a cotangent, with the cotangent."""
    seen: set[int] = set()
    stack = [("model", model, gradient)]
    while stack:
        path, node, bar = stack.pop()
        if bar is None or id(node) in seen:
            continue
        seen.add(id(node))
        if _is_parameter(node):
            _check_pair(path, node, bar)
            yield node, bar
        elif children := _children(node):
            stack.extend(reversed([_step(path, key, child, bar) for key, child in children]))


def _step(path: str, key: Any, child: Any, bar: Any) -> tuple[str, Any, Any]:
    """Return the path for messages, the part and its cotangent, one step down."""
    if isinstance(key, _Attribute):
        inner = f"{path}.{key}"
    else:
        inner = f"{path}[{key!r}]"
    if isinstance(bar, Mapping):
        return inner, child, bar.get(key)
    if isinstance(bar, Sequence) and isinstance(key, int) and key < len(bar):
        return inner, child, bar[key]
    if is_objects(bar) and key in _keys(bar):
        return inner, child, bar[key]
    raise TypeError(f"the gradient of {path} has no part {key!r}: it is {bar!r}")


def _check_pair(path: str, array: Array, bar: Any) -> None:
    if np.shape(bar) != array.shape:
        raise ValueError(f"{path} has shape {array.shape}, its gradient {np.shape(bar)}")
    if not np.can_cast(np.result_type(bar), array.dtype, "same_kind"):
        raise TypeError(f"{path} has dtype {array.dtype}, its gradient {np.result_type(bar)}")
    if not array.flags.writeable:
        raise ValueError(f"{path} is a read-only array and cannot be updated; use a copy")


# ---- parts of a model ----------------------------------------------------------------------------


class _Attribute(str):
    """The name of a field, distinct from a string that is a key of a dict."""

    __slots__ = ()


def _is_parameter(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def _children(node: Any) -> list[tuple[Any, Any]]:
    """Return the parts of one node with the names that cotangents use."""
    if is_objects(node):
        return [(key, node[key]) for key in _keys(node)]
    if node is None or isinstance(node, (*_LEAVES, np.ndarray)):
        return []
    if isinstance(node, dict | MappingProxyType | Tangent):
        return list(node.items())
    if isinstance(node, list | tuple):
        return list(enumerate(node))
    if isinstance(node, FunctionType):
        return _captured(node)
    if isinstance(node, MethodType):
        return _children(node.__self__)  # the cotangent of a bound method is that of its object
    if isinstance(node, functools.partial):
        return [(_Attribute(name), getattr(node, name)) for name in ("func", "args", "keywords")]
    return _attributes(node)


def _keys(array: Array) -> Sequence[Any]:
    return range(len(array)) if array.ndim == 1 else [*np.ndindex(*array.shape)]


def _captured(function: FunctionType) -> list[tuple[Any, Any]]:
    parts = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            parts.append((_Attribute(name), cell.cell_contents))
        except ValueError:  # captured but not assigned yet
            continue
    return parts


def _attributes(node: Any) -> list[tuple[Any, Any]]:
    names: dict[str, None] = {}
    for kind in reversed(type(node).__mro__):
        slots = vars(kind).get("__slots__", ())
        names.update(dict.fromkeys((slots,) if isinstance(slots, str) else slots))
    names.update(dict.fromkeys(getattr(node, "__dict__", ())))
    return [
        (_Attribute(n), getattr(node, n)) for n in names if n != "__dict__" and hasattr(node, n)
    ]
