"""Rules of `statistics`, which computes in exact fractions of integers that carry no derivative.

The rules call the module for the value. Functions without fractions are differentiated by their
source.
"""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.refusal import NoDerivative, refusal, refused_bar
from adjoint.rulekit.registry import primitive, rrule, substitute
from adjoint.runtime.foreign.unknown_call import run_unknown

_normal_dist_inv_cdf: Any = statistics._normal_dist_inv_cdf  # type: ignore[attr-defined]


def _is_exact(values: Any) -> bool:
    """Return whether the result is a fraction or a decimal: `values` holds some, and no floats."""
    if any(isinstance(value, float) or hasattr(value, "dtype") for value in values):
        return False
    return not all(isinstance(value, int) for value in values)


def _of_exact(f: Any) -> Poison:
    """Return the poison for the operands of an exact result."""
    return Poison(refusal(f, _EXACT))


_EXACT = NoDerivative("a fraction", "is calculated with as integers")


def _of_number(f: Any, value: Any, bar: Any) -> Any:
    """Return the cotangent of a number; a cotangent of a fraction is refused."""
    if isinstance(value, int | float) or hasattr(value, "dtype"):
        return bar
    return refused_bar(f, _EXACT, bar)


def _per_number(f: Any, values: Any, bars: Any) -> Any:
    """Return the cotangent of a list or tuple of numbers."""
    kept = [_of_number(f, value, bar) for value, bar in zip(values, bars, strict=True)]
    return tuple(kept) if isinstance(values, tuple) else kept


# ---- means ---------------------------------------------------------------------------------------


@rrule.register(statistics.mean)
def _(data):
    if not isinstance(data, list | tuple):
        return NotImplemented
    y = statistics.mean(data)
    if _is_exact(data):
        bar = _of_exact(statistics.mean)
        return y, lambda y_bar: (None, bar)
    n = len(data)
    return y, lambda y_bar: (None, _per_number(statistics.mean, data, [y_bar / n] * n))


@rrule.register(statistics.harmonic_mean)
def _(data, weights=None):
    if not isinstance(data, list | tuple):
        return NotImplemented
    given = None if weights is None else list(weights)
    y = statistics.harmonic_mean(data, given)
    f = statistics.harmonic_mean
    if _is_exact([*data, *(given or ())]):
        bar = _of_exact(f)
        return y, lambda y_bar: (None, bar, None if weights is None else bar)
    if not y:
        return y, lambda y_bar: (None, None, None)
    factors = [1.0] * len(data) if given is None else given
    total = math.fsum(factors)

    def harmonic_mean_back(y_bar):
        """y = Σw / Σ(w/x)"""
        scale = y_bar * y / total
        bars = [scale * y * w / (x * x) for x, w in zip(data, factors, strict=True)]
        if given is None:
            return None, _per_number(f, data, bars), None
        shares = [scale * (1.0 - y / x) for x in data]
        return None, _per_number(f, data, bars), _per_number(f, given, shares)

    return y, harmonic_mean_back


# ---- spreads -------------------------------------------------------------------------------------


def _spread(f: Any, data: Any, centre: Any, less: int, is_root: bool) -> Any:
    """Apply the rule of a sum of squared deviations by n − `less`, or of its root.

    The deviations are from `centre`, or from the mean if that is None.
    """
    if not isinstance(data, list | tuple):
        return NotImplemented
    y = f(data, centre)
    if _is_exact(data):
        bar = _of_exact(f)
        return y, lambda y_bar: (None, bar, None if centre is None else bar)
    c = statistics.mean(data) if centre is None else centre

    def spread_back(y_bar):
        """Take the derivative of the root as 0 at 0."""
        slope = (0.5 / y if y else 0.0) if is_root else 1.0
        scale = 2.0 * y_bar * slope / (len(data) - less)
        bars = [scale * (x - c) for x in data]
        own = None if centre is None else _of_number(f, centre, -math.fsum(bars))
        return None, _per_number(f, data, bars), own

    return y, spread_back


@rrule.register(statistics.variance)
def _(data, xbar=None):
    return _spread(statistics.variance, data, xbar, 1, False)


@rrule.register(statistics.stdev)
def _(data, xbar=None):
    return _spread(statistics.stdev, data, xbar, 1, True)


@rrule.register(statistics.pvariance)
def _(data, mu=None):
    return _spread(statistics.pvariance, data, mu, 0, False)


@rrule.register(statistics.pstdev)
def _(data, mu=None):
    return _spread(statistics.pstdev, data, mu, 0, True)


# ---- other collections ---------------------------------------------------------------------------


def _by_class(data: Any) -> list[Any]:
    """List the elements by ``groupby``, as the module does, with one ``next`` after the end."""
    return [value for _, group in itertools.groupby(data, type) for value in group]


def _counted(data: Any) -> list[Any]:
    """List the elements as ``harmonic_mean`` does: at most ``len(data)``."""
    if iter(data) is data:
        data = list(data)
    return [value for _, value in zip(range(len(data)), data, strict=False)]


def _of_any(f: Any, elements: Any = _by_class) -> None:
    @primitive(f)
    def of_hidden(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        """Treat the call as unknown if a level holds tangents hidden in its fractions."""
        level = record[0].level
        if level is None or not args or not isinstance(args[0], list | tuple):
            return NotImplemented
        given: list[Any] = []
        for value in (*args, *kwargs.values()):
            given.extend(value if isinstance(value, list | tuple) else [value])
        exact = [x for x in given if not isinstance(x, int | float) and not hasattr(x, "dtype")]
        if not any(one.holds(x) for one in level.down() for x in exact):
            return NotImplemented
        return run_unknown(record[0], record, slot, f, args, kwargs)

    @substitute(f)
    def listed(data: Any, *args: Any, **kwargs: Any) -> Any:
        return f(elements(data), *args, **kwargs)


for _f in (
    statistics.mean,
    statistics.variance,
    statistics.stdev,
    statistics.pvariance,
    statistics.pstdev,
):
    _of_any(_f)
_of_any(statistics.harmonic_mean, _counted)

_mean_stdev: Any = getattr(statistics, "_mean_stdev", None)
if _mean_stdev is not None:

    @substitute(_mean_stdev)
    def mean_stdev(data: Any) -> Any:
        values = _by_class(data)
        return float(statistics.mean(values)), float(statistics.stdev(values))


# ---- the normal distribution ---------------------------------------------------------------------


@rrule.register(_normal_dist_inv_cdf)
def _(p, mu, sigma):
    x = _normal_dist_inv_cdf(p, mu, sigma)
    z = (x - mu) / sigma

    def inv_cdf_back(x_bar):
        slope = math.sqrt(2.0 * math.pi) * math.exp(0.5 * z * z) * sigma
        return None, x_bar * slope, x_bar, x_bar * z

    return x, inv_cdf_back
