"""Conversion of objects to indices, numbers and arrays by ``__index__``, ``__float__``,
``__array__``.

C would call these methods; here they are called as differentiated code. Objects that show their
memory (`array.array`, ``__array_interface__``) or convert themselves in C (`Decimal`) are converted
by a foreign call.
"""

from __future__ import annotations

import math
import operator
from collections import UserString, deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.flat_iterators import array_of
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.rulekit.registry import non_differentiable
from adjoint.runtime.cache.units import unit_of
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.foreign.memory_of_c import seen_as_array, shows_memory
from adjoint.runtime.foreign.user_code_reach import INDEXED, UserMethods

Names = tuple[str, ...]
Entry = Callable[..., Any]
AS_NUMBERS = UserMethods("__array__", "__float__", "__complex__", "__index__")
_PLAIN = CHILDLESS_TYPES | {np.ndarray}
_INDEX: Names = ("__index__",)
_SEQUENCE = "a sequence"
"""Among the names: an object with length and elements counts as a list."""
_MEMORY = "memory"
"""Among the names: an object that shows its memory counts as an array."""
_ALONE = "alone"
"""Among the names: the value becomes one element of an array, so lists are not searched."""
AS_NUMBER: Names = ("__float__", "__index__")
AS_ELEMENT: Names = ("__array__", *AS_NUMBER, _SEQUENCE, _MEMORY)
"""Protocols by which an object becomes one or more elements of an array of floats."""
_AS_COMPLEX: Names = ("__array__", "__complex__", *AS_ELEMENT[1:])
_AS_DOUBLE: Names = (*AS_NUMBER, "__array__", _SEQUENCE, _MEMORY)
"""Protocols of `np.float64`, a subclass of `float`, in its order."""
_AS_ARRAY: Names = ("__array__", _SEQUENCE, _MEMORY)


def _is_sequence(kind: type) -> bool:
    if issubclass(kind, _NO_SEQUENCES):
        return False
    if any(class_attribute(kind, name) is not None for name in _OF_ARRAYS):
        return False
    has_length = class_attribute(kind, "__len__") is not None
    return has_length and type(special_of(kind, "__getitem__")) is FunctionType


_NO_SEQUENCES = (
    list, tuple, dict, str, bytes, UserString, np.ndarray, np.generic, float, int, complex,
)  # fmt: skip
_OF_ARRAYS = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")
is_sequence: ByClass = ByClass(_is_sequence)
"""Return whether NumPy takes instances of a user class for lists of their elements."""


def has_index(index: Any) -> bool:
    """Return whether an index is or holds an object with ``__index__`` in Python."""
    kind = type(index)
    if kind in CHILDLESS_TYPES or kind is np.ndarray:
        return False
    if kind is slice:
        return has_index(index.start) or has_index(index.stop) or has_index(index.step)
    if kind is tuple:
        return any(map(has_index, index))
    return bool(INDEXED.of(kind))


def special_names(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Names:
    """Return the methods by which `f` converts objects to numbers or arrays, in order."""
    module = getattr(f, "__module__", None)
    if f in _OF_ITERABLES:
        return ()
    if module == "math" or f is float:
        return ("__float__", "__index__")
    if module == "cmath" or f is complex:
        return ("__complex__", "__float__", "__index__")
    if isinstance(f, type) and issubclass(f, np.generic):
        of_array = f is np.float64 and args and isinstance(args[0], np.ndarray)
        if of_array and not np.ndim(args[0]):
            return AS_NUMBER
        if f is np.float64:
            return _AS_DOUBLE
        return _AS_COMPLEX if issubclass(f, np.complexfloating) else AS_ELEMENT
    if module == "builtins":
        return ()
    dtype = args[1] if f in _MAKERS and len(args) > 1 else kwargs.get("dtype")
    if dtype is not None and (kind := _kind_of(dtype)) in ("f", "c"):
        return _AS_COMPLEX if kind == "c" else AS_ELEMENT
    package = module.partition(".")[0] if isinstance(module, str) else ""
    of_arrays = type(f) is np.ufunc or package == "numpy"
    of_arrays = of_arrays or getattr(f, "__objclass__", None) in (np.ndarray, np.ufunc)
    if f in _OF_MEMORY:
        return ("__array__", _SEQUENCE)
    if of_arrays or (package == "_operator" and any(isinstance(x, _ARRAYS) for x in args)):
        return _AS_ARRAY
    if package == "_operator":
        return ("__array__", _SEQUENCE)
    return ("__array__", _MEMORY) if package == "scipy" else ("__array__",)


_ARRAYS = (np.ndarray, np.generic)
_OF_ITERABLES = (math.fsum, math.prod, math.dist, getattr(math, "sumprod", None))
"""Functions whose operands are iterables, never numbers."""
_OF_MEMORY = (np.frombuffer, np.memmap)
"""Functions whose operand is memory, not a number."""
_MAKERS = (
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray,
    np.asarray_chkfinite, np.require,
)  # fmt: skip


def _kind_of(dtype: Any) -> str:
    """Return the kind of a dtype or of an object that NumPy accepts as one, else an empty text."""
    try:
        return str(np.dtype(dtype).kind)
    except (TypeError, ValueError):  # NumPy has its own message
        return ""


def as_element_of(dtype: np.dtype[Any], alone: bool = False) -> Names:
    """Return the methods by which an object becomes elements of a `dtype`; one if `alone`."""
    if dtype.kind == "V":
        return AS_ELEMENT
    if dtype.kind not in "fc":
        return () if alone else _AS_ARRAY
    names = _AS_COMPLEX if dtype.kind == "c" else AS_ELEMENT
    return (*names[1:-2], _ALONE) if alone else names


def holds_unlike_elements(dtype: Any, items: Any) -> bool:
    """Return whether `items` holds a value that converts differently in a list than alone."""
    if np.dtype(dtype).names is not None:
        return False
    kinds = {*map(type, items)} - CHILDLESS_TYPES
    return bool(kinds - {np.ndarray}) or any(type(x) is np.ndarray and x.ndim for x in items)


def converts(names: Names, value: Any) -> bool:
    """Return whether `value`, or an element of that list, has one of the methods in Python."""
    stack, seen = [value], set()
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind is list or kind is tuple or kind is deque:
            if id(value) not in seen and not _PLAIN.issuperset(map(type, value)):
                seen.add(id(value))  # a list may hold itself
                stack += () if _ALONE in names else value
        elif _special(names, value) is not None or _is_listed(names, kind):
            return True
    return False


def as_operand(names: Names, value: Any) -> bool:
    """Return `converts` of one operand; an array is never converted to an array."""
    if names and names[0] == "__array__" and issubclass(type(value), np.ndarray):
        return False
    return converts(names, value)


def _is_listed(names: Names, kind: type) -> bool:
    return kind not in _PLAIN and _SEQUENCE in names and is_sequence(kind)


def as_c_takes(f: Any, name: str, args: tuple[Any, ...], result: Any) -> Any:
    """Return, or raise, what ``f(*args)`` in C does if method `name` of ``args[0]`` returned
    `result`."""
    stand_in = type(type(args[0]).__name__, (), {name: lambda *_: result})
    return f(stand_in(), *args[1:])


def _special(names: Names, value: Any) -> Any:
    """Return a function for the first of the methods that converts `value`, or ``None``."""
    kind = type(value)
    if not names:
        return None
    if kind is np.flatiter and names[0] == "__array__":
        return array_of
    if kind in CHILDLESS_TYPES or kind is np.ndarray:
        return None
    if _MEMORY in names and shows_memory(value):
        return seen_as_array
    if not AS_NUMBERS.of(kind):
        return _number_by_c(kind, names)
    if _SEQUENCE in names and (is_sequence(kind) or issubclass(kind, list | tuple)):
        if special_of(kind, "__array__") is None and names[0] == "__array__":
            return None  # NumPy converts the elements, whatever other methods there are
    if issubclass(kind, np.ndarray) and value.ndim and names[0] == "__array__":
        return None
    for name in _asked_of(kind, names):
        special = special_of(kind, name)
        if special is not None:
            return special if type(special) is FunctionType else None
    return None


def _number_by_c(kind: type, names: Names) -> Any:
    """Return the conversion in C of a class like `Decimal` to an element of an array."""
    of_numpy = "__array__" in names or _ALONE in names
    if "__float__" not in names or not of_numpy or issubclass(kind, _NUMBERS):
        return None
    asked = (special_of(kind, name) for name in names if name in ("__complex__", "__float__"))
    return next((special for special in asked if special is not None), None)


_NUMBERS = (np.ndarray, np.generic, float, int, complex)


def _asked_of(kind: type, names: Names) -> Names:
    """Return the methods that apply to `kind`: not all are called on numbers and arrays."""
    if not names or not issubclass(kind, _NUMBERS):
        return names
    if names == _AS_DOUBLE:
        return AS_NUMBER
    if names[0] != "__array__" and _ALONE not in names:
        return () if issubclass(kind, float) and names[0] == "__float__" else names
    if issubclass(kind, np.generic):
        return ()
    into_complex = "__complex__" in names
    if issubclass(kind, float):
        return ("__complex__",) if into_complex else ("__float__",)
    if into_complex and issubclass(kind, complex | np.ndarray):
        return ()
    return names[1:] if names[0] == "__array__" else names


def _numbers_of(names: Any, value: Any, nested: Any = False) -> Any:
    """Return `value` with objects converted by the methods; this source is differentiated."""
    special = _special(names, value)
    if special is not None:
        number = special(value)
        if special is not seen_as_array:
            check_number(names, value, number)
        if nested and _is_one_array(names, value, number):
            alone = as_element_of(number.dtype, True)
            return _numbers_of(alone, value) if converts(alone, value) else float(value)
        return np.float64(number) if _is_double(names, value, number) else number
    if converts(names, value):
        return [_numbers_of(names, item, True) for item in value]
    return value


def _is_one_array(names: Names, value: Any, number: Any) -> bool:
    """Return whether ``__array__`` of an object in a list gave an array without axes: NumPy then
    converts the object to a number."""
    asked = names[0] == "__array__" and special_of(type(value), "__array__") is not None
    return asked and not isinstance(value, _NUMBERS) and np.ndim(number) == 0


def _is_double(names: Names, value: Any, number: Any) -> bool:
    """Return whether NumPy fixes double precision: it does for subclasses of `float`."""
    return names[0] == "__array__" and isinstance(value, float) and isinstance(number, float)


def _indices_of(index: Any) -> Any:
    """Return `index` with integers in place of objects; this source is differentiated."""
    if not has_index(index):
        return index
    if isinstance(index, slice):
        return slice(*[_indices_of(part) for part in (index.start, index.stop, index.step)])
    if isinstance(index, tuple):
        return tuple([_indices_of(part) for part in index])
    number = _special(_INDEX, index)(index)
    check_number(_INDEX, index, number)
    return number


def check_number(names: Names, value: Any, number: Any) -> None:
    """Raise Python's error if C would reject what the first of the methods returned."""
    kind = type(value)
    names = _asked_of(kind, names) or names
    name = next(name for name in names if special_of(kind, name) is not None)
    convert = _CONVERSIONS.get(name)
    if convert is not None and type(number) is not convert[1]:
        as_c_takes(convert[0], name, (value,), number)


_CONVERSIONS: dict[str, tuple[Any, type]] = {
    "__float__": (float, float),
    "__index__": (operator.index, int),
    "__complex__": (complex, complex),
}


non_differentiable(has_index, converts, holds_unlike_elements, as_element_of)
non_differentiable(_special, _is_double, _is_one_array, check_number)


def _converted(
    record: list[Any], slot: int, run: Entry, args: tuple[Any, ...], f: Any, *names: Any
) -> Any:
    """Run ``run(record, slot, *args)`` with operands converted by `f`."""
    memory, n = record[0], len(args)
    inner: list[Any] = [memory, *[None] * (n + 1)]

    def converted_back(y_bar: Any) -> tuple[Any, ...]:
        bars = [None] * (n + 1) if inner[n + 1] is None else [*inner[n + 1](y_bar)]
        for i in range(n, 0, -1):
            if inner[i] is not None:
                bars[i] = inner[i](bars[i])[-1]
        return tuple(bars)

    record[slot] = converted_back
    unit = unit_of(f)
    operands = [
        call_unit(memory, inner, i, unit, f, (*names, value), {})
        if type(value) is not np.ndarray and (not names or as_operand(names[0], value))
        else value
        for i, value in enumerate(args, 1)
    ]
    return run(inner, n + 1, *operands)


def by_index(record: list[Any], slot: int, run: Entry, args: tuple[Any, ...]) -> Any:
    """Run ``run(record, slot, *args)`` with integers in place of objects with ``__index__``."""
    return _converted(record, slot, run, args, _indices_of)


def with_numbers(
    record: list[Any], slot: int, names: Names, run: Entry, args: tuple[Any, ...]
) -> Any:
    """Run ``run(record, slot, *args)`` with objects converted to numbers or arrays by `names`."""
    return _converted(record, slot, run, args, _numbers_of, names)
