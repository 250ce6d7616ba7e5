"""Adaptive quadrature: `quad` (with `dblquad`, `tplquad` and `nquad`) and `quad_vec`.

The value is SciPy's. By Leibniz' rule the derivative is the integral of the integrand's derivative
plus the integrand at the limits. The integral is a sum over Gauss points, at each of which the
integrand is differentiated like any function. The points move with the places where the integrand
is not smooth. The derivative is refused where the integrand jumps, or is so singular that such a
sum of its values is not its integral.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import _quadpack, quad, quad_vec

from adjoint.diagnostics.no_derivative import Reason, needed
from adjoint.levels.foreign.search_state import State, refuse_stored
from adjoint.rulekit import nested
from adjoint.rulekit.refusal import NoDerivative, refusal, refused_bar
from adjoint.rulekit.registry import (
    frule,
    leveled,
    non_differentiable,
    primitive,
    rrule,
    substitute,
)
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.equivalents import refusing, with_derivative_of
from adjoint.rules.scipy.integrate.grid import Grid, HalfLine, Identity
from adjoint.rules.scipy.integrate.integrand import under
from adjoint.rules.scipy.integrate.integrand_sums import weighed
from adjoint.rules.scipy.searches import capturing
from adjoint.runtime.dispatch.program_call import in_program
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.steering import stop_gradient

SINGULAR = NoDerivative("the limit", "is not finite: the integrand cannot be evaluated there")
COMPILED = NoDerivative("its arguments", "is not known: the integrand is not in Python")


STORES = Reason(
    "runs a function that stores something, at points of its own",
    "store it in code that is called afterwards, or store ad.stop_gradient(...) if it has no"
    " derivative",
)


def _evaluate_plainly(find: Any, f: Any, where: int, among: int, at: Any) -> None:
    """Call `f`, which evaluates an integrand, without differentiation.

    `where` and `among` are the positions of the integrand and its arguments in `f`'s operands, and
    `at` gives a point of the integrand. An integrand that has a program there stores nothing.
    Whatever the integrand stores meanwhile has no derivative.
    """

    @primitive(f)
    def _(record: Any, slot: int, *operands: Any) -> Any:
        given = func, args = operands[where], operands[among]
        if not record[0].globals_written and nested.has_program(func, (at(operands), *args)):
            return f(*operands)
        before = State(given)
        try:
            return f(*operands)
        finally:
            error = needed(find, STORES, given)
            refuse_stored(record, slot, len(operands), error, given, before)


def at_limit(func: Any, limit: Any, args: Any) -> Any:
    """Return the integrand at a limit, or ``None`` where it has no value."""
    limit = float(limit)
    try:
        with np.errstate(all="ignore"):
            y = func(limit, *args)
            return y if np.ndim(y) else np.asarray(y)[()]
    except (ArithmeticError, ValueError):  # reported only if the derivative is used
        return None


_evaluate_plainly(quad, at_limit, 0, 2, lambda given: float(given[1]))


def _within(low: Any, high: Any) -> float:
    """Return a point between two limits."""
    ends = [end for end in (float(low), float(high)) if np.isfinite(end)]
    if len(ends) == 2:
        return 0.5 * (ends[0] + ends[1])
    return ends[0] + (1.0 if np.isinf(high) else -1.0) if ends else 0.5


# ---- the limits ----------------------------------------------------------------------------------


@non_differentiable
def order() -> int:
    """Return the number of nested derivatives of the running evaluation."""
    return 1


@leveled(order)
def _(level: Any, record: Any, slot: int) -> int:
    return len([*level.down()])


def moving(limit: float, value: Any) -> Any:
    """Return zero with the derivative `value` in `limit`, where `value` may not be finite."""
    return 0.0 if value is None else np.zeros(np.shape(value), np.asarray(value).dtype)[()]


@rrule.register(moving)
def _(limit, value):
    def moving_back(y_bar: Any) -> Any:
        if value is None:
            return None, refused_bar(quad, SINGULAR, y_bar), None
        return None, float(np.real(np.sum(y_bar * np.conj(value)))), None

    return moving(limit, value), moving_back


@frule.register(moving)
def _(dots, limit, value):
    if dots[0] is None:
        return moving(limit, value), None
    if value is None:
        raise refusal(quad, SINGULAR)
    return moving(limit, value), dots[0] * value


def vanishing(length: float, factor: Any) -> Any:
    """Return ``length * factor`` for a zero length: zero, even if `factor` is infinite. The
    derivative in the length is `factor`, hence infinite if `factor` is."""
    return np.zeros(np.shape(factor), np.asarray(factor).dtype)[()]


@rrule.register(vanishing)
def _(length, factor):
    def vanishing_back(y_bar: Any) -> Any:
        along = float(np.real(np.sum(y_bar * np.conj(factor))))
        return None, along, vanishing(length, y_bar)

    return vanishing(length, factor), vanishing_back


@frule.register(vanishing)
def _(dots, length, factor):
    y_dot = None if dots[0] is None else dots[0] * factor
    if dots[1] is not None:
        rest = vanishing(length, dots[1])
        y_dot = rest if y_dot is None else y_dot + rest
    return vanishing(length, factor), y_dot


NEAR, SHARES = (found.tolist() for found in np.polynomial.legendre.leggauss(8))


def beyond(limit: Any, func: Any, args: Any) -> Any:
    """Return the integral from the current value of the limit to the limit: zero.

    It has derivatives of any order in the limit and in the integrand's operands, because Gauss'
    rule is exact for polynomials.
    """
    value = at_limit(func, limit, args)
    if order() == 1 or value is None or not np.all(np.isfinite(value)):
        return moving(limit, value)
    start = stop_gradient(limit)
    length, total = limit - start, 0.0
    with np.errstate(all="ignore"):  # a slope there may be infinite
        for near, share in zip(NEAR, SHARES):  # noqa: B905 (it is lowered)
            total = total + share / 2 * func(start + length * (1 + near) / 2, *args)
    return vanishing(length, total)


# ---- the sum -------------------------------------------------------------------------------------


def zero_without_derivative(func: Any, args: Any, why: Reason) -> float:
    """Return zero, whose derivative in everything that the integrand reads is unknown."""
    return 0.0


zero_without_derivative.__module__, zero_without_derivative.__qualname__ = (
    "scipy.integrate",
    "quad",
)  # the name in messages


@primitive(zero_without_derivative)
def _(record: Any, slot: int, func: Any, args: Any, why: Reason) -> Any:
    return run_unknown(
        record[0], record, slot, zero_without_derivative, (func, args, why), {}, why, trusted=True
    )


def _shift(place, known, func, args, named):
    """Return the movement of a place: zero, with the derivatives of the place."""
    if place.mark is None and place.name < 2:
        return 0.0
    if place.mark is None or place.name in known.tied:
        return named[place.name] - stop_gradient(named[place.name])
    shift = 0.0
    for _ in range(max(known.order - 1, 1)):  # Newton steps: each adds an order of derivatives
        gap = 0.0
        for side, sign in place.mark.sides:
            gap = gap + sign * func(side + shift, *args)
        shift = shift - np.real(np.sum((gap - stop_gradient(gap)) * place.mark.along))
    return shift


def _moved(known, shifts):
    """Return the points, moved with the places around them, and factors of their weights."""
    nodes = known.nodes
    shares, slopes = between(nodes.points, known.places)
    shifts = np.array(shifts)
    return nodes.points + shares @ shifts, 1.0 + slopes @ shifts


@non_differentiable
def between(points: Any, places: Any) -> Any:
    """Return the share of each place in the movement of each point, and the slope of the share.

    A point moves with the places below and above it, by linear interpolation; beyond the last
    places it moves with one.
    """
    ats = np.array([place.at for place in places])
    high = np.searchsorted(ats, points)
    low, high = np.maximum(high - 1, 0), np.minimum(high, len(ats) - 1)
    lengths = ats[high] - ats[low]
    slope = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    share = (points - ats[low]) * slope
    of_low, of_high = (np.eye(len(ats))[chosen] for chosen in (low, high))
    rest = of_high - of_low
    return of_low + share[:, None] * rest, slope[:, None] * rest


def _carrier(value, known, func, args, named, number):
    """Return the integral as a sum, with its derivatives, or `value` where none is known."""
    shifts = [_shift(place, known, func, args, named) for place in known.places]
    if known.lost is None:
        total = _sum(known, shifts, func, args, number)
    else:
        total = value + zero_without_derivative(func, args, known.lost)
    for i, sign in ((0, -1.0), (1, 1.0)):
        if np.isfinite(named[i]) and i not in known.tied:
            limit = named[i]
            for place, shift in zip(known.places, shifts):  # noqa: B905 (it is lowered)
                if place.name == i:
                    limit = limit - shift
            total = total + sign * beyond(limit, func, args)
    return total


def _sum(known, shifts, func, args, number):
    nodes = known.nodes
    if shifts:
        points, scales = _moved(known, shifts)
        terms = []
        for point, scale in zip(points.tolist(), scales.tolist()):  # noqa: B905 (it is lowered)
            terms.append(scale * number(func(point, *args)))
    elif known.order == 1:
        return in_program(
            capturing(_weighed, func), args, nodes.points.tolist(), nodes.weights.tolist()
        )
    else:
        terms = [number(func(point, *args)) for point in nodes.points.tolist()]
    return weighed(terms, nodes.weights, nodes.nulls, nodes.blocks, known.order > 1)


def _weighed(func, args, points, weights):
    total = 0.0
    for point, weight in zip(points, weights):  # noqa: B905 (it is lowered)
        total = total + weight * func(point, *args)
    return total


# ---- QUADPACK's routines -------------------------------------------------------------------------


def evaluated(
    leaf: Any, func: Any, where: Any, args: Any, tolerances: Any, limit: int, named: Any, order: int
) -> Any:
    """Return QUADPACK's full output and the analysis of the integrand."""
    found = leaf(func, *where, args, 1, *tolerances, limit)
    info = found[2]
    if not callable(func):
        return found, None
    with np.errstate(all="ignore"):
        change = HalfLine(*where) if leaf is _quadpack._qagie else Identity()
        ends = info["alist"][: info["last"]], info["blist"][: info["last"]]
        grid = Grid(lambda t: float(func(t, *args)), change, *ends)
        return found, under(func, args, grid, named, order)


_evaluate_plainly(quad, evaluated, 1, 3, lambda given: _within(*given[6][:2]))


def _integral(leaf, func, where, args, tolerances, limit, full_output, named):
    found, known = evaluated(leaf, func, where, args, tolerances, limit, named, order())
    if known is None:
        carrier = refusing(found[0], quad, COMPILED, *where, *args)
    else:
        carrier = _carrier(found[0], known, func, args, named, float)
    atol = 10.0 * (tolerances[0] + found[1])
    y = with_derivative_of(found[0], carrier, quad, 10.0 * tolerances[1], atol)
    return (y, *found[1:]) if full_output else (y, found[1], *found[3:])


@substitute(_quadpack._qagse)
def qagse(func, a, b, args, full_output, epsabs, epsrel, limit):
    where = a, b
    return _integral(
        _quadpack._qagse, func, where, args, (epsabs, epsrel), limit, full_output, where
    )


@substitute(_quadpack._qagpe)
def qagpe(func, a, b, points, args, full_output, epsabs, epsrel, limit):
    named = [a, b]
    for i in range(len(points) - 2):  # QUADPACK needs two extra entries for the limits
        named.append(points[i])
    where = a, b, points
    return _integral(
        _quadpack._qagpe, func, where, args, (epsabs, epsrel), limit, full_output, named
    )


@substitute(_quadpack._qagie)
def qagie(func, bound, infbounds, args, full_output, epsabs, epsrel, limit):
    named = (-np.inf, np.inf) if infbounds == 2 else (bound, np.inf)
    if infbounds == -1:
        named = -np.inf, bound
    return _integral(
        _quadpack._qagie, func, (bound, infbounds), args, (epsabs, epsrel), limit, full_output,
        named,
    )  # fmt: skip


# ---- equal limits --------------------------------------------------------------------------------

SPECIAL = NoDerivative("the limits", "is not known where they are equal, with a weight or complex")
_QUAD = without_rule(quad)


@substitute(quad)
def quad_of(
    func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None,
    weight=None, wvar=None, wopts=None, maxp1=50, limlst=50, complex_func=False,
):  # fmt: skip
    """Differentiate `quad` between equal limits, where SciPy does not evaluate the integrand."""
    found = _QUAD(
        func, a, b, args, full_output, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1,
        limlst, complex_func,
    )  # fmt: skip
    if a != b:
        return found
    others = args if isinstance(args, tuple) else (args,)
    value = found[0]
    if weight is not None or complex_func:  # SciPy drops the sign of complex integrals
        value = complex(value) if complex_func else value  # refuses the imaginary part as well
        carrier = refusing(value, quad, SPECIAL, a, b)
    else:
        carrier = value + beyond(b, func, others) - beyond(a, func, others)
    return (with_derivative_of(value, carrier, quad, 0.0, 0.0), *found[1:])


# ---- vector-valued functions ---------------------------------------------------------------------


def vectors(f: Any, a: Any, b: Any, args: Any, options: dict[str, Any], order: int) -> Any:
    """Return the full output of `quad_vec` and the analysis of the integrand."""
    found = quad_vec(f, a, b, **{**options, "full_output": True}, args=args)
    left, right = sorted((float(a), float(b)))
    if np.isinf(left) or np.isinf(right):
        whole = np.isinf(left) and np.isinf(right)
        change: Identity = (
            HalfLine(0.0, 2)
            if whole
            else HalfLine(right, -1)
            if np.isinf(left)
            else HalfLine(left, 1)
        )
        ends = np.array([[0.0, 1.0]])
    else:
        change, ends = Identity(), np.sort(found[2].intervals, axis=1)

    named = left, right, *(options["points"] or ())
    with np.errstate(all="ignore"):
        grid = Grid(lambda t: np.asarray(f(t, *args)), change, ends[:, 0], ends[:, 1])
        return found, under(f, args, grid, named, order)


_evaluate_plainly(quad_vec, vectors, 0, 3, lambda given: _within(given[1], given[2]))


def _identity(value):
    return value


@substitute(quad_vec)
def quad_vec_of(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100e6, limit=10000, workers=1,
    points=None, quadrature=None, full_output=False, *, args=(),
):  # fmt: skip
    args = args if isinstance(args, tuple) else (args,)
    options = {
        "epsabs": epsabs, "epsrel": epsrel, "norm": norm, "cache_size": cache_size,
        "limit": limit, "workers": workers, "points": points, "quadrature": quadrature,
    }  # fmt: skip
    found, known = vectors(f, a, b, args, options, order())
    sign, named = (1.0, [a, b]) if a <= b else (-1.0, [b, a])
    if points is not None:
        named.extend(points)
    carrier = sign * _carrier(sign * found[0], known, f, args, named, _identity)
    size = float(np.max(np.abs(found[0])))
    y = with_derivative_of(found[0], carrier, quad_vec, 1e-12, 10.0 * (found[1] + epsrel * size))
    return (y, *found[1:]) if full_output else (y, found[1])
