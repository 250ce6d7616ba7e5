"""Handlers of ``functools.partial``, slices, getters of `operator`, and copies."""

from __future__ import annotations

import copy
import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import attribute
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import listed
from adjoint.fast.evaluate.loops import iterate
from adjoint.fast.evaluate.objects.copies import copied, deep_copy
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import Abstract, Closure, Known, Partial, SliceOf, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Value
from adjoint.runtime.steering import stop_gradient


@handler(functools.partial)
def _(ev: Evaluator, f: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    if isinstance(f, Partial):
        return Partial(f.function, (*f.args, *args), (*{**dict(f.keywords), **keywords}.items(),))
    return Partial(f, args, tuple(keywords.items()))


@handler(functools.reduce)
def _(ev: Evaluator, f: Abstract, xs: Abstract, initial: Abstract | None = None) -> Abstract:
    if initial is None:
        items = listed(ev, xs)
        if not items:
            raise NotCovered("reduce of what is not known, without a start", ev.span)
        initial, xs = items[0], Tuple(tuple(items[1:]))
    (total,) = iterate(ev, xs, [initial], lambda x, now: [ev.call(f, [now[0], x], {})])
    return total


@handler(slice)
def _(ev: Evaluator, *ends: Abstract) -> Abstract:
    if not 1 <= len(ends) <= 3:
        raise NotCovered("arguments that do not fit", ev.span)
    if len(ends) == 1:
        ends = (Known(None), *ends)
    return SliceOf(*ends, *[Known(None)] * (3 - len(ends)))


# ---- getters -------------------------------------------------------------------------------------


@handler(operator.itemgetter)
def _(ev: Evaluator, *keys: Abstract) -> Abstract:
    return Partial(Known(get_items), (Tuple(keys),), ())


@handler(operator.attrgetter)
def _(ev: Evaluator, *names: Abstract) -> Abstract:
    return Partial(Known(get_attributes), (Tuple(names),), ())


@handler(operator.methodcaller)
def _(ev: Evaluator, name: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    return Partial(Known(call_named), (name, Tuple(args)), tuple(keywords.items()))


def get_items() -> None:
    """Stand for ``itemgetter(*keys)``, with the keys before the operand."""


def get_attributes() -> None:
    """Stand for ``attrgetter(*names)``, with the names before the operand."""


def call_named(name: Any, args: Any, operand: Any, **keywords: Any) -> Any:
    """Stand for ``methodcaller(name, *args)``, with these before the operand."""
    raise NotImplementedError


@handler(get_items)
def _(ev: Evaluator, keys: Abstract, a: Abstract) -> Abstract:
    assert isinstance(keys, Tuple)
    found = tuple(ev.call(Known(operator.getitem), [a, key], {}) for key in keys.items)
    return found[0] if len(found) == 1 else Tuple(found)


@handler(get_attributes)
def _(ev: Evaluator, names: Abstract, a: Abstract) -> Abstract:
    assert isinstance(names, Tuple)
    found = []
    for name in names.items:
        if not isinstance(name, Known) or type(name.value) is not str:
            raise NotCovered("an attribute whose name is not known", ev.span)
        part = a
        for one in name.value.split("."):
            part = attribute(ev, part, one)
        found.append(part)
    return found[0] if len(found) == 1 else Tuple(tuple(found))


@handler(call_named)
def _(ev: Evaluator, name: Abstract, args: Abstract, a: Abstract, **keywords: Abstract) -> Abstract:
    assert isinstance(args, Tuple)
    if not isinstance(name, Known) or type(name.value) is not str:
        raise NotCovered("an attribute whose name is not known", ev.span)
    return ev.call(attribute(ev, a, name.value), args.items, keywords)


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
