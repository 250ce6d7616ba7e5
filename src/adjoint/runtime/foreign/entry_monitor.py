"""Monitor of the user functions that foreign code enters.

From Python 3.12 on it uses `sys.monitoring` under an identifier of its own, which does not disturb
profilers and debuggers; before, `sys.setprofile`, which passes events on to the profiler that was
set. Functions that can store nothing are reported once only.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import sys
import threading
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any, TypeVar

from adjoint.locks import in_child, make_lock
from adjoint.primal.code_owner import _vouched, exclude, is_user_code
from adjoint.primal.memo_by_code import CodeTable
from adjoint.primal.packages import CACHING, is_of_a_library, package
from adjoint.runtime.foreign.may_store import CACHED_PROPERTY, may_store

_told = CodeTable[tuple[bool, bool]]()
"""By code object: whether its entries are reported, and whether it is user code."""


def vouch_for(code: CodeType) -> None:
    """Declare that a function neither stores nor returns anything active: it is never watched."""
    _vouched.put(code, None)
    _told.pop(id(code), None)


for _function in (
    functools.update_wrapper,  # `sqlite3.connect` makes its cache of statements by these
    functools.lru_cache,
    collections.namedtuple,  # these run where classes are made
    vars(dataclasses.Field)["__set_name__"],
    vars(functools.cached_property)["__set_name__"],
):
    exclude(_function.__code__)
    for _part in _function.__code__.co_consts:
        if isinstance(_part, CodeType) and _part.co_name[0] != "_":
            exclude(_part)


# ---- events --------------------------------------------------------------------------------------

T = TypeVar("T")
See = Callable[[FrameType], None]
_seeing: dict[int, See | None] = {}
"""By thread: the function that entries are reported to."""


def _known(frame: FrameType) -> tuple[bool, bool]:
    """Return whether entries of a function are reported, and whether it is user code."""
    code = frame.f_code
    known = _told.get(id(code))
    if known is None:
        users = bool(code.co_flags & CO_OPTIMIZED)  # other code fills a namespace of its own
        users = users and is_user_code(code, frame.f_globals)
        told = users and may_store(code) and not _is_trusted(code, frame)
        return _told.put(code, (told, users))
    return known[1]


def _is_trusted(code: CodeType, frame: FrameType) -> bool:
    """Return whether a function is of a library, which stores only in its operands."""
    module = frame.f_globals.get("__name__")
    if code is CACHED_PROPERTY:
        return False
    return is_of_a_library(module, code) or package(module) in CACHING


_ran: dict[int, bool] = {}
"""By thread: whether any user code has run in the innermost `EntryMonitor`."""


class _Monitor:
    """`sys.monitoring`, whose events come from all threads.

    Each change of the events makes the interpreter revisit all code that runs afterwards, so they
    stay on until `release`.
    """

    def __init__(self) -> None:
        self._lock = make_lock()
        self._tool: int | None = None
        self.is_on = False

    def start(self) -> bool:
        if not self.is_on:
            monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
            with self._lock:
                if self._tool is None and not self._claim(monitoring):
                    return False
                monitoring.set_events(self._tool, self._events)
                self.is_on = True
        return True

    def stop(self) -> None:
        """Do nothing: events stay on, and are ignored outside an `EntryMonitor`."""

    def release(self) -> None:
        with self._lock:
            sys.monitoring.set_events(self._tool, 0)  # type: ignore[attr-defined,unused-ignore]
            self.is_on = False

    def _claim(self, monitoring: Any) -> bool:
        """Claim a tool identifier for good: code disabled under it stays disabled."""
        for tool in (4, 3, 1, 5, 0, 2):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "adjoint")
                events = monitoring.events
                self._events = events.PY_START | events.PY_RESUME
                for event in (events.PY_START, events.PY_RESUME):
                    monitoring.register_callback(tool, event, self._entered)
                self._tool, self._off = tool, monitoring.DISABLE
                return True
        return False

    def _entered(self, code: CodeType, offset: int) -> Any:
        frame = sys._getframe(1)
        told, users = _known(frame)
        if not (told or users):
            return self._off
        _tell(frame, told)
        return None


class _Profile:
    """`sys.setprofile`, which acts on one thread and passes events on to the earlier profiler."""

    def __init__(self) -> None:
        self._local = threading.local()

    def start(self) -> bool:
        depth = getattr(self._local, "depth", 0)
        self._local.depth = depth + 1
        if depth == 0:
            before: Any = sys.getprofile()
            self._local.before = before
            sys.setprofile(_passing_on(before) if callable(before) else _entered)
        return True

    def stop(self) -> None:
        self._local.depth -= 1
        if self._local.depth == 0:
            before: Any = self._local.before
            if before is None or callable(before):
                sys.setprofile(before)
            else:  # a profiler in C sets itself
                sys.setprofile(None)
                before.enable()


def _entered(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        known = _told.get(id(frame.f_code))  # saves a call of `_known` for each event
        told, users = _known(frame) if known is None else known[1]
        if told or users:
            _tell(frame, told)


def _tell(frame: FrameType, told: bool) -> None:
    thread = threading.get_ident()
    _ran[thread] = True
    see = _seeing.get(thread) if told else None
    if see is not None:
        see(frame)


def _passing_on(before: Callable[..., Any]) -> Callable[..., None]:
    def entered(frame: FrameType, event: str, arg: Any) -> None:
        before(frame, event, arg)
        _entered(frame, event, arg)

    return entered


_profile = _Profile()
_monitor = _Monitor() if hasattr(sys, "monitoring") else None


@in_child
def _forget_other_threads() -> None:
    mine = threading.get_ident()
    by_threads: tuple[dict[int, Any], ...] = (_seeing, _ran)
    for by_thread in by_threads:
        for thread in by_thread.keys() - {mine}:
            del by_thread[thread]


def release() -> None:
    """Switch events off at the end of the last differentiated call."""
    if _monitor is not None and _monitor.is_on:
        _monitor.release()


def unmonitored(run: Callable[..., T], *args: Any) -> T:
    """Run ``run(*args)`` of the library without reporting entries."""
    thread = threading.get_ident()
    see, ran = _seeing.get(thread), _ran.get(thread, False)
    _seeing[thread] = None
    try:
        return run(*args)
    finally:
        _seeing[thread], _ran[thread] = see, ran


class EntryMonitor:
    """Context that reports each frame of user code that begins or resumes to `see`.

    Attributes
    ----------
    ran
        Whether any user code ran, also such that is not reported.
    """

    __slots__ = ("_before", "_ran", "_see", "_source", "ran")

    def __init__(self, see: See | None) -> None:
        self._see = see
        self.ran: bool = True

    def __enter__(self) -> EntryMonitor:
        thread = threading.get_ident()
        self._before = _seeing.get(thread)
        self._source: Any = _monitor if _monitor is not None and _monitor.start() else _profile
        if self._source is _profile:
            _profile.start()
        _seeing[thread] = self._see
        self._ran, _ran[thread] = _ran.get(thread, False), False
        return self

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        _seeing[thread] = self._before
        self.ran = _ran[thread]
        _ran[thread] = self.ran or self._ran
        self._source.stop()
