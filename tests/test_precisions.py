"""Numbers of NumPy's of less precision than what they are multiplied with: no digits are lost."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_gradient

X = np.array([1.3, 0.7, 2.1])
SCALARS = [np.float16(0.1), np.float32(0.3), np.float64(0.7), 0.9, np.complex64(0.3 + 0.4j)]
FORMS = {
    "h * k": lambda x, h, k: np.sum(x) * h * k,
    "x * h": lambda x, h, k: np.sum(x * h) * k,
    "x * k / h": lambda x, h, k: (x * k / h).sum(),
    "/ h / k": lambda x, h, k: np.sum(x) / h / k * 0.3,
    "- h, + k": lambda x, h, k: (np.sum(x) - h) * (x[0] + k) * 0.7,
    "exp": lambda x, h, k: np.exp(np.sum(x) * h) * k * 0.3,
    "**": lambda x, h, k: np.mean(x) ** h * k * 0.3,
    "sqrt": lambda x, h, k: np.sqrt(x @ x) * h * 0.3 * k,
    "hypot": lambda x, h, k: np.hypot(x[0] * np.real(h), np.real(k)) * 0.3,
    "a loop": lambda x, h, k: sum([t * h * k for t in x]),
    "h / x": lambda x, h, k: h / np.sum(x) * 0.3 * k,
    "float": lambda x, h, k: float(np.sum(x) * np.real(h)) * 0.3 * k,
}


def _double(scalar):
    return complex(scalar) if isinstance(scalar, complex | np.complexfloating) else float(scalar)


@pytest.mark.parametrize("k", SCALARS, ids=repr)
@pytest.mark.parametrize("h", SCALARS, ids=repr)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_as_precise_as_the_value(form, h, k):
    def exact(x):
        return np.real(form(x, _double(h), _double(k)))

    expected = ad.grad(exact, tier="generic")(X)
    for dtype in (np.float64, np.float32, np.float16):
        x = X.astype(dtype)

        def f(x):
            return np.real(form(x, h, k))

        precision = 60 * max(np.finfo(np.result_type(f(x))).eps, np.finfo(dtype).eps)
        for gradient in (
            ad.gradient(f, x)[0],
            ad.grad(f, tier="generic")(x),
            ad.pullback(f, x)[1](1.0)[1],
        ):
            assert gradient.dtype == dtype
            np.testing.assert_allclose(gradient.astype(float), expected, rtol=precision)
        slope = ad.pushforward(f, (x,), (np.ones_like(x),))[1]
        np.testing.assert_allclose(float(slope), expected.sum(), rtol=precision)


def test_no_overflow_of_a_cotangent():
    h = np.float16(300)

    def f(x):
        return np.sum(x) * h * 1e3

    assert ad.gradient(f, X)[0][0] == ad.grad(f, tier="generic")(X)[0] == 3e5


def test_truth_values():
    for f in (lambda x, j: np.mean(np.ldexp(x, j)), lambda x, j: np.sum(x**j) * 0.1):
        x = np.ones((3, 3))
        np.testing.assert_allclose(
            ad.grad(f)(x, True), ad.grad(f, tier="generic")(x, True), rtol=1e-14
        )


MIXED = {
    "dot": lambda x, a, m: np.dot(x, a) * 0.3,
    "dot, the other way": lambda x, a, m: np.dot(a, x) * 0.3,
    "@": lambda x, a, m: (x @ a) * 0.3,
    "vdot": lambda x, a, m: np.vdot(x, a) * 0.3,
    "inner": lambda x, a, m: np.inner(x, a) * 0.3,
    "a matrix": lambda x, a, m: np.sum(m @ x) * 0.3 + (x @ m @ x),
    "tensordot": lambda x, a, m: np.tensordot(x, a, 1) * 0.3,
    "einsum": lambda x, a, m: np.einsum("i,ij->j", x, m).sum() * 0.3,
    "sum": lambda x, a, m: np.sum(x * a) * 0.3,
    "ratio": lambda x, a, m: np.sum(x / a) * 0.3,
    "power": lambda x, a, m: np.sum(x**a) * 0.3,
    "average": lambda x, a, m: np.average(x, weights=a) * 0.3,
    "maximum": lambda x, a, m: np.sum(np.maximum(x, a) * a) * 0.3,
    "hypot": lambda x, a, m: np.hypot(x, a).sum() * 0.3,
    "a loop": lambda x, a, m: sum([p * q for p, q in zip(x, a, strict=True)]) * 0.3,
    "polyval": lambda x, a, m: np.polyval(a, x[0]) * 0.3,
    "a complex dot": lambda x, a, m: np.dot(x * (0.3 + 0.7j), a).real * 0.3,
    "a complex @": lambda x, a, m: (x @ (a + 0.0j * a)).real * 0.3 * a[0],
    "a complex vdot": lambda x, a, m: np.vdot(x * (0.3 + 0.7j), a).imag * 0.3,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("form", MIXED.values(), ids=MIXED)
def test_data_of_less_precision(form, dtype):
    a, m = (X[::-1] * 0.37).astype(dtype), (np.outer(X, X) / 7.0).astype(dtype)

    def f(x):
        return form(x, a, m)

    expected = ad.grad(lambda x: form(x, a.astype(float), m.astype(float)), tier="generic")(X)
    for gradient in (
        ad.gradient(f, X)[0],
        ad.gradient(form, X, a, m)[0],
        ad.grad(f, tier="generic")(X),
        ad.pullback(f, X)[1](1.0)[1],
    ):
        np.testing.assert_allclose(gradient, expected, rtol=1e-13)
    assert ad.pushforward(f, (X,), (X,))[1] == pytest.approx(expected @ X, rel=1e-13)


def test_single_precision_beside_half():
    a, x = np.array([0.1, 0.3, 0.7], np.float16), X.astype(np.float32)
    for f in (
        lambda x: np.dot(x, a) * 0.3,
        lambda x: (a @ x) * 0.3,
        lambda x: np.vdot(x, a) * 0.3,
        lambda x: np.sum(x / a) * 0.3,
    ):
        expected = ad.grad(lambda x, f=f: f(x.astype(float)), tier="generic")(x)
        for gradient in (ad.gradient(f, x)[0], ad.grad(f, tier="generic")(x)):
            assert gradient.dtype == np.float32
            np.testing.assert_allclose(gradient, expected, rtol=1e-6)


H, H32 = np.float16(0.3), np.float32(0.7)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.exp(1j * np.real(np.vdot(v, v))).real,
        lambda v: (np.real(v[0]) * (0.3 - 0.2j)).real ** 2,
        lambda v: np.imag(np.sum(v * 1j)) ** 2 * H,
        lambda v: (np.real(v[0]) * H32) ** 3 * H,
        lambda v: np.exp(np.real(v[1]) * H) ** H32,
        lambda v: (np.nan_to_num(np.sum(v)) * np.complex64(0.3 + 0.2j) * H).real ** 2 * v[0],
    ],
)
def test_in_every_mode(f):
    check_gradient(f, np.array([0.8, 1.2]), modes="all")
