"""Effects of freeing an object.

A record holds objects for the reverse sweep, so they live longer than in plain Python. Where user
code that changes something runs when an object is freed, the call is refused.
"""

from __future__ import annotations

import dis
import functools
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.code_owner import is_user_code
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.memo_by_code import by_code
from adjoint.primal.packages import is_of_a_library
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import is_objects
from adjoint.runtime.foreign.may_store import is_closed
from adjoint.runtime.memory.memory import Memory

_OF_NUMBERS = frozenset({float, int, np.float64, np.ndarray, type(ABSENT)})
"""The most frequent types of overwritten values."""


def check_at_end(memory: Memory) -> None:
    """Refuse a call, at its end, that has freed an object, or could have, with a visible effect."""
    for generator in [*(memory.unfinished or ())]:
        generator.end_with_call()
    if memory.freeing_error is not None:
        raise memory.freeing_error
    for entry in memory.entries():
        if type(entry[-1]) not in _OF_NUMBERS or is_objects(entry[-1]):
            check_removed(entry[-1])


def check_removed(saved: Any) -> None:
    """Refuse an overwritten value that may change something when it is freed."""
    if is_objects(saved):
        saved = [*saved.flat]
    for value in saved if type(saved) is list else [saved]:
        check_finalizer(type(value))


def check_callback(f: Any) -> None:
    """Refuse a user function that changes something as a callback for a freed object."""
    if not _is_harmless(f):
        raise refused(
            "a function is to be called when an object goes, which happens at another time inside"
            " differentiated code",
            "call it where it is due, or let it change nothing",
        )


def check_finalizer(cls: type) -> None:
    """Refuse an object whose ``__del__`` may change something."""
    if _has_effective_del(cls):
        raise refused(
            f"'{cls.__name__}.__del__' may change something when the object goes, which happens at"
            " another time inside differentiated code",
            "do it in a method that you call, or in '__exit__'; or make the object outside, and"
            " keep it",
        )


def _is_harmless(f: Any) -> bool:
    """Return whether a function is a library's, or changes nothing."""
    while isinstance(f, functools.partial | MethodType):
        f = f.func if isinstance(f, functools.partial) else f.__func__
    if isinstance(f, BuiltinMethodType):
        return f.__self__ is None or isinstance(f.__self__, ModuleType)
    if type(f) is not FunctionType:
        f = class_attribute(type(f), "__call__")
    if type(f) is not FunctionType:
        return False
    code, namespace = f.__code__, f.__globals__
    is_library = is_of_a_library(namespace.get("__name__")) or not is_user_code(code, namespace)
    return is_library or is_closed(code)


def _may_change_something(cls: type) -> bool:
    f = class_attribute(cls, "__del__")
    return type(f) is FunctionType and not _is_harmless(f)


_has_effective_del = ByClass(_may_change_something)


@by_code
def cleans_up(code: CodeType) -> bool:
    """Return whether closing a generator may run code: a ``yield`` is in a ``try`` or ``with``."""
    bytecode = dis.Bytecode(code)
    instructions = {instruction.offset: instruction.opname for instruction in bytecode}
    yields = [offset for offset, name in instructions.items() if name == "YIELD_VALUE"]
    return any(
        entry.start <= offset < entry.end and instructions.get(entry.target) == "PUSH_EXC_INFO"
        for entry in bytecode.exception_entries  # type: ignore[attr-defined]
        for offset in yields
    )
