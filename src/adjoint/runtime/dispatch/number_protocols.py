"""Objects that stand for indices, numbers and arrays: what C would ask of them, by ``__index__``,
``__float__`` or ``__array__``, is asked here, as code like any other.

What shows its memory to C instead (`array.array`, ``__array_interface__``), or says by
C which number it is (`Decimal`), is asked by a call of its own, which nobody can follow.
"""

from __future__ import annotations

import math
import operator
from collections import UserString, deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.childless_types import LEAVES
from adjoint.primal.flat_iterators import array_of
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.rulekit.registry import non_differentiable
from adjoint.runtime.cache.units import unit_of
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.foreign.memory_of_c import seen_as_array, shows_memory
from adjoint.runtime.foreign.user_code_reach import INDEXED, Asks

Names = tuple[str, ...]
Entry = Callable[..., Any]
AS_NUMBERS = Asks("__array__", "__float__", "__complex__", "__index__")
_PLAIN = LEAVES | {np.ndarray}
_INDEX: Names = ("__index__",)
_SEQUENCE = "a sequence"
"""Among the names: what has a length and elements is as good as a list."""
_MEMORY = "memory"
"""Among the names: what shows its memory is as good as an array."""
_ALONE = "alone"
"""Among the names: an array is given one element, and goes into nothing."""
AS_NUMBER: Names = ("__float__", "__index__")
AS_ELEMENT: Names = ("__array__", *AS_NUMBER, _SEQUENCE, _MEMORY)
"""By what an object becomes an element of an array of floats, or some."""
_AS_COMPLEX: Names = ("__array__", "__complex__", *AS_ELEMENT[1:])
_AS_DOUBLE: Names = (*AS_NUMBER, "__array__", _SEQUENCE, _MEMORY)
"""What `np.float64` asks, of which `float` is a base, in its order."""
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
is_sequence = ByClass(_is_sequence)
"""Whether NumPy takes objects of a class, which is the user's, for lists of their elements."""


def is_odd(index: Any) -> bool:
    """Whether an index is, or holds, an object whose ``__index__`` is written in Python."""
    kind = type(index)
    if kind in LEAVES or kind is np.ndarray:
        return False
    if kind is slice:
        return is_odd(index.start) or is_odd(index.stop) or is_odd(index.step)
    if kind is tuple:
        return any(map(is_odd, index))
    return bool(INDEXED.of(kind))


def special_names(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Names:
    """The methods by which `f` makes numbers or arrays of objects, the first one that there is."""
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
"""What they are given are iterables, never numbers."""
_OF_MEMORY = (np.frombuffer, np.memmap)
"""What they are given is memory, not numbers."""
_MAKERS = (
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray,
    np.asarray_chkfinite, np.require,
)  # fmt: skip


def _kind_of(dtype: Any) -> str:
    """That of a data type, or of what stands for one."""
    try:
        return str(np.dtype(dtype).kind)
    except (TypeError, ValueError):  # NumPy has its own message
        return ""


def as_element_of(dtype: np.dtype[Any], alone: bool = False) -> Names:
    """By what an object becomes elements of an array of a type; `alone`, one of them."""
    if dtype.kind == "V":
        return AS_ELEMENT
    if dtype.kind not in "fc":
        return () if alone else _AS_ARRAY
    names = _AS_COMPLEX if dtype.kind == "c" else AS_ELEMENT
    return (*names[1:-2], _ALONE) if alone else names


def holds_odd_elements(dtype: Any, items: Any) -> bool:
    """Whether a list holds what is another element of an array alone than in a list."""
    if np.dtype(dtype).names is not None:
        return False
    kinds = {*map(type, items)} - LEAVES
    return bool(kinds - {np.ndarray}) or any(type(x) is np.ndarray and x.ndim for x in items)


def converts(names: Names, value: Any) -> bool:
    """Whether `value`, or something in that list, has one of the methods, written in Python."""
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
    """`converts`, of an operand of its own: an array is one, whatever methods its class has."""
    if names and names[0] == "__array__" and issubclass(type(value), np.ndarray):
        return False
    return converts(names, value)


def _is_listed(names: Names, kind: type) -> bool:
    return kind not in _PLAIN and _SEQUENCE in names and is_sequence(kind)


def as_c_takes(f: Any, name: str, args: tuple[Any, ...], result: Any) -> Any:
    """What C's ``f(*args)`` makes of what the special method `name` of the first argument has
    returned: the error, too, of what that must not be."""
    stand_in = type(type(args[0]).__name__, (), {name: lambda *_: result})
    return f(stand_in(), *args[1:])


def _special(names: Names, value: Any) -> Any:
    """The first of the methods, as a function."""
    kind = type(value)
    if not names:
        return None
    if kind is np.flatiter and names[0] == "__array__":
        return array_of
    if kind in LEAVES or kind is np.ndarray:
        return None
    if _MEMORY in names and shows_memory(value):
        return seen_as_array
    if not AS_NUMBERS.of(kind):
        return _number_by_c(kind, names)
    if _SEQUENCE in names and (is_sequence(kind) or issubclass(kind, list | tuple)):
        if special_of(kind, "__array__") is None and names[0] == "__array__":
            return None  # NumPy goes into it, whatever else it has
    if issubclass(kind, np.ndarray) and value.ndim and names[0] == "__array__":
        return None
    for name in _asked_of(kind, names):
        special = special_of(kind, name)
        if special is not None:
            return special if type(special) is FunctionType else None
    return None


def _number_by_c(kind: type, names: Names) -> Any:
    """How an element of an array says which number it is, by code that is not the user's: it may be
    one of a kind of its own, like `Decimal`."""
    of_numpy = "__array__" in names or _ALONE in names
    if "__float__" not in names or not of_numpy or issubclass(kind, _NUMBERS):
        return None
    asked = (special_of(kind, name) for name in names if name in ("__complex__", "__float__"))
    return next((special for special in asked if special is not None), None)


_NUMBERS = (np.ndarray, np.generic, float, int, complex)


def _asked_of(kind: type, names: Names) -> Names:
    """Which of the methods count: numbers and arrays are not asked for an array, and some are what
    they are."""
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
    """`value` with what the methods give; this is lowered."""
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
    """Whether an object in a list, asked for an array, has one without dimensions: to NumPy it is
    one element then, and is asked for a number."""
    asked = names[0] == "__array__" and special_of(type(value), "__array__") is not None
    return asked and not isinstance(value, _NUMBERS) and np.ndim(number) == 0


def _is_double(names: Names, value: Any, number: Any) -> bool:
    """To NumPy a float of a class of its own is not of any precision, as Python's are."""
    return names[0] == "__array__" and isinstance(value, float) and isinstance(number, float)


def _indices_of(index: Any) -> Any:
    """`index` with numbers in place of objects; this is lowered."""
    if not is_odd(index):
        return index
    if isinstance(index, slice):
        return slice(*[_indices_of(part) for part in (index.start, index.stop, index.step)])
    if isinstance(index, tuple):
        return tuple([_indices_of(part) for part in index])
    number = _special(_INDEX, index)(index)
    check_number(_INDEX, index, number)
    return number


def check_number(names: Names, value: Any, number: Any) -> None:
    """Whether C would take what the first of the methods has returned."""
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


non_differentiable(is_odd, converts, holds_odd_elements, as_element_of)
non_differentiable(_special, _is_double, _is_one_array, check_number)


def _converted(
    record: list[Any], slot: int, run: Entry, args: tuple[Any, ...], f: Any, *names: Any
) -> Any:
    """``run(record, slot, *args)`` with what `f` makes of the operands."""
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
    """``run(record, slot, *args)`` with numbers in place of objects that have an ``__index__``."""
    return _converted(record, slot, run, args, _indices_of)


def with_numbers(
    record: list[Any], slot: int, names: Names, run: Entry, args: tuple[Any, ...]
) -> Any:
    """``run(record, slot, *args)`` with numbers and arrays in place of objects that have one of the
    methods."""
    return _converted(record, slot, run, args, _numbers_of, names)
