"""Overrides of NumPy functions by ``__array_ufunc__`` and ``__array_function__`` of operands.

The methods are called as differentiated code, in NumPy's order, until one does not return
``NotImplemented``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.diagnostics.refusals import missing
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import PLAIN
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.memory.memory import Memory

UFUNC_METHODS: dict[str, tuple[int, tuple[str, ...]]] = {
    "reduce": (1, ("axis", "dtype", "out", "keepdims", "initial", "where")),
    "accumulate": (1, ("axis", "dtype", "out")),
    "reduceat": (2, ("axis", "dtype", "out")),
    "outer": (2, ()),
    "at": (3, ()),
}
"""By method of ufuncs: the number of inputs, and the names of the other positional arguments."""


def ufunc_override(
    record: list[Any],
    slot: int,
    f: Any,
    method: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run ``f.method(*args, **kwargs)`` by ``__array_ufunc__``; `DECLINED` if no operand has it."""
    if not kwargs and all(type(arg) in PLAIN for arg in args):
        return DECLINED
    out = kwargs.get("out")
    outputs = out if isinstance(out, tuple) else (out,)
    asked = _asked("__array_ufunc__", (*args, *outputs))
    if not asked:
        return DECLINED
    inputs, named = _arranged(f, method, args, kwargs)
    moved = [name for name in named if name not in kwargs]

    def given(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        by_name = dict(zip(named, bars[4 + len(inputs) :], strict=True))
        by_name["out"] = None
        positional = [*bars[4 : 4 + len(inputs)], *map(by_name.get, moved)]
        positional += [None] * (len(args) - len(positional))
        return (None, *positional[: len(args)], *map(by_name.get, kwargs))

    return _ask(
        record,
        slot,
        asked,
        lambda obj: ((obj, f, method, *inputs), named),
        given,
        (*args, *kwargs.values()),
        lambda: (f if method == "__call__" else getattr(f, method))(*args, **kwargs),
    )


def function_override(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run ``f(*args, **kwargs)`` by ``__array_function__``; `DECLINED` if no operand has it."""
    asked = _asked("__array_function__", _relevant((*args, *kwargs.values()), 3))
    if not asked:
        return DECLINED
    memory: Memory = record[0]
    kinds = dict.fromkeys(
        type(value)
        for value in _relevant((*args, *kwargs.values()), 3, every=True)
        if hasattr(type(value), "__array_function__")
    )

    def given(_: tuple[Any, ...]) -> tuple[Any, ...]:
        bars = memory.take_items(args, len(args))
        return (None, *bars, *(memory.take_entry(kwargs, name) for name in kwargs))

    return _ask(
        record,
        slot,
        asked,
        lambda obj: ((obj, f, tuple(kinds), args, kwargs), {}),
        given,
        (*args, *kwargs.values()),
        lambda: f(*args, **kwargs),
    )


def _relevant(values: Iterable[Any], depth: int, *, every: bool = False) -> Iterator[Any]:
    """Yield the operands whose class may override a function: arguments, and elements of lists."""
    for value in values:
        kind = type(value)
        if kind is list or kind is tuple:
            if depth and (every or not PLAIN.issuperset(map(type, value))):
                yield from _relevant(value, depth - 1, every=every)
        elif every or kind not in PLAIN:
            yield value


def _asked(special: str, values: Iterable[Any]) -> list[tuple[Any, FunctionType]]:
    """Return an object and its method for each class that defines it, subclasses first."""
    found: list[tuple[Any, FunctionType]] = []
    for value in values:
        kind = type(value)
        if kind in PLAIN or any(type(obj) is kind for obj, _ in found):
            continue
        method = class_attribute(kind, special)
        if type(method) is FunctionType:
            place = next(
                (i for i, (obj, _) in enumerate(found) if issubclass(kind, type(obj))), len(found)
            )
            found.insert(place, (value, method))
    return found


def _arranged(
    f: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the inputs, and the other arguments by name, with the outputs in a tuple."""
    n, names = UFUNC_METHODS[method] if method != "__call__" else (f.nin, ())
    inputs, rest = args[:n], args[n:]
    named = dict(zip(names, rest, strict=False)) | kwargs
    if method == "__call__" and rest:
        named["out"] = (*rest, *(None,) * (f.nout - len(rest)))
    out = named.get("out")
    if out is None:
        named.pop("out", None)
    elif not isinstance(out, tuple):
        named["out"] = (out,)
    return inputs, named


def _ask(
    record: list[Any],
    slot: int,
    asked: list[tuple[Any, FunctionType]],
    operands: Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]],
    given: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    values: tuple[Any, ...],
    otherwise: Callable[[], Any],
) -> Any:
    """Call the methods until one does not return ``NotImplemented``; else `otherwise`, for NumPy's
    error.

    `operands` returns the arguments of the method of an object. `given` turns their cotangents into
    those of `values`, the arguments of the original call.
    """
    inner: list[Any] = [record[0], *[None] * len(asked)]
    blank = record[slot]

    def asked_back(y_bar: Any) -> Any:
        total = None
        for (obj, _), back in zip(reversed(asked), reversed(inner[1:]), strict=True):
            bars = None if back is None else back(y_bar)
            if bars is not None:
                y_bar = None  # only the last method made the result
                bars = _with_own(given(bars), bars[1], obj, values)
                total = bars if total is None else tuple(map(accumulate, total, bars))
        if total is None:  # an exception came before a pullback was in a slot
            return None if blank is None else blank(y_bar)
        return total

    record[slot] = asked_back
    for i, (obj, method) in enumerate(asked, 1):
        args, kwargs = operands(obj)
        y = call_keywords(inner, i, method, args, kwargs)
        if y is not NotImplemented:
            return y
    return otherwise()


def _with_own(
    bars: tuple[Any, ...], own: Any, obj: Any, values: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Add the cotangent of the object whose method was called to those of `values`."""
    if own is None:
        return bars
    place = next((i for i, value in enumerate(values, 1) if value is obj), None)
    if place is None:  # `obj` is in a list, or in a tuple of outputs
        raise missing(
            f"a derivative of a {type(obj).__name__} that NumPy has asked is needed",
            "let the method use what it is given, not 'self'",
        )
    return (*bars[:place], accumulate(bars[place], own), *bars[place + 1 :])
