"""What `sys` does with the frames of its callers, between which differentiated code has those of
the library, and the exception by which it leaves them; `inspect` reads the variables of frames, as
attributes of these are read in differentiated code."""

from __future__ import annotations

import inspect
import sys
from types import FrameType
from typing import Any

from adjoint.rules.registry import primitive, substitute
from adjoint.run.place import is_ours


@primitive(vars(sys)["_getframe"])
def _frame(record: list[Any], slot: int, depth: int = 0, /) -> FrameType:
    """The generated code of a function stands for the function: it has its globals."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if not is_ours(frame.f_code.co_filename):
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
