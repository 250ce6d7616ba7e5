"""`adjoint.rules.scipy.linalg.factors`."""

import numpy as np
import pytest
import scipy.linalg as sl

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    check_second_order,
    complex_positive,
    complex_square,
    complex_tall,
    complexes,
    positive,
    reals,
    square,
    tall,
)
from tests.support import check_reverse

A, C, S, H = square(4, 4), complex_square(4, 4), positive(4, 4), complex_positive(4, 4)
T, CT, W, CW = tall(5, 3), complex_tall(5, 3), tall(5, 3).T, complex_tall(5, 3).T
B, V, CB = reals(4, 2, seed=5), reals(4, seed=6), complexes(4, 2, seed=7)
SHAPES = [(A,), (C,), (T,), (CT,), (W,), (CW,)]
SINGLE = {"rtol": 1e-4}
FORMS = [
    (A.astype("f4"),),
    case(C.astype("c8"), tolerances=SINGLE),
    (A.tolist(),),
    (np.array([[3, 1], [1, 2]]),),
    (A.T,),
]


def modes(*names, **options):
    return [case(a, mode=mode, **options) for mode in names for (a,) in SHAPES]


CASES = {
    sl.cholesky: [
        *(case(a, lower=lower) for a in (S, H, A + A.T + 9 * np.eye(4)) for lower in (False, True)),
        (S.astype("f4"),), (H.astype("c8"),), (S.tolist(),), case(S, overwrite_a=True),
    ],
    sl.cho_factor: [
        *(case(a, lower=lower) for a in (S, H) for lower in (False, True)), (S.astype("f4"),),
        (np.stack([S, 2 * S]),),
    ],
    sl.cho_solve: [
        *((sl.cho_factor(a, lower=l), b) for l in (False, True) for a, b in ((S, B), (H, CB))),
        (sl.cho_factor(S), V), (sl.cho_factor(S), CB), ((sl.cholesky(S).astype("f4"), False), V),
    ],
    sl.lu: [
        *SHAPES, *FORMS, *(case(a, permute_l=True) for (a,) in SHAPES),
        *(case(a, p_indices=True) for (a,) in SHAPES),
    ],
    sl.lu_factor: [
        (A,), (C,), (A[::-1],), (A.astype("f4"),), case(A, overwrite_a=True),
        (np.stack([A, A.T]),),
    ],
    sl.lu_solve: [
        *(case(sl.lu_factor(a), b, trans=k) for k in (0, 1, 2) for a, b in ((A, B), (C, CB))),
        (sl.lu_factor(A[::-1]), V), (sl.lu_factor(C[::-1]), V),
    ],
    sl.qr: [
        *SHAPES[:2], *FORMS, *modes("economic"), *modes("r"), *modes("economic", pivoting=True),
        *modes("r", pivoting=True), case(W), case(CW, mode="full"), case(A, pivoting=True),
        case(np.stack([A, A.T]), pivoting=True),
    ],
    sl.rq: [*SHAPES[:2], *FORMS, *modes("economic"), case(T), case(CT), case(A, mode="r")],
    sl.svd: [
        *(case(a, full_matrices=False) for (a,) in SHAPES), *FORMS,
        *(case(a, compute_uv=False) for (a,) in SHAPES),
        case(A, lapack_driver="gesvd"), case(C, False, lapack_driver="gesvd"),
        case(A, overwrite_a=True),
    ],
    sl.svdvals: [*SHAPES, *FORMS],
    sl.polar: [
        *(case(a, side=side) for (a,) in SHAPES for side in ("left", "right")),
        (A.astype("f4"),), (A.tolist(),), (sl.qr(A)[0],),  # equal singular values
    ],
}  # fmt: skip
test_rules = table(CASES)


@pytest.mark.parametrize("f", [sl.cholesky, sl.qr, sl.svd])
def test_forward_rules_are_differentiable(f):
    check_second(f, S if f is sl.cholesky else A, rtol=1e-5)


@pytest.mark.parametrize("f", [sl.lu, sl.polar, sl.lu_factor])
def test_tangents_are_differentiable(f):
    check_second_order(f, A)


def projection(q):
    return q @ q.T


def test_vectors_that_complete_a_basis():
    """What does not depend on their choice has a derivative, the rest is refused."""
    check_reverse(lambda a: projection(sl.qr(a)[0][:, 3:]), T)
    check_reverse(lambda a: projection(sl.rq(a)[1][:2].T), W)
    with pytest.raises(NoDerivativeError, match="complete the basis"):
        ad.gradient(lambda a: sl.qr(a)[0][0, 4], T)


def test_what_has_no_derivative():
    singular = np.ones((3, 3))
    with pytest.raises(NoDerivativeError, match="'scipy.linalg.*qr'.*linearly dependent"):
        ad.gradient(lambda a: sl.qr(a)[1].sum(), np.zeros((3, 3)))
    with pytest.raises(NoDerivativeError, match="leading part of the matrix is singular"):
        ad.gradient(lambda a: sl.lu(a)[1].sum(), singular)
    with pytest.raises(NoDerivativeError, match="not of full rank"):
        ad.gradient(lambda a: sl.polar(a)[0].sum(), singular)
    with pytest.raises(NoDerivativeError, match="mode 'raw'"):
        ad.gradient(lambda a: sl.qr(a, mode="raw")[1].sum(), A)
    with pytest.raises(NoDerivativeError, match="vectors of equal values"):
        ad.gradient(lambda a: sl.svd(a)[0].sum(), np.eye(3))


def test_matrices_without_entries():
    """SciPy returns early; no rule takes them, and its own code is differentiated."""
    for f in (sl.lu, sl.qr, sl.expm):
        check_reverse(f, np.zeros((0, 0)))
    check_reverse(sl.lu, np.zeros((3, 0)))


def test_in_programs():
    def by_factors(a, b):
        return sl.lu_solve(sl.lu_factor(a), b) + sl.cho_solve(sl.cho_factor(a @ a.T), b)

    check_reverse(by_factors, A, V)
    check_reverse(lambda a: projection(sl.orth(a)), T)
    check_reverse(lambda a: projection(sl.null_space(a.T)), T)
    check_reverse(lambda a, b: sl.orthogonal_procrustes(a, b)[0], A, S)
    check_reverse(sl.subspace_angles, T, T[::-1, :2] + 1)


@pytest.mark.parametrize("f", [sl.cholesky, sl.lu, sl.qr, sl.svdvals, sl.polar])
def test_batches(f):
    batch = positive(2, 3, 3)
    try:
        f(batch)
    except (ValueError, np.linalg.LinAlgError):
        pytest.skip("not in this version of SciPy")
    ad.testing.check_rule(f, batch)
