"""A run of foreign code: its callbacks through the engine, and the user code that it enters.

Callbacks through the engine are part of the operation. Any other user function that is entered may
only compute: if its bytecode says that it may store something, the run is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.refusals import refused
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.foreign.callback import Callback
from adjoint.runtime.foreign.entered_functions import stores_itself
from adjoint.runtime.foreign.entry_monitor import EntryMonitor
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.foreign.user_code_reach import filled_by_c
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.memory import Memory

call_keywords: Any = None
"""Runs a call in the engine; `adjoint.runtime.dispatch.call` assigns it."""


class ForeignRun:
    """A run of foreign code.

    Attributes
    ----------
    ran
        Whether any user code has run.
    """

    __slots__ = ("_callbacks", "_f", "_storing", "_why", "memory", "ran")

    memory: Memory
    ran: bool

    def __init__(self, memory: Memory, f: Any, why: str = "is not followed") -> None:
        self.memory, self._f, self._why = memory, f, why
        self._callbacks: list[Callback] = []
        self._storing: CodeType | None = None
        self.ran = True

    def run(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run ``f(*args, **kwargs)``; refuse it where user code may have stored something."""
        memory, before = self.memory, self.memory.foreign_run
        filled, held = filled_by_c((*args, *kwargs.values())), Snapshot()
        if filled:
            held.add(filled)
        memory.foreign_run = self
        watch = EntryMonitor(self._see)
        try:
            with watch:
                return f(*args, **kwargs)
        finally:
            memory.foreign_run, self.ran = before, watch.ran
            if self._storing is not None:
                raise self._refused(
                    f"'{self._storing.co_qualname}' may store something", self._storing
                )
            if filled and held.changes():
                asked = any(isinstance(owner, defaultdict) for owner in filled)
                who = "the factory of a 'defaultdict'" if asked else "a function in C"
                raise self._refused(f"{who} has stored something")

    def before(self, blank: Any, n: int) -> Callable[[Any], tuple[Any, ...]]:
        """Return a pullback of `n` operands that undoes this run, then calls `blank`."""

        def region_back(y_bar: Any) -> tuple[Any, ...]:
            self.back(None)
            return blank(y_bar) if blank is not None else (None,) * (n + 1)

        return region_back

    @property
    def has_callbacks(self) -> bool:
        """Return whether there were callbacks through the engine."""
        return bool(self._callbacks)

    def back(self, bar: Poison | None) -> None:
        """Run the callbacks backwards; `bar` is the poison of the result, if there is one."""
        for callback in reversed(self._callbacks):
            callback.back(self.memory, bar)

    def call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a callback of a user function as part of the operation."""
        own = any(type(arg).__flags__ & (1 << 9) and by_value(arg) for arg in args)  # HEAPTYPE
        error = self._error() if own else None
        return self._through(lambda inner: call_keywords(inner, 1, f, args, kwargs), error)

    def step(self, iterator: ActiveIterator) -> Any:
        """Return the next element of an iterator as part of the operation."""
        return self._through(lambda inner: iterator.step(inner, 1))

    def _through(self, run: Callable[[list[Any]], Any], error: Exception | None = None) -> Any:
        memory = self.memory
        call = Callback(memory, error)
        self._callbacks.append(call)
        memory.foreign_run = None
        try:
            with EntryMonitor(None):
                call.value = run(call.inner)
        finally:
            memory.foreign_run = self
        return call.value

    def _see(self, frame: FrameType) -> None:
        """Note that a function is entered which may store something."""
        if self._storing is None and stores_itself(frame):
            if not _is_importing(frame, ForeignRun.run.__code__):
                self._storing = frame.f_code

    def _refused(self, problem: str, code: CodeType | None = None) -> Exception:
        if getattr(self._f, "__code__", None) is code is not None:
            return refused(f"{problem}, and {self._why}", "write it to a file and import it")
        return refused(
            f"{problem}, and was called by '{name_of(self._f)}', whose calls are not followed",
            "call it from Python, or let it store nothing",
        )

    def _error(self) -> Exception:
        return NoDerivativeError(
            f"a derivative of what a function is given is needed, which was called by"
            f" '{name_of(self._f)}', whose calls are not followed",
            hint="call it from Python",
            place=current_place(),
        )


def _is_importing(frame: FrameType, last: CodeType) -> bool:
    """Return whether an import that began after `last` runs the function in `frame`."""
    caller = frame.f_back
    while caller is not None and caller.f_code is not last:
        if caller.f_code.co_filename.startswith("<frozen importlib"):
            return True
        caller = caller.f_back
    return False
