"""Functions of the user that have no effects but writes to their operands, judged by bytecode.

A function is judged pure if all that it names is pure: data without parts that could change,
functions of NumPy and SciPy (`opaque_functions`), of `math` and the like, and functions of the user
that are pure in turn. It then holds nothing but numbers, text, arrays and containers of these,
which it was given or has made. Anything else is not judged.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Iterator
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.fast.support.opaque_functions import has_no_effects
from adjoint.primal.memo_by_code import by_code
from adjoint.runtime.foreign.may_store import is_reader

_MODULES = frozenset("math cmath operator itertools functools collections bisect heapq".split())
"""Modules whose functions and classes have no effects but writes to operands."""
_FORBIDDEN = frozenset(
    "IMPORT_NAME IMPORT_FROM STORE_GLOBAL DELETE_GLOBAL STORE_ATTR DELETE_ATTR STORE_NAME"
    " LOAD_BUILD_CLASS".split()
)
_NOT_READING = frozenset(
    "callable filter getattr hash id map object print property type vars".split()
)
_PLAIN = (int, float, complex, str, bytes, bool, type(None), np.generic)
_REFUSED = frozenset(
    "dump tofile setflags resize attrgetter methodcaller update_wrapper wraps".split()
)
"""Methods of arrays that write files, or more than elements; functions that name attributes."""
_EMPTY_CLASS = frozenset(
    "__module__ __qualname__ __doc__ __dict__ __weakref__ __firstlineno__"
    " __static_attributes__".split()
)
"""Names in a class of which nothing is defined."""


def names_of_pure(f: FunctionType) -> list[tuple[dict[str, Any], str]] | None:
    """Return the global variables that a function reads, itself or by what it calls, as pairs of
    namespace and name; ``None`` if it is not judged pure."""
    found: list[tuple[dict[str, Any], str]] = []
    pending, seen = [f], {f}
    while pending:
        g = pending.pop()
        if g.__closure__ is not None or not all(map(_is_plain, _defaults(g))):
            return None
        names = _names(g.__code__)
        if names is None:
            return None
        for name in sorted(names[0]):
            found.append((g.__globals__, name))
            if name not in g.__globals__:
                if not _is_pure_builtin(name):
                    return None
                continue
            value = g.__globals__[name]
            if type(value) is FunctionType and not has_no_effects(value):
                if not names[1].isdisjoint(vars(value)):  # data that outlive a call
                    return None
                if value not in seen:
                    seen.add(value)
                    pending.append(value)
            elif not _is_pure(value, names[1]):
                return None
    return found


def _defaults(f: FunctionType) -> list[Any]:
    return [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if type(value) is tuple else isinstance(value, _PLAIN)


@by_code
def _names(code: CodeType) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the global names and the attributes in the code of a function; ``None`` if it stores
    something outside, or waits."""
    if code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        return None
    variables, attributes = set[str](), set[str]()
    for i in _instructions(code):
        if i.opname in _FORBIDDEN:
            return None
        if i.opname == "LOAD_GLOBAL":
            variables.add(i.argval)
        elif i.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
            attributes.add(i.argval)
    if any(name in _REFUSED or name.startswith("_") for name in attributes):
        return None
    return frozenset(variables), frozenset(attributes)


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _instructions(const)


def _is_pure_builtin(name: str) -> bool:
    return hasattr(builtins, name) and is_reader(name) and name not in _NOT_READING


def _is_pure(value: Any, attributes: frozenset[str], within: tuple[ModuleType, ...] = ()) -> bool:
    """Return whether the value of a global variable, or of a part of the modules `within`, is pure,
    with those of `attributes` it has."""
    if type(value) is ModuleType:
        if value in within:
            return True
        home = value.__name__.partition(".")[0]
        if home not in _MODULES and home not in ("numpy", "scipy"):
            return False
        parts = (vars(value)[name] for name in attributes if name in vars(value))
        return home in _MODULES or all(
            _is_pure(part, attributes, (*within, value)) for part in parts
        )
    if isinstance(value, type):
        if issubclass(value, np.generic | BaseException):
            return all(map(_defines_nothing, value.__mro__))
        return value in (np.errstate, np.ndarray)
    if type(value) is BuiltinFunctionType and value.__module__ in ("math", "cmath", "_operator"):
        return True
    return _is_plain(value) or isinstance(value, np.dtype) or has_no_effects(value)


def _defines_nothing(cls: type) -> bool:
    """Return whether a class is of Python or NumPy, or one of the user without contents."""
    home = cls.__module__.partition(".")[0]
    return home in ("builtins", "numpy") or _EMPTY_CLASS.issuperset(vars(cls))
