"""Functions of libraries that have a rule, called by specialised programs."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier

RNG = np.random.default_rng(0)
X = RNG.random(5) + 0.2
A = RNG.random((4, 4))
S = A @ A.T + np.eye(4)
B = RNG.random(4)

CASES = {
    "erf": (lambda x: np.sum(scipy.special.erf(x) ** 2), X),
    "erf of a number": (lambda x: scipy.special.erf(x) * x, 0.3),
    "gammaln": (lambda x: np.sum(scipy.special.gammaln(x) * x), X),
    "logsumexp": (lambda x: scipy.special.logsumexp(x), X),
    "jv": (lambda x: np.sum(scipy.special.jv(1, x)), X),
    "cholesky": (lambda a: np.sum(np.linalg.cholesky(a)), S),
    "scipy's cholesky": (lambda a: np.sum(scipy.linalg.cholesky(a, lower=True)), S),
    "solve": (lambda a, b: np.linalg.solve(a, b) @ b, S, B),
    "scipy's solve": (lambda a, b: scipy.linalg.solve(a, b) @ b, S, B),
    "inv": (lambda a, b: b @ np.linalg.inv(a) @ b, S, B),
    "det": (lambda a: np.linalg.det(a), S),
    "norm": (lambda a: np.linalg.norm(a), A),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a)[0], S),
    "expm": (lambda a: np.sum(scipy.linalg.expm(a)), A),
    "pinv": (lambda a: np.sum(np.linalg.pinv(a)), A),
    "sort": (lambda x: np.sort(x)[0] * 2.0, X),
    "convolve": (lambda x: np.sum(np.convolve(x, np.ones(3)) ** 2), X),
    "unique": (lambda x: np.sum(np.unique(x) ** 2), X),
    "cumprod": (lambda x: np.sum(np.cumprod(x)), X),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_tiers_agree(case):
    f, *args = case
    value, bars = tier.run(f, tuple(args), GRADIENT)
    generic = ad.value_and_grad(f, tuple(range(len(args))), tier="generic")(*args)
    np.testing.assert_allclose(value, generic[0], rtol=1e-13)
    for a, b in zip(bars, generic[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)
        assert type(a) is type(b)


def test_a_shape_that_was_not_foreseen():
    """The number of different elements is none that follows from the operands."""

    def f(x):
        return np.sum(np.unique(x) ** 2)

    for x in (X, np.array([1.0, 1.0, 2.0, 3.0, 3.0]), np.ones(4)):
        generic = ad.grad(f, tier="generic")(x)
        np.testing.assert_allclose(ad.grad(f)(x), generic)


def test_a_result_of_another_type():
    """A function of NumPy's that is put in the place of another one."""

    def f(x):
        return np.sum(scipy.special.erf(x))

    assert ad.gradient(f, X)[0].shape == X.shape
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scipy.special, "erf", lambda x: 3.0 * x)
        np.testing.assert_allclose(ad.gradient(f, X)[0], np.full(5, 3.0))


def test_matrices_that_the_function_refuses():
    def f(a):
        return np.sum(np.linalg.cholesky(a))

    assert ad.gradient(f, S)[0].shape == S.shape
    with pytest.raises(np.linalg.LinAlgError):
        ad.gradient(f, -S)


def test_a_part_of_numpy_that_is_not_loaded_yet():
    code = """
import numpy as np, adjoint as ad, sys
assert "fft" not in vars(np)
f = lambda x: np.sum(np.abs(np.fft.fft(x)))
ad.gradient(f, np.ones(4))
print(ad.tier(f, np.ones(4)))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fast tier" in found.stdout, found.stdout
