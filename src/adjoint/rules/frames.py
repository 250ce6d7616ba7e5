"""What `sys` does with the frames of its callers, between which differentiated code has those of
the library, and the exception by which it leaves them."""

from __future__ import annotations

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


@substitute(sys.exit)
def _exit(status=None, /):
    if isinstance(status, SystemExit):
        raise status
    raise SystemExit(*status) if isinstance(status, tuple) else SystemExit(status)
