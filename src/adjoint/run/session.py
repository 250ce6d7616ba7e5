"""What a differentiated call changes in the interpreter while it runs, and puts back afterwards."""

from __future__ import annotations

import gc
import sys
import threading
from types import TracebackType

from adjoint.run.watch import release

__all__ = ["session"]

FRAMES_PER_CALL = 14
"""How many frames of ours stand for one call of the user's, so that recursion may go as deep as it
does without us."""


class _Session:
    """Pauses the garbage collector (records are large, alive and acyclic) and widens the recursion
    limit.

    Both are settings of the whole process: the first of several threads changes them, the last puts
    them back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._collecting = False
        self._limit = 0

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._collecting = gc.isenabled()
                gc.disable()
                self._limit = sys.getrecursionlimit()
                sys.setrecursionlimit(self._limit * FRAMES_PER_CALL + 200)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                release()
                sys.setrecursionlimit(self._limit)
                if self._collecting:
                    gc.enable()


session = _Session()
