"""The products, traces and views that NumPy 2 has in `numpy.linalg` too."""

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import case, complexes, followed, reals

V, W, A, A3 = reals(4), reals(4, seed=1), reals(3, 4), reals(2, 3, 4, seed=1)
C = complexes(3, 4)
SINGLE = A.astype(np.float32)

FOLLOWED = (
    {
        np.linalg.matmul: [
            (A, reals(4, 2)),
            (A3, reals(4, 2)),
            (A3, reals(2, 4, 3)),
            (C, complexes(4, 2)),
            (SINGLE, SINGLE.T),
            (A.tolist(), V[:, None]),
        ],
        np.linalg.outer: [(V, W), (C[0], V), (V.astype(np.float32), W), ([1.0, 2.0], V)],
        np.linalg.vecdot: [
            (V, W),
            (A, V),
            (A3, A3 + 1),
            (C, C + 1j),
            (C, A),
            (A, C[:1]),
            (SINGLE, SINGLE),
            case(A, A + 1, axis=0),
            case(A3, reals(3, 1), axis=-2),
            (A.tolist(), V),
        ],
        np.linalg.cross: [
            (reals(3), reals(3, seed=1)),
            (reals(4, 3), reals(3, seed=1)),
            case(reals(3, 4), reals(3, 4, seed=1), axis=0),
            (complexes(3), complexes(3, seed=4)),
        ],
        np.linalg.tensordot: [
            case(A, reals(4, 2), axes=1),
            (A, A + 1),
            case(A3, reals(4, 3), axes=([1, 2], [1, 0])),
            case(C, complexes(4, 2), axes=1),
        ],
        np.linalg.diagonal: [
            (A,),
            (A3,),
            case(A3, offset=1),
            case(A3, offset=-2),
            (C,),
            (SINGLE,),
            (A.tolist(),),
        ],
        np.linalg.trace: [
            (A,),
            (A3,),
            case(A3, offset=1),
            case(A, offset=-1),
            (C,),
            (SINGLE,),
            case(SINGLE, dtype=float),
            case(A, dtype=int),
            (A.tolist(),),
        ],
        np.linalg.matrix_transpose: [(A,), (A3,), (C,), (SINGLE,)],
    }
    if hasattr(np.linalg, "matmul")
    else {}
)
test_source = followed(FOLLOWED)


@pytest.mark.skipif(not FOLLOWED, reason="functions of NumPy 2")
@pytest.mark.parametrize(
    "name, args",
    [
        ("outer", (A, V)),
        ("matmul", (V, 2.0)),
        ("cross", (V, V)),
        ("matrix_transpose", (V,)),
        ("vecdot", (V, reals(3))),
    ],
)
def test_errors_are_numpys_own(name, args):
    f = getattr(np.linalg, name)
    with pytest.raises(Exception) as plain:
        f(*args)
    with pytest.raises(type(plain.value)) as found:
        ad.pullback(f, *args)
    assert str(found.value) == str(plain.value)


@pytest.mark.skipif(not FOLLOWED, reason="functions of NumPy 2")
def test_views_share_their_memory():
    def written(a):
        t = np.linalg.matrix_transpose(a)
        a[0, 1] = 5.0
        return t[1, 0] * a[0, 0]

    np.testing.assert_array_equal(ad.gradient(written, np.eye(2))[0], [[5.0, 0.0], [0.0, 0.0]])
