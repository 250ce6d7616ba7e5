"""What a differentiated call changes in the interpreter while it runs, and puts back afterwards."""

from __future__ import annotations

import gc
import sys
from threading import get_ident
from types import TracebackType

from adjoint.locks import in_child, make_lock
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
        self._lock = make_lock()
        self._depths: dict[int, int] = {}
        self._collecting = False
        self._limit = 0

    def __enter__(self) -> None:
        with self._lock:
            thread, is_first = get_ident(), not self._depths
            self._depths[thread] = self._depths.get(thread, 0) + 1
            if is_first:
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
            thread = get_ident()
            self._depths[thread] -= 1
            if not self._depths[thread]:
                del self._depths[thread]
            self._end_if_last()

    def _end_if_last(self) -> None:
        if not self._depths:
            release()
            sys.setrecursionlimit(self._limit)
            if self._collecting:
                gc.enable()

    def leave_other_threads(self) -> None:
        """In the child of a fork there is one thread, and the sessions of others have no end."""
        if self._depths:
            thread = get_ident()
            mine = self._depths.get(thread, 0)
            self._depths = {thread: mine} if mine else {}
            self._end_if_last()


session = _Session()
in_child(session.leave_other_threads)
