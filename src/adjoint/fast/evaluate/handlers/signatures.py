"""Handlers of `inspect.signature`, and of what its result is used for."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.objects.containers import closed
from adjoint.fast.evaluate.values import Abstract, Closure, DictOf, Instance, Known, Tuple
from adjoint.fast.not_covered import NotCovered, Raises


def _function(ev: Evaluator, f: Abstract) -> FunctionType:
    """Return a Python function that is known; guard that its signature stays."""
    known = f.function if isinstance(f, Closure) else getattr(f, "value", None)
    if type(known) is not FunctionType:
        raise NotCovered("the signature of what is not known", ev.span)
    if isinstance(f, Closure) and f.source is not None:
        ev.outside.guard(f.source, "is", known)
        ev.outside.guard(f.source, "fact", (_taken_by, _taken_by(known)))
    return known


def _taken_by(f: Any) -> tuple[Any, ...]:
    """Return what the signature of a function follows from."""
    inner: Any = inspect.unwrap(f)
    named = tuple((inner.__kwdefaults__ or {}).items())
    return inner.__code__, inner.__defaults__, named, vars(inner).get("__signature__")


@handler(inspect.signature)
def _(ev: Evaluator, f: Abstract) -> Abstract:
    return Known(inspect.signature(_function(ev, f)))


@handler(inspect.getfullargspec)
def _(ev: Evaluator, f: Abstract) -> Abstract:
    spec = inspect.getfullargspec(_function(ev, f))
    return Tuple(tuple(_constant(ev, x) for x in spec), inspect.FullArgSpec)


def _constant(ev: Evaluator, x: Any) -> Abstract:
    """Return a list of names, or a tuple or a dict of defaults, which are guarded."""
    if isinstance(x, dict):
        return ev.allocate(DictOf(tuple(x), tuple(map(Known, x.values()))))
    if type(x) is tuple:
        return Tuple(tuple(map(Known, x)))
    return closed(ev, x)


@handler(inspect.Signature.bind)
def _(ev: Evaluator, signature: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    """Bind the arguments by the signature itself, which moves them about only."""
    if not isinstance(signature, Known):
        raise NotCovered("a signature that may have cotangents", ev.span)
    try:
        bound = signature.value.bind(*args, **keywords)
    except TypeError:
        raise Raises(TypeError, "arguments that do not fit", ev.span) from None
    given = bound.arguments
    items = [_argument(ev, x) for x in given.values()]
    fields = ev.allocate(DictOf(tuple(given), tuple(items))), signature
    return ev.allocate(Instance(inspect.BoundArguments, ("arguments", "_signature"), fields))


def _argument(ev: Evaluator, x: Any) -> Abstract:
    """Return the value of a parameter, such as that of ``*args``."""
    if type(x) is tuple:
        return Tuple(x)
    return ev.allocate(DictOf(tuple(x), tuple(x.values()))) if type(x) is dict else x
