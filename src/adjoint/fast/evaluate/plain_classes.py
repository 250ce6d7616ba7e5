"""Classes whose objects have no custom attribute access."""

from __future__ import annotations

import abc
import functools
import re
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar
from datetime import date, datetime, time, timedelta, timezone
from enum import EnumMeta, Flag
from types import GenericAlias, ModuleType, SimpleNamespace, UnionType
from typing import Any, TypeVar, Union

import numpy as np

from adjoint.primal.value_kinds import slots_of

_PROXIES = ("adjoint.cotangents", "adjoint.primal", "adjoint.runtime")
"""Packages whose objects are proxies for other objects."""

_IN_PYTHON = ("__array_namespace_info__", "poly1d")
"""Classes of NumPy without anything in C."""
_VALUES = (int, float, complex, str, bytes, list, tuple, dict, set, frozenset, deque)
BASES: tuple[Any, ...] = (
    *(list, tuple, set, frozenset, deque, int, float, complex),
    *(dict, OrderedDict, defaultdict, Counter),
)
"""Builtin classes from which the class of an object may derive (`objects.derived`)."""


def is_plain_object(cls: Any) -> bool:
    """Return whether reading an attribute of an instance runs no code other than descriptors and
    ``__getattr__``."""
    return (
        (
            cls.__getattribute__ is (base_of(cls) or object).__getattribute__
            or cls in (threading.local, SimpleNamespace)
        )
        and isinstance(cls.__module__, str)
        and (cls.__module__ not in ("builtins", "numpy") or cls.__name__ in _IN_PYTHON)
        and not cls.__module__.startswith(_PROXIES)
        and not issubclass(cls, type | ModuleType | np.ndarray | np.generic | BaseException)
        and (not issubclass(cls, _VALUES) or base_of(cls) is not None)
        and not any("__class__" in vars(base) for base in cls.__mro__[:-1])  # a proxy
    )


def is_plain_outside(cls: Any) -> bool:
    """Return whether programs know objects of a class that come from outside."""
    computes_slots = hasattr(cls, "__getattr__") and slots_of(cls)
    return is_plain_object(cls) and base_of(cls) is None and not computes_slots


def base_of(cls: Any) -> Any:
    """Return the builtin class, or the class of named tuples, from which a user class derives
    before all others; ``None`` if it derives from none or is one."""
    if not issubclass(cls, _VALUES) or cls in BASES or is_named_tuple(cls):
        return None
    mro = cls.__mro__
    at = next((i for i, x in enumerate(mro) if x in BASES or is_named_tuple(x)), None)
    is_alone = at is not None and mro[at:] == mro[at].__mro__ and type(cls) is not EnumMeta
    return mro[at] if is_alone else None


@functools.cache
def changed_by(cls: Any) -> frozenset[str]:
    """Return the names of the builtin class that a class which derives from it defines anew."""
    base = base_of(cls)
    own = {name for x in cls.__mro__[: cls.__mro__.index(base)] for name in vars(x)}
    asked = {name for name in own if name.startswith("__array") or name in _CONVERTING}
    return frozenset((own & {*dir(base)} | asked) - _OF_ALL)


_CONVERTING = frozenset(
    f"__{name}__" for name in "float int index trunc complex bool missing length_hint".split()
)


_OF_ALL = frozenset(
    f"__{name}__"
    for name in "init new doc module repr str format setattr delattr init_subclass annotations"
    " orig_bases class_getitem reduce reduce_ex getnewargs slots match_args".split()
)
"""Names of builtin classes that say nothing of what their objects hold."""


def is_plain_class(cls: type) -> bool:
    """Return whether a class has no metaclass other than `type` and `abc.ABCMeta`."""
    return type(cls) is type or type(cls) is abc.ABCMeta


def has_own(cls: type, name: str) -> bool:
    """Return whether a class has another special method than `object`."""
    return getattr(cls, name, None) is not getattr(object, name, None)


def is_hashed_by_user_code(cls: Any) -> bool:
    """Return whether objects of a class are hashed by a method that somebody has written, which
    may count its calls; `dataclass` compiles methods from text."""
    code = getattr(cls.__hash__, "__code__", None)
    return code is not None and code.co_filename != "<string>"


def is_enumeration(cls: type) -> bool:
    """Return whether a class is an enumeration whose members are found by name only."""
    return type(cls) is EnumMeta and not issubclass(cls, Flag)


DATES: Any = (date, datetime, time, timedelta, timezone)
"""Classes of dates and durations, which compute with nothing else."""
_OF_TYPES = (
    GenericAlias,
    UnionType,
    TypeVar,
    re.Pattern,
    InitVar,
    type(KW_ONLY),
    *(type(x) for x in (Union, Callable[..., int])),
)


def is_constant_object(cls: type) -> bool:
    """Return whether objects of `cls` never change: members of enumerations, dates, patterns
    of text, and what annotations consist of."""
    is_of_types = cls.__module__ == "typing" or issubclass(cls, _OF_TYPES)
    return is_of_types or is_enumeration(cls) or cls in DATES


def is_constant_key(key: Any, others: tuple[type, ...] = ()) -> bool:
    """Return whether a key of a dict from outside is one that programs know."""
    if type(key) is tuple:
        return all(is_constant_key(part, others) for part in key)
    kinds = (str, int, bool, type(None), bytes, type, ModuleType, *others)
    return (type(key) in kinds and key == key) or is_enumeration(type(key))


def is_named_tuple(cls: type) -> bool:
    """Return whether a class is made by `collections.namedtuple`, with no special method changed
    or added."""
    held = vars(cls)
    if cls.__base__ is not tuple or "_fields" not in held:
        return False
    special = {name for name in held if name.startswith("__") and name.endswith("__")}
    return (
        special <= _OF_NAMED_TUPLES
        and getattr(cls.__new__, "__module__", None) == f"namedtuple_{cls.__name__}"
        and all(type(held.get(name)).__name__ == "_tuplegetter" for name in held["_fields"])
    )


_OF_NAMED_TUPLES = frozenset(
    "__annotations__ __doc__ __firstlineno__ __getnewargs__ __hash__ __match_args__ __module__"
    " __new__ __orig_bases__ __qualname__ __replace__ __repr__ __slotnames__ __slots__"
    " __static_attributes__ __str__".split()
)
"""Special attributes that every such class has, or that do not change its behaviour as a tuple."""


def is_compiled(kind: type) -> bool:
    """Return whether objects of a class are functions: `is_multimethod`, or functions that Cython
    has compiled; each version of Cython makes classes of its own for them."""
    names = (base.__name__ for base in kind.__mro__)
    return is_multimethod(kind) or "cython_function_or_method" in names


def is_multimethod(kind: type) -> bool:
    """Return whether objects of a class are functions that call that of a backend, as those of
    `scipy.fft` are."""
    return kind.__module__ == "uarray" and kind.__name__ == "_Function"
