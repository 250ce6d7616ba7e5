"""`adjoint.rules.scipy.interpolate`: piecewise polynomials, and grids."""

import numpy as np
import pytest
from scipy import interpolate

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rules.scipy.interpolate.integrals import continued, integral, tensor
from adjoint.rules.scipy.interpolate.piecewise import bernstein, piecewise
from tests.rules.harness import complexes, reals, table
from tests.support import check_reverse

X = np.array([0.0, 0.4, 1.0, 1.7, 2.1])
POINTS = np.array([0.1, 0.5, 1.2, 1.9, 0.7])
BEYOND = np.array([-0.5, 0.3, 2.6])
C = reals(4, 4, 2)
GRIDS = X[:3] * 1.0, np.array([0.0, 0.5, 0.8, 2.0])
ORDERS = np.array([2, 3], np.intc)
TWO = reals(5, 2, low=0.05, high=0.9)

EVALUATED = [
    *((C, X, POINTS, nu, True) for nu in range(5)),
    (C, X, BEYOND, 0, True),
    (complexes(3, 4, 2), X, POINTS, 1, False),
    (C, X[::-1].copy(), POINTS, 0, True),
    (C[:1], X, POINTS, 0, True),
    (C, X, POINTS[:0], 0, True),
]
CASES = {
    piecewise: EVALUATED,
    bernstein: EVALUATED,
    integral: [
        (C, X, 0.1, 1.9, False),
        (C, X, 0.5, 0.9, False),
        (C, X, -0.3, 2.5, True),
        (C, X, 2.4, 2.9, True),
        (complexes(2, 4, 3), X, 0.2, 1.3, True),
        (C, X[::-1].copy(), 0.1, 1.9, True),
    ],
    continued: [(C, X, 0), (C, X, 2), (complexes(3, 4, 1), X, 1), (C, X[::-1].copy(), 1)],
    tensor: [
        (reals(6, 6, 2), GRIDS, ORDERS, TWO, np.zeros(2, np.intc), True),
        (reals(6, 6, 1), GRIDS, ORDERS, TWO, np.ones(2, np.intc), True),
        (complexes(6, 6, 1), GRIDS, ORDERS, TWO + 0.7, np.zeros(2, np.intc), True),
    ],
}
test_rule = table(CASES)

Y, SLOPES = reals(5, seed=3), reals(5, seed=4)
MADE = {
    "natural": lambda x, y, q: interpolate.CubicSpline(x, y, bc_type="natural")(q),
    "clamped": lambda x, y, q: interpolate.CubicSpline(x, y, bc_type="clamped")(q, 1),
    "not-a-knot": lambda x, y, q: interpolate.CubicSpline(x, y)(q),
    "ends": lambda x, y, q: interpolate.CubicSpline(x, y, bc_type=((1, y[0]), (2, 0.3)))(q),
    "periodic": lambda x, y, q: interpolate.CubicSpline(
        x, np.concatenate([y[:-1], y[:1]]), bc_type="periodic"
    )(q + 1.0),
    "columns": lambda x, y, q: interpolate.CubicSpline(x, np.stack([y, y * y], 1))(q),
    "axis": lambda x, y, q: interpolate.CubicSpline(x, np.stack([y, y * y]), axis=1)(q),
    "pchip": lambda x, y, q: interpolate.PchipInterpolator(x, y)(q),
    "akima": lambda x, y, q: interpolate.Akima1DInterpolator(x, y)(q),
    "hermite": lambda x, y, q: interpolate.CubicHermiteSpline(x, y, y * y)(q),
    "derivative": lambda x, y, q: interpolate.CubicSpline(x, y).derivative(2)(q),
    "antiderivative": lambda x, y, q: interpolate.CubicSpline(x, y).antiderivative(2)(q),
    "integrate": lambda x, y, q: interpolate.CubicSpline(x, y).integrate(q[0], q[3]),
    "backwards": lambda x, y, q: interpolate.CubicSpline(x, y).integrate(q[3], q[0]),
    "bernstein": lambda x, y, q: interpolate.BPoly.from_power_basis(
        interpolate.CubicSpline(x, y)
    )(q),
    "derivatives": lambda x, y, q: interpolate.BPoly.from_derivatives(
        x, np.stack([y, y * y], 1)
    )(q),
    "linear": lambda x, y, q: interpolate.interp1d(x, y)(q),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_classes(name):
    check_reverse(MADE[name], X, Y, POINTS, rtol=1e-5, atol=1e-7)


def test_points_outside_have_no_derivative():
    spline = interpolate.CubicSpline(X, Y, extrapolate=False)
    (bar,) = ad.gradient(lambda q: np.nansum(spline(q)), BEYOND)
    assert bar[0] == bar[2] == 0.0
    assert bar[1] == pytest.approx(float(spline(BEYOND[1], 1)), rel=1e-12)


def test_roots_are_refused():
    with pytest.raises(NoDerivativeError, match="roots"):
        ad.gradient(lambda y: interpolate.CubicSpline(X, y).roots()[0], Y)


# ---- grids ---------------------------------------------------------------------------------------

G, H = np.array([0.0, 0.3, 0.7, 1.2]), np.array([0.0, 0.5, 1.0, 2.0, 2.2])
ON_GRID = {
    "linear, plane": (reals(4, 5), 2, {}),
    "complex": (complexes(4, 5), 2, {}),
    "linear, line": (reals(4), 1, {}),
    "several values": (reals(4, 5, 2), 2, {}),
    "beyond": (reals(4, 5), 2, {"bounds_error": False, "fill_value": None}),
    "filled": (reals(4, 5), 2, {"bounds_error": False, "fill_value": 3.0}),
    "nearest": (reals(4, 5), 2, {"method": "nearest"}),
    "pchip": (reals(4, 5), 2, {"method": "pchip"}),
}


@pytest.mark.parametrize("name", ON_GRID)
def test_grids(name):
    values, n, named = ON_GRID[name]
    inside = reals(6, n, low=0.02, high=1.1)
    points = inside * 2.5 if "bounds_error" in named else inside

    def interpolated(g, h, values, points):
        made = interpolate.RegularGridInterpolator((g, h)[:n], values, **named)
        return made(points)

    check_reverse(interpolated, G, H, values, points, rtol=1e-5, atol=1e-7)
    check_reverse(
        lambda values, points: interpolate.interpn((G, H)[:n], values, points, **named),
        values, points, rtol=1e-5, atol=1e-7,
    )  # fmt: skip


@pytest.mark.parametrize("make", [interpolate.CubicSpline, interpolate.PchipInterpolator])
@pytest.mark.parametrize("limits", [(0.0, 3.0), (2.0, 2.5), (2.0, 5.0), (5.0, 2.0), (-1.0, 3.0)])
def test_integrals_that_end_at_inner_breakpoints(make, limits):
    y = np.linspace(1.0, 2.0, 8) ** 2
    x = np.arange(8.0)
    check_reverse(lambda y: make(x, y).integrate(*limits) * 1.0, y)
    check_reverse(
        lambda c: interpolate.PPoly(c, x).integrate(*limits) * 1.0, np.stack([y[1:], y[:7]])
    )


def test_falling_breakpoints():
    x = np.arange(8.0)[::-1]
    c = np.stack([x[1:] ** 2, x[:7]])
    check_reverse(lambda c: interpolate.PPoly(c, x).integrate(5.0, 2.0) * 1.0, c)
