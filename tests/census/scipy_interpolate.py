"""`scipy.interpolate`: in the sample positions, the values and the points that are asked for."""

from __future__ import annotations

import numpy as np
from scipy import interpolate
from scipy.interpolate import BPoly, BSpline, CubicSpline, NdPPoly, PPoly

from tests.census.entries import Section, methods_of, public, via
from tests.rules.harness import reals

X = np.array([0.0, 0.3, 0.7, 1.0, 1.6, 2.0, 2.2])
Y, SLOPES, Q = reals(7), reals(7, seed=1), np.array([0.1, 0.9, 1.7])
GRID, VALUES = (X[:4], X), reals(4, 7)
PLACES = reals(3, 2, low=0.1, high=0.9)
KNOTS, COEFFICIENTS = np.arange(9.0), reals(5)
C = reals(3, 6)
SCATTERED, HEIGHTS = reals(12, 2), reals(12)
INSIDE = reals(3, 2, low=-0.4, high=0.4, seed=3)
TOLERANCES = {"rtol": 1e-5, "atol": 1e-7}


def of_class(kind, *more, **options):
    """Made of positions and values, then asked."""
    return via(lambda x, y, q: kind(x, y, *more, **options)(q), X, Y, Q, **TOLERANCES)


EXAMPLES = {
    "AAA": via(lambda y, q: interpolate.AAA(X, y)(q), Y, Q),
    "Akima1DInterpolator": of_class(interpolate.Akima1DInterpolator),
    "BPoly": via(lambda c, x, q: BPoly(c, x)(q), C, X, Q),
    "BSpline": via(lambda c, q: BSpline(KNOTS, c, 3)(3.0 + q), COEFFICIENTS, Q),
    "BarycentricInterpolator": via(
        lambda x, y, q: interpolate.BarycentricInterpolator(x, y, rng=0)(q), X, Y, Q, **TOLERANCES
    ),
    "BivariateSpline": via(
        lambda v, q: interpolate.RectBivariateSpline(*GRID, v)(q[:, 0], q[:, 1], grid=False),
        VALUES, PLACES,
    ),
    "CloughTocher2DInterpolator": via(
        lambda v, q: interpolate.CloughTocher2DInterpolator(SCATTERED, v)(q), HEIGHTS, INSIDE
    ),
    "CubicHermiteSpline": via(
        lambda x, y, s, q: interpolate.CubicHermiteSpline(x, y, s)(q), X, Y, SLOPES, Q
    ),
    "CubicSpline": of_class(CubicSpline),
    "FloaterHormannInterpolator": of_class(interpolate.FloaterHormannInterpolator, d=2),
    "InterpolatedUnivariateSpline": via(
        lambda y, q: interpolate.InterpolatedUnivariateSpline(X, y)(q), Y, Q
    ),
    "KroghInterpolator": of_class(interpolate.KroghInterpolator),
    "LSQUnivariateSpline": via(
        lambda y, q: interpolate.LSQUnivariateSpline(X, y, [1.1])(q), Y, Q
    ),
    "LSQBivariateSpline": via(
        lambda v: interpolate.LSQBivariateSpline(
            *SCATTERED.T, v, [0.0], [0.0], kx=1, ky=1
        )(0.1, 0.2),
        HEIGHTS,
    ),
    "LinearNDInterpolator": via(
        lambda v, q: interpolate.LinearNDInterpolator(SCATTERED, v)(q), HEIGHTS, INSIDE
    ),
    "NdBSpline": via(
        lambda c, q: interpolate.NdBSpline((KNOTS, KNOTS), c, 3)(3.0 + q), reals(5, 5), PLACES
    ),
    "NdPPoly": via(lambda c, q: NdPPoly(c, GRID)(q), reals(2, 3, 3, 6), PLACES),
    "NearestNDInterpolator": via(
        lambda v: interpolate.NearestNDInterpolator(SCATTERED, v)(INSIDE), HEIGHTS
    ),
    "PPoly": via(lambda c, x, q: PPoly(c, x)(q), C, X, Q),
    "PchipInterpolator": of_class(interpolate.PchipInterpolator),
    "RBFInterpolator": via(
        lambda p, v, q: interpolate.RBFInterpolator(p, v)(q), SCATTERED, HEIGHTS, INSIDE
    ),
    "Rbf": via(
        lambda p, v, q: interpolate.Rbf(p[:, 0], p[:, 1], v)(q[:, 0], q[:, 1]),
        SCATTERED, HEIGHTS, INSIDE, **TOLERANCES,
    ),
    "RectBivariateSpline": via(
        lambda v, q: interpolate.RectBivariateSpline(*GRID, v)(q[:, 0], q[:, 1], grid=False),
        VALUES, PLACES,
    ),
    "RegularGridInterpolator": via(
        lambda g, v, q: interpolate.RegularGridInterpolator((g, X), v)(q), X[:4], VALUES, PLACES
    ),
    "UnivariateSpline": via(lambda y, q: interpolate.UnivariateSpline(X, y, s=0)(q), Y, Q),
    "approximate_taylor_polynomial": via(
        lambda a: interpolate.approximate_taylor_polynomial(
            lambda x: np.exp(a * x), 0.0, 3, 1.0
        ).c,
        1.3,
    ),
    "barycentric_interpolate": via(
        lambda x, y, q: interpolate.barycentric_interpolate(x, y, q, rng=0), X, Y, Q, **TOLERANCES
    ),
    "bisplev": via(
        lambda c, x: interpolate.bisplev(x, 3.2, [KNOTS, KNOTS, c, 3, 3]), reals(25), 3.7
    ),
    "griddata": via(lambda v, q: interpolate.griddata(SCATTERED, v, q), HEIGHTS, INSIDE),
    "insert": via(
        lambda c: interpolate.insert(3.5, (KNOTS, np.append(c, np.zeros(4)), 3))[1][:6],
        COEFFICIENTS,
    ),
    "interp1d": via(lambda x, y, q: interpolate.interp1d(x, y)(q), X, Y, Q),
    "interpn": via(
        lambda g, v, q: interpolate.interpn((g, X), v, q), X[:4], VALUES, PLACES
    ),
    "krogh_interpolate": via(interpolate.krogh_interpolate, X, Y, Q, **TOLERANCES),
    "lagrange": via(lambda x, y: interpolate.lagrange(x, y).c, X[:4], Y[:4]),
    "make_interp_spline": of_class(interpolate.make_interp_spline),
    "make_lsq_spline": via(
        lambda x, y, q: interpolate.make_lsq_spline(
            x, y, np.array([0.0, 0.0, 0.0, 0.0, 1.1, 2.2, 2.2, 2.2, 2.2])
        )(q),
        X + np.array([0.01, 0, 0, 0, 0, 0, -0.01]), Y, Q,
    ),
    "make_smoothing_spline": via(
        lambda y, q: interpolate.make_smoothing_spline(X, y, lam=0.1)(q), Y, Q
    ),
    "pade": via(lambda a: interpolate.pade(a, 2)[0].c, Y[:5]),
    "pchip_interpolate": via(interpolate.pchip_interpolate, X, Y, Q, **TOLERANCES),
    "spalde": via(
        lambda c: interpolate.spalde(3.4, (KNOTS, np.append(c, np.zeros(4)), 3)), COEFFICIENTS
    ),
    "splantider": via(
        lambda c: interpolate.splantider((KNOTS, np.append(c, np.zeros(4)), 3))[1], COEFFICIENTS
    ),
    "splder": via(
        lambda c: interpolate.splder((KNOTS, np.append(c, np.zeros(4)), 3))[1], COEFFICIENTS
    ),
    "splev": via(
        lambda c, q: interpolate.splev(3.0 + q, (KNOTS, np.append(c, np.zeros(4)), 3)),
        COEFFICIENTS, Q,
    ),
    "splint": via(
        lambda c, a: interpolate.splint(a, 4.6, (KNOTS, np.append(c, np.zeros(4)), 3)),
        COEFFICIENTS, 3.2,
    ),
    "splrep": via(lambda y, q: interpolate.splev(q, interpolate.splrep(X, y)), Y, Q),
    "sproot": via(
        lambda c: interpolate.sproot((KNOTS, np.append(c, np.zeros(4)), 3)), COEFFICIENTS
    ),
}  # fmt: skip

KNOTS_CHOSEN = "its knots are chosen by trial, as many as the smoothness asks for"
SPHERE = "FITPACK's splines on the sphere have no rule"
REFUSED = {
    KNOTS_CHOSEN: """
        SmoothBivariateSpline bisplrep generate_knots make_splprep make_splrep splprep
    """,
    SPHERE: "LSQSphereBivariateSpline RectSphereBivariateSpline SmoothSphereBivariateSpline",
    "it only says that it is gone": "interp2d",
}


def cubic(f):
    """Of a spline through values."""
    return via(lambda x, y: f(CubicSpline(x, y)), X, Y, **TOLERANCES)


def basic(f):
    """Of a spline in B-splines."""
    return via(lambda c: f(BSpline(KNOTS, c, 3)), COEFFICIENTS)


METHODS = {
    "antiderivative": cubic(lambda s: s.antiderivative()(Q)),
    "construct_fast": via(lambda c, x: PPoly.construct_fast(c, x)(Q), C, X),
    "derivative": cubic(lambda s: s.derivative()(Q)),
    "extend": cubic(lambda s: s.extend(C[:, :2], X[-1] + np.array([0.4, 0.9])) or s(Q + 1.0)),
    "from_bernstein_basis": via(lambda c, x: PPoly.from_bernstein_basis(BPoly(c, x)).c, C, X),
    "from_spline": via(lambda c: PPoly.from_spline((KNOTS, c, 3)).c, COEFFICIENTS),
    "integrate": cubic(lambda s: s.integrate(0.2, 1.7)),
    "roots": cubic(lambda s: s.roots()),
    "solve": cubic(lambda s: s.solve(0.1)),
}
OF_B_SPLINES = {
    "antiderivative": basic(lambda s: s.antiderivative()(3.0 + Q)),
    "basis_element": via(lambda t: BSpline.basis_element(t)(1.3), np.array([0.0, 1.0, 2.0, 3.5])),
    "construct_fast": basic(lambda s: BSpline.construct_fast(KNOTS, s.c, 3)(3.0 + Q)),
    "derivative": basic(lambda s: s.derivative()(3.0 + Q)),
    "design_matrix": via(lambda x: BSpline.design_matrix(x, KNOTS, 3).toarray(), 3.0 + Q),
    "from_power_basis": cubic(lambda s: BSpline.from_power_basis(s).c),
    "insert_knot": basic(lambda s: s.insert_knot(3.5).c),
    "integrate": basic(lambda s: s.integrate(3.2, 4.6)),
}

SECTIONS = [
    Section("scipy.interpolate", public(interpolate), EXAMPLES, {}, REFUSED),
    Section("scipy.interpolate.PPoly", methods_of(PPoly), METHODS),
    Section("scipy.interpolate.BSpline", methods_of(BSpline), OF_B_SPLINES),
]
