"""One level of differentiation: what runs the numerical operations of a piece of code.

Levels stand on one another. The innermost computes with the functions that its own rules are made
of, and runs these on the level below, and so on down to plain Python: so derivatives are nested
without limit, in any mixture. What a level knows of a value is kept beside it by the identity of
that value, never in it: numbers, arrays, containers and objects are those that the user's code has
without us, everything that only moves them about (containers, attributes, closures, iterators, C)
needs no rule, and two levels cannot take each other's derivatives for their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.levels.current import entered
from adjoint.levels.drawing import draws
from adjoint.levels.memory import LevelMemory
from adjoint.levels.mirror import Same
from adjoint.levels.operations import fresh, operate_on, write_on
from adjoint.rules.projection import SEQUENCES
from adjoint.rules.registry import Rules
from adjoint.run.array_writes import refuse_objects, write_array
from adjoint.run.by_rules import DECLINED
from adjoint.run.conversion import AS_NUMBERS
from adjoint.run.dispatch import call_keywords
from adjoint.run.hidden import Hidden
from adjoint.run.holding import reached
from adjoint.run.iterator import Iterator as ActiveIterator
from adjoint.run.kinds import by_value, is_objects
from adjoint.run.native import Region
from adjoint.run.places import is_container
from adjoint.run.refused import missing, refuse_names_twice
from adjoint.run.remaking import remade
from adjoint.run.seal import PLAIN
from adjoint.run.unknown import is_opaque, name_of, needed
from adjoint.run.views import names_of, original_of, root_of

__all__ = [
    "INACTIVE",
    "Level",
]


INACTIVE = frozenset({int, bool, str, bytes, type(None), slice, type, range, np.dtype})
"""Types of values that have no derivative."""


class Level(Hidden):
    """What `Forward` and `Tape` share.

    Attributes
    ----------
    outer
        The level that this one stands on; ``None``: plain Python.
    memory
        What the functions of the runtime are given as the memory.
    seeds
        What it was begun with: it puts back what is exchanged in the caller's containers.
    written
        Arrays that were given and have been written to, by identity of those that own their memory.
    """

    seeds: Any = None
    replays = False
    """Whether rules are applied again later, when structures hold other things."""

    def __init__(self, outer: Level | None) -> None:
        self.outer = outer
        self.memory = LevelMemory(self)
        self.same = Same()
        self._twins: dict[int, list[tuple[Any, list[Any]]]] = {}
        self._merged: dict[int, tuple[int, int]] = {}
        self.written: dict[int, Any] = {}
        self._hiding: dict[int, tuple[Any, Exception]] = {}

    # ---- running ---------------------------------------------------------------------------------

    def run(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)`` on this level."""
        return call_keywords([self.memory, None], 1, f, args, kwargs)

    def below(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)`` on the level below."""
        outer = self.outer
        return f(*args, **kwargs) if outer is None else outer.run(f, *args, **kwargs)

    def below_operate(self, name: str, *operands: Any) -> Any:
        """The operator of that name on the level below."""
        return operate_on(self.outer, name, *operands)

    def below_write(self, x: Any, index: Any, value: Any) -> None:
        """``x[index] = value`` on the level below."""
        write_on(self.outer, x, index, value)

    def known_unit(self, f: FunctionType) -> Any:
        """The unit of a Python function that was called before; see `adjoint.levels.units`."""
        from adjoint.levels.units import known_unit  # its table needs the levels

        return known_unit(f)

    def unit_of(self, f: FunctionType) -> Any:
        """The unit of a Python function."""
        from adjoint.levels.units import unit_of

        return unit_of(f)

    def call_unit(
        self, unit: Any, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A Python function by its own code."""
        from adjoint.levels.units import LevelUnit, call_unit, unit_of

        if type(unit) is not LevelUnit:
            unit = unit_of(f)
        return call_unit(self.memory, unit, f, args, kwargs)

    def run_unknown(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str, trusted: bool
    ) -> Any:
        """A function with neither rule nor source."""
        from adjoint.levels.unknown import run_unknown  # it needs the levels

        return run_unknown(self, f, args, kwargs, why, trusted)

    def run_operator(
        self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A function that differentiates others: what it does stands on this level."""
        with entered(self):
            return f(*args, **kwargs)

    # ---- numerical operations --------------------------------------------------------------------

    def by_rules(
        self,
        record: Any,
        slot: int,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """`apply`, where the rule of a user may be given structures."""
        level: Level | None = self
        while level is not None:
            if level.conceals((*args, *kwargs.values())):
                return DECLINED
            level = level.outer
        if rules.overridden or (rules.frules and rules.frules[0].foreign):
            from adjoint.levels.structures import opened  # it needs the levels

            found = opened(self, f, rules, args, kwargs)
            if found is not None:
                return self.apply(record, slot, *found, {})
        return self.apply(record, slot, f, rules, args, kwargs)

    def operate(self, f: Any, rules: Rules, *operands: Any) -> Any:
        """An operator of numbers and arrays."""
        y = self.apply(None, 1, f, rules, operands, {})
        if y is not DECLINED:
            return y
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
        """``f(*args, **kwargs)`` by a rule; `DECLINED` if none takes such a call."""
        raise NotImplementedError

    def value_below(self, f: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of ``f(*args, **kwargs)`` that a rule has computed, as the levels below have
        it: a rule may compute it by code that they do not follow."""
        outer = self.outer
        if outer is None or not _holds_reals(y) or draws(f, args):
            return y
        given = (*args, *kwargs.values())
        for level in outer.down():
            if level.sees(given) and not level.sees(y):
                return outer.run(f, *args, **kwargs)
        return y

    def sees(self, value: Any) -> bool:
        """Whether a number, an array or an element of a list is active."""
        if isinstance(value, SEQUENCES):
            return any(map(self.sees, value))
        return isinstance(value, _REALS) and self.is_active(value)

    def demand_numbers(self, f: Any, y: Any, args: tuple[Any, ...]) -> None:
        """Refuse the derivative of an object: it would be lost."""
        if isinstance(y, SEQUENCES):
            for part in y:
                self.demand_numbers(f, part, args)
        elif isinstance(y, np.ndarray) and y.dtype.kind == "O":
            given = set(map(id, reached(args)))
            if any(by_value(part) and id(part) not in given for part in y.ravel().tolist()):
                self.hide(y, needed(f, "makes an array of objects", (y,)))
        elif isinstance(y, np.ndarray) and y.dtype.kind == "V" and root_of(y) is y:
            self.hide(y, needed(f, "makes an array with named fields", (y,)))
        elif not isinstance(y, (*_REALS, int, str, bytes, type(None), np.generic, Hidden)):
            raise missing(
                f"a derivative of '{name_of(f)}' is needed, whose result is an object of type"
                f" '{type(y).__name__}', inside or in forward mode",
                hint="use a function that returns arrays (spsolve instead of splu)",
            )

    def inactive(self, f: Any, rules: Rules, args: Any, kwargs: Any) -> Any:
        """A call of which this level knows no derivative: as far as a rule takes it, it is not
        looked into."""
        for arg in (*args, *kwargs.values()):
            if (type(arg) not in PLAIN or is_objects(arg)) and self._hides(arg):
                return DECLINED
        for rule in rules.rrules:
            if rule.accepts(args, kwargs):
                return self.below(f, *args, **kwargs)
        return DECLINED

    def _hides(self, arg: Any) -> bool:
        """Whether an operand holds what is active where a rule would not see it, or may make it."""
        if isinstance(arg, SEQUENCES):
            return any(
                (type(part) not in PLAIN or is_objects(part)) and self._hides(part) for part in arg
            )
        if type(arg) in INACTIVE:
            return False
        if issubclass(type(arg), ActiveIterator):
            return True
        return any(map(self.holds, reached((arg,))))

    def conceals(self, values: Iterable[Any]) -> bool:
        """Whether elements of lists among the operands are objects that may hold what is active: a
        rule that makes numbers of them would take these for constants."""
        return any(
            isinstance(value, SEQUENCES)
            and not PLAIN.issuperset(map(type, value))
            and self._conceals(value)
            for value in values
        )

    def _conceals(self, parts: Iterable[Any]) -> bool:
        stack, seen = [*parts], set()
        while stack:
            part = stack.pop()
            if isinstance(part, SEQUENCES):
                if id(part) not in seen:
                    seen.add(id(part))  # a list may hold itself
                    stack += part
            elif by_value(part):
                continue
            elif id(part) in self._hiding or (AS_NUMBERS.of(type(part)) and self.sees_in(part)):
                return True
        return False

    def own(self, y: Any) -> Any:
        """The same number or array with an identity of its own, here and on every level below."""
        return fresh(y) if self.outer is None else self.outer.run(fresh, y)

    def apart(self, y: Any) -> Any:
        """The result of a user's rule, with arrays of its own in place of those of which a
        derivative is known: the rule may give the same array another one."""
        if isinstance(y, np.ndarray):
            return self.own(y) if self.is_active(y) else y
        if isinstance(y, list | tuple):
            parts = [self.apart(part) for part in y]
            if any(new is not old for new, old in zip(parts, y, strict=True)):
                return remade(y, parts)
        return y

    def is_active(self, value: Any) -> bool:
        """Whether this level knows a derivative of a number or an array."""
        raise NotImplementedError

    def moves(self, value: Any) -> bool:
        """Whether what this level differentiates in may move a number, an array or a list of such
        from zero."""
        raise NotImplementedError

    def sees_in(self, value: Any) -> bool:
        """Whether something that `value` holds is active."""
        return any(by_value(part) and self.is_active(part) for part in reached((value,)))

    def knows(self, *values: Any) -> bool:
        """Whether this level, or one below, knows a derivative of something in `values`."""
        parts = [part for part in reached(values) if by_value(part)]
        return any(any(map(level.is_active, parts)) for level in self.down())

    def down(self) -> Iterator[Level]:
        """This level and those below."""
        level: Level | None = self
        while level is not None:
            yield level
            level = level.outer

    def twin(self, made: Any, root: Any) -> None:
        """Note that `made` stands for `root` here, as the variable that is differentiated in; to
        the levels below it is the same."""
        names = names_of(root)
        self._twins.setdefault(id(names[-1]), []).append((made, names))
        if self.outer is not None:
            for level in self.outer.down():
                level.same.join(made, root)

    def reshaped(self, x: Any, old: tuple[int, ...]) -> None:
        """The shape of an array, which was `old`, was assigned."""
        if self.outer is not None:
            self.outer.reshaped(x, old)

    def changed(self, put: Callable[[bytes], None], old: bytes, new: bytes) -> None:
        """Bytes that carry no derivative, but that arrays may look at, were `old` and are `new`."""
        if self.outer is not None:
            self.outer.changed(put, old, new)

    def touch(self, x: np.ndarray[Any, Any]) -> None:
        """Note that the memory of `x` is written: what it holds from now on is the same under any
        name."""
        if self.memory.touched is not None:
            self.memory.touched[id(root_of(x))] = x
        twins = [level._twins for level in self.down() if level._twins]
        if not twins:
            return
        key = id(original_of(x))
        # Those below have names of their own for it, which are others here, too.
        found = [entry for known in twins for entry in known.get(key, ())]
        seen, own = self._merged.get(key, (0, 0))
        if len(found) == seen:
            return
        mine = [made for made, _ in self._twins.get(key, ())]
        self._merged[key] = len(found), len(mine)
        first = self.same.of(mine[0] if mine else root_of(x))
        if mine[own:]:
            self.merge([first, *(made for made in mine[own:] if made is not first)])
        for made, names in found:
            for name in (made, *names):
                self.same.join(name, first)

    def merge(self, roots: list[Any]) -> None:
        """Note that variables that were told apart are one from now on."""

    def link(self, new: Any, old: Any) -> None:
        """Note that `new` was made of `old`, without a rule, and is equal to it."""
        for level in self.down():
            if level.is_active(old):
                level.take_over(new, old)

    def take_over(self, new: Any, old: Any) -> None:
        """Let `new` depend on what is known as `old` depends on it."""
        raise NotImplementedError

    def spoil(self, value: Any, error: Exception) -> Any:
        """Note that the derivative of a number or an array is not known; returns the value."""
        raise NotImplementedError

    def spoil_stored(self, region: Region, *, certain: bool) -> None:
        """Note that nobody knows the derivative of what functions of the user's have stored in a
        run of code that is not differentiated; arrays only where it is `certain` that they were
        changed, if that is said."""
        error = region.error()
        if error is None:
            return
        put, changed = region.made(certain=certain)
        for level in self.down():
            for value in changed + [one for one in put if not level.holds(one)]:
                level.spoil(value, error)

    def hide(self, value: Any, error: Exception) -> None:
        """Note that an object may hold what is active where nobody sees it: a number as text or as
        integers."""
        self._hiding[id(value)] = value, error

    def give_out(self, owner: Any, value: Any, held: Callable[[], Container[int]]) -> None:
        """Note that `value` came out of something of C, which was not seen to hold it: `held` gives
        what was, by identity."""
        for level in self.down():
            hidden = level._hiding.get(id(owner))
            if hidden is None:
                continue
            for part in reached((value,)):
                if id(part) in held() or level.holds(part):
                    continue
                if by_value(part):
                    level.spoil(part, hidden[1])
                elif is_opaque(part):
                    level.hide(part, hidden[1])

    def holds(self, value: Any) -> bool:
        """Whether a number or an array is active, or an object may hold one that is."""
        if self._holds_itself(value):
            return True
        return is_objects(value) and any(map(self._holds_itself, reached((value,))))

    def _holds_itself(self, value: Any) -> bool:
        if id(value) in self._hiding:
            return True
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            return id(root_of(value)) in self._hiding or self.is_active(value)
        return by_value(value) and self.is_active(value)

    def demand_seen(self, value: Any) -> None:
        """Refuse what may hold something active where nobody sees it."""
        hidden = self._hiding.get(id(value))
        if hidden is None and isinstance(value, np.ndarray):
            hidden = self._hiding.get(id(root_of(value)))
        if hidden is not None:
            raise hidden[1]

    def demand_no_objects(self, f: Any, rules: Rules, operands: Iterable[Any]) -> None:
        """Refuse what computes with active numbers in arrays of objects, or with named fields:
        rules know views of them at most."""
        for x in operands:
            if type(x) is list or type(x) is tuple:
                self.demand_no_objects(f, rules, [part for part in x if type(part) is np.ndarray])
            elif type(x) is np.ndarray and x.dtype.kind in "OV":
                hidden = self._hiding.get(id(x)) or self._hiding.get(id(root_of(x)))
                if hidden is not None:
                    raise hidden[1]
                if x.dtype.kind == "V":
                    if not rules.makes_views and self.is_active(root_of(x)):
                        raise needed(f, "works on an array with named fields", (x,))
                elif any(self.is_active(part) or id(part) in self._hiding for part in _parts(x)):
                    raise needed(f, "works on an array of objects", (x,))

    def hide_row(self, x: Any, index: Any, y: Any) -> None:
        """Note that ``y = x[index]``, read from an array of objects or with named fields, may hold
        what is active, if it is no view of it."""
        why = "reads a row of an array with named fields"
        if isinstance(y, np.ndarray):
            if root_of(y) is root_of(x) and not isinstance(index, str):
                return
            y = root_of(y) if y.dtype.kind == "O" else y
        for level in self.down():
            hidden = level._hiding.get(id(root_of(x)))
            if hidden is not None and by_value(y) and not _holds_objects(y):
                if not level.is_active(y):
                    level.spoil(y, hidden[1])
            elif hidden is not None:
                level.hide(y, hidden[1])
            elif x.dtype.kind == "V" and not isinstance(index, str):
                if level.is_active(root_of(x)):
                    level.hide(y, needed(operator.getitem, why, (x, y)))

    def hooked(self, on_cotangent: Any, x: Any) -> Any:
        """`x`; a hook sees its cotangent, if there will be one."""
        return x

    # ---- arrays ----------------------------------------------------------------------------------

    def read(self, x: np.ndarray[Any, Any], index: Any) -> Any:
        """``x[index]``"""
        raise NotImplementedError

    def write(self, x: np.ndarray[Any, Any], index: Any, value: Any) -> None:
        """``x[index] = value``"""
        raise NotImplementedError

    def update(
        self, record: list[Any], slot: int, op: Any, x: np.ndarray[Any, Any], value: Any
    ) -> Any:
        """``x op= value``: what the plain operation gives, written into `x`."""
        from adjoint.levels.entries import PLAIN_OPERATORS  # they need the levels

        if is_container(x):
            from adjoint.rules.numpy.object_operators import update_objects  # they need the calls

            if update_objects(record, slot, op, x, value) is x:
                return x
            write_array(record, slot, x, ..., PLAIN_OPERATORS[op](record, slot, x, value))
            return x
        refuse_objects(x)
        refuse_names_twice(x)
        self.memory.mark_written(x)
        for level in self.down():
            level.touch(x)  # which makes one of its names, before it is read by one of them
        y = PLAIN_OPERATORS[op](record, slot, x, value)
        if np.shape(y) != x.shape or not np.can_cast(np.result_type(y), x.dtype, "same_kind"):
            return op(x, value)  # NumPy's own message
        if isinstance(y, _REALS):
            self.write(x, ..., y)
        else:
            write_array(record, slot, x, ..., y)  # what stands for an array
        return x


_REALS = (float, complex, np.inexact, np.ndarray)


def _parts(x: np.ndarray[Any, Any]) -> list[Any]:
    """The elements of an array of objects."""
    return np.ndarray.view(x, np.ndarray).ravel().tolist()


def _holds_objects(y: Any) -> bool:
    """Whether something read from an array of objects, or with named fields, is more than one
    number."""
    return isinstance(y, np.void) or (isinstance(y, np.ndarray) and y.dtype.kind in "OV")


def _holds_reals(y: Any) -> bool:
    if isinstance(y, SEQUENCES):
        return any(map(_holds_reals, y))
    return isinstance(y, _REALS) and getattr(y, "dtype", _FLOAT).kind in "fc"


_FLOAT = np.dtype(float)
