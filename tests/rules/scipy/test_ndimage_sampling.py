"""`adjoint.rules.scipy.ndimage`: splines read at other places, and distances."""

import numpy as np
import pytest
import scipy.ndimage as ni

import adjoint as ad
from adjoint.rules.scipy.ndimage import spline_coefficients, spline_samples
from adjoint.rules.scipy.ndimage.knots import knots
from tests.rules.harness import case, complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second, check_second_order
from tests.support import check_reverse

X, Z, D = reals(4, 5), complexes(4, 5), np.dtype(float)
POINTS = np.stack([reals(3, 4, low=-7, high=9, seed=4), reals(3, 4, low=-7, high=10, seed=5)])
MATRIX, SHIFT = np.array([[0.93, 0.21], [-0.13, 1.12]]), np.array([0.31, -1.17])
SCALES = np.array([0.73, 1.41])
NAMES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")
FORMS = [
    (order, mode, npad)
    for mode in range(7) for order in range(6) for npad in ((0, 12) if mode in (0, 6) else (0,))
]  # fmt: skip
BACKGROUND = X > 0

CASES = {
    spline_samples.sampled: [(X, POINTS, D, o, mode, 0.7, npad) for o, mode, npad in FORMS],
    spline_samples.affinely_sampled: [
        (X, MATRIX, SHIFT, (4, 6), D, o, mode, 0.7, npad) for o, mode, npad in FORMS
    ],
    spline_samples.sampled_on_grid: [
        (X, zoom, shift, (5, 7), D, o, mode, 0.7, npad, from_edges)
        for o, mode, npad in FORMS[::2]
        for zoom, shift, from_edges in (
            (SCALES, None, False), (SCALES, None, True), (None, SHIFT, False),
            (SCALES, SHIFT, False),
        )
    ],
    spline_coefficients.coefficients: [
        (reals(n, 3), order, axis, D, mode)
        for mode in range(7) for order in (2, 3, 5) for n in (1, 2, 5) for axis in (0, 1)
    ] + [(reals(50), 5, 0, D, mode) for mode in range(7)],
    ni.distance_transform_edt: [
        (BACKGROUND, [1.1, 2.3]), (BACKGROUND, 1.1), (X, np.array([1.1, 2.3]), True, True),
        case(BACKGROUND, sampling=(1.1, 2.3)),
    ],
    ni.distance_transform_bf: [(BACKGROUND, "euclidean", [1.1, 2.3])],
}  # fmt: skip
test_rules = table(CASES)


def test_forward_rules_are_differentiable():
    for mode in (2, 4):
        form = {"dtype": D, "order": 3, "mode": mode, "cval": 0.7, "npad": 0}
        check_second(spline_samples.sampled, X, POINTS, **form)
        check_second(spline_samples.affinely_sampled, X, MATRIX, SHIFT, shape=(3, 4), **form)
    check_second(spline_coefficients.coefficients, X, order=3, axis=0, dtype=D, mode=3)


def test_tangents_of_zoom_are_differentiable():
    check_second_order(lambda x, y: ni.zoom(x * y, 2.0), X, X + 1.0)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("mode, name", list(enumerate(NAMES)))
def test_knots_are_those_that_scipy_reads(mode, name, order, n):
    spline, whole = reals(n), np.arange(-20.0, 20.0)
    at = np.concatenate([np.linspace(-25, 25, 301), whole, whole + 0.5])
    found = knots(at, n, order, mode, 0)
    y = (found.weights * spline[found.places]).sum(0) + 0.7 * (1 - found.share)
    form = {"order": order, "mode": name, "cval": 0.7, "prefilter": False}
    np.testing.assert_allclose(y, ni.map_coordinates(spline, at[None], **form), atol=1e-12)


# ---- the public functions ------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("mode", (*NAMES, "grid-mirror"))
def test_modes(mode, order):
    form = {"order": order, "mode": mode}
    check_reverse(lambda x, at, c: ni.map_coordinates(x, at, cval=c, **form), X, POINTS, 0.3)
    check_reverse(lambda x, by, c: ni.shift(x, by, cval=c, **form), X, [0.3, -1.2], 0.3)
    check_reverse(lambda x, c: ni.zoom(x, 1.7, cval=c, **form), X, 0.3)
    check_reverse(
        lambda x, m, by, c: ni.affine_transform(x, m, by, cval=c, **form), X, MATRIX, SHIFT, 0.3
    )


@pytest.mark.filterwarnings("ignore:promoting", "ignore:The behavior of affine_transform")
def test_forms():
    homogeneous = np.concatenate([MATRIX, SHIFT[:, None]], 1)
    check_reverse(ni.affine_transform, X, SCALES, SHIFT)
    check_reverse(lambda x, m: ni.affine_transform(x, m, output_shape=(3, 6)), X, homogeneous)
    for x in (X, Z, reals(3, 4, 5), X.astype("f4")):
        check_reverse(lambda x, degrees: ni.rotate(x, degrees), x, 20.0)
        check_reverse(lambda x: ni.zoom(x, 0.6, grid_mode=True, mode="grid-wrap"), x)
        check_reverse(lambda x: ni.spline_filter(x, 4), x)
        check_reverse(lambda x, by: ni.shift(x, by, prefilter=False), x, 0.3)
    for degrees in (45, 90, 180):  # all points are at knots, or at edges
        check_reverse(lambda x: ni.rotate(x, degrees, order=1), X)
    check_reverse(lambda x, at: ni.map_coordinates(x, at, output=np.zeros((3, 4))), X, POINTS)


def test_a_mapping_is_the_users_code():
    def bent(position, k, *, by):
        return position[0] + k * position[1], position[1] * by

    def transformed(x, k, by):
        return ni.geometric_transform(x, bent, extra_arguments=(k,), extra_keywords={"by": by})

    check_reverse(transformed, X, 0.13, 0.91)


def test_registration():
    def mismatch(parameters, image, other):
        turned = ni.rotate(image, parameters[0], reshape=False, mode="nearest")
        return np.sum((ni.shift(turned, parameters[1:], mode="nearest") - other) ** 2)

    check_reverse(mismatch, np.array([3.0, 0.4, -0.3]), X, X.T[:4, :4].repeat(2, 1)[:, :5])


def test_distances():
    check_reverse(lambda s: ni.distance_transform_edt(BACKGROUND, sampling=s), [1.1, 2.3])
    check_reverse(lambda s: ni.distance_transform_edt(BACKGROUND, s, return_indices=True)[0], 1.3)
    for f in (ni.distance_transform_edt, ni.distance_transform_bf, ni.distance_transform_cdt):
        assert not ad.gradient(lambda x, f=f: f(x).sum(), X)[0].any()
    with pytest.raises(ad.AdjointError, match="in the sampling"):
        ad.gradient(lambda s: ni.distance_transform_bf(BACKGROUND, sampling=[s, s]).sum(), 1.0)
