"""`adjoint.rules.scipy.interpolate`: scattered points, and products of B-splines."""

import numpy as np
import pytest
from scipy import interpolate
from scipy.interpolate import LinearNDInterpolator, NdBSpline

import adjoint as ad
from adjoint.errors import NoDerivativeError
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


@pytest.mark.parametrize("kind", [Derived, interpolate.CloughTocher2DInterpolator])
def test_what_is_made_in_c_is_refused(kind):
    with pytest.raises(NoDerivativeError):
        ad.gradient(lambda v: np.sum(kind(PLACES, v)(INSIDE)), HEIGHTS)


def test_smooth_surfaces_are_refused():
    made = interpolate.CloughTocher2DInterpolator(PLACES, HEIGHTS)
    with pytest.raises(NoDerivativeError, match="estimated in C"):
        ad.gradient(lambda q: np.sum(made(q)), INSIDE)


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
