"""Objects that may hold active values where a level does not see them.

Examples are objects of C code, arrays of objects or with named fields, and numbers stored as text
or as integers. A rule or a function that extracts numbers from them would take these for constants.
So such objects are noted when they are made, and refused when they are used.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics.no_derivative import name_of, needed
from adjoint.diagnostics.refusals import missing
from adjoint.levels.memory import LevelMemory
from adjoint.primal.array_memory import root_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.exposed_arrays import looks_elsewhere
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.reachability import reached
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import PLAIN, by_value, is_objects
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.registry import Rules
from adjoint.runtime.dispatch.number_protocols import AS_NUMBERS
from adjoint.runtime.memory.active_iterator import ActiveIterator as ActiveIterator
from adjoint.runtime.memory.poisoning import is_opaque

INACTIVE = frozenset({bool, str, bytes, type(None), slice, type, range, np.dtype})
"""Types of values that have no derivative."""

REALS = (float, complex, int, np.number, np.ndarray)
"""Types of values that may have a derivative."""


class Concealing(EngineObject):
    """The objects of one level that may conceal active values.

    Attributes
    ----------
    memory
        The memory that the functions of the runtime get.
    """

    def __init__(self) -> None:
        self.memory: LevelMemory = LevelMemory(self)
        self._hiding: dict[int, tuple[Any, Exception]] = {}

    def is_active(self, value: Any) -> bool:
        """Return whether this level knows a derivative of a number or an array."""
        raise NotImplementedError

    def poison_value(self, value: Any, error: Exception) -> Any:
        """Note that the derivative of a number or an array is unknown; return the value. Integers
        are taken for counts or rounded results: they stay constants."""
        raise NotImplementedError

    def down(self) -> Iterator[Concealing]:
        """Yield this level and those below."""
        raise NotImplementedError

    def demand_numbers(self, f: Any, y: Any, args: tuple[Any, ...]) -> None:
        """Refuse a result that is an object, whose derivative would be lost."""
        if isinstance(y, SEQUENCES):
            for part in y:
                self.demand_numbers(f, part, args)
        elif isinstance(y, np.ndarray) and y.dtype.kind == "O":
            given = set(map(id, reached(args)))
            if any(by_value(part) and id(part) not in given for part in y.ravel().tolist()):
                self.hide(y, needed(f, "makes an array of objects", (y,)))
        elif isinstance(y, np.ndarray) and y.dtype.kind == "V" and root_of(y) is y:
            self.hide(y, needed(f, "makes an array with named fields", (y,)))
        elif not isinstance(y, (*REALS, str, bytes, type(None), np.generic, EngineObject)):
            raise missing(
                f"a derivative of '{name_of(f)}' is needed, whose result is an object of type"
                f" '{type(y).__name__}', inside or in forward mode",
                hint="use a function that returns arrays (spsolve instead of splu)",
            )

    def _hides(self, arg: Any) -> bool:
        """Return whether an operand holds, or may produce, active values that a rule would not
        see."""
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
        """Return whether operands, or elements of lists, are objects that may hold active values. A
        rule that converts such an object to numbers would take these for constants."""
        for value in values:
            if type(value) in PLAIN:
                continue
            if isinstance(value, SEQUENCES):
                if not PLAIN.issuperset(map(type, value)) and self._conceals(value):
                    return True
            elif not by_value(value) and _gives_array(type(value)) and self.sees_in(value):
                return True
        return False

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
            elif id(part) in self._hiding or (
                (AS_NUMBERS.of(type(part)) or _gives_array(type(part))) and self.sees_in(part)
            ):
                return True
        return False

    def sees_in(self, value: Any) -> bool:
        """Return whether a number or an array that `value` holds is active."""
        parts = reached((value,), integers=True)
        return any(by_value(part) and self.is_active(part) for part in parts)

    def poison_all(self, values: Iterable[Any], error: Exception) -> None:
        """Note unknown derivatives of values that foreign code has stored. Numbers that the code
        only moved keep their derivatives."""
        for value in values:
            if isinstance(value, np.ndarray) or not self.holds(value):
                self.poison_value(value, error)

    def hide(self, value: Any, error: Exception) -> None:
        """Note that an object may conceal active values: a number as text or as integers, for
        example."""
        self._hiding[id(value)] = value, error

    def elsewhere(self, values: Iterable[Any]) -> list[Any]:
        """Return the arrays that C objects in `values` may alias without visibly holding them."""
        if not any(map(looks_elsewhere, values)):
            return []
        return [array for level in self.down() for array in level.memory.exposed.values()]

    def note_taken_out(
        self,
        owner: Any,
        value: Any,
        held: Container[int],
        arrays: Sequence[Any],
        problem: Callable[[], Exception],
    ) -> None:
        """Note that `value` was taken out of the C object `owner`.

        `held` are the identities of the values that `owner` is seen to hold. `value` may have been
        read from `arrays`; if one of these is active, the error is ``problem()``.
        """
        for level in self.down():
            hidden = level._hiding.get(id(owner))
            if hidden is None and not any(map(level.is_active, arrays)):
                continue
            why = problem() if hidden is None else hidden[1]
            for part in reached((value,)):
                if id(part) in held or level.holds(part):
                    continue
                if by_value(part):
                    level.poison_value(part, why)
                elif is_opaque(part):
                    level.hide(part, why)

    def holds(self, value: Any) -> bool:
        """Return whether a number or an array is active, or an object may hold an active one."""
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
        """Refuse an object that may conceal active values."""
        hidden = self._hiding.get(id(value))
        if hidden is None and isinstance(value, np.ndarray):
            hidden = self._hiding.get(id(root_of(value)))
        if hidden is not None:
            raise hidden[1]

    def demand_no_objects(self, f: Any, rules: Rules, operands: Iterable[Any]) -> None:
        """Refuse computations with active arrays of objects or with named fields. Rules know views
        of such arrays at most."""
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
        """Note that ``y = x[index]`` may conceal active values, unless `y` is a view of `x`. `x` is
        an array of objects or with named fields."""
        why = "reads a row of an array with named fields"
        if isinstance(y, np.ndarray):
            if root_of(y) is root_of(x) and not isinstance(index, str):
                return
            y = root_of(y) if y.dtype.kind == "O" else y
        for level in self.down():
            hidden = level._hiding.get(id(root_of(x)))
            if hidden is not None and by_value(y) and not _holds_objects(y):
                if not level.is_active(y):
                    level.poison_value(y, hidden[1])
            elif hidden is not None:
                level.hide(y, hidden[1])
            elif x.dtype.kind == "V" and not isinstance(index, str):
                if level.is_active(root_of(x)):
                    level.hide(y, needed(operator.getitem, why, (x, y)))


def _parts(x: np.ndarray[Any, Any]) -> list[Any]:
    """Return the elements of an array of objects."""
    return np.ndarray.view(x, np.ndarray).ravel().tolist()


def _holds_objects(y: Any) -> bool:
    """Return whether an element of an array of objects, or with named fields, is more than one
    number."""
    return isinstance(y, np.void) or (isinstance(y, np.ndarray) and y.dtype.kind in "OV")


_gives_array = ByClass(lambda kind: class_attribute(kind, "__array__") is not None)
"""Whether NumPy converts objects of a class by a method of the class."""
