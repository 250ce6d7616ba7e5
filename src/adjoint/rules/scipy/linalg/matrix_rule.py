"""`matrix_rule`: one function gives the rules of both modes of a function of `scipy.linalg`.

SciPy's functions have many options, which differ between versions, and some operands are tuples. A
rule gets the arguments of one call by name, and the result::

    @matrix_rule(sl.solve_sylvester, "a b q")
    def _(call):
        def back(x_bar): ...
            return a_bar, b_bar, q_bar
        return back

It may return a pushforward as well, ``back, push`` with ``push(a_dot, b_dot, q_dot) -> x_dot``;
otherwise this is derived (`adjoint.rules.numpy.transposition`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adjoint.cotangents.finiteness import doubt
from adjoint.cotangents.poison import Poison
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.elementwise_forward import filled, fitted
from adjoint.rulekit.projection import as_numeric, projector
from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.rule import at_places
from adjoint.rules.numpy.linalg.matrices import floating
from adjoint.rules.numpy.transposition import transposed

Pair: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]
"""A pullback, which returns one cotangent per operand, and a pushforward. The pushforward takes one
tangent per operand, some of them ``None``."""


class Call:
    """The arguments of a call as attributes, and the result of the call as ``y``."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        for name, value in arguments.items():
            setattr(self, name, value)
        self.y: Any = None

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def option(self, name: str, default: Any) -> Any:
        """Return an argument that not every version of SciPy has."""
        return getattr(self, name, default)


def matrix_rule(
    f: Callable[..., Any], operands: str, *, one_by_one: bool = False
) -> Callable[[Any], Any]:
    """Register the decorated ``make(call) -> back``, or ``(back, push)``, as both rules of `f`.

    Parameters
    ----------
    f
        A function with a signature. Its arguments ``overwrite_…`` are set to false: see
        `adjoint.rules.scipy.overwrite_options`.
    operands
        The parameters that have cotangents, in the order of `back` and `push`. They are converted
        to floating arrays and their cotangents are projected, except those marked with a star. An
        operand that is absent or ``None`` is ``None``, and has no cotangent.
    one_by_one
        The rule declines stacks. SciPy's function loops over a stack and calls the function that
        it wraps, which gets the rules as well.
    """
    plan = _Plan.of(f, operands.split())

    def add(make: Callable[[Call], Any]) -> Callable[[Call], Any]:
        reverse: Callable[..., Any] = lambda *args, **kwargs: _reverse(plan, make, args, kwargs)
        forward: Callable[..., Any] = lambda dots, *args, **kwargs: _forward(
            plan, make, dots, args, kwargs
        )
        first = inspect.Parameter("dots", inspect.Parameter.POSITIONAL_ONLY)
        reverse.__signature__ = inspect.Signature(plan.parameters)  # type: ignore[attr-defined]
        of_arrays = _of_arrays(plan, make)
        reverse.of_arrays, forward.of_arrays = of_arrays  # type: ignore[attr-defined]
        forward.__signature__ = inspect.Signature([first, *plan.parameters])  # type: ignore[attr-defined]
        keys = {f, inspect.unwrap(f)} if one_by_one else {f}
        rrule.register(*keys)(reverse)
        frule.register(*keys)(forward)
        return make

    return add


def summed(*terms: Any) -> Any:
    """Return the sum of the terms that are not ``None``; ``None`` if there is none."""
    given = [term for term in terms if term is not None]
    return sum(given[1:], given[0]) if given else None


def refused_pair(error: Exception) -> Pair:
    """Return a pullback and a pushforward that raise `error`."""

    def refused(*_: Any) -> Any:
        raise error

    return refused, refused


@dataclass(frozen=True, slots=True)
class _Plan:
    f: Callable[..., Any]
    parameters: list[inspect.Parameter]
    operands: list[str]
    raw: frozenset[str]

    @classmethod
    def of(cls, f: Callable[..., Any], operands: list[str]) -> _Plan:
        given = inspect.signature(f).parameters.values()
        parameters = [p.replace(annotation=p.empty) for p in given]
        raw = frozenset(name[1:] for name in operands if name.startswith("*"))
        return cls(f, parameters, [name.lstrip("*") for name in operands], raw)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        """Run `f`; return ``None`` if an operand is not numeric or the first is no matrix."""
        named = {p.name: p.default for p in self.parameters}
        given = dict(kwargs)
        for p, arg in zip(self.parameters, args, strict=False):
            given[p.name] = arg
        for name in given:
            if name.startswith("overwrite"):
                given[name] = False
        for name in self.operands:
            if name in given and name not in self.raw and given[name] is not None:
                value = as_numeric(given[name])
                if value is None or (
                    self.f.__module__.startswith("scipy.linalg.")
                    and _is_degenerate(value, is_first=name == self.operands[0])
                ):
                    return None
                given[name] = value
        places = [p.name for p in self.parameters[: len(args)]]
        y = self.f(*[given[name] for name in places], **{name: given[name] for name in kwargs})
        named.update(given)
        for name in self.operands:
            if name not in self.raw and named[name] is not None:
                named[name] = floating(named[name])
        call = Call(named)
        call.y = y
        return call


def _is_degenerate(a: Any, is_first: bool) -> bool:
    """Return whether SciPy takes a shortcut: for an empty matrix, or a number as a matrix."""
    if np.ndim(a) > 1 or not is_first:
        return np.ndim(a) > 1 and not np.size(a)
    return np.ndim(a) == 0 or np.shape(a) == (1,)


def _reverse(plan: _Plan, make: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    call = plan.call(args, kwargs)
    made = NotImplemented if call is None else make(call)
    if call is None or made is NotImplemented:
        return NotImplemented
    pull = made[0] if isinstance(made, tuple) else made
    names = [p.name for p in plan.parameters]
    places = [names.index(name) for name in plan.operands]
    projectors = [
        projector(args[i])
        if i < len(args) and name not in plan.raw and args[i] is not None
        else None
        for i, name in zip(places, plan.operands, strict=True)
    ]

    def matrix_back(y_bar: Any) -> tuple[Any, ...]:
        bars: list[Any] = [None] * (len(args) + 1)
        try:
            found = pull(y_bar)
        except NoDerivativeError as error:  # raised only if the poison reaches an input
            doubt(y_bar)
            found = (Poison(error),) * len(places)
        for i, to_bar, bar in zip(places, projectors, found, strict=True):
            if i < len(args) and bar is not None:
                bars[i + 1] = bar if to_bar is None or type(bar) is Poison else to_bar(bar)
        return tuple(bars)

    return call.y, matrix_back


def _of_arrays(plan: _Plan, make: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the rules for float64 operands by position, in a form that programs inline."""
    f, names = plan.f, tuple(p.name for p in plan.parameters)
    defaults = tuple((p.name, p.default) for p in plan.parameters)
    places = tuple(map(names.index, plan.operands))
    converted = tuple(
        pair for pair in zip(plan.operands, places, strict=True) if pair[0] not in plan.raw
    )
    overwriting = tuple(name for name in names if name.startswith("overwrite"))
    rank = 2 if f.__module__.startswith("scipy.linalg.") else None

    def called(args: Any, kwargs: Any) -> Any:
        if rank is not None and np.ndim(args[0]) != rank:
            return None
        for name in (*names[: len(args)], *kwargs):
            if name in overwriting:
                return None
        call = Call({})
        for name, value in defaults:
            setattr(call, name, value)
        for name in kwargs:
            setattr(call, name, kwargs[name])
        for name, arg in zip(names, args):  # noqa: B905 (it is lowered)
            setattr(call, name, arg)
        call.y = f(*args, **kwargs)
        for name, place in converted:
            if place < len(args) and args[place] is not None:
                setattr(call, name, floating(args[place]))
        return call

    def reverse(*args: Any, **kwargs: Any) -> Any:
        call = called(args, kwargs)
        made = NotImplemented if call is None else make(call)
        if made is NotImplemented:
            return NotImplemented
        pull = made[0] if isinstance(made, tuple) else made
        return call.y, lambda y_bar: at_places(pull(y_bar), places, len(args))

    def forward(dots: Any, /, *args: Any, **kwargs: Any) -> Any:
        call = called(args, kwargs)
        made = NotImplemented if call is None else make(call)
        if not isinstance(made, tuple):
            return NotImplemented
        moved = [dots[place] if place < len(dots) else None for place in places]
        y_dot = made[1](*moved)  # this may replace call.y as well
        return call.y, y_dot

    return reverse, forward


def _forward(
    plan: _Plan, make: Any, dots: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    call = plan.call(args, kwargs)
    if call is None:
        return NotImplemented
    names = [p.name for p in plan.parameters]
    tangents = []
    for name in plan.operands:
        i = names.index(name)
        dot = dots[i] if i < len(dots) else None
        tangents.append(dot if dot is None else _filled(dot, args[i], name in plan.raw))
    if all(dot is None for dot in tangents):
        return call.y, None
    made = make(call)
    if made is NotImplemented:
        return NotImplemented
    try:
        if isinstance(made, tuple):
            y_dot = made[1](*tangents)  # this may replace call.y as well
        else:
            y_dot = transposed(call.y, made, tuple(tangents))
    except NoDerivativeError as error:  # raised only if the tangent is used
        return call.y, Poison(error)
    return call.y, y_dot if type(y_dot) is Poison else fitted(y_dot, call.y)


def _filled(dot: Any, arg: Any, is_raw: bool) -> Any:
    """Replace ``None`` entries of a tangent by zeros, except those of a tuple of operands."""
    if is_raw and isinstance(arg, tuple):
        parts = zip(dot, arg, strict=True)
        return tuple([None if part is None else filled(part, of) for part, of in parts])
    return filled(dot, arg)
