"""Adaptive quadrature in terms of operations of programs: the definitions that these inline.

SciPy computes the value, and calls the integrand as it is. The derivative is the integral of the
derivative, by Leibniz' rule. It is taken as that of a sum over Gauss points, for integrands that
are so smooth that such a sum is their integral to rounding: they then have no jump or kink that
could move. The generic tier takes all others.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import Any

import numpy as np
from scipy import integrate

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import in_programs
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.nested.plain_calls import VECTOR, demand, plainly, written_or
from adjoint.fast.not_covered import Deoptimize
from adjoint.ir.single import Value
from adjoint.rulekit import nested
from adjoint.rules.scipy.searches import as_tuple, corrections

# ---- points --------------------------------------------------------------------------------------

_CUT, _SHIFT, NEXT = 0.38719, 0.17313, 0.46213
_GAUSS, _SHARES = np.polynomial.legendre.leggauss(10)
POINTS = np.concatenate((_CUT * (1 + _GAUSS) / 2, 1 - (1 - _CUT) * (1 + _GAUSS) / 2))
WEIGHTS = np.concatenate((_CUT * _SHARES / 2, (1 - _CUT) * _SHARES / 2))
"""Gauss' rule in two parts of unlike length. It shares no symmetry with SciPy's, so a jump or kink
that one of them integrates by chance shows in the other; none lies on its ends by chance."""
PRECISION = 1e-12
"""Greatest difference of two sums, relative to the integral of the modulus."""
GRADED = 1 / 64
"""Least length of an interval, relative to all: shorter ones surround what is not smooth."""
DIVISIONS, MOST_POINTS = 6, 4096

Change = tuple[float, float, Callable[[Any, Any], Any]]


def _points(f: Any, args: Any, value: Any, atol: float, starts: Any, change: Change) -> Any:
    """Return points and weights by which `f`, whose integral is `value`, is integrated to rounding.
    SciPy's intervals begin at `starts`; those of the sum have other ends, so that it sees a jump at
    one of SciPy's."""
    first, last, to_points = change
    ends = np.array([*sorted(starts), last])
    lengths = ends[1:] - ends[:-1]
    if len(lengths) > 1:
        if lengths.min() < GRADED * (last - first):
            raise Deoptimize("an integrand that is not smooth")
        ends[1:-1] += lengths[1:] * _SHIFT
        lengths = ends[1:] - ends[:-1]
    before = value
    for _ in range(DIVISIONS):
        us = (ends[:-1, None] + lengths[:, None] * POINTS).ravel()
        points, weights = to_points(us, (lengths[:, None] * WEIGHTS).ravel())
        if len(points) > MOST_POINTS:
            break
        terms = np.array([f(t, *args) for t in points.tolist()])
        total, size = weights @ terms, abs(weights) @ abs(terms)
        if _largest(total - before) <= PRECISION * _largest(size):
            if _largest(total - value) <= atol:
                return points, weights
            break
        before = total
        ends = np.sort(np.concatenate((ends, ends[:-1] + lengths * NEXT)))
        lengths = ends[1:] - ends[:-1]
    raise Deoptimize("an integrand that is not smooth")


def _largest(x: Any) -> Any:
    return abs(x).max() if isinstance(x, np.ndarray) else abs(x)


def _change(low: float, high: float) -> Change:
    """Return the ends of the variable of SciPy's intervals, and the function from points and
    weights in it to those of the integrand: u in (0, 1) becomes t = end ± (1 − u)/u. The whole line
    is divided elsewhere than SciPy divides it."""
    if not isinf(low) and not isinf(high):
        return low, high, lambda us, weights: (us, weights)
    ends = [(high, -1.0)] if isinf(low) else [(low, 1.0)]
    if isinf(low) and isinf(high):
        ends = [(_CUT, 1.0), (_CUT, -1.0)]

    def to_points(us: Any, weights: Any) -> Any:
        points = [end + sign * (1 - us) / us for end, sign in ends]
        return np.concatenate(points), np.concatenate([weights / us**2] * len(ends))

    return 0.0, 1.0, to_points


def _quad(func: Any, a: Any, b: Any, args: Any, epsabs: Any, epsrel: Any, limit: Any) -> Any:
    found = integrate.quad(func, a, b, args, 1, epsabs, epsrel, limit)
    if len(found) > 3 or "last" not in found[2]:
        raise Deoptimize("an integral that does not converge")
    (value, error, info), (low, high) = found, sorted((float(a), float(b)))
    starts = info["alist"][: info["last"]].tolist()
    sign = 1.0 if a <= b else -1.0
    atol = 10.0 * (epsabs + error + epsrel * abs(value))
    points, weights = _points(func, args, sign * value, atol, starts, _change(low, high))
    return value, error, points, sign * weights


# ---- the derivative ------------------------------------------------------------------------------


@in_programs
def weighed(ev: Evaluator, f: Abstract, points: Abstract, weights: Abstract) -> Abstract:
    """Stand for the weighed sum of a function of numbers at some points, given by an array of each
    number: of all at once, or one after the other where the function has branches."""
    return written_or(ev, _at_once, _one_by_one, [f, points, weights])


def _at_once(f, points, weights):
    values = nested.vmap(f)(*points)
    return weights @ values if np.ndim(values) < 3 else np.tensordot(weights, values, 1)


def _one_by_one(f, points, weights):
    total = 0.0
    several = zip(*[x.tolist() for x in points])  # noqa: B905 (it is lowered)
    for ts, weight in zip(several, weights.tolist()):  # noqa: B905
        total = total + weight * f(*ts)
    return total


@in_programs
def is_known(ev: Evaluator, x: Abstract) -> Abstract:
    """Stand for whether a number is known at specialisation."""
    return Known(not isinstance(x, Value))


def beyond(f, limit):
    """Return the integral from the present value of a limit to the limit: zero, with its first two
    derivatives."""
    if is_known(limit):
        return 0.0
    start = constant(limit)
    for order in corrections():
        demand(order < 2)
    demand(abs(start) < np.inf)
    return (limit - start) * f((limit + start) / 2)


@definition(integrate.quad)
def quad(
    func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None,
    weight=None, wvar=None, wopts=None, maxp1=50, limlst=50, complex_func=False,
):  # fmt: skip
    if full_output or points is not None or weight is not None or complex_func:
        raise ValueError("other options")
    others = as_tuple(args)
    at = lambda t: func(t, *others)
    given = func, a, b, others, epsabs, epsrel, limit
    value, error, places, weights = plainly(_quad, given, (0.0, 0.0, VECTOR, VECTOR), at, 0.5)
    total = weighed(at, (places,), weights) + beyond(at, b) - beyond(at, a)
    return value + float(total - constant(total)), error


# ---- vector-valued functions ---------------------------------------------------------------------


def _quad_vec(f: Any, a: Any, b: Any, args: Any, limit: Any, *options: Any) -> Any:
    epsabs, epsrel, norm, rule = options
    value, error, info = integrate.quad_vec(
        f, a, b, epsabs, epsrel, norm, limit=limit, quadrature=rule, full_output=True, args=args
    )
    if not info.success:
        raise Deoptimize("an integral that does not converge")
    low, high = sorted((float(a), float(b)))
    starts = [0.0]
    if not isinf(low) and not isinf(high):
        starts = np.min(info.intervals, axis=1).tolist()
    sign = 1.0 if a <= b else -1.0
    atol = 10.0 * (error + epsrel * _largest(value))
    points, weights = _points(f, args, sign * value, atol, starts, _change(low, high))
    return value, float(error), points, sign * weights


@definition(integrate.quad_vec)
def quad_vec(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100e6, limit=10000, workers=1,
    points=None, quadrature=None, full_output=False, *, args=(),
):  # fmt: skip
    if full_output or points is not None or workers != 1 or a == b:
        raise ValueError("other options")
    others = as_tuple(args)
    at = lambda t: f(t, *others)
    given = f, a, b, others, limit, epsabs, epsrel, norm, quadrature
    like = None, 0.0, VECTOR, VECTOR
    value, error, places, weights = plainly(_quad_vec, given, like, at, 0.5)
    total = weighed(at, (places,), weights) + beyond(at, b) - beyond(at, a)
    moved = total - constant(total)
    return value + (moved if np.ndim(value) else float(moved)), error
