"""The structural cotangent of an object."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.pictures.html import table_html


class _Method:
    """A method that a field of the same name hides."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function: Callable[..., Any] = function
        self.__doc__: str | None = function.__doc__

    def __get__(self, tangent: Any, owner: type) -> Any:
        if tangent is None:
            return self.function
        name = self.function.__name__
        fields = tangent._fields
        return fields[name] if name in fields else self.function.__get__(tangent)


class _MappingMethod:
    """A method of mappings. It stays one where a field has its name, for ``dict(tangent)`` and all
    who take a mapping, and then says where the field is if it is used as a number."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, tangent: Any, owner: type) -> Any:
        if tangent is None:
            return self.function
        method, name = self.function.__get__(tangent), self.function.__name__
        return _BesideField(method, name) if name in tangent._fields else method


class _BesideField:
    """A method whose name is that of a field, too."""

    __slots__ = ("_method", "_name")

    __array_ufunc__ = None

    def __init__(self, method: Callable[..., Any], name: str) -> None:
        self._method, self._name = method, name

    def __call__(self, *args: Any) -> Any:
        return self._method(*args)

    def _refuse(self, *_: Any, **_named: Any) -> Any:
        name = self._name
        raise ArgumentError(
            f"tangent.{name} is the method of mappings, also where a field is called {name!r}",
            hint=f"read the field as tangent[{name!r}]",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _refuse
    )
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __neg__ = __abs__ = __float__ = __array__ = (
        _refuse
    )
    __getitem__ = __len__ = __iter__ = __lt__ = __gt__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()


class Tangent(Mapping[str, Any]):
    """Cotangent of an object: one entry per field, ``None`` for fields without derivative.

    Fields are read as attributes, ``tangent.w``, and as a mapping, ``tangent["w"]``. A field called
    ``keys``, ``values``, ``items`` or ``get`` is ``tangent["values"]`` only, as a column of a table
    of pandas: the attribute is the method, so that ``dict(tangent)`` holds for any object, and it
    says so where it is used as a number. A field called ``map`` or ``norm`` hides the method.
    Tangents of one type
    are added, subtracted and multiplied number by number (``*`` is no inner product); a number is
    added to, or multiplies, each number. A field that is ``None``, or that one of two tangents
    lacks, is zero; there sums have the other's field, and products and sums with numbers have
    ``None``.

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
    >>> 2 * t - t / 2
    Tangent[Foo](a=1.5, b=None)
    >>> t.map(lambda x: x + 7), t.norm()
    (Tangent[Foo](a=8.0, b=None), 1.0)
    """

    __slots__ = ("_fields", "_primal")

    __array_ufunc__ = None  # makes NumPy's numbers on the left defer to the methods below

    def __init__(self, primal: type | str, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_primal", primal)
        object.__setattr__(self, "_fields", dict(fields))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(
                f"Tangent[{_name(self._primal)}] has no field {name!r}; it has {[*self._fields]}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            "a Tangent cannot be changed: make another one, by t.map(f), t + u, 2 * t or ad.Tangent"
        )

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

    keys: Any = _MappingMethod(Mapping.keys)
    values: Any = _MappingMethod(Mapping.values)
    items: Any = _MappingMethod(Mapping.items)
    get: Any = _MappingMethod(Mapping.get)

    # ---- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Tangent:
        return _combined(self, other, _sum, "+", lambda b: b, lambda a: a)

    def __radd__(self, other: Any) -> Tangent:
        return self.__add__(other)

    def __sub__(self, other: Any) -> Tangent:
        return _combined(self, other, _difference, "-", _negative, lambda a: a)

    def __rsub__(self, other: Any) -> Tangent:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Tangent:
        return _combined(self, other, _product, "*", _nothing, _nothing)

    def __rmul__(self, other: Any) -> Tangent:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Tangent:
        if not _is_one_number(other):
            raise _refused("/", other, "divide by a number, or multiply")
        return _mapped(lambda x: x / other, self)  # type: ignore[no-any-return]

    def __neg__(self) -> Tangent:
        return _mapped(_negative, self)  # type: ignore[no-any-return]

    def __pos__(self) -> Tangent:
        return self

    @_Method
    def map(self, f: Callable[[Any], Any]) -> Tangent:
        """Return the tangent with `f` of each number and array; ``None`` stays.

        A field called ``map`` hides this method; `adjoint.tree_map` does the same.
        """
        return _mapped(f, self)  # type: ignore[no-any-return]

    @_Method
    def norm(self) -> float:
        """Return the Euclidean norm of all numbers.

        A field called ``norm`` hides this method; `adjoint.tree_norm` does the same.
        """
        parts: list[float] = []
        _mapped(lambda x: parts.append(float(np.linalg.norm(np.ravel(x)))), self)
        return math.hypot(*parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tangent, (self._primal, self._fields)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={part!r}" for name, part in self._fields.items())
        return f"Tangent[{_name(self._primal)}]({fields})"

    def _repr_html_(self) -> str:
        rows = [(name, _shown(part)) for name, part in self._fields.items()]
        return table_html(f"Tangent[{_name(self._primal)}]", ("field", "cotangent"), rows)


def _shown(part: Any) -> str:
    """Return the text of a cotangent in a table, cut off where it is long."""
    text = repr(part)
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


# ---- arithmetic of structures --------------------------------------------------------------------


def _sum(a: Any, b: Any) -> Any:
    return a + b


def _difference(a: Any, b: Any) -> Any:
    return a - b


def _product(a: Any, b: Any) -> Any:
    return a * b


def _negative(a: Any) -> Any:
    return _mapped(lambda x: -x, a)


def _nothing(a: Any) -> None:
    return None


def _is_one_number(x: Any) -> bool:
    return isinstance(x, Number) or (isinstance(x, np.ndarray | np.generic) and x.ndim == 0)


def _combined(a: Tangent, b: Any, f: Any, sign: str, only_b: Any, only_a: Any) -> Tangent:
    """Return ``f`` of the numbers of `a` and of `b`, a number or a tangent."""
    if _is_one_number(b):
        return _mapped(lambda x: f(x, b), a)  # type: ignore[no-any-return]
    if not isinstance(b, Tangent):
        raise _refused(sign, b, "give a number or a Tangent; tree_map takes two structures")
    if a._primal != b._primal:
        raise _refused(sign, b, f"{_name(a._primal)} and {_name(b._primal)} are two types")
    return _both(a, b, f, only_b, only_a)  # type: ignore[no-any-return]


def _both(a: Any, b: Any, f: Any, only_b: Any, only_a: Any) -> Any:
    if a is None:
        return None if b is None else only_b(b)
    if b is None:
        return only_a(a)
    if isinstance(a, Tangent | dict) and isinstance(b, Tangent | dict):
        fields = {name: _both(a.get(name), b.get(name), f, only_b, only_a) for name in {**a, **b}}
        return tangent_of(a, fields) if isinstance(a, Tangent) else fields
    if isinstance(a, list | tuple | deque) and isinstance(b, list | tuple | deque):
        if len(a) != len(b):
            raise ArgumentError(
                f"tangents with lists of {len(a)} and {len(b)} parts have no sum or product",
                hint="combine tangents of one model",
            )
        return _sequence(a, [_both(x, y, f, only_b, only_a) for x, y in zip(a, b, strict=True)])
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype == object:
        parts = np.empty_like(a)
        for index in np.ndindex(a.shape):
            parts[index] = _both(a[index], b[index], f, only_b, only_a)
        return parts
    if np.shape(a) != np.shape(b):
        raise ArgumentError(
            f"tangents with arrays of shapes {np.shape(a)} and {np.shape(b)} have no sum or"
            " product: nothing is broadcast",
            hint="combine tangents of one model",
        )
    return f(a, b)


def _mapped(f: Callable[[Any], Any], a: Any) -> Any:
    """Return the structure of a cotangent with ``f`` of each number and array."""
    if a is None:
        return None
    if isinstance(a, Tangent):
        return tangent_of(a, {name: _mapped(f, part) for name, part in a.items()})
    if isinstance(a, dict):
        return {name: _mapped(f, part) for name, part in a.items()}
    if isinstance(a, list | tuple | deque):
        return _sequence(a, [_mapped(f, part) for part in a])
    if isinstance(a, np.ndarray) and a.dtype == object:
        parts = np.empty_like(a)
        for index in np.ndindex(a.shape):
            parts[index] = _mapped(f, a[index])
        return parts
    return f(a)


def _sequence(like: Any, parts: list[Any]) -> Any:
    if isinstance(like, tuple):
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
    return parts


def _name(primal: type | str) -> str:
    return primal if isinstance(primal, str) else primal.__name__


def _refused(sign: str, other: Any, hint: str) -> ArgumentError:
    return ArgumentError(f"a Tangent has no {sign!r} with a {type(other).__name__}", hint=hint)
