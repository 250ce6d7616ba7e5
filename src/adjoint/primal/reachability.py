"""Objects reachable from values, with the keys of their shadows."""

from __future__ import annotations

from abc import ABC
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
)
from typing import Any
from weakref import ProxyTypes

from adjoint.primal.array_memory import root_of
from adjoint.primal.code_owner import is_user_code
from adjoint.primal.container_contents import (
    ABSENT,
    base_of,
    elements_of,
    entries_of,
    factory_of,
    place_of_held,
)
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.object_array_places import elements_in
from adjoint.primal.packages import is_of_a_library
from adjoint.primal.value_kinds import (
    ATOMS,
    by_value,
    content_of,
    fields_of,
    filled_slots,
    held_by_c,
    is_objects,
    is_partly_c,
    is_plain_object,
    referent_of,
)

CONTAINERS = (list, tuple, dict, set, frozenset, deque)
"""Types whose shadows have a place for each element."""

REFERENT = "referent"
"""In the shadow of a weak reference: the key of its referent. In the caches: the key of the weak
references that a differentiated call has made."""

_HEAPTYPE = 1 << 9


def reached(
    values: Sequence[Any],
    functions: list[FunctionType] | None = None,
    *,
    integers: bool = False,
) -> Iterator[Any]:
    """Yield everything that `values` hold, themselves included, and whose cotangent is kept by
    identity. User functions are added to `functions`. `integers` includes integers, which levels
    tell apart by identity."""
    empty = _EMPTY - {int} if integers else _EMPTY
    entered: set[int] = set()
    seen: set[int] = set()
    stack = list(values)
    while stack:
        owner = stack.pop()
        kind, place = type(owner), id(owner)
        if place in entered or kind in empty or (kind in _ASKED and holds_nothing(owner)):
            continue
        entered.add(place)
        # most objects are methods of classes and variables captured by decorators
        if kind is FunctionType:
            stack += owner.__closure__ or ()
            stack += _beside_closure(owner)
            if functions is not None and _is_followed(owner):
                functions.append(owner)
            continue
        if place not in seen:
            seen.add(place)
            yield owner
        if kind is CellType:
            stack.append(content_of(owner))
        elif kind is set or kind is tuple:
            stack += [item for item in owner if type(item) not in empty]
        elif not by_value(owner):
            if functions is not None:
                functions += _methods_of(owner)
            stack += keys_of(owner)
            for _, item, shadow_owner in parts_of(owner):
                if shadow_owner is not owner and id(shadow_owner) not in seen:
                    seen.add(id(shadow_owner))
                    yield shadow_owner
                if type(item) not in empty and id(item) not in entered:
                    stack.append(item)


def holds_nothing(value: Any) -> bool:
    """Return whether `value` holds nothing: text, modules, C classes, counting numbers, proxies of
    freed objects."""
    kind = type(value)
    if kind is type:
        return not value.__flags__ & _HEAPTYPE
    if kind is slice:
        return all(type(end) in _EMPTY for end in (value.start, value.stop, value.step))
    if kind in ProxyTypes:
        return referent_of(value) is None  # a proxy of a freed object allows nothing else
    return kind in _EMPTY


_ASKED = {FunctionType, type, slice, *ProxyTypes}
_EMPTY = (ATOMS - _ASKED) | {type(vars(ABC)["_abc_impl"])}
"""Types whose instances hold nothing. The internals of an abstract class only hold the classes
registered with it."""


def keys_of(owner: Any) -> list[Any]:
    """Return the keys of a dict that may be active."""
    if not issubclass(type(owner), dict):
        return []
    return [key for key in base_of(owner).__iter__(owner) if type(key) not in ATOMS]


def parts_of(owner: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield key, value and the object that keys the shadow, for each part of `owner`.

    Global dicts, frames and tracebacks have no parts: globals are constants, and through them every
    object could be reached.
    """
    if issubclass(type(owner), FrameType | TracebackType | CodeType) or (
        type(owner) is dict and "__builtins__" in owner
    ):
        return
    if issubclass(type(owner), list | tuple | deque):
        for i, item in enumerate(elements_of(owner)):
            yield i, item, owner
    elif issubclass(type(owner), dict):
        for key, item in entries_of(owner):
            yield place_of_held(key), item, owner
        if issubclass(type(owner), defaultdict):
            yield None, factory_of(owner), owner
    elif is_objects(owner):
        for place, item in elements_in(owner):
            yield place, item, root_of(owner)
    elif issubclass(type(owner), set | frozenset):
        for item in owner:
            yield item, item, owner
    elif issubclass(type(owner), FunctionType):
        for cell in owner.__closure__ or ():
            yield None, cell, cell
        for held in _beside_closure(owner):
            yield None, held, held
    elif issubclass(type(owner), CellType):
        content = content_of(owner, ABSENT)
        if content is not ABSENT:
            yield None, content, owner
    elif issubclass(type(owner), MethodType | BuiltinMethodType | MethodWrapperType):
        yield "__self__", owner.__self__, owner
        if type(owner) is MethodType:
            yield None, owner.__func__, owner
    elif type(owner) is slice:
        for name in ("start", "stop", "step"):
            yield name, getattr(owner, name), owner
    elif issubclass(type(owner), type):
        for name, item in vars(owner).items() if owner.__flags__ & _HEAPTYPE else ():
            if type(item) is FunctionType:
                if _holds_something(item):
                    yield None, item, owner
            elif not name.startswith("__"):
                yield name, item, owner
        for cls in (*owner.__bases__, type(owner)):
            if cls.__flags__ & _HEAPTYPE and not _is_of_a_library(cls):
                yield None, cls, cls
    elif not issubclass(type(owner), ModuleType | EngineObject):
        referent = referent_of(owner)
        if referent is not None:
            yield REFERENT, referent, owner
        metaclass = type(type(owner))
        if metaclass is not type and not _is_of_a_library(metaclass):
            yield None, metaclass, metaclass
        fields = fields_of(owner)
        for name, item in (fields or {}).items():
            yield name, item, fields
        # C may hold more: use what the garbage collector tells
        if not is_plain_object(owner) or is_partly_c(type(owner)):
            for item in held_by_c(owner):
                if item is not fields and not issubclass(type(item), ModuleType | str):
                    if not issubclass(type(item), type) or item is not type(owner):
                        yield "*", item, owner
        for name, item in filled_slots(owner).items():
            yield name, item, owner
        for base in type(owner).__mro__ if is_plain_object(owner) else ():
            is_users = base.__flags__ & _HEAPTYPE and not _is_of_a_library(base)
            for name, value in vars(base).items():  # C may have run or read them
                function = _function_of(value)
                if function is not None:
                    if _holds_something(function):
                        yield None, function, owner
                elif is_users and not name.startswith("__") and _is_data(value):
                    yield name, value, base


# ---- functions -----------------------------------------------------------------------------------


def _holds_something(f: FunctionType) -> bool:
    return f.__closure__ is not None or bool(_beside_closure(f))


def _beside_closure(f: FunctionType) -> list[Any]:
    """Return the defaults and attributes of a function. Defaults of functions defined at module
    level are constants, like globals."""
    held: list[Any] = []
    defaults, named = f.__defaults__, f.__kwdefaults__
    if (defaults or named) and "<" in f.__qualname__:  # nested functions and lambdas
        held += [part for part in (defaults, named) if part]
    if f.__dict__:
        held.append(f.__dict__)
    return held


def _function_of(value: Any) -> FunctionType | None:
    """Return the function behind an attribute of a class."""
    kind = type(value)
    if kind is property:
        value = value.fget
    elif kind is staticmethod or kind is classmethod:
        value = value.__func__
    return value if type(value) is FunctionType else None


def _is_data(value: Any) -> bool:
    """Return whether an attribute of a class may be active: no descriptor of C."""
    if type(value) in ATOMS:
        return False
    return by_value(value) or issubclass(type(value), CONTAINERS) or is_plain_object(value)


def _methods_of(owner: Any) -> list[FunctionType]:
    """Return the functions of a user class, given the class or an instance."""
    cls = owner if issubclass(type(owner), type) else type(owner)
    if not cls.__flags__ & _HEAPTYPE:
        return []
    bases = [base for base in cls.__mro__ if base.__flags__ & _HEAPTYPE]
    return [
        function
        for base in bases
        if not _is_of_a_library(base)
        for function in map(_function_of, vars(base).values())
        if function is not None and _is_followed(function)
    ]


def classes_of(values: Iterable[Any]) -> list[type]:
    """Return the user classes of `values`, bases included."""
    kinds = {base: None for kind in {*map(type, values)} for base in kind.__mro__}
    return [kind for kind in kinds if kind.__flags__ & _HEAPTYPE and not _is_of_a_library(kind)]


def _is_followed(f: FunctionType) -> bool:
    name = f.__globals__.get("__name__")
    return is_user_code(f.__code__, f.__globals__) and not is_of_a_library(name, f.__code__)


def _is_of_a_library(cls: type) -> bool:
    """Return whether a class belongs to the standard library or another known package."""
    return is_of_a_library(cls.__module__)


# ---- global variables ----------------------------------------------------------------------------


def globals_of(
    functions: Sequence[FunctionType], *, every: bool = False
) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Yield namespace, name and value of the global variables that user functions, and functions
    found in these variables, name; with `every` also those that hold nothing or are not assigned
    yet."""
    stack, seen = list(functions), set[int]()
    known: set[tuple[int, str]] = set()
    while stack:
        f = stack.pop()
        if id(f.__code__) in seen:
            continue
        seen.add(id(f.__code__))
        names = names_in(f.__code__)
        spaces = [f.__globals__]
        captured = map(content_of, f.__closure__ or ())
        spaces += spaces_of((*captured, *map(f.__globals__.get, names)))
        for namespace in spaces:
            for name in names:
                value = namespace.get(name)
                if (id(namespace), name) in known or (type(value) in _EMPTY and not every):
                    continue
                known.add((id(namespace), name))
                yield namespace, name, value
                if not by_value(value):
                    deque(reached((value,), stack), maxlen=0)


def spaces_of(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the namespaces of the user modules among `values`."""
    modules = [value for value in values if type(value) is ModuleType]
    return [vars(one) for one in modules if not is_of_a_library(one.__name__)]


def names_in(code: CodeType) -> frozenset[str]:
    """Return all names in a function and in those nested in it."""
    inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return frozenset(code.co_names).union(*inner)
