"""Places that a function may write. A comparison does not find a write of the value that was there
before, as when a call is repeated."""

from __future__ import annotations

import builtins
import math
from collections import Counter, deque
from collections.abc import Iterable
from functools import cache
from operator import attrgetter, itemgetter, methodcaller
from types import CellType, CodeType, FrameType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from adjoint.primal.container_contents import elements_of, entries_of
from adjoint.primal.packages import is_of_a_library
from adjoint.primal.value_kinds import contents_of_cell, fields_of, filled_slots, has_slots
from adjoint.runtime.foreign.output_arguments import outputs_in
from adjoint.runtime.foreign.roots import given_to, modules_of, words_in
from adjoint.runtime.foreign.value_origins import CALLED, COPIED, VIEWS, Origin, stores_of
from adjoint.runtime.memory.saved import NUMBERS_KEPT


def may_fill_anything(frame: FrameType, held: list[Any]) -> bool:
    """Return whether the function that begins in `frame` may write into an array that another
    function gives it, or whose origin is unknown."""
    spaces = (given_to(frame), frame.f_globals, vars(builtins))
    filled = _filled(frame.f_code, spaces, held)
    return any(_is_given(name, spaces, held, _DEPTH) for name in filled)


_DEPTH = 3


def _filled(code: CodeType, spaces: Any, held: list[Any]) -> set[str]:
    """Return the origins that a function fills. Python functions that take an ``out`` are read when
    they are entered themselves."""
    stores = stores_of(code)
    found: list[Origin] = [out for f, out in stores.outputs if not _is_followed(f, spaces, held)]
    outputs = outputs_in(code, spaces)
    found += [out for f, out in outputs if not _is_followed(f, spaces, held)]
    if not is_of_a_library(spaces[1].get("__name__")):
        # a library overwrites in C only what its own Python code has made
        found.append(stores.overwritten)
    if _runs_text(code, spaces[1]):
        found.append(frozenset("?"))
    return stores.filled.union(*found)


def _runs_text(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Return whether a user function runs text with `eval` or `exec`, which may do anything."""
    return stores_of(code).runs_text and not is_of_a_library(namespace.get("__name__"))


def _is_followed(callee: Origin, spaces: Any, held: list[Any]) -> bool:
    """Return whether all functions that `callee` may name are in Python."""
    found: list[Any] = []
    for name in callee:
        if name.startswith("."):
            name = name[1:]
            owners = [one for one in held if any(name in vars(base) for base in type(one).__mro__)]
            found += [None if name in _fresh() else _of_class(one, name) for one in owners]
        else:
            found.append(next((space[name] for space in spaces if name in space), None))
    return bool(found) and all(type(f) is FunctionType for f in found)


@cache
def _fresh() -> frozenset[str]:
    """Return names of functions and methods whose results are new, unless they are in `VIEWS`.
    NumPy imports some of its modules lazily, so the names are read late."""
    owners = (np, np.ndarray, np.random, np.linalg, np.fft, math, str, bytes, float, complex)
    return frozenset(name for owner in owners for name in dir(owner)) | {"index", "count", "keys"}


def _is_given(name: str, spaces: Any, held: list[Any], depth: int) -> bool:
    """Return whether the value of that origin may be an array whose own origin is hidden."""
    if name == "?":
        return True
    if not name.startswith(CALLED):
        return _computed(name.removeprefix(COPIED), spaces, held)
    name = name[len(CALLED) :]
    if name.startswith("."):
        name = name[1:]
        own = [f for owner in held if (f := _of_class(owner, name)) is not None]
        if not own:
            return name not in _fresh() and name not in VIEWS
        return any(_gives(f, held, depth) for f in own)
    value = next((space[name] for space in spaces if name in space), None)
    return _gives(value, held, depth)


def _computed(name: str, spaces: Any, held: list[Any]) -> bool:
    """Return whether user code computes a variable, an attribute, or the elements of its value."""
    if name.startswith("."):
        if any(_computes(owner, name[1:]) for owner in held):
            return True
        spaces = [named_in(owner) for owner in held]
        name = name[1:]
    values = [space[name] for space in spaces if name in space]
    return any(_of_class(value, special) for value in values for special in _GIVING)


_GIVING = ("__getitem__", "__iter__", "__next__", "__enter__")


def _gives(f: Any, held: list[Any], depth: int) -> bool:
    """Return whether a function may return an array that existed before, other than by `VIEWS`."""
    package = str(getattr(f, "__module__", None)).partition(".")[0]
    if type(f) in _GETTERS:
        return True
    if isinstance(f, type) or package in _PACKAGES:
        return False
    if type(f) is not FunctionType or not depth:
        return True
    spaces = f.__globals__, vars(builtins)
    return any(
        not name.startswith(CALLED) or _is_given(name, spaces, held, depth - 1)
        for name in stores_of(f.__code__).returned
    )


_GETTERS = (attrgetter, itemgetter, methodcaller)
_PACKAGES = frozenset({"numpy", "math", "builtins", "operator", "_operator"})
"""Packages whose functions return new arrays, except those in `VIEWS`."""


def _of_class(owner: Any, name: str) -> Any:
    """Return the Python function that a user class, or the class of an object, has under a name."""
    kind = owner if isinstance(owner, type) else type(owner)
    if not kind.__flags__ & (1 << 9):  # HEAPTYPE
        return None
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    found = getattr(found, "__func__", found)
    return found if type(found) is FunctionType else None


def _computes(owner: Any, name: str) -> bool:
    """Return whether user code computes an attribute of an object."""
    kind = type(owner)
    if not kind.__flags__ & (1 << 9) or name == "__dict__" or name in (fields_of(owner) or ()):
        return False
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if found is None:
        return any("__getattr__" in vars(base) for base in kind.__mro__)
    return (
        hasattr(type(found), "__get__")
        and type(found) is not FunctionType
        and (not isinstance(found, MemberDescriptorType))
    )


def written_by(frame: FrameType, held: list[Any], known: list[Any]) -> list[tuple[Any, str | None]]:
    """Return the places in `held` that the function in `frame` may write, each with a name or
    ``None`` for the elements. `known` are the values that the function reaches."""
    code = frame.f_code
    stores, local, namespace = stores_of(code), given_to(frame), frame.f_globals
    written: list[tuple[Any, str | None]] = []
    for name in stores.variables:
        if name in code.co_names:
            written.append((namespace, name))
        elif name in local:
            cells = [owner for owner in held if type(owner) is CellType]
            written += [(cell, None) for cell in cells if contents_of_cell(cell) is local[name]]
    with_names = [(owner, named_in(owner)) for owner in held] if stores.asks_for_names else []
    with_names += [(space, space) for space in modules_of(frame)] if stores.attributes else []
    attributes = stores.attributes
    if stores.sets_by_words:
        given = [value for value in local.values() if type(value) is str]
        attributes = attributes.union(words_in(code), given)
    for name in attributes:
        written += [(owner, name) for owner, space in with_names if name in space]
    if not attributes.isdisjoint(_ELEMENTS):
        written += [(owner, None) for owner in held if issubclass(type(owner), np.ndarray)]
    filled = _filled(code, (local, namespace), known)
    if _runs_text(code, namespace):
        written += [(owner, None) for owner in held]
    if CALLED + "globals" in filled or _runs_text(code, namespace):
        written += [(namespace, name) for name in namespace]
    if any(name == "?" or name.startswith(CALLED) for name in filled):
        written += [(owner, None) for owner in held if issubclass(type(owner), _CONTAINERS)]
    for name in filled:
        is_copied, name = name.startswith(COPIED), name.removeprefix(COPIED)
        if name.startswith("."):
            modules = [namespace.get(one) for one in code.co_names]
            spaces = [vars(one) for one in modules if isinstance(one, ModuleType)]
            spaces += [space for _, space in with_names]
            found = [space[name[1:]] for space in spaces if name[1:] in space]
        else:
            found = [space[name] for space in (local, namespace) if name in space][:1]
        for owner in found:
            arrays = _arrays_inside(owner)
            if not is_copied:
                written += [(item, None) for item in (owner, *arrays)]
            elif issubclass(type(owner), _CONTAINERS):  # a copied array shares nothing
                written += [(item, None) for item in arrays]
    return written


_ELEMENTS = ("flat", "imag", "real")
"""Attributes whose assignment writes the elements of an array."""


def _arrays_inside(owner: Any) -> list[Any]:
    """Return the arrays in a container, object or captured variable, and in nested containers."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [*_inside(owner)]
    while waiting and len(seen) < _MOST_CONTAINERS:
        item = waiting.pop()
        if issubclass(type(item), np.ndarray):
            found.append(item)
        elif issubclass(type(item), (*_CONTAINERS, tuple)) and id(item) not in seen:
            seen.add(id(item))
            waiting += item if issubclass(type(item), set) else _inside(item)
    return found


_MOST_CONTAINERS = 256
_CONTAINERS = (list, dict, set, deque)


def named_in(owner: Any) -> Any:
    """Return the named parts of an object or a class."""
    if issubclass(type(owner), type):
        return vars(owner)
    if issubclass(type(owner), np.ndarray) and owner.dtype.names is not None:
        return {name: owner[name] for name in owner.dtype.names}
    fields = fields_of(owner) or {}
    return {**fields, **filled_slots(owner)} if has_slots(type(owner)) else fields


def puts_numbers(written: Iterable[tuple[Any, str | None]]) -> bool:
    """Return whether a number stands in one of these places."""
    for owner, name in written:
        if name is None:
            values: Iterable[Any] = () if issubclass(type(owner), np.ndarray) else _inside(owner)
        else:
            space = owner if type(owner) is dict else named_in(owner)
            values = (space.get(name),)
        if not NUMBERS_KEPT.isdisjoint(map(type, values)):
            return True
    return False


def twice_in(frame: FrameType, held: list[Any]) -> dict[int, Any]:
    """Return, by identity, the numbers that the function in `frame` finds in several places: it may
    write one of them where it already stands."""
    code = frame.f_code
    own = [frame.f_locals.get(name) for name in code.co_varnames]
    own += [frame.f_globals.get(name) for name in {*code.co_names, *words_in(code)}]
    modules = [space for space in modules_of(frame) if space is not frame.f_globals]
    own += [space.get(name) for space in modules for name in code.co_names]
    values = [value for owner in held for value in _inside(owner)]
    numbers = [value for value in (*own, *values) if type(value) in NUMBERS_KEPT]
    counts = Counter(map(id, numbers))
    return {id(value): value for value in numbers if counts[id(value)] > 1}


def _inside(owner: Any) -> Iterable[Any]:
    """Return the elements of a container, an object or a captured variable."""
    kind = type(owner)
    if issubclass(kind, list | tuple | deque):
        return elements_of(owner)
    if issubclass(kind, dict):
        return [item for _, item in entries_of(owner)]
    return [contents_of_cell(owner)] if kind is CellType else [*named_in(owner).values()]
