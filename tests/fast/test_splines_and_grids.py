"""B-splines, `interp1d` and `RegularGridInterpolator` in programs: derivatives of any order in
values, positions, knots and points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.test_interpolation import T, X, Y, Z, compare

SPLINE = interpolate.make_interp_spline(X, Y)
CURVES = interpolate.make_interp_spline(X, Z, k=4)
LINE = interpolate.interp1d(X, Y, kind="cubic")
FILLED = interpolate.interp1d(X, Y, kind="quadratic", bounds_error=False, fill_value=(0.5, 2.0))
BEYOND = interpolate.interp1d(X, Y, kind="cubic", fill_value="extrapolate")


def spline_at(t):
    return np.sum(SPLINE(t) ** 2)


def slope_at(t):
    return np.sum(SPLINE(t, 2) * t) + np.sum(SPLINE(t, 3) * t**2) + np.sum(SPLINE(t, nu=4) * t)


def curves_at(t):
    return np.sum(CURVES(t)[:, 1] ** 2) + CURVES(t[:1])[0, 0] ** 2


def without_ends(t):
    y = SPLINE(1.4 * t, extrapolate=False)
    return np.sum(np.where(np.isnan(y), 0.0, y) ** 2)


def line_at(t):
    return np.sum(LINE(t) ** 2)


def filled_at(t):
    return np.sum(FILLED(1.4 * t) ** 2)


def beyond_at(t):
    return np.sum(BEYOND(1.4 * t) ** 2)


@pytest.mark.parametrize(
    "f", (spline_at, slope_at, curves_at, without_ends, line_at, filled_at, beyond_at)
)
def test_points(f):
    compare(f, (T,))
    compare(f, (T[2:5],))


def cubic(x, y, t):
    return np.sum(interpolate.make_interp_spline(x, y)(t) ** 2)


def of_even_degree(x, y, t):
    return np.sum(interpolate.make_interp_spline(x, y, k=2)(t) ** 2)


def of_degree_1(x, y, t):
    return np.sum(interpolate.make_interp_spline(x, y, 1)(t) ** 2)


def of_degree_5(x, y, t):
    return np.sum(interpolate.make_interp_spline(x, y, k=5)(t, nu=1) ** 2)


def of_curves(x, y, t):
    z = np.stack([y, y**2], axis=0)
    return np.sum(interpolate.make_interp_spline(x, z, axis=1)(t)[1] ** 2)


def by_interp1d(x, y, t):
    return np.sum(interpolate.interp1d(x, y, kind="cubic")(t) ** 2)


def by_interp1d_linearly(x, y, t):
    return np.sum(interpolate.interp1d(x, y)(t) ** 2)


@pytest.mark.parametrize(
    "f",
    (cubic, of_even_degree, of_degree_1, of_degree_5, of_curves, by_interp1d, by_interp1d_linearly),
)
def test_built_inside(f):
    compare(f, (X, Y, T), precision=1e-9)
    compare(lambda y: f(X, y, T), (Y,))


def test_many_positions():
    """The equations are banded."""
    n = 90
    x = np.linspace(0.0, 5.0, n) + 0.01 * np.cos(np.arange(n))
    t = np.linspace(0.1, 4.9, 800)
    compare(lambda y: np.sum(interpolate.make_interp_spline(x, y)(t) ** 2), (np.sin(x),))
    compare(lambda y: np.sum(interpolate.make_interp_spline(x, y, k=4)(t) ** 2), (np.sin(x),))


def test_coefficients_and_knots():
    def f(t, c, x):
        return np.sum(interpolate.BSpline(t, c, 3)(x) ** 2)

    knots = np.linspace(-1.0, 5.0, len(SPLINE.t)) + 0.01 * np.sin(np.arange(len(SPLINE.t)))
    compare(f, (knots, SPLINE.c, T), precision=1e-9)
    given = SPLINE.t

    def on_knots(y):
        return np.sum(interpolate.make_interp_spline(X, y, t=given)(T) ** 2)

    compare(on_knots, (Y,))


def test_what_is_not_provided_for():
    """Other conditions at the ends, and positions that do not fit, are left to the generic tier."""

    def natural(y):
        return np.sum(interpolate.make_interp_spline(X, y, bc_type="natural")(T) ** 2)

    def fewer(y):
        return np.sum(interpolate.make_interp_spline(X, y)(T))

    h = 1e-6 * np.cos(np.arange(len(Y)))
    expected = (natural(Y + h) - natural(Y - h)) / 2
    assert ad.gradient(natural, Y)[0] @ h == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="incompatible"):
        ad.gradient(fewer, Y[1:])
    with pytest.raises(ValueError, match="below the interpolation range"):
        ad.gradient(line_at, T - 3.0)


# ---- FITPACK -------------------------------------------------------------------------------------

SMOOTHED = interpolate.UnivariateSpline(X, Y, s=0.05)
ENDING = interpolate.InterpolatedUnivariateSpline(X, Y, ext=3)
TCK = interpolate.splrep(X, Y, k=4)


def smoothed_at(t):
    return np.sum(SMOOTHED(t) ** 2) + np.sum(SMOOTHED(t, nu=1) * t)


def ending_at(t):
    return np.sum(ENDING(1.4 * t) ** 2) + np.sum(ENDING(1.4 * t, ext="zeros") ** 2)


def splev_at(t):
    return np.sum(interpolate.splev(t, TCK, der=1) ** 2)


def splev_at_a_number(t):
    return interpolate.splev(t, TCK) ** 2 * t


def by_splrep(x, y, t):
    return np.sum(interpolate.splev(t, interpolate.splrep(x, y)) ** 2)


def by_splrep_of_degree_2(x, y, t):
    return np.sum(interpolate.splev(t, interpolate.splrep(x, y, k=2, s=0), ext=1) ** 2)


def by_a_class(x, y, t):
    return np.sum(interpolate.InterpolatedUnivariateSpline(x, y)(t) ** 2)


def by_a_class_of_degree_5(x, y, t):
    return np.sum(interpolate.InterpolatedUnivariateSpline(x, y, k=5)(t, 2) ** 2)


def test_fitpack_at_points():
    for f in (smoothed_at, ending_at, splev_at):
        compare(f, (T,))
    compare(splev_at_a_number, (1.3,))


@pytest.mark.parametrize(
    "f", (by_splrep, by_splrep_of_degree_2, by_a_class, by_a_class_of_degree_5)
)
def test_fitpack_built_inside(f):
    compare(f, (X, Y, T), precision=1e-8)
    compare(lambda y: f(X, y, T), (Y,), precision=1e-8)


def test_other_uses_of_fitpack():
    """What a program does not know of a spline, and fits that smooth, are left to the generic
    tier."""

    def residual(y):
        made = interpolate.InterpolatedUnivariateSpline(X, y)
        return np.sum(made(T)) + 0.0 * made.get_residual() + made.integral(0.5, 2.0)

    def slope(y):
        return np.sum(interpolate.InterpolatedUnivariateSpline(X, y).derivative()(T) ** 2)

    for f in (residual, slope):
        found = ad.gradient(f, Y)[0]
        with generic_tier():
            np.testing.assert_allclose(found, ad.gradient(f, Y)[0], rtol=1e-8, atol=1e-9)
    made, back = ad.pullback(lambda y: interpolate.InterpolatedUnivariateSpline(X, y), Y)
    assert made.get_residual() == pytest.approx(0.0)
    with pytest.raises(ValueError, match="not in the domain"):
        ad.gradient(lambda t: np.sum(interpolate.splev(t, TCK, ext=2)), T + 3.0)
    with pytest.raises(ad.AdjointError, match="smoothing"):
        ad.gradient(lambda y: np.sum(interpolate.UnivariateSpline(X, y, s=0.01)(T)), Y)


# ---- grids ---------------------------------------------------------------------------------------

RNG = np.random.default_rng(11)
A, B, C = np.linspace(0.0, 2.0, 5) ** 1.3, np.linspace(0.0, 3.0, 4), np.linspace(-1.0, 1.0, 3)
FLAT, CUBE, STACK = RNG.random((5, 4)), RNG.random((5, 4, 3)), RNG.random((5, 4, 2))
P2 = RNG.random((6, 2)) * [2.0, 3.0]
P3 = RNG.random((6, 3)) * [2.0, 3.0, 1.0]


def on_plane(a, values, p):
    return np.sum(interpolate.RegularGridInterpolator((a, B), values)(p) ** 2)


def of_several_values(a, values, p):
    return np.sum(interpolate.RegularGridInterpolator((a, B), values)(p)[:, 1] ** 2)


def in_space(a, values, p):
    return np.sum(interpolate.RegularGridInterpolator((a, B, C), values)(p) ** 2)


def filled(a, values, p):
    f = interpolate.RegularGridInterpolator((a, B), values, bounds_error=False, fill_value=0.3)
    return np.sum(f(p * 1.3) ** 2)


def beyond(a, values, p):
    f = interpolate.RegularGridInterpolator((a, B), values, bounds_error=False, fill_value=None)
    return np.sum(f(p * 1.3) ** 2)


def by_interpn(a, values, p):
    return np.sum(interpolate.interpn((a, B), values, p) ** 2)


@pytest.mark.parametrize(
    ("f", "values", "p"),
    (
        (on_plane, FLAT, P2),
        (of_several_values, STACK, P2),
        (in_space, CUBE, P3),
        (filled, FLAT, P2),
        (beyond, FLAT, P2),
        (by_interpn, FLAT, P2),
        (on_plane, FLAT, P2.reshape(2, 3, 2)),
    ),
)
def test_grids(f, values, p):
    compare(f, (A, values, p))


def test_grid_from_outside():
    plane = interpolate.RegularGridInterpolator((A, B), FLAT)
    nearest = interpolate.RegularGridInterpolator((A, B), FLAT, method="nearest")
    turned = interpolate.RegularGridInterpolator((A, B), FLAT * (1 + 0.5j))
    compare(lambda p: np.sum(plane(p) ** 2), (P2,))
    compare(lambda p: np.sum(plane(p)) ** 2, (P2[0],))
    compare(lambda p: np.sum(nearest(p) * p[:, 0] ** 2), (P2,))
    compare(lambda p: np.sum(np.abs(turned(p)) ** 2), (P2,))

    def nearest_of(values):
        f = interpolate.RegularGridInterpolator((A, B), values, method="nearest")
        return np.sum(f(P2) ** 2)

    compare(nearest_of, (FLAT,))


def test_points_on_the_grid():
    """At the end of a cell the slopes are those of the cell that SciPy takes the value from."""
    plane = interpolate.RegularGridInterpolator((A, B), FLAT)
    p = np.array([[A[1], B[2]], [A[0], B[0]], [A[-1], B[-1]]])
    f = lambda p: np.sum(plane(p) ** 2)
    with generic_tier():
        expected = ad.gradient(f, p)[0]
    np.testing.assert_allclose(ad.gradient(f, p)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("change", ("descending", "float32", "nan", "out of bounds"))
def test_other_grids(change):
    a, values, p = A, FLAT, P2
    if change == "descending":
        a = A[::-1]
    elif change == "float32":
        values = FLAT.astype(np.float32)
    elif change == "nan":
        p = np.where(np.arange(12).reshape(6, 2) == 3, np.nan, P2)
    else:
        p = P2 + 2.0

    def f(values, p):
        y = interpolate.RegularGridInterpolator((a, B), values, bounds_error=change != "nan")(p)
        return np.sum(np.where(np.isnan(y), 0.0, y) ** 2)

    if change == "out of bounds":
        with pytest.raises(ValueError, match="out of bounds"):
            ad.gradient(f, values, p)
        return
    if change == "nan":
        with pytest.raises(ad.AdjointError):
            ad.gradient(f, values, p)
        return
    found = ad.gradient(f, values, p)
    with generic_tier():
        expected = ad.gradient(f, values, p)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)
