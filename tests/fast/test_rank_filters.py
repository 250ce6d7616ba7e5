"""Filters that pick an element of each window, in programs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage, signal

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, M = RNG.normal(size=11), RNG.normal(size=(6, 7))
MODES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")


def cubed(y):
    return (y**3).sum()


FUNCTIONS = {
    "median_filter": (lambda x: cubed(ndimage.median_filter(x * x, 3)), M),
    "of a line": (lambda x: cubed(ndimage.median_filter(x * x, 5, mode="nearest")), X),
    "maximum_filter": (lambda x: cubed(ndimage.maximum_filter(x * x, (3, 5))), M),
    "minimum_filter": (lambda x: cubed(ndimage.minimum_filter(x * x, (2, 4))), M),
    "rank_filter": (lambda x: cubed(ndimage.rank_filter(x * x, 2, size=3)), M),
    "maximum_filter1d": (lambda x: cubed(ndimage.maximum_filter1d(x * x, 3, axis=0)), M),
    "medfilt": (lambda x: cubed(signal.medfilt(x * x)), M),
    "medfilt of a line": (lambda x: cubed(signal.medfilt(x * x, [5])), X),
    "medfilt2d": (lambda x: cubed(signal.medfilt2d(x * x, 3)), M),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x, 1e-5)
    assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-13)


@pytest.mark.parametrize("f", [ndimage.median_filter, ndimage.maximum_filter])
@pytest.mark.parametrize("mode", MODES)
def test_modes(f, mode):
    check_programs(lambda x: cubed(f(x * x, (3, 4), mode=mode)), M, 1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_elements_share_as_in_the_generic_tier(name):
    f, x = FUNCTIONS[name]
    x = np.round(2.0 * x) / 2.0 + 3.0
    (found,) = ad.gradient(f, x)
    assert ad.tier(f, x).tier == "fast"
    with generic_tier():
        np.testing.assert_allclose(found, ad.gradient(f, x)[0], rtol=1e-12, atol=1e-12)


def test_results_are_arrays_of_their_own():
    def f(x):
        y = ndimage.minimum_filter(x, 1)
        y[0] = 9.0
        return (y * x).sum()

    x = np.array([1.0, 5.0, 2.0])
    assert ad.gradient(f, x)[0].tolist() == [9.0, 10.0, 4.0]
    assert x.tolist() == [1.0, 5.0, 2.0]


def test_elements_beside_nan():
    x = np.array([1.0, np.nan, 3.0, 4.0, 5.0])
    f = lambda x: np.nansum(signal.medfilt(x))
    g = lambda x: ndimage.maximum_filter(x, 3)[4]
    for h in (f, g):
        found = ad.withgradient(h, x)
        with generic_tier():
            expected = ad.withgradient(h, x)
        assert found[0] == expected[0] == h(x)
        np.testing.assert_array_equal(found[1][0], expected[1][0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ndimage.maximum_filter(x, (2, 2)).sum(),
        lambda x: ndimage.minimum_filter(x, ()).sum(),
        lambda x: ndimage.maximum_filter1d(x, 3, axis=5).sum(),
        lambda x: ndimage.minimum_filter1d(x, 3, axis=-3).sum(),
        lambda x: abs(ndimage.maximum_filter(x + 0j, 1)).sum(),
    ],
)
def test_what_is_no_window(f):
    with pytest.raises(Exception) as expected:  # noqa: B017, PT011
        f(X)
    with pytest.raises(expected.type):
        ad.gradient(f, X)


def test_windows_longer_than_the_array():
    f = lambda x: cubed(ndimage.median_filter(x * x, 9, mode="reflect"))
    x = X[:3]
    found = ad.gradient(f, x)[0]
    with generic_tier():
        np.testing.assert_allclose(found, ad.gradient(f, x)[0], rtol=1e-12)
