"""`bottleneck`: reductions that leave out NaN, moving windows, elements that move."""

import subprocess
import sys

import bottleneck as bn
import numpy as np
import pandas as pd
import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient
from tests.rules.harness import reals

X = reals(4, 7)
HOLES = np.where(np.arange(28).reshape(4, 7) % 5 == 1, np.nan, X)
HOLES[2] = np.nan
FILLED = np.where(np.isnan(HOLES), reals(4, 7, seed=3), HOLES)
STEP = 1e-6


def weights(y):
    """Of numbers, for what is NaN does not move."""
    return np.where(np.isnan(y), 0.0, np.cos(np.arange(np.size(y))).reshape(np.shape(y)))


def check(f, x):
    """Value, both modes and central differences along one direction."""
    y, back = ad.pullback(f, x)
    np.testing.assert_array_equal(y, f(x))
    assert type(y) is type(f(x))
    w, x_dot = weights(y), reals(*x.shape, seed=9)
    with np.errstate(invalid="ignore"):
        slope = np.nansum(w * (f(x + STEP * x_dot) - f(x - STEP * x_dot)) / (2 * STEP))
    x_bar = back(w if np.ndim(y) else float(w))[1]
    np.testing.assert_allclose(np.sum(x_bar * x_dot), slope, rtol=1e-6, atol=1e-7)
    y_dot = ad.pushforward(f, (x,), (x_dot,))[1]
    np.testing.assert_allclose(np.nansum(w * y_dot), slope, rtol=1e-6, atol=1e-7)


POINTS = {"whole": X, "with holes": HOLES, "lane": X[0], "lane with holes": HOLES[0]}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    "name", "nansum nanmean nanvar nanstd nanmin nanmax median nanmedian ss".split()
)
def test_reductions(name, point):
    f, x = getattr(bn, name), POINTS[point]
    if name in ("median", "ss") and "holes" in point:
        x = FILLED if x.ndim == 2 else FILLED[0]
    for axis in (None, *range(-1, x.ndim)):
        check(lambda x: f(x, axis), x)
        if name in ("nanvar", "nanstd"):
            check(lambda x: f(x, axis=axis, ddof=1), x)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", "sum mean var std min max median".split())
def test_moving_windows(name, point):
    f, x = getattr(bn, f"move_{name}"), POINTS[point]
    for axis in range(-1, x.ndim):
        for window, least in ((2, None), (3, 2), (x.shape[axis], 2)):
            check(lambda x: f(x, window, least, axis), x)
        check(lambda x: f(x, 3, axis=axis), x)
    if name in ("sum", "mean", "min", "max", "median"):
        check(lambda x: f(x, window=1, min_count=1), x)
    else:
        check(lambda x: f(x, 4, 2, -1, 1), x)


@pytest.mark.parametrize("point", POINTS)
def test_elements_that_move(point):
    x = POINTS[point]
    for axis in range(-1, x.ndim):
        for n in (None, 1, 2):
            check(lambda x: bn.push(x, n, axis), x)
        if "holes" not in point:
            check(lambda x: bn.partition(x, 2, axis), x)
    if "holes" not in point:
        check(lambda x: bn.partition(x, kth=3, axis=None), x)


def test_all_modes_and_second_derivatives():
    check_gradient(lambda x: bn.nanvar(x, 1) * bn.nanmean(x, axis=1), X[:2, :4])
    check_gradient(lambda x: bn.move_std(x, 3)[2:] + bn.move_mean(x, 2)[2:], X[0])
    check_gradient(lambda x: bn.move_median(x, 3)[2:] ** 2 + bn.move_max(x, 2)[2:] ** 3, X[0])


def bar(f, *x):
    found = ad.gradient(f, *x)
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in found]


def test_ties_and_edges():
    assert bar(bn.nanmax, np.array([1.0, 3.0, 3.0, np.nan])) == [[0, 0.5, 0.5, 0]]
    assert bar(lambda x: bn.nansum(bn.move_min(x, 2)), np.array([1.0, 1.0, 2.0])) == [[0.5, 1.5, 0]]
    assert bar(bn.nanmedian, np.array([1.0, 5.0, 5.0, np.nan, 7.0])) == [[0, 0.5, 0.5, 0, 0]]
    assert bar(bn.nanstd, np.ones(3)) == [[0, 0, 0]]
    rough = bar(lambda x: bn.nansum(bn.move_std(x, 2)), np.array([1.0, 1.0, 1e8, 2.0]))[0]
    np.testing.assert_allclose(rough, [0, -0.5, 1.0, -0.5], rtol=1e-14)
    assert bar(bn.nansum, np.array([1.0, np.inf, np.nan])) == [[1, 1, 0]]
    assert bar(lambda x: bn.move_sum(x, 2)[1], np.array([1.0, np.inf, 2.0, 3.0])) == [[1, 1, 0, 0]]
    assert bar(lambda x: bn.nansum(x[:0]) + bn.nanmean(x[:0]) * 0 + x[0], np.ones(2)) == [[1, 0]]
    assert np.isnan(bn.nanmean(np.full(2, np.nan)))
    assert bar(lambda x: bn.nansum(bn.nanmean(x, 1)), HOLES)[0][2] == [0] * 7


def test_other_numbers():
    integers = np.array([1, 2, 4])
    assert bar(bn.nansum, integers) == [[1, 1, 1]]
    assert bar(bn.ss, integers) == [[2, 4, 8]]
    assert bar(bn.nanmax, integers) == [[0, 0, 1]]
    assert bar(lambda x: bn.nansum(bn.move_sum(x, 2)), integers) == [[1, 2, 1]]
    single = ad.gradient(lambda x: bn.nanstd(x) + bn.move_mean(x, 2)[1], X[0].astype(np.float32))[0]
    assert single.dtype == np.float32
    double = ad.gradient(lambda x: bn.nanstd(x) + bn.move_mean(x, 2)[1], X[0])[0]
    np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-6)
    assert bar(lambda x: bn.nansum([x[0] * 2, x[1]]), np.ones(2)) == [[2, 1]]
    assert bar(lambda x: bn.nansum(x * (1 + 2j)).imag, np.ones(2)) == [[2, 2]]
    assert bar(lambda x: bn.nansum(pd.Series(x) * x), np.ones(2)) == [[2, 2]]
    with pytest.raises(NoDerivativeError, match="array of objects"):
        ad.gradient(lambda x: bn.nansum(np.array([x[0], x[1]], object)), np.ones(2))


def test_replacing():
    def squares(a, new, old):
        b = a * 2
        assert bn.replace(b, old, new) is None
        return np.sum(b**2)

    a = np.array([1.0, np.nan, 2.0])
    assert bar(lambda a, new: squares(a, new, np.nan), a, 5.0) == [[8, 0, 16], 10]
    assert bar(lambda a, new: squares(a, new, 2.0), np.array([1.0, 2.0, 3.0]), 5.0) == [
        [0, 16, 24], 10,
    ]  # fmt: skip

    def given(a, new):
        bn.replace(a, 2.0, new)
        return np.sum(a) * new

    a = np.array([1.0, 2.0, 3.0])
    assert ad.pushforward(given, (a.copy(), 5.0), (np.ones(3), 1.0)) == (45.0, 24.0)
    assert bar(given, a, 5.0) == [[5, 0, 5], 14]
    assert a.tolist() == [1, 5, 3]  # as it is written without a derivative
    with pytest.raises(TypeError):
        ad.gradient(lambda x: bn.replace([1.0], 2.0, x), 1.0)


def test_ranks_and_places_do_not_move():
    f = lambda x: np.sum(bn.rankdata(x) + bn.nanrankdata(x)) + bn.nanargmax(x) + x[0]  # noqa: E731
    assert bar(f, np.array([1.0, 3.0, 2.0])) == [[1, 0, 0]]
    assert bar(lambda x: x[bn.argpartition(x, 1)][1], np.array([1.0, 3.0, 2.0])) == [[0, 0, 1]]
    assert bar(lambda x: x[0] if bn.anynan(x) or bn.allnan(x) else x[1], np.ones(2)) == [[0, 1]]
    assert bar(lambda x: bn.move_rank(x, 2)[1] + x[0] + bn.move_argmax(x, 2)[1], np.ones(2)) == [
        [1, 0]
    ]


@pytest.mark.parametrize("f", [
    lambda x: bn.move_sum(x, 20), lambda x: bn.nansum(x, axis=5), lambda x: bn.nanmin(x[:0]),
    lambda x: bn.move_mean(x, 2, 3),
])  # fmt: skip
def test_errors_are_those_of_the_package(f):
    x = np.ones(3)
    with pytest.raises(ValueError) as plain:
        f(x)
    with pytest.raises(ValueError) as derived:
        ad.gradient(f, x)
    assert str(plain.value) == str(derived.value)


@pytest.mark.parametrize("name", "sum mean std var median min max prod".split())
def test_pandas_reduces_by_it(name):
    """It does where the package is there."""
    check(lambda x: float(getattr(pd.Series(x), name)()), X[0])
    check(lambda x: getattr(pd.DataFrame(x), name)(axis=1).to_numpy(), FILLED)
    check(lambda x: float(getattr(pd.Series(x), name)()), HOLES[0])


def test_it_is_not_imported():
    code = "import sys, adjoint; adjoint.gradient(lambda x: x * x, 1.0); print(*sys.modules)"
    names = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "bottleneck" not in names.stdout.split()
