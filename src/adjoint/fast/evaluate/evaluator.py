"""What the files of partial evaluation share: the state of a run, and the operations that they call
each other by."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.errors import place_text
from adjoint.fast.evaluate.inferring_draft import InferringDraft
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, Row, Symbol, Type
from adjoint.fast.evaluate.values import (
    MISSING,
    Abstract,
    CellOf,
    Closure,
    DequeOf,
    DictOf,
    External,
    FieldsOf,
    HeapObject,
    Instance,
    Iterating,
    Known,
    ListOf,
    Ref,
    RowOf,
    SetOf,
    SliceOf,
    TableOf,
    Text,
    Tuple,
)
from adjoint.fast.evaluate.writes.adopted_containers import adopt
from adjoint.fast.not_covered import NeedsKnown, NeedsSize, NotCovered, TooDeep
from adjoint.fast.support.functions import assigned, leave
from adjoint.fast.support.members import members
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, Operand, Value


@lru_cache
def ignoring(kinds: tuple[str, ...]) -> Instance:
    """Return the settings by which NumPy's errors of these kinds are ignored, always as one
    object."""
    return Instance(np.errstate, ("ignored",), (Known(kinds),))


_ARITHMETIC = members(operator, "add sub mul truediv floordiv mod pow neg abs")

MOST_CALLS = 60
"""Greatest depth of inlined calls."""


class Evaluator(InferringDraft, ABC):
    """A run of functions on abstract values, which writes one program.

    Attributes
    ----------
    copied
        Lists, as values or heap addresses, that the next loop iterates over in a copy.
    united
        By address of an object that the first side of the latest branch makes: that of the other.
    numbers
        By alternative of a variable that holds one of several things: its number, and the first.
    flat_of
        By address of an iterator that is ``a.flat``: the array, and the unused iterator.
    keys_of
        By list of keys or values of a dict, and by key that an iteration takes: the list of keys.
    has_split
        Whether a ``try`` has been evaluated for several outcomes of what its body tests.
    caches
        By address of the cache of a function: the heap at its first call with unknown numbers.
    inlined
        The names of the inlined user functions.
    opaque
        By name and place of an opaque operation: why it is opaque.
    examples
        By call of an opaque operation: its results for examples, and why it has no derivative.
    is_singular
        Whether a slope of an array may be infinite.
    takes_apart, has_taken_apart
        Whether small arrays may be, and whether they are, held as separate numbers.
    sums_some
        Whether a program fails where there are no numbers in a sum.
    is_careful
        Whether zero cotangents stay zero beside such slopes.
    keeps_branches
        Whether a branch that is not covered refuses the program, also if the present call does not
        take it.
    contents
        By array that was made of constants: its contents then, and the block that makes it.
    orders
        The number of derivatives that are taken of what is being evaluated.
    tries
        The number of ``try`` statements that have been evaluated.
    lines, prints
        The list of what the program prints (`support.printing`), and whether it prints.
    global_cells
        By global variable that the program stores: the cell of its value.
    error_settings
        The errors of NumPy that ``with np.errstate`` ignores at present.
    ignored
        By result of a call in such a context: the errors that it ignores.
    slopes
        By partial derivative and kinds of operands: its operations (`reverse.evaluated_slopes`).
    """

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        outside.adopt = partial(adopt, outside, self.allocate)
        self.copied: set[Value | int] = set()
        self.united: dict[int, int] = {}
        self.numbers: dict[Any, tuple[int, Abstract]] = {}
        self.flat_of: dict[int, tuple[Value, HeapObject]] = {}
        self.keys_of: dict[Value, Value] = {}
        self.has_split = False
        self.takes_apart = self.has_taken_apart = False
        self.inlined: dict[str, None] = {}
        self.caches: dict[int, dict[int, HeapObject]] = {}
        self.opaque: dict[str, str] = {}
        self.examples: dict[Any, Any] = {}
        self.is_singular = False
        self.is_careful = False
        self.sums_some = True
        self.keeps_branches = False
        self.contents: dict[Value, tuple[Any, list[ir.Op]]] = {}
        self.orders = 1
        self.slopes: dict[Any, Any] = {}
        self.tries = 0
        self.error_settings = self.allocate(ignoring(()))
        self.ignored: dict[Value, tuple[str, ...]] = {}
        self.lines = self.value(ANYTHING, name="lines")
        self.prints = False
        self.global_cells: dict[tuple[int, str], Ref] = {}

    def operation(
        self,
        f: Any,
        operands: Sequence[Operand],
        t: Type,
        keywords: tuple[tuple[str, Operand], ...] = (),
        name: str | None = None,
    ) -> Value:
        result = super().operation(f, operands, t, keywords, name)
        settings = self.heap.get(self.error_settings.address)
        if isinstance(settings, Instance) and isinstance(now := settings.items[0], Known):
            if now.value and (f in _ARITHMETIC or isinstance(f, np.ufunc)):
                self.ignored[result] = now.value
                self.is_singular = True
        return result

    def release(self) -> None:
        """Drop references to the values that the program was specialised with, and those between
        the evaluator and its sources, so that both are freed with the program."""
        self.outside.adopt = None
        self.heap.clear()
        self.caches.clear()
        self.examples.clear()
        self.frames.clear()
        self.outside.release()

    def call(
        self, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Evaluate ``callee(*args, **keywords)``; demand that the result is not ``None``."""
        return self.demand_some(self.call_any(callee, args, keywords))

    @abstractmethod
    def call_any(
        self, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Evaluate ``callee(*args, **keywords)``, whose result may be a number or ``None``."""

    def inline(
        self, closure: Closure, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Run a Python function as a part of the program; demand that its result is not
        ``None``."""
        return self.demand_some(self.inline_any(closure, args, keywords))

    @abstractmethod
    def inline_any(
        self, closure: Closure, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Run a Python function as a part of the program; return its result."""

    @abstractmethod
    def choosing(self, run: Callable[[], Abstract], outcomes: tuple[bool, ...] = ()) -> Abstract:
        """Evaluate `run` for each outcome of its comparisons of elements."""

    @abstractmethod
    def run(self, block: Block) -> list[Abstract] | None:
        """Run a block; return its results, or ``None`` if its end is never reached."""

    def read(self, operand: Operand) -> Abstract:
        """Return the abstract value of an operand of the function being run."""
        if type(operand) is Value:
            return self.frames[-1].values[operand]
        if type(operand) is Const:
            return Known(operand.value)
        match operand:
            case ir.Global(name=name):
                return self.global_(self.frames[-1].namespace, name)
            case ir.Undefined():
                return MISSING
            case _:
                raise NotCovered(f"the operand {operand}")

    def global_(self, namespace: dict[str, Any], name: str) -> Abstract:
        """Return the value that a global or builtin name has now."""
        cell = self.global_cells.get((id(namespace), name))
        return self.outside.global_(namespace, name) if cell is None else self.load_cell(cell)

    def demand_not_stored(self, namespace: dict[str, Any], name: str) -> None:
        """Refuse that code which runs as it is reads a global variable that the program stores."""
        if (id(namespace), name) in self.global_cells:
            raise NotCovered("a function that reads a global variable which is stored", self.span)

    def load_cell(self, cell: Abstract) -> Abstract:
        """Return the content of a variable of an enclosing function."""
        if isinstance(cell, External):
            return self.outside.of_cell(cell)
        if isinstance(cell, Known):
            return self.outside.own(cell.value.cell_contents)
        held = self.held(cell)
        assert isinstance(held, CellOf), cell
        return held.items[0]

    def class_of(self, a: Abstract) -> type | None:
        """Return the class of an abstract value, or ``None`` if it may have several."""
        match a:
            case Known(value=value):
                return type(value)
            case External(sample=sample):
                return type(sample)
            case Tuple(kind=kind):
                return kind
            case Ref():
                match self.held(a):
                    case Instance(cls=cls) | RowOf(kind=cls):
                        return cls
                    case ListOf():
                        return list
                    case DequeOf():
                        return deque
                    case DictOf(kind=cls) | SetOf(kind=cls) | TableOf(kind=cls):
                        return cls
            case Closure():
                return FunctionType
            case Text():
                return str
            case FieldsOf():
                return dict
            case SliceOf():
                return slice
            case Iterating(kind=kind) if kind is range:
                return range
            case Value():
                t = self.types[a]
                if isinstance(t, Row):
                    return list
                if isinstance(t, Array):
                    return np.ndarray
                if isinstance(t, Number) and len(t.kinds) == 1:
                    return next(iter(t.kinds))
        return None

    def demand_some(self, a: Abstract) -> Abstract:
        """Write the check that a variable which may hold ``None`` does not; return its value."""
        if type(a) is not Value or a not in self.nones:
            return a
        return self.operation(assigned, (a,), self.types[a])

    def leave(self, error: NotCovered | None = None) -> None:
        """Write a call of `leave`, since user code raises here and the generic tier reports it, or
        is not covered, as `error` says."""
        reason: tuple[Const, ...] = ()
        if error is not None:
            span, filename = error.span or self.span, error.filename or self.frames[-1].filename
            place = "" if span is None else f" at {place_text(filename, span.line)}"
            reason = (Const(f"{error.reason}{place}"),)
        self.write(Call(None, Const(leave), reason, (), self.span))

    def flattened(self, a: Abstract) -> Value | None:
        """Return the array of which `a` is the attribute ``flat``, or ``None``."""
        if not isinstance(a, Ref) or a.address not in self.flat_of:
            return None
        array, unused = self.flat_of[a.address]
        if self.held(a) is not unused:  # an index sets it back to the first element
            raise NotCovered("an index of an iterator over an array", self.span)
        return array

    def demand_shallow(self) -> None:
        """Refuse a call inside of `MOST_CALLS` others."""
        if len(self.frames) >= MOST_CALLS:
            for leaf in self.outside.leaves:  # one of them may say how deep the recursion is
                if type(leaf.sample) is int and leaf.value not in self.outside.fixed:
                    raise NeedsKnown(leaf.value, "recursion", self.span)
                for n in getattr(leaf.type, "shape", ()):
                    if isinstance(n, Symbol):
                        raise NeedsSize(n, "recursion", self.span, MOST_CALLS)
            raise TooDeep(f"calls more than {MOST_CALLS} deep, or recursion", self.span)

    def place_now(self) -> tuple[Any, ...] | None:
        """Return the place in the source that is being evaluated, equal in each specialisation."""
        if not self.frames or self.span is None:
            return None
        return self.frames[-1].filename, self.span.line, self.span.column
