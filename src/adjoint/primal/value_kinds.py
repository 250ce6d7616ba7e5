"""Kinds of values: whether the cotangent travels with the value, and which parts a value holds."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections import OrderedDict, defaultdict, deque
from types import (
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from adjoint.primal.engine_object import EngineObject
from adjoint.primal.exposed_arrays import arrays_of
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.memo_by_code import CodeTable

NUMBERS: frozenset[type] = frozenset({float, int, complex, bool})


ATOMS: frozenset[type] = frozenset(
    {
        type(None),
        bool,
        int,
        str,
        range,
        slice,
        type,
        FunctionType,
        ModuleType,
        type(Ellipsis),
        type(NotImplemented),
    }
)
"""Types of values that themselves carry no derivative."""


def by_value(value: Any) -> bool:
    """Return whether `value` is treated by value: a number, or an array of numbers."""
    kind = type(value)  # `isinstance` may call `__getattribute__` of a user class for `__class__`
    if kind is float or kind in NUMBERS:
        return True
    if kind is np.ndarray or issubclass(kind, np.ndarray):
        return _dtype_of(value).char != "O"  # type: ignore[no-any-return]
    return issubclass(kind, (np.generic, float, int, complex))


def is_objects(value: Any) -> bool:
    """Return whether `value` is an array of objects: a container of references, as a list is."""
    return issubclass(type(value), np.ndarray) and _dtype_of(value).char == "O"


def is_one_object(x: Any) -> bool:
    """Return whether NumPy certainly makes an array of objects with one element of `x`: an object
    that computes its attributes by Python code may be anything."""
    kind = type(x)
    if issubclass(kind, int | float | complex | str | np.generic):
        return False
    if any(type(getattr(kind, name, None)) is FunctionType for name in _BY_ITSELF):
        return False
    fields = fields_of(x) or {}
    if any(hasattr(kind, name) or name in fields for name in _SEVERAL):
        return False
    return sys.version_info >= (3, 12) or not _shows_memory(x)


def _shows_memory(x: Any) -> bool:
    """Return whether `x` has a buffer; before Python 3.12 no attribute tells."""
    try:
        with memoryview(x):
            return True
    except TypeError:
        return False


_BY_ITSELF = ("__getattr__", "__getattribute__")
_SEVERAL = ("__len__", "__array__", "__array_interface__", "__array_struct__", "__buffer__")


_dtype_of: Any = np.ndarray.dtype.__get__


def plain_number(value: Any) -> Any:
    """Convert a number of a class derived from a builtin or NumPy number to that base."""
    kind = type(value)
    if kind in NUMBERS:
        return value
    if issubclass(kind, np.generic) and kind.__module__ != "numpy":
        own = next(base for base in kind.__mro__ if base.__module__ == "numpy")
        return np.ndarray.view(np.asarray(value), np.ndarray).astype(own)[()]
    numbers: tuple[Any, ...] = (float, int, complex)
    for number in numbers:
        if issubclass(kind, number) and not issubclass(kind, np.generic):
            return number.__pos__(value)
    return value


def fields_of(obj: Any) -> dict[str, Any] | None:
    """Return the instance dictionary, which keys the shadow of the object's fields.

    It may be of any subclass of dict, the object itself included: ``self.__dict__ = self``.
    """
    try:
        kind = type(obj)
        if (
            # calls neither `__getattribute__` nor `__getattr__` of a user class
            type(kind.__getattribute__) is FunctionType
            or (
                not kind.__dictoffset__
                and kind.__flags__ & (1 << 9)  # Py_TPFLAGS_HEAPTYPE
                and kind is not threading.local  # C finds the fields of this thread
            )
        ):
            fields = object.__getattribute__(obj, "__dict__")
        else:
            fields = obj.__dict__
    except (AttributeError, ReferenceError):  # ReferenceError: the referent of a proxy was freed
        return None
    return fields if isinstance(fields, dict) else None


def slots_of(kind: type) -> dict[str, Any]:
    """Return the descriptors of slot attributes by name; of exceptions also those that C holds."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        seen = not is_of_builtins(base) or issubclass(base, BaseException)
        for name, value in vars(base).items():
            if seen and type(value) is MemberDescriptorType and name not in _FOR_C:
                found[name] = value
    if issubclass(kind, BaseException):
        found["args"] = _ARGS
    return found


_ARGS: Any = vars(BaseException)["args"]


def filled_slots(value: Any) -> dict[str, Any]:
    """Return the values of an object's slot attributes by name."""
    found = {}
    for name, slot in slots_of(type(value)).items():
        try:
            found[name] = slot.__get__(value)
        except AttributeError:
            continue
    return found


def is_of_builtins(kind: type) -> bool:
    """Return whether a class is a builtin, and does not only claim to be one by its module."""
    return kind.__module__ == "builtins" and "__slots__" not in vars(kind)


_FOR_C = (
    *("__dict__", "__dictoffset__", "__vectorcalloffset__", "__weaklistoffset__"),
    *("__suppress_context__", "print_file_and_line"),
)
"""Members of C classes that hold offsets or display options."""


def mapping_behind(view: Any) -> Any:
    """Return the mapping behind a view of a dict or a proxy; ``view.mapping`` is a proxy itself, so
    the garbage collector is asked."""
    return gc.get_referents(view)[0]


def held_by_c(owner: Any) -> list[Any]:
    """Return what an object of C holds, as far as the garbage collector or NumPy's iterators tell.

    A list or tuple that C has reserved is not full: iterating over it would crash the interpreter.
    """
    if (arrays := arrays_of(owner)) is not None:
        return arrays
    found: list[Any] = []
    for item in gc.get_referents(owner):
        if type(item) is list or type(item) is tuple:
            elements = gc.get_referents(item)
            if len(elements) < len(item):
                found += elements
                continue
        found.append(item)
    return found


def referent_of(owner: Any) -> Any:
    """Return the referent of a weak reference or proxy; ``None`` if freed, and for others."""
    kind = type(owner)
    if issubclass(kind, weakref.ref):
        return weakref.ref.__call__(owner)
    if kind in weakref.ProxyTypes:
        try:
            return owner.__sizeof__.__self__  # every class has it
        except (AttributeError, ReferenceError):
            return None
    return None


def has_field(obj: Any, name: str) -> bool:
    """Return whether a number or an array of a user class holds its own attribute `name`."""
    kind = type(obj)
    if not kind.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
        return False
    return name in (fields_of(obj) or ()) or name in slots_of(kind)


def content_of(cell: CellType, empty: Any = None) -> Any:
    """Return the content of a cell; `empty` where nothing was assigned yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return empty


def is_plain_object(value: Any) -> bool:
    """Return whether `value` is an ordinary object, structured by its fields or slots."""
    kind = type(value)
    if kind is SimpleNamespace or issubclass(kind, BaseException):
        return True
    if not kind.__flags__ & (1 << 9) or issubclass(
        kind, type | EngineObject
    ):  # Py_TPFLAGS_HEAPTYPE
        return False
    # Types made by C are often heap types, too, but their instances show neither fields nor slots.
    if is_array_of_others(value):
        return False
    return fields_of(value) is not None or any("__slots__" in vars(base) for base in kind.__mro__)


def is_array_of_others(value: Any) -> bool:
    """Return whether `value` is an array of a library that hides its numbers, such as those in GPU
    memory (https://data-apis.org/array-api, `__dlpack__`)."""
    kind = type(value)
    if not hasattr(kind, "__dlpack__") or issubclass(kind, np.ndarray | np.generic):
        return False
    return not fields_of(value)


def defined_by(kind: type, name: str) -> Any:
    """Return the special method that Python finds, ignoring attributes of the metaclass."""
    if type(kind) is type:
        return getattr(kind, name, None)
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def is_partly_c(kind: type) -> bool:
    """Return whether objects of a class may hold something that is neither a field nor a slot: the
    class has C methods or attributes, and is no container, number or exception."""
    known = _partly_c.get(id(kind))
    if known is not None:
        return known[1]
    return _partly_c.put(
        kind,
        any(
            type(value) in _OF_C and value.__objclass__ is base and name not in _OF_ANY_CLASS
            for base in kind.__mro__
            if base not in _SEEN and not issubclass(base, BaseException | np.generic)
            for name, value in vars(base).items()
        ),
    )


_partly_c = CodeTable[bool]()  # entering a `WeakKeyDictionary` would run Python code


_OF_C = (MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType)
_OF_ANY_CLASS = ("__dict__", "__weakref__")
"""Descriptors of C in every class."""


_SEEN = frozenset({
    object, list, tuple, dict, set, frozenset, deque, defaultdict, OrderedDict, float, int, bool,
    complex, str, bytes, np.ndarray, SimpleNamespace, threading.local,
})  # fmt: skip
"""Types of C whose contents are known."""


FLOAT64 = np.dtype(np.float64)


REALS = frozenset({float, int, np.float64})
"""Real double-precision scalars: they compute alike, and a cotangent may be either float type."""


REAL_NUMBERS = frozenset({float, int, bool})


def are_numbers(xs: Any, start: Any) -> bool:
    """Return whether ``sum(xs, start)`` of a list or tuple is a builtin real number."""
    if type(xs) not in (list, tuple) or type(start) not in REAL_NUMBERS:
        return False
    return REAL_NUMBERS.issuperset(map(type, xs))


has_slots: ByClass = ByClass(lambda kind: bool(slots_of(kind)))


PLAIN = frozenset({float, int, bool, complex, np.ndarray, np.float64, np.float32, type(None)})
"""Types of arguments that are numbers, arrays, or nothing."""
