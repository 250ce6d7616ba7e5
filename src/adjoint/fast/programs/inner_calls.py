"""Programs for calls inside the generic tier.

A function that is called often is specialised. A call with a program uses it like a rule: the
program returns the value and a pullback. A call without one is generic, and the calls inside it may
use programs in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.fast import not_covered as covered
from adjoint.fast.build.modes import GRADIENT, PULLBACK
from adjoint.fast.programs import store as tier
from adjoint.fast.support.result_structure import structure_of
from adjoint.primal.array_memory import root_of
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import project
from adjoint.runtime.cache.units import Unit
from adjoint.runtime.dispatch.unit_call import MISSING, specialised_call
from adjoint.runtime.memory.collect import collect
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.memory import Memory

Arrange = Callable[[tuple[Any, ...]], tuple[Any, ...]]
"""Map the cotangents of leaves to those of the function and its arguments."""

MOST_MISSES = 8
"""Number of calls without a program after which a function is no longer tried."""

generic_parts: list[Callable[[Any, tuple[Any, ...], Any], tuple[Any, ...]]] = []
"""Compute the cotangents of a call by the generic tier, with `Poison` where one is unknown
(set by `adjoint.api.generic_tier`)."""


@dataclass(eq=False, repr=False)
class InnerCall:
    """Statistics of the calls of one function inside the generic tier.

    Attributes
    ----------
    function : str
        The name of the function.
    fast, generic : int
        The numbers of calls with and without a program.
    reason : str or None
        Why calls had no program.
    place : str or None
        The place of the reason in user code: file and line.
    """

    function: str
    fast: int = 0
    generic: int = 0
    reason: str | None = None
    place: str | None = None

    def __str__(self) -> str:
        counts = [f"{self.fast} fast"] if self.fast else []
        counts += [f"{self.generic} generic"] if self.generic else []
        text = f"{self.function}: {', '.join(counts)}"
        if self.reason is not None:
            text += f", because of {self.reason}"
        return text if self.place is None else f"{text} at {self.place}"


class Calls:
    """Statistics of the calls inside a generic call, by function."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[Any, InnerCall]] = {}

    def add(self, f: Any, args: tuple[Any, ...], is_fast: bool) -> None:
        code = f.__code__
        if id(code) not in self.found:
            self.found[id(code)] = code, InnerCall(f.__qualname__)
        note = self.found[id(code)][1]
        if is_fast:
            note.fast += 1
            return
        note.generic += 1
        for mode in (GRADIENT, PULLBACK):
            kept = tier.known(f, mode)
            refused = None if kept is None else kept.reason_for(f, args)
            if refused is not None:
                note.reason, note.place = refused.reason, refused.place
                if refused.reason != covered.NOT_SCALAR:
                    return
        if note.reason is None:
            note.reason = "what it reads, or what happens at these arguments"


def call_inside(
    record: list[Any], slot: int, unit: Unit, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call ``f(*args, **kwargs)`` by a program; return `MISSING` if there is none for the call."""
    memory: Memory = record[0]
    if memory.globals_written or (kwargs and not _follow(unit, len(args), tuple(kwargs))):
        return _missed(unit, memory, f, args)
    if kwargs:
        args = (*args, *kwargs.values())
    if not unit.is_specialised and _is_not_covered(f, args):
        return _missed(unit, memory, f, args)
    found: Any = tier.run(f, args, PULLBACK, may_act=False)
    if found is tier.MISS:
        return _missed(unit, memory, f, args)
    y: Any
    arrange: Arrange
    y, back, leaves, arrange, exposure, _ = found
    kind = type(y)
    structure = structure_of(y)
    if structure is not None and (kind is not tuple or any(structure.parts)):
        return _missed(unit, memory, f, args)
    arrays = [x if type(x) is np.ndarray else None for x in (y if kind is tuple else (y,))]
    if exposure is not None and (
        exposure == "shared"
        or not memory.has_only_filled_cells()
        or memory.owners is not None  # a recomputation: the log misses earlier writes
        or any(x is not None and _is_alias_of_any(x, exposure) for x in arrays)
    ):
        return _missed(unit, memory, f, args)
    old = [x is not None and _is_alias_of_any(x, leaves) for x in arrays]
    if kind is tuple and any(old) and not all(old):
        return _missed(unit, memory, f, args)
    for x in () if any(old) else arrays:
        if x is not None and x.base is None:
            note_made(memory, x)
    unit.is_specialised = True
    if memory.calls is not None:
        memory.calls.add(f, args, True)
    general = _Pullback(memory, f, args, y, back, arrange, not any(old))
    if f.__closure__ is not None or kind not in _PLAIN or not _are_plain(memory, args):
        record[slot] = general
        return y

    def plain_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is kind and not memory.careful:
            if kind is float or kind is complex or (not memory.buffers and y_bar.dtype is y.dtype):
                try:
                    return arrange(back(y_bar))
                except Exception as error:  # `general` goes on in the generic tier
                    tier.demand_foreseen(error)
        return general(y_bar)

    record[slot] = plain_back
    return y


_PLAIN = frozenset({float, complex, np.ndarray})


def _are_plain(memory: Memory, args: tuple[Any, ...]) -> bool:
    """Return whether the cotangents of all arguments travel by value."""
    for arg in args:
        kind = type(arg)
        if kind not in _PLAIN or (kind is np.ndarray and memory.written and memory.is_written(arg)):
            return False
    return True


def _missed(unit: Unit, memory: Memory, f: Any, args: tuple[Any, ...]) -> Any:
    """Count a call without a program; give up the function after `MOST_MISSES`."""
    if memory.calls is not None:
        memory.calls.add(f, args, False)
    unit.misses += 1
    if unit.misses > MOST_MISSES:
        unit.calls = -1
    return MISSING


def _follow(unit: Unit, n: int, names: tuple[str, ...]) -> bool:
    """Return whether `names` are the parameters after the first `n`, in order."""
    if not names:
        return True
    parameters = unit.function.parameters[n : n + len(names)]
    return names == tuple(x.name for x in parameters if x.kind == 1)


def _is_not_covered(f: Any, args: tuple[Any, ...]) -> bool:
    """Return whether the gradient of such a call is not covered, for a reason other than
    `NOT_SCALAR`."""
    kept = tier.known(f, GRADIENT)
    refused = None if kept is None else kept.reason_for(f, args)
    return refused is not None and refused.reason != covered.NOT_SCALAR


@dataclass(slots=True, eq=False)
class _Pullback:
    """The pullback of a call by a program, as stored in a record."""

    memory: Memory
    f: Any
    args: tuple[Any, ...]
    y: Any
    back: Callable[[Any], tuple[Any, ...]]
    arrange: Arrange
    is_new: bool

    def __call__(self, y_bar: Any) -> tuple[Any, ...]:
        memory, f, args = self.memory, self.f, self.args
        if type(y_bar) is not float or type(self.y) is np.ndarray:
            y_bar = collect(memory, self.y, y_bar, arrays=self.is_new)
            if y_bar is None:
                return (None,) * (len(args) + 1)
        bars = self._pulled(y_bar)
        f_bar = None if bars[0] is None else deposit(memory, f, bars[0])
        return (f_bar, *[deposit(memory, x, bar) for x, bar in zip(args, bars[1:], strict=True)])

    def _pulled(self, y_bar: Any) -> tuple[Any, ...]:
        """Return plain cotangents, by the program or by the generic tier."""
        if not self.memory.careful and not _holds_poison(y_bar):
            try:
                return self.arrange(self.back(self._fitted(y_bar)))
            except Exception as error:  # the generic tier raises it, or succeeds
                tier.demand_foreseen(error)
        return generic_parts[0](self.f, self.args, y_bar)

    def _fitted(self, y_bar: Any) -> Any:
        """Return the cotangent in the form that the program takes."""
        if type(self.y) is not tuple:
            return project(y_bar, self.y)
        return tuple(
            project(np.zeros(np.shape(y)) if bar is None and by_value(y) else bar, y)
            for y, bar in zip(self.y, y_bar, strict=True)
        )


def _holds_poison(y_bar: Any) -> bool:
    return any(type(x) is Poison for x in (y_bar if type(y_bar) is tuple else (y_bar,)))


def _is_alias_of_any(y: Any, leaves: tuple[Any, ...]) -> bool:
    """Return whether an array is one of `leaves` or an alias of one."""
    if y.base is None:
        return any(leaf is y for leaf in leaves)
    root = root_of(y)
    return any(type(leaf) is np.ndarray and root_of(leaf) is root for leaf in leaves)


specialised_call.append(call_inside)
