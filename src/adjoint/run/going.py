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
from adjoint.run.facts import called, facts_of, is_harmless
from adjoint.run.refused import refused
from adjoint.run.specials import class_attribute
from adjoint.run.watch import is_of_the_library, is_the_users

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
    return is_of_the_library(code) or not is_the_users(code, f.__globals__) or facts_of(code).quiet


def _may_leave_traces(cls: type) -> bool:
    f = class_attribute(cls, "__del__")
    return type(f) is FunctionType and not _is_harmless(f) and not keeps_to_itself(f.__code__, cls)


has_effective_del = ByClass(_may_leave_traces)


def keeps_to_itself(code: CodeType, cls: type | None = None) -> bool:
    """Whether all that a method changes are attributes of its object, which is one of `cls`: its
    other methods are looked into where that is given."""
    return _keeps_to_itself(code, cls, set())


def _keeps_to_itself(code: CodeType, cls: type | None, seen: set[CodeType]) -> bool:
    seen.add(code)
    before: Any = None
    for instruction in dis.get_instructions(code):
        if not is_harmless(instruction) and not (
            code.co_argcount
            and _last_loaded(before) == code.co_varnames[0]
            and (
                instruction.opname in ("STORE_ATTR", "DELETE_ATTR")
                or _is_own_call(instruction, cls, seen)
            )
        ):
            return False
        before = instruction
    return True


def _is_own_call(instruction: Any, cls: type | None, seen: set[CodeType]) -> bool:
    """Whether a method of the object is called, after the object was loaded, that keeps to it."""
    method = called(instruction)[1]
    f = None if cls is None or method is None else class_attribute(cls, method)
    if type(f) is not FunctionType:
        return False
    return f.__code__ in seen or _keeps_to_itself(f.__code__, cls, seen)


def _last_loaded(instruction: Any) -> Any:
    if instruction is None or not instruction.opname.startswith("LOAD_FAST"):
        return None
    names = instruction.argval
    return names[-1] if isinstance(names, tuple) else names
