"""A run of foreign code: its callbacks, and what it has changed."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable
from collections.abc import Iterator as Iterated
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.refusals import refused
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError, Place
from adjoint.primal.array_memory import root_of
from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.packages import is_of_a_library
from adjoint.primal.value_kinds import by_value, fields_of
from adjoint.runtime.foreign.callback import Callback
from adjoint.runtime.foreign.earlier_values import created_in, earlier_values, twice_in
from adjoint.runtime.foreign.entered_functions import may_fill, stores_itself
from adjoint.runtime.foreign.entry_monitor import EntryMonitor
from adjoint.runtime.foreign.followed_names import NOWHERE, Followed, followed_by_all
from adjoint.runtime.foreign.logged_changes import Changes
from adjoint.runtime.foreign.may_store import (
    CACHED_PROPERTY,
    assigned_outside,
    exchanges_parts,
    gives_out,
    may_store,
)
from adjoint.runtime.foreign.roots import (
    all_around,
    callers_of,
    is_importing,
    modules_of,
    outer_roots,
    variables_of,
)
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.foreign.user_code_reach import filled_by_c
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.saved import with_new_identity

MOST = 65_536
"""The most objects that are saved because user code may change them."""


call_keywords: Any = None
"""Runs a call in the engine; `adjoint.runtime.dispatch.call` assigns it."""


class ForeignRun:
    """A run of foreign code.

    Attributes
    ----------
    has_only_cached
        Whether nothing but `functools.cached_property`, which does so once, can have stored
        anything.
    ran
        Whether any user code has run.
    """

    __slots__ = (
        "_args",
        "_before",
        "_before_all",
        "_by_user",
        "_entered",
        "_events",
        "_exchanging",
        "_excluded",
        "_f",
        "_filled",
        "_fills",
        "_known",
        "_looked_at",
        "_own",
        "_place",
        "_rebinds",
        "_recent",
        "_rewritten",
        "_snapshot",
        "_there",
        "_trusts",
        "_twice",
        "_unsaid",
        "_written",
        "has_only_cached",
        "memory",
        "ran",
    )

    memory: Memory
    ran: bool
    has_only_cached: bool

    def __init__(self, memory: Memory, f: Any) -> None:
        self.memory, self._f = memory, f
        self._args: tuple[Any, ...] = ()
        self._excluded: frozenset[int] = frozenset()
        self._events: list[Callback | Changes] = []
        self._rewritten: set[int] = set()
        self._written: dict[tuple[int, str | None], tuple[Any, str | None]] = {}
        self._unsaid: list[tuple[Any, str | None]] = []
        self._twice: dict[int, Any] = {}
        self._fills = False
        self._filled: list[Any] = []
        self._snapshot = Snapshot()
        self._recent: deque[tuple[list[Any], Followed]] = deque(maxlen=32)
        self._entered: CodeType | None = None
        self._before_all: tuple[Any, ...] = ()
        self._known: set[int] = set()
        self._there: Collection[int] = ()
        self._looked_at: dict[tuple[int, ...], list[Any]] = {}
        self._place: Place | None = None
        self._own: tuple[Any, int] = None, 0
        self._exchanging: CodeType | None = None
        self._rebinds = self._trusts = self._by_user = False
        self.has_only_cached = self.ran = True

    def exclude(self, values: Iterable[Any]) -> None:
        """Exclude arrays, lists, dicts, which the caller compares; save the base arrays of
        views."""
        compared = [value for value in values if isinstance(value, np.ndarray | list | dict)]
        views = [v for v in compared if isinstance(v, np.ndarray) and root_of(v) is not v]
        self._excluded = frozenset(map(id, compared)) - frozenset(map(id, views))
        self._snapshot.add(map(root_of, views))

    def exclude_logged(self, container: Any) -> None:
        """Exclude a dict or set that the callee writes and, from now on, logs itself."""
        self._own = container, len(self.memory.entries())

    def save_attributes(self, values: Iterable[Any]) -> None:
        """Save the attributes of array subclasses, too, which finalizers assign out of sight."""
        for value in values:
            if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
                self._snapshot.add((fields_of(value),))

    def compare_by_identity(self) -> None:
        """Take the same number at the same place for unchanged, not for one stored again."""
        self._trusts = True

    def leave_result(self, y: np.ndarray[Any, Any]) -> None:
        """Exclude a new array whose contents are accounted for."""
        given = [value for value in self._args if isinstance(value, np.ndarray)]
        if not any(root_of(value) is root_of(y) for value in given):
            self._excluded |= {id(y), id(root_of(y))}

    def run(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run ``f(*args, **kwargs)``, and log what user code changes meanwhile."""
        memory = self.memory
        self._args = (*args, *kwargs.values())
        if filled := filled_by_c(self._args):
            self._keep_filled(filled)
        self._before, memory.foreign_run = memory.foreign_run, self
        watch = EntryMonitor(self._see)
        try:
            with watch:
                try:
                    y = f(*args, **kwargs)
                except BaseException:
                    self._excluded = frozenset()  # the caller compares nothing now
                    raise
            if self._exchanging is not None:
                raise refused(
                    f"'{self._exchanging.co_qualname}' exchanges all attributes of something, its"
                    f" class or its defaults, and was called by '{name_of(self._f)}', whose calls"
                    " are not followed",
                    "assign the attributes one by one",
                )
            if self._snapshot.is_cut and self._by_user:
                raise refused(
                    f"{self._who()} may change any of more than {MOST} objects, and was called by"
                    f" '{name_of(self._f)}', whose calls are not followed",
                    "let it get at fewer objects, or call it from Python",
                )
            return y
        finally:
            memory.foreign_run, self.ran = self._before, watch.ran
            self._log()
            self._snapshot.release()
            self._looked_at.clear()
            self._recent.clear()
            self._rewritten = {id(owner) for owner, name in self._written.values() if name is None}
            self._written.clear()
            self._unsaid.clear()
            self._args = self._before_all = ()
            self._filled = []
            self._there = frozenset(self._there)  # only identities are needed now

    def _keep_filled(self, filled: list[Any]) -> None:
        """Save containers in which C stores results of functions, even if no user code is
        entered."""
        self._filled, self._before_all = filled, (self._f, *self._args)
        held = self._snapshot.add(filled)
        self._known |= {id(one) for one in held}
        if self.memory.level is not None:
            self._there = earlier_values(None, (*self._before_all, *held))

    def before(self, blank: Any, n: int) -> Callable[[Any], tuple[Any, ...]]:
        """Return a pullback of `n` operands that undoes this run, then calls `blank`."""

        def region_back(y_bar: Any) -> tuple[Any, ...]:
            bad = self.back(None)
            bars = blank(y_bar) if blank is not None else (None,) * (n + 1)
            return bars if bad is None else (bars[0], *(bad,) * n)

        return region_back

    @property
    def has_effects(self) -> bool:
        """Return whether there were callbacks or changes."""
        return bool(self._events)

    def may_have_written(self, value: Any) -> bool:
        """Return whether `value`, which the caller compares, may have been written unchanged."""
        return id(value) in self._rewritten

    def renewed(self, saved: Any) -> Any:
        """Copy a list or a dict; numbers that may have been stored again become other objects."""
        if isinstance(saved, list):
            return [with_new_identity(item, self._twice) for item in saved]
        return {key: with_new_identity(item, self._twice) for key, item in saved.items()}

    def stored(self) -> Iterated[Any]:
        """Yield what user code has stored, and the arrays that it has changed."""
        for event in self._changes():
            for kept in event.changes:
                yield from (new for _, new in kept.pairs() if new is not ABSENT)

    def made(self, *, certain: bool) -> tuple[list[Any], list[Any]]:
        """Return the numbers and arrays created in this run that user code has stored, and the
        arrays that it has changed. Unless `certain`, these include arrays that it may have filled
        with their old contents."""
        put: list[Any] = []
        changed: list[Any] = []
        for event in self._changes():
            for kept in event.changes:
                new = [new for _, new in kept.pairs() if new is not ABSENT]
                if not kept.is_of_contents():
                    put += filter(by_value, created_in(new, self._there))
                elif not certain or kept.has_changed():
                    changed += filter(by_value, new)
        return put, changed

    def error(self) -> Exception | None:
        """Return the error for a derivative of something stored; ``None`` if nothing was."""
        return next((event.error for event in self._changes()), None)

    def _changes(self) -> Iterated[Changes]:
        return (event for event in self._events if type(event) is Changes)

    def back(self, bar: Any) -> Poison | None:
        """Run callbacks backwards and undo changes; `bar` is the poison of the result, if there is
        one. Return a poison that has arrived at something changed."""
        found = [event.back(self.memory, bar) for event in reversed(self._events)]
        return next(filter(None, found), None)

    # ---- callbacks through the engine ------------------------------------------------------------

    def call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a callback of a user function as part of the operation."""
        own = any(type(arg).__flags__ & (1 << 9) and by_value(arg) for arg in args)  # HEAPTYPE
        error = self._error() if own else None
        return self._through(lambda inner: call_keywords(inner, 1, f, args, kwargs), error)

    def step(self, iterator: ActiveIterator) -> Any:
        """Return the next element of an iterator as part of the operation."""
        return self._through(lambda inner: iterator.step(inner, 1))

    def _through(self, run: Callable[[list[Any]], Any], error: Exception | None = None) -> Any:
        self._log()
        memory = self.memory
        call = Callback(memory, error)
        self._events.append(call)
        self.has_only_cached = False
        memory.foreign_run = None
        try:
            with EntryMonitor(None):
                call.value = run(call.inner)
        finally:
            memory.foreign_run = self
            self._look_again()
        return call.value

    # ---- user functions entered without the engine -----------------------------------------------

    def _see(self, frame: FrameType) -> None:
        """Save what the function that begins in `frame` can change, and what callers can that store
        what it returns."""
        if is_importing(frame, ForeignRun.run.__code__):
            return
        code = frame.f_code
        by_user = not is_of_a_library(frame.f_globals.get("__name__"), code)
        if by_user:
            self._snapshot.widen(MOST)
            if exchanges_parts(code):
                self._exchanging = code
        callers = callers_of(frame, ForeignRun.run.__code__) if gives_out(code) else []
        if not callers and not stores_itself(frame):
            if may_store(code):
                self._tell_of(code, by_user)
            return
        codes = tuple({id(one.f_code): one.f_code for one in (frame, *callers)}.values())
        self.has_only_cached &= code is CACHED_PROPERTY or not may_store(code)
        given = [value for value in frame.f_locals.values() if type(value) not in CHILDLESS_TYPES]
        key = (*map(id, codes), 0, *map(id, given))
        self._rebinds |= not assigned_outside(code) <= {*code.co_freevars}
        if key in self._looked_at and not self._rebinds:
            return  # saved already
        self._looked_at[key] = given
        followed = followed_by_all(codes)
        outer = outer_roots(frame, (self._f, *self._args))
        self._tell_of(code, by_user)
        if self._place is None:
            self._place = current_place()
            self._before_all = self._f, *self._args, *outer
            held = self._snapshot.add(self._before_all, followed)
            for value in held:
                self._known |= {id(value), id(fields_of(value))}
            if self.memory.level is not None:
                self._there = earlier_values(frame, (*self._before_all, *held))
        for namespace, name in variables_of(frame):
            self._snapshot.add_variable(namespace, name)
        modules = [value for value in frame.f_locals.values() if type(value) is ModuleType]
        self._snapshot.add(map(vars, modules), NOWHERE)
        roots = [*given, *outer]
        self._recent.append((roots, followed))
        held = self._snapshot.add(roots, followed)
        self._written_by(frame, held)
        if any(type(one) is not FunctionType for one in held):
            for caller in filter(stores_itself, callers):
                self._written_by(caller, held)
        self._forget()

    def _tell_of(self, code: CodeType, by_user: bool) -> None:
        """Note which function was entered first, preferring user code, for messages."""
        if self._entered is None or not self._by_user:
            self._entered, self._by_user = code, by_user

    def _written_by(self, frame: FrameType, held: list[Any]) -> None:
        """Count all of `held`, which the function in `frame` reaches, as written by it, if it is
        user code: a library does not store a value again where it was."""
        if is_of_a_library(frame.f_globals.get("__name__"), frame.f_code):
            return
        fills = may_fill(frame, held)
        arrays = [one for one in held if isinstance(one, np.ndarray) and one.dtype.names is None]
        spared = set() if fills else set(map(id, arrays))
        places = [(owner, None) for owner in held if id(owner) not in spared]
        self._write({(id(owner), name): (owner, name) for owner, name in places})
        self._write({(id(space), name): (space, name) for space, name in variables_of(frame)})
        self._twice |= twice_in(frame, held, modules_of(frame))
        if fills:
            self._fills = True
            self._snapshot.add(all_around(frame, held))

    def _write(self, written: dict[tuple[int, str | None], tuple[Any, str | None]]) -> None:
        self._unsaid += [written[place] for place in written.keys() - self._written.keys()]
        self._written |= written

    def _forget(self) -> None:
        """Forget the saved contents of places that may have been written with the same values."""
        if self._trusts:
            return
        if self._fills:
            arrays = self._snapshot.forget_arrays()
            self._write({(id(array), None): (array, None) for array in arrays})
        self._snapshot.forget(self._unsaid, self._twice)
        self._unsaid = []

    def _log(self) -> None:
        if self._entered is None and not self._filled:
            return
        changes = [
            kept for kept in self._snapshot.changes() if id(kept.owner) not in self._excluded
        ]
        own, since = self._own
        if own is not None:
            logged = self.memory.entries()[since:]
            changes = [kept for kept in changes if kept.owner is not own or not kept.is_in(logged)]
        if changes:
            known = self._before_all, self._known
            self._events.append(Changes(self.memory, changes, *known, self._error()))

    def _look_again(self) -> None:
        """Save the present state again after a callback."""
        if self._entered is not None or self._filled:
            self._snapshot = Snapshot()
            self._snapshot.add(self._filled)
            self._looked_at.clear()
            for roots, followed in self._recent:
                self._snapshot.add(roots, followed)
            self._unsaid = [*self._written.values()]
            self._forget()

    def _who(self) -> str:
        if self._entered is None and self._filled:
            is_asked = any(isinstance(owner, defaultdict) for owner in self._filled)
            return "the factory of a 'defaultdict'" if is_asked else "a function in C"
        return "a function" if self._entered is None else f"'{self._entered.co_qualname}'"

    def _error(self) -> Exception:
        return NoDerivativeError(
            f"a derivative of what {self._who()} has stored is needed, which was called by"
            f" '{name_of(self._f)}', whose calls are not followed",
            hint="store it in code that is called from Python, or store ad.stop_gradient(...) if"
            " it has no derivative",
            place=self._place or current_place(),
        )
