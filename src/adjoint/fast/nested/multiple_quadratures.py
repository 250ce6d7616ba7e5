"""Integrals over several variables in terms of operations of programs: the definition of `nquad`,
by which SciPy computes `dblquad` and `tplquad`, too.

SciPy computes the value. The derivative is that of a sum over the points of Gauss' rule in the unit
cube, which is mapped to the region: so the points move with the limits. The integrand must be so
smooth that such a sum is its integral to rounding. The generic tier takes all others.
"""

from __future__ import annotations

from math import isinf, prod
from typing import Any

import numpy as np
from scipy import integrate

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.nested.plain_calls import OWN_VECTOR, demand, plainly
from adjoint.fast.nested.quadratures import NEXT, POINTS, PRECISION, WEIGHTS, weighed
from adjoint.fast.not_covered import Deoptimize

DIVISIONS, MOST_TIMES = 5, 4
"""Most divisions of the unit interval, and most evaluations of the integrand for each of SciPy's.
"""


# ---- the unit cube -------------------------------------------------------------------------------


def is_infinite(limit: Any) -> bool:
    """Return whether a limit is infinite; a program knows it."""
    return isinf(limit)


@handler(is_infinite)
def _(ev: Evaluator, limit: Abstract) -> Abstract:
    if isinstance(limit, Known):
        return Known(isinf(limit.value))
    ev.call(ev.outside.own(_demand_finite), [limit], {})
    return Known(False)


def _demand_finite(limit):
    demand(abs(constant(limit)) < np.inf)


def limits_of(ranges, xs, args):
    """Return the limits of the next variable, outside of which lie the variables `xs`."""
    given = ranges[len(ranges) - 1 - len(xs)]
    low, high = given(*xs, *args) if callable(given) else given
    return low, high


def placed(u, low, high):
    """Return what u in (0, 1) becomes between two limits, and the slope of that."""
    if is_infinite(low) and is_infinite(high):
        v = u * (1 - u)
        return (2 * u - 1) / v, (2 * u * u - 2 * u + 1) / (v * v)
    if is_infinite(high):
        return low + (1 - u) / u, 1 / (u * u)
    if is_infinite(low):
        return high - (1 - u) / u, 1 / (u * u)
    return low + (high - low) * u, high - low


def _sums(func: Any, ranges: Any, args: Any, rules: Any, xs: Any) -> tuple[Any, Any]:
    """Return the weighed sum of the integrand over the variables inside of `xs`, and the sum of the
    moduli."""
    low, high = limits_of(ranges, xs, args)
    if low == np.inf or high == -np.inf:
        raise Deoptimize("an integral from infinity")
    us, weights = rules[len(xs)]
    ts, slopes = placed(us, low, high)
    if len(xs) == len(ranges) - 1:
        found = np.array([func(t, *xs, *args) for t in ts.tolist()])
        sums, sizes = found, abs(found)
    else:
        pairs = [_sums(func, ranges, args, rules, (t, *xs)) for t in ts.tolist()]
        sums, sizes = np.array(pairs).T
    shares = slopes * weights
    return shares @ sums, abs(shares) @ sizes


def _rule(divisions: int) -> Any:
    """Return points and weights in (0, 1), which is divided a number of times."""
    ends = np.array([0.0, 1.0])
    for _ in range(divisions):
        ends = np.sort(np.concatenate((ends, ends[:-1] + (ends[1:] - ends[:-1]) * NEXT)))
    lengths = (ends[1:] - ends[:-1])[:, None]
    return (ends[:-1, None] + lengths * POINTS).ravel(), (lengths * WEIGHTS).ravel()


def _rules(func: Any, ranges: Any, args: Any, value: Any, left: int) -> Any:
    """Return rules for each variable, the outermost first, by which the integrand, whose integral
    is `value`, is integrated to rounding, and their sum. `left` evaluations are allowed."""
    rules = [_rule(0)] * len(ranges)
    total, size = _sums(func, ranges, args, rules, ())
    if abs(total - value) <= PRECISION * size:
        return rules, total
    for k in range(len(ranges)):
        for divisions in range(1, DIVISIONS):
            finer = [*rules[:k], _rule(divisions), *rules[k + 1 :]]
            left -= prod(len(us) for us, _ in finer)
            if left < 0:
                break
            before = total
            total, size = _sums(func, ranges, args, finer, ())
            if abs(total - before) <= PRECISION * size:
                break
            rules = finer
        else:
            left = -1
    if left < 0:
        raise Deoptimize("an integrand that is not smooth")
    return rules, total


def _nquad(func: Any, ranges: Any, args: Any, opts: Any) -> Any:
    value, error, info = integrate.nquad(func, ranges, args, opts, full_output=True)
    rules, total = _rules(func, ranges, args, value, MOST_TIMES * info["neval"])
    if not abs(total - value) <= 10.0 * (1.49e-8 + error + 1.49e-8 * abs(value)):
        raise Deoptimize("an integrand that is not smooth")
    return value, error, *map(np.concatenate, rules)


@definition(integrate.nquad)
def nquad(func, ranges, args=None, opts=None, full_output=False):
    others = () if args is None else tuple(args) if isinstance(args, tuple | list) else (args,)
    options = {} if opts is None else opts
    if full_output or not isinstance(options, dict):
        raise ValueError("other options")
    for name in options:
        if name not in ("epsabs", "epsrel", "limit"):
            raise ValueError("other options")
    count = len(ranges)

    def at(*us):
        xs, scale = others[:0], 1.0
        for k in range(count):
            low, high = limits_of(ranges, xs, others)
            x, slope = placed(us[k], low, high)
            xs, scale = (x, *xs), scale * slope
        return scale * func(*xs, *others)

    given = func, [*ranges], others, opts
    like = (0.0, 0.0) + (OWN_VECTOR,) * count
    value, error, *found = plainly(_nquad, given, like, at, *(0.5,) * count)
    rules = [np.reshape(x, (2, -1)) for x in found]
    points = [np.ravel(x) for x in np.meshgrid(*[x[0] for x in rules], indexing="ij")]
    first, *rest = [np.ravel(x) for x in np.meshgrid(*[x[1] for x in rules], indexing="ij")]
    for x in rest:
        first = first * x
    total = weighed(at, points, first)
    return value + float(total - constant(total)), error
