"""One level of differentiation: it runs the numerical operations of a piece of code.

A level computes with the functions that its rules are made of, and runs these on the level below,
down to plain Python. So derivatives nest without limit, in any mixture of modes. What a level knows
of a value is keyed by the identity of the value and stored outside of it. Numbers, arrays,
containers and objects are the same as in plain Python; code that only moves them (containers,
attributes, closures, iterators, C) needs no rule; and levels cannot mistake each other's
derivatives for their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from adjoint.levels.aliases import Aliases
from adjoint.levels.distinct_objects import distinct_integer, fresh
from adjoint.levels.foreign.concealed_values import REALS, Concealing
from adjoint.levels.mirror import Same
from adjoint.levels.random_functions import draws
from adjoint.primal.array_memory import assign_shape, root_of
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.reachability import reached
from adjoint.primal.rebuild import rebuild
from adjoint.primal.value_kinds import PLAIN, by_value, is_objects
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.registry import Rules, entry
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.memory.integers import is_integer


class Level(Concealing):
    """What a level knows of values, and the operations that code calls on it.

    Attributes
    ----------
    outer
        The level below; ``None``: plain Python.
    seeds
        The arguments of the run; they restore what is exchanged in the caller's containers.
    written
        The given arrays that were written, by identity of their memory owners.
    """

    seeds: Any = None
    missed = False
    """Whether a tangent is unknown in the basis of a decomposition (`adjoint.levels.bases`)."""
    replays = False
    """Whether rules are applied again later, when structures may have changed."""

    def __init__(self, outer: Level | None) -> None:
        super().__init__()
        self.outer = outer
        self.same: Same = Same(self.memory.exposed)
        self.names: Aliases = Aliases()
        self.written: dict[int, Any] = {}

    # ---- running ---------------------------------------------------------------------------------

    def run(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)`` on this level."""
        return call_keywords([self.memory, None], 1, f, args, kwargs)

    def below(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)`` on the level below."""
        outer = self.outer
        return f(*args, **kwargs) if outer is None else outer.run(f, *args, **kwargs)

    def below_operate(self, name: str, *operands: Any) -> Any:
        """Run the operator `name` on the level below."""
        return operate_on(self.outer, name, *operands)

    def below_write(self, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
        """Run ``x[index] = value`` on the level below; see `write`."""
        write_on(self.outer, x, index, value, alone=alone)

    def run_unknown(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str, trusted: bool
    ) -> Any:
        """Call a function that has neither rule nor source."""
        raise NotImplementedError

    # ---- numerical operations --------------------------------------------------------------------

    def made(self, y: Any, operands: tuple[Any, ...]) -> Any:
        """Return `y`, which a rule of the library made of `operands`; note it if it is a new
        array."""
        if type(y) is np.ndarray and y.base is None and not any(y is x for x in operands):
            note_made(self.memory, y)
        return y

    def operate(self, f: Any, rules: Rules, *operands: Any) -> Any:
        """Run an operator on numbers and arrays."""
        y = self.apply(None, 1, f, rules, operands, {})
        if y is not DECLINED:
            return self.made(y, operands)
        if any(isinstance(x, np.ndarray) and x.dtype.hasobject for x in operands):
            return self.run_unknown(f, operands, {}, "works on an array of objects", True)
        return self.below(f, *operands)

    def apply(
        self,
        record: Any,
        slot: int,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run ``f(*args, **kwargs)`` by a rule; return `DECLINED` if no rule takes the call."""
        raise NotImplementedError

    def value_below(self, f: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result `y` of a rule in the form that the levels below know. A rule may
        compute `y` by code that they do not follow; then ``f`` runs on them."""
        outer = self.outer
        if outer is None or not _holds_reals(y) or draws(f, args):
            return y
        given = (*args, *kwargs.values())
        for level in outer.down():
            sees = level.sees_integers if is_integer(y) else level.sees
            if sees(given) and not level.sees(y):
                return outer.run(f, *args, **kwargs)
        return y

    def sees(self, value: Any) -> bool:
        """Return whether a number, an array or an element of a list is active."""
        if isinstance(value, SEQUENCES):
            return any(map(self.sees, value))
        return isinstance(value, REALS) and self.is_active(value)

    def sees_integers(self, operands: Iterable[Any]) -> bool:
        """Return whether operands, or lists among them, contain active integers or arrays of
        integers."""
        return any(
            self.sees_integers(x)
            if isinstance(x, SEQUENCES)
            else is_integer(x) and self.is_active(x)
            for x in operands
        )

    def demands(self, value: Any) -> bool:
        """Return whether a rule has to handle the derivative in a keyword argument. An integer
        keyword is taken for a count, whose derivative is zero."""
        if isinstance(value, SEQUENCES):
            return any(map(self.demands, value))
        return not is_integer(value) and self.is_active(value)

    def demands_names(self, rules: Rules, named: dict[str, Any]) -> bool:
        """Return whether a rule has to handle the derivatives in keyword arguments. Integers count
        if a rule of the function returns cotangents of keywords."""
        if not named:
            return False
        if any(rule.keyword_bars for rule in rules.rrules):
            return any(map(self.is_active, named.values()))
        return any(map(self.demands, named.values()))

    def inactive(self, f: Any, rules: Rules, args: Any, kwargs: Any) -> Any:
        """Run a call without active operands on the level below, if a rule takes it."""
        for arg in (*args, *kwargs.values()):
            if (type(arg) not in PLAIN or is_objects(arg)) and self._hides(arg):
                return DECLINED
        for rule in rules.rrules:
            if rule.accepts(args, kwargs):
                return self.below(f, *args, **kwargs)
        return DECLINED

    def constant(self, y: Any, given: Iterable[Any]) -> Any:
        """Return the result of a function without a derivative. If it is one of the numbers
        `given`, return an equal number that no level knows."""
        if isinstance(y, REALS) and not isinstance(y, np.ndarray) and any(y is x for x in given):
            return fresh(y)
        return y

    def own(self, y: Any) -> Any:
        """Return a copy of a number or an array, with a new identity on this and each lower
        level."""
        return fresh(y) if self.outer is None else self.outer.run(fresh, y)

    def with_distinct_arrays(self, y: Any) -> Any:
        """Return the result of a user's rule with copies of the active arrays. The rule may give an
        array another derivative than the known one."""
        if isinstance(y, np.ndarray):
            return self.own(y) if self.is_active(y) else y
        if isinstance(y, list | tuple):
            parts = [self.with_distinct_arrays(part) for part in y]
            if any(new is not old for new, old in zip(parts, y, strict=True)):
                return rebuild(y, parts)
        return y

    def moves(self, value: Any) -> bool:
        """Return whether the inputs of this level may move a number, an array or a list from
        zero."""
        raise NotImplementedError

    def knows(self, *values: Any) -> bool:
        """Return whether this level or one below knows a derivative of a part of `values`."""
        parts = [part for part in reached(values, integers=True) if by_value(part)]
        return any(any(map(level.is_active, parts)) for level in self.down())

    def down(self) -> Iterator[Level]:
        """Yield this level and those below."""
        level: Level | None = self
        while level is not None:
            yield level
            level = level.outer

    def add_alias(self, made: Any, root: Any) -> None:
        """Note that the alias `made` of `root` is a variable of this level; lower levels treat both
        as one."""
        self.names.add(made, root)
        if self.outer is not None:
            for level in self.outer.down():
                level.same.join(made, root)

    def reshaped(self, x: Any, old: tuple[int, ...]) -> None:
        """Note that the shape of an array, which was `old`, was assigned."""
        if self.outer is not None:
            self.outer.reshaped(x, old)

    def touch(self, x: np.ndarray[Any, Any]) -> None:
        """Note that the memory of `x` is written: from now on its contents are the same under all
        names."""
        if self.memory.touched is not None:
            self.memory.touched[id(root_of(x))] = x

    def link(self, new: Any, old: Any) -> Any:
        """Note that `new` is equal to `old` and was made of it without a rule. Return `new`, or a
        distinct copy of an integer."""
        new = distinct_integer(new) if type(new) is int else new
        for level in self.down():
            if level.is_active(old):
                level.take_over(new, old)
        return new

    def take_over(self, new: Any, old: Any) -> None:
        """Give `new` the derivative of `old`."""
        raise NotImplementedError

    def hooked(self, on_cotangent: Any, x: Any) -> Any:
        """Return `x`; reverse mode passes its cotangent to a hook."""
        return x

    # ---- arrays ----------------------------------------------------------------------------------

    def read(self, x: np.ndarray[Any, Any], index: Any) -> Any:
        """Run ``x[index]``."""
        raise NotImplementedError

    def write(
        self, x: np.ndarray[Any, Any], index: Any, value: Any, *, alone: bool = False
    ) -> None:
        """Run ``x[index] = value`` under all names of the memory. `alone`: under this name only, to
        restore the memory."""
        raise NotImplementedError


def _holds_reals(y: Any) -> bool:
    if isinstance(y, SEQUENCES):
        return any(map(_holds_reals, y))
    return isinstance(y, REALS) and getattr(y, "dtype", _FLOAT).kind in "fciu"


_FLOAT = np.dtype(float)


_OPERATORS = {name: (op, entry(op)) for name, op in (("add", operator.add), ("mul", operator.mul))}


def operate_on(level: Level | None, name: str, *operands: Any) -> Any:
    """Run the operator `name` on a level, or in plain Python."""
    op, rules = _OPERATORS[name]
    return op(*operands) if level is None else level.operate(op, rules, *operands)


def write_on(level: Level | None, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
    """Run ``x[index] = value`` on a level, or in plain Python. `alone`: other names of the memory
    keep their derivatives."""
    if level is None:
        x[index] = value
    else:
        level.write(x, index, value, alone=alone)


def assign_shape_on(level: Level | None, x: Any, shape: tuple[int, ...]) -> None:
    """Run ``x.shape = shape`` on a level, or in plain Python."""
    old = x.shape
    assign_shape(x, shape)
    if level is not None:
        level.reshaped(x, old)
