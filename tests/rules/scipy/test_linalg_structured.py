"""`adjoint.rules.scipy.linalg.structured`."""

import numpy as np
import pytest
import scipy.linalg as sl

import adjoint as ad
from adjoint.rules.scipy.linalg.structured import (
    _banded_products,
    banded_product,
    banded_solution,
    transposed_band,
)
from tests.levels import check_forward, check_tape
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import check_second, check_second_order, complexes, reals
from tests.support import Sample, check_reverse

V, B, CB = reals(5, seed=6), reals(5, 2, seed=5), complexes(5, 2, seed=7)
R = reals(5, seed=8)


def banded(lower, upper, complex_too=False, n=5):
    ab = reals(lower + upper + 1, n)
    if complex_too:
        ab = ab + 0.5j * reals(lower + upper + 1, n, seed=3)
    ab[upper] += 5
    return ab


def half(width, lower, complex_too=False, n=5):
    """A Hermitian positive definite band."""
    ab = 0.4 * reals(width + 1, n)
    if complex_too:
        ab = ab + 0.3j * reals(width + 1, n, seed=3)
    ab[0 if lower else -1] = 4 + ab[0 if lower else -1].real
    return ab


def factor(width, lower, complex_too=False):
    return (sl.cholesky_banded(half(width, lower, complex_too), lower=lower), lower)


HALVES = [
    case(half(width, lower, z), b, lower=lower)
    for width in (0, 1, 2)
    for lower in (False, True)
    for z, b in ((False, B), (True, CB))
]
COLUMN = reals(5) + np.array([6.0, 0, 0, 0, 0])
COLUMN_C = COLUMN + 1j * reals(5, seed=3)
SIDES = ((1, 1), (0, 0), (2, 1), (0, 2), (3, 0), (6, 5))
"""Numbers of diagonals below and above the main one, also of those outside the matrix."""
CASES = {
    sl.solve_banded: [
        *(((l, u), banded(l, u), B) for l, u in ((0, 0), (1, 1), (2, 1), (0, 2), (3, 0))),
        *(((l, u), banded(l, u, True), CB) for l, u in ((1, 1), (2, 1), (0, 2))),
        ((1, 1), banded(1, 1), V),
        ((1, 1), banded(1, 1), CB[:, 0]),
        ((1, 1), banded(1, 1).tolist(), V.tolist()),
        ((1, 1), banded(1, 1).astype("f4"), V.astype("f4")),
        case((2, 1), banded(2, 1), B, overwrite_ab=True, overwrite_b=True),
    ],
    sl.solveh_banded: [*HALVES, (half(1, False), V), (half(1, False).astype("f4"), V.astype("f4"))],
    sl.cholesky_banded: [
        *(case(half(k, l, z), lower=l) for k in (0, 1, 2) for l in (False, True) for z in (0, 1)),
        (half(1, False).astype("f4"),),
    ],
    sl.cho_solve_banded: [
        *((factor(k, l), B) for k in (0, 1, 2) for l in (False, True)),
        *((factor(k, l, True), CB) for k in (0, 2) for l in (False, True)),
        (factor(1, True), V),
    ],
    sl.solve_toeplitz: [
        (COLUMN, V), (COLUMN, B), ((COLUMN, R), V), ((COLUMN, R), B),
        (COLUMN_C, CB), ((COLUMN_C, R + 1j * V), CB), ((COLUMN, R), CB[:, 0]), ((COLUMN_C, R), V),
        (COLUMN.astype("f4"), V.astype("f4")), (COLUMN[:1], V[:1]),
    ],
    sl.matmul_toeplitz: [
        (V, B), (V, R), ((V, R), B), ((V[:3], R), B), ((V, R[:2]), B[:2]), (CB[:, 0], CB),
        ((V, CB[:, 0]), R), ((V[:3], R), CB), (V.astype("f4"), R.astype("f4")),
    ],
    banded_solution: [
        *((banded(l, u), B, l, u, True) for l, u in ((1, 1), (0, 0), (2, 1), (0, 2), (3, 0))),
        *((banded(l, u, True), CB, l, u, False) for l, u in ((1, 1), (2, 1))),
        (banded(2, 1), CB, 2, 1, True), (banded(2, 1, True), B, 2, 1, True),
    ],
    banded_product: [
        *((banded(l, u), B, l, u) for l, u in SIDES), (banded(2, 1, True), CB, 2, 1),
        (banded(2, 1), CB, 2, 1), (banded(2, 1, True), B, 2, 1),
    ],
    _banded_products: [
        *((B, R[:, None] * B, l, u) for l, u in SIDES), (CB, CB[::-1] * 1.3, 2, 1),
    ],
    transposed_band: [*((banded(l, u), l, u) for l, u in SIDES), (banded(2, 1, True), 2, 1)],
}  # fmt: skip
test_rules = table(CASES)


@pytest.mark.parametrize(
    "f, args",
    [
        (sl.solve_banded, ((2, 1), banded(2, 1), B)),
        (sl.solveh_banded, (half(1, False), V)),
        (sl.cholesky_banded, (half(1, False),)),
        (sl.solve_toeplitz, (COLUMN, V)),
    ],
)
def test_forward_rules_are_differentiable(f, args):
    check_second(f, *args, rtol=1e-5)


def test_in_programs():
    def smoother(x, weight):
        ab = np.stack([np.full(5, -weight), np.full(5, 1 + 2 * weight), np.full(5, -weight)])
        return np.sum(sl.solve_banded((1, 1), ab, x) ** 3)

    check_reverse(smoother, V, 0.7)
    check_reverse(lambda c, r, b: sl.solve_toeplitz((c, r), b) @ b, COLUMN, R, V)
    check_reverse(
        lambda ab, b: sl.cho_solve_banded((sl.cholesky_banded(ab), False), b), half(1, False), V
    )
    check_reverse(lambda c, b: sl.solve_circulant(c, b), COLUMN, V)


def test_a_long_band_costs_no_matrix():
    n = 200_000
    ab = np.ones((3, n)) + np.array([[0.0], [3.0], [0.0]])
    _, bar, b_bar = ad.rrule(sl.solve_banded, (1, 1), ab, np.ones(n))[1](np.ones(n))[1:]
    assert bar.shape == (3, n) and b_bar.shape == (n,)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sl.solve_toeplitz([x, 1.0, 0.5], [1.0, x, 2.0]),
        lambda x: sl.solve_toeplitz(([x + 2, 1.0, 0.5], [0.0, x * x, 0.3]), [[1.0], [x], [2.0]]),
        lambda x: sl.solve_toeplitz([x, 1.0j, 0.5], [1.0, x, 2.0]).real,
        lambda x: sl.matmul_toeplitz([x, 1.0, 0.5], [1.0, x, 2.0]),
        lambda x: sl.matmul_toeplitz(([x, 1.0, 0.5], np.array([1.0, 0.2])), [[x], [1.0]]),
        lambda x: sl.cho_solve_banded(([[x, 2.0, x], [1.0, 0.2, 0.0]], True), [1.0, x, 2.0]),
        lambda x: sl.solve_banded((1, 0), [[x, 2.0, x], [1.0, 0.2, 0.0]], [1.0, x, 2.0]),
    ],
)
def test_lists_of_numbers_and_constants(f):
    for g in (f, ad.derivative(f), ad.grad(lambda x: np.sum(f(x) ** 2))):
        check_reverse(g, 3.0)
        check_forward(Sample(g, (3.0,), {}))
        check_tape(Sample(g, (3.0,), {}))


def test_lists_of_numbers_given_to_cho_solve():
    def f(x):
        return sl.cho_solve(([[x, 0.0], [1.0, x]], True), [1.0, x])

    check_reverse(f, 3.0)
    check_forward(Sample(f, (3.0,), {}))
    check_tape(Sample(f, (3.0,), {}))
    check_second_order(f, 3.0)
