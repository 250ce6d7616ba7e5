"""Memory that an object of C may look at without being given it.

Such an object was made from an array earlier, and what it gives depends on what has been written
into that array since. The collector says what Python's own objects of C hold, and NumPy's iterators
say it themselves; the objects of other libraries (compiled classes with pointers) need not say
anything, so that any array that was there before the differentiated call may be one that they look
at, and any that was given away in it. Arrays that the call has made itself and kept are none.
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

from adjoint.primal.array_memory import Twin, address_of, bounds_of, root_of
from adjoint.primal.memo_by_class import ByClass

_ARRAYS_OF: dict[type, Callable[[Any], Iterable[Any]]] = {
    np.nditer: lambda iterator: iterator.operands,
    np.broadcast: lambda together: [flat.base for flat in together.iters],
    np.flatiter: lambda flat: (flat.base,),
}


def arrays_of(owner: Any) -> list[Any] | None:
    """The arrays that an iterator of NumPy's looks at, of which the collector is not told; ``None``
    for anything else."""
    arrays = _ARRAYS_OF.get(type(owner))
    if arrays is None:
        return None
    try:
        return [*arrays(owner)]
    except ValueError:  # it was closed
        return []


# ---- objects -------------------------------------------------------------------------------------


def _is_untold(kind: type) -> bool:
    """Whether objects of a class have a part in C, of a library of which it is not known that it
    tells the collector of all arrays."""
    if kind.__name__ in _FUNCTIONS or hasattr(kind, "__members__"):  # an enumeration of pybind11
        return False
    return any(
        str(base.__module__).partition(".")[0] not in _TELLING
        and any(type(value) in _OF_C and value.__objclass__ is base for value in _own(base))
        for base in kind.__mro__
    )


def _own(base: type) -> list[Any]:
    return [value for name, value in vars(base).items() if name not in _OF_ANY_CLASS]


_TELLING = sys.stdlib_module_names | {"numpy", "pandas", "wrapt"}
_OF_C = (MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType)
_OF_ANY_CLASS = ("__dict__", "__weakref__")
_FUNCTIONS = ("cython_function_or_method", "fused_cython_function", "nb_func", "nb_method")
"""Types of compiled functions, which have no state."""
_is_of_another_library = ByClass(_is_untold)


def looks_elsewhere(owner: Any) -> bool:
    """Whether something may look at memory of arrays that it is not seen to hold."""
    kind = type(owner)  # a proxy of what is gone may not be asked
    if _is_of_another_library(kind):
        return True
    if kind.__flags__ & _HEAPTYPE and "_ctypes" in sys.modules:
        kinds = sys.modules["_ctypes"]
        if issubclass(kind, kinds._SimpleCData | kinds.Array | kinds.Structure | kinds.Union):
            return not owner._b_needsfree_ and owner._b_base_ is None  # it is at an address
        return issubclass(kind, kinds._Pointer)
    return False


_HEAPTYPE = 1 << 9


def _shares_memory(kind: type) -> bool:
    """Whether objects of a class may write into memory of arrays that they hold."""
    of_ctypes = any(base.__name__ == "_CData" for base in kind.__mro__)
    return issubclass(kind, memoryview) or of_ctypes or _is_of_another_library(kind)


_shares = ByClass(_shares_memory)


def arrays_behind(f: Any, values: Iterable[Any]) -> list[Any]:
    """The arrays of reals that objects of C among what `f` is given are seen to share memory with,
    and that it may write to."""
    if id(f) in _READING:
        return []
    queue = [value for value in values if _shares(type(value))]
    found: dict[int, Any] = {}
    for owner in queue:  # which grows
        for part in gc.get_referents(owner):
            if issubclass(type(part), np.ndarray):
                if part.dtype.kind in "fc" and part.flags.writeable and root_of(part).base is None:
                    found[id(part)] = part
            elif (type(part) in _BETWEEN or _shares(type(part))) and len(queue) < _FEW:
                queue.append(part)
    return [*found.values()]


def writes_unseen(f: Any, given: Iterable[Any]) -> bool:
    """Whether a function of C may write into memory that objects of C among what it is `given`
    share, where neither the object nor the array can be locked."""
    if any(f is one for one in _READING) or issubclass(type(f), type):
        return False
    if type(f) in _OF_OBJECTS and f.__name__ in ("__setitem__", "__delitem__"):
        return True
    if any(base.__name__ == "CFuncPtr" for base in type(f).__mro__):
        return True
    return any(map(_is_of_another_library, map(type, given)))


_OF_OBJECTS = (MethodWrapperType, WrapperDescriptorType, MethodDescriptorType)
_READING = frozenset(map(id, (getattr, operator.getitem, next, iter, len)))
_READING = frozenset(map(id, (getattr, operator.getitem, next, iter, len)))
_FEW = 64
_BETWEEN = frozenset({dict, tuple, list, type(gc.get_referents(memoryview(b""))[0])})
"""Types of what stands between an object of C and an array: what a view keeps of a buffer."""


# ---- arrays --------------------------------------------------------------------------------------


def note_made(memory: Any, y: np.ndarray[Any, Any]) -> weakref[np.ndarray[Any, Any]]:
    """Note an array that owns its memory and that the call has made; gives a reference to it."""
    made = memory.made[id(y)] = weakref(y)
    return made


def _is_made(memory: Any, root: np.ndarray[Any, Any]) -> bool:
    made = memory.made.get(id(root))
    return made is not None and made() is root


def note_written(memory: Any, root: np.ndarray[Any, Any]) -> None:
    """Note that the memory of an array is written for the first time."""
    memory.written[id(root)] = root
    if not _is_made(memory, root):
        memory.outside[id(root)] = root


def give_away(memory: Any, values: Iterable[Any]) -> None:
    """Note that an object of C got hold of the arrays in `values`."""
    for value in values:
        if issubclass(type(value), np.ndarray):
            root = root_of(value)
            memory.made.pop(id(root), None)
            if id(root) in memory.written:
                memory.outside[id(root)] = root


def written_before(memory: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays that had been written at the point that a sweep has come to, and that objects of C
    may look at."""
    left = dict(memory.outside)
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
    """`root`, or that one of some arrays which owns the memory that it looks at, if something that
    is no array stands between them."""
    between: Any = root.base
    if type(between) is Twin:
        return root
    at = address_of(root)
    for array in arrays:
        low, high = bounds_of(array)
        if low <= at < high:
            return array
    return root
