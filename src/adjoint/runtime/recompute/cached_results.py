"""Evaluations of functions whose results are used again, for equal arguments.

Equal arguments may depend on different inputs, and be equal only here: two weights that are both
zero, or a literal. So a result carries the derivative of the arguments that it was asked for with,
though the function ran for others: its pullback is linear and the point is the same. What the
function read besides, of captured variables and objects, it read when it ran; cotangents of that
are kept until the sweep comes there.

A real number is linearised when it is computed: its pullback is run once, with cotangent 1. Arrays
and tuples of numbers have their pullback run once more for each use. Any other result is one object
for all who use it, so that their cotangents cannot be told apart: where a derivative in a number
among the arguments is needed, it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.primal.value_kinds import ATOMS, by_value, is_objects
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.memory.collect import Reader
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison
from adjoint.runtime.recompute.separate_sweep import Rest, Totals, aside, scaled

_FEW = 256
"""Numbers that are worth keeping rather than computing them again."""


def _number(bar: Any) -> Any:
    """The cotangent of a real number as a float, which leaves the precision of others alone."""
    bar = finish(bar)
    return bar if type(bar) is float or type(bar) is Poison else float(bar.real)


class _History:
    """The evaluations of one differentiated call, in the order in which they ended."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.ended: list[Evaluation] = []
        self.last_kept = -1
        """The number of the last one whose pullback has to be run in its place in the sweep."""
        self._integers = _hold_integers(arguments)

    @classmethod
    def of(cls, memory: Memory) -> _History:
        known: _History | None = memory.caches.get("evaluations")
        if known is None:
            known = memory.caches["evaluations"] = cls(memory.arguments)
        return known

    def differs(self, arg: Any) -> bool:
        """Whether an equal argument may have a derivative of its own: it is told by its value.

        Integers have none unless one is differentiated in.
        """
        if isinstance(arg, tuple | frozenset):
            return any(map(self.differs, arg))
        if by_value(arg):
            return self._integers if isinstance(arg, _INTEGERS) else True
        if isinstance(arg, np.dtype) and arg.fields is None and arg.metadata is None:
            return False  # it holds nothing
        return type(arg) not in _ATOMS and type(arg).__hash__ is not _BY_IDENTITY


_INTEGERS = (int, np.integer, np.bool_)
_ATOMS = ATOMS | {bytes}
_BY_IDENTITY: Any = object.__hash__


def _hold_integers(arguments: tuple[Any, ...]) -> bool:
    """Whether one of the arguments counts an integer for a real number."""
    stack, seen = [*arguments], set()
    while stack:
        value = stack.pop()
        if isinstance(value, _INTEGERS):
            return True
        if is_objects(value):
            value = value.ravel().tolist()
        if isinstance(value, list | tuple | dict) and id(value) not in seen:
            seen.add(id(value))
            stack += value.values() if isinstance(value, dict) else value
    return False


def may_depend(memory: Memory, value: Any) -> bool:
    """Whether a value may have a derivative that an equal one has not, in reverse mode."""
    return _History.of(memory).differs(value)


class Evaluation:
    """One call of a cached function: what it gave, and its pullback.

    Attributes
    ----------
    parts
        The result, or the elements of a tuple.
    own
        Which arguments may have another derivative in a later use.
    first, number
        How many evaluations had ended when it began, and when it ended.
    start, stop
        The positions in the log.
    linear
        Of a real number: the cotangents of the arguments for 1, and of what else was read if that
        is not much.
    is_closed
        Nothing but that is needed in a sweep: it wrote nothing that has to be undone in order.
    """

    def __init__(self, memory: Memory, f: Any, args: tuple[Any, ...]) -> None:
        self.memory, self.f, self.args = memory, f, args
        self.y: Any = None
        self.parts: tuple[Any, ...] = ()
        self.uses = 0
        history = _History.of(memory)
        self.first, self.number = len(history.ended), -1
        self.start = self.stop = memory.position
        self.link: list[Any] = [memory, None]
        self.own = [*map(history.differs, args)]
        self.linear: tuple[list[Any], Rest | None] | None = None
        self.is_closed = False

    # ---- forward

    def run(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function."""
        memory = self.memory
        self.y = call_keywords(self.link, 1, f, args, kwargs)
        self.stop = memory.position
        self.parts = self.y if is_tuple(self.y) else (self.y,)
        if self.told_apart and _is_real(self.y):
            self._linearise()
        history = _History.of(memory)
        self.is_closed = (
            self.linear is not None and self.start == self.stop and history.last_kept < self.first
        )
        self.number = len(history.ended)
        history.ended.append(self)
        if not self.is_closed:
            history.last_kept = self.number
        return self.y

    def _linearise(self) -> None:
        one = type(self.y)(1) if isinstance(self.y, np.generic) else 1.0
        try:
            with np.errstate(all="ignore"):
                shown, rest = self._aside([one], trial=True)
            self.linear = shown, rest if rest.size <= _FEW else None
        except Exception:  # it is raised once more where a derivative is needed
            self.linear = None

    @property
    def told_apart(self) -> bool:
        """Whether equal arguments of another call may have derivatives of their own."""
        return self.link[1] is not None and any(self.own)

    @property
    def is_separable(self) -> bool:
        """Whether the cotangents of each use of the result are known by themselves."""
        memory = self.memory
        return all(
            not memory.is_written(part)
            if isinstance(part, np.ndarray) and not is_objects(part)
            else by_value(part) or type(part) in ATOMS
            for part in self.parts
        )

    def used_again(self, args: tuple[Any, ...]) -> Any:
        """The result, for one more use, with equal arguments."""
        self.uses += 1
        differ = self.told_apart or any(map(_History.of(self.memory).differs, args))
        if differ and is_tuple(self.y) and self.is_separable:
            # One of its own, which has its own cotangent.
            return tuple.__new__(type(self.y), [*self.y])
        return self.y

    # ---- reverse

    def _aside(self, bars: list[Any], *, trial: bool = False) -> tuple[list[Any], Rest]:
        """Run the pullback by itself: the cotangents of the arguments, as plain structures, and
        what else is left in memory."""
        memory = self.memory
        with aside(memory, self.stop, trial=trial):
            found = self._pulled(bars)
            memory.rewind(self.start)
            reader = Reader(memory, taking=True)
            shown = [
                reader.read(arg, bar) if differs or by_value(arg) else None
                for arg, bar, differs in zip(self.args, found, self.own, strict=True)
            ]
            return shown, Rest(memory)

    def _rest(self, bars: list[Any]) -> tuple[Rest, Any]:
        """What uses with these cotangents leave in memory besides those of the arguments, and a
        factor."""
        if self.linear is not None and self.linear[1] is not None:
            return self.linear[1], _number(bars[0])
        return self._aside(bars)[1], 1

    def _pulled(self, bars: list[Any]) -> tuple[Any, ...]:
        """The cotangents of the arguments; those of what they hold are in memory."""
        memory, back = self.memory, self.link[1]
        if back is None:
            return (None,) * len(self.args)
        y_bar = None
        if is_tuple(self.y):
            for i, bar in enumerate(bars):
                memory.add_item(self.y, i, bar)
        elif bars:
            y_bar = finish(bars[0])
        return back(y_bar)[1:]  # type: ignore[no-any-return]

    def again_back(self, args: tuple[Any, ...], bars: list[Any]) -> tuple[Any, ...]:
        """The pullback of a later use, with equal arguments."""
        memory, none = self.memory, (None,) * len(args)
        own = [*map(_History.of(memory).differs, args)]
        # What arrives at other arguments of a result that all uses share is refused there.
        new = [a and not b for a, b in zip(own, self.own, strict=True)]
        if any(bar is not None for bar in bars):
            Totals.of(memory).add(self.number, bars)
        elif self.is_separable:
            return none
        if not any(own):
            return none
        if not self.is_separable:
            return self._refused(args, new, (0.0,) * len(args)) if any(new) else none
        shown = self._aside(bars)[0] if self.linear is None else self._shown(bars[0])
        found = tuple([deposit(memory, arg, bar) for arg, bar in zip(args, shown, strict=True)])
        return self._refused(args, new, found) if any(new) else found

    def _shown(self, bar: Any) -> list[Any]:
        assert self.linear is not None
        scale = None if bar is None else _number(bar)
        return [None if scale is None else scaled(part, scale) for part in self.linear[0]]

    def back(self, bars: list[Any]) -> tuple[Any, ...]:
        """The pullback of the evaluation, which is also the first use."""
        memory = self.memory
        if self.is_closed:
            if bars[0] is not None:
                Totals.of(memory).add(self.number, bars)
            self._close()
            shown = zip(self.args, self._shown(bars[0]), strict=True)
            return tuple([deposit(memory, arg, bar) for arg, bar in shown])
        later = Totals.of(memory).take(self.number)
        if not self.told_apart or not self.is_separable:
            bars = bars if later is None else [*map(accumulate, bars, later)]
            found = self._pulled(bars)
            shared = self.uses > 0 and self.told_apart
            return self._refused(self.args, self.own, found) if shared else found
        if later is None:
            return self._pulled(bars)
        rest, scale = self._rest(later)
        found = self._pulled(bars)
        rest.add(memory, scale)
        return found

    def _close(self) -> None:
        """What was read besides the arguments gets its cotangents from all uses, of the evaluations
        inside too."""
        memory = self.memory
        totals, ended = Totals.of(memory), _History.of(memory).ended
        while (number := totals.last_since(self.first)) is not None:
            rest, scale = ended[number]._rest(totals.bars.pop(number))
            rest.add(memory, scale)

    def _refused(
        self, args: tuple[Any, ...], own: list[bool], bars: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Of a result that was one object for several uses, whose arguments do cotangents belong
        to? Of one that was computed for an integer, what is the derivative in an equal number?"""
        name = getattr(self.f, "__name__", type(self.f).__name__)
        bad = Poison(
            missing(
                f"a derivative of '{name}' in its arguments is needed, of a"
                f" {type(self.y).__name__} that its cache has given to other calls too",
                "cache numbers, arrays or tuples of them, of floats rather than integers",
            )
        )
        found = [*bars]
        for i, (arg, differs) in enumerate(zip(args, own, strict=True)):
            if differs and not by_value(arg):
                poison(self.memory, arg, bad)
            elif differs and found[i] is not None:
                found[i] = bad
        return tuple(found)


def is_tuple(y: Any) -> bool:
    """Whether a result is a tuple that is nothing but its elements."""
    return type(y) is tuple or (isinstance(y, tuple) and hasattr(type(y), "_fields"))


def _is_real(y: Any) -> bool:
    return type(y) is not bool and isinstance(y, _REALS)


_REALS = (float, int, np.floating)
