"""`adjoint.rules.scipy.interpolate`: the functions that programs call, and their adjoints."""

import numpy as np
import pytest

from adjoint.derivatives.differences import random_like
from adjoint.rulekit import registry
from adjoint.rules.scipy.interpolate.bsplines import knots_of
from adjoint.rules.scipy.interpolate.cells import corners, corners_spread
from adjoint.rules.scipy.interpolate.fitpack import (
    class_coefficients,
    fitpack_coefficients,
    fitpack_spline,
)
from adjoint.rules.scipy.interpolate.integrals import (
    integral,
    integral_in_breakpoints,
    integral_spread,
)
from adjoint.rules.scipy.interpolate.piecewise import spread, within
from adjoint.rules.scipy.interpolate.splines import (
    coefficients,
    knots_back,
    knots_dot,
    spline_spread,
    spline_within,
    turned_coefficients,
)
from tests.levels import check_forward
from tests.rules.harness import complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second_order
from tests.support import Sample, check_reverse

# ---- cells of grids ------------------------------------------------------------------------------

PLACES = np.array([[0, 2, 1, 2, 1, 0], [1, 0, 3, 2, 3, 0]])
"""Cells of six points, two of them in one cell."""
S = reals(2, 6, low=0.1, high=0.9, seed=2)


def cells(draw):
    """A plane, a line, three axes, values of one and two further axes, and slopes."""
    return [
        (draw(4, 5), PLACES, S, (0, 0)),
        (draw(4, 5), PLACES, S, (1, 0)),
        (draw(4, 5), PLACES, S, (1, 1)),
        (draw(4, 5), PLACES, S, (0, 2)),
        (draw(4), PLACES[:1], S[:1], (0,)),
        (draw(4, 5, 1), PLACES, S, (0, 0)),
        (draw(4, 5, 2), PLACES, S, (0, 0)),
        (draw(4, 5, 2, 3), PLACES, S, (0, 1)),
        (draw(4, 3, 5), np.stack([PLACES[0], PLACES[0] // 2, PLACES[1]]), np.stack([*S, S[0]]),
         (0, 0, 0)),
    ]  # fmt: skip


def spread_of(draw):
    """The same for the adjoint, whose first operand has a row for each point. The first is left
    out: SciPy's code rounds in another way where the cotangent is read-only."""
    return [
        (draw(places.shape[1], *values.shape[len(places) :], seed=5), values, places, s, orders)
        for values, places, s, orders in cells(draw)[1:]
    ]


# ---- piecewise polynomials -----------------------------------------------------------------------

X = np.array([0.0, 0.4, 1.0, 1.7, 2.1])
POINTS = np.array([0.1, 0.5, 1.2, 1.9, 0.7])
BEYOND = np.array([-0.5, 0.3, 2.6, 0.9, 1.1])
TURNED = X[::-1].copy()
OPTIONS = [
    *((X, POINTS, nu, True) for nu in range(5)),
    (X, BEYOND, 0, True),
    (X, BEYOND, 1, False),
    (TURNED, POINTS, 0, True),
    (TURNED, BEYOND, 1, False),
]
LIMITS = [
    (X, 0.1, 1.9, False),
    (X, 0.5, 0.9, False),
    (X, -0.3, 2.5, True),
    (X, 2.4, 2.9, True),
    (TURNED, 0.1, 1.9, True),
]

INTEGRALS = [(reals(4, 4, 2), *options) for options in LIMITS]

# ---- splines -------------------------------------------------------------------------------------

KNOTS = np.array([0.0, 0.1, 0.2, 0.3, 0.6, 1.1, 1.9, 2.0, 2.1, 2.2])
INSIDE = np.array([0.35, 0.7, 1.5, 1.85, 0.65])
AROUND = np.array([-0.4, 0.5, 2.3])
SPLINES = [
    *((KNOTS, 3, INSIDE, nu, True) for nu in range(5)),
    (KNOTS, 3, AROUND, 1, True),
    (KNOTS, 3, AROUND, 0, False),
    (KNOTS, 1, INSIDE, 0, True),
    (KNOTS, 2, INSIDE, 1, False),
    (np.arange(13.0) / 6, 5, INSIDE, 0, True),
    (KNOTS, 3, INSIDE[:0], 0, True),
]


def size(t, k):
    return len(t) - k - 1


def of_knots(rows):
    """Operands of `knots_back` and of `knots_dot`, which differ in the first one."""
    return [
        (
            reals(len(x), 2, seed=4) if rows else reals(len(t), seed=4),
            *(t, reals(size(t, k), 2), k, x, nu, extrapolate),
        )
        for t, k, x, nu, extrapolate in SPLINES
    ]


def interpolating(k, values):
    """Positions, values there, and the knots that FITPACK takes for them."""
    return POSITIONS, values, k, knots_of(POSITIONS, k, POSITIONS[0], POSITIONS[-1])


POSITIONS = np.array([0.0, 0.3, 0.7, 1.0, 1.6, 2.0, 2.2])
MANY = 3.0 * np.arange(70.0) + 0.5 * reals(70)
"""More positions than equations that are solved with a full matrix."""
STRETCHED = np.concatenate([MANY[:4] - 12.0, MANY[2:-2] + 0.5, MANY[-4:] + 12.0])
BETWEEN = np.concatenate([[-0.4, -0.3, -0.2, -0.1], POSITIONS[2:-2], [2.3, 2.4, 2.5, 2.6]])
BESIDE = np.concatenate([[-0.2], POSITIONS[:3] - 0.05, POSITIONS[3:] + 0.05, [2.4]])
INTERPOLANTS = [
    (POSITIONS, reals(7, 2), 3, BETWEEN),
    (POSITIONS, reals(7, 1), 2, 0.48 * np.arange(10.0) - 1.0),
    (POSITIONS, reals(7, 1), 1, BESIDE),
    (MANY, reals(70, 2), 3, STRETCHED),
]

CASES = {
    corners: [*cells(reals), *cells(complexes)],
    corners_spread: [*spread_of(reals), *spread_of(complexes)],
    within: [
        *((reals(4, 4, 2), *options) for options in OPTIONS),
        *((complexes(3, 4, 2), *options) for options in OPTIONS),
        (reals(1, 4, 2), X, POINTS, 0, True),
        (reals(4, 4, 2), X, POINTS[:0], 0, True),
    ],
    spread: [
        *((reals(5, 2), x, at, 4, nu, beyond) for x, at, nu, beyond in OPTIONS if len(at) == 5),
        *((complexes(5, 2), x, at, 3, nu, beyond) for x, at, nu, beyond in OPTIONS),
        (reals(5, 1), X, POINTS, 1, 0, True),
        (reals(0, 2), X, POINTS[:0], 4, 0, True),
    ],
    integral_spread: [
        *((reals(2), x, a, b, 4, beyond) for x, a, b, beyond in LIMITS),
        *((complexes(3), x, a, b, 2, beyond) for x, a, b, beyond in LIMITS),
    ],
    integral_in_breakpoints: [
        *((reals(2), reals(4, 4, 2), *options) for options in LIMITS),
        *((complexes(3), complexes(2, 4, 3), *options) for options in LIMITS),
    ],
    spline_within: [(t, reals(size(t, k), 2), *rest) for t, *rest in SPLINES for k in rest[:1]],
    fitpack_spline: [
        (t, reals(size(t, k), 1), k, x, nu, True)
        for t, k, x, nu, _ in SPLINES
        if nu <= k and len(x)
    ],
    spline_spread: [
        (reals(len(x), 2), t, k, x, size(t, k), nu, beyond) for t, k, x, nu, beyond in SPLINES
    ],
    knots_back: of_knots(rows=True),
    knots_dot: of_knots(rows=False),
    coefficients: INTERPOLANTS,
    turned_coefficients: INTERPOLANTS,
}
test_rule = table(CASES)

# ---- tangents that programs inline ---------------------------------------------------------------

FORMULAS = [(f, args) for f, calls in {integral: INTEGRALS, **CASES}.items() for args in calls]


@pytest.mark.parametrize(
    "f, args", [(f, args) for f, args in FORMULAS if registry.entry(f).tangent is not None]
)
def test_formulas_of_tangents_agree_with_pullbacks(f, args):
    """Of each real operand alone, and of all at once."""
    y, back = registry.rrule(f, *args)
    rng = np.random.default_rng(0)
    y_bar = random_like(y, rng)
    bars = back(y_bar)[1:]
    places = [i for i, bar in enumerate(bars) if bar is not None]
    if f in (integral, integral_spread):
        places.remove(1)  # it has none for breakpoints
    dots = [random_like(x, rng) if i in places else None for i, x in enumerate(args)]
    for only in (places, *([place] for place in places)):
        some = [dot if i in only else None for i, dot in enumerate(dots)]
        y_dot = registry.entry(f).tangent(some, y, *args)
        expected = sum(np.vdot(bars[i], dots[i]).real for i in only)
        np.testing.assert_allclose(np.vdot(y_bar, y_dot).real, expected, rtol=1e-9, atol=1e-11)


# ---- coefficients of FITPACK ---------------------------------------------------------------------

FITPACK = (fitpack_coefficients, class_coefficients)
CASES.update({f: [interpolating(k, reals(7, 1)) for k in (3, 1, 2, 4, 5)] for f in FITPACK})


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("f", FITPACK)
def test_coefficients_with_their_own_knots(f, k):
    """Knots and positions move together: FITPACK chooses the knots itself."""

    def found(x, b):
        return f(x, b, k, knots_of(x, k, x[0], x[-1]))

    sample = Sample(found, (POSITIONS, reals(7, 1)), {})
    np.testing.assert_allclose(found(*sample.args), coefficients(*interpolating(k, reals(7, 1))))
    check_reverse(found, *sample.args, rtol=1e-6)
    check_forward(sample)
    check_second_order(found, *sample.args)
