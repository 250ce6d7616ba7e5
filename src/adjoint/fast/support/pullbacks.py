"""Tangents of the value and of the pullback of a registered rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.fast.not_covered import Deoptimize
from adjoint.fast.support.functions import present
from adjoint.rulekit import nested
from adjoint.rulekit.registry import frule


def pushed(f: Any, count: int, /, *given: Any, **kwargs: Any) -> Any:
    """Return the tangent of ``f(*args, **kwargs)`` by its forward rule; `given` are `count`
    tangents, then `args`."""
    found = frule(f, given[:count], *given[count:], **kwargs)
    if found is None:
        raise Deoptimize("a forward rule declines")
    return present(found[1], found[0])


class TangentsOfRule:
    """The pair of the tangent of a rule's value, and the tangent of its pullback.

    Parameters
    ----------
    function
        The rule: ``function(*args, **kwargs) -> (y, back)``.
    dots
        The tangents of `args`, ``None`` for zero.
    """

    __slots__ = ("_args", "_dots", "_function", "_kwargs")

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        dots: tuple[Any, ...],
        names: tuple[str, ...],
        values: tuple[Any, ...],
    ) -> None:
        self._function = function
        self._args, self._dots = tuple(map(_with_distinct_items, args)), dots
        self._kwargs = dict(zip(names, values, strict=True))

    def __iter__(self) -> Iterator[Any]:
        function, kwargs = self._function, self._kwargs

        def value(*args: Any) -> Any:
            return function(*args, **kwargs)[0]

        yield nested.pushforward_on_level(value, self._args, self._dots)[1]
        yield self

    def pulled(self, y_bar: Any, y_bar_dot: Any) -> Any:
        """Return the tangents of the cotangents that the pullback gives, by the interpreter."""
        function, kwargs = self._function, self._kwargs

        def bars(*args: Any) -> Any:
            return function(*args[:-1], **kwargs)[1](args[-1])

        return nested.pushforward_on_level(bars, (*self._args, y_bar), (*self._dots, y_bar_dot))[1]


def _with_distinct_items(x: Any) -> Any:
    """Return a list or a tuple with views in the place of arrays that stand in it already: each
    item has a cotangent of its own."""
    if type(x) not in (list, tuple):
        return x
    found: list[Any] = []
    for item in x:
        again = isinstance(item, np.ndarray) and any(item is one for one in found)
        found.append(item.view() if again else item)
    return type(x)(found)


def pulled(back: Any, back_dot: Any, y_bar: Any, y_bar_dot: Any) -> Any:
    """Return the tangents of ``back(y_bar)``.

    Parameters
    ----------
    back_dot
        ``None`` if the pullback does not change; a pullback, to be added; or a `TangentsOfRule`.
    y_bar_dot
        The tangent of `y_bar`, ``None`` for zero.
    """
    if type(back_dot) is TangentsOfRule:
        return back_dot.pulled(y_bar, y_bar_dot)
    terms = [] if y_bar_dot is None else [back(y_bar_dot)]
    if back_dot is not None:
        terms.append(back_dot(y_bar))
    if not terms:  # a linear function, at a constant cotangent
        return tuple(map(_nothing, back(y_bar)))
    return terms[0] if len(terms) == 1 else tuple(map(_sum, *terms))


def _nothing(x: Any) -> Any:
    """Return the zero of a cotangent: of that of a list, a list of ``None``."""
    return [*map(_nothing, x)] if isinstance(x, list | tuple) else None


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b
