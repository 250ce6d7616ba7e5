"""Registration of rules of NumPy's array functions.

NumPy takes every operand by position or by keyword, and a list wherever it takes an array.
`array_rule` deals with both, so that a rule is written once, for arrays and numbers::

    @array_rule(np.sum, *methods("sum"), operands="a initial")
    def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
        ...
        return y, lambda y_bar: (None, a_bar, initial_bar)

`back` returns one cotangent per operand; trailing ones may be left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.ir.node import node
from adjoint.rulekit.families import linear
from adjoint.rulekit.partials import LOW, as_strong
from adjoint.rulekit.projection import SEQUENCES, Projector, as_numeric, projector
from adjoint.rulekit.registry import entry
from adjoint.rulekit.rule import Rule, at_places
from adjoint.rulekit.rule_parameters import parameters_of

core: Any = np._core if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else np.core  # type: ignore
"""NumPy's inner package. NumPy 1.26 has an empty `numpy._core`, too."""

F = TypeVar("F", bound=Callable[..., Any])


def methods(*names: str) -> tuple[tuple[type, str], ...]:
    """Return the keys of methods or attributes of arrays and of NumPy's scalars."""
    return tuple(
        (kind, name)
        for name in names
        for kind in (np.ndarray, np.generic)
        if hasattr(kind, name) and (kind is np.ndarray or name not in ONLY_OF_ARRAYS)
    )


ONLY_OF_ARRAYS = {"swapaxes", "diagonal", "trace"}
"""Methods that scalars have, but that raise."""


# ---- reverse rules -------------------------------------------------------------------------------


def array_rule(
    *keys: Any, operands: str = "a", alias: bool = False, nested: bool = True, exact: bool = False
) -> Callable[[F], F]:
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
        Lists and tuples are converted to arrays first, operands that are not numeric are declined,
        and cotangents are projected. Otherwise the rule takes operands unchanged.
    exact
        The cotangents need no projection if the leading operands are arrays (with `nested`), or
        never. The rule is then called directly; if no other operands are given, it returns
        cotangents of the leading ones only.
    """

    def add(function: F) -> F:
        plan = _Plan.of(function, operands.split(), nested)
        leading, limit = plan.leading_operands if exact else (0, -1)

        def placed(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                kwargs = _given(kwargs)
            n = len(args)
            if n > limit or not leading or (nested and not _are_arrays(args[:leading])):
                return _apply(plan, args, kwargs, False)
            result = function(*args, **kwargs)
            if n == leading or result is NotImplemented:
                return result
            y, back = result
            none = (None,) * (n - leading)
            return y, lambda y_bar: (*back(y_bar), *none)

        def placed_keywords(*args: Any, **kwargs: Any) -> Any:
            return _apply(plan, args, _given(kwargs), True)

        placed.of_arrays = _of_arrays(plan)  # type: ignore[attr-defined]

        known = frozenset(plan.order)
        options = known - set(plan.operands)
        shape = (plan.positional, plan.required)
        for key in keys:
            rules = entry(key).rrules
            rules.insert(0, Rule(placed_keywords, known, *shape, alias=alias, keyword_bars=True))
            rules.insert(0, Rule(placed, options, *shape, alias=alias, trusted=exact))
        return function

    return add


def _of_arrays(plan: _Plan) -> Callable[..., Any]:
    """Return the rule for float64 operands by position, in a form that programs inline."""
    function, places = plan.function, tuple(map(plan.order.index, plan.operands))

    def of_arrays(*args: Any, **kwargs: Any) -> Any:
        y, back = function(*args, **kwargs)
        return y, lambda y_bar: at_places(back(y_bar)[1:], places, len(args))

    return of_arrays


def _given(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Drop keywords that the caller has not given, which NumPy's own code passes on."""
    return {name: value for name, value in kwargs.items() if value is not np._NoValue}


def _are_arrays(args: tuple[Any, ...]) -> bool:
    for x in args:  # a generator in `all` would cost more than the loop
        if type(x) is not np.ndarray or x.dtype.kind not in "fciub":
            return False
    return True


@node
class _Plan:
    """A rule of arrays, the names of its parameters and of its operands."""

    function: Callable[..., Any]
    order: list[str]
    operands: list[str]
    nested: bool
    positional: int
    required: int

    @classmethod
    def of(cls, function: Callable[..., Any], operands: list[str], nested: bool) -> _Plan:
        found = parameters_of(function)
        assert not found.has_any, function
        defaults = len(found.defaults) + len(function.__kwdefaults__ or ())
        order = [*found.names, *found.named]
        required = len(order) - defaults
        return cls(function, order, operands, nested, len(found.names), required)

    @property
    def leading_operands(self) -> tuple[int, int]:
        """Number of leading operands, and of positional arguments without further operands."""
        leading = 0
        while leading < self.required and self.order[leading] in self.operands:
            leading += 1
        limit = leading
        while limit < self.positional and self.order[limit] not in self.operands:
            limit += 1
        return leading, limit


def _apply(plan: _Plan, args: tuple[Any, ...], kwargs: dict[str, Any], keyword_bars: bool) -> Any:
    """Apply a rule to operands by position and keyword; cotangents are returned in their places."""
    values, named = list(args), dict(kwargs)
    places: list[int | str | None] = []
    projectors: list[Projector] = []
    for name in plan.operands:
        position = plan.order.index(name)
        place = position if position < len(args) else name if name in kwargs else None
        original = None if place is None else kwargs[name] if place is name else args[position]
        to_bar: Projector = _as_it_is
        if plan.nested and original is not None and original is not np._NoValue:
            value = as_numeric(original)
            if value is None:
                return NotImplemented
            to_bar = projector(original)
            if place is name:
                named[name] = value
            else:
                values[position] = value
        places.append(place)
        projectors.append(to_bar)
    result = plan.function(*values, **named)
    if result is NotImplemented:
        return NotImplemented
    y, back = result
    if plan.operands[-1] == "initial" and places[-1] is not None and _is_whole(y):
        place = places[-1]
        initial = kwargs[place] if isinstance(place, str) else args[place]
        if isinstance(initial, float | np.floating) and _is_whole(values[0]):
            # NumPy rounds `initial` of a reduction of integers: it is a constant.
            if isinstance(place, str):
                named[place] = int(initial)
            else:
                values[place] = int(initial)
            places[-1], back = None, plan.function(*values, **named)[1]
    kind, is_mixed = type(y), any(map(_is_low, values))

    def placed_back(y_bar: Any) -> tuple[Any, ...]:
        if is_mixed:
            y_bar = as_strong(y_bar, kind)
        bars: list[Any] = [None] * (len(args) + 1)
        by_name: dict[str, Any] = {}
        for place, to_bar, bar in zip(places, projectors, back(y_bar)[1:], strict=False):
            if bar is None or place is None:
                continue
            fitted = bar if type(bar) is Poison else to_bar(bar)
            if isinstance(place, str):
                by_name[place] = fitted
            else:
                bars[place + 1] = fitted
        return (*bars, by_name) if keyword_bars else tuple(bars)

    return y, placed_back


def _is_whole(x: Any) -> bool:
    """Return whether `x` is an integer, or an array of integers."""
    return np.asarray(x).dtype.kind in "iu"


def _is_low(x: Any) -> bool:
    """Return whether an operand has less than double precision."""
    return isinstance(x, np.ndarray | np.generic) and x.dtype.char in LOW


def _as_it_is(bar: Any) -> Any:
    return bar


def linear_rule(
    f: Any,
    transpose: Callable[..., Any],
    *,
    methods: str = "",
    operand: str = "a",
    alias: bool = False,
    called: Callable[..., Any] | None = None,
) -> None:
    """Register `linear` for `f`, for methods, and for the operand by keyword.

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
    called
        The rules call it in place of `f`.
    """
    if operand:
        _, _, *others = inspect.signature(transpose).parameters.values()
        first = inspect.Parameter(operand, inspect.Parameter.POSITIONAL_OR_KEYWORD)

        def by_keyword(*args: Any, **keywords: Any) -> Any:
            if args:
                return NotImplemented
            x = keywords.pop(operand)
            y, shape = (called or f)(x, **keywords), np.shape(x)
            return y, lambda y_bar: (None, transpose(y_bar, shape, **keywords))

        by_keyword.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
        array_rule(f, operands=operand, alias=alias)(by_keyword)
    linear(f, transpose, also=_descriptors(methods.split()), alias=alias, called=called)


def _descriptors(names: list[str]) -> list[Any]:
    return [getattr(kind, name) for kind, name in methods(*names)]


# ---- cotangents ----------------------------------------------------------------------------------


def dense(part: Any, whole: Any) -> Any:
    """Fill a tangent or cotangent of `whole` with zeros in place of None.

    `part` may be a list where `whole` is the array made of one.
    """
    if part is None:
        return np.zeros(np.shape(whole), cotangent_dtype(whole))
    if not isinstance(part, SEQUENCES):
        if isinstance(whole, np.generic) and type(part) in (int, float, complex):
            return cotangent_dtype(whole).type(part)  # rules call its methods
        return part
    items = [
        dense([None] * len(w) if p is None and isinstance(w, SEQUENCES) else p, w)
        for p, w in zip(part, whole, strict=True)
    ]
    if isinstance(whole, np.ndarray):
        return np.array(items)
    return tuple(items) if isinstance(whole, tuple) else items


def cotangent_dtype(x: Any) -> np.dtype[Any]:
    """Return the dtype of the cotangent of an array."""
    dtype: np.dtype[Any] = x.dtype if type(x) is np.ndarray else np.asarray(x).dtype
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def like_sequence(bars: list[Any], parts: Any) -> Any:
    """Pack cotangents of the elements of `parts` (a list, a tuple, an array) as one of `parts`."""
    if isinstance(parts, np.ndarray):
        return np.stack(bars) if bars else np.zeros(parts.shape)
    return tuple(bars) if isinstance(parts, tuple) else bars


def conj(x: Any) -> Any:
    """Return the conjugate; a real array itself."""
    return x.conj() if isinstance(x, np.ndarray) else np.conj(x)


def severed(y: Any, *operands: Any) -> bool:
    """Return whether a result was rounded to integers, so that its derivative is zero."""
    if np.asarray(y).dtype.kind in "fc":
        return False
    return any(np.asarray(x).dtype.kind in "fc" for x in operands)


def scatter(positions: Any, y_bar: Any, like: Any, unique: bool = False) -> Any:
    """Apply the adjoint of ``like.ravel()[positions]``; `unique`: no position occurs twice."""
    bar = np.zeros(np.size(like), cotangent_dtype(y_bar))
    if unique:
        bar[positions] = y_bar
    else:
        np.add.at(bar, np.ravel(positions), np.ravel(y_bar))
    return bar.reshape(np.shape(like))
