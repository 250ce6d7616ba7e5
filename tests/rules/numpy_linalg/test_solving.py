"""Linear equations and inverses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import adjoint as ad
from adjoint.testing import check_rule
from tests.rules.harness import case, followed, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    complex_square,
    complexes,
    reals,
    square,
)

A, B = square(3, 3), reals(3, 2, seed=1)
CA, CB = complex_square(3, 3), complexes(3, 2, seed=4)
STACK = square(2, 3, 3, seed=2)
TENSOR = reals(6, 4, 2, 3, 4)  # 24 by 24
NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"

CASES = {
    np.linalg.solve: [
        (A, B[:, 0]),
        (A, B),
        (CA, CB),
        (CA, CB[:, 0]),
        (A, CB),
        (CA, B),
        (STACK, reals(2, 3, 2, seed=1)),
        (A, reals(4, 3, 2, seed=1)),
        (square(2, 1, 3, 3), reals(1, 4, 3, 1, seed=1)),
        (complex_square(2, 3, 3), complexes(2, 3, 1)),
        *([(STACK, B[:, 0]), (STACK, B)] if NUMPY_2 else [(STACK, reals(2, 3))]),
        (A.astype(np.float32), B.astype(np.float32)),
        (A.astype(np.float32), B),
        (CA.astype(np.complex64), CB.astype(np.complex64)),
        (A.tolist(), [1.0, 2.0, 3.0]),
        (np.array([[3, 1], [1, 2]]), np.array([9, 8])),
        (np.asfortranarray(A), B[::-1]),
        (np.zeros((0, 0)), np.zeros((0, 2))),
        (A, np.zeros((3, 0))),
        (np.zeros((0, 3, 3)), np.zeros((0, 3, 1))),
        (np.array([[2.0]]), np.array([3.0])),
    ],
    np.linalg.inv: [
        (A,),
        (CA,),
        (STACK,),
        (complex_square(2, 2, 2, 2),),
        (A.astype(np.float32),),
        (CA.astype(np.complex64),),
        (A.tolist(),),
        (np.array([[3, 1], [1, 2]]),),
        (A.T,),
        (np.zeros((0, 0)),),
        (np.zeros((0, 2, 2)),),
    ],
}
test_rules = table(CASES)
FOLLOWED = {
    np.linalg.tensorsolve: [
        (TENSOR, reals(6, 4, seed=1)),
        case(reals(6, 2, 3), reals(6, seed=1)),
        case(reals(2, 6, 3), reals(6, seed=1), axes=(0,)),
        case(reals(6, 2, 3), reals(2, 3, seed=1), axes=(0,)),
        case(reals(2, 6, 3), reals(6, seed=1), axes=(2, 0)),
        case(complexes(6, 2, 3), reals(6, seed=1), axes=(1,)),
        (TENSOR.astype(np.float32), reals(6, 4, dtype=np.float32)),
    ],
    np.linalg.tensorinv: [
        (TENSOR[:, :, :, :, :],),
        case(reals(4, 6, 8, 3), ind=2),
        case(reals(24, 8, 3), ind=1),
        case(complexes(6, 3, 2), ind=1),
    ],
}
test_source = followed(FOLLOWED)


@pytest.mark.parametrize(
    "f, args",
    [
        (np.linalg.solve, (A, B)),
        (np.linalg.solve, (CA, CB[:, 0])),
        (np.linalg.solve, (STACK, reals(2, 3, 2))),
        (np.linalg.inv, (CA,)),
    ],
)
def test_forward_rules_are_differentiable(f, args):
    check_second(f, *args)


@pytest.mark.parametrize("f", [np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(2))])
def test_singular_matrices_raise_numpys_own_error(f):
    with pytest.raises(np.linalg.LinAlgError) as plain:
        f(np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError) as found:
        ad.pullback(f, np.ones((2, 2)))
    assert str(found.value) == str(plain.value)


@settings(max_examples=40)
@given(
    mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0),
    st.sampled_from(["f4", "f8", "c16"]),
    st.sampled_from(["f8", "c8", "c16"]),
)
def test_any_shapes_that_broadcast_and_any_dtypes(shapes, left, right):
    first, second = shapes.input_shapes
    a = square(*first, 2, 2).astype(left)
    if not NUMPY_2:  # where one axis fewer makes a stack of vectors
        second = (1,) * (len(first) - len(second)) + second
    check_rule(np.linalg.solve, a, complexes(*second, 2, 3).real.astype(right))
    check_rule(np.linalg.inv, a)
    check_rule(np.linalg.det, a)


def test_by_keyword():
    bars = ad.gradient(lambda a, b: np.linalg.solve(b=b, a=a).sum(), A, B)
    expected = ad.gradient(lambda a, b: np.linalg.solve(a, b).sum(), A, B)
    np.testing.assert_array_equal(bars[0], expected[0])
    np.testing.assert_array_equal(bars[1], expected[1])
