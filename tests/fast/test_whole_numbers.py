"""Products with NumPy's integers and truth values: labels, counts, pixels, masks.

They overflow where numbers do not, so that a cotangent is never calculated in them; nor in floats
of less precision than its own.
"""

import numpy as np
import pytest

import adjoint as ad

A = np.array([1.0, 0.1, 0.3, 0.7])
SCALARS = [
    3, True, 2**33, np.uint8(200), np.int8(-100), np.int8(-128), np.int16(300), np.uint64(7),
    np.bool_(True), np.float32(0.8),
]  # fmt: skip
ARRAYS = [
    np.array([1, 0, 1, 1], np.uint8),
    np.array([200, 3, 0, 255], np.uint8),
    np.array([-128, 100, -3, 0], np.int8),
    np.array([40_000, 2, 0, 65_535], np.uint16),
    np.array([2**31, 0, 5, 1], np.uint32),
    np.array([1, 2, 3, 4], np.uint64),
    np.array([True, False, True, True]),
]
FUNCTIONS = [
    lambda a, s: -(np.log(a) * s).sum(),
    lambda a, s: (a - s * np.log(a)).sum(),
    lambda a, s: (a * a).sum() - (a * s).sum(),
    lambda a, s: (np.minimum(a, 0.2) * s).sum(),
    lambda a, s: -(np.maximum(a, 0.2) * s).sum() + a[2] * 0.7,
    lambda a, s: np.sum(a * s) + np.sum(np.maximum(a, 0.2) * s),
    lambda a, s: (np.maximum(np.maximum(a, 0.2) * s, 0.3) * s).sum() + a[2] * 0.7,
    lambda a, s: -((a > 0.2) * a * s).sum(),
    lambda a, s: -(np.abs(a) * s).sum() - (+a * s).sum(),
    lambda a, s: -(np.where(a > 0.2, a, 0.0) * s).sum(),
    lambda a, s: -(a.clip(0.2, 0.8) * s).sum(),
    lambda a, s: -(np.cumsum(a) * s).sum() - (a.reshape(2, 2).T.ravel() * s).sum(),
    lambda a, s: -(a[:, None] * s).sum() - (np.stack([a, a]) * s).sum(),
    lambda a, s: -(a.reshape(2, 2).max(axis=1).sum() * s).sum(),
    lambda a, s: -np.mean(a * s) - (a * s).mean(),
    lambda a, s: -(a * (-1.0 * s)).sum(),
    lambda a, s: (a * a * s * s).sum() - (a * s * (a > 0.2)).sum(),
    lambda a, s: -sum(max(t, 0.2) for t in a) * np.sum(s),
    lambda a, s: (s - a).sum() - ((s - a) ** 2).sum(),
    lambda a, s: -(s * (s * np.tanh(a))).sum() / 3,
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("kind", ["scalars", "arrays"])
def test_against_differences_and_the_generic_tier(f, kind):
    for s in SCALARS if kind == "scalars" else ARRAYS:
        with np.errstate(over="ignore"):
            expected = ad.grad(f, tier="generic")(A, s)
            for found in (ad.grad(f)(A, s), ad.gradient(lambda a, s=s: f(a, s), A)[0]):
                assert found.dtype == expected.dtype == np.float64
                np.testing.assert_allclose(found, expected, rtol=1e-6)
            exact = s.astype(float) if isinstance(s, np.ndarray) else float(s)
            y = f(A, exact)
            if f(A, s) == pytest.approx(y, rel=1e-6):  # NumPy's own arithmetic has not wrapped
                steps = 1e-6 * np.eye(4)
                central = [(f(A + h, exact) - f(A - h, exact)) / 2e-6 for h in steps]
                np.testing.assert_allclose(found, central, rtol=1e-4, atol=1e-8 * abs(y) + 1e-6)


@pytest.mark.parametrize("s", [np.uint8(200), np.full(4, 200, np.uint8), np.int8(-128)])
def test_what_wraps_in_the_function_itself(s):
    """``-s`` is what NumPy says that it is."""
    for f in (
        lambda a, s: (a * (-s)).sum(),
        lambda a, s: (a * (-s) * (a > 0.2)).sum(),
        lambda a, s: -(a * (-s)).sum() - (a * a).sum(),
    ):
        with np.errstate(over="ignore"):
            expected = (f(A * (1 + 1e-6), s) - f(A * (1 - 1e-6), s)) / 2e-6
            for found in (ad.grad(f)(A, s), ad.gradient(lambda a, f=f: f(a, s), A)[0]):
                np.testing.assert_allclose((found * A).sum(), expected, rtol=1e-6)


LESS = np.array([0.1, 0.7, 0.3, 0.9])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    "f",
    [
        lambda a, x: (a * x * 1e5).sum(),
        lambda a, x: -(a / x / 3).sum(),
        lambda a, x: (a * x).sum() * 0.1 + (x / a).sum() * 0.1,
        lambda a, x: (a**2 * x * 0.1).sum() - (np.tanh(a) * x * x * 0.3).sum(),
        lambda a, x: (a + x * a * 0.1).sum() - (x - a * x).mean() * 0.7,
    ],
)
def test_data_of_less_precision_than_the_argument(f, dtype):
    x = LESS.astype(dtype)
    expected = [np.imag(f(A + 1e-30j * e, x.astype(float))) / 1e-30 for e in np.eye(4)]
    np.testing.assert_allclose(ad.grad(f)(A, x), expected, rtol=1e-14)
