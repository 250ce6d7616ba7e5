"""One reverse sweep over a tape: the cotangents, and the restored memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import is_fancy
from adjoint.cotangents.poison import Poison
from adjoint.levels.arguments.list_parts import parts_of
from adjoint.levels.foreign.concealed_values import INACTIVE
from adjoint.levels.level import Level, assign_shape_on, operate_on, write_on
from adjoint.levels.mirror import Mirrors, flat_of
from adjoint.levels.other_names import contents, put_back
from adjoint.primal.array_memory import is_integer_field, names_twice, original_of, root_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.projection import SEQUENCES, project
from adjoint.rulekit.refusal import demand_entries
from adjoint.runtime.memory.array_shadow import flat_indices

ndarray = np.ndarray
_ALL = slice(None)


class Sweep(EngineObject):
    """The cotangents of one reverse sweep."""

    def __init__(self, tape: Any, level: Level | None) -> None:
        self._tape, self._level = tape, level
        self._numbers: dict[int, Any] = {}
        self._mirrors = Mirrors(tape.same)
        self._again: list[tuple[Any, Callable[[], None]]] = []
        self._undone: dict[int, list[tuple[Any, Callable[[], None]]]] = {}
        """By start position: the arrays whose changes were undone, and functions that redo them."""

    def below(self, f: Callable[..., Any], /, *args: Any) -> Any:
        """Run ``f(*args)`` on the level of the sweep."""
        return f(*args) if self._level is None else self._level.run(f, *args)

    def below_operate(self, name: str, *operands: Any) -> Any:
        """Run the operator `name` on the level of the sweep."""
        return operate_on(self._level, name, *operands)

    def run(self, start: int, stop: int) -> None:
        """Run the nodes between two positions in reverse order."""
        if start == stop:
            return  # an empty segment shares its position with the next one
        self._again = self._undone[start] = []
        for i in range(stop - 1, start - 1, -1):
            self._tape.nodes[i](self)

    def add(self, value: Any, bar: Any) -> None:
        """Accumulate the cotangent of a number, an array, or the parts of a list."""
        if bar is None or type(value) in INACTIVE:
            return
        if isinstance(value, SEQUENCES):
            for part, part_bar in zip(value, parts_of(self.below, bar, len(value)), strict=True):
                self.add(part, part_bar)
            return
        if not self._tape.is_active(value):
            return
        if isinstance(value, ndarray):
            self.add_part(value, ..., bar)
            return
        if type(bar) is Poison:
            self.poison_value(value, bar)
            return
        old = self._numbers.get(id(value))
        if type(old) is Poison:
            return
        self._numbers[id(value)] = bar if old is None else self.below_operate("add", old, bar)

    def add_part(self, x: Any, index: Any, bar: Any) -> None:
        """Accumulate the cotangent of ``x[index]``."""
        if is_integer_field(x, root_of(x)):
            return
        bar = Poison.of_part(bar)
        if type(bar) is Poison:
            self.poison_value(x, bar)
            return
        mirrored = self._mirrors.made(x)
        if type(mirrored) is Poison:
            self.poison_value(x, mirrored)  # its numbers are reinterpreted
            return
        self._mirrors.mirror(x).is_empty = False
        if names_twice(mirrored):
            self.below(np.add.at, flat_of(mirrored), flat_indices(mirrored)[index], bar)
        else:
            self.below(_add_into, mirrored, index, bar)

    def take(self, value: Any) -> Any:
        """Remove and return the cotangent of a result, which no earlier node needs."""
        if isinstance(value, list | tuple):
            bars = [self.take(part) for part in value]
            if all(bar is None for bar in bars):
                return None
            return tuple(bars) if isinstance(value, tuple) else bars
        if isinstance(value, ndarray):
            return self.take_part(value, ...)
        return self._numbers.pop(id(value), None)

    def take_part(self, x: Any, index: Any) -> Any:
        mirrored = self._mirrors.of(x)
        if mirrored is None:
            return None
        mirror = self._mirrors.mirror(x)
        if type(mirrored) is Poison:
            return mirrored if x.dtype.kind in "fc" else mirror.poison
        if mirror.is_empty:
            return None
        if names_twice(mirrored):
            # Elements of the view that share memory share one cotangent.
            places, first = np.unique(flat_indices(mirrored)[index], return_index=True)
            shape = np.shape(flat_indices(mirrored)[index])
            bar = self.below(_taken_once, flat_of(mirrored), places, first, shape)
            write_on(self._level, flat_of(mirrored), places, 0.0)
            return bar
        bar = self.below(_taken, mirrored, index)
        write_on(self._level, mirrored, index, 0.0)
        if (index is ... or (type(index) is slice and index == _ALL)) and x.nbytes == root_of(
            x
        ).nbytes:
            mirror.is_empty = True
        return bar

    def take_parts(self, names: tuple[Any, ...], index: Any) -> Any:
        """Call `take_part` for each name of one memory; return the sum."""
        taken: Any = None
        for bar in [self.take_part(name, index) for name in names]:
            if taken is None or type(bar) is Poison:
                taken = bar
            elif bar is not None and type(taken) is not Poison:
                taken = self.below_operate("add", taken, bar)
        return taken

    def poison_value(self, value: Any, bad: Poison) -> None:
        """Poison the cotangent of a number or an array."""
        if isinstance(value, ndarray):
            mirror = self._mirrors.find(root_of(value)) or self._mirrors.make(root_of(value))
            mirror.poison, mirror.is_empty = bad, False
        else:
            self._numbers[id(value)] = bad

    def read(self, value: Any) -> Any:
        """Return the cotangent of an input, without removing it."""
        if isinstance(value, ndarray):
            bar = self._mirrors.of(value)
        else:
            bar = self._numbers.get(id(value))
        if type(bar) is Poison:
            raise bar.error
        if bar is not None:
            demand_entries(bar)
        if isinstance(value, ndarray):
            return self.below(np.array, bar) if isinstance(bar, ndarray) else bar
        kind = _cotangent_type(value)
        return bar if bar is None or type(bar) is kind else self.below(kind, bar)

    # ---- overwritten contents --------------------------------------------------------------------

    def exchange(self, names: tuple[Any, ...], index: Any, entry: list[Any]) -> None:
        """Restore the contents that a write replaced in one memory, and save those that it
        wrote."""
        self._swap(names, index, entry)
        self._again.append((names[0], partial(self._swap, names, index, entry)))

    def reshape(self, x: Any, old: tuple[int, ...], new: tuple[int, ...]) -> None:
        """Restore an earlier shape of an array."""
        assign_shape_on(self._level, x, old)
        self._again.append((x, partial(assign_shape_on, self._level, x, new)))

    def restore(self, start: int = 0) -> set[int]:
        """Redo the writes after `start` that `run` has undone. Return the identities of the memory
        owners of the written arrays."""
        undone = self._undone.pop(start, [])
        for _, change in reversed(undone):
            change()
        return {id(original_of(x)) for x, _ in undone}

    def run_keeping_arrays(self, start: int, stop: int, arrays: list[Any]) -> None:
        """Call `run`, and redo the writes into `arrays`, because another log restores these."""
        try:
            self.run(start, stop)
        except BaseException:
            self.restore(start)
            raise
        if not arrays:
            return
        elsewhere = {id(original_of(x)) for x in arrays}
        undone = self._undone[start]
        self._undone[start] = [one for one in undone if id(original_of(one[0])) not in elsewhere]
        for x, change in reversed(undone):
            if id(original_of(x)) in elsewhere:
                change()

    def _swap(self, names: tuple[Any, ...], index: Any, entry: list[Any]) -> None:
        now = contents(self.below, names, index)
        put_back(self._level, names, index, entry)
        entry[:] = now


# ---- functions that are differentiated if the tape is on a level ---------------------------------


def _cotangent_type(value: Any) -> type:
    """Return the cotangent type of a number."""
    if isinstance(value, np.inexact):
        return type(value)
    if isinstance(value, np.integer):
        return np.float64
    return complex if isinstance(value, complex) else float


def poison_in(bar: Any) -> Poison | None:
    """Return the poison in a cotangent, or ``None``."""
    if type(bar) is Poison:
        return bar
    parts = bar.values() if isinstance(bar, dict) else bar if isinstance(bar, list | tuple) else ()
    if is_objects(bar):
        parts = bar.flat
    return next((found for part in parts if (found := poison_in(part)) is not None), None)


def _add_into(mirrored: Any, index: Any, bar: Any) -> None:
    if is_fancy(index):
        np.add.at(mirrored, index, bar)
    elif mirrored.dtype.kind == "f":
        mirrored[index] += np.real(bar)
    else:
        mirrored[index] += bar


def _taken(mirrored: Any, index: Any) -> Any:
    """Return the cotangent of the value written at `index`. If `index` names an element twice, the
    last value counts."""
    bar = np.array(mirrored[index])
    if is_fancy(index) and bar.size > 1:
        last = np.zeros(mirrored.shape, np.intp)
        order = np.arange(bar.size).reshape(bar.shape)
        last[index] = order
        bar = np.where(last[index] != order, 0, bar)
    return bar


def _taken_once(flat: Any, places: Any, first: Any, shape: tuple[int, ...]) -> Any:
    bar = np.zeros(math.prod(shape), flat.dtype)
    bar[first] = flat[places]
    return bar.reshape(shape)


def to_value(bar: Any, value: Any) -> Any:
    """Sum the cotangent of a written value over the axes along which it was broadcast."""
    if isinstance(value, list | tuple):
        whole = project(bar, np.zeros(np.shape(value), bar.dtype))
        return _split(whole, value)
    if isinstance(value, ndarray) and value.ndim > bar.ndim:
        bar = bar.reshape((1,) * (value.ndim - bar.ndim) + bar.shape)
    return project(bar, value)


def _split(bar: Any, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_split(bar[i], part) for i, part in enumerate(value)]
    return project(bar, value)
