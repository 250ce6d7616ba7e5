"""Stacks of matrices in functions of `scipy.linalg`: of rules that take them whole, and of those
that take each by itself.
"""

import inspect

import numpy as np
import pytest
import scipy.linalg as sl

from adjoint.testing import check_gradient
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import complexes, reals

A, C = reals(2, 3, 3), complexes(2, 3, 3)
APART = np.diag([-6.0, 1.0, 7.0])  # eigenvalues far from each other: LAPACK keeps to its signs
S, H = A + np.swapaxes(A, -1, -2) + APART, C + np.conj(np.swapaxes(C, -1, -2)) + APART
BAND = reals(2, 2, 5) + np.array([[0.0], [6.0]])
D, E = reals(2, 4), reals(2, 3, seed=1)

ONE_BY_ONE = {
    sl.schur: (S,),
    sl.eig_banded: (BAND,),
    sl.eigvals_banded: (BAND,),
    sl.eigh_tridiagonal: (D, E),
    sl.eigvalsh_tridiagonal: (D, E),
    sl.cholesky_banded: (BAND,),
    sl.solveh_banded: (BAND, reals(2, 5, 1)),
}
CASES = {
    inspect.unwrap(f): [tuple(x[0] for x in stacks)] for f, stacks in ONE_BY_ONE.items()
} | {
    sl.eigh: [
        (S,), case(H, driver="ev"), case(S, subset_by_index=[1, 2]), case(H, eigvals_only=True),
    ],
    sl.lstsq: [
        (reals(2, 4, 2), reals(2, 4, 3)), (reals(2, 2, 4), reals(2, 2, 3)),
        (reals(2, 1, 4, 2), reals(3, 4, 1)), (reals(4, 2), reals(2, 4, 3)),
        (reals(2, 4, 2), reals(4)), (complexes(2, 4, 2), complexes(4)),
        *(case(reals(2, 4, 2), reals(4, 1), lapack_driver=d) for d in ("gelsy", "gelss")),
    ],
}  # fmt: skip
test_rules = table(CASES)


@pytest.mark.parametrize("f", ONE_BY_ONE)
def test_each_by_itself(f):
    check_gradient(f, *ONE_BY_ONE[f], modes=("reverse", "forward"))


def test_ranks_that_differ():
    a = np.stack([reals(2, 1) @ reals(1, 4, seed=1), reals(2, 4)])
    check_gradient(
        lambda b: sl.lstsq(a, b, cond=1e-8)[0], reals(2, 2), modes=("reverse", "forward")
    )
