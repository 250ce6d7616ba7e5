"""Arrays whose memory an object of C may read without being given them.

Such an object was made from an array earlier, so its results depend on later writes into that
array. The garbage collector tells what Python's own C objects hold, and NumPy's iterators have
attributes for that; compiled classes of other libraries may hide their pointers. Such an object may
read any array that existed before the differentiated call or that the call has passed to foreign
code, but none that the call has made and kept.
"""

from __future__ import annotations

import gc
import operator
import sys
from collections.abc import Callable, Iterable
from types import (
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import ref as weakref

import numpy as np

from adjoint.primal.array_memory import Alias, address_of, bounds_of, root_of
from adjoint.primal.memo_by_class import ByClass

_ARRAYS_OF: dict[type, Callable[[Any], Iterable[Any]]] = {
    np.nditer: lambda iterator: iterator.operands,
    np.broadcast: lambda together: [flat.base for flat in together.iters],
    np.flatiter: lambda flat: (flat.base,),
}


def arrays_of(owner: Any) -> list[Any] | None:
    """Return the arrays that a NumPy iterator reads, which the garbage collector does not see;
    ``None`` for other objects."""
    arrays = _ARRAYS_OF.get(type(owner))
    if arrays is None:
        return None
    try:
        return [*arrays(owner)]
    except ValueError:  # the iterator was closed
        return []


# ---- objects -------------------------------------------------------------------------------------


def _is_untold(kind: type) -> bool:
    """Return whether objects of a class have a C part of a library that may hide arrays from the
    garbage collector."""
    if kind.__name__ in _FUNCTIONS or hasattr(kind, "__members__"):  # enumerations of pybind11
        return False
    return any(
        str(base.__module__).partition(".")[0] not in _TELLING
        and any(
            type(value) in _OF_C and value.__objclass__ is base
            for name, value in vars(base).items()
            if name not in _OF_ANY_CLASS
        )
        for base in kind.__mro__
    )


_TELLING = sys.stdlib_module_names | {"numpy", "pandas", "wrapt"}
_OF_C = (MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType)
_OF_ANY_CLASS = ("__dict__", "__weakref__")
_FUNCTIONS = ("cython_function_or_method", "fused_cython_function", "nb_func", "nb_method")
"""Types of compiled functions, which have no state."""
_is_of_another_library = ByClass(_is_untold)


def looks_elsewhere(owner: Any) -> bool:
    """Return whether an object may read memory of arrays that it does not visibly hold."""
    kind = type(owner)  # `isinstance` would fail for a proxy of a freed object
    if _is_of_another_library(kind):
        return True
    if kind.__flags__ & _HEAPTYPE and "_ctypes" in sys.modules:
        kinds = sys.modules["_ctypes"]
        if issubclass(kind, kinds._SimpleCData | kinds.Array | kinds.Structure | kinds.Union):
            return not owner._b_needsfree_ and owner._b_base_ is None  # it was made from an address
        return issubclass(kind, kinds._Pointer)
    return False


_HEAPTYPE = 1 << 9


def _shares_memory(kind: type) -> bool:
    """Return whether objects of a class may write into memory of arrays that they hold."""
    of_ctypes = any(base.__name__ == "_CData" for base in kind.__mro__)
    return issubclass(kind, memoryview) or of_ctypes or _is_of_another_library(kind)


_shares = ByClass(_shares_memory)


def arrays_behind(f: Any, values: Iterable[Any]) -> list[Any]:
    """Return the floating-point arrays that `f` may write through operands that share memory."""
    if id(f) in _READING:
        return []
    queue = [value for value in values if _shares(type(value))]
    found: dict[int, Any] = {}
    for owner in queue:  # `queue` grows in the loop
        for part in gc.get_referents(owner):
            if issubclass(type(part), np.ndarray):
                if part.dtype.kind in "fc" and part.flags.writeable and root_of(part).base is None:
                    found[id(part)] = part
            elif (type(part) in _BETWEEN or _shares(type(part))) and len(queue) < _FEW:
                queue.append(part)
    return [*found.values()]


def writes_unseen(f: Any, given: Iterable[Any]) -> bool:
    """Return whether a C function may write into shared memory where neither the object nor the
    array can be made read-only."""
    if any(f is one for one in _READING) or issubclass(type(f), type):
        return False
    if type(f) in _OF_OBJECTS and f.__name__ in ("__setitem__", "__delitem__"):
        return True
    if any(base.__name__ == "CFuncPtr" for base in type(f).__mro__):
        return True
    return any(map(_is_of_another_library, map(type, given)))


_OF_OBJECTS = (MethodWrapperType, WrapperDescriptorType, MethodDescriptorType)
_READING = frozenset(map(id, (getattr, operator.getitem, next, iter, len)))
_FEW = 64
_BETWEEN = frozenset({dict, tuple, list, type(gc.get_referents(memoryview(b""))[0])})
"""Types that link a C object to an array, such as the managed buffer of a view."""


# ---- arrays --------------------------------------------------------------------------------------


def note_made(memory: Any, y: np.ndarray[Any, Any]) -> weakref[np.ndarray[Any, Any]]:
    """Note an array that the call has made and that owns its memory; return a weak reference."""
    made = memory.created[id(y)] = weakref(y)
    return made


def _is_made(memory: Any, root: np.ndarray[Any, Any]) -> bool:
    made = memory.created.get(id(root))
    return made is not None and made() is root


def note_written(memory: Any, root: np.ndarray[Any, Any]) -> None:
    """Note that the memory of an array is written for the first time."""
    memory.written[id(root)] = root
    if not _is_made(memory, root):
        memory.exposed[id(root)] = root


def give_away(memory: Any, values: Iterable[Any]) -> None:
    """Note that an object of C got hold of the arrays in `values`."""
    for value in values:
        if issubclass(type(value), np.ndarray):
            root = root_of(value)
            memory.created.pop(id(root), None)
            if id(root) in memory.written:
                memory.exposed[id(root)] = root


def written_before(memory: Any) -> list[np.ndarray[Any, Any]]:
    """Return the exposed arrays that had been written at the present point of the reverse sweep."""
    left = dict(memory.exposed)
    found = []
    for entry in memory.entries()[: memory.position] if left else ():
        if len(entry) > 1 and issubclass(type(entry[1]), np.ndarray):
            root = left.pop(id(root_of(entry[1])), None)
            if root is not None:
                found.append(root)
                if not left:
                    break
    return found


def owner_among(root: np.ndarray[Any, Any], arrays: Iterable[np.ndarray[Any, Any]]) -> Any:
    """Return the one of `arrays` that owns the memory of `root`, if an object that is no array
    links them; else `root`."""
    between: Any = root.base
    if type(between) is Alias:
        return root
    at = address_of(root)
    for array in arrays:
        low, high = bounds_of(array)
        if low <= at < high:
            return array
    return root
