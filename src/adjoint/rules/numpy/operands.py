"""What the rules of NumPy's array functions share: where their operands stand, and lists in place of arrays.

NumPy takes every operand by position or by keyword, and a list wherever it takes an array. `array_rule` deals with
both, so that a rule is written once, for arrays and numbers::

    @array_rule(np.sum, *methods("sum"), operands="a initial")
    def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
        ...
        return y, lambda y_bar: (None, a_bar, initial_bar)     # one per operand; trailing ones may be left out
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.rules.families import linear
from adjoint.rules.projection import Projector, as_numeric, projector
from adjoint.rules.registry import Rule, entry

__all__ = ["array_rule", "cotangent_dtype", "dense", "linear_frule", "like_sequence", "linear_rule", "methods", "scatter", "severed"]

F = TypeVar("F", bound=Callable[..., Any])


def methods(*names: str) -> tuple[tuple[type, str], ...]:
    """The keys of methods or attributes of arrays and of NumPy's scalars."""
    return tuple((kind, name) for name in names for kind in (np.ndarray, np.generic)
                 if hasattr(kind, name))


def array_rule(*keys: Any, operands: str = "a", alias: bool = False, nested: bool = True,
               exact: bool = False) -> Callable[[F], F]:
    """Register a rule written for arrays and numbers.

    Parameters
    ----------
    *keys
        Functions, and ``(type, name)`` of methods that take the same arguments.
    operands
        The parameters that have cotangents, in the order in which ``back`` returns these.
    alias
        The result may share memory with an operand.
    nested
        Operands are arrays: lists and tuples are made arrays first, what is not numeric is declined, and the
        cotangents that the rule returns are projected. Otherwise the rule takes operands as they come.
    exact
        The cotangents of arrays need no projection; the rule is then called directly.
    """
    names = operands.split()

    def add(function: F) -> F:
        parameters = list(inspect.signature(function).parameters.values())
        order = [p.name for p in parameters]
        required = sum(p.default is p.empty for p in parameters)
        positional = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
        leading = len(names) if nested and order[:len(names)] == names else int(nested and order[0] == names[0])

        def placed(*args: Any, **kwargs: Any) -> Any:
            if exact and len(args) == leading and all([type(x) is np.ndarray for x in args]):
                return function(*args, **kwargs)  # the usual call: arrays by position, options by keyword
            return _apply(function, order, names, nested, args, kwargs, False)

        def placed_keywords(*args: Any, **kwargs: Any) -> Any:
            return _apply(function, order, names, nested, args, kwargs, True)

        for key in keys:
            rules = entry(key).rrules
            rules.insert(0, Rule(placed_keywords, frozenset(order), positional, required, alias=alias,
                                 keyword_bars=True))
            rules.insert(0, Rule(placed, frozenset(order) - set(names), positional, required, alias=alias))
        return function
    return add


def _apply(function: Any, order: list[str], names: list[str], nested: bool, args: tuple[Any, ...],
           kwargs: dict[str, Any], keyword_bars: bool) -> Any:
    """Apply a rule to operands wherever they stand, and return their cotangents to these places."""
    values, named = list(args), dict(kwargs)
    places: list[int | str | None] = []
    projectors: list[Projector] = []
    for name in names:
        position = order.index(name)
        place = position if position < len(args) else name if name in kwargs else None
        original = None if place is None else kwargs[name] if place is name else args[position]
        if original is None or original is np._NoValue or not nested:
            to_bar = _as_it_is
        else:
            value, to_bar = as_numeric(original), projector(original)
            if value is None:
                return NotImplemented
            if place is name:
                named[name] = value
            else:
                values[position] = value
        places.append(place)
        projectors.append(to_bar)
    result = function(*values, **named)
    if result is NotImplemented:
        return result
    y, back = result

    def placed_back(y_bar: Any) -> tuple[Any, ...]:
        bars: list[Any] = [None] * (len(args) + 1)
        by_name: dict[str, Any] = {}
        for place, to_bar, bar in zip(places, projectors, back(y_bar)[1:], strict=False):
            if bar is None or place is None:
                continue
            if isinstance(place, str):
                by_name[place] = to_bar(bar)
            else:
                bars[place + 1] = to_bar(bar)
        return (*bars, by_name) if keyword_bars else tuple(bars)
    return y, placed_back


def _as_it_is(bar: Any) -> Any:
    return bar


def linear_rule(f: Any, transpose: Callable[..., Any], *, methods: str = "", operand: str = "a",
                alias: bool = False) -> None:
    """`linear`, and its methods of the same arguments, and the operand by keyword as well.

    Parameters
    ----------
    f
        A function of NumPy, linear in its first argument.
    transpose
        ``transpose(y_bar, shape, *others, **keywords)``, as for `linear`.
    methods
        Names of methods of arrays and NumPy scalars that take the same arguments after the array.
    operand
        The name of the first parameter; empty where it is positional only.
    """
    if operand:
        _, _, *others = inspect.signature(transpose).parameters.values()
        first = inspect.Parameter(operand, inspect.Parameter.POSITIONAL_OR_KEYWORD)

        def by_keyword(*args: Any, **keywords: Any) -> Any:
            if args:
                return NotImplemented
            x = keywords.pop(operand)
            y, shape = f(x, **keywords), np.shape(x)
            return y, lambda y_bar: (None, transpose(y_bar, shape, **keywords))
        by_keyword.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
        array_rule(f, operands=operand, alias=alias)(by_keyword)
    linear(f, transpose, also=_descriptors(methods.split()), alias=alias)


def _descriptors(names: list[str]) -> list[Any]:
    return [getattr(kind, name) for kind, name in methods(*names)]


def linear_frule(*keys: Any) -> None:
    """Register the forward rule of functions linear in their first argument: the same call with the tangent."""
    for key in keys:
        _linear_frule(key)


def _linear_frule(key: Any) -> None:
    f = getattr(*key) if isinstance(key, tuple) else key

    def forward(dots: tuple[Any, ...], x: Any, *args: Any, **kwargs: Any) -> Any:
        if as_numeric(x) is None or any(dot is not None for dot in dots[1:]):
            return NotImplemented
        y = f(x, *args, **kwargs)
        kwargs.pop("initial", None)
        return y, None if dots[0] is None else f(dense(dots[0], x), *args, **kwargs)
    keywords = frozenset[str]().union(*(rule.keywords for rule in entry(key).rrules))
    # No more by position than array, axis, dtype, out, keepdims: what a sum starts from is not linear.
    entry(key).frules.insert(0, Rule(forward, keywords, 6, 2))


def dense(part: Any, whole: Any) -> Any:
    """A tangent or cotangent of a list or tuple that stands for an array, with zeros where it has ``None``."""
    if part is None:
        return np.zeros(np.shape(whole))
    if isinstance(whole, (list, tuple)):
        return type(whole)([dense(p, w) for p, w in zip(part, whole, strict=True)])
    return part


def cotangent_dtype(x: Any) -> np.dtype[Any]:
    """The dtype of the cotangent of an array."""
    dtype = np.result_type(x)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def like_sequence(bars: list[Any], parts: Any) -> Any:
    """Cotangents of the elements of a list, a tuple or an array (along its first axis), as one of `parts`."""
    if isinstance(parts, np.ndarray):
        return np.stack(bars) if bars else np.zeros(parts.shape)
    return tuple(bars) if isinstance(parts, tuple) else bars


def severed(y: Any, *operands: Any) -> bool:
    """Whether a result was rounded to integers on the way, so that its derivative is zero."""
    return np.result_type(y).kind not in "fc" and any(np.result_type(x).kind in "fc" for x in operands)


def scatter(positions: Any, y_bar: Any, like: Any, unique: bool = False) -> Any:
    """The adjoint of ``like.ravel()[positions]``; `unique` says that no position occurs twice."""
    bar = np.zeros(np.size(like), np.result_type(y_bar, np.float16))
    if unique:
        bar[positions] = y_bar
    else:
        np.add.at(bar, np.ravel(positions), np.ravel(y_bar))
    return bar.reshape(np.shape(like))
