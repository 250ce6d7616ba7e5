"""The store of programs, which decides the tier of a call.

A call without a stored program is specialised. If specialisation is not covered, the store records
the kind of the call, and later calls of the kind are generic. If a program fails (the function
raises, a number is not finite, a power is complex), the generic tier runs the call from its
beginning: a program leaves no trace before it has finished.
"""

from __future__ import annotations

import itertools
import linecache
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

from adjoint.diagnostics.dump import DumpError
from adjoint.errors import ArgumentError
from adjoint.fast.build.modes import Mode
from adjoint.fast.not_covered import NotCovered, NotFinite
from adjoint.fast.programs.call_kinds import kinds_of
from adjoint.fast.programs.entries import MOST_NOT_COVERED as MOST_NOT_COVERED
from adjoint.fast.programs.entries import Entry, NotCoveredKind, Stored
from adjoint.fast.programs.failures import FAILED as FAILED
from adjoint.fast.programs.failures import FEW_FAILURES as FEW_FAILURES
from adjoint.fast.programs.failures import LONGEST_REST as LONGEST_REST
from adjoint.fast.programs.failures import Failures
from adjoint.fast.programs.failures import demand_foreseen as demand_foreseen
from adjoint.fast.programs.failures import is_strict as is_strict
from adjoint.fast.programs.owners import Owner, owner_of
from adjoint.frontend.same_code import compile_quietly
from adjoint.locks import give_way, make_lock
from adjoint.runtime.cache.generate import show_source
from adjoint.runtime.session import leaving, session

MOST_KINDS = 8
"""Greatest number of programs per function and mode; calls of further kinds are generic."""
MOST_MODES = 32
"""Greatest number of modes with keyword names per function; calls with other names are generic."""
TOO_MANY_MODES = f"arguments given by name in more than {MOST_MODES} ways"
MOST_FUNCTIONS = 1024

MISS: Any = type("Miss", (), {"__repr__": lambda self: "MISS"})()
"""Result of an entry whose guard fails: another program may fit the call."""


def _is_wanted() -> bool:
    """Return whether the environment asks for the fast tier."""
    asked = os.environ.get("ADJOINT_TIER") or "fast"
    if asked not in ("fast", "generic"):
        raise ArgumentError(
            f"there is no tier {asked!r}, which ADJOINT_TIER asks for",
            hint="set ADJOINT_TIER to 'fast' or 'generic', or leave it out",
        )
    return asked == "fast"


is_enabled: list[bool] = [_is_wanted()]
"""Whether the fast tier is on."""

refusal: list[str | None] = [None]
"""The reason why no function is specialised now, not even with ``tier="fast"``, or ``None``."""


_kept: OrderedDict[tuple[Any, ...], Stored] = OrderedDict()
_latest: dict[tuple[Mode, int], Entry] = {}
"""The entry that took the latest call, by mode and identity of code: its guards take less time than
the key of the function's owner."""
_modes: Counter[tuple[int, ...]] = Counter()
"""Number of modes with names per function, by the identities of its owner."""
_lock = make_lock()
_numbers = itertools.count(1)


def forget() -> None:
    """Drop all programs, because a new rule may affect any of them."""
    with _lock:
        while _kept:
            _forget_oldest()


def _forget_oldest() -> None:
    _latest.clear()
    (mode, *ids), kept = _kept.popitem(last=False)
    if mode.names:
        _modes[*ids] -= 1
        if not _modes[*ids]:
            del _modes[*ids]
    for entry in kept.entries:
        linecache.cache.pop(entry.filename, None)
    kept.entries.clear()  # callers may still refer to the list


def _key(owner: Owner, mode: Mode) -> tuple[Any, ...]:
    return (mode, *map(id, owner))


def run(
    f: Any,
    args: tuple[Any, ...],
    mode: Mode,
    tried: list[Entry] | None = None,
    dots: Sequence[Any] | None = None,
    *,
    may_act: bool = True,
) -> Any:
    """Run the call by a program (result: see `entry_source`); `MISS` if there is none for it.

    Parameters
    ----------
    args
        Positional arguments, then those of ``mode.names``.
    tried
        The list of programs of `f`, if none of them fits the call.
    dots
        One tangent per argument, for a program of tangents that is called for these alone; the
        result is then that of ``once``.
    may_act
        Whether the program may print, or write to something from outside; else such a call is
        generic.
    """
    is_function = type(f) is FunctionType
    latest = _latest.get((mode, id(f.__code__))) if is_function and tried is None else None
    if latest is not None and (may_act or not latest.acts):
        found = latest.run(f, args) if dots is None else latest.once(f, args, dots)  # type: ignore[misc]
        if found is not MISS:
            return MISS if found is FAILED else found
    owner: Owner | None
    if is_function and f.__closure__ is None:
        owner = None
        kept = _kept.get((mode, id(f.__code__)))
    else:
        owner = owner_of(f)
        if owner is None:
            return MISS
        kept = _kept.get(_key(owner, mode))
    if kept is None:
        return _first(owner or (f.__code__,), f, args, mode, dots, may_act=may_act)
    for entry in () if kept.entries is tried else kept.entries:
        if entry.acts and not may_act:
            return MISS
        found = entry.call(f, args, dots)
        if found is not MISS:
            if is_function and kept.has_none_before(entry):
                _latest[mode, id(f.__code__)] = entry
            return MISS if found is FAILED else found
    if kept.reason_for(f, args) is not None:
        return MISS
    return _first(kept.owner, f, args, mode, dots, len(kept.entries), may_act=may_act)


def known(f: Any, mode: Mode) -> Stored | None:
    """Return the stored programs of a function, or ``None``."""
    owner = owner_of(f)
    return None if owner is None else _kept.get(_key(owner, mode))


def has_code(f: Any) -> bool:
    """Return whether programs can be stored for a function."""
    return owner_of(f) is not None


def _first(
    owner: Owner,
    f: Any,
    args: tuple[Any, ...],
    mode: Mode,
    dots: Sequence[Any] | None,
    tried: int = 0,
    *,
    may_act: bool,
) -> Any:
    """Specialise `f`, unless another thread just did, and run the program."""
    while True:
        give_way()
        with _lock:
            kept = _kept.get(_key(owner, mode))
            is_new = kept is None or tried >= len(kept.entries)
            made: Entry | NotCoveredKind
            if kept is None or is_new:
                made = entry_of(owner, f, args, mode)
            else:
                made = kept.entries[tried]
        if isinstance(made, NotCoveredKind) or (made.acts and not may_act):
            return MISS
        found = made.call(f, args, dots)
        if found is not MISS:
            return MISS if found is FAILED else found
        if is_new:
            return _reject_own_call(owner, f, args, mode)
        tried += 1


def _reject_own_call(owner: Owner, f: Any, args: tuple[Any, ...], mode: Mode) -> Any:
    """Record a kind of calls whose program rejects even the call that it was made for."""
    if is_strict[0]:
        raise AssertionError("the guards refuse the call that the program was made for")
    with _lock:
        kinds = kinds_of(f, args)
        kept = _kept.get(_key(owner, mode))
        if kept is not None:
            kept.refused[kinds] = NotCoveredKind("what it reads is another each time", None, kinds)
    return MISS


def entry_of(owner: Owner, f: Any, args: tuple[Any, ...], mode: Mode) -> Entry | NotCoveredKind:
    """Specialise `f`; store and return the entry, or the reason why the call is not covered."""
    if refusal[0] is not None:
        return NotCoveredKind(refusal[0], None, ())
    with _lock:
        key = _key(owner, mode)
        kept = _kept.get(key)
        if kept is None:
            if mode.names:
                if _modes[key[1:]] >= MOST_MODES:
                    return NotCoveredKind(TOO_MANY_MODES, None, ())
                _modes[key[1:]] += 1
            kept = _kept[key] = Stored(owner)
            while len(_kept) > MOST_FUNCTIONS:
                _forget_oldest()
        begin = time.perf_counter()
        try:
            if len(kept.entries) >= MOST_KINDS and kept.takes_apart:
                _latest.clear()
                kept.forget_lengths()
            if len(kept.entries) >= MOST_KINDS:
                if not str(getattr(f, "__module__", None)).startswith("adjoint."):
                    raise NotCovered(f"called with more than {MOST_KINDS} kinds of arguments")
                _latest.clear()
                del kept.entries[0]  # a function of a rule serves many functions of the user
            options = {name: getattr(kept, name) for name in _OPTIONS}
            made = _sound(f, args, mode, **options)
            made.failures.retire = partial(_retire, kept, made)
        except NotCovered as error:
            kinds = kinds_of(f, args)
            cost = time.perf_counter() - begin
            refused = NotCoveredKind(
                error.reason, error.span, kinds, cost, error.filename, error.awaits
            )
            kept.refused[kinds] = refused
            return refused
        kept.entries.append(made)
        return made


_OPTIONS = ("takes_apart", "is_plain", "sums_some")
"""Of `Stored` and of `specialise`."""


def _retire(kept: Stored, entry: Entry, error: Exception) -> None:
    """Drop a program with numbers of Python that may be infinite or NaN, or one with a sum of no
    numbers, and make no more of them for its function."""
    with _lock:
        _latest.clear()
        if isinstance(error, NotFinite):
            kept.is_plain = False
        else:
            kept.sums_some = False
        if entry in kept.entries:
            kept.entries.remove(entry)


def _sound(f: Any, args: tuple[Any, ...], mode: Mode, **options: bool) -> Entry:
    """Build the program for `f`. Turn an internal error of the fast tier into `NotCovered`, unless
    strict mode is on."""
    try:
        with leaving, session:  # garbage collection would find little
            return _made(f, args, mode, options)
    except (NotCovered, DumpError):
        raise
    except RecursionError:  # a call inside many others
        raise NotCovered("calls that are too deep") from None
    except Exception as error:
        if is_strict[0]:
            raise
        raise NotCovered(f"internal: {type(error).__name__}: {error}") from error


_MAIN = {"gradient": "gradient", "pullback": "forward"}
"""The main function of the source of a program, by kind of mode."""


def _made(f: Any, args: tuple[Any, ...], mode: Mode, options: dict[str, bool]) -> Entry:
    from adjoint.fast.build.program_source import REVERSE, written  # imported on first use only
    from adjoint.fast.build.specialisation import specialise
    from adjoint.fast.entry_code.entry_source import entry_source
    from adjoint.fast.entry_code.late_functions import late_function
    from adjoint.fast.entry_code.shape_check import demanding_shapes

    begin = time.perf_counter()
    program = specialise(f, args, mode, **options)
    writer = written(program)
    entry_texts, bound = entry_source(program, len(args), mode)
    source = "\n".join(writer.lines) + "\n"
    program.stages("source", lambda: source)
    program.stages("entry", lambda: "".join(entry_texts.values()))
    filename = f"<adjoint fast {program.name} #{next(_numbers)}>"
    scope = dict(writer.bound)
    try:
        exec(compile_quietly(source, filename, 0), scope)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise NotCovered(f"the generated source is beyond Python: {error}") from None
    show_source(filename, source)
    entry_name = filename.replace("fast", "entry")
    lines = [line.strip() for line in writer.lines]
    first = lines.index(REVERSE) + 1 if REVERSE in lines else 0
    failures = Failures(bound, (filename, first))
    run = scope[_MAIN.get(mode.kind, "at_point")]
    if program.ev.opaque:
        run = _in_session(run)
    bound |= {
        "MISS": MISS,
        "FAILED": FAILED,
        "program": demanding_shapes(run, program, mode)
        if is_strict[0] and not mode.has_tangents
        else run,
        "failed": failures,
    }
    inlined = tuple(program.ev.inlined)[1:]  # without the function itself
    opaque = tuple(f"{name}, because of {reason}" for name, reason in program.ev.opaque.items())
    program.ev.release()
    program.wanted.clear()
    cost = time.perf_counter() - begin
    made = Entry(
        source,
        run,
        cost,
        filename,
        failures,
        inlined,
        opaque,
        acts=program.acts,
        has_taken_apart=program.ev.has_taken_apart,
        most_rows=program.most_rows,
    )
    if mode.has_tangents:
        for name, text in entry_texts.items():
            setattr(made, name, late_function(made, name, text, entry_name, bound))
    else:
        exec(compile(entry_texts["run"], entry_name, "exec", dont_inherit=True), bound)
        made.run = bound["run"]
    if program.ev.is_singular and mode.is_gradient and not mode.is_careful:
        made.run = _with_careful_program(made, mode)
    return made


def _with_careful_program(entry: Entry, mode: Mode) -> Callable[..., Any]:
    """Return the `run` of a gradient. Where a number in the reverse sweep is not finite, it runs a
    careful program, which takes the place of the first one if it succeeds."""
    quick, failures = entry.run, entry.failures
    careful: Entry | None = None
    is_covered = True

    def run(f: Any, args: tuple[Any, ...]) -> Any:
        nonlocal careful, is_covered
        found = quick(f, args)
        if found is not FAILED or not failures.is_infinite or not is_covered:
            return found
        if careful is None:
            give_way()
            try:
                with _lock:
                    careful = careful or _sound(f, args, replace(mode, is_careful=True))
            except NotCovered:
                is_covered = False
                return found
        found = careful.run(f, args)
        if found is not FAILED and found is not MISS:
            linecache.cache.pop(entry.filename, None)
            entry.run, entry.failures = careful.run, careful.failures
            entry.source, entry.filename = careful.source, careful.filename
        return found

    return run


def _in_session(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a program that runs in one session, for the records of its opaque operations."""

    def program(*leaves: Any) -> Any:
        with leaving, session:
            return run(*leaves)

    return program
