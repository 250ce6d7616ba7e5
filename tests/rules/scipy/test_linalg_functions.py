"""`adjoint.rules.scipy.linalg.matrix_functions`, `equations`, `schur`, `least_squares`,
`unsupported`."""

import types
import warnings

import numpy as np
import pytest
import scipy.linalg as sl
from scipy import sparse

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import lookup
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

A, C, S, H = square(3, 3), complex_square(3, 3), positive(3, 3), complex_positive(3, 3)
B, D, Q = square(2, 2, seed=4), complex_square(2, 2, seed=4), reals(3, 2, seed=5)
ROTATING = np.array([[1.0, 2.0, 0.3], [-0.7, 1.5, 0.4], [0.2, 0.1, 3.0]])  # a pair of eigenvalues
NEGATIVE = np.array([[-1.0, 0.3, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 3.0]])  # complex roots
PAIRS = sl.block_diag(ROTATING[:2, :2], np.diag([0.3, 4.0]), ROTATING[:2, :2] * 2)
PAIRS = PAIRS + 0.1 * square(6, 6)
SLOW = [m[:2, :2] for m in (A, C, ROTATING, NEGATIVE, S, H)]
T, CT, W = tall(5, 3), complex_tall(5, 3), tall(5, 3).T
ANY = [(A,), (C,), (A.astype("f4"),), (A.tolist(),), (np.array([[3, 1], [1, 2]]),), (ROTATING,)]
SMALL = [(0.3 * a,) for a in (A, C, ROTATING)]
LOGS = {"rtol": 1e-6}

CASES = {
    sl.expm: [*ANY, (np.zeros((3, 3)),), (np.array([[2.0]]),), (30 * A,)],
    sl.logm: [case(a, tolerances=LOGS) for a in SLOW],
    sl.sqrtm: [*ANY, (NEGATIVE,), (S,), (H,), (np.array([[2.0]]),)],
    sl.fractional_matrix_power: [
        *((a, t) for a, t in zip(SLOW, (0.3, -0.7, 2.5, 0.5, 1.5, -1.2))),
        (A, 2), (SLOW[0], np.float64(0.3)), (SLOW[0].astype("f4"), 2),
    ],
    sl.cosm: [*ANY, *SMALL],
    sl.sinm: [*ANY, *SMALL],
    sl.tanm: SMALL,
    sl.coshm: [*ANY, *SMALL],
    sl.sinhm: [*ANY, *SMALL],
    sl.tanhm: [*ANY, *SMALL],
    sl.signm: [(A,), (NEGATIVE,), (-A,), (C,), (NEGATIVE + 0.2j * A,)],
    sl.expm_frechet: [
        (A, ROTATING), (C, H), case(A, S, compute_expm=False), (A, C),
        case(C, A, compute_expm=False),
    ],
    sl.solve_sylvester: [
        (A, B, Q), (C, B, Q), (A, D, Q + 1j), tuple(m.astype("f4") for m in (A, B, Q)),
    ],
    sl.solve_continuous_lyapunov: [(A, S), (A, ROTATING), (C, H), (A, H), (C, A)],
    sl.solve_discrete_lyapunov: [
        *((0.3 * a, q, "direct") for a, q in ((A, S), (A, ROTATING), (C, H), (C, A))),
        *((0.3 * a, q, "bilinear") for a, q in ((A, S), (A, ROTATING), (C, H), (C, A))),
        (0.3 * A, S),
    ],
    sl.solve_continuous_are: [],
    sl.solve_discrete_are: [],
    sl.schur: [
        (A,), (ROTATING,), (PAIRS,), (S,), case(A, sort="rhp"), case(ROTATING, overwrite_a=True),
        (A.tolist(),), (np.array([[3, 1], [1, 2]]),),
    ],
    sl.lstsq: [
        (T, Q[:1].repeat(5, 0) + tall(5, 2)), (T, reals(5)), (W, Q), (CT, complexes(5, 2)), (A, Q),
        *(case(T, reals(5, 2), lapack_driver=d) for d in ("gelsd", "gelsy", "gelss")),
        (T.astype("f4"), reals(5, dtype="f4")),
    ],
    sl.pinv: [
        (A,), (T,), (W,), (C,), (CT,), case(T, return_rank=True), (T.tolist(),),
        (T.astype("f4"),),
    ],
    sl.pinvh: [
        (S,), (H,), case(A, lower=False), case(H, return_rank=True),
    ],
    sl.norm: [
        *(case(a, ord=order) for a in (A, C) for order in (None, "fro", 1, -1, 2, -2, "nuc")),
        *(case(a, ord=order) for a in (A, C, A[0], C[0]) for order in (np.inf, -np.inf)),
        *(case(a[0], order) for a in (A, C) for order in (None, 1, 2, 2.5, 0.5, 0)),
        case(T, axis=0), case(T, 1, axis=1), case(T, 2, axis=(0, 1), keepdims=True), (A.tolist(),),
        case(reals(2, 3, 4), axis=(0, 2)), (A.astype("f4"),), case(T, keepdims=True),
    ],
    sl.funm: [(A, np.exp)],
}  # fmt: skip
PLAIN = {
    "clarkson_woodruff_transform": (T, 2, 1), "cossin": None, "expm_cond": (A,), "hessenberg": (A,),
    "ldl": (S,), "matrix_balance": (A,), "ordqz": (A, S), "qr_delete": (*sl.qr(A), 0),
    "qr_insert": (*sl.qr(A), np.ones(3), 0), "qr_multiply": (A, S),
    "qr_update": (*sl.qr(A), np.ones(3), np.ones(3)), "qz": (A, S), "rsf2csf": sl.schur(ROTATING),
}  # fmt: skip
CASES |= {getattr(sl, name): [case(*args)] for name, args in PLAIN.items() if args}
CASES[sl.cossin] = [case(sl.qr(PAIRS)[0], 3, 3)]
test_rules = table(CASES)


# Riccati's equations want symmetric matrices, so that no single entry can be moved
CASES[sl.solve_continuous_are] = CASES[sl.solve_discrete_are] = [(A, Q, S, B @ B.T)]


@pytest.mark.parametrize("f", [sl.solve_continuous_are, sl.solve_discrete_are])
@pytest.mark.parametrize("complex_too", [False, True])
def test_riccati(f, complex_too):
    z = 0.4j if complex_too else 0.0

    def solution(a, b, q, r):
        a, b = a + z * ROTATING, b + z * np.ones((3, 2))
        q, r = q + z * a, r + z * np.eye(2)[::-1]
        return f(a, b, q @ np.conj(q.T) + np.eye(3), r @ np.conj(r.T) + np.eye(2))

    check_reverse(solution, A, Q, S, B)
    args = A, Q, S @ S.T, B @ B.T + np.eye(2)
    y, back = ad.rrule(f, *args)
    rng = np.random.default_rng(3)
    dots = tuple(rng.normal(size=shape) for shape in ((3, 3), (3, 2), (3, 3), (2, 2)))
    dots = dots[0], dots[1], dots[2] + dots[2].T, dots[3] + dots[3].T
    y_bar = rng.normal(size=(3, 3))
    value, y_dot = ad.frule(f, dots, *args)
    total = sum(np.vdot(bar, dot) for bar, dot in zip(back(y_bar)[1:], dots))
    assert np.vdot(y_bar, y_dot) == pytest.approx(total, rel=1e-10)
    np.testing.assert_array_equal(value, y)


@pytest.mark.parametrize(
    "f, args",
    [
        (sl.expm, (A,)), (sl.logm, (SLOW[0],)), (sl.cosm, (A,)),
        (sl.schur, (A,)), (sl.schur, (ROTATING,)), (sl.norm, (A,)),
    ],
)  # fmt: skip
def test_forward_rules_are_differentiable(f, args):
    check_second(f, *args, rtol=1e-5)


@pytest.mark.parametrize(
    "f, args",
    [
        (sl.sqrtm, (A,)), (sl.signm, (NEGATIVE,)), (sl.fractional_matrix_power, (SLOW[0], 0.3)),
        (sl.solve_sylvester, (A, B, Q)), (sl.solve_continuous_lyapunov, (A, S)),
        (sl.solve_discrete_lyapunov, (0.3 * A, S)), (sl.lstsq, (T, reals(5))), (sl.pinv, (T,)),
        (sl.pinvh, (S,)),
    ],
)  # fmt: skip
def test_tangents_are_differentiable(f, args):
    check_second_order(f, *args)


def test_the_complex_form_of_schur_but_for_phases():
    for a in (A, ROTATING, C, PAIRS):
        check_reverse(lambda a: np.abs(sl.schur(a, output="complex")[0]) ** 2, a)
        check_reverse(lambda a: np.abs(sl.schur(a, output="complex")[1]) ** 2, a)
    with pytest.raises(NoDerivativeError, match="the phase of a vector shows"):
        ad.gradient(lambda a: sl.schur(a)[1].sum().real, C)
    check_reverse(lambda a: sl.schur(a, sort=lambda x, y=0: x > 1.5)[0], A)


def test_what_has_no_derivative():
    with pytest.raises(NoDerivativeError, match="two eigenvalues are equal"):
        ad.gradient(lambda a: sl.schur(a)[1].sum(), np.eye(3))
    with pytest.raises(NoDerivativeError, match="is a rotation"):
        ad.gradient(lambda a: sl.schur(a)[1].sum(), np.array([[1.0, 2.0], [-2.0, 1.0]]))
    with pytest.raises(NoDerivativeError, match="the matrix is singular"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ad.gradient(lambda a: sl.sqrtm(a).sum().real, np.diag([0.0, 1.0]))


@pytest.mark.parametrize("name", [*PLAIN, "funm"])
def test_refused_by_name(name):
    f = getattr(sl, name)
    (call,) = CASES[f]
    first, *others = call if isinstance(call, tuple) and not hasattr(call, "args") else call.args

    def called(a):
        y = f(a, *others)
        y = y[0] if isinstance(y, tuple) else y
        return np.sum(y[0] if isinstance(y, tuple) else y).real

    with pytest.raises(NoDerivativeError, match="is needed, which (has n|is not known)"):
        ad.gradient(called, first)
    unused = ad.gradient(lambda a: a[0, 0] + 0 * id(f(a, *others)), first)  # nothing is asked
    assert unused[0][0, 0] == 1


def test_a_function_given_to_funm_may_carry_a_derivative():
    with pytest.raises(NoDerivativeError, match="funm"):
        ad.gradient(lambda k: sl.funm(A, lambda x: np.exp(k * x)).sum(), 0.3)
    with pytest.raises(NoDerivativeError, match="funm"):
        ad.gradient(lambda a: sl.funm(a, func=np.exp, disp=False)[0].sum(), A)


def test_special_matrices_by_their_own_source():
    v, w = reals(4), reals(4, seed=1)
    for f, args in (
        (sl.block_diag, (A, T, v)), (sl.toeplitz, (v,)), (sl.toeplitz, (v, w)), (sl.hankel, (v, w)),
        (sl.hankel, (v,)), (sl.circulant, (v,)), (sl.companion, (v,)), (sl.fiedler, (v,)),
        (sl.fiedler_companion, (v,)), (sl.leslie, (v, w[:3])), (sl.khatri_rao, (T, tall(4, 3))),
    ):  # fmt: skip
        check_reverse(f, *args)
    check_reverse(lambda c: sl.toeplitz(c), v + 1j * w)
    check_reverse(lambda a: sl.convolution_matrix(a, 3, mode="same"), v)
    check_reverse(lambda s: sl.diagsvd(s, 4, 5), v)
    check_reverse(lambda c, b: sl.solve_circulant(c, b), v + 5, w)
    check_reverse(lambda a: np.abs(sl.cdf2rdf(*sl.eig(a))[0]), ROTATING)
    if hasattr(sl, "kron"):
        check_reverse(lambda a, b: sl.kron(a, b), A, B)


def test_cutoffs_of_pseudo_inverses():
    """Singular values below are taken for zero, and stay so."""
    check_reverse(lambda a: sl.pinv(a, atol=1.5), T)
    check_reverse(lambda a: sl.pinv(a, rtol=0.5), CT)
    check_reverse(lambda a: sl.pinvh(a, atol=2.0), S)
    check_reverse(lambda a: sl.pinvh(a @ a.T, atol=0.5), T)


def test_a_path_through_several():
    def flow(a, t):
        return sl.expm(t * (a - a.T)) @ sl.sqrtm(a @ a.T + np.eye(3))

    check_reverse(flow, A, 0.7)
    check_reverse(lambda t: sl.fractional_matrix_power(SLOW[0], t), 0.7)
    check_reverse(lambda a: sl.logm(sl.expm(a)), 0.3 * SLOW[0])


OWN_SOURCE = {
    "block_diag", "cdf2rdf", "circulant", "companion", "convolution_matrix", "diagsvd", "fiedler",
    "fiedler_companion", "hankel", "khatri_rao", "kron", "leslie", "null_space", "orth",
    "orthogonal_procrustes", "solve_circulant", "subspace_angles", "toeplitz",
    "tri", "tril", "triu",
}  # fmt: skip


def test_everything_is_accounted_for():
    """Each public function has a rule, has derivative zero, or is differentiated by its source."""
    left = []
    for name in set(sl.__all__) - OWN_SOURCE:
        f = getattr(sl, name)
        if not callable(f) or isinstance(f, type | types.ModuleType):
            continue
        rules = lookup(f)
        if rules is None or not (rules.inactive or (rules.rrules and rules.frules)):
            left.append(name)
    assert not left


def _with_a_zero_left_out(a):
    """A sparse array that does not store one zero entry, which is no constant."""
    return sparse.csr_array(a * np.array([[0.0, 1.0], [1.0, 1.0]])).toarray()


REFUSED_LATER = {
    **{f.__name__: f for f in (sl.expm, sl.logm, sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm)},
    "tanhm": sl.tanhm,
    "sqrtm": sl.sqrtm,
    "expm_frechet, by the matrix": lambda a: sl.expm_frechet(a, np.ones((2, 2)))[1],
    "expm_frechet, by the direction": lambda a: sl.expm_frechet(np.eye(2), a)[1],
}


@pytest.mark.parametrize("f", REFUSED_LATER.values(), ids=REFUSED_LATER)
def test_what_is_refused_later_is_no_nan(f):
    a = np.array([[2.0, 0.3], [0.1, 1.5]])
    with pytest.raises(NoDerivativeError, match="not stored in the result"):
        ad.gradient(lambda a: np.real(_with_a_zero_left_out(f(a))).sum(), a)


def test_stacks_keep_what_is_known():
    stack = np.stack([np.eye(2), np.array([[2.0, 0.3], [0.1, 1.5]])])
    _, back = ad.pullback(sl.expm, stack)
    bar = np.stack([np.full((2, 2), 1.0), np.array([[np.nan, 0.0], [0.0, 1.0]])])
    found = back(bar)[1]
    assert np.isnan(found[1]).all()
    assert np.allclose(found[0], np.e)
