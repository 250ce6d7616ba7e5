"""The locks of the library. In the child of a fork they are open, since the threads that held them
are gone, and the data that they guard are whole.

A fork waits for other threads to release these locks, but not for ever: where one of them waits for
the forking thread, the child has a new lock, and the other thread's change is not made.
"""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

_PATIENCE = 2.0
"""Seconds that a fork waits for all locks."""

_forking = threading.RLock()
_locks: list[Any] = []
_forks: list[int] = []
"""Not empty while a fork waits for the locks."""
short_lived: WeakSet[Any] = WeakSet()
"""Locks that do not live as long as the process, and may be held."""
_in_child: list[Callable[[], None]] = []
_taken: list[tuple[Any, bool]] = []


def make_lock() -> Any:
    """Return a reentrant lock that lives as long as the process."""
    lock = threading.RLock()
    _locks.append(lock)
    return lock


def give_way() -> None:
    """Let a waiting fork take the locks before one is held for long. A thread that releases a lock
    and takes it again would otherwise be faster than the fork wakes up."""
    if _forks and not any(lock._is_owned() for lock in _locks):
        with _forking:
            pass


def in_child(f: Callable[[], None]) -> Callable[[], None]:
    """Register the decorated function to be called in the child of a fork, with open locks."""
    _in_child.append(f)
    return f


def _before() -> None:
    _forking.acquire()
    _forks.append(1)
    wanted = [*short_lived, *_locks]
    deadline = time.monotonic() + _PATIENCE
    while True:
        # a thread that holds one lock may want another: wait for one while holding none
        remaining = deadline - time.monotonic()
        for lock in wanted:
            timeout = max(remaining, 0) if not _taken else 0
            _taken.append((lock, lock.acquire(timeout=timeout)))
        missing = [lock for lock, is_held in _taken if not is_held]
        if remaining < 0 or not (missing or _is_imported()):
            return
        _release()
        if missing:
            wanted.sort(key=lambda lock: lock is not missing[0])
        else:
            time.sleep(0.001)


def _is_imported() -> bool:
    """Return whether another thread imports a part of the library: the child would wait for ever,
    because Python does not open the locks of modules."""
    mine = threading.get_ident()
    for name, reference in [*_modules.items()]:
        lock = reference() if name.startswith("adjoint.") else None
        if lock is not None and lock.owner not in (None, mine):
            return True
    return False


_modules: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})


def _release() -> None:
    while _taken:
        lock, is_held = _taken.pop()
        if is_held:
            lock.release()


def _after_in_parent() -> None:
    _release()
    _forks.clear()
    _forking.release()


def _after_in_child() -> None:
    missing = [lock for lock, is_held in _taken if not is_held]
    _after_in_parent()
    for lock in missing:
        lock._at_fork_reinit()
    for f in _in_child:
        f()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
