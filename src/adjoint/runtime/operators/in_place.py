"""In-place operators of arrays, such as ``x += value``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from math import isfinite
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import (
    RAISED_AFTER_WRITE,
    raised_after_write,
    refuse_names_twice,
    refused,
)
from adjoint.primal.array_memory import root_of
from adjoint.primal.exposed_arrays import note_written
from adjoint.primal.object_array_places import is_container
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import FLOAT64, PLAIN, REALS, by_value
from adjoint.rulekit.elementwise_reverse import dot
from adjoint.rulekit.projection import project
from adjoint.runtime.arrays.writes import refuse_objects, write_array
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.number_protocols import AS_ELEMENT, converts
from adjoint.runtime.memory.log_entries import swap_array, swap_contents
from adjoint.runtime.memory.memory import Memory, undone
from adjoint.runtime.operators.binary import has_ufuncs
from adjoint.runtime.operators.binary_protocol import UFUNCS, defers_to

NONE2 = (None, None, None)


def updater(
    op: Any, plain: Callable[..., Any], otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the runtime function of the in-place operator `op`.

    `plain` is the function of the plain operator, `otherwise` the one for operands other than
    arrays. In general, `plain` runs on a copy of `x`, and its result is written to all of `x`.
    """

    def in_general(record: list[Any], slot: int, x: Any, value: Any) -> Any:
        if isinstance(x, ndarray) and _is_left_to(op, x, value):
            return plain(record, slot, x, value)
        if type(x) is ndarray:
            if _goes_by_ufunc(op, value):
                return _by_ufunc(record, slot, op, x, value)
            if record[0].level is not None:
                return record[0].level.update(record, slot, op, x, value)
            return _update_in_place(record, slot, op, plain, x, value)
        if isinstance(x, ndarray):
            return _update_subclass(record, slot, op, update, otherwise, x, value)
        return otherwise(record, slot, x, value)

    to_value = _LANES.get(op)
    update = in_general
    if to_value is not None:
        update = _lane_updater(op, plain, otherwise, in_general, to_value)
    update.__name__ = otherwise.__name__
    return update


def base_updater(op: Any, update: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a method like ``ndarray.__iadd__``; it ignores subclass overrides."""

    def run(record: list[Any], slot: int, x: Any, value: Any) -> Any:
        if not isinstance(x, ndarray) or type(x) is ndarray:
            return update(record, slot, x, value)
        if getattr(operator, op.__name__[1:], None) in UFUNCS and has_ufuncs(x):
            return _by_ufunc(record, slot, op, x, value)
        plain = ndarray.view(value, ndarray) if isinstance(value, ndarray) else value
        update(record, slot, ndarray.view(x, ndarray), plain)
        return x

    run.__name__ = op.__name__
    return run


def _by_ufunc(record: list[Any], slot: int, op: Any, x: Any, value: Any) -> Any:
    ufunc, out = UFUNCS[getattr(operator, op.__name__[1:])], {"out": (x,)}
    return linked(record, slot, lambda bars: bars[:3], call_keywords, ufunc, (x, value), out)


def _goes_by_ufunc(op: Any, value: Any) -> bool:
    """Return whether NumPy calls user code of `value`, ``__float__`` or ``__array_ufunc__``;
    operators of array subclasses are not called."""
    if type(value) in PLAIN:
        return False
    if isinstance(value, float):
        return converts(AS_ELEMENT, value)
    has_method = type(class_attribute(type(value), "__array_ufunc__")) is FunctionType
    return (isinstance(value, ndarray) or has_method) and (
        getattr(operator, op.__name__[1:], None) in UFUNCS
    )


def _is_left_to(op: Any, x: Any, value: Any) -> bool:
    """Return whether an array leaves the operation to `value`, whose class has a higher
    ``__array_priority__`` and no ``__array_ufunc__``; the result replaces the array."""
    kind = type(value)
    if not defers_to(x, value) or hasattr(kind, "__array_ufunc__"):
        return False
    if type(class_attribute(type(x), f"__{op.__name__}__")) is FunctionType:
        return False  # the array's own class defines the operator
    return class_attribute(kind, f"__r{op.__name__[1:]}__") is not None


def _update_subclass(
    record: list[Any],
    slot: int,
    op: Any,
    update: Callable[..., Any],
    otherwise: Callable[..., Any],
    x: Any,
    value: Any,
) -> Any:
    """Update an array of a subclass: by its method, its ``__array_ufunc__``, or as any array."""
    kind = type(x)
    if type(class_attribute(kind, f"__{op.__name__}__")) is FunctionType:
        return otherwise(record, slot, x, value)
    return base_updater(op, update)(record, slot, x, value)


def _lane_updater(
    op: Any,
    plain: Callable[..., Any],
    otherwise: Callable[..., Any],
    in_general: Callable[..., Any],
    to_value: Callable[[Any, Any, Any, bool], Any],
) -> Callable[..., Any]:
    """Return the `updater` of an operator that leaves the cotangent of `x` in its shadow, with a
    lane for an array that owns its memory."""

    def update(record: list[Any], slot: int, x: Any, value: Any) -> Any:
        if not isinstance(x, ndarray):
            return otherwise(record, slot, x, value)
        if type(x) is not ndarray or not _has_doubles(x) or record[0].level is not None:
            return in_general(record, slot, x, value)
        memory: Memory = record[0]
        if (
            type(value) is not ndarray
            or not _has_doubles(value)
            or x.base is not None
            or value.base is not None
            or value is x
            or id(value) in memory.written
            or value.shape != x.shape
        ):
            if type(value) not in PLAIN:
                return in_general(record, slot, x, value)
            if _is_in_other_memory(memory, x, value):
                return _update_view(record, slot, op, to_value, x, value)
            return _update_in_place(record, slot, op, plain, x, value)
        if id(x) not in memory.written:
            note_written(memory, x)
        entry = [swap_contents, x, x.copy()]
        try:
            op(x, value)
        except RAISED_AFTER_WRITE as error:
            raise raised_after_write(error) from error
        position = memory.log(entry)
        record[slot] = partial(_lane_back, memory, position, entry, to_value, value)
        return x

    return update


def _lane_back(
    memory: Memory, position: int, entry: list[Any], to_value: Any, value: Any, x_bar: Any
) -> tuple[Any, ...]:
    memory.undo(position, entry)
    x = entry[1]
    if x_bar is not None:
        memory.add_array(x, finish(x_bar))
    shadow = memory.buffers.get(id(x))
    if shadow is None:
        return NONE2
    if memory.shadows:
        poison = memory.shadows.get(("poison", id(x)))
        if poison is not None:
            return None, None, poison
    return None, None, to_value(shadow, x, value, memory.careful)


def _update_in_place(
    record: list[Any],
    slot: int,
    op: Any,
    plain: Callable[..., Any],
    x: np.ndarray[Any, Any],
    value: Any,
) -> Any:
    memory: Memory = record[0]
    if is_container(x):
        return _update_objects(record, slot, op, plain, x, value)
    refuse_objects(x)
    refuse_names_twice(x)
    if not memory.mark_written(x):
        position = memory.note(swap_array, x, ..., x.copy())
        try:
            y = op(x, value)
        except RAISED_AFTER_WRITE as error:
            raise raised_after_write(error) from error
        record[slot] = undone(memory, position, NONE2)
        return y
    # `plain` gets the old contents as a separate array, and a copy of a value that aliases x.
    old = x.copy()
    inner: list[Any] = [memory, None]
    operand = (
        value.copy() if isinstance(value, ndarray) and np.may_share_memory(x, value) else value
    )
    y = _computed(inner, op, plain, old, operand)
    if np.shape(y) != x.shape or not np.can_cast(np.result_type(y), x.dtype, "same_kind"):
        return op(x, value)  # NumPy's own message
    if not by_value(y):
        raise refused(
            f"an array is changed in place to what a '{type(value).__name__}' makes of it, which is"
            f" a '{type(y).__name__}'",
            "write the operator and the assignment apart: x[...] = x + value",
        )
    x[...] = y
    position = memory.note(swap_array, x, ..., old)
    written = operand is not value and memory.is_written(value)

    def update_back(x_bar: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        x_bar = accumulate(finish(x_bar), memory.take_array(x))
        if x_bar is None:
            if inner[1] is not None:
                inner[1](None)  # an object may have been converted to an array
            return NONE2
        _, old_bar, value_bar = inner[1](x_bar if type(x_bar) is Poison else project(x_bar, y))
        old_bar = finish(old_bar)
        is_numbers = type(old_bar) is not Poison and old_bar is not None
        memory.add_array(x, project(old_bar, x) if is_numbers else old_bar)
        if written:
            memory.add_array(value, finish(value_bar))
            value_bar = None
        return None, None, value_bar

    record[slot] = update_back
    return x


def _update_objects(
    record: list[Any],
    slot: int,
    op: Any,
    plain: Callable[..., Any],
    x: np.ndarray[Any, Any],
    value: Any,
) -> Any:
    """Replace the elements of an array of objects by the results of the plain operator."""
    inner: list[Any] = [record[0], None, None]

    def update_back(_: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            inner[2](None)
        return (None, None, None if inner[1] is None else inner[1](None)[2])

    record[slot] = update_back
    y = plain(inner, 1, x, value)
    if np.shape(y) != x.shape:
        return op(x, value)  # NumPy's own message
    write_array(inner, 2, x, ..., y)
    return x


def _computed(
    inner: list[Any], op: Any, plain: Callable[..., Any], old: np.ndarray[Any, Any], operand: Any
) -> Any:
    """Compute ``old op operand``; an error of NumPy is that of the in-place operator."""
    try:
        return plain(inner, 1, old, operand)
    except RAISED_AFTER_WRITE as error:
        raise raised_after_write(error) from error
    except ValueError as error:
        if type(operand) is not ndarray:
            raise
        raised = error
    op(old, operand)
    raise raised


def _has_doubles(x: np.ndarray[Any, Any]) -> bool:
    return x.dtype is FLOAT64 or x.dtype == FLOAT64


def _is_in_other_memory(memory: Memory, x: np.ndarray[Any, Any], value: Any) -> bool:
    """Return whether `value` is a real number, or an unwritten array of doubles shaped like `x`, in
    other memory."""
    if type(value) is not ndarray:
        return type(value) in REALS
    if not _has_doubles(value) or value.shape != x.shape:
        return False
    root = root_of(value)
    return root.base is None and root is not root_of(x) and id(root) not in memory.written


# ---- sums and products: the cotangent of `x` stays in its shadow ---------------------------------


def _update_view(
    record: list[Any],
    slot: int,
    op: Any,
    to_value: Callable[[Any, Any, Any, bool], Any],
    x: np.ndarray[Any, Any],
    value: Any,
) -> Any:
    """Update any array by a number or by an array in other memory."""
    memory: Memory = record[0]
    refuse_names_twice(x)
    memory.mark_written(x)
    root = root_of(x)
    old = x.copy()
    try:
        op(x, value)
    except RAISED_AFTER_WRITE as error:
        raise raised_after_write(error) from error
    position = memory.log([swap_contents, x, old])

    def update_back(x_bar: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        memory.add_array(x, finish(x_bar))
        if id(root) not in memory.buffers:
            return NONE2
        poison = memory.shadows.get(("poison", id(root)))
        if poison is not None:
            return None, None, poison
        return None, None, to_value(memory.array_shadow(x), x, value, memory.careful)

    record[slot] = update_back
    return x


def _of_term(shadow: Any, x: Any, value: Any, careful: bool) -> Any:
    return shadow.copy() if type(value) is ndarray else float(shadow.sum())


def _of_subtrahend(shadow: Any, x: Any, value: Any, careful: bool) -> Any:
    return -shadow if type(value) is ndarray else -float(shadow.sum())


def _of_factor(shadow: Any, x: Any, value: Any, careful: bool) -> Any:
    """Return the factor's cotangent ȳ x, and multiply the shadow ȳ by the factor; zeros stay 0."""
    value_bar = shadow * x
    if careful and not (
        isfinite(dot(x, x)) and isfinite(dot(value, value) if type(value) is ndarray else value)
    ):
        zero = shadow == 0
        value_bar[zero] = 0.0
        shadow *= np.where(zero, 0.0, value)
    else:
        shadow *= value
    return value_bar if type(value) is ndarray else float(value_bar.sum())


_LANES: dict[Any, Callable[[Any, Any, Any, bool], Any]] = {
    operator.iadd: _of_term,
    operator.isub: _of_subtrahend,
    operator.imul: _of_factor,
}
"""By operator: returns the cotangent of the other operand, and turns the shadow of the new contents
into that of the old ones."""
