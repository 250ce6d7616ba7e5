"""Rules of `sys` (frames of callers, `exit`) and `inspect` (variables of frames, signatures).

Frames of the library lie between those of user code and are skipped. Signatures hold defaults,
which may be active.
"""

from __future__ import annotations

import inspect
import sys
from functools import partial
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.diagnostics.user_place import is_library_file
from adjoint.rulekit.registry import primitive, substitute
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.recompute.cached_results import may_depend


@primitive(vars(sys)["_getframe"])
def _frame(record: list[Any], slot: int, depth: int = 0, /) -> FrameType:
    """Return a frame of user code; that of generated code counts, since it has the same globals."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if not is_library_file(frame.f_code.co_filename):
            if depth <= 0:
                return frame
            depth -= 1
        frame = frame.f_back
    raise ValueError("call stack is not deep enough")


@substitute(inspect.getgeneratorlocals)
def _variables_of_a_generator(generator):
    if not inspect.isgenerator(generator):
        raise TypeError(f"{generator!r} is not a Python generator")
    frame = getattr(generator, "gi_frame", None)
    return {} if frame is None else frame.f_locals


@substitute(inspect.getargvalues)
def _variables_of_a_frame(frame):
    args, varargs, varkw = inspect.getargs(frame.f_code)
    return inspect.ArgInfo(args, varargs, varkw, frame.f_locals)


@substitute(sys.exit)
def _exit(status=None, /):
    if isinstance(status, SystemExit):
        raise status
    raise SystemExit(*status) if isinstance(status, tuple) else SystemExit(status)


# ---- signatures ----------------------------------------------------------------------------------


def _described(f: Any, record: list[Any], slot: int, of: Any, /, **options: Any) -> Any:
    """Differentiate the source of `inspect` only if defaults may have derivatives: it is ten times
    slower than the plain call.
    """
    return NotImplemented if options or _holds_numbers(record[0], of) else f(of)


for _f in (inspect.signature, inspect.getfullargspec):
    primitive(_f)(partial(_described, _f))


_DISPATCHER: Any = type(np.sum)
"""The type of NumPy's functions, Python functions wrapped in C."""


def _holds_numbers(memory: Memory, f: Any) -> bool:
    """Return whether defaults or annotations of `f`, or of what it wraps, may have derivatives."""
    seen: set[int] = set()
    while type(f) is not BuiltinFunctionType:
        if type(f) is MethodType:
            f = f.__func__
        if id(f) in seen or type(f) not in (FunctionType, _DISPATCHER):
            return True
        seen.add(id(f))
        named = f.__dict__
        if "__signature__" in named or (type(f) is FunctionType and not _is_plain(memory, f)):
            return True
        if "__wrapped__" not in named:
            return False
        f = named["__wrapped__"]
    return False


def _is_plain(memory: Memory, f: FunctionType) -> bool:
    defaults = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
    return all(_is_constant(memory, value) for value in defaults) and all(
        value is None or isinstance(value, type | str) for value in f.__annotations__.values()
    )


def _is_constant(memory: Memory, value: Any) -> bool:
    if type(value) is int:
        return memory.level is None and not may_depend(memory, value)
    return value is None or value is ... or type(value) in (bool, str, bytes)
