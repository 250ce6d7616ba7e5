"""The structural cotangent of an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.pictures.html import table_html


class Tangent(Mapping[str, Any]):
    """Cotangent of an object: one entry per field, ``None`` for fields without derivative.

    Fields are read as attributes and as a mapping.

    Parameters
    ----------
    primal : type or str
        The type of the object, or the name of the function whose captured variables these are.
    fields : dict
        Cotangent by field name.

    Examples
    --------
    >>> t = Tangent("Foo", {"a": 1.0, "b": None})
    >>> t.a, dict(t)
    (1.0, {'a': 1.0, 'b': None})
    """

    __slots__ = ("_fields", "_primal")

    def __init__(self, primal: type | str, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_primal", primal)
        object.__setattr__(self, "_fields", dict(fields))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"{self!r} has no field {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Tangent cannot be changed")

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent):
            return NotImplemented
        return self._primal is other._primal and _equal(self._fields, other._fields)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Tangent, (self._primal, self._fields)

    def __repr__(self) -> str:
        return (
            f"Tangent[{self._name()}]({', '.join(f'{k}={v!r}' for k, v in self._fields.items())})"
        )

    def _repr_html_(self) -> str:
        rows = [(name, _shown(value)) for name, value in self._fields.items()]
        return table_html(f"Tangent[{self._name()}]", ("field", "cotangent"), rows)

    def _name(self) -> str:
        return self._primal if isinstance(self._primal, str) else self._primal.__name__


def _shown(value: Any) -> str:
    """Return the text of a cotangent in a table, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


LONGEST = 2000


def tangent_of(value: Any, fields: Mapping[str, Any]) -> Tangent:
    """Return a structural cotangent of an object or function; a `Tangent` gives its own primal."""
    if isinstance(value, Tangent):
        return Tangent(value._primal, fields)
    return Tangent(value.__name__ if isinstance(value, FunctionType) else type(value), fields)


def _equal(a: Any, b: Any) -> bool:
    """Return whether two structures are equal; arrays by shape and elements."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)
