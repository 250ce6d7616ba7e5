"""Linear algebra inside programs: unpacked and overwritten results, loops, keywords, classes."""

import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import reals
from tests.rules.numpy_linalg.matrices import complex_positive, positive, square, tall
from tests.support import check_reverse

A, S, T, C = square(3, 3), positive(3, 3), tall(5, 3), complex_positive(3, 3)


def signs_fixed_in_place(a):
    w, v = np.linalg.eigh(a)
    for k in range(len(w)):
        if v[0, k] < 0:
            v[:, k] *= -1.0
    w[0] = w[1] * w[2]
    return v * w


def principal_components(x, k=2):
    centred = x - x.mean(axis=0)
    u, s, vh = np.linalg.svd(centred, full_matrices=False)
    return np.abs(u[:, :k] * s[:k]), s[:k] ** 2 / (s**2).sum()


def whitened(x):
    covariance = np.cov(x, rowvar=False)
    w, v = np.linalg.eigh(covariance)
    return (x - x.mean(0)) @ (v / np.sqrt(w)) @ v.T


class Filter:
    """One step of Kalman's."""

    def __init__(self, transition, noise):
        self.transition, self.noise = transition, noise
        self.mean, self.covariance = np.zeros(3), np.eye(3)

    def step(self, seen):
        f = self.transition
        mean, covariance = f @ self.mean, f @ self.covariance @ f.T + 0.1 * np.eye(3)
        gain = np.linalg.solve(covariance + self.noise, covariance).T
        residual = seen - mean
        self.mean = mean + gain @ residual
        self.covariance = (np.eye(3) - gain) @ covariance
        sign, logdet = np.linalg.slogdet(covariance + self.noise)
        return -0.5 * (sign * logdet + residual @ np.linalg.inv(covariance + self.noise) @ residual)


def filtered(transition, noise):
    filter_ = Filter(transition, noise)
    return sum(filter_.step(seen) for seen in reals(4, 3))


def gaussian_process(x, y, log_scale):
    distance = (x[:, None] - x[None, :]) ** 2
    kernel = np.exp(-0.5 * distance * np.exp(-2 * log_scale)) + 0.1 * np.eye(len(x))
    factor = np.linalg.cholesky(kernel)
    weights = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    return -0.5 * y @ weights - np.log(np.diag(factor)).sum()


def gauss_newton(x, y):
    beta = np.array([1.0, 0.5])
    for _ in range(3):
        fit = beta[0] * np.exp(-beta[1] * x)
        jacobian = np.stack([np.exp(-beta[1] * x), -beta[0] * x * np.exp(-beta[1] * x)], axis=1)
        step, *_, s = np.linalg.lstsq(jacobian, y - fit, rcond=None)
        beta = beta + step
    return beta, s


def orthogonal_iteration(a):
    q = np.eye(3)[:, :2]
    for _ in range(4):
        q, r = np.linalg.qr(a @ q)
    return np.diagonal(r) * np.abs(q)


def low_pass(x, cut):
    spectrum = np.fft.rfft(x)
    frequencies = np.fft.rfftfreq(len(x), d=0.1)
    spectrum *= 1 / (1 + (frequencies / cut) ** 4)
    return np.fft.irfft(spectrum, n=len(x), norm="backward")


@pytest.mark.parametrize(
    "f, args",
    [
        (signs_fixed_in_place, (S,)),
        (principal_components, (T,)),
        (whitened, (reals(6, 3),)),
        (filtered, (A / 4, S)),
        (gaussian_process, (reals(5), reals(5, seed=1), 0.3)),
        (gauss_newton, (np.linspace(0.1, 2.0, 6), np.linspace(2.0, 0.4, 6) ** 2)),
        (orthogonal_iteration, (S,)),
        (low_pass, (reals(9), 2.0)),
        (lambda a: [np.linalg.norm(a, ord=p) for p in (1, 2, "fro", np.inf)], (A,)),
        (lambda a: np.linalg.eigh(a=a, UPLO="U").eigenvalues, (C,)),
        (lambda a: dict(zip("usv", np.linalg.svd(a, compute_uv=True)))["s"], (A,)),
        (lambda a: np.linalg.multi_dot([a, a.T, a]).sum() + np.linalg.cond(a), (A,)),
        (lambda a: np.linalg.matrix_power(a, -2) @ np.linalg.pinv(a), (A,)),
        (lambda x: np.linalg.norm([x, x * x, 1.0]), (1.5,)),
        (lambda x, y: np.linalg.solve([[x, 1.0], [y, 2.0]], [x * y, 1.0]), (3.0, 0.5)),
    ],
)
def test_program(f, args):
    check_reverse(f, *args)


def test_the_result_may_be_used_twice():
    def f(a):
        result = np.linalg.eigh(a)
        return (result[0] * result.eigenvalues).sum() + np.abs(result[1]).sum()

    check_reverse(f, S)
    value, back = ad.pullback(f, S)
    np.testing.assert_array_equal(back(1.0)[1], back(1.0)[1])


def test_the_rules_are_loaded_by_the_first_call():
    code = (
        "import sys, numpy as np, adjoint as ad\n"
        "rules = lambda part: f'adjoint.rules.numpy.{part}'\n"
        "loaded = lambda: [p for p in ('linalg', 'fft') if rules(p) in sys.modules]\n"
        "ad.gradient(np.tanh, 1.0); print(loaded())\n"
        "ad.gradient(np.linalg.det, np.eye(2)); print(loaded())\n"
        "ad.gradient(lambda x: np.fft.fft([x]).real[0], 1.0); print(loaded())"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split("\n")[:3] == ["[]", "['linalg']", "['linalg', 'fft']"]
