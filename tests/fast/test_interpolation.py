"""Functions of `scipy.interpolate` in programs: derivatives of any order in values, positions and
points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate, linalg

import adjoint as ad
from tests.fast.agreeing import generic_tier

RNG = np.random.default_rng(3)
X = np.linspace(0.0, 4.0, 9) + 0.1 * RNG.random(9)
Y = np.sin(X) + 0.2 * RNG.random(9)
Z = np.stack([Y, np.cos(X)], axis=1)
T = np.linspace(0.2, 3.9, 7)
CUBIC = interpolate.CubicSpline(X, Y)
CURVES = interpolate.CubicSpline(X, Z, extrapolate=False)
MONOTONE = interpolate.PchipInterpolator(X, Y)
COMPLEX = interpolate.PPoly(CUBIC.c * (1 + 0.5j), X)


def cubic_at(t):
    return np.sum(CUBIC(t) ** 2)


def slope_at(t):
    return np.sum(CUBIC(t, 1) * t)


def at_a_number(t):
    return CUBIC(t) ** 2


def curves_at(t):
    return np.sum(CURVES(t.reshape(-1, 1)) ** 2)


def beyond_the_ends(t):
    y = CURVES(t * 1.3)
    return np.sum(np.where(np.isnan(y), 0.0, y) ** 2)


def monotone_at(t):
    return np.sum(MONOTONE(t) ** 2)


def complex_at(t):
    return np.sum(np.abs(COMPLEX(t)) ** 2)


def cubic(x, y, t):
    return np.sum(interpolate.CubicSpline(x, y)(t) ** 2)


def natural(x, y, t):
    return np.sum(interpolate.CubicSpline(x, y, bc_type="natural")(t) ** 2)


def clamped(x, y, t):
    return np.sum(interpolate.CubicSpline(x, y, bc_type=((1, 0.3), (2, 0.1)))(t, 1) ** 2)


def of_three(x, y, t):
    return np.sum(interpolate.CubicSpline(x[:3], y[:3])(t) ** 2)


def of_curves(x, y, t):
    z = np.stack([y, y**2], axis=0)
    return np.sum(interpolate.CubicSpline(x, z, axis=1)(t)[1] ** 2)


def pchip(x, y, t):
    return np.sum(interpolate.PchipInterpolator(x, y)(t) ** 2)


def akima(x, y, t):
    return np.sum(interpolate.Akima1DInterpolator(x, y)(t) ** 2)


def hermite(x, y, t):
    return np.sum(interpolate.CubicHermiteSpline(x, y, np.cos(x))(t) ** 2)


def polynomial(x, y, t):
    return np.sum(interpolate.PPoly(np.reshape(y[:8], (4, 2)), x[:3])(t) ** 2)


AT = (cubic_at, slope_at, curves_at, monotone_at, beyond_the_ends, complex_at)
BUILT = (cubic, natural, clamped, of_three, of_curves, pchip, akima, hermite, polynomial)


def flat(parts):
    return np.concatenate([np.ravel(part) for part in parts])


def compare(f, args, precision=1e-10):
    """Compare the derivatives of first and second order with those of the generic tier; a program
    is used again for other values."""
    assert "fast tier" in str(ad.tier(f, *args)), ad.tier(f, *args)
    places = tuple(range(len(args)))
    for scale in (1.0, 1.001):
        point = tuple(x * scale for x in args)
        dots = tuple(np.cos(3.0 * np.arange(np.size(x))).reshape(np.shape(x)) for x in point)
        found = flat(ad.grad(f, places)(*point))
        along = ad.pushforward(f, point, dots)[1]
        product = ad.pushforward(lambda *a: ad.gradient(f, *a), point, dots)[1]
        with generic_tier():
            expected = flat(ad.grad(f, places)(*point))
            twice = ad.pushforward(lambda *a: ad.gradient(f, *a), point, dots)[1]
        size = np.max(np.abs(expected))
        np.testing.assert_allclose(found, expected, rtol=precision, atol=precision * size)
        assert along == pytest.approx(expected @ flat(dots), rel=1e-8)
        size = np.max(np.abs(flat(twice)))
        np.testing.assert_allclose(flat(product), flat(twice), rtol=1e-8, atol=1e-8 * size)
        step = 1e-6
        after = f(*[x + step * dot for x, dot in zip(point, dots, strict=True)])
        before = f(*[x - step * dot for x, dot in zip(point, dots, strict=True)])
        assert along == pytest.approx((after - before) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("f", AT)
def test_points(f):
    compare(f, (T,))
    compare(f, (T[:3],))
    assert "opaque" not in str(ad.tier(f, T))


def test_a_number():
    compare(at_a_number, (1.3,))
    assert ad.derivative(at_a_number)(2.0) == pytest.approx(2 * CUBIC(2.0) * CUBIC(2.0, 1))


@pytest.mark.parametrize("f", BUILT)
def test_built_inside(f):
    compare(f, (X, Y, T))


def test_points_of_another_step():
    """The points may be any part of an array."""
    y = np.linspace(0.2, 3.9, 14)
    expected = 2 * CUBIC(y[::2]) * CUBIC(y[::2], 1)
    np.testing.assert_allclose(ad.gradient(cubic_at, y[::2])[0], expected)
    np.testing.assert_allclose(
        ad.gradient(cubic_at, y[::-2])[0], 2 * CUBIC(y[::-2]) * CUBIC(y[::-2], 1)
    )


def test_order_of_memory():
    """An array that lies in the order of C is not copied, and shows what is written to it."""

    def written(x):
        rows = np.ascontiguousarray(x * 2.0)
        rows[0] = x[1] ** 2
        return np.sum(rows**2)

    def turned(x):
        return np.sum(np.ascontiguousarray((x[:, None] * x[None, :2]).T) ** 2)

    def turned_and_written(x):
        products = x[:, None] * x[None, :2]
        columns = np.ascontiguousarray(products.T)
        columns[0] *= 3.0
        return np.sum(columns**2) + np.sum(products**2)

    def converted(x):
        whole = np.ascontiguousarray(x.astype(float, copy=False))
        return np.sum(whole**3)

    for f in (written, turned, converted):
        compare(f, (T,))
    with generic_tier():
        expected = ad.gradient(turned_and_written, T)[0]
    np.testing.assert_allclose(ad.gradient(turned_and_written, T)[0], expected)


def test_order_of_memory_of_an_argument():
    def doubled(x):
        y = np.ascontiguousarray(x)
        y[0] = 0.0
        return np.sum(x**2)

    def of(x):
        return ad.gradient(doubled, x)[0]

    a = np.arange(1.0, 7.0).reshape(2, 3)
    np.testing.assert_allclose(of(a.copy()), [[0.0, 0.0, 0.0], [8.0, 10.0, 12.0]])
    turned = np.array(a.T, order="C").T  # a copy of it is written to
    np.testing.assert_allclose(of(turned), 2 * a)


def test_banded():
    def solved(ab, b):
        return np.sum(linalg.solve_banded((2, 1), ab, b) ** 2)

    n = 6
    ab = RNG.random((4, n)) + np.array([0.0, 5.0, 0.0, 0.0])[:, None]
    compare(solved, (ab, RNG.random(n)))
    compare(solved, (ab, RNG.random((n, 3))))


def test_moved_axes():
    def moved(x):
        return np.sum(np.moveaxis(x, 0, 2)[1] ** 2 * np.swapaxes(x, 1, 2)[0, 0, 1])

    def differences(x):
        return np.sum(np.diff(x, axis=1) ** 2) + np.sum(np.diff(x, axis=0) ** 3)

    x = RNG.random((2, 3, 4))
    compare(moved, (x,))
    compare(differences, (x,))


# ---- np.interp -----------------------------------------------------------------------------------


def linear(x, y, t):
    return np.sum(np.interp(t, x, y) ** 2)


def linear_at_a_number(x, y, t):
    return np.interp(t[1], x, y) ** 2 + np.interp(float(t[2]), x, y) * np.interp(9.0, x, y)


def in_a_loop(x, y, t):
    z = t[0]
    for _ in range(5):
        z = 0.5 + 0.8 * np.interp(z, x, y)
    return z


@pytest.mark.parametrize("f", (linear, linear_at_a_number, in_a_loop))
def test_linear(f):
    compare(f, (X, Y, T))
    compare(f, (X, Y, 1.3 * T - 0.5))
    compare(lambda t: f(X, Y, t), (T,))
    compare(lambda y: f(X, y, T), (Y,))


@pytest.mark.parametrize("x", (X, X[:1], X[[0, 1, 1, 2]], X[[0, 1, 2, 2]]))
def test_linear_at_the_positions(x):
    """A point at a position has the slope of the segment after it, the last one that before it."""
    y, t = Y[: len(x)], np.concatenate([x, [x[0] - 1.0, x[-1] + 1.0]])
    for f in (linear, lambda x, y, t: np.interp(t[0], x, y) + np.interp(t[-3], x, y)):
        found = ad.grad(f, (0, 1, 2))(x, y, t)
        product = ad.pushforward(lambda *a: ad.gradient(f, *a), (x, y, t), (x, y, t))[1]  # noqa: B023
        with generic_tier():
            expected = ad.grad(f, (0, 1, 2))(x, y, t)
            twice = ad.pushforward(lambda *a: ad.gradient(f, *a), (x, y, t), (x, y, t))[1]  # noqa: B023
        np.testing.assert_allclose(flat(found), flat(expected), atol=1e-12)
        np.testing.assert_allclose(flat(product), flat(twice), atol=1e-12)


# ---- integrals -----------------------------------------------------------------------------------


def integral(a, b):
    return CUBIC.integrate(a, b) ** 2


def integrals(x, y, b):
    z = np.stack([y, y**2], axis=1)
    return np.sum(interpolate.CubicSpline(x, z).integrate(0.3, b) ** 2)


def test_integrals():
    compare(integral, (0.3, 2.5))
    compare(integral, (2.5, 0.3))
    compare(integral, (-1.0, 6.0))
    compare(integrals, (X, Y, 2.6))
    compare(lambda y: integrals(X, y, 2.6), (Y,))
    compare(lambda b: CURVES.integrate(0.5, b)[1], (X[3] + 0.01,))


def test_parts_that_are_joined():
    def by_rows(x):
        return np.sum(np.r_[x[0], x, (x[1],) * 3, 0.0, len(x)] ** 3)

    def by_columns(x):
        return np.sum(np.c_[x, x**2, np.c_[x, x]] ** 2)

    def of_others(x):
        return np.sum(np.r_[0:3, x, True] ** 2) + np.sum(np.r_["0,2", x, x] ** 2)

    for f in (by_rows, by_columns):
        compare(f, (T,))
    with generic_tier():
        expected = ad.gradient(of_others, T)[0]
    np.testing.assert_allclose(ad.gradient(of_others, T)[0], expected)
    single = T.astype(np.float32)
    assert ad.gradient(lambda x: np.sum(np.r_[x, 1.0]), single)[0].dtype == np.float32
