"""``overwrite_…=True``: what SciPy puts into the memory of an argument is there, with its
derivative."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft, linalg
from scipy.linalg import lapack

import adjoint as ad
from adjoint.errors import MutationError
from adjoint.testing import check_gradient

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
S = A @ A.T + 4.0 * np.eye(4)
W = RNG.normal(size=4)

# each gives the result, and the array that may have been overwritten
CALLS = {
    "solve_triangular": lambda a, b: (
        linalg.solve_triangular(np.tril(S), b, lower=True, overwrite_b=True),
        b,
    ),
    "solve": lambda a, b: (linalg.solve(a, b, overwrite_a=True, overwrite_b=True), b),
    "lu_factor": lambda a, b: (linalg.lu_factor(a, overwrite_a=True)[0], a),
    "lu_solve": lambda a, b: (linalg.lu_solve(linalg.lu_factor(S), b, overwrite_b=True), b),
    "cho_factor": lambda a, b: (np.tril(linalg.cho_factor(a, True, True)[0]), np.tril(a)),
    "cho_solve": lambda a, b: (linalg.cho_solve(linalg.cho_factor(S), b, overwrite_b=True), b),
    "cholesky": lambda a, b: (linalg.cholesky(a, lower=True, overwrite_a=True), a),
    "inv": lambda a, b: (linalg.inv(a, overwrite_a=True), a),
    "eigh": lambda a, b: (linalg.eigh(a, overwrite_a=True)[0], a),
    "fft": lambda a, b: (abs(fft.fft(b + 0j, overwrite_x=True)), b),
    "dct": lambda a, b: (fft.dct(b, overwrite_x=True), b),
    "solveh_banded": lambda a, b: (
        linalg.solveh_banded(np.vstack([0.01 * a[0], S[0] + a[1] ** 2]), b, overwrite_b=True),
        b,
    ),
    "gesv": lambda a, b: (lapack.dgesv(a, b[:, None], 1, 1)[2][:, 0], b),
    "sysv": lambda a, b: (
        lapack.dsysv(a, b[:, None], lower=1, overwrite_a=1, overwrite_b=True)[2][:, 0],
        b,
    ),
    "gbsv": lambda a, b: (
        lapack.dgbsv(1, 1, a, b[:, None], overwrite_ab=1, overwrite_b=1)[2][:, 0],
        b,
    ),
}


def with_strides(a, strides):
    if strides == "apart":
        return np.repeat(a, 2, axis=0)[::2]
    y = np.array(a, order=strides[0])
    if strides.endswith("read-only"):
        y.flags.writeable = False
    return y


@pytest.mark.parametrize("strides", ["C", "F", "apart", "C read-only", "F read-only"])
@pytest.mark.parametrize("name", CALLS)
def test_results_and_what_is_left(name, strides):
    def f(s):
        a, b = with_strides(S * s, strides), with_strides(W * s, strides)
        y, left = CALLS[name](a, b)
        # anything but the result is work space
        counts = np.array_equal(y, left)
        return np.sin(y).sum() + counts * (left * left).sum(), (a, b)

    if name == "dct" and strides.endswith("read-only"):
        for differentiate in (ad.pullback, lambda f, s: ad.pushforward(f, (s,), (s,))):
            with pytest.raises(ValueError, match="not writeable"):
                differentiate(f, 1.3)  # as SciPy says
        return
    value, left = f(1.3)
    slope = (f(1.3 + 1e-6)[0] - f(1.3 - 1e-6)[0]) / 2e-6
    (found, found_left), back = ad.pullback(f, 1.3)
    assert found == pytest.approx(value, rel=1e-12)
    assert back((1.0, None))[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert back((1.0, None))[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    # what is left may be factors, which have no derivative
    _, moved = ad.pushforward(lambda s: f(s)[0], (1.3,), (1.0,))
    assert moved == pytest.approx(slope, rel=1e-6, abs=1e-6)
    for x, expected in zip(found_left, left, strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)
        assert x.flags.writeable == expected.flags.writeable


def test_read_only_memory_of_others():
    """LAPACK would write to it; NumPy lets nobody."""
    b = np.frombuffer(W.tobytes())

    def f(a):
        return linalg.lu_solve(linalg.lu_factor(a), b, overwrite_b=True).sum()

    with pytest.raises(MutationError, match="not NumPy's"):
        ad.gradient(f, S)


def test_flags_by_position():
    def f(a, b):
        x = lapack.dgesv(a, b[:, None], 0, 0)[2] + linalg.inv(a, False)
        return x * linalg.lu_solve(linalg.lu_factor(a), b, 0, False)

    check_gradient(f, S, W, modes="reverse")


def test_a_call_for_what_it_overwrites():
    """As `sklearn.linear_model.orthogonal_mp` solves for a row of its factor."""

    def f(b):
        rows = np.zeros((2, 2))
        rows[0] = b
        linalg.solve_triangular(np.tril(S[:2, :2]), rows[0], lower=True, overwrite_b=True)
        return rows[0] @ rows[0]

    b = np.array([1.0, 2.0])
    steps = 1e-6 * np.eye(2)
    expected = [(f(b + step) - f(b - step)) / 2e-6 for step in steps]
    value, (b_bar,) = ad.withgradient(f, b)
    assert value == f(b)
    np.testing.assert_allclose(b_bar, expected, rtol=1e-6)
    for b_dot, slope in zip(np.eye(2), expected, strict=True):
        assert ad.pushforward(f, (b,), (b_dot,))[1] == pytest.approx(slope, rel=1e-6)
    hessian = ad.hessian(f, b)
    np.testing.assert_allclose(hessian @ b, b_bar, rtol=1e-9)  # it is a quadratic form


def test_the_callers_array():
    b = np.array([1.0, 2.0, 3.0, 4.0])

    def f(b):
        return linalg.lu_solve(linalg.lu_factor(S), b, overwrite_b=True).sum()

    plain = b.copy()
    f(plain)
    (b_bar,) = ad.gradient(f, b)
    np.testing.assert_allclose(b, plain, rtol=1e-12)
    np.testing.assert_allclose(b_bar, np.linalg.solve(S, np.ones(4)), rtol=1e-9)


def test_what_stands_beside_a_factor():
    """Where SciPy leaves the entries that an argument had, they have its derivative."""

    def f(v):
        a = np.array(S * v[0] + np.outer(v, [0.1, 0.2, 0.3, 0.4]))
        return (linalg.cho_factor(a, overwrite_a=True)[0] ** 2).sum()

    v = np.array([1.6, 0.9, 1.7, 0.2])
    expected = [(f(v + step) - f(v - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(ad.gradient(f, v)[0], expected, rtol=1e-6)
    found = [ad.pushforward(f, (v,), (v_dot,))[1] for v_dot in np.eye(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_result_that_is_what_was_there():
    """Of a unit triangle: the solution is the right-hand side, and depends on the triangle."""
    lower = np.eye(3)

    def f(a, b):
        b = b.copy()
        linalg.solve_triangular(a, b, lower=True, overwrite_b=True)
        return np.sin(b)

    check_gradient(f, lower, W[:3])
