"""`adjoint.rules.scipy.ndimage`: filters, linear ones, those that pick, and those that call."""

import numpy as np
import pytest
import scipy.ndimage as ni

import adjoint as ad
from adjoint.rules.scipy.ndimage import correlation, rank_filters, spectra
from tests.rules.harness import complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second, check_second_order
from tests.support import check_reverse

X, X3, Z, LINE = reals(4, 5), reals(2, 3, 4), complexes(4, 5), reals(9)
MODES = range(7)
NAMED = ("nearest", "wrap", "reflect", "mirror", "constant")
FOOTPRINT = np.array([[1, 0, 1], [0, 1, 1]], bool)
FLAT = reals(2, 3, seed=5) / 4
D = X.dtype


def sizes_and_origins(*sizes):
    """Windows at one end, in the middle, and at the other end, also ones longer than the array."""
    return [(n, o) for n in sizes for o in sorted({-(n // 2), 0, (n - 1) // 2})]


WINDOWS = sizes_and_origins(1, 2, 5, 12)
CASES = {
    correlation.correlated_along: [
        (X, reals(n, seed=3), axis, D, mode, 0.7, o)
        for mode in MODES for n, o in WINDOWS for axis in (0, 1)
    ],
    correlation.averaged: [
        (X, n, axis, D, mode, 0.7, o) for mode in MODES for n, o in WINDOWS for axis in (0, 1)
    ],
    correlation.correlated: [
        (X, reals(*shape, seed=3), D, mode, 0.7, list(o))
        for mode in MODES
        for shape, o in (((1, 1), (0, 0)), ((3, 2), (0, -1)), ((2, 6), (-1, 2)), ((9, 3), (4, 0)))
    ] + [(X3, reals(2, 3, 2), D, mode, 0.7, [0, 0, -1]) for mode in (2, 4)],
    rank_filters.extreme_along: [
        (X, n, axis, D, mode, 0.7, o, least)
        for mode in range(5) for n, o in WINDOWS for axis in (0, 1) for least in (0, 1)
    ],
    rank_filters.extreme: [
        (X, FOOTPRINT, structure, D, mode, 0.7, o, least)
        for mode in range(5) for structure in (None, FLAT) for o in ([0, 0], [-1, 1])
        for least in (0, 1)
    ],
    rank_filters.ranked: [
        (X, rank, FOOTPRINT, D, mode, 0.7, o)
        for mode in range(5) for rank in (0, 1, 3) for o in ([0, 0], [-1, 1])
    ],
    spectra.filtered_spectrum: [
        (x, np.array([2.7, 3.4]), n, axis, x.dtype, kind)
        for x in (Z, X) for n, axis in ((-1, 0), (8, 1), (9, 1), (6, 0)) for kind in (0, 1, 2)
    ],
    spectra.moved_spectrum: [
        (Z, np.array([0.7, -1.4]), n, axis, Z.dtype)
        for n, axis in ((-1, 0), (8, 1), (9, 1), (6, 0))
    ],
}  # fmt: skip
if rank_filters._rank_filter_1d is not None:
    CASES[rank_filters.ranked_along] = [
        (LINE, rank, n, D, mode, 0.7, o)
        for mode in range(5) for n, o in sizes_and_origins(3, 5, 6) for rank in range(1, n - 1)
    ]  # fmt: skip
test_rules = table(CASES)


def test_forward_rules_are_differentiable():
    beyond = {"dtype": D, "mode": 4, "cval": 0.7}
    check_second(correlation.correlated_along, X, reals(3), axis=1, origin=0, **beyond)
    check_second(correlation.averaged, X, size=3, axis=1, origin=0, **beyond)
    check_second(correlation.correlated, X, FLAT, origins=[0, 0], **beyond)
    form = {"n": -1, "axis": 0, "dtype": Z.dtype}
    check_second(spectra.filtered_spectrum, Z, np.array([0.7, 1.4]), kind=0, **form)
    check_second(spectra.moved_spectrum, Z, np.array([0.7, 1.4]), **form)


def test_tangents_of_rank_filters_are_differentiable():
    check_second_order(ni.maximum_filter, X, size=3, mode="constant", cval=0.7)
    check_second_order(ni.rank_filter, X, rank=1, footprint=FOOTPRINT)


# ---- the public functions ------------------------------------------------------------------------


@pytest.mark.parametrize("x", [X, X3, Z, X.astype("f4"), np.asfortranarray(X)[::-1, ::2]])
def test_linear_filters(x):
    for f in (ni.sobel, ni.prewitt, ni.laplace, ni.uniform_filter, ni.uniform_filter1d):
        check_reverse(lambda x: f(x, 3) if "uniform" in f.__name__ else f(x), x)
    check_reverse(lambda x: ni.gaussian_filter(x, 1.3), x)
    check_reverse(lambda x: ni.gaussian_filter1d(x, 1.3, axis=0, mode="wrap"), x)


@pytest.mark.parametrize("mode", (*NAMED, "grid-wrap", "grid-constant", "grid-mirror"))
def test_modes(mode):
    form = {"mode": mode, "origin": 1}
    check_reverse(lambda x, w, c: ni.correlate1d(x, w, 0, cval=c, **form), X, reals(4), 0.3)
    check_reverse(lambda x, w, c: ni.convolve1d(x, w, cval=c, **form), X, reals(3), 0.3)
    check_reverse(lambda x, w, c: ni.correlate(x, w, cval=c, **form), X, reals(3, 4), 0.3)
    check_reverse(lambda x, w, c: ni.convolve(x, w, cval=c, **form), X, reals(3, 3), 0.3)
    check_reverse(lambda x, c: ni.uniform_filter(x, (3, 4), cval=c, **form), X, 0.3)
    check_reverse(lambda x, s: ni.gaussian_filter(x, s, mode=mode), X, 1.3)


@pytest.mark.parametrize("x, w", [(Z, FLAT), (X, complexes(2, 3)), (Z, complexes(2, 3))])
def test_complex(x, w):
    for f in (ni.correlate, ni.convolve):
        check_reverse(lambda x, w: f(x, w, mode="constant"), x, w)
    check_reverse(ni.correlate1d, x, w[0])
    check_reverse(ni.convolve1d, x, w[0])


def test_widths_of_gaussians():
    check_reverse(lambda x, s: ni.gaussian_filter(x, [s, 2 * s], order=(1, 0)), X, 0.8)
    check_reverse(lambda x, s: ni.gaussian_laplace(x, s), X, 1.3)
    check_reverse(lambda x, s: ni.gaussian_gradient_magnitude(x, s), X, 1.3)
    check_reverse(lambda x, s: ni.gaussian_filter1d(x, s, order=2), X, 1.3)


def test_outputs():
    def into(x):
        out, twice = np.zeros((4, 5)), x * 2
        ni.gaussian_filter(x, 1.0, output=out)
        ni.sobel(twice, output=twice)
        ni.maximum_filter(out, 2, output=out)
        return out * x + twice

    check_reverse(into, X)
    check_reverse(lambda x: ni.uniform_filter(x, 3, output=np.float64), X.astype("f4"))
    for f in (ni.uniform_filter, ni.maximum_filter):
        assert not ad.gradient(lambda x, f=f: f(x, 3, output=int).sum(), X)[0].any()


@pytest.mark.parametrize("mode", NAMED)
def test_filters_that_pick(mode):
    check_reverse(lambda x, c: ni.maximum_filter(x, 3, mode=mode, cval=c), X, 0.3)
    check_reverse(lambda x, c: ni.minimum_filter(x, footprint=FOOTPRINT, mode=mode, cval=c), X, 0.3)
    check_reverse(lambda x: ni.median_filter(x, 3, mode=mode), X)
    check_reverse(lambda x: ni.median_filter(x, 3, mode=mode, origin=1), LINE)
    check_reverse(lambda x: ni.percentile_filter(x, 20, 5, mode=mode), LINE.astype("f4"))
    check_reverse(lambda x: ni.rank_filter(x, 2, 3, mode=mode), X)
    check_reverse(lambda x, s: ni.grey_dilation(x, structure=s, mode=mode), X, FLAT)
    check_reverse(lambda x, s: ni.grey_erosion(x, structure=s, mode=mode), X, FLAT)


MORPHOLOGY = (
    ni.grey_opening, ni.grey_closing, ni.white_tophat, ni.black_tophat, ni.morphological_gradient,
    ni.morphological_laplace,
)  # fmt: skip


@pytest.mark.parametrize("f", MORPHOLOGY)
def test_morphology(f):
    check_reverse(lambda x: f(x, size=(3, 2)), X)
    check_reverse(lambda x: f(x, size=(3, 2), output=np.zeros((4, 5))), X)


def test_ties_share_equally():
    (bar,) = ad.gradient(lambda x: ni.maximum_filter(x, 3)[1], np.array([1.0, 1.0, 1.0, 0.0]))
    np.testing.assert_allclose(bar, [1 / 3, 1 / 3, 1 / 3, 0])
    (bar,) = ad.gradient(lambda x: ni.median_filter(x, 3)[0], np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(bar, [1, 0, 0])  # the first element stands twice in its window


def test_not_a_number_stays_where_it_is():
    x = np.array([1.0, 2.0, np.nan, 4.0, 5.0, 6.0])
    (bar,) = ad.gradient(lambda x: ni.minimum_filter(x, 2)[-2:].sum(), x)
    np.testing.assert_array_equal(bar, [0, 0, 0, 1, 1, 0])


@pytest.mark.skipif(
    rank_filters._rank_filter_1d is None, reason="SciPy 1.14 and before read no more"
)
def test_windows_longer_than_a_line_are_refused():
    """SciPy's ranks of mirrored short lines read memory that is not theirs."""
    with pytest.raises(ad.AdjointError, match="longer than the array"):
        ad.gradient(lambda x: ni.median_filter(x, 19, mode="nearest").sum(), LINE)


# ---- spectra, and functions that are called ------------------------------------------------------


@pytest.mark.parametrize("f", [ni.fourier_gaussian, ni.fourier_uniform, ni.fourier_shift])
def test_spectra(f):
    for x in (X, Z, Z.astype("c8")):
        check_reverse(lambda x: f(x, 1.3), x)
    check_reverse(lambda x: f(x, (1.3, 0.8), n=8, axis=1), Z)
    if f is not ni.fourier_uniform:
        check_reverse(f, Z, [1.2, 0.3])
    else:
        with pytest.raises(ad.AdjointError, match="in the sizes"):
            ad.gradient(lambda s: np.abs(f(Z, s)).sum(), 1.2)


@pytest.mark.parametrize("mode", ["reflect", "constant", "wrap"])
def test_functions_that_are_called(mode):
    def weighted(values, k):
        return (values * values).sum() * k / values[0]

    def products(line, filtered, k):
        filtered[:] = line[:-2] * line[2:] * k

    x, form = X + 4, {"mode": mode, "cval": 0.4}
    check_reverse(
        lambda x, k: ni.generic_filter(
            x, weighted, footprint=FOOTPRINT, origin=(-1, 0), extra_arguments=(k,), **form
        ), x, 0.7,
    )  # fmt: skip
    check_reverse(
        lambda x, k: ni.generic_filter1d(x, products, 3, 0, extra_arguments=(k,), **form), x, 0.7
    )
    check_reverse(lambda x: ni.generic_laplace(x, ni.sobel), X)
    check_reverse(lambda x: ni.generic_gradient_magnitude(x, ni.sobel), X)


def test_the_size_of_a_gradient_of_zero():
    f = lambda x: ni.gaussian_gradient_magnitude(x, 1.0, mode="mirror")  # noqa: E731
    x, x_dot, h = np.array([1.0, 3.0, 2.0, 5.0]), np.array([1.0, 0.0, 2.0, 3.0]), 1e-4
    assert f(x)[0] == 0
    np.testing.assert_array_equal(ad.pullback(f, x)[0], f(x))
    expected = (f(x + h * x_dot) - f(x - h * x_dot)) / (2 * h)
    np.testing.assert_allclose(ad.pushforward(f, (x,), (x_dot,))[1], expected, rtol=1e-7)
    bar = ad.gradient(lambda x: f(x).sum(), x)[0]
    np.testing.assert_allclose(bar @ x_dot, expected.sum(), rtol=1e-7)


@pytest.mark.parametrize("labels", [None, np.arange(20).reshape(4, 5) % 3])
def test_measurements(labels):
    index = None if labels is None else [0, 1, 2]
    for f in (ni.sum_labels, ni.mean, ni.variance, ni.standard_deviation, ni.maximum, ni.minimum):
        check_reverse(lambda x: f(x, labels, index), X)
    check_reverse(lambda x: ni.median(x, labels, index), X)
    check_reverse(lambda x: ni.center_of_mass(x + 4, labels, index), X)
