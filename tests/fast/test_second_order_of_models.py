"""Second derivatives of what models call: matrices, statistics, methods of ufuncs. They run in
programs that ask no interpreter."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import fft, integrate, linalg, signal, special
from scipy.spatial import distance

import adjoint as ad
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier

P = np.array([1.1, 0.7, 0.4, 0.9])
V = np.array([0.3, -1.0, 0.5, 0.8])
A = np.eye(4) * 3 + np.ones((4, 4)) + np.diag([0.1, 0.2], 2)
B = np.array([0.3, -1.2, 0.8, 0.5])
T = np.linspace(0.1, 1.0, 9)


TALL = np.cos(np.arange(36.0).reshape(9, 4) ** 2)


def reservoir(p: Any) -> Any:
    s = 5.0  # a float, then a number of NumPy
    for x in T:
        s += x * (1 - (s / (9.0 * p[0])) ** p[1])
    return s


def reached(p: Any, *, offset: float = 0.5) -> Any:
    """Return where the end of an arm is; a row of each matrix is constant, but no literal."""
    end = np.eye(3)
    for angle in p:
        c, s = np.cos(angle), np.sin(angle)
        end = end @ np.array([[c, -s, 0.4 * c], (s, c, 0.4 * s), [0, offset, 1]])
    return (end[:, 2] ** 2).sum()


def expected(p: Any, rule: Any) -> Any:
    nodes, weights = rule
    nodes *= 0.5  # in place: the next call gives the nodes themselves
    return (weights * np.exp(p[0] * nodes) * (p[1] - nodes * p[2]) ** 2).sum()


STEPS = np.array([[1, 0], [0, -1], [2, 1]])


def streamed(p: Any, roll: Any) -> Any:
    f = np.outer(p, p)
    for i in range(3):
        f = f * roll(f, STEPS[i])
    return f.sum()


def spd(p: Any) -> Any:
    return A + A.T + np.diag(p**2)


def rebuilt(values: Any, vectors: Any) -> Any:
    """Return a number that depends on vectors, whatever their signs are."""
    return (vectors * np.sin(values[: len(vectors)]) @ vectors.T).sum() ** 2


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda p: B @ linalg.solve(A + np.diag(p), B * p),
    "solve symmetric": lambda p: B @ linalg.solve(spd(p), B, assume_a="pos"),
    "solve matrices": lambda p: (linalg.solve(A + np.diag(p), np.outer(p, T)) ** 2).sum(),
    "inverse": lambda p: (linalg.inv(A + np.diag(p)) ** 2).sum(),
    "triangles": lambda p: B @ linalg.solve_triangular(np.tril(A) + np.diag(p), B, lower=True),
    "factor": lambda p: B @ linalg.cho_solve(linalg.cho_factor(spd(p)), B),
    "lower factor": lambda p: B @ linalg.cho_solve(linalg.cho_factor(spd(p), lower=True), B * p),
    "factor of numpy": lambda p: B @ linalg.cho_solve((np.linalg.cholesky(spd(p)), True), B),
    "factor alone": lambda p: (linalg.cho_factor(spd(p))[0] ** 2).sum(),
    "exponential": lambda p: linalg.expm(A * 0.1 * p[0] + np.diag(p)).sum(),
    "determinant": lambda p: linalg.det(A + np.diag(p)) ** 2,
    "log-determinant": lambda p: np.linalg.slogdet(A + np.diag(p))[1] ** 2,
    "sign": lambda p: np.linalg.slogdet(A - 9 * np.diag(p))[0] * np.linalg.slogdet(spd(p))[1] ** 2,
    "gaussian": lambda p: B @ np.linalg.solve(spd(p), B) + np.linalg.slogdet(spd(p)).logabsdet,
    "eigenvalues": lambda p: (np.linalg.eigvalsh(spd(p) + np.diag(p * T[:4])) ** 3).sum(),
    "singular values": lambda p: np.linalg.svd(A + np.outer(p, B), compute_uv=False).sum() ** 2,
    "eigenvectors": lambda p: (np.linalg.eigh(spd(p))[1][:, -1] ** 3).sum() ** 2,
    "function of a matrix": lambda p: rebuilt(*np.linalg.eigh(spd(p), UPLO="U")),
    "singular vectors": lambda p: np.abs(np.linalg.svd(A + np.outer(p, B))[2][0] ** 3).sum(),
    "of a tall matrix": lambda p: (np.linalg.svd(np.outer(T, p) + TALL)[2][-1] ** 4).sum(),
    "thin": lambda p: rebuilt(*np.linalg.svd(np.outer(T, p) + TALL, full_matrices=False)[1:]),
    "wide": lambda p: rebuilt(*np.linalg.svd(np.outer(p, T) + TALL.T, False)[:2][::-1]),
    "orthogonal": lambda p: (np.linalg.qr(np.outer(T, p) + TALL).Q ** 3).sum(),
    "triangular": lambda p: (np.linalg.qr(np.outer(p, T) + TALL.T)[1] ** 3).sum(),
    "complete": lambda p: (np.linalg.qr(np.outer(T, p) + TALL, "complete")[0][:, :2] ** 3).sum(),
    "only r": lambda p: (np.linalg.qr(TALL * p, "r") ** 3).sum(),
    "eigenvectors of scipy": lambda p: rebuilt(*linalg.eigh(spd(p), spd(p * 0.5))),
    "eigenvalues of scipy": lambda p: (linalg.eigvalsh(spd(p) + np.diag(p * T[:4])) ** 3).sum(),
    "thin of scipy": lambda p: rebuilt(*linalg.svd(np.outer(T, p) + TALL, full_matrices=False)[1:]),
    "orthogonal of scipy": lambda p: (linalg.qr(TALL + np.outer(T, p))[0][:, :4] ** 3).sum(),
    "economic": lambda p: (linalg.qr(np.outer(p, T) + TALL.T, mode="economic")[1] ** 3).sum(),
    "lower and upper": lambda p: sum((x**3).sum() for x in linalg.lu(A - np.outer(p, p))),
    "lu": lambda p: B @ linalg.lu_solve(linalg.lu_factor(A - np.outer(p, p)), B * p),
    "lu transposed": lambda p: linalg.lu_solve(linalg.lu_factor(spd(p)[::-1]), A * p, 1).sum() ** 2,
    "filter": lambda p: (signal.lfilter(p[:2], [1, 0.1 * p[2], 0.2], T * p[3]) ** 2).sum(),
    "filter of rows": lambda p: (signal.lfilter([1.0], p[:3], np.outer(T, p), axis=0) ** 3).sum(),
    "impulses": lambda p: (signal.lfilter(p, 2.0, T * p[0]) ** 3).sum(),
    "shifted": lambda p: ((np.outer(p, T)[:, :1] - np.outer(p, p)) ** 3 * (p[-1:] + p)).sum(),
    "least squares": lambda p: (np.linalg.lstsq(np.outer(T, p) + TALL, T * p[0])[0] ** 3).sum(),
    "many least squares": lambda p: sum((x**2).sum() for x in np.linalg.lstsq(TALL * p, TALL)[:2]),
    "least norm": lambda p: (np.linalg.lstsq(TALL.T * p[:, None], p**2)[0] ** 3).sum(),
    "singular values of fits": lambda p: np.linalg.lstsq(TALL * p, range(9))[3].sum() ** 2,
    "least squares of scipy": lambda p: linalg.lstsq(np.outer(T, p) + TALL, T * p[0])[1] ** 2,
    "fitted polynomial": lambda p: (np.polyfit(T * p[0], np.sin(T * p[1]), 2) ** 2).sum(),
    "weighted fit": lambda p: (np.polyfit(T, T * p[1] ** T, 1, w=np.exp(p[0] * T)) ** 3).sum(),
    "fitted series": lambda p: np.polynomial.legendre.legfit(T, np.sin(T * p[1]), 2).prod(),
    "chain": lambda p: (np.linalg.multi_dot([TALL * p, A, np.outer(p, p), p]) ** 2).sum(),
    "form": lambda p: np.linalg.multi_dot((p, np.outer(p, p) + A, p)) ** 2,
    "legendre": lambda p: (np.polynomial.legendre.legval(T * p[0], p) ** 2).sum(),
    "chebyshev": lambda p: (np.polynomial.Chebyshev(p)(T) ** 2).sum(),
    "laguerre": lambda p: np.polynomial.laguerre.lagval(p[0], [1.0, *p]) ** 2,
    "hermite": lambda p: (np.polynomial.hermite.hermval(T, p) ** 2).sum(),
    "hermite of a number": lambda p: np.polynomial.hermite_e.hermeval(0.5, p**2) ** 2,
    "distances": lambda p: (distance.cdist(TALL[:3] * p, TALL[3:]) ** 3).sum(),
    "kernel": lambda p: np.exp(-distance.cdist(TALL / p, TALL / p, "sqeuclidean")).sum() ** 2,
    "trapezoids of a width": lambda p: np.trapezoid(p**3, dx=0.1) ** 2,
    "trapezoids of rows": lambda p: (np.trapezoid(np.outer(p, T), dx=p[0], axis=0) ** 2).sum(),
    "differences with ends": lambda p: (np.diff(p**2, prepend=1.0, append=[p[0], 2.0]) ** 3).sum(),
    "differences of rows": lambda p: (
        np.diff(np.outer(p, T), 2, axis=0, append=np.outer(p, T)[-1:]) ** 2
    ).sum(),
    "finite parts": lambda p: (np.nan_to_num(p**2, nan=0.5, neginf=-5) ** 2).sum(),
    "from an iterator": lambda p: (np.fromiter((x * x for x in p), dtype=float) ** 3).sum(),
    "exact mean": lambda p: statistics.mean([x**3 for x in p]) ** 2 + statistics.mean(p.tolist()),
    "exact spread": lambda p: statistics.stdev([x**3 for x in p]) * statistics.pvariance(p[:3]),
    "rolled by rows": lambda p: streamed(p, lambda f, c: np.roll(f, c, axis=(0, 1))),
    "rolled by lists": lambda p: streamed(p, lambda f, c: np.roll(f, tuple(c[::-1]), (0, 1))),
    "rolled by numbers": lambda p: streamed(p, lambda f, c: np.roll(f, shift=c[0], axis=1)),
    "reduced": lambda p: functools.reduce(np.matmul, [np.diag(p) + x for x in p])[0, 1] ** 2,
    "reduced numbers": lambda p: functools.reduce(lambda a, b: a * b + 1, [x**2 for x in p]),
    "hermite nodes": lambda p: expected(p, np.polynomial.hermite.hermgauss(len(p) + 3)),
    "legendre nodes": lambda p: expected(p, special.roots_legendre(8)),
    "scaled nodes": lambda p: expected(p, np.polynomial.legendre.leggauss(5)),
    "factors of several sizes": lambda p: np.prod(np.exp(-p * 9)) ** 0.1,
    "spectrum": lambda p: (np.abs(fft.fft(p, 8)) ** 3 * T[:8]).sum(),
    "half a spectrum": lambda p: (np.abs(fft.rfft(p, norm="ortho")) ** 3).sum(),
    "filtered image": lambda p: (
        fft.ifft2(fft.fft2(np.outer(p, T)) * (1 + np.outer(p, T))).real ** 2
    ).sum(),
    "cosines": lambda p: (fft.dct(p, 2, norm="ortho") ** 3).sum() + fft.idst(p, 3)[0] ** 2,
    "cosines of rows": lambda p: (fft.dctn(np.outer(p, T)) ** 3 * fft.fftshift(T)).sum(),
    "length": lambda p: math.dist((p[0], 0.0, p[3]), [p[1], p[2] * 2, 1]) * math.hypot(*p[:2]),
    "distance of arrays": lambda p: math.dist(p, p[::-1] ** 2) ** 3,
    "norm": lambda p: math.hypot(p[0], p[1], p[2]) ** 3,
    "elliptic": lambda p: special.ellipk(p[2] ** 2) * special.ellipe(p[1] / 2),
    "lambert": lambda p: (special.lambertw(p).real ** 2).sum() + special.lambertw(p[0]).real,
    "image": lambda p: (signal.convolve2d(np.outer(p, T), A[:2, :3], mode="same") ** 2).sum(),
    "filter of an image": lambda p: (
        signal.correlate2d(np.outer(T, p), np.outer(p, p)[:2], "full", fillvalue=p[3]) ** 2
    ).sum(),
    "pairs": lambda p: (distance.squareform(distance.pdist(TALL * p)) ** 3).sum(),
    "einsum": lambda p: np.einsum("i,j,ij->", p, p, A),
    "einsum of four": lambda p: (np.einsum("i,j,ij->ij", p, p**2, A) ** 2).sum(),
    "logsumexp alone": special.logsumexp,
    "logsumexp": lambda p: special.logsumexp(np.outer(p, T), axis=1).sum() ** 2,
    "logsumexp weighted": lambda p: special.logsumexp(p * 2, b=np.abs(B)) ** 2,
    "variance": lambda p: np.var(p, ddof=1) ** 2,
    "variances": lambda p: (np.var(np.outer(p, p), axis=0) ** 2).sum(),
    "deviation": lambda p: np.std(p**2) ** 3,
    "differences": lambda p: (np.subtract.outer(p, T) ** 3).sum(),
    "products": lambda p: (np.multiply.outer(p, p) ** 2).sum(),
    "outer of numbers": lambda p: (np.add.outer(p[0], p) ** 3).sum(),
    "sums of rows": lambda p: (np.add.reduce(np.outer(p, T)) ** 3).sum(),
    "largest": lambda p: np.maximum.reduce(p**2) ** 2,
    "powers of numbers": lambda p: sum((t / p[0]) ** p[1] for t in T) ** 2,
    "an arm": reached,
    "moving powers": reservoir,
    "powers of floats": lambda p: sum(t ** float(p[1]) for t in T.tolist()) * p[0],
    "logarithmic sums": lambda p: (np.logaddexp.reduce(np.outer(p, T), axis=1) ** 3).sum(),
    "logarithmic sum of a list": lambda p: np.logaddexp.reduce([p[0], p[1] * p[2], 0.5]) ** 3,
    "columns": lambda p: (np.column_stack([p, p**2, np.outer(p, T)]) ** 2).sum(),
    "rotated": lambda p: (np.rot90(np.outer(p, p)) * A).sum(),
    "diagonal": lambda p: (np.diag(p) * A).sum() ** 2,
    "interpolated": lambda p: (np.interp(T, np.linspace(0, 1, 4), p) ** 2).sum(),
    "trapezoids": lambda p: np.trapezoid(p[0] * T**2 * p[1], T * p[2]) ** 2,
    "simpson": lambda p: integrate.simpson(np.exp(p[0] * T) * p[1], x=T) ** 2,
    "float64 of an array": lambda p: (np.float64(np.diff(p**2)) ** 3).sum(),
    "polynomial": lambda p: (np.polynomial.Polynomial(p)(T) ** 2).sum(),
    "array of a dtype": lambda p: (
        np.array([[0, 0], [p[0], 1], [p[1], p[2] * p[3]]], dtype=float) ** 3
    ).sum(),
    "of rank 2": lambda p: (np.array(p, ndmin=2).T @ np.array([p**2], ndmin=2)).sum(),
}  # fmt: skip


def gradient_by_differences(f: Any, x: Any, h: float = 1e-5) -> Any:
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_orders(name):
    f = FUNCTIONS[name]
    gradient = ad.gradient(f, P)[0]
    np.testing.assert_allclose(gradient, gradient_by_differences(f, P), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.pushforward(f, (P,), (V,))[1], gradient @ V, rtol=1e-9)
    product, h = ad.hvp(f, P, V), 1e-5
    ends = [ad.gradient(f, P + sign * h * V)[0] for sign in (1, -1)]
    scale = max(1.0, np.abs(product).max())
    np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-6 * scale)
    np.testing.assert_allclose(ad.hessian(f, P) @ V, product, rtol=1e-9, atol=1e-10 * scale)
    with generic_tier():
        np.testing.assert_allclose(ad.gradient(f, P)[0], gradient, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ad.hvp(f, P, V), product, rtol=1e-8, atol=1e-9 * scale)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "logsumexp weighted"])
def test_no_interpreter_is_asked(name):
    f = FUNCTIONS[name]
    ad.hvp(f, P, V)
    assert not ad.tier(f, P).opaque
    kept = store.known(f, mode_of("hvp", (0,), is_single=True))
    assert kept is not None and kept.entries
    assert not any("TangentsOfRule" in entry.source for entry in kept.entries)


@pytest.mark.parametrize(
    "f",
    [
        lambda p: (linalg.inv(np.stack([A, A.T]) + np.diag(p)) ** 2).sum(),  # a stack
        lambda p: B @ linalg.solve(np.arange(16).reshape(4, 4) + 9 * np.eye(4, dtype=int), p**2),
        lambda p: linalg.solve(A + 1j * np.diag(p), B).real.sum() ** 2,
        lambda p: (linalg.inv((A + np.diag(p)).astype(np.float32)) ** 2).sum(),
        lambda p: np.var(np.array([p, p**2], dtype=np.float32)) ** 2,
        lambda p: (linalg.solve(A + np.diag(p), B, overwrite_a=True, overwrite_b=False) ** 2).sum(),
        lambda p: np.array(p, ndmin=0, copy=True).sum() ** 2,
        lambda p: np.add.reduce(np.outer(p, p), axis=None, initial=p[0]) ** 2,
    ],
)
def test_other_operands_and_options(f):
    """What is not inlined gives the same numbers."""
    tolerance = {"rtol": 2e-3, "atol": 2e-3}
    gradient = ad.gradient(f, P)[0]
    with generic_tier():
        expected, product = ad.gradient(f, P)[0], ad.hvp(f, P, V)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
    np.testing.assert_allclose(gradient, gradient_by_differences(f, P, 1e-2), **tolerance)
    np.testing.assert_allclose(ad.hvp(f, P, V), product, rtol=1e-4, atol=1e-5)


def test_other_shapes():
    """One program is for matrices that are tall, wide or square."""

    def f(a):
        q, r = np.linalg.qr(a)
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (q**3).sum() + (r**3).sum() + (u**3).sum() + (vh**3).sum() + (s**3).sum()

    for shape in ((5, 3), (3, 5), (4, 4), (6, 2), (1, 3), (2, 1)):
        a = np.sin(np.arange(1.0, 1.0 + np.prod(shape)) ** 2).reshape(shape)
        v = np.cos(a)
        found = ad.gradient(f, a)[0], ad.hvp(f, a, v), ad.pushforward(f, (a,), (v,))[1]
        with generic_tier():
            expected = ad.gradient(f, a)[0], ad.hvp(f, a, v), ad.pushforward(f, (a,), (v,))[1]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9 * np.abs(other).max())


@pytest.mark.parametrize(
    "f",
    [
        lambda a: rebuilt(*np.linalg.eigh(a + a.T)),
        lambda a: (np.linalg.eigh(a + a.T)[0] ** 3).sum(),
        lambda a: np.linalg.eigvalsh(a + a.T)[-1] ** 2,
        lambda a: rebuilt(*np.linalg.svd(a)[1:]),
        lambda a: np.linalg.svd(a)[1].sum() ** 2,
        lambda a: (np.linalg.svd(a)[0][:, 0] ** 3).sum(),
        lambda a: np.linalg.svd(a, compute_uv=False)[0] ** 2,
        lambda a: (np.linalg.qr(a)[0] ** 3).sum(),
        lambda a: (np.linalg.lstsq(a, a[0] + 1.0)[0] ** 3).sum(),
        lambda a: (np.linalg.lstsq(np.vstack([a, a]), np.arange(6.0))[1] ** 3).sum(),
    ],
)
def test_equal_values(f):
    """Vectors of equal values, dependent columns and zeros have the derivatives, or the refusals,
    of the generic tier."""
    regular = np.sin(np.arange(9.0).reshape(3, 3) ** 2)
    for a in (regular, np.eye(3), np.diag([1.0, 1.0, 2.0]), np.ones((3, 3)), np.zeros((3, 3))):
        for find in (
            lambda: ad.gradient(f, a)[0],
            lambda: ad.hvp(f, a, regular),
            lambda: ad.pushforward(f, (a,), (regular,))[1],
        ):
            with generic_tier():
                expected = outcome(find)
            found = outcome(find)
            assert type(found) is type(expected)
            if not isinstance(found, str):
                np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
            else:
                assert found == expected


def outcome(find: Callable[[], Any]) -> Any:
    """Return a derivative, or the first line of the refusal."""
    try:
        return find()
    except ad.NoDerivativeError as error:
        return str(error).splitlines()[0]


def test_integers_alone():
    """An array of numbers that may be integers is one of floats, unless all are."""

    def f(x):
        return np.array([max(a - 8.0, 0) for a in x]).sum() + x[0] * 2.0

    for x in (P, P + 8.0, P):
        assert type(ad.withgradient(f, x)[0]) is type(f(x))
        np.testing.assert_allclose(ad.gradient(f, x)[0], gradient_by_differences(f, x), rtol=1e-6)


def test_a_length_that_is_one_on_some_path():
    """A loop carries an array of one element that becomes longer; it does not fit all others."""

    def f(x):
        total = x[:1] * 2.0
        for _ in range(3):
            total = total * 0.5 + x
        return (total**2).sum()

    for x in (P, P[:2]):
        for _ in range(3):
            np.testing.assert_allclose(
                ad.gradient(f, x)[0], gradient_by_differences(f, x), rtol=1e-6
            )
