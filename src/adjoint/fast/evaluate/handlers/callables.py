"""Handlers of ``functools.partial`` and ``wraps``, slices and copies."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, in_programs
from adjoint.fast.evaluate.objects.container_copies import copied, deep_copy
from adjoint.fast.evaluate.objects.fields import set_field
from adjoint.fast.evaluate.objects.function_attributes import wrap_function
from adjoint.fast.evaluate.plain_classes import has_own, is_plain_object
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import (
    LOST,
    Abstract,
    Closure,
    Instance,
    Known,
    Partial,
    Ref,
    SliceOf,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Value
from adjoint.runtime.steering import stop_gradient


@handler(functools.partial)
def _(ev: Evaluator, f: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    if isinstance(f, Partial):
        return Partial(f.function, (*f.args, *args), (*{**dict(f.keywords), **keywords}.items(),))
    return Partial(f, args, tuple(keywords.items()))


@handler(functools.wraps)
def _(ev: Evaluator, wrapped: Abstract) -> Abstract:
    return Partial(Known(_wrapping), (wrapped,), ())


@in_programs
def _wrapping(ev: Evaluator, wrapped: Abstract, wrapper: Abstract) -> Abstract:
    """Stand for what ``functools.wraps(wrapped)`` returns."""
    return ev.call(Known(functools.update_wrapper), [wrapper, wrapped], {})


@handler(functools.update_wrapper)
def _(ev: Evaluator, wrapper: Abstract, wrapped: Abstract) -> Abstract:
    """Note of a function whose attributes it has; of an object, programs must not read these."""
    if isinstance(wrapper, Closure) and wrapper.function is None:
        wrap_function(ev, wrapper, wrapped)
        return wrapper
    cls = ev.class_of(wrapper)
    is_plain = isinstance(ev.held(wrapper), Instance) and is_plain_object(cls)
    if not is_plain or not isinstance(wrapped, Closure) or has_own(cls, "__setattr__"):  # type: ignore[arg-type]
        raise NotCovered("a wrapper of another kind", ev.span)
    if wrapped.function is not None and vars(wrapped.function):
        raise NotCovered("a wrapper of a function with attributes", ev.span)
    assert isinstance(wrapper, Ref)
    for name in functools.WRAPPER_ASSIGNMENTS:
        set_field(ev, wrapper, name, LOST)
    set_field(ev, wrapper, "__wrapped__", wrapped)
    return wrapper


@handler(slice)
def _(ev: Evaluator, *ends: Abstract) -> Abstract:
    if not 1 <= len(ends) <= 3:
        raise NotCovered("arguments that do not fit", ev.span)
    if len(ends) == 1:
        ends = (Known(None), *ends)
    return SliceOf(*ends, *[Known(None)] * (3 - len(ends)))


# ---- copies --------------------------------------------------------------------------------------


@handler(copy.copy)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return a if isinstance(a, Tuple) else _array_or(ev, a) or copied(ev, a, lambda x: x)


@handler(copy.deepcopy)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return _deep_copy(ev, a, lambda x: ev.call(Known(np.copy), [x], {}), lambda x: x)


@handler(stop_gradient)
def _(ev: Evaluator, x: Abstract) -> Abstract:
    def constant(a: Abstract) -> Abstract:
        if isinstance(a, Closure) or (isinstance(a, Value) and isinstance(ev.types[a], Row)):
            raise NotCovered("stop_gradient of a function or of a list of numbers", ev.span)
        return ev.operation(runtime.constant, (a,), ev.types[a]) if isinstance(a, Value) else a

    return _deep_copy(ev, x, constant, constant)


def _deep_copy(
    ev: Evaluator,
    a: Abstract,
    of_array: Callable[[Abstract], Abstract],
    of_other: Callable[[Abstract], Abstract],
) -> Abstract:
    """Return a deep copy, with each array in it replaced by `of_array`, and anything else that is
    no container or object by `of_other`."""
    arrays: dict[Value, Abstract] = {}

    def part(x: Abstract) -> Abstract:
        if not isinstance(x, Value) or not isinstance(ev.types[x], Array):
            return of_other(x)
        if x not in arrays:
            arrays[x] = of_array(x)
        return arrays[x]

    made = deep_copy(ev, a, {}, part)
    if len(arrays) > 1:
        _demand_apart(ev, [*arrays])
    return made


def _demand_apart(ev: Evaluator, arrays: list[Value]) -> None:
    """Require that arrays are different objects: a deep copy holds one copy of each."""
    known = ev.fresh | {leaf.value for leaf in ev.outside.leaves}
    memory = [ev.aliased_by(x) for x in arrays]
    if not known.issuperset(arrays) or any(
        not a.isdisjoint(b) for a, b in itertools.combinations(memory, 2)
    ):
        raise NotCovered("a deep copy of arrays that may be one", ev.span)


def _array_or(ev: Evaluator, a: Abstract) -> Abstract | None:
    """Return a copy of an array; ``None`` for anything else."""
    if isinstance(a, Value) and isinstance(ev.types[a], Array):
        return ev.call(Known(np.copy), [a], {})
    return None
