"""`adjoint.rules.scipy.signal.convolution` and `resampling`."""

import itertools

import numpy as np
import pytest
import scipy.signal as ss

import adjoint as ad
from tests.rules.harness import case, complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second
from tests.support import check_reverse

MODES = ("full", "same", "valid")
KINDS = list(itertools.product((reals, complexes), repeat=2))
SHAPES = [
    ((5,), (3,)), ((4,), (2,)), ((2,), (5,)), ((1,), (3,)), ((3, 4), (2, 3)), ((3, 4), (1, 2)),
    ((2, 3, 4), (2, 2, 3)), ((2, 3), (3, 4)),
]  # fmt: skip
ALONG = [((3, 5), (3, 2), 1), ((3, 5), (1, 2), -1), ((3, 5, 4), (1, 2, 4), [1, 2])]
PLANES = [
    (n, m, mode, boundary)
    for n, m in itertools.product(((3, 4), (4, 5)), ((2, 3), (3, 2), (1, 1), (4, 2)))
    for mode in MODES if mode != "valid" or m[0] <= n[0]
    for boundary in ("fill", "wrap", "symm")
]  # fmt: skip


def pairs(*options, kinds=KINDS):
    """All shapes, real and complex."""
    return [
        (a(*n), b(*m, seed=5), mode, *options)
        for (n, m), (a, b), mode in itertools.product(SHAPES, kinds, MODES)
    ]


SMALL = [
    ([1.0, 2.0, 3.0], [1, 2]), (reals(5).astype("f4"), reals(3).astype("f4")),
    case(reals(9)[::2], reals(3, 4)[:, 1], mode="same"),
]  # fmt: skip
BY_TRANSFORM = [
    *pairs(kinds=[KINDS[0], KINDS[1]]),
    *((a(*n), b(*m), mode, axes) for n, m, axes in ALONG for a, b in KINDS for mode in MODES),
    (complexes(1, 5), reals(3, 2), "full", [1]),
    *SMALL,
]
WAYS = ("symmetric", "reflect", "edge", "wrap", "smooth", "line", "antireflect", "antisymmetric")
RATES = [(1, 1), (1, 3), (2, 1), (2, 3), (3, 2)]
CASES = {
    ss.convolve: [*pairs("auto"), *pairs("fft", kinds=KINDS[:1]), *SMALL],
    ss.correlate: [*pairs("auto"), *pairs("fft", kinds=KINDS[:1]), *SMALL],
    ss.fftconvolve: BY_TRANSFORM,
    ss.oaconvolve: BY_TRANSFORM[::3],
    ss.convolve2d: [
        *((a(*n), b(*m, seed=5), *form, 0.7) for n, m, *form in PLANES for a, b in KINDS),
        (reals(2, 3), complexes(3, 4), "valid"),
    ],
    ss.correlate2d: [
        (a(*n), b(*m, seed=5), *form, 0.7) for n, m, *form in PLANES for a, b in KINDS
    ],
    ss.upfirdn: [
        *((reals(n), reals(m), *rates, -1, way, 0.7)
          for rates in RATES for n in (1, 2, 5) for m in (2, 7) for way in ("constant", *WAYS)),
        *((complexes(4), reals(2, 6, 3), *rates, 1) for rates in RATES),
        *((reals(4), complexes(6), *rates) for rates in RATES),
        ([1.0, 2.0], [1.0, 2.0, 3.0], 2), (reals(3).astype("f4"), reals(5).astype("f4"), 2, 3),
    ],
}  # fmt: skip
test_rules = table(CASES)


@pytest.mark.parametrize("f", [ss.convolve, ss.correlate, ss.fftconvolve, ss.oaconvolve])
def test_forward_rules_are_differentiable(f):
    check_second(f, reals(3, 4), complexes(2, 2), mode="same")


def test_forward_rules_of_planes_and_rates_are_differentiable():
    check_second(ss.convolve2d, reals(3, 4), complexes(2, 2), mode="same", boundary="wrap")
    check_second(ss.correlate2d, reals(3, 4), complexes(2, 2), mode="same")
    check_second(ss.upfirdn, reals(4), reals(6), up=2, down=3)


def test_what_is_not_known_is_refused():
    with pytest.raises(ad.AdjointError):  # the surroundings are longer than the image
        ad.gradient(
            lambda a, b: ss.convolve2d(a, b, boundary="symm").sum(), reals(2, 2), reals(5, 5)
        )
    with pytest.raises(ad.AdjointError, match="longer than the signal"):
        ad.gradient(lambda h: ss.upfirdn(h, reals(3), mode="antireflect").sum(), reals(6))


def test_in_programs():
    x, image = reals(20), reals(5, 6)
    check_reverse(lambda a, b: ss.convolve(a, b), 2.0, 3.0)
    check_reverse(lambda x: ss.wiener(x, 3), image)
    check_reverse(lambda x: ss.resample(x, 13), x)
    check_reverse(lambda x: ss.resample_poly(x, 3, 2), x)
    check_reverse(lambda x: ss.resample_poly(x, 3, 2, padtype="line"), x)
    check_reverse(lambda x: np.abs(ss.hilbert(x)), x)
    check_reverse(lambda x: ss.savgol_filter(x, 7, 3), x)

    def deconvolved(kernel, blurred):
        return np.sum((ss.convolve(kernel, x, mode="valid") - blurred) ** 2)

    check_reverse(deconvolved, reals(4), reals(17))
