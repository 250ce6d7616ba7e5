"""Class and dtype of results, from calls on operands whose lengths are all 1."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.types import Array, Number, Symbol, Type, type_of, witnesses
from adjoint.fast.not_covered import NotCovered, UnknownSizes


class Constant:
    """The type of an operand whose value is known."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value


def type_on_ones(f: Any, operands: Sequence[Any], keywords: Mapping[str, Any]) -> Type:
    """Return the type of a result of `f`, with all lengths of the operands set to 1."""
    key = (f, *map(_key, operands))
    if keywords:
        key += tuple((k, _key(t)) for k, t in keywords.items())
    found = _known.get(key)
    if found is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = run(f, [*map(_one, operands)], {k: _one(t) for k, t in keywords.items()})
        if isinstance(value, tuple | list):
            raise NotCovered(f"several results of {name_of(f)}")
        found = type_of(value)
        if found is None:
            raise NotCovered(f"{name_of(f)} returns a {type(value).__name__}")
        _known[key] = found
    return found


_known: dict[Any, Type] = {}


def _key(t: Any) -> Any:
    """Return the properties of an operand that decide class and dtype of results."""
    if type(t) is Array:
        return t.dtype, len(t.shape)
    if type(t) is Constant:
        value = t.value
        if type(value) is int:  # may be a number of axes
            return int, value
        if type(value) is float:  # NumPy 1 reads its size
            return kind_of_constant(value), np.min_scalar_type(value).char
        return kind_of_constant(value)
    if isinstance(t, Number):
        return t.kinds
    return tuple(map(_key, t)) if isinstance(t, tuple) else type(t)


def _one(t: Any) -> Any:
    if isinstance(t, Constant):
        return t.value
    if isinstance(t, tuple):
        return tuple(map(_one, t))
    if isinstance(t, Array):
        return np.ones((1,) * len(t.shape), t.dtype)
    if isinstance(t, Symbol):
        return 1
    if isinstance(t, Number):
        found = witnesses(t)
        if not found:
            raise NotCovered("an item of a list that is empty so far")
        if len({np.asarray(x).dtype for x in found}) > 1:
            raise NotCovered("numbers of several classes in an array")
        return found[0]
    raise NotCovered("an operand is neither a number nor an array")


def run(f: Any, args: list[Any], kwargs: dict[str, Any], *, is_made_up: bool = False) -> Any:
    """Call `f` with examples; `is_made_up`: a ValueError may be due to their sizes."""
    try:
        with np.errstate(all="ignore"):
            if any(map(_is_complex, args)):
                return _run_complex(f, args, kwargs)
            return f(*args, **kwargs)
    except Exception as error:
        if is_made_up and isinstance(error, ValueError):
            raise UnknownSizes(name_of(f)) from None
        raise NotCovered(f"{name_of(f)} does not take such operands: {error}") from None


def _is_complex(x: Any) -> bool:
    if isinstance(x, tuple):
        return any(map(_is_complex, x))
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def _run_complex(f: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call `f`; raise if it discards imaginary parts, which NumPy only warns about."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        return f(*args, **kwargs)


def kind_of_constant(value: Any) -> Any:
    """Return the properties of a constant that decide result types: class, sign, being whole."""
    if type(value) is int or type(value) is float:
        return type(value), value > 0, value == 0, value == int(value) if value - value == 0 else 2
    return type(value), repr(value)


def name_of(f: Any) -> str:
    return getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
