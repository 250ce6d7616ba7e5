"""Binding of arguments to the parameters of an inlined function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.result_types.inferable_functions import record_of
from adjoint.fast.evaluate.types import Array, Number
from adjoint.fast.evaluate.values import Abstract, Closure, DictOf, Known, Tuple
from adjoint.fast.not_covered import Raises
from adjoint.ir.single import Function, Value


def bind(
    ev: Evaluator,
    function: Function,
    closure: Closure,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> list[Abstract]:
    """Return one value per parameter.

    Raises
    ------
    NotCovered
        The arguments do not fit; the generic tier raises with Python's message.
    """
    if not keywords and len(args) == len(function.parameters):
        if all(p.kind <= 1 for p in function.parameters):  # the most frequent case
            return [*args]
    by_position = [p.name for p in function.parameters if p.kind <= 1]
    given = dict(zip(by_position, args, strict=False))
    rest = tuple(args[len(by_position) :])
    left = dict(keywords)
    # Decorators may give a function of ``*args`` the more numerous defaults of what it wraps.
    count = min(len(closure.defaults), len(by_position))
    defaults = dict(
        zip(
            by_position[len(by_position) - count :],
            closure.defaults[len(closure.defaults) - count :],
            strict=True,
        )
    )
    named_defaults = dict(closure.named_defaults)
    values: list[Abstract] = []
    for parameter in function.parameters:
        name = parameter.name
        match parameter.kind:
            case 2:
                values.append(Tuple(tuple(map(ev.demand_some, rest))))
                rest = ()
            case 4:
                items = tuple(map(ev.demand_some, left.values()))
                values.append(ev.allocate(DictOf(tuple(left), items)))
                left = {}
            case _:
                if name in given:
                    if parameter.kind == 1 and name in left:
                        raise Raises(TypeError, "arguments that do not fit", ev.span)
                    values.append(given[name])
                elif parameter.kind != 0 and name in left:
                    values.append(left.pop(name))
                elif parameter.kind != 3 and name in defaults:
                    values.append(defaults[name])
                elif parameter.kind == 3 and name in named_defaults:
                    values.append(named_defaults[name])
                else:
                    raise Raises(TypeError, "arguments that do not fit", ev.span)
    if rest or left:
        raise Raises(TypeError, "arguments that do not fit", ev.span)
    return values


def by_position(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> tuple[Sequence[Abstract], dict[str, Abstract]]:
    """Return the arguments with keywords that may carry a derivative given by position, as sweeps
    demand; unchanged if an array to write to would come between."""
    filled, rest = [*args], dict(keywords)
    for name, default in _positional(f)[len(args) :]:
        if not any(_is_inexact(ev, x) for x in rest.values()):
            return filled, rest
        if name == "out" or (name not in rest and type(default) not in _PLAIN):
            break
        filled.append(rest.pop(name, Known(default)))
    done = not any(_is_inexact(ev, x) for x in rest.values())
    return (filled, rest) if done else (args, keywords)


_PLAIN = (int, float, bool, str, type(None))


def _positional(f: Any) -> list[tuple[str, Any]]:
    """Return name and default of each parameter that may be given by position and by keyword."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        record = record_of(f)
        if record is None:
            return []
        parameters = inspect.signature(record.result).parameters.values()
    return [(p.name, p.default) for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]


def _is_inexact(ev: Evaluator, x: Abstract) -> bool:
    t = ev.types[x] if isinstance(x, Value) else None
    if isinstance(t, Array):
        return t.dtype.kind in "fc"
    return isinstance(t, Number) and not t.kinds <= {int, bool}


def up_to(
    last: str, f: Any, args: Sequence[Abstract], named: dict[str, Abstract]
) -> list[Abstract]:
    """Return the operands of a reduction up to `last`, which may carry a derivative, by position;
    take them out of `named`."""
    filled, names = [*args], list(inspect.signature(f).parameters)
    for name in names[len(args) : names.index(last) + 1]:
        filled.append(named.pop(name, Known(False if name == "keepdims" else None)))
    return filled


def without_nones(
    f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> tuple[Sequence[Abstract], dict[str, Abstract]]:
    """Leave out arguments that are ``None``, as they are if they are not given."""
    if not any(map(is_none, (*args[-1:], *keywords.values()))):
        return args, keywords
    optional, args = _optional(f), [*args]
    while args and is_none(args[-1]) and optional.get(len(args) - 1):
        args.pop()
    return args, {k: x for k, x in keywords.items() if not (is_none(x) and optional.get(k))}


def is_none(x: Abstract) -> bool:
    """Return whether a value is known to be ``None``."""
    return isinstance(x, Known) and x.value is None


@functools.cache
def _optional(f: Any) -> dict[int | str, bool]:
    """Return which parameters are ``None`` if they are not given, by place and name."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return {}
    found: dict[int | str, bool] = {}
    for i, (name, parameter) in enumerate(parameters.items()):
        found[i] = found[name] = parameter.default is None
    return found
