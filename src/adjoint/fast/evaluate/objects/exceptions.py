"""Exceptions that the program makes, and what they are made of."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.fields import set_field
from adjoint.fast.evaluate.plain_classes import is_plain_class
from adjoint.fast.evaluate.values import ARGS, TEXT, Abstract, Instance, Known, Ref, Tuple
from adjoint.fast.not_covered import NotCovered, Raises

_WITH_FIELDS = (
    *(OSError, StopIteration, StopAsyncIteration, SystemExit, ImportError, SyntaxError),
    *(UnicodeError, NameError, AttributeError, BaseExceptionGroup),
)
"""Builtin exceptions that keep more of their arguments than ``args``."""
PLAIN = tuple(
    kind
    for kind in vars(builtins).values()
    if isinstance(kind, type)
    and issubclass(kind, BaseException)
    and not issubclass(kind, _WITH_FIELDS)
)
"""Builtin exceptions that keep their arguments as ``args`` only."""


def new_exception(
    ev: Evaluator, cls: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Return a new exception."""
    bases = [base for base in cls.__mro__ if base.__module__ != "builtins"]
    methods = {name for base in bases for name in vars(base)}
    if not is_plain_class(cls) or not methods.isdisjoint({"__new__", "__setattr__", "__del__"}):
        raise NotCovered(f"a new {cls.__qualname__}", ev.span)
    made = ev.allocate(Instance(cls, (), ()))
    if not issubclass(cls, _WITH_FIELDS):
        set_field(ev, made, ARGS, Tuple(tuple(args)))
    if "__init__" in methods:
        found = ev.call(special_method(ev, cls, "__init__"), [made, *args], keywords)
        if not isinstance(found, Known) or found.value is not None:
            raise NotCovered(f"what {cls.__qualname__}.__init__ returns", ev.span)
    elif keywords and not issubclass(cls, _WITH_FIELDS):
        raise NotCovered("arguments that do not fit", ev.span)
    return made


def stopping(ev: Evaluator, returned: Abstract) -> Raises:
    """Return the `StopIteration` of a generator that has returned a value."""
    given = () if isinstance(returned, Known) and returned.value is None else (returned,)
    held = Instance(StopIteration, (ARGS, "value"), (Tuple(given), returned))
    reason = "next of an iterator at its end"
    return Raises(StopIteration, reason, ev.span, ev.allocate(held))


def text_of_exception(ev: Evaluator, a: Ref, cls: Any) -> Abstract:
    """Return ``str`` of an exception; of one that Python raises itself it is not known."""
    owner = next(base for base in cls.__mro__ if "__str__" in vars(base))
    if owner.__module__ != "builtins":
        return ev.call(special_method(ev, cls, "__str__"), [a], {})
    held = ev.held(a)
    if owner is not BaseException or not isinstance(held, Instance) or ARGS not in held.names:
        return TEXT
    args = held.items[held.names.index(ARGS)]
    assert isinstance(args, Tuple)
    if not args.items:
        return Known("")
    return ev.call(Known(str), [args.items[0] if len(args.items) == 1 else Tuple(args.items)], {})
