"""`scipy.ndimage`: what is not in the tables of rules."""

from __future__ import annotations

import numpy as np
from scipy import ndimage as ni

from tests.census.entries import Section, case, public, via
from tests.rules.harness import complexes, reals

X, Z, W = reals(4, 5), complexes(4, 5), reals(2, 3, seed=3)
LABELS = np.arange(20).reshape(4, 5) % 3
POINTS = np.stack([reals(3, 4, low=0, high=3), reals(3, 4, low=0, high=4, seed=1)])
MATRIX, SHIFT = np.array([[0.93, 0.21], [-0.13, 1.12]]), np.array([0.31, -0.17])


def bent(position):
    return position[0] + 0.13 * position[1], position[1] * 0.91


def smoothed(line, filtered):
    filtered[:] = line[:-2] + line[2:] ** 2


def of_labels(f):
    return via(lambda x: f(x, LABELS, [0, 1, 2]), X)


LINEAR = "laplace prewitt sobel"
PICKING = """
    grey_closing grey_dilation grey_erosion grey_opening maximum_filter median_filter minimum_filter
    morphological_gradient morphological_laplace white_tophat black_tophat
"""
MEASURED = "maximum mean median minimum standard_deviation sum sum_labels variance center_of_mass"
EXAMPLES = {
    **{name: case(X) for name in LINEAR.split()},
    **{name: case(X, (2, 3)) for name in PICKING.split()},
    **{name: of_labels(getattr(ni, name)) for name in MEASURED.split()},
    "affine_transform": case(X, MATRIX, SHIFT),
    "convolve": case(X, W),
    "convolve1d": case(X, W[0]),
    "correlate": case(X, W),
    "correlate1d": case(X, W[0]),
    "extrema": via(lambda x: ni.extrema(x, LABELS, [0, 1, 2])[:2], X),
    "fourier_ellipsoid": case(Z, 2.3),
    "fourier_gaussian": case(Z, 1.3),
    "fourier_shift": case(Z, 1.3),
    "fourier_uniform": case(Z, 2.3),
    "gaussian_filter": case(X, 1.3),
    "gaussian_filter1d": case(X, 1.3),
    "gaussian_gradient_magnitude": case(X, 1.3),
    "gaussian_laplace": case(X, 1.3),
    "generic_filter": via(lambda x: ni.generic_filter(x, np.std, 3), X),
    "generic_filter1d": via(lambda x: ni.generic_filter1d(x, smoothed, 3), X),
    "generic_gradient_magnitude": case(X, ni.sobel),
    "generic_laplace": case(X, ni.sobel),
    "geometric_transform": case(X, bent),
    "labeled_comprehension": via(
        lambda x: ni.labeled_comprehension(x, LABELS, [0, 1, 2], np.mean, float, 0), X
    ),
    "map_coordinates": case(X, POINTS),
    "maximum_filter1d": case(X, 3),
    "minimum_filter1d": case(X, 3),
    "percentile_filter": via(lambda x: ni.percentile_filter(x, 20, 3), X),
    "rank_filter": case(X, 2, 3),
    "rotate": case(X, 20.0),
    "shift": case(X, [0.3, -0.2]),
    "spline_filter": case(X),
    "spline_filter1d": case(X),
    "uniform_filter": case(X, 3),
    "uniform_filter1d": case(X, 3),
    "vectorized_filter": via(lambda x: ni.vectorized_filter(x, np.mean, size=3), X),
    "zoom": via(lambda x: ni.zoom(x, 1.7), X),
}

REFUSED = {
    "in the sampling it has no rule: use distance_transform_edt": "distance_transform_bf",
}

SECTIONS = [Section("scipy.ndimage", public(ni), EXAMPLES, refused=REFUSED)]
