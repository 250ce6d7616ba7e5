"""Registration of forward rules of NumPy's array functions.

The rules are Python code of differentiable functions, so that derivatives of higher order exist.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.elementwise_forward import contributions, fitted
from adjoint.rulekit.projection import as_numeric
from adjoint.rulekit.registry import entry, non_differentiable, rrule
from adjoint.rulekit.rule import Rule
from adjoint.rulekit.tangents import linear_in, steady_in
from adjoint.rules.numpy.operands import cotangent_dtype, dense, severed

F = TypeVar("F", bound=Callable[..., Any])


def array_frule(
    *keys: Any, operands: str = "a", alias: bool = False, nested: bool = True
) -> Callable[[F], F]:
    """Register the decorated ``rule(dots, y, *args, **keywords) -> y_dot``.

    Parameters
    ----------
    *keys
        Functions, and ``(type, name)`` of methods that take the same arguments.
    operands
        The parameters whose tangents are `dots`, in this order: each is as dense as its operand, or
        ``None``; one at least is given.
    alias
        The tangent may share memory with that of an operand.
    nested
        Operands are arrays: what is not numeric is declined. Otherwise they may be anything.

    The tangent is fitted to the shape and dtype of the result. A result that was rounded to
    integers has no tangent; calls with an ``out`` are declined.
    """

    def add(function: F) -> F:
        own = Rule.of(function)
        # the rule is called with one leading argument less: the result is computed here
        shape = (own.positional - 1, own.required - 1, own.names[1:])
        parameters = list(inspect.signature(function).parameters.values())[2:]
        order = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        plan = _Plan(function, [order.index(name) for name in operands.split()], order, nested)
        for key in keys:
            f = _callable(key)

            def forward(dots: Any, /, *args: Any, f: Any = f, **kwargs: Any) -> Any:
                return plan.apply(f, dots, args, kwargs)

            forward.plan = plan  # type: ignore[attr-defined]
            positional, required, names = shape
            rule = replace(
                own, function=forward, positional=positional, required=required, names=names,
                keywords=own.keywords - {"dots", "y"}, types=(), alias=alias,
            )  # fmt: skip
            entry(key).frules.insert(0, rule)
        return function

    return add


def _callable(key: Any) -> Any:
    """Return the function that a key stands for."""
    return getattr(*key) if isinstance(key, tuple) else key


class _Plan:
    """A forward rule, and the places of the operands among its arguments.

    Attributes
    ----------
    function, places
        These.
    """

    def __init__(
        self, function: Callable[..., Any], places: list[int], order: list[str], nested: bool
    ) -> None:
        self.function = function
        self.places = places
        self._order = order
        self._nested = nested

    def apply(self, f: Any, dots: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the value and the tangent of one call."""
        kwargs = {name: value for name, value in kwargs.items() if value is not np._NoValue}
        given = {**dict(zip(self._order, args, strict=False)), **kwargs}
        if given.pop("out", None) is not None:
            return NotImplemented
        values = [given.get(self._order[i]) for i in self.places]
        seen = list(args)
        for i, x in zip(self.places, values, strict=True):
            if self._nested and x is not None and x is not np._NoValue:
                value = as_numeric(x)
                if value is None:
                    return NotImplemented
                if i < len(seen):
                    seen[i] = value
        y = f(*args, **kwargs)
        tangents = tuple(
            None if i >= len(dots) or dots[i] is None else self._dense(dots[i], x)
            for i, x in zip(self.places, values, strict=True)
        )
        if all(dot is None for dot in tangents) or (
            self._nested and not isinstance(y, list | tuple) and _is_rounded(y, values)
        ):
            return y, None
        with np.errstate(all="ignore"):  # warnings of the tangent are not the user's
            y_dot = self.function(tangents, y, *seen, **kwargs)
        return NotImplemented if y_dot is NotImplemented else (y, fitted(y_dot, y))

    def _dense(self, dot: Any, x: Any) -> Any:
        whole = dense(dot, x)
        return np.asarray(whole) if self._nested else whole


def _is_rounded(y: Any, operands: list[Any]) -> bool:
    return severed(y, *[x for x in operands if x is not None and x is not np._NoValue])


def partwise_frule(f: Callable[..., Any]) -> None:
    """Register the forward rule of a function that rearranges arguments, and so their tangents."""

    def forward(dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        if any(as_numeric(x) is None for x in args):
            return NotImplemented
        y = f(*args, **kwargs)
        if all(dot is None for dot in dots):
            return y, None
        return y, f(*[dense(dot, x) for dot, x in zip(dots, args, strict=True)], **kwargs)

    rules = entry(f)
    keywords = frozenset[str]().union(*(rule.keywords for rule in rules.rrules))
    rules.frules.insert(0, Rule(forward, keywords, -1, 1, alias=True))
    linear_in(f)  # of a single operand, which has a single result


def linear_frule(*keys: Any, operands: int = 1, positional: int = 4) -> None:
    """Register the forward rule of functions linear in each of their first `operands` arguments.

    The tangent is the sum of the same calls with each tangent in its operand's place. At most
    `positional` further arguments are taken by position: those that do not enter linearly.
    """
    for key in keys:
        _linear_frule(key, operands, positional)


def _linear_frule(key: Any, operands: int, positional: int) -> None:
    f = getattr(*key) if isinstance(key, tuple) else key

    def forward(dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        if any(dot is not None for dot in dots[operands:]) or kwargs.get("out") is not None:
            return NotImplemented
        if any(map(_lists_objects, args[:operands])):
            return NotImplemented  # their tangents are not in those of the lists
        y = f(*args, **kwargs)
        kwargs.pop("initial", None)  # the start of a sum is a constant
        if isinstance(y, np.ndarray | np.generic) and y.dtype.kind in "iu":
            if _holds_floats(args[:operands]):
                return y, None  # rounded
            args = (*args[:operands], *map(_as_floating, args[operands:]))
            kwargs = {name: _as_floating(value) for name, value in kwargs.items()}
        terms = [
            f(*args[:i], dense(dot, args[i]), *args[i + 1 :], **kwargs)
            for i, dot in enumerate(dots[:operands])
            if dot is not None
        ]
        if not terms:
            return y, None
        if not isinstance(y, list | tuple):
            kind = getattr(terms[0], "dtype", OBJECTS).kind
            if kind == "O":
                return NotImplemented
            if kind not in "fc":
                return y, None  # truth values
        return y, terms[0] if len(terms) == 1 else sum(terms[1:], terms[0])

    linear_in(key, places=range(operands))
    rules = entry(key)
    keywords = frozenset[str]().union(*(rule.keywords for rule in rules.rrules))
    alias = any(rule.alias for rule in rules.rrules)
    shape = 1 + operands + positional, 1 + operands
    rules.frules.insert(0, Rule(forward, keywords, *shape, alias=alias))


@non_differentiable
def _holds_floats(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_holds_floats, x))
    return np.asarray(x).dtype.kind in "fc"


@non_differentiable
def _as_floating(option: Any) -> Any:
    """Replace a dtype of integers, demanded of a result, by that of their tangents."""
    if not isinstance(option, type | np.dtype | str):
        return option
    try:
        return float if np.dtype(option).kind in "iu" else option
    except TypeError:
        return option  # not a dtype


def _lists_objects(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        _lists_objects(part) or not isinstance(part, _NUMERIC) or is_objects(part) for part in value
    )


_NUMERIC = (float, int, complex, np.ndarray, np.generic, list, tuple)
OBJECTS = np.dtype(object)


def reduction_frule(*keys: Any, selects: bool = False) -> None:
    """Register the forward rule of reductions over an axis from their reverse rules.

    Each element enters one result, so the cotangents of a ``y_bar`` of ones are the slopes.
    Elements that are not used (as the reduction `selects`, as NaN, by ``where``) contribute
    nothing, whatever their tangents are.
    """
    for key in keys:
        _reduction_frule(key, selects)
        if selects:
            steady_in(key)


def _reduction_frule(key: Any, selects: bool) -> None:
    options = [] if isinstance(key, tuple) else [*inspect.signature(key).parameters][2:]

    def forward(dots: tuple[Any, ...], /, a: Any, axis: Any = None, *others: Any, **kw: Any) -> Any:
        kwargs = {**dict(zip(options, others, strict=False)), **kw}
        if any(dot is not None for dot in dots[2:]) or kwargs.pop("out", None) is not None:
            return NotImplemented  # `initial` enters every result
        applied = rrule(key, a, axis=axis, **kwargs)
        if applied is None:
            return NotImplemented
        y, back = applied
        if dots[0] is None:
            return y, None
        ones = np.ones_like(y, cotangent_dtype(y))[()]
        slopes, a_dot = np.conj(back(ones)[1]), dense(dots[0], a)
        unused = selects | np.isnan(a) | np.logical_not(kwargs.get("where", True))
        terms = contributions(slopes, a_dot, unused)
        y_dot = np.sum(terms, axis, keepdims=kwargs.get("keepdims", False))
        return y, y_dot if np.iscomplexobj(y) else y_dot.real

    rules = entry(key)
    keywords = frozenset[str]().union(*(rule.keywords for rule in rules.rrules))
    most = 3 + len(options)
    rules.frules.insert(0, Rule(forward, keywords - {"a", "dtype", "mean"}, most, 2))
