"""Objects of libraries: what happens with them is left to the generic tier, as segments.

A call that takes or makes an object of a library (`adjoint.primal.packages.LIBRARIES`) which the
evaluator does not know is a *step*. Steps are rehearsed at specialisation, on the values of the
call: what a step returns is an object, which only later steps name, or a number, an array, or a
constant, which the program takes out by an operation for all steps so far. That operation is
opaque (`opaque_calls`): the generic tier differentiates its function (`support.segments`). The
program checks types, shapes and constants.

Before, after::

    s = pandas.Series(x)         parts = with_objects(x)      s0 = k0(x); s1 = s0.mean; s2 = s1()
    m = s.mean()                 m, = parts                   return (s2,)
    return m * x                 return m * x

Segments have no effects but on what they have made, because the program may still be left.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.callees.library import checked
from adjoint.fast.evaluate.callees.opaque_calls import (
    State,
    is_demand,
    opaque_call,
    restore,
    state_of,
    writes,
)
from adjoint.fast.evaluate.callees.rehearsals import rehearsed
from adjoint.fast.evaluate.callees.segment_operations import joined, root_of, segment_of, taken
from adjoint.fast.evaluate.callees.step_parts import objects_in, part_of_step
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, type_of
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    Closure,
    External,
    Known,
    OpaqueObject,
    Ref,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.library_objects import (
    is_acting,
    is_library_class,
    is_library_function,
    is_public,
    may_be_step,
)
from adjoint.fast.support.segments import IN_PLACE, Part, Step
from adjoint.ir import primitives
from adjoint.ir.single import Const, Value
from adjoint.runtime.foreign.may_store import is_writer

MOST_ITEMS = 64
"""Greatest number of items of an object that a program iterates over."""
_ITERATING = frozenset(
    {iter, list, tuple, set, zip, enumerate, reversed, map, filter, sum, sorted, any, all, min, max}
    | {primitives.begin, primitives.list_extend, primitives.list_to_tuple, primitives.set_update}
)
"""Functions that are evaluated on the items of an object."""
_AFTER_ANOTHER = frozenset({map, filter, primitives.list_extend, primitives.set_update})
"""Those of `_ITERATING` that take a function or a container first."""
_WRITING = frozenset({operator.setitem, operator.delitem, setattr, delattr, *IN_PLACE})


# ---- which calls are steps -----------------------------------------------------------------------


def has_objects(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> bool:
    """Return whether a call may be a step."""
    match callee:
        case OpaqueObject():
            return True
        case Known(value=f):
            if is_library_function(f):
                return True
        case Closure(function=f):
            if f is not None and is_library_function(f):
                return True
        case External(sample=x):
            if is_library_class(type(x)):
                return True
        case Bound(owner=owner):
            return has_objects(ev, Known(None), (owner,), {})
    given = (*args, *keywords.values())
    if any(map(_is_object, given)):
        return True
    return bool(ev.rehearsals) and any(True for _ in objects_in(ev, given))


def _is_object(a: Abstract) -> bool:
    return type(a) is OpaqueObject or (type(a) is External and is_library_class(type(a.sample)))


Evaluation = Callable[[Evaluator, Abstract, Sequence[Abstract], dict[str, Abstract]], Abstract]


def call_with_objects(
    ev: Evaluator,
    evaluate: Evaluation,
    callee: Abstract,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    """Evaluate a call for which `has_objects`: as a step if `evaluate` does not cover it."""
    if isinstance(callee, Known) and _is_among(callee.value, ev.outside.opaque_classes):
        return step(ev, callee, args, keywords)
    if not any(type(x) is OpaqueObject for x in (callee, *args, *keywords.values())):
        return _evaluated_or_step(ev, evaluate, callee, args, keywords)
    f = callee.value if isinstance(callee, Known) else None
    if isinstance(callee, OpaqueObject):
        return step(ev, callee, args, keywords)
    if isinstance(callee, Closure | External) and has_objects(ev, callee, (), {}):
        return step(ev, callee, args, keywords)
    if not isinstance(callee, Known) or _is_of_container(f, args):
        return evaluate(ev, callee, args, keywords)
    if f is primitives.call_method and type(args[0]) is OpaqueObject:
        return ev.call(step(ev, Known(getattr), args[:2], {}), args[2:], keywords)
    if f in (operator.is_, operator.is_not):
        return _identity(ev, evaluate, callee, args)
    if f in (operator.truth, operator.not_):
        return evaluate(ev, callee, [ev.call(Known(bool), args, {})], {})
    if f in _ITERATING and _iterated(f, args):
        opened = list(args)
        for i in _iterated(f, args):
            opened[i] = items_of(ev, args[i])  # type: ignore[arg-type]
        return ev.call(callee, opened, keywords)
    if may_be_step(f) or is_library_function(f):
        return step(ev, callee, args, keywords)
    return evaluate(ev, callee, args, keywords)


def _is_among(value: Any, classes: set[type]) -> bool:
    return isinstance(value, type) and value in classes


def _is_of_container(f: Any, args: Sequence[Abstract]) -> bool:
    """Return whether a container of the evaluator takes an object in, or looks for it."""
    is_method = type(f) in (type(list.append), type(list.__len__)) or f in _OF_CONTAINERS
    return is_method and bool(args) and isinstance(args[0], Ref | Tuple)


_OF_CONTAINERS = frozenset(
    {operator.setitem, operator.getitem, operator.contains, operator.delitem, setattr, getattr}
)


def _iterated(f: Any, args: Sequence[Abstract]) -> list[int]:
    """Return the positions of the objects that one of `_ITERATING` iterates over."""
    if f in (min, max) and len(args) > 1:
        return []
    first = 1 if f in _AFTER_ANOTHER else 0
    places = range(len(args)) if f is zip else range(first, min(first + 1, len(args)))
    return [i for i in places if type(args[i]) is OpaqueObject]


def _identity(
    ev: Evaluator, evaluate: Evaluation, callee: Known, args: Sequence[Abstract]
) -> Abstract:
    """Evaluate a test of identity of an object."""
    a, b = args
    if any(isinstance(x, Known) and _is_constant(x.value) for x in args):
        return Known(callee.value is operator.is_not)  # an object is no constant
    if a is b:
        return Known(callee.value is operator.is_)
    return evaluate(ev, callee, args, {})


def _evaluated_or_step(
    ev: Evaluator,
    evaluate: Evaluation,
    callee: Abstract,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    """Evaluate a call without opaque objects; write it as a step if that is not covered."""
    f = getattr(callee, "value", getattr(callee, "function", None))
    if not _is_called_from_outside(ev) or f in _WRITING:
        return evaluate(ev, callee, args, keywords)
    state = state_of(ev, f)
    try:
        return evaluate(ev, callee, args, keywords)
    except NotCovered as error:
        if is_demand(ev, f, error):
            raise
        restore(ev, state)
        try:
            return step(ev, callee, args, keywords)
        except NotCovered as found:
            raise (found if is_demand(ev, f, found) else error) from None


def _is_called_from_outside(ev: Evaluator) -> bool:
    """Return whether the function that calls is one of the user, or the one that is differentiated:
    not one of the many functions inside of a library that the generic tier calls."""
    if not ev.frames:
        return False
    frame = ev.frames[-1]
    if not is_library_function(frame.code, frame.namespace):
        return True
    f = ev.outside.samples.get(id(ev.outside.root("function")))
    return len(ev.frames) == 1 and (type(f) is not FunctionType or is_public(f))


def opaque_or_step(
    ev: Evaluator,
    state: State,
    f: Any,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
    error: NotCovered,
) -> Abstract:
    """Write a call of NumPy or SciPy that is not covered as an opaque operation, or, for results
    that are no numbers, as a step."""
    try:
        return opaque_call(ev, state, f, args, keywords, error)
    except NotCovered as found:
        if is_demand(ev, f, found) or not may_be_step(f) or writes(f, args, keywords):
            raise
        restore(ev, state)
        try:
            return step(ev, Known(f), args, keywords)
        except NotCovered as last:
            raise (last if is_demand(ev, f, last) else found) from None


# ---- steps ---------------------------------------------------------------------------------------


def step(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Add a step to the segment of its objects; return its result."""
    if isinstance(callee, Bound):
        args = [callee.owner, *args]
        callee = callee.function
    if isinstance(callee, Known) and not (
        may_be_step(callee.value) or is_library_function(callee.value)
    ):
        raise NotCovered("an object of a library, given to something else", ev.span)
    given = [callee, *args, *keywords.values()]
    _demand_quiet(ev, callee, args, keywords)
    held: list[tuple[int, Any]] = []
    parts = [part_of_step(ev, x, held) for x in given]
    n = len(args) + 1
    made = Step(parts[0], tuple(parts[1:n]), tuple(zip(keywords, parts[n:], strict=True)))
    ev.given_to[made] = held
    address = joined(ev, [*objects_in(ev, given)])
    segment = segment_of(ev, address)
    if segment.shown and _writes(callee, made, keywords):
        raise NotCovered("a write to an object that may show an array", ev.span)
    ev.heap[address] = replace(segment, steps=(*segment.steps, made))
    y = rehearsed(ev, address, made)
    if isinstance(callee, Known) and callee.value in _WRITING - IN_PLACE.keys():
        return Known(None)
    return _result(ev, OpaqueObject(address, made), y)


def _demand_quiet(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> None:
    """Refuse steps that act on something else than objects, or on an operand."""
    f = callee.value if isinstance(callee, Known) else getattr(callee, "function", None)
    name = getattr(f, "__name__", "")
    if f is getattr and len(args) > 1 and isinstance(args[1], Known):
        name = str(args[1].value)
    if is_acting(name) or "out" in keywords:
        raise NotCovered(f"{name!r} of an object of a library, which may act", ev.span)
    if f in _WRITING and type(args[0]) is not OpaqueObject:
        t = ev.types[args[0]] if isinstance(args[0], Value) else None
        if f not in IN_PLACE or not isinstance(t, Number):
            raise NotCovered("a write of an object of a library", ev.span)


def _writes(callee: Abstract, made: Step, keywords: dict[str, Abstract]) -> bool:
    """Return whether a step may write to an object that was made before."""
    if isinstance(callee, Known):
        f = callee.value
        is_of_numpy = str(getattr(f, "__module__", "")).startswith("numpy")
        return f in _WRITING or (is_of_numpy and type(f) is not np.ufunc and is_writer(f.__name__))
    method = made.callee
    name = getattr(method.args[1], "value", "") if _is_read(method) else ""  # type: ignore[union-attr]
    return "inplace" in keywords or is_writer(str(name))


def _is_read(part: Part) -> bool:
    return isinstance(part, Step) and part.callee == Const(getattr) and len(part.args) > 1


# ---- results -------------------------------------------------------------------------------------


def items_of(ev: Evaluator, a: OpaqueObject) -> Tuple:
    """Return the items of an object that is iterated over."""
    return _items(ev, step(ev, Known(list), [a], {}))


def _items(ev: Evaluator, a: Abstract) -> Tuple:
    length = ev.call(Known(len), [a], {})
    if not isinstance(length, Known) or length.value > MOST_ITEMS:
        raise NotCovered("an iteration over an object of a library", ev.span)
    places = map(Known, range(length.value))
    return Tuple(tuple(step(ev, Known(operator.getitem), [a, i], {}) for i in places))


_CONSTANT = (bool, int, str, bytes, type(None), type(NotImplemented), type(Ellipsis))


def _is_constant(y: Any) -> bool:
    return type(y) in _CONSTANT or isinstance(y, type | np.dtype)


def _result(ev: Evaluator, a: OpaqueObject, y: Any) -> Abstract:
    """Return the result of a step, given what it was in the rehearsal: a number, an array or a
    constant as a value of the program, a tuple item by item, anything else as it is."""
    if _is_constant(y):
        ev.operation(runtime.expected, (taken(ev, a), Const(y)), ANYTHING)
        return Known(y)
    if type(y) is tuple:
        return _items(ev, a)
    t = type_of(y)
    if t is None:
        return a
    part = taken(ev, a)
    ev.types[part] = t
    made = checked(ev, part, t, ())  # type: ignore[arg-type]
    ev.samples[made] = copy.copy(y)
    if isinstance(t, Array):
        segment = segment_of(ev, a.address)
        shown = (*segment.shown, (a.step, made))
        ev.heap[root_of(ev, a.address)] = replace(segment, shown=shown)
        ev.note_alias(part, segment.written.operands)
        ev.note_alias(made, (part,))
        ev.given.update((made, part))
    return made
