"""Calls of functions with functions of the user, which run as they are: one operation of a program.

A search calls the user's function many times, and the derivative of what it finds needs the
function at one point only. So a program makes the function anew, with the present values of what
it has captured, and gives it to the search. The function must have no effects, which an evaluation
of it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import attribute
from adjoint.fast.evaluate.callees.library import checked
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import in_programs
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.objects.function_attributes import fields_of_function
from adjoint.fast.evaluate.plain_classes import is_plain_outside
from adjoint.fast.evaluate.result_types.lengths import fresh_length
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, holds_arrays, number
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    Abstract,
    Bound,
    Closure,
    DictOf,
    External,
    Instance,
    Known,
    ListOf,
    Partial,
    Ref,
    RowOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.final_contents import stored
from adjoint.fast.nested.inner_derivatives import demand_own_writes
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import is_call_of, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import plain_calls as support
from adjoint.fast.support.plain_calls import Recipe, demand_float, demanded, plain_call
from adjoint.ir.single import Block, Const, Operand, Unpack, Value
from adjoint.primal.value_kinds import slots_of

SCALAR = object()
"""The type of a number that is a float or a float64."""
VECTOR = object()
"""The type of vectors of floats: all of one call have one length."""
OWN_VECTOR = object()
"""The type of a vector of floats of a length of its own."""
OBJECT = object()
"""The type of an object that only functions of this library read."""


@in_programs
def plainly(
    ev: Evaluator, find: Abstract, given: Abstract, like: Abstract, f: Abstract, *point: Abstract
) -> Abstract:
    """Stand for ``find(*given)``, without a derivative.

    The result has the type of `like`: of a number or an array, `SCALAR` or another name of a type
    below, ``None`` for the type of ``f(*point)``; or of a tuple of these. `f` calls the functions
    among `given`; `point` is where it may be called.
    """
    if stored(ev) or ev.global_cells:  # a function that reads it by a global name would not see it
        raise NotCovered("a search after a write to a container from outside", ev.span)
    at_point = _demand_no_effects(ev, f, point)
    objects, making = ev.sequence(given), _Making(ev)
    assert objects is not None
    recipe = making.recipe([making.place(x) for x in objects])
    callee: Any = find
    function = callee.function if isinstance(find, Closure) else callee.value
    operands = (Const(function), Const(recipe), *making.leaves)
    expected = ev.sequence(like) if isinstance(like, Tuple | Known) else None
    made, length = ev.operation(plain_call, operands, ANYTHING, name="found"), fresh_length()

    def result(x: Value, one: Abstract) -> Value:
        if isinstance(one, Known) and (one.value is VECTOR or one.value is OWN_VECTOR):
            own = length if one.value is VECTOR else fresh_length()
            ev.types[x] = Array(np.dtype(float), (own,))
            ev.fresh.add(x)
            return x
        if isinstance(one, Known) and one.value is OBJECT:
            return x
        if isinstance(one, Known) and one.value is SCALAR:
            ev.types[x] = Number(frozenset({float, np.float64}))
            return ev.operation(demand_float, (x,), ev.types[x])
        is_own = isinstance(one, Known) and one.value is None
        return _checked(ev, x, at_point if is_own else one, making.leaves)

    if expected is None:
        return result(made, like)
    parts = tuple(ev.value(ANYTHING) for _ in expected)
    ev.write(Unpack(parts, made, None, ev.span))
    return Tuple(tuple(map(result, parts, expected)))


def _checked(ev: Evaluator, made: Value, like: Abstract, given: Sequence[Operand]) -> Value:
    """Return a result that has the type of `like`, once it is checked."""
    if not isinstance(like, Value | Known):
        raise NotCovered("a search with a function that returns a structure", ev.span)
    known = ev.operand(like)
    ev.types[made] = t = _type(ev, known)
    y = checked(ev, made, t, tuple(given))
    return ev.operation(runtime.apart, (y,), t) if isinstance(t, Array) else y


def _type(ev: Evaluator, x: Operand) -> Any:
    return number(type(x.value)) if isinstance(x, Const) else ev.type_at(x)


@in_programs
def demand(ev: Evaluator, condition: Abstract) -> Abstract:
    """Stand for a check without which the generic tier takes the call."""
    if isinstance(condition, Known) and not condition.value:
        raise NotCovered("a search that has to be followed", ev.span)
    if not isinstance(condition, Known):
        ev.operation(demanded, (ev.operand(condition),), number(bool))
    return Known(None)


def _demand_no_effects(ev: Evaluator, f: Abstract, point: Sequence[Abstract]) -> Abstract:
    """Refuse a function that changes anything but what it has made; return its result. What it does
    before it raises, or while it handles an exception, is not evaluated, so it must do neither."""
    tries = ev.tries
    with ev.trial():
        held = dict(ev.heap)
        given = [_variable(ev, x) for x in point]
        y = ev.call(f, given, {})
        is_changed = any(ev.heap[address] is not before for address, before in held.items())
        block = Block(tuple(given), tuple(ev.block), ())
    if is_changed or ev.tries > tries:
        raise NotCovered("a search with a function that stores something, or that tries", ev.span)
    if any(is_call_of(op, runtime.leave) for op in walk(block)):
        raise NotCovered("a search with a function that may raise", ev.span)
    demand_own_writes(ev, block, given)
    return y


def _variable(ev: Evaluator, x: Abstract) -> Value:
    """Return a value of the type of `x`, of which nothing is known."""
    operand = ev.operand(x)
    return ev.operation(same, (operand,), _type(ev, operand), name="x")


def written_or(ev: Evaluator, f: Any, g: Any, args: Sequence[Abstract]) -> Abstract:
    """Write `f`, a function of this library, or `g` where that is not covered."""
    try:
        return ev.inline(ev.outside.own_closure(f), args, {})
    except NotCovered as error:
        if type(error) is not NotCovered:
            raise
        return ev.inline(ev.outside.own_closure(g), args, {})


# ---- objects -------------------------------------------------------------------------------------


class _Making:
    """Write the recipe of objects; `leaves` are the values of the program that it takes."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.leaves: list[Operand] = []
        self._parts: list[tuple[str, Any]] = []
        self._known: dict[Any, int | None] = {}

    def place(self, a: Abstract) -> int:
        """Return the place of the object that `a` stands for."""
        key: Any = a
        if isinstance(a, Ref):
            key = a.address
        elif isinstance(a, External):
            key = a.source
        elif isinstance(a, Known):
            key = "known", id(a.value)
        if key in self._known:
            found = self._known[key]
            if found is None:
                raise self._refused("an object that holds itself")
            return found
        self._known[key] = None
        self._known[key] = made = self._made(a)
        return made

    def recipe(self, given: Sequence[int]) -> Recipe:
        order = {"leaf": 0, "constant": 1, "step": 2}
        ranks = sorted(range(len(self._parts)), key=lambda i: order[self._parts[i][0]])
        place = {old: new for new, old in enumerate(ranks)}
        constants = tuple(x for kind, x in self._parts if kind == "constant")
        steps = tuple(
            (x[0], tuple(place[i] for i in x[1])) for kind, x in self._parts if kind == "step"
        )
        return Recipe(constants, steps, tuple(place[i] for i in given))

    def _add(self, kind: str, x: Any) -> int:
        self._parts.append((kind, x))
        return len(self._parts) - 1

    def _step(self, make: Callable[..., Any], *parts: Abstract) -> int:
        return self._add("step", (make, [self.place(x) for x in parts]))

    def _refused(self, what: str) -> NotCovered:
        return NotCovered(f"a search with a function that holds {what}", self.ev.span)

    def _made(self, a: Abstract) -> int:
        if isinstance(a, Value):
            self.leaves.append(a)
            return self._add("leaf", a)
        match a:
            case Known() if a is not MISSING and a is not LOST:
                if id(a.value) in self.ev.outside.made:
                    raise self._refused("a class that is made in the program")
                return self._add("constant", a.value)
            case Tuple():
                return self._step(support.a_tuple(a.kind), *a.items)
            case Closure():
                return self._function(a)
            case Bound():
                return self._step(support.a_method, a.function, a.owner)
            case Partial():
                names = tuple(name for name, _ in a.keywords)
                make = support.a_partial(len(a.args), names)
                return self._step(make, a.function, *a.args, *(x for _, x in a.keywords))
            case Ref():
                return self._held(a)
            case External():
                return self._outside(a)
        raise self._refused("more than numbers, arrays, containers and objects")

    def _function(self, a: Closure) -> int:
        names = tuple(name for name, _ in a.named_defaults)
        make = support.a_function(a.code, a.namespace, len(a.defaults), names)
        cells = map(self.ev.load_cell, a.cells)
        made = self._step(make, *a.defaults, *(x for _, x in a.named_defaults), *cells)
        given = fields_of_function(self.ev, a)
        if not given.keys:
            return made
        items = [self.place(x) for x in given.items]
        return self._add("step", (support.with_attributes(given.keys), [made, *items]))

    def _held(self, a: Ref) -> int:
        match self.ev.heap[a.address]:
            case ListOf(items=items):
                return self._step(support.a_list, *items)
            case RowOf(value=value, kind=kind) if kind is list and not holds_arrays(
                self.ev.types[value]
            ):
                return self.place(value)
            case DictOf(keys=keys, items=items, kind=kind) if kind is dict:
                return self._dict(keys, items)
            case Instance(cls=cls, names=names, items=items):
                return self._object(cls, names, items)
        raise self._refused("a container of another kind")

    def _outside(self, a: External) -> int:
        ev, cls = self.ev, type(a.sample)
        items = ev.sequence(a)
        if items is not None:
            make = support.a_list if cls is list else support.a_tuple(cls)
            return self._step(make, *items)
        if (entries := ev.entries(a)) is not None:
            return self._dict([*entries], [*entries.values()])
        if not is_plain_outside(cls):
            raise self._refused(f"a {cls.__qualname__}")
        fields = attribute(ev, a, "__dict__")
        names = ev.keys(fields) or ()
        return self._object(cls, names, [item(ev, fields, Known(name)) for name in names])

    def _dict(self, keys: Sequence[Any], items: Sequence[Abstract]) -> int:
        if not all(type(key) in (str, int, bool, type(None)) for key in keys):
            raise self._refused("a dict with keys of another kind")
        return self._step(support.a_dict(tuple(keys)), *items)

    def _object(self, cls: type, names: Sequence[str], items: Sequence[Abstract]) -> int:
        is_made = id(cls) in self.ev.outside.made  # its methods hold stand-ins
        if is_made or not is_plain_outside(cls) or slots_of(cls) or not cls.__dictoffset__:
            raise self._refused(f"a {cls.__qualname__}")
        return self._step(support.an_object(cls, tuple(names)), *items)
