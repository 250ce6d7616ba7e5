"""Handlers of ``with``, and of the context managers of Python and NumPy.

A manager of a user class is entered and left by calls of its methods. Arithmetic within
`numpy.errstate` ignores what that ignores. Else it and `warnings.catch_warnings` do nothing in a
program, because it leaves the call to the generic tier at the first warning, whatever is asked for.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.callees.library import catches_warnings
from adjoint.fast.evaluate.evaluator import Evaluator, ignoring
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.iterators.suspended_generators import Suspended, run_to_end, started
from adjoint.fast.evaluate.plain_classes import is_plain_object
from adjoint.fast.evaluate.values import (
    ENTERED,
    Abstract,
    Generating,
    Instance,
    IteratorOf,
    Known,
    Ref,
)
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.ir import primitives
from adjoint.primal.special_methods import class_attribute

_MANAGER: Any = contextlib._GeneratorContextManager
"""The class of what a function decorated by `contextlib.contextmanager` returns."""
_SILENT = (np.errstate, warnings.catch_warnings)
_LEFT = Known(False)


@handler(primitives.enter_context)
def _(ev: Evaluator, manager: Abstract) -> Abstract:
    held, cls = ev.held(manager), ev.class_of(manager)
    if cls in _SILENT and isinstance(manager, Ref):
        assert isinstance(held, Instance)
        before = _ignored(ev)
        if cls is np.errstate:
            if "entered" in held.names:
                raise NotCovered("np.errstate that is entered again", ev.span)
            asked = dict(zip(held.names, held.items, strict=True))
            changed = {name: x.value for name, x in asked.items() if isinstance(x, Known)}
            _ignore(ev, tuple(x for x in _KINDS if changed.get(x, x in before)))
        ev.heap[manager.address] = Instance(cls, ("entered", "before"), (ENTERED, Known(before)))
        return Known(None)
    if cls is _MANAGER and isinstance(held, Instance) and isinstance(manager, Ref):
        return _enter_generator(ev, manager, held)
    if cls is None or not is_plain_object(cls):
        name = "several classes" if cls is None else cls.__qualname__
        raise NotCovered(f"a context manager of {name}", ev.span)
    if any(class_attribute(cls, name) is None for name in ("__enter__", "__exit__")):
        ev.outside.rely_on(cls)
        raise Raises(TypeError, f"{cls.__qualname__} is no context manager", ev.span)
    return ev.call(special_method(ev, cls, "__enter__"), [manager], {})


@handler(primitives.exit_context)
def _(ev: Evaluator, manager: Abstract, *details: Abstract) -> Abstract:
    held, cls = ev.held(manager), ev.class_of(manager)
    if cls in _SILENT and isinstance(manager, Ref):
        assert isinstance(held, Instance)
        ev.tries -= 2  # of what ``with`` stands for, without an effect if the body raises
        if cls is np.errstate and isinstance(before := held.items[-1], Known):
            _ignore(ev, before.value)
        ev.heap[manager.address] = Instance(cls, ("entered",), (_LEFT,))
        return Known(None)
    if cls is _MANAGER and isinstance(held, Instance):
        return _leave_generator(ev, held, details)
    assert cls is not None
    return ev.call(special_method(ev, cls, "__exit__"), [manager, *details], {})


# ---- contextlib ----------------------------------------------------------------------------------


@handler(_MANAGER)
def _(ev: Evaluator, f: Abstract, args: Abstract, keywords: Abstract) -> Abstract:
    positional, named = ev.sequence(args), ev.entries(keywords)
    if positional is None or named is None:
        raise NotCovered("a context manager of unknown arguments", ev.span)
    made = ev.call(f, positional, named)
    return ev.allocate(Instance(_MANAGER, ("gen",), (made,)))


def _enter_generator(ev: Evaluator, manager: Ref, held: Instance) -> Abstract:
    generator = held.items[0]
    iterator = ev.held(generator)
    source = iterator.source if isinstance(iterator, IteratorOf) else None
    if held.names != ("gen",) or not isinstance(source, Generating):
        raise NotCovered("a context manager that is entered twice", ev.span)
    assert isinstance(generator, Ref)
    ev.heap[generator.address] = IteratorOf(None)
    value, waiting = started(ev, source, is_manager=True)
    if value is None:
        raise NotCovered("a context manager that does not yield", ev.span)
    ev.heap[manager.address] = Instance(_MANAGER, ("waiting",), (Known(waiting),))
    return value


def _leave_generator(ev: Evaluator, held: Instance, details: tuple[Abstract, ...]) -> Abstract:
    raised, waiting = details[0], held.items[0]
    if not isinstance(raised, Known) or raised.value is not None:
        raise NotCovered("an exception in a context manager's generator", ev.span)
    assert isinstance(waiting, Known) and isinstance(waiting.value, Suspended)
    run_to_end(ev, waiting.value)
    return Known(False)


# ---- warnings ------------------------------------------------------------------------------------


@handler(np.errstate)
def _(ev: Evaluator, **options: Abstract) -> Abstract:
    """Programs find every warning but underflow, which NumPy ignores unless it is asked not to."""
    ignored: dict[str, bool] = {}
    for name, option in sorted(options.items()):  # `all` first
        asked = option.value if isinstance(option, Known) else "unknown"
        if name == "call" or (name in ("under", "all") and asked not in (None, "ignore")):
            raise NotCovered("np.errstate that asks for underflow or for a function", ev.span)
        if asked is not None and name != "under":
            kinds = _KINDS if name == "all" else [name]
            ignored.update(dict.fromkeys(kinds, asked == "ignore"))
    return ev.allocate(Instance(np.errstate, (*ignored,), (*map(Known, ignored.values()),)))


_KINDS = ("divide", "over", "invalid")
"""The errors that leave a program unless they are ignored."""


def _ignored(ev: Evaluator) -> tuple[str, ...]:
    """Return the errors that are ignored at present."""
    settings = ev.held(ev.error_settings)
    assert isinstance(settings, Instance)
    (now,) = settings.items
    if not isinstance(now, Known):
        raise NotCovered("np.errstate in one of two branches", ev.span)
    return now.value  # type: ignore[no-any-return]


def _ignore(ev: Evaluator, kinds: tuple[str, ...]) -> None:
    ev.heap[ev.error_settings.address] = ignoring(kinds)


@handler(warnings.catch_warnings)
def _(ev: Evaluator, *, record: Abstract = _LEFT) -> Abstract:
    if not isinstance(record, Known) or record.value is not False:
        raise NotCovered("warnings that are recorded", ev.span)
    return ev.allocate(Instance(warnings.catch_warnings, (), ()))


@handler(warnings.simplefilter, warnings.filterwarnings)
def _(ev: Evaluator, action: Abstract, *options: Abstract, **named: Abstract) -> Abstract:
    """Do nothing within `warnings.catch_warnings`, which undoes it: a program is left before it
    issues a warning, and casts no complex numbers to real ones."""
    if not catches_warnings(ev):
        raise NotCovered("a filter of warnings that stays", ev.span)
    return Known(None)


@handler(warnings.warn)
def _(ev: Evaluator, *details: Abstract, **named: Abstract) -> Abstract:
    raise Raises(None, "a warning", ev.span)
