"""The level of reverse mode: a tape of operations, run in reverse.

The innermost reverse mode of a nest runs as generated code (`adjoint.runtime`); a tape is above or
below other levels. Cotangents of numbers are keyed by identity. Cotangents of arrays belong to the
memory, like tangents (`adjoint.levels.forward_level`): a view adds to its part, and the reverse of
a write takes the part and leaves zero. The contents that a write replaced are restored before the
sweep goes on, because pullbacks read arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.levels.elementwise import is_simple, partials_of, weighted
from adjoint.levels.foreign.concealed_values import INACTIVE
from adjoint.levels.forward_level import is_own
from adjoint.levels.hooks import Hooked
from adjoint.levels.level import Level
from adjoint.levels.memory import forget_undone_writes, written_on
from adjoint.levels.operand_copies import copied_containers, held_index
from adjoint.levels.other_names import contents, others
from adjoint.levels.running_level import RunningLevel
from adjoint.levels.sweep import Sweep, poison_in, to_value
from adjoint.primal.array_memory import original_of, root_of
from adjoint.primal.rebuild import with_parts
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.partials import Partials
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.refusal import demand_known
from adjoint.rulekit.registry import Rules
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.memory.integers import is_integer, stores_exactly

ndarray = np.ndarray
Node = Callable[[Sweep], None]


class Tape(RunningLevel):
    """The operations on values that depend on the inputs, in order."""

    changes: int

    def __init__(self, outer: Level | None) -> None:
        super().__init__(outer)
        self._numbers: dict[int, Any] = {}
        self._roots: dict[int, Any] = {}
        self.nodes: list[Node] = []
        self._given: dict[int, Any] = {}
        self.changes = 0
        """The number of writes."""
        self.left = 0
        """The position in the log of generated code when the tape was last used."""

    # ---- activity --------------------------------------------------------------------------------

    def is_active(self, value: Any) -> bool:
        if isinstance(value, ndarray):
            return bool(self._roots) and id(self.same.of(root_of(value))) in self._roots
        return id(value) in self._numbers

    def _depends(self, arg: Any) -> bool:
        if type(arg) in INACTIVE:
            return False
        if isinstance(arg, SEQUENCES):
            return any(map(self._depends, arg))
        return self.is_active(arg)

    def moves(self, value: Any) -> bool:
        if isinstance(value, SEQUENCES):
            return any(map(self.moves, value))
        return self._depends(value) and (not isinstance(value, ndarray) or value.size > 0)

    def note(self, y: Any) -> Any:
        """Register a new number or array that depends on the inputs; return it, or a copy."""
        if type(y) in INACTIVE:
            return y
        if isinstance(y, ndarray):
            if y.dtype.kind in "fciub":
                root = self.same.of(root_of(y))
                self._roots[id(root)] = root
            return y
        if not isinstance(y, float | complex | int | np.number):
            return y
        if id(y) in self._numbers or type(y) is int:
            y = self.own(y)
        self._numbers[id(y)] = y
        return y

    def seed(self, value: Any, _: Any) -> Any:
        """Register an argument."""
        if isinstance(value, ndarray):
            owner = original_of(value)
            self._given[id(owner)] = owner
        return self.note(value)

    def take_over(self, new: Any, old: Any) -> None:
        if isinstance(new, ndarray):
            if self.is_active(new):
                return
            self.note(new)
        else:
            self._numbers[id(new)] = new
        self.nodes.append(lambda sweep: sweep.add(old, sweep.take(new)))

    def poison_value(self, value: Any, error: Exception) -> Any:
        if is_integer(value):
            return value
        bad = Poison(error)
        if isinstance(value, ndarray) and self.is_active(value):

            def written(sweep: Sweep) -> None:
                if sweep.take_part(value, ...) is not None:
                    sweep.poison_value(value, bad)

            self.nodes.append(written)
            return value
        value = self.note(value)

        def made(sweep: Sweep) -> None:
            if sweep.take(value) is not None:
                raise error

        self.nodes.append(made)
        return value

    def hooked(self, on_cotangent: Any, x: Any) -> Any:
        """Return `x`; its cotangent goes through `on_cotangent`."""
        hooked = Hooked(self, x)
        self.nodes.append(lambda sweep: hooked.pull(on_cotangent, sweep))
        return hooked.y

    # ---- operations ------------------------------------------------------------------------------

    def apply(
        self,
        record: Any,
        slot: int,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        self.demand_no_objects(f, rules, (*args, *kwargs.values()) if kwargs else args)
        if not any(map(self._depends, (*args, *kwargs.values()))):
            return self.inactive(f, rules, args, kwargs)
        if not kwargs and rules.frules and not rules.overridden:
            slopes = partials_of(rules, args)
            if slopes is not None:
                y = self._pointwise(f, rules, slopes, args)
                if y is not DECLINED:
                    return y
        for rule in rules.rrules:
            if rule.accepts(args, kwargs):
                operands, rest = rule.arrange(args, kwargs) if kwargs else (args, kwargs)
                if not rule.keyword_bars and self.demands_names(rules, rest):
                    continue
                operands = tuple(map(copied_containers, operands))
                rest = {name: copied_containers(x) for name, x in rest.items()}
                result = self.below(rule.function, *operands, **rest)
                if result is not NotImplemented:
                    y, back = result
                    if rule.asking:
                        back = rule.told(
                            back, [not by_value(x) or self._depends(x) for x in operands]
                        )
                    self.demand_numbers(f, y, args)
                    y = self.value_below(f, y, args, kwargs)
                    if not is_own(rule):
                        y = self.with_distinct_arrays(y)
                    elif isinstance(y, ndarray) and self.is_active(y):
                        return y  # a view of memory that is registered
                    named = rest if rule.keyword_bars else {}
                    return self._recorded(y, back, operands, named, rule.foreign)
        return DECLINED

    def _pointwise(self, f: Any, rules: Rules, slopes: Partials, args: tuple[Any, ...]) -> Any:
        """Apply the partials alone; return `DECLINED` where they do not suffice."""
        y = f(*args) if self.outer is None else self.outer.operate(f, rules, *args)
        active = [
            i for i, p in enumerate(slopes.partials) if p is not None and self._depends(args[i])
        ]
        if not active:
            return self.own(y) if any(y is arg for arg in args) else y
        if not is_simple(y, *[args[i] for i in active]):
            return DECLINED
        y = self._own_parts(y, args)

        def node(sweep: Sweep) -> None:
            y_bar = sweep.take(y)
            if y_bar is None:
                return
            bars = [
                y_bar if type(y_bar) is Poison else weighted(sweep, slopes, i, y, args, y_bar)
                for i in active
            ]
            if any(bar is None for bar in bars):  # the rule decides whether it is zero
                back = sweep.below(rules.rrules[0].function, *args)[1]
                found = sweep.below(back, y_bar)
                bars = [found[i + 1] for i in active]
            for i, bar in zip(active, bars, strict=True):
                sweep.add(args[i], bar)

        self.nodes.append(node)
        return y

    def _recorded(
        self,
        y: Any,
        back: Callable[[Any], Any],
        args: tuple[Any, ...],
        named: dict[str, Any],
        is_foreign: bool,
    ) -> Any:
        """Register the result of a rule, and append a node with its pullback."""
        y = self._own_parts(y, args, is_foreign)
        given = copied_containers(y)

        def node(sweep: Sweep) -> None:
            y_bar = sweep.take(given)
            if y_bar is None:
                return
            bad = poison_in(y_bar)
            if bad is not None:
                for arg in (*args, *named.values()):
                    sweep.add(arg, bad)
                return
            if is_foreign:
                demand_known(y_bar)
            bars = sweep.below(back, y_bar)
            if named:
                *bars, by_name = bars
                for name, arg in named.items():
                    sweep.add(arg, by_name.get(name))
            for arg, bar in zip(args, bars[1:], strict=False):
                sweep.add(arg, bar)

        self.nodes.append(node)
        return y

    def _own_parts(self, y: Any, args: tuple[Any, ...], is_foreign: bool = False) -> Any:
        if isinstance(y, list | tuple):
            return with_parts(y, [self._own_parts(part, args, is_foreign) for part in y])
        if any(arg is y for arg in args) and isinstance(y, float | complex | int | np.number):
            y = self.own(y)
        if is_integer(y) and not is_foreign and not self.sees_integers(args):
            return y  # rounded
        return self.note(y)

    # ---- arrays ----------------------------------------------------------------------------------

    def read(self, x: Any, index: Any) -> Any:
        get = operator.getitem if type(x) is ndarray else ndarray.__getitem__
        y = self.below(get, x, index)
        if not self.is_active(x) or (isinstance(y, ndarray) and root_of(y) is root_of(x)):
            return y
        y, index = self.note(y), held_index(index)

        def node(sweep: Sweep) -> None:
            y_bar = sweep.take(y)
            if y_bar is not None:
                sweep.add_part(x, index, y_bar)

        self.nodes.append(node)
        return y

    def reshaped(self, x: Any, old: tuple[int, ...]) -> None:
        super().reshaped(x, old)
        new = x.shape
        self.changes += 1
        self.nodes.append(lambda sweep: sweep.reshape(x, old, new))

    def write(self, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
        self.touch(x)
        index, value = held_index(index), copied_containers(value)
        depends = self._depends(value) and stores_exactly(x, value)
        known = (x, *others(self, x))
        names = (x,) if alone else known
        kept = known if self.outer is not None else (x,)
        entry = contents(self.below, kept, index)
        if x.dtype.kind in "fciub" and (depends or any(map(self.is_active, names))):
            for name in names:
                self.note(name)

            def node(sweep: Sweep) -> None:
                sweep.exchange(kept, index, entry)
                bar = sweep.take_parts(names, index)
                if type(bar) is Poison:
                    sweep.add(value, bar)
                elif bar is not None and depends:
                    sweep.add(value, sweep.below(to_value, bar, value))
        else:

            def node(sweep: Sweep) -> None:
                sweep.exchange(kept, index, entry)

        self.below_write(x, index, value, alone=alone)
        self.changes += 1
        if self._given and id(owner := original_of(x)) in self._given:
            self.written[id(owner)] = x
        self.nodes.append(node)

    @property
    def position(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    # ---- the sweep -------------------------------------------------------------------------------

    def sweep(self, deposit: Callable[[Sweep], None], level: Level | None) -> Sweep:
        """Run all nodes in reverse on `level`, from the cotangents that `deposit` adds. Memory is
        restored at the end."""
        sweep = Sweep(self, level)
        before = written_on(level)
        deposit(sweep)
        try:
            with np.errstate(all="ignore"):
                sweep.run(0, len(self.nodes))
        finally:
            forget_undone_writes(level, before, sweep.restore())
        return sweep
