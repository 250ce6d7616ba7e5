"""Handlers of the parts of ``try`` statements; exceptions that are certain at specialisation.

A program runs a ``try`` as if nothing were raised: an exception that occurs while it runs sends the
call to the generic tier. An exception that the evaluator itself finds, as a missing attribute or
key, takes the handler at specialisation; so does a ``raise`` in a branch that depends on numbers,
in one side of the branch (`call_frames.Choice`).
"""

from __future__ import annotations

from typing import Any

from adjoint.fast.evaluate.call_frames import Attempt
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import MISSING, Abstract, Instance, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment import primitives as single_primitives
from adjoint.ir import primitives


@handler(single_primitives.attempt)
def _(ev: Evaluator) -> Abstract:
    return Known(Attempt(ev.frames[-1]))


def _state(trying: Abstract) -> Attempt:
    assert isinstance(trying, Known) and isinstance(trying.value, Attempt)
    return trying.value


@handler(single_primitives.completed)
def _(ev: Evaluator, trying: Abstract) -> Abstract:
    _state(trying).is_over = True
    return Known(None)


@handler(single_primitives.wrote)
def _(ev: Evaluator, trying: Abstract, name: Abstract, value: Abstract = MISSING) -> Abstract:
    assert isinstance(name, Known)
    _state(trying).left[name.value] = value
    return Known(None)


@handler(single_primitives.latest)
def _(ev: Evaluator, trying: Abstract, name: Abstract, value: Abstract = MISSING) -> Abstract:
    assert isinstance(name, Known)
    return _state(trying).left.get(name.value, value)


@handler(single_primitives.caught_exception)
def _(ev: Evaluator) -> Abstract:
    """Return the raised exception; one that Python raises itself has a known class only."""
    error = ev.caught[-1]
    assert error.kind is not None
    raised: Abstract | None = error.raised
    return ev.allocate(Instance(error.kind, (), ())) if raised is None else raised


@handler(primitives.exception_match)
def _(ev: Evaluator, caught: Abstract, kinds: Abstract) -> Abstract:
    cls: Any = ev.class_of(caught)
    items = [kinds] if isinstance(kinds, Known) and isinstance(kinds.value, type) else None
    members = ev.sequence(kinds) if items is None else items
    if members is None or not all(isinstance(x, Known) for x in members):
        raise NotCovered("an exception class that is not known", ev.span)
    found = [x.value for x in members if isinstance(x, Known)]
    if not all(isinstance(x, type) and issubclass(x, BaseException) for x in found):
        raise NotCovered("catching what is no exception class", ev.span)
    return Known(any(x in cls.__mro__ for x in found))
