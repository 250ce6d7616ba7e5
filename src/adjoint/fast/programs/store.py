"""Which tier a call takes: specialised programs, made on the first call of a kind and kept.

A call that no kept program is for is specialised; where that is not covered, the kind of call is
noted, and goes straight to the generic tier from then on. A program that fails (the function
raises, a number is not finite, a power is complex) is followed by the generic tier, which runs the
call from its beginning: specialised programs write to nothing but what they made.
"""

from __future__ import annotations

import itertools
import linecache
import os
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adjoint.diagnostics.dump import DumpError
from adjoint.errors import ArgumentError, place_text
from adjoint.fast.build.modes import Mode
from adjoint.fast.not_covered import Defect, Deoptimize, NotCovered
from adjoint.fast.programs.refused_kinds import kinds_of
from adjoint.frontend.same_code import compile_quietly
from adjoint.ir.nodes import Span
from adjoint.locks import give_way, make_lock
from adjoint.primal.compiled_functions import python_of
from adjoint.primal.value_kinds import content_of
from adjoint.runtime.cache.generate import show_source
from adjoint.runtime.session import leaving, session

if TYPE_CHECKING:
    from adjoint.fast.build.program import Program

MOST_KINDS = 8
"""Programs kept per function; a function called with more kinds of arguments is generic."""
MOST_MODES = 32
"""With names, in which a function is specialised: one that is given other names each time is
generic."""
TOO_MANY_MODES = f"arguments given by name in more than {MOST_MODES} ways"
MOST_REFUSED = 12
"""Kinds of calls of a function that are refused before it is not asked for again."""
MOST_FUNCTIONS = 1024
MOST_CAPTURED = 8
"""By so many functions that they captured, others of the same code are told apart."""
FEW_FAILURES = 8
"""A program that failed more often rests for some calls."""
LONGEST_REST = 256
"""Calls until it is tried again."""

MISS: Any = type("Miss", (), {"__repr__": lambda self: "MISS"})()
"""What an entry returns where a guard fails: another program may be for this call."""

FAILED: Any = type("Failed", (), {"__repr__": lambda self: "FAILED"})()
"""What an entry returns where the program meets what was not foreseen: the call is generic."""


def _is_wanted() -> bool:
    """What the environment says."""
    asked = os.environ.get("ADJOINT_TIER") or "fast"
    if asked not in ("fast", "generic"):
        raise ArgumentError(
            f"there is no tier {asked!r}, which ADJOINT_TIER asks for",
            hint="set ADJOINT_TIER to 'fast' or 'generic', or leave it out",
        )
    return asked == "fast"


is_enabled: list[bool] = [_is_wanted()]
"""Whether calls are specialised at all."""

refusal: list[str | None] = [None]
"""Why nothing is specialised at the moment, not even what asks for it by ``tier="fast"``."""

is_strict: list[bool] = [False]
"""Whether a defect of the specialiser is seen: the call is generic otherwise."""


@dataclass(slots=True)
class Entry:
    """One specialised program.

    Attributes
    ----------
    run
        ``run(f, args)``: the value and the cotangents, `MISS` or `FAILED`.
    cost
        Seconds that specialising and compiling took.
    filename
        Under which `source` is known to tracebacks.
    failures
        Of the calls that met what the program was not made for.
    inlined
        The user's functions that it contains.
    """

    program: Program
    source: str
    run: Callable[..., Any]
    cost: float
    filename: str
    failures: _Failures
    inlined: tuple[str, ...] = ()


@dataclass(slots=True)
class Refused:
    """Why calls with arguments of some types are generic."""

    reason: str
    span: Span | None
    kinds: tuple[Any, ...]
    cost: float = 0.0
    filename: str | None = None

    @property
    def place(self) -> str | None:
        """The file and the line."""
        if self.filename is None or self.span is None:
            return None
        return place_text(self.filename, self.span.line)


@dataclass(slots=True)
class _Kept:
    owner: Owner
    entries: list[Entry] = field(default_factory=list)
    refused: dict[tuple[Any, ...], Refused] = field(default_factory=dict)

    def refuses(self, f: Any, args: tuple[Any, ...]) -> Refused | None:
        """Why such a call is generic, if that is known."""
        if not self.refused:
            return None
        found = self.refused.get(kinds_of(f, args))
        if found is None and len(self.refused) >= MOST_REFUSED:
            return next(reversed(self.refused.values()))
        return found


_kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()
_modes: Counter[tuple[int, ...]] = Counter()
"""In how many modes with names programs are kept of a function, by the identities of its owner."""
_lock = make_lock()
_numbers = itertools.count(1)


def forget() -> None:
    """Throw away all programs: a rule was registered, on which any of them may depend."""
    with _lock:
        while _kept:
            _forget_oldest()


def _forget_oldest() -> None:
    (mode, *ids), kept = _kept.popitem(last=False)
    if mode.names:
        _modes[*ids] -= 1
        if not _modes[*ids]:
            del _modes[*ids]
    for entry in kept.entries:
        linecache.cache.pop(entry.filename, None)  # the texts that tracebacks show
    kept.entries.clear()  # those who found programs before hold on to the list


Owner: TypeAlias = "tuple[Any, ...]"


def _owner(f: Any) -> Owner | None:
    """What programs are kept under: code, which outlives the functions that share it, with that of
    the functions that it works on, so that those under one decorator do not share their programs.
    """
    kind = type(f)
    if kind is FunctionType:
        if FunctionType not in map(type, map(content_of, f.__closure__ or ())):
            return (f.__code__,)  # most of them: this is asked at each call
        return tuple(_codes((f,)))
    if kind is MethodType and type(f.__func__) is FunctionType:
        return _owner(f.__func__)
    if kind is partial:
        inner = _owner(f.func)
        return None if inner is None else (partial, *inner)
    if (
        kind is np.ufunc
        or kind is _DISPATCHER
        or (kind is BuiltinFunctionType and type(f.__self__) is ModuleType)
    ):
        return (f,)
    if (python := python_of(f)) is not None:
        return _owner(python)
    if type(kind) is not type:
        return None
    return (kind, *_codes(getattr(f, "__dict__", {}).values()))


_DISPATCHER: Any = type(np.mean)


def _codes(values: Iterable[Any]) -> list[CodeType]:
    """The code of functions, and of those that they captured: of the first ones, each once."""
    found: dict[int, CodeType] = {}
    pending = deque(values)
    while pending and len(found) < MOST_CAPTURED:
        value = pending.popleft()
        if type(value) is FunctionType:
            code = value.__code__
            if id(code) not in found:
                found[id(code)] = code
                pending.extend(map(content_of, value.__closure__ or ()))
    return list(found.values())


def _key(owner: Owner, mode: Mode) -> tuple[Any, ...]:
    return (mode, *map(id, owner))


def run(f: Any, args: tuple[Any, ...], mode: Mode, tried: list[Entry] | None = None) -> Any:
    """What a specialised program gives, see `entry_source`; `MISS` if there is none.

    Parameters
    ----------
    args
        Those that are given by name come last, in the order of the mode's names.
    tried
        The list of its programs, if all of them have been found not to be for this call.
    """
    owner: Owner | None
    if type(f) is FunctionType and f.__closure__ is None:
        owner = None
        kept = _kept.get((mode, id(f.__code__)))
    else:
        owner = _owner(f)
        if owner is None:
            return MISS
        kept = _kept.get(_key(owner, mode))
    if kept is None:
        return _first(owner or (f.__code__,), f, args, mode)
    for entry in () if kept.entries is tried else kept.entries:
        found = entry.run(f, args)
        if found is not MISS:
            return MISS if found is FAILED else found
    if kept.refuses(f, args) is not None:
        return MISS
    return _first(kept.owner, f, args, mode, len(kept.entries))


def known(f: Any, mode: Mode) -> _Kept | None:
    """What is kept for a function."""
    owner = _owner(f)
    return None if owner is None else _kept.get(_key(owner, mode))


def has_code(f: Any) -> bool:
    """Whether programs can be kept for a function."""
    return _owner(f) is not None


def _first(owner: Owner, f: Any, args: tuple[Any, ...], mode: Mode, tried: int = 0) -> Any:
    """Specialise, unless another thread just did, and run the program."""
    while True:
        give_way()
        with _lock:
            kept = _kept.get(_key(owner, mode))
            is_new = kept is None or tried >= len(kept.entries)
            made: Entry | Refused
            if kept is None or is_new:
                made = entry_of(owner, f, args, mode)
            else:
                made = kept.entries[tried]
        if isinstance(made, Refused):
            return MISS
        found = made.run(f, args)
        if found is not MISS:
            return MISS if found is FAILED else found
        if is_new:
            return _refuse_itself(owner, f, args, mode)
        tried += 1


def _refuse_itself(owner: Owner, f: Any, args: tuple[Any, ...], mode: Mode) -> Any:
    """A program whose own guards refuse the call that it was made for is not made again."""
    if is_strict[0]:
        raise AssertionError("the guards refuse the call that the program was made for")
    with _lock:
        kinds = kinds_of(f, args)
        kept = _kept.get(_key(owner, mode))
        if kept is not None:
            kept.refused[kinds] = Refused("what it reads is another each time", None, kinds)
    return MISS


def entry_of(owner: Owner, f: Any, args: tuple[Any, ...], mode: Mode) -> Entry | Refused:
    """Specialise, and keep what comes of it."""
    if refusal[0] is not None:
        return Refused(refusal[0], None, ())
    with _lock:
        key = _key(owner, mode)
        kept = _kept.get(key)
        if kept is None:
            if mode.names:
                if _modes[key[1:]] >= MOST_MODES:
                    return Refused(TOO_MANY_MODES, None, ())
                _modes[key[1:]] += 1
            kept = _kept[key] = _Kept(owner)
            while len(_kept) > MOST_FUNCTIONS:
                _forget_oldest()
        begin = time.perf_counter()
        try:
            if len(kept.entries) >= MOST_KINDS:
                raise NotCovered(f"called with more than {MOST_KINDS} kinds of arguments")
            made = _sound(f, args, mode)
        except NotCovered as error:
            kinds = kinds_of(f, args)
            cost = time.perf_counter() - begin
            refused = Refused(error.reason, error.span, kinds, cost, error.filename)
            kept.refused[kinds] = refused
            return refused
        kept.entries.append(made)
        return made


def _sound(f: Any, args: tuple[Any, ...], mode: Mode) -> Entry:
    """`_made`; a defect of it is none of the user's."""
    try:
        with leaving, session:  # much is made, and little of it goes before the end
            return _made(f, args, mode)
    except (NotCovered, DumpError):
        raise
    except Exception as error:
        if is_strict[0]:
            raise
        raise NotCovered(f"internal: {type(error).__name__}: {error}") from error


def _made(f: Any, args: tuple[Any, ...], mode: Mode) -> Entry:
    from adjoint.fast.build.program import specialise, written
    from adjoint.fast.entry_code.shape_check import demanding_shapes
    from adjoint.fast.entry_code.source import entry_source  # most programs are never specialised

    begin = time.perf_counter()
    program = specialise(f, args, mode)
    writer = written(program)
    entry_text, bound = entry_source(program, len(args), mode)
    source = "\n".join(writer.lines) + "\n"
    program.stages("source", lambda: source)
    program.stages("entry", lambda: entry_text)
    filename = f"<adjoint fast {program.name} #{next(_numbers)}>"
    scope = dict(writer.bound)
    try:
        exec(compile_quietly(source, filename, 0), scope)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise NotCovered(f"the generated source is beyond Python: {error}") from None
    show_source(filename, source)
    failures = _Failures(bound)
    run = scope["gradient" if mode.is_gradient else "forward"]
    bound |= {
        "MISS": MISS,
        "program": demanding_shapes(run, program, mode) if is_strict[0] else run,
        "failed": failures,
    }
    exec(compile(entry_text, filename.replace("fast", "entry"), "exec", dont_inherit=True), bound)
    inlined = tuple(program.ev.inlined)[1:]  # the first one is the function itself
    program.ev.release()
    program.leaves = program.wanted = []
    cost = time.perf_counter() - begin
    return Entry(program, source, bound["run"], cost, filename, failures, inlined)


class _Failures:
    """Counts the calls in which a program met what it was not made for.

    The next call may be of other numbers, for which the program is right: one that fails rests for
    some calls, the more the oftener it has failed, and is tried again.
    """

    __slots__ = ("bound", "count", "last", "rest")

    def __init__(self, bound: dict[str, Any]) -> None:
        self.count, self.rest, self.bound = 0, 0, bound
        self.last = ""

    @property
    def reason(self) -> str:
        """Why the call that was just made is generic."""
        if self.rest > 0:
            return f"what made this program fail {self.count} times: {self.last}"
        return self.last

    def __call__(self, error: Exception | None) -> Any:
        demand_foreseen(error)
        if type(error) is not _Resting:
            self.last = _what_happened(error)
            self.count += 1
            if self.count > FEW_FAILURES:
                self._let_rest(min(2 ** (self.count - FEW_FAILURES), LONGEST_REST))
        return FAILED

    def _let_rest(self, calls: int) -> None:
        program = self.bound["program"]
        if self.rest > 0:  # another thread was here before
            return
        self.rest = calls

        def resting(*leaves: Any) -> Any:
            self.rest -= 1
            if self.rest <= 0:
                self.bound["program"] = program
            raise _Resting

        self.bound["program"] = resting


class _Resting(Deoptimize):
    """A program that has failed often is not run in this call."""


def _what_happened(error: Exception | None) -> str:
    """What a program met that it was not made for."""
    if error is None:
        return "a cotangent that is not finite"
    if isinstance(error, Deoptimize):
        return str(error)
    if isinstance(error, FloatingPointError):
        return f"a warning of NumPy's: {error}"
    return f"an error: {type(error).__name__}"


def demand_foreseen(error: Exception | None) -> None:
    """What a program raised is for the generic tier, but for what its text alone can be guilty
    of."""
    if is_strict[0] and isinstance(error, NameError | Defect):
        raise error
