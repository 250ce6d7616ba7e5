"""What is to happen when an object goes.

A record keeps objects for the reverse sweep, so that they go later than without us, and what they
do then is not seen. It is refused where it could be noticed: where code of the user's is to run
that changes something.
"""

from __future__ import annotations

import dis
import functools
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from adjoint.run.by_class import ByClass
from adjoint.run.facts import called, hands_out, is_closed, is_harmless
from adjoint.run.packages import is_of_a_library
from adjoint.run.refused import refused
from adjoint.run.specials import class_attribute
from adjoint.run.watch import is_the_users

__all__ = ["check_callback", "check_finalizer", "has_effective_del", "keeps_to_itself"]


def check_callback(f: Any) -> None:
    """Refuse a function of the user's that changes something, and is to be called when an object
    goes."""
    if not _is_harmless(f):
        raise refused(
            "a function is to be called when an object goes, which happens at another time inside"
            " differentiated code",
            "call it where it is due, or let it change nothing",
        )


def check_finalizer(cls: type) -> None:
    """Refuse to make an object whose ``__del__`` changes something."""
    if has_effective_del(cls):
        raise refused(
            f"'{cls.__name__}.__del__' may change something when the object goes, which happens at"
            " another time inside differentiated code",
            "do it in a method that you call, or in '__exit__'; or make the object outside",
        )


def _is_harmless(f: Any) -> bool:
    while isinstance(f, functools.partial | MethodType):
        f = f.func if isinstance(f, functools.partial) else f.__func__
    if isinstance(f, BuiltinMethodType):
        return f.__self__ is None or isinstance(f.__self__, ModuleType)
    if type(f) is not FunctionType:
        f = class_attribute(type(f), "__call__")
    if type(f) is not FunctionType:
        return False
    code = f.__code__
    if is_of_a_library(f.__globals__.get("__name__")):
        return True
    return not is_the_users(code, f.__globals__) or is_closed(code)


def _may_leave_traces(cls: type) -> bool:
    f = class_attribute(cls, "__del__")
    if type(f) is not FunctionType or _is_harmless(f):
        return False
    return not _keeps_to_itself(f.__code__, cls, set(), asks_nobody=True)


has_effective_del = ByClass(_may_leave_traces)


def keeps_to_itself(code: CodeType, cls: type | None = None) -> bool:
    """Whether all that a method changes are attributes of its object, which is one of `cls`: its
    other methods are looked into where that is given."""
    return _keeps_to_itself(code, cls, set(), asks_nobody=False)


def _keeps_to_itself(
    code: CodeType, cls: type | None, seen: set[CodeType], asks_nobody: bool
) -> bool:
    seen.add(code)
    if asks_nobody and hands_out(code):
        return False
    before: Any = None
    for instruction in dis.get_instructions(code):
        method = called(instruction)[1] if asks_nobody else None
        if (
            (method is not None and method not in _OF_TEXT) or not is_harmless(instruction)
        ) and not (
            code.co_argcount
            and _last_loaded(before) == code.co_varnames[0]
            and (
                instruction.opname in ("STORE_ATTR", "DELETE_ATTR")
                or _is_own_call(instruction, cls, seen, asks_nobody)
            )
        ):
            return False
        before = instruction
    return True


_OF_TEXT = frozenset({"format", "join"})
"""Methods that text is asked for, and nothing else is likely to have."""


def _is_own_call(
    instruction: Any, cls: type | None, seen: set[CodeType], asks_nobody: bool
) -> bool:
    """Whether a method of the object is called, after the object was loaded, that keeps to it."""
    method = called(instruction)[1]
    f = None if cls is None or method is None else class_attribute(cls, method)
    if type(f) is not FunctionType:
        return False
    return f.__code__ in seen or _keeps_to_itself(f.__code__, cls, seen, asks_nobody)


def _last_loaded(instruction: Any) -> Any:
    if instruction is None or not instruction.opname.startswith("LOAD_FAST"):
        return None
    names = instruction.argval
    return names[-1] if isinstance(names, tuple) else names
