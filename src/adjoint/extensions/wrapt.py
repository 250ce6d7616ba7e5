"""Rules of `wrapt`: decorators and proxies that are implemented in C.

A decorator passes the wrapped function, its bound object and the arguments to a wrapper. A proxy
reports the class of its target.
"""

from __future__ import annotations

import sys
from collections import deque
from types import MethodType
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.diagnostics.refusals import refused
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import primitive, structural
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.attribute_reads import attribute
from adjoint.runtime.python.named_parts import read_field

_BOUND_LATER = ("function", "instancemethod", "callable")
_KNOWS_ITS_OBJECT = (*_BOUND_LATER, "classmethod")
"""Binding kinds of `wrapt`: ways in which a wrapped object may be a method."""


def _is_enabled(f: Any) -> bool:
    enabled = f._self_enabled
    return enabled is None or bool(enabled() if callable(enabled) else enabled)


def _call_free(record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a decorated function, or an object that was bound before it was decorated."""
    wrapped, instance = f.__wrapped__, f._self_instance
    if instance is None and f._self_binding in _KNOWS_ITS_OBJECT:
        instance = getattr(wrapped, "__self__", None)
    return _call_wrapper(record, slot, f, wrapped, instance, 0, args, kwargs)


def _call_bound(record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a decorated method."""
    wrapped, instance = f.__wrapped__, f._self_instance
    if f._self_binding not in _BOUND_LATER:
        instance = getattr(wrapped, "__self__", None)
    elif instance is None and args and isinstance(args[0], getattr(f, "_self_owner", object)):
        instance = args[0]  # called on the class
        partial = sys.modules["wrapt"].PartialCallableObjectProxy(wrapped, instance)
        return _call_wrapper(record, slot, f, partial, instance, 1, args, kwargs)
    return _call_wrapper(record, slot, f, wrapped, instance, 0, args, kwargs)


def _call_wrapper(
    record: list[Any],
    slot: int,
    f: Any,
    wrapped: Any,
    instance: Any,
    n: int,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call the wrapper; the first `n` arguments are the bound object."""
    if not _is_enabled(f):
        return _call_wrapped(record, slot, f, *args, **kwargs)
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]
    rest = args[n:]

    def wrapper_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        own = None if bars is None else bars[2]
        if n:
            own = accumulate(own, memory.take_items(wrapped._self_args, 1)[0])
        elif type(wrapped) is MethodType:
            own = accumulate(own, memory.take_entry(wrapped, "__self__"))
        given = memory.take_items(rest, len(rest))
        named = [memory.take_entry(kwargs, name) for name in kwargs]
        if n:
            return (None, None, own, *given, *named)
        if own is not None:
            memory.add_entry(f, "__self__", own)
        return (None, None, *given, *named)

    record[slot] = wrapper_back
    return call_keywords(inner, 1, f._self_wrapper, (wrapped, instance, rest, kwargs), {})


def _call_wrapped(record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call the target of a proxy."""
    arrange: Any = lambda bars: (None, *bars)
    return linked(record, slot, arrange, call_keywords, f.__wrapped__, args, kwargs)


def _call_partial(record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a proxy that acts as ``functools.partial``."""
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]
    held, by_name = f._self_args, f._self_kwargs
    named = {**by_name, **kwargs}

    def partial_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        if bars is None:
            return (None,) * (len(args) + len(kwargs) + 2)
        _, *given = bars
        for i in range(len(held)):
            memory.add_item(held, i, given[i])
        of_names = dict(zip(named, given[len(held) + len(args) :], strict=True))
        for name in by_name:
            if name not in kwargs:
                memory.add_entry(by_name, name, of_names[name])
        arguments = given[len(held) : len(held) + len(args)]
        return (None, None, *arguments, *map(of_names.get, kwargs))

    record[slot] = partial_back
    return call_keywords(inner, 1, f.__wrapped__, (*held, *args), named)


def _partial(memory: Memory, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    made = sys.modules["wrapt"].PartialCallableObjectProxy(f, *args, **kwargs)
    held, by_name = made._self_args, made._self_kwargs

    def made_back(_: Any) -> tuple[Any, ...]:
        named = [memory.take_entry(by_name, name) for name in kwargs]
        return (None, None, *memory.take_items(held, len(held)), *named)

    return made, made_back


def _read(record: list[Any], slot: int, proxy: Any, name: str) -> Any:
    """Read an attribute through a proxy."""
    own = getattr(proxy, "__self_dict__", {})
    if name in own:
        return read_field(record, slot, own, name)
    return linked(record, slot, lambda _: (None,) * 3, attribute, proxy.__wrapped__, name)


def _around(make: Any) -> Any:
    """Return a constructor of proxies of functions, which refuses proxies of data."""

    def around(memory: Memory, /, *args: Any, **kwargs: Any) -> Any:
        wrapped = args[0] if args else kwargs.get("wrapped")
        if by_value(wrapped) or isinstance(wrapped, _CONTAINERS):
            raise refused(
                f"a '{make.__name__}' of a '{type(wrapped).__name__}' is made inside"
                " differentiated code, which would take it for one",
                "use the value itself; proxies of functions and of objects are followed",
            )
        return make(*args, **kwargs), None

    return around


_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


@registering("wrapt")
def _(wrapt: Any) -> None:
    primitive((wrapt.FunctionWrapper, "__call__"))(_call_free)
    primitive((wrapt.BoundFunctionWrapper, "__call__"))(_call_bound)
    primitive((wrapt.CallableObjectProxy, "__call__"))(_call_wrapped)
    primitive((wrapt.ObjectProxy, "__getattr__"))(_read)
    for kind in (wrapt.ObjectProxy, wrapt.CallableObjectProxy, wrapt.FunctionWrapper):
        structural(kind)(_around(kind))
    if hasattr(wrapt.PartialCallableObjectProxy, "_self_args"):
        primitive((wrapt.PartialCallableObjectProxy, "__call__"))(_call_partial)
        structural(wrapt.PartialCallableObjectProxy)(_partial)
