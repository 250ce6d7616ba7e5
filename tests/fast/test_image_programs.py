"""Linear filters and splines of `scipy.ndimage` in programs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage, signal

import adjoint as ad
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, M, K = RNG.normal(size=20), RNG.normal(size=(7, 9)), RNG.normal(size=(3, 2))
AT = RNG.uniform(1.1, 5.8, size=(2, 6))
MODES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")


def size(y):
    return (y**2).sum()


def edges(x):
    y = x * x
    return np.sqrt(ndimage.sobel(y, axis=0) ** 2 + ndimage.sobel(y, axis=1) ** 2 + 1).sum()


def registered(p):
    """Points that are moved and turned."""
    i, j = np.meshgrid(np.arange(2.0, 5.0), np.arange(2.0, 6.0), indexing="ij")
    c, s = np.cos(p[2]), np.sin(p[2])
    at = np.stack([c * i - s * j + p[0], s * i + c * j + p[1]])
    return size(ndimage.map_coordinates(M, at, order=1, mode="nearest"))


FUNCTIONS = {
    "gaussian_filter": (lambda x: size(ndimage.gaussian_filter(x * x, 1.0)), M),
    "of rows": (lambda x: size(ndimage.gaussian_filter(x, (0, 1.5), mode="constant")), M),
    "derivative": (lambda x: size(ndimage.gaussian_filter1d(x * x, 1.0, order=1)), X),
    "in the width": (lambda s: size(ndimage.gaussian_filter1d(M, s[0], radius=3)), X[2:3]),
    "uniform_filter": (lambda x: size(ndimage.uniform_filter(x * x, 3)), M),
    "convolve": (lambda x: size(ndimage.convolve(x * x, K, origin=(1, 0))), M),
    "weights": (lambda k: size(ndimage.convolve(M, k * k, mode="nearest")), K),
    "both": (lambda x: size(ndimage.convolve1d(x * x, x[:3])), X),
    "correlate": (lambda x: size(ndimage.correlate(x * x, K, mode="constant")), M),
    "edges": (edges, M),
    "laplace": (lambda x: size(ndimage.laplace(x * x)), M),
    "gaussian_laplace": (lambda x: size(ndimage.gaussian_laplace(x * x, 1.0)), M),
    "magnitude": (lambda x: ndimage.gaussian_gradient_magnitude(x * x, 1.0).sum(), M),
    "convolve2d": (lambda x: size(signal.convolve2d(x * x, K, "same", "symm")), M),
    "correlate2d": (lambda x: size(signal.correlate2d(x * x, K, "same")), M),
    "savgol_filter": (lambda x: size(signal.savgol_filter(x * x, 5, 2, mode="nearest")), X),
    "registered": (registered, np.array([0.13, -0.21, 0.1])),
    "coordinates": (lambda at: size(ndimage.map_coordinates(M, at)), AT),
    "values": (lambda x: size(ndimage.map_coordinates(x * x, AT)), M),
    "constant beyond": (lambda x: size(ndimage.map_coordinates(x, AT * 2, order=1, cval=2.0)), M),
    "zoom": (lambda x: size(ndimage.zoom(x * x, 1.7)), M),
    "zoom in the grid": (
        lambda x: size(ndimage.zoom(x, 2, order=1, grid_mode=True, mode="grid-constant")),
        M,
    ),
    "shift": (lambda x: size(ndimage.shift(x * x, (0.4, -1.3))), M),
    "in the shift": (lambda s: size(ndimage.shift(M, s * 0.3, mode="nearest")), X[:2]),
    "affine_transform": (
        lambda p: size(ndimage.affine_transform(M, np.array([[1.0, p[0]], [p[1], 0.9]]), p[2:])),
        np.array([0.1, -0.05, 0.33, 0.21]),
    ),
    "rotate": (lambda x: size(ndimage.rotate(x * x, 20, reshape=False, order=1)), M),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x, 1e-5)
    assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode):
    check_programs(lambda x: size(ndimage.correlate1d(x * x, [0.2, 0.5, 0.1], mode=mode)), X)
    check_programs(lambda x: size(ndimage.map_coordinates(x**2, AT * 1.3, mode=mode)), M, 1e-5)
    check_programs(lambda at: size(ndimage.map_coordinates(M, at * 1.3, mode=mode)), AT, 1e-4)
    check_programs(lambda x: size(ndimage.zoom(x * x, (1.3, 0.7), mode=mode)), M, 1e-5)


@pytest.mark.parametrize("name", ["gaussian_filter", "edges", "weights"])
def test_single_precision(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x.astype(np.float32), opaque=True)


def test_a_constant_beyond_the_edges():
    for f in (
        lambda x: size(ndimage.gaussian_filter(x * x, 1.0, mode="constant", cval=1.5)),
        lambda x: size(ndimage.convolve(x * x, K, mode="constant", cval=-0.5)),
        lambda x: size(signal.convolve2d(x * x, K, fillvalue=2.0)),
    ):
        ad.testing.check_gradient(f, M)
        v = np.cos(np.arange(63.0)).reshape(7, 9)
        ends = [ad.gradient(f, M + h * v)[0] for h in (1e-5, -1e-5)]
        np.testing.assert_allclose(
            ad.hvp(f, M, v), (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-4
        )
