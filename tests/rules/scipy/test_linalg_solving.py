"""`adjoint.rules.scipy.linalg.solving`."""

import inspect

import numpy as np
import pytest
import scipy.linalg as sl

from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    complex_positive,
    complex_square,
    complexes,
    positive,
    reals,
    square,
)
from tests.support import check_reverse

A, C, S, H = square(3, 3), complex_square(3, 3), positive(3, 3), complex_positive(3, 3)
B, V, CB = reals(3, 2, seed=5), reals(3, seed=6), complexes(3, 2, seed=7)
KNOWS_BATCHES = "assume_a" in inspect.signature(sl.inv).parameters
STRUCTURES = ["gen", "sym", "her", "pos"]
if KNOWS_BATCHES:
    STRUCTURES += ["upper triangular", "lower triangular", "diagonal", "tridiagonal", "banded"]

CASES = {
    sl.solve: [
        (A, B), (A, V), (C, CB), (C, CB[:, 0]), (A, CB), (C, B), (A.tolist(), V.tolist()),
        (A.astype("f4"), V.astype("f4")), (np.array([[3, 1], [1, 2]]), V[:2]), (A[:, ::-1], B),
        case(A, B, lower=True), case(A, B, overwrite_a=True, overwrite_b=True, check_finite=False),
        case(A, B, transposed=True), case(A, V, transposed=True),
        *(case(S, B, assume_a=name) for name in STRUCTURES),
        *(case(S, V, assume_a=name, lower=True) for name in STRUCTURES),
        *(case(H, CB, assume_a=name) for name in STRUCTURES),
        case(A + 3 * np.eye(3), V, assume_a="pos"),  # of which only a triangle is read
        case(C + 3 * np.eye(3), CB, assume_a="her", lower=True),
        case(C + 3 * np.eye(3), CB, assume_a="sym"),
    ],
    sl.solve_triangular: [
        (A, B), (A, V), (C, CB), (A, CB), (A.astype("f4"), V.astype("f4")), (A.tolist(), V),
        *(case(A, B, trans, lower=lower) for trans in (0, 1, 2) for lower in (False, True)),
        *(case(C, CB, trans, lower) for trans in "NTC" for lower in (False, True)),
        case(A, V, unit_diagonal=True), case(C, CB, trans="C", lower=True, unit_diagonal=True),
        case(A, B, overwrite_b=True),
    ],
    sl.inv: [(A,), (C,), (A.tolist(),), (A.astype("f4"),), (A.T,), case(A, overwrite_a=True)],
    sl.det: [(A,), (C,), (A.tolist(),), (A.astype("f4"),), (-A,), (np.diag([1.0, 2.0, 0.0]),)],
}  # fmt: skip
if KNOWS_BATCHES:
    CASES[sl.inv] += [case(S, assume_a=name, lower=True) for name in STRUCTURES[:7]]
    CASES[sl.inv] += [case(H, assume_a=name) for name in STRUCTURES[:7]]
    CASES[sl.inv] += [(square(2, 3, 3),), (complex_square(2, 1, 3, 3),)]
    CASES[sl.det] += [(square(2, 3, 3),)]
    CASES[sl.solve] += [
        (square(2, 3, 3), V), (square(2, 3, 3), B), (A, reals(2, 3, 2)),
        (square(2, 1, 3, 3), reals(4, 3, 2)), case(positive(2, 3, 3), B, assume_a="pos"),
    ]  # fmt: skip
    CASES[sl.solve_triangular] += [(square(2, 3, 3), V), (square(2, 3, 3), B), (A, reals(2, 3, 2))]
test_rules = table(CASES)


@pytest.mark.parametrize(
    "f, args",
    [
        (sl.solve, (A, B)),
        (sl.solve, (C, CB)),
        (sl.solve_triangular, (A, V)),
        (sl.inv, (A,)),
        (sl.det, (A,)),
    ],
)
def test_forward_rules_are_differentiable(f, args):
    check_second(f, *args, rtol=1e-5)


def test_in_programs():
    check_reverse(lambda a, b: sl.solve(a @ a.T, b, assume_a="pos") @ b, A, V)
    check_reverse(lambda a: np.log(sl.det(a)) * sl.inv(a=a)[0, 0], A)
    check_reverse(lambda b: sl.solve(A, b=b), V)
