"""`np.linalg.norm`: the Euclidean one by rule, the others by NumPy's source."""

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import case, table

X = np.array([[0.3, -1.2, 0.7], [2.0, 0.4, -0.6]])
CASES = {
    np.linalg.norm: [
        (X[0],),
        (X,),
        (X, "fro"),
        (X[0], 2),
        (X.astype(np.float32),),
        (X + 1j * X[::-1],),
        case(X, axis=0),
        case(X, axis=-1, keepdims=True),
        case(X, 2, axis=1),
        case(np.stack([X, X + 1]), axis=(0, 2)),
        case(X, keepdims=True),
    ]
}
test_rules = table(CASES)


def test_the_gradient_at_zero_is_zero():
    np.testing.assert_array_equal(ad.gradient(np.linalg.norm, np.zeros(3))[0], np.zeros(3))
    bars = ad.gradient(
        lambda x: np.linalg.norm(x, axis=1).sum(), np.array([[0.0, 0.0], [3.0, 4.0]])
    )
    np.testing.assert_allclose(bars[0], [[0.0, 0.0], [0.6, 0.8]])


@pytest.mark.parametrize("order", [1, 3, np.inf, -np.inf])
def test_other_orders_by_their_own_source(order):
    ad.testing.check_gradient(lambda x: np.linalg.norm(x, order), X[1])
