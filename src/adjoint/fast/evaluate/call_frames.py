"""Frames of inlined calls, and cached single-assignment forms of functions."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

from adjoint.errors import AdjointError
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.values import Abstract, Closure, Origin
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.construction import single
from adjoint.ir import single as ir
from adjoint.ir.node import node
from adjoint.ir.nodes import Span
from adjoint.ir.single import Value
from adjoint.runtime.cache.ir import lowered

Body = Callable[[Any, list[Abstract]], "list[Abstract] | None"]
"""The body of an iteration, a function of the item and of the carried values; see `Consumer`."""


class Frame:
    """One inlined call.

    Attributes
    ----------
    caller
        The origin of the call.
    suspends, is_manager
        Whether it is a generator that waits at each ``yield``, and that of a context manager.
    """

    __slots__ = (
        "caller",
        "code",
        "consumer",
        "filename",
        "is_manager",
        "namespace",
        "suspends",
        "values",
    )

    def __init__(self, function: ir.Function, closure: Closure, suspends: bool = False) -> None:
        self.suspends, self.is_manager = suspends, False
        self.values: dict[Value, Abstract] = {}
        self.code = closure.code
        self.namespace: dict[str, Any] = closure.namespace
        self.filename: str = function.filename
        self.consumer: Consumer | None = None
        self.caller: Origin | None = None


class Undecided(Exception):
    """Raised at a condition whose outcome is not chosen yet: what `choice` belongs to is evaluated
    once for each."""

    def __init__(self, choice: Choice, condition: Value) -> None:
        super().__init__("a condition that depends on numbers")
        self.choice, self.condition = choice, condition


@dataclass(slots=True, eq=False)
class Choice:
    """The outcomes of the conditions that an evaluation meets, and how many it has met."""

    outcomes: tuple[bool, ...] = ()
    met: int = 0

    def is_open(self) -> bool:
        """Return whether the outcome of the next condition is not chosen yet."""
        return self.met == len(self.outcomes)

    def outcome(self, condition: Value) -> bool:
        """Return the outcome of the next condition, which is `condition`."""
        if self.is_open():
            raise Undecided(self, condition)
        self.met += 1
        return self.outcomes[self.met - 1]


@dataclass(slots=True, eq=False, repr=False)
class Attempt:
    """One evaluation of a ``try`` body.

    Attributes
    ----------
    frame
        The call that it belongs to.
    is_over
        Whether the body has been completed: what follows is not caught.
    splits
        Whether a branch in the body that raises splits the evaluation.
    choice
        The outcomes of the conditions of such branches.
    left
        By name of a variable that the body has written and that is read outside: its value now.
    """

    frame: Frame
    is_over: bool = False
    splits: bool = True
    choice: Choice = field(default_factory=Choice)
    left: dict[str, Abstract] = field(default_factory=dict)


@contextmanager
def attempted(ev: Any, handles: bool = True) -> Iterator[None]:
    """Let exceptions that the code in the context certainly raises come out as `Raises`, as in a
    ``try``; if `handles` is false, leave it to a ``try`` around."""
    depth = len(ev.attempts)
    if handles:
        ev.attempts.append(Attempt(ev.frames[-1], splits=False))
    try:
        yield
    finally:
        del ev.attempts[depth:]


@node
class Consumer:
    """The body of an iteration over a generator that is being run.

    Attributes
    ----------
    address
        Heap address of the cell of carried values; if `stops`, a flag "go on" precedes them.
    body
        The body; it returns the carried values, preceded, if `stops`, by the flag.
    stops
        Whether `body` may end the iteration.
    frame
        The frame of the iteration.
    """

    address: int
    body: Body
    stops: bool
    frame: Frame


class Suspension(Exception):
    """Raised where a generator that waits at each ``yield`` (`suspended_generators`) gets there."""

    def __init__(self, value: Abstract) -> None:
        super().__init__("a generator waits")
        self.value = value
        self.rests: list[Callable[[list[Abstract]], list[Abstract] | None]] = []


_singles: dict[int, tuple[weakref.ref[CodeType], Any]] = {}
"""Single-assignment forms by identity of code: equal code may be in another file."""


def _forget(singles: dict[int, Any], key: int, _: Any) -> None:
    singles.pop(key, None)


def single_of(closure: Closure) -> ir.Function:
    """Return the cached single-assignment form of a function.

    Raises
    ------
    NotCovered
        The function has no source, or contains a construct that `single_assignment` does not cover.
    """
    code = closure.code
    kept = _singles.get(id(code))
    known = None if kept is None else kept[1]
    if known is None:
        f: Any = closure.function
        if f is None:
            cells = tuple(CellType() for _ in code.co_freevars)
            f = FunctionType(code, closure.namespace, code.co_name, None, cells)
        try:
            known = single(lowered(f), yields=True)
        except NotCovered as error:
            known = NotCovered(error.reason, error.span)  # without the frames, which hold the code
        except AdjointError as error:
            known = NotCovered(str(error).partition("\n")[0])
        _singles[id(code)] = weakref.ref(code, partial(_forget, _singles, id(code))), known
    if isinstance(known, NotCovered):
        refused = NotCovered(known.reason, known.span)
        place(refused, closure, None, code.co_filename)
        raise refused
    return known


def place(error: NotCovered, closure: Closure, span: Span | None, filename: str) -> None:
    """Set the place of an error, if the function is not one of this library."""
    if not is_own(closure.namespace):
        error.at(span, filename)
    elif error.filename is None:
        error.span = None
