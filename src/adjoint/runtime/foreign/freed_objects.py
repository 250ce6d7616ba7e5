"""What happens when an object goes.

A record keeps objects for the reverse sweep, so that they go later than without us. When is not
imitated: what could be noticed is refused, where code of the user's is to run that changes
something, and all else may live longer.
"""

from __future__ import annotations

import dis
import functools
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.code_owner import is_the_users
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.memo_by_code import by_code
from adjoint.primal.packages import is_of_a_library
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import is_objects
from adjoint.runtime.foreign.may_store import called, hands_out, is_closed, is_harmless
from adjoint.runtime.memory.memory import Memory

_OF_NUMBERS = frozenset({float, int, np.float64, np.ndarray, type(ABSENT)})
"""Types of most of what is overwritten."""


def settle(memory: Memory) -> None:
    """At the end of a call: refuse it if something went, or could have gone, that is noticed."""
    for generator in [*(memory.unfinished or ())]:
        generator.end_with_call()
    if memory.late is not None:
        raise memory.late
    for entry in memory.entries():
        if type(entry[-1]) not in _OF_NUMBERS or is_objects(entry[-1]):
            check_removed(entry[-1])


def check_removed(saved: Any) -> None:
    """Refuse what a write has put out of its place, if it may change something when it goes."""
    if is_objects(saved):
        saved = [*saved.flat]
    for value in saved if type(saved) is list else [saved]:
        check_finalizer(type(value))


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
    """Refuse an object whose ``__del__`` changes something."""
    if _has_effective_del(cls):
        raise refused(
            f"'{cls.__name__}.__del__' may change something when the object goes, which happens at"
            " another time inside differentiated code",
            "do it in a method that you call, or in '__exit__'; or make the object outside, and"
            " keep it",
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
    return not _keeps_to_itself(f.__code__, cls, set())


_has_effective_del = ByClass(_may_leave_traces)


def _keeps_to_itself(code: CodeType, cls: type, seen: set[CodeType]) -> bool:
    """Whether all that a method changes are attributes of its object, which is one of `cls`, by
    itself or by other methods of it."""
    seen.add(code)
    if hands_out(code):
        return False
    before: Any = None
    for instruction in dis.get_instructions(code):
        method = called(instruction)[1]
        if (
            (method is not None and method not in _OF_TEXT) or not is_harmless(instruction)
        ) and not (
            code.co_argcount
            and _last_loaded(before) == code.co_varnames[0]
            and (
                instruction.opname in ("STORE_ATTR", "DELETE_ATTR")
                or _is_own_call(method, cls, seen)
            )
        ):
            return False
        before = instruction
    return True


_OF_TEXT = frozenset({"format", "join"})
"""Methods that text is asked for, and nothing else is likely to have."""


def _is_own_call(method: str | None, cls: type, seen: set[CodeType]) -> bool:
    """Whether a method of the object is called that keeps to it."""
    f = None if method is None else class_attribute(cls, method)
    return type(f) is FunctionType and (
        f.__code__ in seen or _keeps_to_itself(f.__code__, cls, seen)
    )


def _last_loaded(instruction: Any) -> Any:
    if instruction is None or not instruction.opname.startswith("LOAD_FAST"):
        return None
    names = instruction.argval
    return names[-1] if isinstance(names, tuple) else names


@by_code
def cleans_up(code: CodeType) -> bool:
    """Whether a generator may have something to do when it is let go: one of its ``yield`` is in a
    ``try`` or a ``with``."""
    bytecode = dis.Bytecode(code)
    instructions = {instruction.offset: instruction.opname for instruction in bytecode}
    yields = [offset for offset, name in instructions.items() if name == "YIELD_VALUE"]
    return any(
        entry.start <= offset < entry.end and instructions.get(entry.target) == "PUSH_EXC_INFO"
        for entry in bytecode.exception_entries  # type: ignore[attr-defined]
        for offset in yields
    )
