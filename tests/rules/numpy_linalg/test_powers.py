"""Powers and chains of matrix products."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.evaluate.callees.linear_models import chain
from tests.rules.harness import complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second, complex_square, square

A, CA = square(3, 3) / 3, complex_square(3, 3) / 3
B, C, D = reals(3, 4), reals(4, 2, seed=1), reals(2, 5, seed=2)
V, W = reals(3, seed=3), reals(2, seed=4)

CASES = {
    np.linalg.matrix_power: [
        *((a, n) for a in (A, CA) for n in (0, 1, 2, 3, 4, 5, 10, -1, -2, -3)),
        (square(2, 3, 3) / 3, 5),
        (complex_square(2, 2, 2, 2), -2),
        (A.astype(np.float32), 3),
        (CA.astype(np.complex64), 3),
        (A.tolist(), 3),
        (np.array([[3, 1], [1, 2]]), 3),
        (np.array([[3, 1], [1, 2]]), -1),
        (np.ones((2, 2)), 3),
        (np.zeros((0, 0)), 3),
        (A, np.int64(3)),
    ],
    chain: [(B, C, D), (A, A + 1, B, C), (B, C)],
    np.linalg.multi_dot: [
        ([B, C],),
        ([B, C, D],),
        ((B, C, D),),
        ([A, A + 1, A - 1, B, C],),
        ([V, B, C],),
        ([B, C, W],),
        ([V, B, C, W],),
        ([V, V + 1],),
        ([V, A, V + 1],),
        ([complexes(3, 4), C, complexes(2, 3)],),
        ([B.astype(np.float32), C.astype(np.float32), D.astype(np.float32)],),
        ([B.tolist(), C],),
        (np.stack([A, A + 1, A + 2]),),
        ([np.zeros((3, 0)), np.zeros((0, 2)), D],),
    ],
}
test_rules = table(CASES)


@pytest.mark.parametrize("a", [A, CA, square(2, 3, 3)])
@pytest.mark.parametrize("n", [0, 1, 2, 5, -1, -3])
def test_forward_rule_of_powers_is_differentiable(a, n):
    check_second(np.linalg.matrix_power, a, n=n)


def test_forward_rule_of_chains_is_differentiable():
    check_second(np.linalg.multi_dot, [V, B, C])


def test_powers_of_a_singular_matrix_raise_numpys_own_error():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        ad.pullback(lambda a: np.linalg.matrix_power(a, -1), np.ones((2, 2)))
