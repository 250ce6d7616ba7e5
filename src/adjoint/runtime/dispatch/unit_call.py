"""Calls of units: bind the arguments, run the forward function, put its pullback in the slot."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint.runtime.cache.units import Unit
from adjoint.runtime.dispatch.generators import Generator, is_restarting
from adjoint.runtime.memory.memory import Memory

MISSING: Any = object()
"""The result of `specialised_call` if there is no specialised program for the call."""


OFTEN = 32
"""The number of calls inside the generic tier after which a function is specialised."""

specialised_call: list[Callable[..., Any]] = []
"""Hook of one entry: runs a call by a specialised program (`adjoint.fast.programs.inner_calls`)."""


Place = tuple[int, Any]
"""The place of an argument: (parameter, ``None``), or (parameter, index or key) for ``*args`` and
``**kwargs``."""


def bind(
    unit: Any, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], list[Place], list[Default]] | None:
    """Bind a call's arguments to the parameters of `f`.

    Returns
    -------
    tuple or None
        The values in the order of the parameters; the place of each argument, positional ones
        first; the defaults that were used. ``None`` if the arguments do not fit.
    """
    parameters = unit.function.parameters
    values: list[Any] = [_ABSENT] * len(parameters)
    places: list[Place] = []
    rest: dict[str, Any] | None = None
    positional = [i for i, parameter in enumerate(parameters) if parameter.kind <= 1]
    extra = next((i for i, parameter in enumerate(parameters) if parameter.kind == 2), None)
    keywords = next((i for i, parameter in enumerate(parameters) if parameter.kind == 4), None)
    for i, arg in enumerate(args):
        if i < len(positional):
            values[positional[i]] = arg
            places.append((positional[i], None))
        elif extra is not None:
            places.append((extra, i - len(positional)))
        else:
            return None
    if extra is not None:
        values[extra] = tuple(args[len(positional) :])
    if keywords is not None:
        rest = values[keywords] = {}
    by_name = {
        parameter.name: i for i, parameter in enumerate(parameters) if parameter.kind in (1, 3)
    }
    for key, value in kwargs.items():
        index = by_name.get(key)
        if index is not None:
            if values[index] is not _ABSENT:
                return None
            values[index] = value
            places.append((index, None))
        elif rest is not None and keywords is not None:
            rest[key] = value
            places.append((keywords, key))
        else:
            return None
    taken = _defaults(f, parameters, positional, values)
    return None if taken is None else (values, places, taken)


_ABSENT: Any = object()


Default = tuple[int, Any]
"""A default that was used: the parameter, and the index or the name of the default."""


def _defaults(
    f: FunctionType, parameters: tuple[Any, ...], positional: list[int], values: list[Any]
) -> list[Default] | None:
    """Fill in defaults; return those used, or ``None`` if an argument is missing."""
    defaults = f.__defaults__ or ()
    taken: list[Default] = []
    for back, i in enumerate(reversed(positional), 1):
        if values[i] is _ABSENT and back <= len(defaults):
            values[i] = defaults[-back]
            taken.append((i, len(defaults) - back))
    named = f.__kwdefaults__ or {}
    for i, parameter in enumerate(parameters):
        if values[i] is _ABSENT:
            if parameter.kind != 3 or parameter.name not in named:
                return None
            values[i] = named[parameter.name]
            taken.append((i, parameter.name))
    return taken


def call_unit(
    memory: Memory,
    record: list[Any],
    slot: int,
    unit: Unit,
    f: FunctionType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run the forward function of a unit; link its record into the caller's before it starts."""
    if memory.level is not None:
        return memory.level.call_unit(unit, f, args, kwargs)
    often = memory.specialise_after
    if often is not None and (unit.calls >= 0 or memory.calls is not None):
        if 0 <= unit.calls < often and memory.calls is None:
            unit.calls += 1
        else:
            y = specialised_call[0](record, slot, unit, f, args, kwargs)
            if y is not MISSING:
                return y
    inner = unit.blank.copy()
    inner[0] = memory
    if unit.function.is_generator:
        return _call_generator(memory, record, slot, unit, f, inner, args, kwargs)
    backward = unit.reverse
    if len(args) == unit.arity and not kwargs:

        def function_back(y_bar: Any) -> tuple[Any, ...]:
            return backward(inner, y_bar)

        record[slot] = function_back
        return unit.forward(inner, f.__closure__, *args)
    values, arrange = _bound(memory, unit, f, args, kwargs)

    def bound_back(y_bar: Any) -> tuple[Any, ...]:
        return arrange(backward(inner, y_bar))

    record[slot] = bound_back
    return unit.forward(inner, f.__closure__, *values)


def _call_generator(
    memory: Memory,
    record: list[Any],
    slot: int,
    unit: Unit,
    f: FunctionType,
    inner: list[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Generator:
    values, arrange = _bound(memory, unit, f, args, kwargs)
    segments = unit.forward(inner, f.__closure__, *values)
    generator = Generator(memory, segments, inner, unit.reverse, f)
    if is_restarting(f):
        generator.restart = lambda record, slot: call_unit(memory, record, slot, unit, f, args, {})

    parameters_back = generator.segments.parameters_back

    def generator_back(_: Any) -> tuple[Any, ...]:
        return arrange(parameters_back())

    generator_back.made = weakref.ref(generator)  # type: ignore[attr-defined]
    record[slot] = generator_back
    return generator


def _bound(
    memory: Memory, unit: Unit, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], Callable[[tuple[Any, ...]], tuple[Any, ...]]]:
    """Return the parameters' values, and a function from their cotangents to the arguments'."""
    bound = bind(unit, f, args, kwargs)
    if bound is None:
        f(*args, **kwargs)  # Python's own message
        raise TypeError(f"the arguments do not fit {f.__qualname__}")
    values, places, taken = bound
    defaults, named = f.__defaults__, f.__kwdefaults__  # both attributes may be reassigned

    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        out = [bars[0]]
        for index, key in places:
            if key is None:
                out.append(bars[index + 1])
            elif type(key) is int:
                shadow = memory.shadows.get(id(values[index]))
                out.append(None if shadow is None else shadow[key])
            else:
                out.append(memory.take_entry(values[index], key))
        for index in {index for index, key in places if type(key) is int}:
            memory.shadows.pop(id(values[index]), None)
        for index, key in taken:  # cotangents of defaults belong to the function object
            if type(key) is int:
                memory.add_item(defaults, key, bars[index + 1])
            else:
                memory.add_entry(named, key, bars[index + 1])
        return tuple(out)

    return values, arrange
