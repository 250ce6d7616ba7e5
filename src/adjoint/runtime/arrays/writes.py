"""Writing into arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import is_fancy
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import refuse_names_twice, refused
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import ArgumentError, MutationError
from adjoint.primal.array_memory import root_of
from adjoint.primal.exposed_arrays import note_written
from adjoint.primal.object_array_places import is_container
from adjoint.primal.value_kinds import REALS, is_objects
from adjoint.rulekit.projection import SEQUENCES, project
from adjoint.runtime.arrays.object_elements import write_objects
from adjoint.runtime.arrays.reads import copied_index
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.number_protocols import (
    Names,
    as_element_of,
    by_index,
    converts,
    has_index,
    with_numbers,
)
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.integers import stores_exactly
from adjoint.runtime.memory.log_entries import swap_array, swap_contents
from adjoint.runtime.memory.memory import Memory

method: Any = None
"""Hook that calls a method by name, set by `adjoint.runtime.python.method_call`."""

ndarray = np.ndarray
NONE3 = (None, None, None, None)
_FLOAT64 = np.dtype(float)


def refuse_objects(array: np.ndarray[Any, Any]) -> None:
    """Refuse an array of objects that does not own its memory: its elements cannot be logged."""
    if array.dtype.kind == "O":
        raise ArgumentError(
            "an array of dtype object cannot be differentiated",
            hint="use an array of floats, or a list",
            place=current_place(),
        )


def write_array(
    record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any, value: Any
) -> None:
    """Run ``x[index] = value`` and log the overwritten part; the pullback takes the cotangent of
    the part out of the shadow."""
    memory: Memory = record[0]
    if type(x) is not ndarray:
        x = ndarray.view(x, ndarray)  # the caller has called an override of the subclass
    if memory.level is not None:
        _write_on_level(record, slot, x, index, value)
        return
    if type(index) is int and x.ndim == 1 and type(value) in REALS and x.dtype == _FLOAT64:
        _write_element(memory, record, slot, x, index, value)
        return
    if (
        type(index) is not int
        and (memory.has_index_objects or type(index) is not slice)
        and has_index(index)
    ):
        by_index(record, slot, write_array, (x, index, value))
        return
    if type(x) is ndarray and (x.dtype is _FLOAT64 or x.dtype == _FLOAT64):
        part = x[index]
        # Without a base, `x` owns its memory. Some views have a base that is not an array.
        owns = type(part) is ndarray and part.base is x and x.base is None
        if owns and _is_in_other_memory(memory, x, part, value):
            _write_part(memory, record, slot, x, index, part, value)
            return
    if is_container(x):
        write_objects(record, slot, x, copied_index(index), value)
        return
    if _is_converted(record, slot, x, index, value):
        return
    if type(index) is str:
        x, index = x[index], ...  # a field of each element
    carries = memory.mark_written(x)
    index = copied_index(index)
    part = x[index]
    refuse_names_twice(x, part)
    saved = part.copy() if isinstance(part, ndarray) else part
    # A value that aliases `x` is copied, because it is read before the write.
    given = value.copy() if isinstance(value, ndarray) and np.may_share_memory(x, value) else value
    if given is not value:
        _refuse_order(x, index, value, given, saved)
    structured = isinstance(value, SEQUENCES)
    try:
        x[index] = given
    except Exception:
        _refuse_half(x, index, saved)
        raise
    position = memory.note(swap_array, x, index, saved)
    written = isinstance(value, ndarray) and memory.is_written(value)
    kept = stores_exactly(x, value)

    def write_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        if not carries:
            return NONE3
        taken = _take_part(memory, x, index)
        if taken is None or not kept:
            return NONE3
        bad = type(taken) is Poison
        value_bar = taken if bad else _unbroadcast(taken, value, structured)
        if written:
            memory.add_array(value, value_bar)
            return NONE3
        if structured:
            return None, None, None, deposit(memory, value, value_bar)
        return None, None, None, value_bar

    record[slot] = write_back


def _is_converted(
    record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any, value: Any
) -> bool:
    """Write a value that must be converted to numbers; return whether it was one."""
    refuse_objects(x)
    names = _asked_for(x, index, value)
    if names is not None:
        _write_numbers(record, slot, names, x, index, value)
    elif is_objects(value):
        _write_converted(record, slot, x, index, value)
    else:
        return False
    return True


def _asked_for(x: np.ndarray[Any, Any], index: Any, value: Any) -> Names | None:
    """Return the methods by which a written object is converted to one element or to several, or
    ``None``."""
    if type(value) is ndarray:
        return None
    some, alone = as_element_of(x.dtype), as_element_of(x.dtype, alone=True)
    if isinstance(value, ndarray):
        some = ()
    if not converts(some, value) and not converts(alone, value):
        return None
    names = some if isinstance(ndarray.__getitem__(x, index), ndarray) else alone
    return names if converts(names, value) else None


def _write_numbers(
    record: list[Any], slot: int, names: Names, x: np.ndarray[Any, Any], index: Any, value: Any
) -> None:
    def write(record: list[Any], slot: int, number: Any) -> None:
        linked(record, slot, lambda bars: (None, bars[3]), write_array, x, index, number)

    linked(record, slot, lambda bars: (*NONE3[:3], bars[1]), with_numbers, names, write, (value,))


def _write_converted(
    record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any, value: Any
) -> None:
    """Write the numbers in an array of objects."""
    inner: list[Any] = [record[0], None, None]

    def converted_back(_: Any) -> tuple[Any, ...]:
        number_bar = None if inner[2] is None else inner[2](None)[3]
        if inner[1] is not None:
            inner[1](number_bar)
        return NONE3

    record[slot] = converted_back
    write_array(inner, 2, x, index, method(inner, 1, value, "astype", x.dtype))


def _write_on_level(
    record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any, value: Any
) -> None:
    if type(index) is not int and has_index(index):
        by_index(record, slot, write_array, (x, index, value))
        return
    if is_container(x):
        write_objects(record, slot, x, index, value)
        return
    if _is_converted(record, slot, x, index, value):
        return
    if type(index) is str:
        x, index = x[index], ...  # a field of each element
    memory: Memory = record[0]
    memory.mark_written(x)
    part = x[index]
    refuse_names_twice(x, part)
    saved = np.array(part) if isinstance(value, SEQUENCES) else None
    try:
        memory.level.write(x, index, value)
    except Exception:
        if saved is not None:
            _refuse_half(x, index, saved)
        raise


def _refuse_half(x: np.ndarray[Any, Any], index: Any, saved: Any) -> None:
    """Refuse a failed write that has changed elements: NumPy converts a list one by one."""
    if np.array(x[index]).tobytes() != np.array(saved).tobytes():
        raise refused(
            "a write that fails has changed some elements of the array already",
            "convert the values before: np.array(values, dtype=float)",
        )


def _refuse_order(x: np.ndarray[Any, Any], index: Any, value: Any, given: Any, saved: Any) -> None:
    """Refuse a write to overlapping memory whose result depends on NumPy's order.

    NumPy reads a value before it writes a slice. With masks and lists of indices it may write some
    elements before it reads others. `given` and `saved` are copies of the value and of the
    overwritten part.
    """
    x[index] = value
    made = np.array(x[index])
    x[index] = saved
    x[index] = given
    same = np.array_equal(made, x[index], equal_nan=True)
    x[index] = saved
    if not same:
        raise _order_matters()


def demand_order(x: np.ndarray[Any, Any], write: Callable[[Any], Any], *values: Any) -> None:
    """Refuse ``write(x)``, a write of `values`, if copies of them give another result: NumPy may
    write some elements before it reads others."""
    if not any(isinstance(v, ndarray) and np.may_share_memory(x, v) for v in values):
        return
    expected, saved = np.array(x), np.array(x)
    write(expected)
    write(x)
    made = np.array(x)
    x[...] = saved
    if not np.array_equal(made, expected, equal_nan=True):
        raise _order_matters()


def _order_matters() -> MutationError:
    return refused(
        "what is written depends on the order in which NumPy goes through overlapping memory",
        hint="write a copy of the value: v.copy()",
    )


def _write_element(
    memory: Memory, record: list[Any], slot: int, x: np.ndarray[Any, Any], index: int, value: Any
) -> None:
    """Write one number into an array of one axis."""
    if x.base is not None or id(x) not in memory.written:
        memory.mark_written(x)
    entry = [swap_array, x, index, x[index]]
    x[index] = value
    record[slot] = partial(_written_back, memory, memory.log(entry), entry)


def _written_back(memory: Memory, position: int, entry: list[Any], _: Any) -> tuple[Any, ...]:
    memory.undo(position, entry)
    x: Any = entry[1]
    root = x if x.base is None else root_of(x)
    shadow: Any = memory.buffers.get(id(root))
    if shadow is None:
        return NONE3
    if memory.shadows:
        poison = memory.shadows.get(("poison", id(root)))
        if poison is not None:
            return None, None, None, poison
    if root is not x:
        shadow = memory.array_shadow(x)
    index = entry[2]
    value_bar = shadow.item(index)
    shadow[index] = 0.0
    return None, None, None, value_bar


def _is_in_other_memory(memory: Memory, x: Any, part: Any, value: Any) -> bool:
    """Return whether `value` is a real number, or an unwritten array of doubles shaped like `part`
    in other memory than `x`."""
    if type(value) in REALS:
        return True
    if type(value) is not ndarray or value.dtype != _FLOAT64 or value.shape != part.shape:
        return False
    root = root_of(value)
    return root.base is None and root is not x and id(root) not in memory.written


def _write_part(
    memory: Memory, record: list[Any], slot: int, x: Any, index: Any, part: Any, value: Any
) -> None:
    """Write a number or an array into a view of an array that owns its memory."""
    if id(x) not in memory.written:
        note_written(memory, x)
    entry = [swap_contents, part, part.copy()]
    x[index] = value
    number = type(value) is not ndarray
    record[slot] = partial(_part_back, memory, memory.log(entry), entry, x, index, number)


def _part_back(
    memory: Memory, position: int, entry: list[Any], x: Any, index: Any, number: bool, _: Any
) -> tuple[Any, ...]:
    memory.undo(position, entry)
    whole = memory.buffers.get(id(x))
    if whole is None:
        return NONE3
    poison = memory.shadows.get(("poison", id(x))) if memory.shadows else None
    if poison is not None:
        return None, None, None, poison
    shadow = whole[index]
    value_bar: Any = float(shadow.sum()) if number else shadow.copy()
    shadow.fill(0.0)
    return None, None, None, value_bar


def _take_part(memory: Memory, x: np.ndarray[Any, Any], index: Any) -> Any:
    """Take the cotangent of ``x[index]``; of an element that `index` names twice, the last value
    written gets it."""
    root = root_of(x)
    poison = memory.shadows.get(("poison", id(root)))
    if poison is not None:
        return poison
    if id(root) not in memory.buffers:
        return None
    shadow = memory.array_shadow(x)
    taken = np.array(shadow[index])
    if is_fancy(index) and taken.size > 1:
        last = np.zeros(x.shape, np.intp)
        order = np.arange(taken.size).reshape(taken.shape)
        last[index] = order
        taken[last[index] != order] = 0
    shadow[index] = 0
    return taken


def _unbroadcast(bar: np.ndarray[Any, Any], value: Any, structured: bool) -> Any:
    """Return the cotangent of `value`, summed over the axes along which it was broadcast."""
    if structured:
        array = np.array(value, dtype=bar.dtype)
        return project(bar, array).tolist() if array.dtype.kind != "O" else None
    if isinstance(value, ndarray) and value.ndim > bar.ndim:
        bar = bar.reshape((1,) * (value.ndim - bar.ndim) + bar.shape)
    if type(value) in (str, bytes, type(None)):
        return None
    return project(bar, value)
