"""What code of other packages does a lot runs as programs, and is right in all modes."""

from __future__ import annotations

import math
import sys
from types import ModuleType

import einops
import numpy as np
import pytest
import scipy.interpolate as interpolate
import scipy.stats as st
import sympy
from scipy import linalg
from scipy.spatial.transform import Rotation
from sklearn.gaussian_process import kernels

import adjoint as ad
from adjoint.api.program_choice import PULLBACK
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier
from tests.support import check_reverse

X = np.array([0.3, -1.2, 2.5, 0.7])


def masked_put(x, s):
    y = np.zeros(x.shape)
    np.putmask(y, x > 0, s)
    np.putmask(y, x < 0, x * s)
    return np.sum(y * y) + np.sum(y)


def placed(x, s):
    y = np.full(x.shape, 0.5)
    np.place(y, 1 - (x > 0), s)
    np.place(y, x > 0, np.exp(x[x > 0] * s))
    return np.sum(y * y)


def repeated(x, s):
    """There are more places than values, which are repeated."""
    y = np.zeros(x.shape)
    np.place(y, x > 0, np.array([1.0, 2.0]) * s)
    return np.sum(y * x)


def of_several(x, s):
    a, b, c = np.broadcast_arrays(x, s, 2)
    d, e = np.atleast_1d(x, s * s)
    f, g = np.atleast_2d(x, [s, 2.0])
    return np.sum(a * b * c) + np.sum(d * e) + np.sum(f @ x) + np.sum(g)


MODES = {math: "first", np: "second"}
KINDS = {float: 2.0, int: 3.0}


def by_module(x, s):
    scale = 2.0 if MODES.get(math, "other") == "first" else 3.0
    more = 1.0 if MODES.get(sys, "other") == "other" else 5.0
    return np.sum(x * s) * scale * more * KINDS[float] * (7.0 if np in MODES else 11.0)


def of_loaded(x, s):
    if sys.modules.get("numpy") is not np or "no_such_module" in sys.modules:
        return np.sum(x) * s
    return np.sum(x * x) * s


def unpacked(theta, s):
    def f(a, b, c):
        return a * b + c

    return f(*theta.tolist()[1:]) * s


def scaled(x, s, axis=0):
    if axis < 0:
        axis += x.ndim
    return np.sum(np.moveaxis(np.outer(x, x), axis, 0)[0] * s)


def of_kinds(x, s):
    return np.sum(x) * s if isinstance(s, int | float | None) else np.sum(x)


KNOTS = np.r_[np.zeros(4), np.ones(4)]
SPLINE = interpolate.CubicSpline(np.linspace(0.0, 1.0, 6), np.sin(np.arange(6.0)))
POINTS = np.array([[0.3, -1.2, 2.5], [0.7, 0.1, -0.4]])


def turned(x, s):
    return np.sum(Rotation.from_rotvec(x[:3] * s).apply(POINTS) ** 3)


def turned_by_angles(x, s):
    return np.sum(Rotation.from_euler("xyz", x[:3] * s).apply(POINTS) ** 3)


def of_quaternion(x, s):
    return np.sum(Rotation.from_quat(x * s).as_matrix() ** 3) * s


def of_spline(x, s):
    return np.sum(interpolate.BSpline(KNOTS, x, 3)(POINTS[0] / 7) ** 2) * s


def of_splev(x, s):
    """The value is that of compiled code, which the rule calls as a function without derivative."""
    coefficients = np.append(x, np.zeros(4))
    return np.sum(interpolate.splev(POINTS[0] / 7 + s / 9, (KNOTS, coefficients, 3)) ** 2)


CALLS = {
    "of_splev": of_splev,
    "turned": turned,
    "turned_by_angles": turned_by_angles,
    "of_quaternion": of_quaternion,
    "of_spline": of_spline,
    "of_fixed_spline": lambda x, s: np.sum(SPLINE(x * s) ** 2),
    "masked_put": masked_put,
    "placed": placed,
    "of_several": of_several,
    "by_module": by_module,
    "t": lambda x, s: np.sum(st.t.pdf(x, s)),
    "of_loaded": of_loaded,
    "unpacked": unpacked,
    "scaled": scaled,
    "of_kinds": of_kinds,
    "logpdf": lambda x, s: np.sum(st.norm.logpdf(x, 0.1, s)),
    "cdf": lambda x, s: np.sum(st.logistic.cdf(x, 0.1, s)),
    "nnlf": lambda x, s: st.norm.nnlf(x[2:] * s, np.array([0.1, 0.4, 0.6])),
}


ONE_POINT = {"unpacked", "nnlf", "of_quaternion", "of_spline", "of_splev"}
"""Functions that are not defined, or not smooth, at the other points."""


@pytest.mark.parametrize("name", CALLS)
def test_other_modes(name):
    f, dots = CALLS[name], (np.cos(X), 0.3)

    def of_x(x):
        return f(x, 1.3)

    calls = (
        lambda: ad.pushforward(f, (X, 1.3), dots),
        lambda: (ad.hvp(of_x, X, dots[0]),),
    )
    for call in calls:
        found = [call() for _ in range(2)][1]
        with generic_tier():
            expected = call()
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CALLS)
def test_programs(name):
    f = CALLS[name]
    ad.gradient(f, X, 1.3)
    assert name == "of_splev" or ad.tier(f, X, 1.3).tier == "fast"
    for x in (X, -X, X[:3] * 0.7):
        if name in ONE_POINT and x is not X:
            continue
        found = ad.gradient(f, x, 1.3)
        with generic_tier():
            expected = ad.gradient(f, x, 1.3)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    x_bar, s_bar = ad.gradient(f, X, 1.3)
    y, back = ad.pullback(f, X, 1.3)
    np.testing.assert_allclose(y, f(X, 1.3), rtol=1e-13)
    for _ in range(2):
        for a, b in zip(back(2.0)[1:], (x_bar, s_bar), strict=True):
            np.testing.assert_allclose(a, 2 * b, rtol=1e-13)
    step, dx = 1e-6, np.cos(X)
    slope = (f(X + step * dx, 1.3 + step) - f(X - step * dx, 1.3 - step)) / (2 * step)
    np.testing.assert_allclose(x_bar @ dx + s_bar, slope, rtol=1e-7)


def test_values_that_are_repeated():
    check_reverse(repeated, np.array([0.3, 1.2, 2.5, 0.7]), 1.3)


class Looped:
    """An object whose fields lead back to it."""

    def __init__(self, w):
        self.w, self.whole, self.method = w, self, self.product

    def product(self, x):
        return x * self.w

    def value(self, x):
        return self.method(x) + self.whole.w * x * x


def test_objects_that_hold_themselves():
    for f in (Looped(2.0).value, Looped(np.array([1.0, 2.0])).value, st.norm.logpdf):
        args = (np.array([0.3, 0.4]), *((0.1, 1.2) if f == st.norm.logpdf else ()))
        for _ in range(3):
            _, back = ad.pullback(f, *args)
            found = back(np.ones(2)), back(np.ones(2))
        with generic_tier():
            expected = ad.pullback(f, *args)[1](np.ones(2))
        for bars in found:
            assert repr(bars[0]) == repr(expected[0])
            for a, b in zip(bars[1:], expected[1:], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)
        assert tier.known(f, PULLBACK).entries


def test_a_key_that_comes_later():
    module = ModuleType("another")
    known = {math: 2.0}

    def f(x):
        return x * known.get(module, 3.0)

    assert [ad.gradient(f, 1.0) for _ in range(3)] == [(3.0,)] * 3
    known[module] = 5.0
    assert ad.gradient(f, 1.0) == (5.0,)
    del known[module]
    assert ad.gradient(f, 1.0) == (3.0,)


def test_a_default_that_changes():
    tier.forget()
    x = np.array([[1.0, 2.0], [3.0, 4.0]])

    def total(x, axis=0):
        return np.sum(np.sum(x, axis) ** 2)

    assert np.array_equal(ad.gradient(total, x)[0], 2 * np.array([[4.0, 6.0], [4.0, 6.0]]))
    total.__defaults__ = (1,)
    assert np.array_equal(ad.gradient(total, x)[0], 2 * np.array([[3.0, 3.0], [7.0, 7.0]]))


def test_defaults_that_differ_each_time():
    tier.forget()
    for i in range(12):
        f = lambda x, i=i: np.sum(x * x) * i  # noqa: E731
        assert np.array_equal(ad.gradient(f, X)[0], 2 * X * i)
    assert ad.tier(f, X).tier == "fast"


def test_the_order_of_elements():
    def f(x):
        return np.sum(x * (2.0 if x.flags.c_contiguous else 3.0))

    x = np.ones((3, 2))
    for given, slope in ((x, 2.0), (x.T, 3.0), (np.asfortranarray(x), 3.0), (x, 2.0)):
        assert np.all(ad.gradient(f, given)[0] == slope)
    assert ad.tier(f, x).tier == "fast"


# ---- einops, SymPy, kernels of scikit-learn ------------------------------------------------------

A = np.random.default_rng(5).normal(size=(3, 4))
_x, _y = sympy.symbols("x y")
SMOOTH = sympy.lambdify((_x, _y), sympy.exp(-(_x**2)) * sympy.sin(_y) + _x * _y**3)
PIECES = sympy.lambdify((_x, _y), sympy.Piecewise((_x**2 * _y, _x > 0), (sympy.sin(_x), True)))
KERNEL = kernels.RBF([1.3, 1.1, 0.9, 0.7]) * kernels.DotProduct() + kernels.WhiteKernel(0.3)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda a: np.sum(einops.rearrange(a, "i j -> j i")[1] ** 3), A),
        (lambda a: np.sum(einops.reduce(a, "i j -> j", "mean") ** 3), A),
        (lambda a: np.sum(einops.repeat(a, "i j -> i k j", k=2) ** 3), A),
        (lambda a: np.sum(einops.einsum(a, a, "i j, i k -> j k") ** 2), A),
        (lambda a: np.sum(SMOOTH(a[0], a[1])), A),
        (lambda a: np.sum(PIECES(a[0], a[1])), A),
        (lambda v: SMOOTH(v[0], v[1]) * PIECES(v[1], v[0]), X),
        (lambda theta: np.sum(np.sin(KERNEL.clone_with_theta(theta)(A))), KERNEL.theta),
        (lambda a: st.pearsonr(a[0], a[1]).statistic, A),
        (lambda v: np.sum(np.sin(linalg.toeplitz(v)) @ linalg.toeplitz(v, v[:3] ** 2)), X),
        (lambda v: np.sum(np.sin(linalg.hankel(v)) @ linalg.hankel(v, v[:3] ** 2)), X),
        (lambda v: np.sum(np.sin(linalg.circulant(v)) @ v) * np.array(v, order="C")[0], X),
        (lambda v: st.tmean(v, (-2.0, 1.0)), X),
    ],
    ids=(
        "rearrange reduce repeat einsum sympy pieces numbers kernel pearsonr"
        " toeplitz hankel circulant trimmed"
    ).split(),
)
def test_functions_of_other_packages(f, x):
    (found,) = ad.gradient(f, x)
    ad.gradient(f, x)  # packages fill tables in the first call
    assert ad.tier(f, x).tier == "fast", ad.tier(f, x)
    assert np.allclose(found, ad.gradient(f, x)[0], rtol=1e-13)
    with generic_tier():
        assert np.allclose(found, ad.gradient(f, x)[0], rtol=1e-11, atol=1e-13)
    direction, h = np.cos(np.arange(x.size)).reshape(x.shape), 1e-6
    slope = (f(x + h * direction) - f(x - h * direction)) / (2 * h)
    assert np.sum(found * direction) == pytest.approx(slope, rel=1e-5, abs=1e-8)
