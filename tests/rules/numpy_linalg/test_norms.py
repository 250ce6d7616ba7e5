"""Norms of every order, condition numbers; what they are at 0, at ties, at singular matrices."""

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import case, complexes, followed, reals, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    check_second_order,
    complex_square,
    complex_tall,
    square,
    tall,
)
from tests.support import check_reverse

X = np.array([[0.3, -1.2, 0.7], [2.0, 0.4, -0.6]])
Z = complexes(2, 3)
X3, Z3 = reals(2, 3, 4), complexes(2, 3, 4)
INF = np.inf
OF_VECTORS = [None, 2, 1, 0, 3, 2.5, 0.5, -1, -2.5, INF, -INF]
OF_MATRICES = [None, "fro", "nuc", 1, -1, 2, -2, INF, -INF]
HAS_OWN = hasattr(np.linalg, "vector_norm")

CASES = {
    np.linalg.norm: [
        (X[0],),
        (X,),
        (X3,),
        (Z3,),
        (X.astype(np.float32),),
        (Z.astype(np.complex64),),
        (X.tolist(),),
        (np.array([3, 4]),),
        (3.0,),
        (np.float32(-2.0),),
        (np.asfortranarray(X3),),
        (np.zeros(0),),
        (np.zeros((0, 3)), None, 1),
        case(X, keepdims=True),
        case(X3, keepdims=True),
        *(case(x[0], ord=order) for x in (X, Z) for order in OF_VECTORS),
        *(case(x, ord=order) for x in (X, Z, X.T, Z.T) for order in OF_MATRICES),
        *(case(X3, ord=order, axis=-1) for order in OF_VECTORS),
        *(case(Z3, ord=order, axis=1, keepdims=True) for order in OF_VECTORS),
        *(case(X3, ord=order, axis=(0, 2)) for order in OF_MATRICES),
        *(case(Z3, ord=order, axis=(2, 1)) for order in OF_MATRICES),
        *(case(X3, ord=order, axis=(-1, 0), keepdims=True) for order in OF_MATRICES),
        case(X, 3, axis=(1,)),
        *((x[0], order) for x in (X, Z) for order in (1.0, 2.0, 2.5, 0.5, -1.5)),
        (X3, 2.5, 1, True),
        case(X, axis=0),
        (X.astype(np.float32), 3, 0),
        (X.astype(np.float32), "nuc"),
        (np.array([[3, 1], [1, 2]]), 2),
        case(np.zeros((0, 3)), "nuc"),
    ],
    np.linalg.cond: [
        *(case(a, p=p) for a in (square(3, 3), complex_square(3, 3)) for p in OF_MATRICES),
        (tall(4, 3),),
        (complex_tall(4, 3).T, -2),
        (square(2, 3, 3),),
        (square(2, 3, 3), 1),
        (complex_square(2, 2, 2, 2), "fro"),
        (square(3, 3).astype(np.float32),),
        (square(3, 3).tolist(), 1),
        (np.array([[3, 1], [1, 2]]),),
    ],
}
FOLLOWED = {}
if HAS_OWN:
    FOLLOWED[np.linalg.vector_norm] = [
        (X,),
        (Z3,),
        *(case(X3, ord=order, axis=(0, 2)) for order in OF_VECTORS if order is not None),
        *(case(Z3, ord=order, axis=-1, keepdims=True) for order in (1, 2, 3, INF)),
        case(X3, keepdims=True),
        case(X3, axis=(2, 1), keepdims=True),
        (X.astype(np.float32),),
        (X.tolist(),),
    ]
    FOLLOWED[np.linalg.matrix_norm] = [
        (X,),
        *(case(Z3, ord=order) for order in OF_MATRICES),
        *(case(X3, ord=order, keepdims=True) for order in OF_MATRICES),
        (X.astype(np.float32),),
        (X.tolist(),),
    ]
test_rules = table(CASES)
test_source = followed(FOLLOWED)


@pytest.mark.parametrize("x", [X, Z])
@pytest.mark.parametrize("order", OF_MATRICES)
def test_forward_rules_are_differentiable(x, order):
    check_second(np.linalg.norm, x, ord=order)


@pytest.mark.parametrize("order", OF_VECTORS)
def test_forward_rules_of_vectors_are_differentiable(order):
    check_second(np.linalg.norm, X, ord=order, axis=1)


@pytest.mark.parametrize("p", [None, -2, 1, "fro", "nuc"])
def test_tangents_of_cond_are_differentiable(p):
    check_second_order(np.linalg.cond, square(3, 3), p=p)


def test_the_order_may_vary():
    x = np.array([3.0, -4.0, 0.0])
    check_reverse(lambda p: np.linalg.norm(x, p), 2.0)
    check_reverse(lambda p, x: np.linalg.norm(x, ord=1.5 * p), 2.0, x[:2])
    if HAS_OWN:
        check_reverse(lambda p: np.linalg.vector_norm(x, ord=p), 2.0)


# ---- conventions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [None, 2, 1, 3, 2.5, 0.5, INF, -INF])
def test_the_gradient_at_zero_is_zero(order):
    bar = ad.gradient(lambda x: np.linalg.norm(x, order), np.zeros(3))[0]
    np.testing.assert_array_equal(bar, np.zeros(3))


@pytest.mark.parametrize("order", OF_MATRICES)
def test_the_gradient_at_the_zero_matrix_is_zero(order):
    bar = ad.gradient(lambda x: np.linalg.norm(x, order), np.zeros((3, 2)))[0]
    np.testing.assert_array_equal(bar, np.zeros((3, 2)))


def test_only_the_vectors_that_are_zero_have_gradient_zero():
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    bars = ad.gradient(lambda x: np.linalg.norm(x, axis=1).sum(), points)[0]
    np.testing.assert_allclose(bars, [[0.0, 0.0], [0.6, 0.8]])


@pytest.mark.parametrize(
    "order, x, expected",
    [
        (INF, [2.0, -2.0, 1.0], [0.5, -0.5, 0.0]),
        (-INF, [2.0, -1.0, 1.0], [0.0, -0.5, 0.5]),
        (1, [2.0, 0.0, -1.0], [1.0, 0.0, -1.0]),
        (3, [0.0, 2.0], [0.0, 1.0]),
        (0.5, [0.0, 4.0], [0.0, 1.0]),
        (1, [[1.0, 1.0], [1.0, -1.0]], [[0.5, 0.5], [0.5, -0.5]]),
        (INF, [[1.0, 2.0], [2.0, -1.0]], [[0.5, 0.5], [0.5, -0.5]]),
        (2, [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.5]]),
        (-2, [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.5]]),
        ("nuc", [[2.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]),
        (-2, [[2.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]),
    ],
)
def test_ties_and_zeros(order, x, expected):
    bar = ad.gradient(lambda a: np.linalg.norm(a, order), np.array(x))[0]
    np.testing.assert_allclose(bar, expected, atol=1e-15)


def test_large_and_small_numbers_do_not_overflow():
    bar = ad.gradient(lambda x: np.linalg.norm(x, 3), np.array([3e90, 4e90]))[0]
    expected = ad.gradient(lambda x: np.linalg.norm(x, 3), np.array([3.0, 4.0]))[0]
    np.testing.assert_allclose(bar, expected)


def test_the_condition_number_of_a_singular_matrix():
    stack = np.stack([np.zeros((2, 2)), np.diag([1.0, 2.0])])
    for p in (None, 1, "fro"):
        bar = ad.gradient(lambda a: np.linalg.cond(a, p)[1], stack)[0]
        assert not bar[0].any() and np.isfinite(bar[1]).all()
        assert np.isnan(ad.gradient(lambda a: np.linalg.cond(a, p), stack[0])[0]).all()


@pytest.mark.parametrize("order", [7, "nuclear"])
def test_errors_are_numpys_own(order):
    with pytest.raises(ValueError, match="[Ii]nvalid norm order"):
        ad.gradient(lambda x: np.linalg.norm(x, order), X)


def test_a_norm_that_has_underflowed():
    tiny = np.array([1e-200, 0.0])
    assert np.linalg.norm(tiny) == 0
    assert ad.gradient(np.linalg.norm, tiny)[0].tolist() == [0.0, 0.0]
    assert ad.pushforward(np.linalg.norm, (tiny,), (np.ones(2),))[1] == 0
