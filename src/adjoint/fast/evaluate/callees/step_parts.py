"""Abstract values as parts of steps of segments (`segments`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.plain_classes import is_named_tuple
from adjoint.fast.evaluate.types import ANYTHING, Array, Number
from adjoint.fast.evaluate.values import (
    Abstract,
    Closure,
    DictOf,
    External,
    Flag,
    Instance,
    Known,
    ListOf,
    OpaqueObject,
    Ref,
    SliceOf,
    Tuple,
)
from adjoint.fast.not_covered import NeedsOpaque, NotCovered
from adjoint.fast.support.library_objects import is_library_class, is_library_function, is_quiet
from adjoint.fast.support.pure_functions import names_of_pure
from adjoint.fast.support.segments import Made, Part
from adjoint.ir.single import Const, Value


def part_of_step(ev: Evaluator, a: Abstract, containers: list[tuple[int, Any]]) -> Part:
    """Return an abstract value as a part of a step; note the lists and dicts in it."""
    inner = partial(part_of_step, ev, containers=containers)
    match a:
        case OpaqueObject(step=made):
            return made
        case Value():
            if not isinstance(ev.types[a], Array | Number):
                raise NotCovered("a list of numbers, given to an object of a library", ev.span)
            ev.given.update(ev.aliased_by(a))
            return a
        case Flag():
            raise NotCovered("a truth value as a number", ev.span)
        case Known(value=value):
            if callable(value) and not is_quiet(value):
                raise NotCovered("a function, given to an object of a library", ev.span)
            return Const(value)
        case SliceOf(start=start, stop=stop, step=by):
            return Made(slice, tuple(map(inner, (start, stop, by))))
        case Closure():
            return _function(ev, a)
        case External(source=source, sample=sample):
            if is_library_class(type(sample)):
                return _from_outside(ev, a)
            if type(sample) is dict:
                items = (ev.outside.read(source, "item", k, x) for k, x in sample.items())
                return Made(dict, tuple(map(inner, items)), tuple(sample))
    held = ev.held(a)
    if isinstance(held, Instance) and is_library_class(held.cls):
        raise NeedsOpaque(held.cls, ev.span)
    if isinstance(held, DictOf) and held.kind is dict and all(map(_is_plain, held.keys)):
        containers.append((a.address, held))  # type: ignore[union-attr]
        return Made(dict, tuple(map(inner, held.items)), held.keys)
    items_of_a = ev.sequence(a)
    if items_of_a is None or (isinstance(a, Tuple) and not _is_tuple(a.kind)):
        raise NotCovered("a structure, given to an object of a library", ev.span)
    if isinstance(a, Ref) and isinstance(held, ListOf):
        containers.append((a.address, held))
    kind = ev.class_of(a)
    assert kind is not None
    return Made(list if kind is list else tuple, tuple(map(inner, items_of_a)))


def _is_tuple(kind: type) -> bool:
    return kind is tuple and not is_named_tuple(kind)


def _is_plain(key: Any) -> bool:
    return isinstance(key, str | int | float | type(None))


def _function(ev: Evaluator, closure: Closure) -> Const:
    """Return a function as a part: one of a library, or one of the user without effects."""
    f: Any = closure.function
    if f is None:
        if closure.cells or closure.defaults or closure.named_defaults:
            raise NotCovered("a function with variables, given to a library", ev.span)
        f = FunctionType(closure.code, closure.namespace)
    if closure.cells and (closure.source is None or ev.outside.is_wanted(closure.source)):
        raise NotCovered("a function with variables, given to a library", ev.span)
    if closure.source is not None:
        ev.outside.guard(closure.source, "is", f)
    if not is_library_function(f):
        names = names_of_pure(f)
        if names is None:
            raise NotCovered("a function, given to an object of a library", ev.span)
        for namespace, name in names:
            ev.outside.global_(namespace, name)  # guards what makes the function pure
    return Const(f)


def _from_outside(ev: Evaluator, a: External) -> Value:
    """Return an object from outside as a parameter of the program."""
    if ev.outside.is_wanted(a.source):
        raise NotCovered("an object of a library among the arguments", ev.span)
    value = next((leaf.value for leaf in ev.outside.leaves if leaf.source is a.source), None)
    if value is None:
        value = Value("outside")
        ev.outside.leaves.append(Leaf(a.source, value, ANYTHING, a.sample))
        ev.types[value] = ANYTHING
    return value


def objects_in(ev: Evaluator, given: Sequence[Abstract]) -> Iterator[OpaqueObject]:
    """Return the opaque objects among values, also inside containers."""
    for a in given:
        if isinstance(a, OpaqueObject):
            yield a
        elif isinstance(held := ev.held(a), DictOf):
            yield from objects_in(ev, held.items)
        elif not isinstance(a, External | Known | Value) and (items := ev.sequence(a)):
            yield from objects_in(ev, items)
        elif isinstance(a, SliceOf):
            yield from objects_in(ev, (a.start, a.stop, a.step))
