"""`statistics`: it computes in exact fractions of integers, in which a derivative cannot be seen, so
what does has rules; the rest of the module is differentiated by its own source.
"""

from __future__ import annotations

import inspect
import math
import statistics
from collections.abc import Callable
from typing import Any

from adjoint.rules.projection import is_numeric, project
from adjoint.rules.registry import non_differentiable, rrule, substitute

Slopes = Callable[[Any, list[Any], Any], tuple[list[Any], Any]]


def _of_values(f: Callable[..., Any], slopes: Slopes) -> None:
    """A function of the numbers in an iterable and of an optional second argument.

    ``slopes(y, xs, other)`` are the partial derivatives in each number, and in the other argument.
    """

    def of_list(xs: Any, other: Any) -> Any:
        return f(xs) if other is None else f(xs, other)

    @rrule.register(of_list)
    def _(xs, other):
        y = of_list(xs, other)

        def back(y_bar):
            of_xs, of_other = slopes(y, xs, other)
            xs_bar = [project(y_bar * s, x) if is_numeric(x) else None for x, s in zip(xs, of_xs, strict=True)]
            if isinstance(other, list):
                return None, xs_bar, [project(y_bar * s, w) for w, s in zip(other, of_other, strict=True)]
            return None, xs_bar, None if other is None else project(y_bar * of_other, other)

        return y, back

    signature = inspect.signature(f)

    def checked(*args: Any, **named: Any) -> None:
        signature.bind(None, *args, **named)

    non_differentiable(checked)

    @substitute(f)
    def over(data: Any, *args: Any, **named: Any) -> Any:
        checked(*args, **named)
        other = [*args, *named.values(), None][0]
        return of_list(list(data), list(other) if hasattr(other, "__iter__") else other)


def _mean(y: Any, xs: list[Any], _: Any) -> Any:
    return [1 / len(xs)] * len(xs), None


def _harmonic(y: Any, xs: list[Any], weights: Any) -> Any:
    ws = [1.0] * len(xs) if weights is None else weights
    total = sum(ws)
    if y == 0:
        zeros = sum(x == 0 for x in xs)
        return [total / w if x == 0 and zeros == 1 else 0.0 for x, w in zip(xs, ws, strict=True)], [
            0.0
        ] * len(xs)
    return (
        [y * y * w / (total * x * x) for x, w in zip(xs, ws, strict=True)],
        [y * (1 - y / x) / total for x in xs],
    )


def _spread(ddof: int, root: bool) -> Slopes:
    """Variances, and standard deviations: their roots, whose slope at 0 is taken for 0."""

    def slopes(y: Any, xs: list[Any], centre: Any) -> Any:
        middle = math.fsum(xs) / len(xs) if centre is None else centre
        scale = 1 / (len(xs) - ddof)
        if root:
            scale = scale / (2 * y) if y else 0.0
        of_xs = [2 * scale * (x - middle) for x in xs]
        return of_xs, -math.fsum(of_xs)

    return slopes


_of_values(statistics.mean, _mean)
_of_values(statistics.harmonic_mean, _harmonic)
_of_values(statistics.variance, _spread(1, root=False))
_of_values(statistics.pvariance, _spread(0, root=False))
_of_values(statistics.stdev, _spread(1, root=True))
_of_values(statistics.pstdev, _spread(0, root=True))

_mean_stdev: Any = getattr(statistics, "_mean_stdev", None)
if _mean_stdev is not None:

    @substitute(_mean_stdev)
    def mean_stdev(data: Any) -> Any:
        values = list(data)
        return float(statistics.mean(values)), float(statistics.stdev(values))
