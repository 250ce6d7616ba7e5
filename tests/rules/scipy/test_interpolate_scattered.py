"""`adjoint.rules.scipy.interpolate`: scattered points, and products of B-splines."""

import numpy as np
import pytest
from scipy import interpolate
from scipy.interpolate import CloughTocher2DInterpolator, LinearNDInterpolator, NdBSpline

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient
from tests.rules.harness import reals
from tests.support import check_reverse

PLACES, HEIGHTS = reals(9, 2, seed=3), reals(9, seed=1)
INSIDE = np.array([[0.1, 0.2], [-0.3, 0.15], [0.25, -0.2]])
ELSEWHERE = LinearNDInterpolator(PLACES, HEIGHTS)
RESCALED = LinearNDInterpolator(PLACES, HEIGHTS, rescale=True)

LINEAR = {
    "values": lambda p, v, q: LinearNDInterpolator(p, v)(q),
    "rescaled": lambda p, v, q: LinearNDInterpolator(p, v, rescale=True)(q),
    "columns": lambda p, v, q: LinearNDInterpolator(p, v[:, None] * p)(q[None]),
    "complex": lambda p, v, q: LinearNDInterpolator(p, v + 1j * v**2)(q),
    "coordinates": lambda p, v, q: LinearNDInterpolator(p, v)(q[:, 0], q[:, 1]),
    "outside": lambda p, v, q: LinearNDInterpolator(p, v, fill_value=2.0)(9.0 * q),
    "griddata": lambda p, v, q: interpolate.griddata((p[:, 0], p[:, 1]), v, q),
    "nearest": lambda p, v, q: interpolate.griddata(p, v, q, method="nearest"),
    "line": lambda p, v, q: interpolate.griddata(np.sort(p[:, 0]), v, q[:, 0], "cubic"),
    "elsewhere": lambda p, v, q: ELSEWHERE(q),
    "elsewhere, rescaled": lambda p, v, q: RESCALED(q),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear(name):
    check_reverse(LINEAR[name], PLACES, HEIGHTS, INSIDE, rtol=1e-5, atol=1e-7)


def test_the_class_stays_what_it_is():
    def value(v):
        made = LinearNDInterpolator(PLACES, v)
        assert isinstance(made, LinearNDInterpolator)
        return made(INSIDE)

    check_reverse(value, HEIGHTS)


class Derived(LinearNDInterpolator):
    pass


@pytest.mark.parametrize("kind", [Derived, CloughTocher2DInterpolator])
def test_what_is_made_in_c_is_refused(kind):
    with pytest.raises(NoDerivativeError):
        ad.gradient(lambda v: np.sum(kind(PLACES, v)(INSIDE)), HEIGHTS)


def test_smooth_surfaces_are_refused():
    made = CloughTocher2DInterpolator(PLACES, HEIGHTS)
    with pytest.raises(NoDerivativeError, match="estimated in C"):
        ad.gradient(lambda q: np.sum(made(q)), INSIDE)
    with pytest.raises(NoDerivativeError, match="estimated in C"):
        ad.pushforward(
            lambda v: CloughTocher2DInterpolator(PLACES, v)(INSIDE), (HEIGHTS,), (HEIGHTS,)
        )


# ---- outside of the triangulation ----------------------------------------------------------------

AROUND = np.concatenate([INSIDE, 9.0 * INSIDE])


def put_in_later(make):
    def value(c):
        made = make()
        made.fill_value = c
        return made(AROUND)

    return value


OUTSIDE = {
    "linear": lambda c: LinearNDInterpolator(PLACES, HEIGHTS, c)(AROUND),
    "columns": lambda c: LinearNDInterpolator(PLACES, PLACES, fill_value=c**2)(AROUND),
    "complex": lambda c: LinearNDInterpolator(PLACES, HEIGHTS * (1 + 2j), c + 1j * c**2)(AROUND),
    "with the values": lambda c: LinearNDInterpolator(PLACES, c * HEIGHTS, c**2)(c * AROUND),
    "griddata": lambda c: interpolate.griddata(PLACES, HEIGHTS, AROUND, fill_value=c),
    "griddata, cubic": lambda c: interpolate.griddata(PLACES, HEIGHTS, AROUND, "cubic", c),
    "cubic": lambda c: CloughTocher2DInterpolator(PLACES, HEIGHTS, fill_value=c**2)(AROUND),
    "cubic, columns": lambda c: CloughTocher2DInterpolator(PLACES, PLACES, c)(AROUND[None]),
    "put in later": put_in_later(lambda: LinearNDInterpolator(PLACES, HEIGHTS)),
    "put in later, cubic": put_in_later(lambda: CloughTocher2DInterpolator(PLACES, HEIGHTS)),
    "put into another": put_in_later(lambda: OTHER),
    "put into another, cubic": put_in_later(lambda: CUBIC),
}
OTHER = LinearNDInterpolator(PLACES, HEIGHTS)
CUBIC = CloughTocher2DInterpolator(PLACES, HEIGHTS)


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_given_for_outside(name):
    check_gradient(OUTSIDE[name], 0.7, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["linear", "columns", "griddata, cubic", "with the values"])
def test_what_is_given_for_outside_in_nested_derivatives(name):
    hessian = ad.hessian(lambda c: np.sum(np.exp(OUTSIDE[name](c))), 0.7)
    slope = ad.grad(lambda c: np.sum(np.exp(OUTSIDE[name](c))))
    assert hessian == pytest.approx((slope(0.7 + 1e-6) - slope(0.7 - 1e-6)) / 2e-6, rel=1e-5)


# ---- products of B-splines -----------------------------------------------------------------------

KNOTS = np.arange(9.0) + 0.1 * np.sin(np.arange(9.0))
PRODUCTS = {
    "plane": (reals(5, 5), 3, {}),
    "slopes": (reals(5, 6), (3, 2), {"nu": (1, 2)}),
    "several values": (reals(6, 6, 2), 2, {}),
    "complex": (reals(5, 5) + 1j * reals(5, 5, seed=1), 3, {}),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    c, k, named = PRODUCTS[name]

    def value(s, t, c, q):
        return NdBSpline((s, t), c, k)(2.0 * q + 3.5, **named)

    check_reverse(value, KNOTS, np.arange(9.0), c, INSIDE, rtol=1e-5)


def test_legacy_grids():
    g, h = np.array([0.0, 0.3, 0.7, 1.2]), np.array([0.0, 0.5, 1.0, 2.0, 2.2])

    def value(v, q):
        return interpolate.RegularGridInterpolator((g, h), v, "cubic_legacy")(q)

    check_reverse(value, reals(4, 5), 0.5 + INSIDE)


GRID = np.array([0.0, 0.3, 0.7, 1.2])


@pytest.mark.parametrize("method", ["slinear", "cubic"])
def test_grids_by_iteration(method):
    """The coefficients come from an iterative solver, whose result is looked at as other memory."""
    exact = {"atol": 1e-14, "rtol": 1e-14}

    def value(v, q):
        made = interpolate.RegularGridInterpolator((GRID, GRID), v, method, solver_args=exact)
        return made(q)

    check_reverse(value, reals(4, 4), 0.53 + INSIDE[:1], rtol=1e-5, atol=1e-8)
