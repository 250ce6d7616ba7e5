"""The arguments of a run on a level: each of their numbers becomes a distinct object.

So a derivative of one number is not taken for one of an equal number or of a shared constant.
Numbers inside lists, dicts and objects are exchanged in place during the run, one run at a time,
and restored afterwards; tuples are rebuilt. An array becomes a separate variable for each argument;
where the function has captured it, it is a constant. The caller ensures that no list, dict or
object is part of two arguments (`adjoint.runtime.memory.independence`).
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import missing
from adjoint.errors import ArgumentError
from adjoint.levels.arguments.tangent_checks import (
    agree,
    check_tangent,
    entries_given,
    needs_float,
    parts_given,
)
from adjoint.levels.distinct_objects import fresh
from adjoint.levels.level import Level
from adjoint.primal.argument_copies import forget, stand_for
from adjoint.primal.array_memory import (
    address_of,
    alias_of_root,
    as_writable_as,
    names_twice,
    part_of,
    restore_form,
    root_of,
)
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.object_array_places import places_of
from adjoint.primal.part_exchange import Exchanges, get_slot, set_slot, slots_in
from adjoint.primal.reachability import reached
from adjoint.primal.rebuild import with_parts
from adjoint.primal.value_kinds import (
    by_value,
    fields_of,
    filled_slots,
    is_objects,
    is_plain_object,
    slots_of,
)
from adjoint.runtime.memory.active_iterator import ActiveIterator as ActiveIterator
from adjoint.runtime.memory.independence import Independent
from adjoint.runtime.memory.integers import is_integer
from adjoint.tangent import Tangent


class Seeds:
    """The arguments of one run, and a context manager around it.

    ``bind(value, dot)`` stores a tangent, or marks a value as differentiated, and returns the value
    or a copy. `apart` is the object that has made the arguments independent, if any.
    """

    def __init__(
        self, level: Level, bind: Callable[[Any, Any], Any], apart: Independent | None = None
    ) -> None:
        self._level, self._bind = level, bind
        level.seeds = self
        self._apart = level.memory.apart = apart
        self._aliases: list[tuple[Any, Any]] = []
        self._known: dict[int, tuple[Any, Any]] = {}
        self._aliased: set[int] = set()
        self._alone: list[tuple[Any, int]] = []
        self._constants: list[Any] = []
        self._argument = 0
        self.exchanges: Exchanges = Exchanges()
        self._seen: dict[int, tuple[Any, Any]] = {}
        self._places: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.unseen: list[Any] = []
        """Objects that may hold numbers that were not reached."""

    def __enter__(self) -> Seeds:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        for value, part in self._aliases:
            forget([(part, value)])
            restore_form(value, part)
        self.exchanges.undo()
        if self._apart is not None:
            self._apart.restore()
            if kind is None:
                self._apart.check()
        if self._alone and kind is None:
            for constant in reached(self._constants):
                if isinstance(constant, np.ndarray):
                    self._demand_one_argument(constant, None)

    def argument(self, value: Any, dot: Any) -> Any:
        """Return `own` of a further argument, whose arrays become variables of their own. An array
        that occurs several times in the argument has its tangent at each place."""
        self._argument += 1
        self._known, self._aliased = {}, set()
        if dot is None:
            self._constants.append(value)
        own = self.own(value, dot)
        return self._everywhere(own) if self._known and dot is not True else own

    def _everywhere(self, value: Any) -> Any:
        """Replace the arrays of a part of an argument by their aliases, in place."""
        if isinstance(value, np.ndarray) and not is_objects(value):
            return self._known.get(id(value), (value, value))[1]
        if type(value) in _ATOMS or isinstance(value, EngineObject) or id(value) in self._aliased:
            return value
        self._aliased.add(id(value))
        if isinstance(value, tuple):
            return with_parts(value, [self._everywhere(part) for part in value])
        for read, write in slots_in(value):
            old = read()
            new = self._everywhere(old)
            if new is not old:
                self.exchanges.put(read, write, old, new)
        return value

    def own(self, value: Any, dot: Any) -> Any:
        """Return `value` with a distinct object for each number that has a tangent."""
        if dot is None:
            return value
        if isinstance(value, np.ndarray) and not is_objects(value):
            return self._array(value, dot)
        if isinstance(value, float | complex | int | np.number):
            return self._number(value, dot)
        if isinstance(value, tuple):
            return self._tuple(value, dot)
        self._inside(value, dot)
        return value

    def _number(self, value: Any, dot: Any) -> Any:
        check_tangent(value, dot)
        if isinstance(value, bool | np.timedelta64):
            if dot is True or not dot:
                return value
            value = int(value)  # bools have no distinct objects
        own = self._outside(fresh, value)
        if own is value:
            return value  # a member of an enumeration is unique
        if dot is True:
            return self._bind(own, dot)
        if needs_float(dot, own):
            dot = self._outside(float, dot)  # a tangent may carry one itself
        if isinstance(own, np.number) and type(dot) in (float, complex):
            kind = own.dtype.type if isinstance(own, np.inexact) else np.float64
            dot = self._outside(kind, dot)  # its methods are called like those of `own`
        return self._bind(own, dot)

    def _outside(self, f: Any, value: Any) -> Any:
        return f(value) if self._level.outer is None else self._level.outer.run(f, value)

    def refuse_unseen(self) -> None:
        """Refuse needed derivatives in numbers of sets, iterators and similar objects. Their
        cotangents have no place."""
        for value in self.unseen:
            for part in with_numbers(value) if isinstance(value, _PLACELESS) else ():
                note = self._level.poison_value if by_value(part) else self._level.hide
                note(part, not_seen(value))

    def _array(self, value: Any, dot: Any) -> Any:
        check_tangent(value, dot)
        if dot is True and value.dtype.kind in "mMSU":
            return value
        if value.dtype.kind not in "fciub":
            raise ArgumentError(
                f"an array of dtype {value.dtype} cannot be differentiated",
                hint="give an array of floats, or a list",
            )
        return self._bind(self._alias(value), dot)

    def _alias(self, value: Any) -> Any:
        """Return an alias of an array. The function may reach the array in other ways, and there it
        is a constant."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        if type(value) is np.ndarray and names_twice(value):
            outer = self._level.outer
            part = np.array(value) if outer is None else outer.run(np.array, value)
            part.flags.writeable = value.flags.writeable
        else:
            part = alias_of(self._level, value)
            if part is value:
                self._demand_one_argument(value, self._argument)
                self._alone.append((value, self._argument))
                return value
        self._aliases.append((value, part))
        stand_for([(part, value)])
        self._known[id(value)] = value, part
        return part

    def _demand_one_argument(self, value: Any, argument: int | None) -> None:
        """Refuse an array that has no alias and is part of two arguments."""
        for other, elsewhere in self._alone:
            if elsewhere != argument and np.may_share_memory(other, value):
                raise ArgumentError(
                    f"an array of class {type(value).__name__} is given twice, whose memory cannot"
                    " be looked at under two names",
                    hint="give a copy at one of the places: each argument is a variable of its own",
                )

    def restored(self, y: Any) -> Any:
        """Return `y` with the caller's arrays, and views of them, in place of aliases.

        Containers and objects are changed in place, so lookups by the identity of arrays have to
        come first.
        """
        return self._restored(y, {}) if self._aliases else y

    def _restored(self, y: Any, seen: dict[int, Any]) -> Any:
        if y is None or isinstance(y, float | complex | int | str | FunctionType | MethodType):
            return y
        if isinstance(y, np.ndarray) and not is_objects(y):
            return self._original(y) if type(y) is np.ndarray else y
        if id(y) in seen:
            return y
        seen[id(y)] = y
        if isinstance(y, tuple):
            return with_parts(y, [self._restored(part, seen) for part in y])
        for read, write in slots_in(y):
            old = read()
            new = self._restored(old, seen)
            if new is not old and not isinstance(y, partial):  # its fields cannot be assigned
                write(new)
        return y

    def _original(self, y: Any) -> Any:
        """Return the caller's array for an alias or a view of one."""
        root = root_of(y)
        for value, part in self._aliases:
            if part is y:
                return value
            own = root_of(value)
            if root_of(part) is root and own is not root and address_of(own) == address_of(root):
                return as_writable_as(part_of(own, root, y), y)
        return y

    def _tuple(self, value: Any, dot: Any) -> Any:
        dots = parts_given(value, dot, len(value))
        pairs = zip(value, dots, strict=True)
        return with_parts(value, [self.own(part, part_dot) for part, part_dot in pairs])

    def _inside(self, value: Any, dot: Any) -> None:
        """Exchange the numbers in a container or an object."""
        if id(value) in self._seen:
            if not agree(self._seen[id(value)][1], dot):
                raise ArgumentError(
                    f"the same {type(value).__name__} is given with two different tangents",
                    hint="give the tangent once, and None at the other place",
                )
            return
        self._seen[id(value)] = value, dot
        if isinstance(value, ActiveIterator) and dot is True:
            self.unseen.append(value)
        elif isinstance(value, list | deque):
            dots = parts_given(value, dot, len(value))
            for i, part_dot in enumerate(dots):
                self._exchange(value.__getitem__, value.__setitem__, i, part_dot)
            self._attributes(value, dot)
        elif isinstance(value, dict):
            for key, part_dot in entries_given(value, dot):
                self._exchange(value.__getitem__, value.__setitem__, key, part_dot)
            self._attributes(value, dot)
        elif is_objects(value):
            self._inside_objects(value, dot)
        elif isinstance(value, FunctionType | MethodType):
            self._inside_function(value, dot)
        elif isinstance(value, Tangent):
            self._inside(value._fields, dot)
        elif is_plain_object(value):
            fields = fields_of(value) or {}
            for name, part_dot in entries_given({**fields, **filled_slots(value)}, dot):
                if name in fields:
                    self._exchange(fields.__getitem__, fields.__setitem__, name, part_dot)
                else:
                    slot = slots_of(type(value))[name]
                    read, write = partial(get_slot, slot, value), partial(set_slot, slot, value)
                    self._exchange(read, write, name, part_dot)
        elif isinstance(value, EngineObject | np.dtype):
            return
        elif dot is True:
            self.unseen.append(value)
        else:
            raise ArgumentError(
                f"a {type(value).__name__} has no tangent", hint="give None in its place"
            )

    def _attributes(self, value: Any, dot: Any) -> None:
        """Exchange the attributes of a container subclass, which tangents do not include."""
        fields = fields_of(value) or {}
        for name in list(fields) if dot is True and fields is not value else ():
            self._exchange(fields.__getitem__, fields.__setitem__, name, True)

    def _inside_objects(self, value: Any, dot: Any) -> None:
        """Exchange the elements of an array of objects, each only once if views overlap."""
        x, root = np.ndarray.view(value, np.ndarray), root_of(value)
        if dot is not True and (type(dot) is not np.ndarray or dot.shape != x.shape):
            raise ArgumentError(
                f"the tangent of an array of objects of shape {x.shape} has to be an array of that"
                " shape",
                hint="give an array of objects, with None for elements that have none",
            )
        places = places_of(x)
        for index in np.ndindex(x.shape):
            part_dot = True if dot is True else dot[index]
            place = id(root), int(places[index])
            if place not in self._places:
                self._places[place] = root, part_dot
                self._exchange(x.__getitem__, x.__setitem__, index, part_dot)
            elif not agree(self._places[place][1], part_dot):
                raise ArgumentError(
                    "the same element of an array of objects is given with two different tangents",
                    hint="give the tangent once, and None at the other place",
                )

    def _inside_function(self, value: FunctionType | MethodType, dot: Any) -> None:
        """Exchange the captured variables of a function, or the numbers of a method's object."""
        if isinstance(value, MethodType):
            self.own(value.__self__, dot.__self__ if isinstance(dot, MethodType) else dot)
            return
        cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
        for name, part_dot in entries_given(cells, dot):
            cell = cells[name]
            self._exchange(
                partial(getattr, cell), partial(setattr, cell), "cell_contents", part_dot
            )

    def _exchange(
        self, read: Callable[[Any], Any], write: Callable[[Any, Any], Any], key: Any, dot: Any
    ) -> None:
        if dot is None:
            return
        self.exchanges.lock()
        old = read(key)
        new = self.own(old, dot)
        if new is not old:
            self.exchanges.put(lambda: read(key), lambda x: write(key, x), old, new)


_ATOMS = frozenset({float, complex, int, bool, str, type(None)})


_PLACELESS = (set, frozenset, Iterator, array, memoryview)


def with_numbers(value: Any) -> list[Any]:
    """Return the parts that `value` reaches, if numbers or arrays with derivatives are among
    them."""
    if isinstance(value, array):
        return [value]
    parts = list(reached((value,)))
    carries = any(by_value(part) and not is_integer(part) for part in parts)
    return parts if carries else []


def not_seen(value: Any) -> Exception:
    """Return the error for a needed derivative of the contents of `value`."""
    return missing(
        f"a derivative of what a {type(value).__name__} holds is needed, through a derivative",
        hint="hand it over in a list, a dict, an object or a closure",
    )


def alias_of(level: Level, x: Any) -> Any:
    """Return an alias of `x`, a separate variable on `level` until it is written. Return `x` itself
    if it can have no alias."""
    if type(x) is not np.ndarray or names_twice(x):
        return x
    root = root_of(x)
    made = alias_of_root(root)
    if made is None:
        return x
    level.add_alias(made, root)
    return as_writable_as(part_of(made, root, x), x)
