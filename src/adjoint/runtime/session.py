"""Settings of the interpreter that a differentiated call changes and restores."""

from __future__ import annotations

import gc
import sys
from threading import get_ident

from adjoint.locks import in_child, make_lock
from adjoint.runtime.foreign.entry_monitor import release

FRAMES_PER_CALL = 14
"""Frames of the library per call of user code, so that recursion may be as deep as in plain
Python."""


class _Session:
    """Pauses the garbage collector (records are large, alive and acyclic) and widens the recursion
    limit.

    Both are settings of the whole process: the first of several threads changes them, the last
    restores them.
    """

    def __init__(self) -> None:
        self._lock = make_lock()
        self._inside: dict[int, int] = {}
        self._is_changed = False
        self._collecting = False
        self._limit = 0

    def __enter__(self) -> None:
        frame = id(sys._getframe(1))
        with self._lock:
            if not self._is_changed:
                self._collecting, self._limit = gc.isenabled(), sys.getrecursionlimit()
                self._is_changed = True
            is_first, self._inside[frame] = not self._inside, get_ident()
            if is_first:
                gc.disable()
                sys.setrecursionlimit(self._limit * FRAMES_PER_CALL + 200)

    def __exit__(self, *_: object) -> None:
        self.leave(id(sys._getframe(1)))

    def leave(self, frame: int) -> None:
        """End the session of a frame, by identity, also if an interrupt has ended part of it."""
        with self._lock:
            self._inside.pop(frame, None)
            if self._is_changed and not self._inside:
                release()
                sys.setrecursionlimit(self._limit)
                if self._collecting:
                    gc.enable()
                self._is_changed = False

    def leave_other_threads(self) -> None:
        """End the sessions of other threads, which do not exist in the child of a fork."""
        for frame, thread in [*self._inside.items()]:
            if thread != get_ident():
                self.leave(frame)


class _Leaving:
    """Ends a session whose beginning or end is interrupted; entered before it on the same line."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        session.leave(id(sys._getframe(1)))


session: _Session = _Session()
leaving: _Leaving = _Leaving()
in_child(session.leave_other_threads)
