"""What kind of value something is: whether its cotangent travels with it, and where it holds what
carries others."""

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

from adjoint.primal.container_contents import ABSENT
from adjoint.primal.engine_object import Hidden
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
"""Types whose values hold nothing that carries a derivative by itself."""


def by_value(value: Any) -> bool:
    """Whether the cotangent of `value` travels with the name: numbers, and arrays of them."""
    kind = type(value)  # isinstance would ask a user's __getattribute__ for __class__
    if kind is float or kind in NUMBERS:
        return True
    if kind is np.ndarray or issubclass(kind, np.ndarray):
        return _dtype_of(value).char != "O"  # type: ignore[no-any-return]
    return issubclass(kind, (np.generic, float, int, complex))


def is_objects(value: Any) -> bool:
    """Whether `value` is an array of objects: a container, which holds references as a list
    does."""
    return issubclass(type(value), np.ndarray) and _dtype_of(value).char == "O"


def is_one_object(x: Any) -> bool:
    """Whether NumPy makes an array of objects of `x`, with one element, for sure: what says of
    itself by code of its own which attributes it has may be anything."""
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
    """Whether NumPy may look at the memory of `x`: before Python 3.12 no attribute says so."""
    try:
        with memoryview(x):
            return True
    except TypeError:
        return False


_BY_ITSELF = ("__getattr__", "__getattribute__")
_SEVERAL = ("__len__", "__array__", "__array_interface__", "__array_struct__", "__buffer__")


_dtype_of: Any = np.ndarray.dtype.__get__


def plain_number(value: Any) -> Any:
    """A number of a class derived from one of Python's as that has it."""
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


_PRECISE: dict[type, Any] = {int: np.int64, float: np.float64, complex: np.complex128}


def fields_of(obj: Any) -> dict[str, Any] | None:
    """The instance dictionary, which is what the shadow of an object's fields is keyed by.

    It may be any kind of dict, the object itself included: ``self.__dict__ = self``.
    """
    try:
        kind = type(obj)
        if (
            # by no method of the user's: neither `__getattribute__` nor, where there is none,
            # `__getattr__`
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
    except (AttributeError, ReferenceError):  # the latter: a proxy of what is gone
        return None
    return fields if isinstance(fields, dict) else None


def slots_of(kind: type) -> dict[str, Any]:
    """The slot descriptors of a class by attribute name; of exceptions also what C holds."""
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
    """What the slots of an object hold, by name."""
    found = {}
    for name, slot in slots_of(type(value)).items():
        try:
            found[name] = slot.__get__(value)
        except AttributeError:
            continue
    return found


def is_of_builtins(kind: type) -> bool:
    """Whether a class is one of Python's own: one that was made in a namespace without a name says
    that it is."""
    return kind.__module__ == "builtins" and "__slots__" not in vars(kind)


_FOR_C = (
    *("__dict__", "__dictoffset__", "__vectorcalloffset__", "__weaklistoffset__"),
    *("__suppress_context__", "print_file_and_line"),
)
"""Members of classes in C that say where something is, or how it is shown."""


def mapping_behind(view: Any) -> Any:
    """The mapping behind a view of a dict or a proxy; ``view.mapping`` is a proxy, which only the
    collector looks through."""
    return gc.get_referents(view)[0]


def held_by_c(owner: Any) -> list[Any]:
    """What an object of C holds, as far as the collector sees it, or it says so itself.

    A list or tuple that C keeps room in is not full: to iterate over it would end the interpreter.
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
    """What a weak reference, or a proxy, refers to; ``None`` if that is gone, and for others."""
    kind = type(owner)
    if issubclass(kind, weakref.ref):
        return weakref.ref.__call__(owner)
    if kind in weakref.ProxyTypes:
        try:
            return owner.__sizeof__.__self__  # of the methods that all have, one that nobody writes
        except (AttributeError, ReferenceError):
            return None
    return None


def has_field(obj: Any, name: str) -> bool:
    """Whether a number or an array of a class of the user's holds an attribute of its own."""
    kind = type(obj)
    if not kind.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
        return False
    return name in (fields_of(obj) or ()) or name in slots_of(kind)


def content_of(cell: CellType) -> Any:
    """What a function has captured there; ``None`` where nothing was assigned yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def is_record(value: Any) -> bool:
    """Whether `value` is an ordinary object of a Python class, whose fields are its structure."""
    kind = type(value)
    if kind is SimpleNamespace or issubclass(kind, BaseException):
        return True
    if not kind.__flags__ & (1 << 9) or issubclass(kind, type | Hidden):  # Py_TPFLAGS_HEAPTYPE
        return False
    # Types made by C are often heap types too, but their instances show neither fields nor slots.
    if is_array_of_others(value):
        return False
    return fields_of(value) is not None or any("__slots__" in vars(base) for base in kind.__mro__)


def is_array_of_others(value: Any) -> bool:
    """Whether `value` is an array of a library that keeps its numbers out of sight, as those for
    other processors do (https://data-apis.org/array-api, `__dlpack__`)."""
    kind = type(value)
    if not hasattr(kind, "__dlpack__") or issubclass(kind, np.ndarray | np.generic):
        return False
    return not fields_of(value)


def defined_by(kind: type, name: str) -> Any:
    """The special method of a class that Python finds: no attribute that its metaclass makes up."""
    if type(kind) is type:
        return getattr(kind, name, None)
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def is_partly_c(kind: type) -> bool:
    """Whether objects of a class may hold what is neither a field nor a slot: it has methods or
    attributes of C that are not those of a container, a number or an exception."""
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


_partly_c = CodeTable[bool]()  # a `WeakKeyDictionary` would be entered: its code is Python


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
"""Real double-precision scalars, which all compute alike; a cotangent of one may be any of the
floats."""


REAL_NUMBERS = frozenset({float, int, bool})


def are_numbers(xs: Any, start: Any) -> bool:
    """Whether ``sum(xs, start)`` is one of Python's own numbers, in a list or a tuple."""
    if type(xs) not in (list, tuple) or type(start) not in REAL_NUMBERS:
        return False
    return REAL_NUMBERS.issuperset(map(type, xs))


def contents_of_cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


has_slots = ByClass(lambda kind: bool(slots_of(kind)))


PLAIN = frozenset({float, int, bool, complex, np.ndarray, np.float64, np.float32, type(None)})
"""Types of arguments that are numbers, arrays, or nothing."""
