"""The level of forward mode, which keeps a tangent for each active number and array.

The tangent of a number is keyed by the identity of the number, which moving the number does not
change. The tangent of an array has the layout of the array that owns the memory: each view of the
array corresponds to a view of the tangent, and each write to the array is followed by a write to
the tangent.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.numpy_warnings import quietly
from adjoint.errors import ArgumentError
from adjoint.levels.arguments.list_parts import parts_of
from adjoint.levels.distinct_objects import fresh
from adjoint.levels.elementwise import is_simple, partials_of, weighted
from adjoint.levels.foreign.concealed_values import INACTIVE
from adjoint.levels.level import Level
from adjoint.levels.mirror import Mirror, Mirrors, flat_of
from adjoint.levels.operand_copies import copied_containers
from adjoint.levels.other_names import others
from adjoint.levels.pullback_tangents import in_places, swept
from adjoint.levels.random_functions import draws
from adjoint.levels.running_level import RunningLevel
from adjoint.primal.array_memory import names_twice, original_of, root_of
from adjoint.primal.reachability import reached
from adjoint.primal.rebuild import with_parts
from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.partials import Partials
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.refusal import may_be_nonzero
from adjoint.rulekit.registry import Rules
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.memory.array_shadow import flat_indices
from adjoint.runtime.memory.detached_copy import detached
from adjoint.runtime.memory.integers import is_integer, stores_exactly

ndarray = np.ndarray
MANY = 10_000
"""The count of numbers above which unreferenced ones are forgotten."""


class Forward(RunningLevel):
    """The tangents of the values of one run."""

    def __init__(self, outer: Level | None) -> None:
        super().__init__(outer)
        self._numbers: dict[int, tuple[Any, Any]] = {}
        self._mirrors = Mirrors(self.same)
        self._limit = MANY
        self.touched: set[int] = set()
        """The identities of the memory owners of written arrays."""

    def touch(self, x: ndarray[Any, Any]) -> None:
        self.touched.add(id(original_of(x)))
        super().touch(x)

    def has_written(self, values: tuple[Any, ...]) -> bool:
        """Return whether an array that `values` reach was written."""
        arrays = (value for value in reached(values) if isinstance(value, ndarray))
        return any(id(original_of(array)) in self.touched for array in arrays)

    # ---- known tangents --------------------------------------------------------------------------

    def is_active(self, value: Any) -> bool:
        return self.tangent(value) is not None

    def tangent(self, x: Any) -> Any:
        """Return the tangent of a value, ``None`` for zero; of a list or tuple, a list of
        tangents."""
        if type(x) in INACTIVE:
            return None
        if isinstance(x, ndarray):
            return self._mirrors.of(x)
        known = self._numbers.get(id(x))
        if known is not None:
            return known[1]
        if isinstance(x, SEQUENCES):
            dots = [self.tangent(part) for part in x]
            found = next((dot for dot in dots if type(dot) is Poison), None)
            if found is not None:
                return found
            return None if all(dot is None for dot in dots) else dots
        return None

    def moves(self, value: Any) -> bool:
        return bool(self.below(may_be_nonzero, self.tangent(value)))

    # ---- new tangents ----------------------------------------------------------------------------

    def bind(self, y: Any, dot: Any) -> Any:
        """Store the tangent of a new value and return the value. Return a copy if `y` already has
        another tangent."""
        if dot is None or type(y) in INACTIVE:
            return y
        if isinstance(y, ndarray):
            return self._bind_array(y, dot)
        if isinstance(y, list | tuple):
            return self._bind_parts(y, dot)
        if not isinstance(y, float | complex | int | np.number):
            return y
        known = self._numbers.get(id(y))
        if known is not None or type(y) is int:
            if known is not None and known[1] is dot:
                return y
            y = self.own(y)
        self._numbers[id(y)] = (y, dot)
        if len(self._numbers) > self._limit:
            self._forget_unreferenced()
        return y

    def _bind_parts(self, y: Any, dot: Any) -> Any:
        dots = parts_of(self.below, dot, len(y))
        made: set[int] = set()
        parts = [
            self._bind_part(part, part_dot, made) for part, part_dot in zip(y, dots, strict=True)
        ]
        return with_parts(y, parts)

    def _bind_part(self, part: Any, dot: Any, made: set[int]) -> Any:
        """Call `bind` for one part of a result. The parts may share new memory; `made` holds the
        owners of memory that this result brought."""
        if not isinstance(part, ndarray) or part.dtype.kind not in "fciu" or dot is None:
            return self.bind(part, dot)
        root = self.same.of(root_of(part))
        mirror = self._mirrors.find(root)
        if mirror is None:
            made.add(id(root))
        elif id(root) in made and mirror.poison is None and type(dot) is not Poison:
            set_mirror(self, mirror.of(part, root), dot)
        return self.bind(part, dot)

    def _forget_unreferenced(self) -> None:
        """Forget numbers that have no other reference."""
        numbers = self._numbers
        for key in [key for key, known in numbers.items() if sys.getrefcount(known[0]) <= 2]:
            del numbers[key]
        self._limit = max(MANY, 2 * len(numbers))

    def _bind_array(self, y: Any, dot: Any) -> Any:
        if y.dtype.kind not in "fciub":
            return y
        mirror = self._mirrors.find(root_of(y))
        if mirror is None:
            self._mirror(y, dot)
        elif type(dot) is Poison:
            mirror.poison = dot
        return y  # an active array is a view of known memory

    def _mirror(self, y: Any, dot: Any) -> None:
        """Start to track the memory of `y`."""
        root = self.same.of(root_of(y))
        mirror = self._mirrors.make(root)
        if type(dot) is Poison:
            mirror.poison = dot
        else:
            set_mirror(self, mirror.of(y, root), dot)

    def take_over(self, new: Any, old: Any) -> None:
        if type(new) is int:  # a distinct object
            self._numbers[id(new)] = new, self.tangent(old)
        else:
            self.bind(new, self.tangent(old))

    def poison_value(self, value: Any, error: Exception) -> Any:
        return value if is_integer(value) else self.bind(value, Poison(error))

    def seed(self, value: Any, dot: Any) -> Any:
        """Store the tangent of an argument."""
        if isinstance(value, ndarray):
            if not self._give(self._mirrors.mirror(value), self._mirrors.made(value), dot):
                raise ArgumentError(
                    "the same array is given with two different tangents",
                    hint="an array has one tangent; give copies if they are different variables",
                )
            return value
        return self.bind(value, dot)

    def _give(self, mirror: Mirror, part: Any, dot: Any) -> bool:
        """Write the tangent of an argument into a part of a mirror. Return whether it agrees with
        the tangents of arguments that overlap there."""
        before = mirror.contents().copy() if mirror.seeded else None
        set_mirror(self, part, dot)
        agree = before is None or not np.any(
            (before != mirror.contents())[mirror.given() & mirror.covered(part)]
        )
        mirror.seeded.append(part)
        return agree

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
        dots = tuple(map(self.tangent, args))
        named = {name: dot for name, x in kwargs.items() if (dot := self.tangent(x)) is not None}
        if not named and not any(dot is not None for dot in dots):
            return self.inactive(f, rules, args, kwargs)
        bad = next((dot for dot in (*dots, *named.values()) if type(dot) is Poison), None)
        if bad is not None:
            y = self.inactive(f, rules, args, kwargs)
            if y is DECLINED or (is_integer(y) and not self.sees_integers(args)):
                return y
            return self._bind_all(y, bad, args)
        if rules.overridden and _reverse_first(rules, args, kwargs):
            return self._by_reverse_rule(f, rules, args, kwargs)
        shown = False  # whether the user has seen the warnings of the value
        if not kwargs and rules.frules and (slopes := partials_of(rules, args)) is not None:
            y = self._pointwise(f, rules, slopes, args, dots)
            if y is not DECLINED:
                return y
            shown = True
        for rule in rules.frules:
            operands, rest = args, kwargs
            if named:
                (_, *operands), rest = rule.arrange((None, *args), kwargs)  # type: ignore[assignment]
                if named.keys() & rest.keys():
                    continue
                dots = tuple(map(self.tangent, operands))
            if rule.accepts((dots, *operands), rest):
                if is_own(rule):
                    value = bool if shown else partial(_run_again, f, args, kwargs)
                    result = quietly(value, self.below, rule.function, dots, *operands, **rest)
                else:
                    result = self.below(rule.function, dots, *operands, **rest)
                if result is not NotImplemented:
                    y, dot = result
                    y = self.value_below(f, y, args, kwargs)
                    if dot is not None or (type(y) is ndarray and y.dtype.kind in "OV"):
                        self.demand_numbers(f, y, args)
                    return self._bind_all(y, dot, args, dots, users=not is_own(rule))
        y = self._by_reverse_rule(f, rules, args, kwargs)
        if y is DECLINED and named and not any(map(self.demands, kwargs.values())):
            counts = {name: detached(kwargs[name], fresh) for name in named}
            return self.apply(record, slot, f, rules, args, {**kwargs, **counts})
        return y

    def _pointwise(
        self, f: Any, rules: Rules, slopes: Partials, args: tuple[Any, ...], dots: tuple[Any, ...]
    ) -> Any:
        """Apply the partials alone; return `DECLINED` where they do not suffice."""
        y = f(*args) if self.outer is None else self.outer.operate(f, rules, *args)
        if not is_simple(y, *[dot for dot in dots if dot is not None]):
            return DECLINED
        if type(y) is float:
            y_dot = self._summed(slopes, y, args, dots)
        else:
            with np.errstate(all="ignore"):  # extreme partials must not warn the user
                y_dot = self._summed(slopes, y, args, dots)
        return DECLINED if y_dot is DECLINED else self._bind_all(y, y_dot, args, dots)

    def _summed(self, slopes: Partials, y: Any, args: Any, dots: Any) -> Any:
        y_dot = None
        for i, dot in enumerate(dots):
            if dot is None or slopes.partials[i] is None:
                continue
            term = weighted(self, slopes, i, y, args, dot)
            if term is None:
                return DECLINED
            y_dot = term if y_dot is None else self.below_operate("add", y_dot, term)
        return y_dot

    def _bind_all(
        self, y: Any, dot: Any, args: tuple[Any, ...], dots: Any = (), *, users: bool = False
    ) -> Any:
        """Call `bind` for the result of an operation, which may be one of the operands. With
        `users`, a rule of the user may have given the result another tangent than a known one."""
        if users:
            y = self.with_distinct_arrays(y)
        if isinstance(y, ndarray):
            if self.is_active(y):
                return y  # a view of memory whose tangent is known
            return y if dot is None else self.bind(y, dot)
        if isinstance(y, list | tuple):
            return y if dot is None else self.bind(y, dot)
        for arg, arg_dot in zip_longest(args, dots):
            if arg is y and (dot is not None or arg_dot is not None):
                if arg_dot is not dot:
                    y = self.own(y)
                break
        return y if dot is None else self.bind(y, dot)

    def _by_reverse_rule(
        self, f: Any, rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return the result with its tangent from a pullback, one sweep per number of the result.
        For functions without a forward rule."""
        for rule in rules.rrules:
            if rule.accepts(args, kwargs):
                operands, rest = rule.arrange(args, kwargs)
                by_name = tuple(rest) if rule.keyword_bars else ()
                if not by_name and self.demands_names(rules, rest):
                    continue
                operands = tuple(
                    map(copied_containers, operands)
                )  # the pullback may be called later
                rest = {name: copied_containers(x) for name, x in rest.items()}
                result = self.below(rule.function, *operands, **rest)
                if result is not NotImplemented:
                    y, back = result
                    if rule.asking:
                        back = rule.told(back, [self.tangent(x) is not None for x in operands])
                    self.demand_numbers(f, y, args)
                    y = self.value_below(f, y, args, kwargs)
                    if rule.keyword_bars:
                        back = partial(in_places, back, len(operands) + 1, by_name)
                    operands = (*operands, *map(rest.get, by_name))
                    dot = None
                    if rule.foreign or not is_integer(y) or self.sees_integers(operands):
                        dot = self._pulled(y, back, operands)
                    return self._bind_all(y, dot, args, users=not is_own(rule))
        return DECLINED

    def _pulled(self, y: Any, back: Callable[[Any], Any], operands: tuple[Any, ...]) -> Any:
        """Return the tangent of a result from its pullback to `operands`."""
        with np.errstate(all="ignore"):
            return self.below(swept, y, back, tuple(map(self.tangent, operands)))

    # ---- arrays ----------------------------------------------------------------------------------

    def read(self, x: Any, index: Any) -> Any:
        y = self.below(_item_of(x), x, index)
        dot = self._mirrors.of(x)
        if dot is None or (isinstance(y, ndarray) and root_of(y) is root_of(x)):
            return y
        if type(dot) is Poison:
            return self.bind(y, dot)
        return self.bind(y, self.below(operator.getitem, dot, index))

    def write(self, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
        self.touch(x)
        dot = self.tangent(value) if stores_exactly(x, value) else None
        names = (x,) if alone else (x, *others(self, x))
        found = [self._mirrored(name, index, dot) for name in names]
        mirrors = [mirrored for mirrored in found if mirrored is not None]
        moved = []
        if type(dot) is not Poison:
            moved = [self.below(_written, mirrored, dot, value) for mirrored in mirrors]
        if len(moved) > 1:  # the tangent may be a view of what the first write changes
            moved = [self.below(np.array, part) for part in moved]
        self.below_write(x, index, value, alone=alone)  # a failing write changes nothing
        for mirrored, part in zip(mirrors, moved, strict=False):
            self.below_write(mirrored, index, part)

    def _mirrored(self, x: Any, index: Any, dot: Any) -> Any:
        """Return the part of the mirror that takes the tangent of a written value. ``None`` if no
        tangent has to be written."""
        mirrored = self._mirrors.of(x)
        if x.dtype.kind not in "fciub" or (dot is None and mirrored is None):
            return None
        if type(mirrored) is Poison:
            if not self._is_whole(x, index):
                return None
            mirrored = self._mirrors.make(root_of(x)).of(x, self.same.of(root_of(x)))
        elif mirrored is None:
            mirrored = self._mirrors.made(x)
            if type(mirrored) is Poison:  # its numbers are reinterpreted
                self._mirrors.mirror(x).poison = mirrored
                return None
        if type(dot) is Poison:
            self._bind_array(x, dot)
        return mirrored

    def _is_whole(self, x: Any, index: Any) -> bool:
        """Return whether a write replaces all contents whose tangent is unknown."""
        root = root_of(x)
        everything = index is ... or (type(index) is slice and index == slice(None))
        mirror = self._mirrors.find(root)
        return (
            everything
            and mirror is not None
            and mirror.poison is not None
            and x.nbytes == root.nbytes
            and x.dtype == root.dtype
            and not names_twice(x)
        )


def _reverse_first(rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the user has registered a reverse rule for such a call, but no forward rule.
    Then the library's forward rule would compute another derivative."""
    if any(rule.foreign for rule in rules.frules):
        return False
    return any(rule.foreign and rule.accepts(args, kwargs) for rule in rules.rrules)


def _run_again(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call a function for its warnings, unless it draws random numbers."""
    if not draws(f, args):
        f(*args, **kwargs)


def is_own(rule: Any) -> bool:
    """Return whether a rule is one of this library."""
    function = rule.function
    while isinstance(function, partial):
        function = function.func
    return str(function.__module__).startswith("adjoint.")


def set_mirror(level: Level, mirrored: Any, dot: Any) -> None:
    """Overwrite a part of a mirror with a tangent."""
    if names_twice(mirrored):
        level.below_write(flat_of(mirrored), flat_indices(mirrored), dot)
    else:
        level.below_write(mirrored, ..., dot)


def _item_of(x: Any) -> Callable[..., Any]:
    return operator.getitem if type(x) is ndarray else ndarray.__getitem__


def _written(mirrored: Any, dot: Any, value: Any) -> Any:
    """Return the tangent to write: zero for ``None``, else broadcast, real for a real array."""
    if dot is None:
        return 0.0
    whole = filled(dot, value)
    return np.real(whole) if mirrored.dtype.kind == "f" else whole
