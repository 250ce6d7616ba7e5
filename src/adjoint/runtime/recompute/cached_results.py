"""Evaluations of cached functions, whose results are used again for equal arguments.

Equal arguments may depend on different inputs: two weights that are both zero, or a literal. So
each use of a result has the derivative with respect to its own arguments, although the function ran
for others: the pullback is linear and the point is the same. Captured variables and objects were
read when the function ran; their cotangents are stored until the sweep reaches that point.

A real result is linearised when it is computed: its pullback runs once, with cotangent 1. For
arrays and tuples of numbers the pullback runs again for each use. Any other result is one object
that all uses share, so that their cotangents cannot be told apart: a derivative in a number among
the arguments is then refused.
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
from adjoint.runtime.recompute.separate_sweep import Rest, Totals, scaled, separate_sweep

_FEW = 256
"""The number of cotangents up to which a `Rest` is stored rather than computed again."""


def _number(bar: Any) -> Any:
    """Return the cotangent of a real number as a float, which keeps the dtype of its factors."""
    bar = finish(bar)
    return bar if type(bar) is float or type(bar) is Poison else float(bar.real)


class _History:
    """The evaluations of one differentiated call, in the order in which they ended."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.ended: list[Evaluation] = []
        self.last_kept = -1
        """The number of the last evaluation whose pullback must run at its place in the sweep."""
        self._integers = _hold_integers(arguments)

    @classmethod
    def of(cls, memory: Memory) -> _History:
        known: _History | None = memory.caches.get("evaluations")
        if known is None:
            known = memory.caches["evaluations"] = cls(memory.arguments)
        return known

    def differs(self, arg: Any) -> bool:
        """Return whether an equal argument of another call may have another derivative.

        Integers have none, unless a differentiated argument holds integers.
        """
        if isinstance(arg, tuple | frozenset):
            return any(map(self.differs, arg))
        if by_value(arg):
            return self._integers if isinstance(arg, _INTEGERS) else True
        if isinstance(arg, np.dtype) and arg.fields is None and arg.metadata is None:
            return False  # a dtype without parts
        return type(arg) not in _ATOMS and type(arg).__hash__ is not _BY_IDENTITY


_INTEGERS = (int, np.integer, np.bool_)
_ATOMS = ATOMS | {bytes}
_BY_IDENTITY: Any = object.__hash__


def _hold_integers(arguments: tuple[Any, ...]) -> bool:
    """Return whether the arguments hold an integer, which then counts as real."""
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
    """Return whether equal values may have different derivatives, in reverse mode."""
    return _History.of(memory).differs(value)


class Evaluation:
    """One call of a cached function: its result and its pullback.

    Attributes
    ----------
    parts
        The result, or the elements of a tuple.
    differs
        For each argument, whether it may have another derivative in a later use.
    first, number
        The number of evaluations that had ended at the beginning and at the end of this one.
    start, stop
        The positions in the log at the beginning and at the end.
    linear
        Of a real result: the cotangents of the arguments for cotangent 1, and those of what else
        was read, if they are few.
    is_closed
        Whether a sweep needs `linear` only, because the call wrote nothing.
    """

    args: tuple[Any, ...]
    f: Any
    memory: Memory
    first: int
    start: Any
    stop: Any
    uses: int
    number: int

    def __init__(self, memory: Memory, f: Any, args: tuple[Any, ...]) -> None:
        self.memory, self.f, self.args = memory, f, args
        self.y: Any = None
        self.parts: tuple[Any, ...] = ()
        self.uses = 0
        history = _History.of(memory)
        self.first, self.number = len(history.ended), -1
        self.start = self.stop = memory.position
        self.link: list[Any] = [memory, None]
        self.differs: list[bool] = [*map(history.differs, args)]
        self.linear: tuple[list[Any], Rest | None] | None = None
        self.is_closed: bool = False

    # ---- forward

    def run(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        memory = self.memory
        self.y = call_keywords(self.link, 1, f, args, kwargs)
        self.stop = memory.position
        self.parts = self.y if is_tuple(self.y) else (self.y,)
        if self.has_own_derivatives and _is_real(self.y):
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
        except Exception:  # raised again where a derivative is needed
            self.linear = None

    @property
    def has_own_derivatives(self) -> bool:
        """Whether equal arguments of another call may have other derivatives."""
        return self.link[1] is not None and any(self.differs)

    @property
    def is_separable(self) -> bool:
        """Whether each use of the result has cotangents of its own, by value."""
        memory = self.memory
        return all(
            not memory.is_written(part)
            if isinstance(part, np.ndarray) and not is_objects(part)
            else by_value(part) or type(part) in ATOMS
            for part in self.parts
        )

    def used_again(self, args: tuple[Any, ...]) -> Any:
        """Return the result for another use with equal arguments."""
        self.uses += 1
        differ = self.has_own_derivatives or any(map(_History.of(self.memory).differs, args))
        if differ and is_tuple(self.y) and self.is_separable:
            # A new tuple has a shadow of its own.
            return tuple.__new__(type(self.y), [*self.y])
        return self.y

    # ---- reverse

    def _aside(self, bars: list[Any], *, trial: bool = False) -> tuple[list[Any], Rest]:
        """Run the pullback in a separate sweep; return the cotangents of the arguments as plain
        structures, and the others in memory."""
        memory = self.memory
        with separate_sweep(memory, self.stop, trial=trial):
            found = self._pulled(bars)
            memory.rewind(self.start)
            reader = Reader(memory, taking=True)
            shown = [
                reader.read(arg, bar) if differs or by_value(arg) else None
                for arg, bar, differs in zip(self.args, found, self.differs, strict=True)
            ]
            return shown, Rest(memory)

    def _rest(self, bars: list[Any]) -> tuple[Rest, Any]:
        """Return a `Rest` and a factor: the cotangents other than those of the arguments."""
        if self.linear is not None and self.linear[1] is not None:
            return self.linear[1], _number(bars[0])
        return self._aside(bars)[1], 1

    def _pulled(self, bars: list[Any]) -> tuple[Any, ...]:
        """Run the pullback; return the cotangents by value of the arguments."""
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
        """Return the cotangents of the equal arguments of a later use."""
        memory, none = self.memory, (None,) * len(args)
        own = [*map(_History.of(memory).differs, args)]
        # Arguments that are active only in this use cannot be told apart, and are refused.
        new = [a and not b for a, b in zip(own, self.differs, strict=True)]
        if any(bar is not None for bar in bars):
            Totals.of(memory).add(self.number, bars)
        elif self.is_separable:
            return none
        if not any(own):
            return none
        if not self.is_separable:
            return self._refused(args, new, (0.0,) * len(args)) if any(new) else none
        shown = self._aside(bars)[0] if self.linear is None else self._linear_cotangents(bars[0])
        found = tuple([deposit(memory, arg, bar) for arg, bar in zip(args, shown, strict=True)])
        return self._refused(args, new, found) if any(new) else found

    def _linear_cotangents(self, bar: Any) -> list[Any]:
        assert self.linear is not None
        scale = None if bar is None else _number(bar)
        return [None if scale is None else scaled(part, scale) for part in self.linear[0]]

    def back(self, bars: list[Any]) -> tuple[Any, ...]:
        """Return the cotangents of the arguments of the evaluation, which is also the first use."""
        memory = self.memory
        if self.is_closed:
            if bars[0] is not None:
                Totals.of(memory).add(self.number, bars)
            self._close()
            shown = zip(self.args, self._linear_cotangents(bars[0]), strict=True)
            return tuple([deposit(memory, arg, bar) for arg, bar in shown])
        later = Totals.of(memory).take(self.number)
        if not self.has_own_derivatives or not self.is_separable:
            bars = bars if later is None else [*map(accumulate, bars, later)]
            found = self._pulled(bars)
            shared = self.uses > 0 and self.has_own_derivatives
            return self._refused(self.args, self.differs, found) if shared else found
        if later is None:
            return self._pulled(bars)
        rest, scale = self._rest(later)
        found = self._pulled(bars)
        rest.add(memory, scale)
        return found

    def _close(self) -> None:
        """Add the cotangents of all uses, nested evaluations included, except of the arguments."""
        memory = self.memory
        totals, ended = Totals.of(memory), _History.of(memory).ended
        while (number := totals.last_since(self.first)) is not None:
            rest, scale = ended[number]._rest(totals.bars.pop(number))
            rest.add(memory, scale)

    def _refused(
        self, args: tuple[Any, ...], own: list[bool], bars: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Poison cotangents that are not determined: those of uses of one shared object, and of a
        float equal to the integer for which a result was computed."""
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
    """Return whether a result is a plain tuple or a named tuple."""
    return type(y) is tuple or (isinstance(y, tuple) and hasattr(type(y), "_fields"))


def _is_real(y: Any) -> bool:
    return type(y) is not bool and isinstance(y, _REALS)


_REALS = (float, int, np.floating)
