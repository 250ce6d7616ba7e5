"""`statistics`: it computes in exact fractions of integers, in which a derivative cannot be seen.

What does so is written here in floats, with exact sums; the rest of the module is differentiated by
its own source.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from adjoint.rules.registry import non_differentiable, substitute


def _is_exact(values: Any, n: int) -> bool:
    """Whether there are no floats among the numbers, or too few numbers."""
    return len(values) < n or not any(_is_float(value) for value in values)


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or hasattr(value, "dtype")


def _exactly(f: Any, *args: Any) -> Any:
    """Python's own result, or its own refusal."""
    return f(*args)


non_differentiable(_is_exact, _exactly)


@substitute(statistics.mean)
def mean(data: Any) -> Any:
    values = list(data)
    if _is_exact(values, 1):
        return _exactly(statistics.mean, values)
    return math.fsum(values) / len(values)


@substitute(statistics.harmonic_mean)
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    values = list(data)
    if weights is None:
        factors = [1.0] * len(values)
    else:
        factors = list(weights)
    few = _is_exact([*values, *factors], 1) or len(values) != len(factors)
    if few or not values or min(values) <= 0 or min(factors) < 0 or not any(factors):
        return _exactly(statistics.harmonic_mean, values, None if weights is None else factors)
    parts = [w / x for w, x in zip(factors, values, strict=True)]
    return math.fsum(factors) / math.fsum(parts)


@substitute(statistics.variance)
def variance(data: Any, xbar: Any = None) -> Any:
    values = list(data)
    if _is_exact(values, 2):
        return _exactly(statistics.variance, values, xbar)
    return _squares(values, xbar) / (len(values) - 1)


@substitute(statistics.pvariance)
def pvariance(data: Any, mu: Any = None) -> Any:
    values = list(data)
    if _is_exact(values, 1):
        return _exactly(statistics.pvariance, values, mu)
    return _squares(values, mu) / len(values)


def _squares(values: Any, centre: Any) -> Any:
    if centre is None:
        centre = math.fsum(values) / len(values)
    return math.fsum([(value - centre) * (value - centre) for value in values])


@substitute(statistics.stdev)
def stdev(data: Any, xbar: Any = None) -> Any:
    return _root(statistics.variance(data, xbar))


@substitute(statistics.pstdev)
def pstdev(data: Any, mu: Any = None) -> Any:
    return _root(statistics.pvariance(data, mu))


def _root(square: Any) -> Any:
    """At a deviation of 0 the derivative is taken for 0."""
    return math.sqrt(square) if square else 0.0


_mean_stdev: Any = getattr(statistics, "_mean_stdev", None)
if _mean_stdev is not None:

    @substitute(_mean_stdev)
    def mean_stdev(data: Any) -> Any:
        values = list(data)
        return float(statistics.mean(values)), float(statistics.stdev(values))
