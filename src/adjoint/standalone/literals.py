"""Constants as Python source, exact to the bit."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

FEW = 8
"""The number of elements up to which an array is written as numbers."""
WIDTH = 88


class NoLiteral(Exception):
    """A value that has no text; the argument says what it is."""


def literal(value: Any) -> str:
    """Return the source of an expression that gives a value equal to `value`, to the bit.

    Raises
    ------
    NoLiteral
        It is no number, text, array, dtype, type of these, or container of such.
    """
    kind = type(value)
    if value is None or value is Ellipsis or kind in (bool, int, str, bytes):
        return "..." if value is Ellipsis else repr(value)
    if value is np._NoValue:
        return "np._NoValue"
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if kind is complex:
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if kind is np.ndarray:
        return _array(value)
    if isinstance(value, np.dtype):
        return f"np.dtype({value.str!r})"
    if isinstance(value, np.generic) and value.dtype.kind in "fciub":
        return f"{_array(np.asarray(value))}[()]"
    if isinstance(value, type):
        return _type(value)
    if kind in (list, tuple, set, frozenset, dict, slice):
        return _container(value)
    raise NoLiteral(f"an object of class '{kind.__module__}.{kind.__qualname__}'")


def _array(x: Any) -> str:
    if x.dtype.kind not in "fciub":
        raise NoLiteral(f"an array of {x.dtype}")
    if 0 < x.size <= FEW and x.dtype.kind in "fiub" and np.isfinite(x).all():
        return f"np.array({x.tolist()!r}, np.{_name(x.dtype)})"
    order = "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
    data = base64.b64encode(x.tobytes(order)).decode()
    lines = [data[i : i + WIDTH] for i in range(0, len(data), WIDTH)] or [""]
    text = "\n".join(f'    "{line}"' for line in lines)
    return f"_array(\n{text},\n    {x.dtype.str!r}, {x.shape!r}, {order!r},\n)"


def _name(dtype: Any) -> str:
    return "bool_" if dtype.kind == "b" else str(dtype.name)


ARRAY = '''
def _array(data, dtype, shape, order):
    """Return an array from its bytes."""
    bytes_of = np.frombuffer(base64.b64decode(data), dtype)
    return bytes_of.reshape(shape, order=order).copy(order="K")
'''
"""What the text of larger arrays calls; it needs the module ``base64``."""


def _type(kind: type) -> str:
    if kind.__module__ == "builtins":
        return kind.__name__
    if issubclass(kind, np.generic | np.ndarray) and getattr(np, kind.__name__, None) is kind:
        return f"np.{kind.__name__}"
    raise NoLiteral(f"the class '{kind.__module__}.{kind.__qualname__}'")


def _container(value: Any) -> str:
    if isinstance(value, slice):
        return f"slice({literal(value.start)}, {literal(value.stop)}, {literal(value.step)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(x)}' for k, x in value.items())}}}"
    items = ", ".join(map(literal, value))
    if isinstance(value, list):
        return f"[{items}]"
    if isinstance(value, tuple):
        return f"({items}{',' * (len(value) == 1)})"
    return f"{type(value).__name__}([{items}])"
