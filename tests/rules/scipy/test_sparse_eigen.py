"""`scipy.sparse.linalg`: some eigenvalues, singular values, and their vectors."""

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse import linalg as sl

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import frule, rrule
from adjoint.rules.scipy.sparse.invariant_subspaces import (
    Equations,
    adjoint_solution,
    moved,
    of_any_phase,
    separated,
    solution,
)
from adjoint.testing import check_gradient
from tests.rules.harness import complexes, reals, table
from tests.support import check_reverse

N = 9
A, B, Z = reals(N, N), reals(N, N, seed=1), complexes(N, N)
V0 = np.ones(N)
CLOSE = {"rtol": 1e-5, "atol": 1e-7}


def hermitian(a):
    return a + np.conj(a.T)


def positive(b):
    return b @ np.conj(b.T) + N * np.eye(N)


def shown(found):
    """What does not depend on phases."""
    w, v = found
    return w, v * np.conj(v[0]), np.abs(v) ** 2


def products(found):
    u, s, vh = found
    return s, u[:, :1] @ vh[:1], u * np.conj(u[0]), np.conj(vh.T) * vh[:, 0]


# ---- rules ---------------------------------------------------------------------------------------


def equations(a, k, m=None):
    w, v = np.linalg.eigh(a) if m is None else sl.eigsh(a, N, m)
    return Equations(sl.eigsh, a, m, v[:, :k], w[:k], 1e-16)


REAL, COMPLEX = equations(hermitian(A), 2), equations(hermitian(Z), 2)
CASES = {
    solution: [(reals(N, 2), REAL), (complexes(N, 2), COMPLEX)],
    adjoint_solution: [(reals(N, 2), REAL), (complexes(N, 2), COMPLEX)],
    separated: [(REAL.w + 0.1, REAL)],
    # Its value is known, and does not show how it moves: see below.
    moved: [(np.zeros((0, 0)), np.zeros((0, 0)), Equations(None, *[np.zeros((0, 0))] * 3, [], 1))],
    of_any_phase: [(reals(N, 2), sl.eigsh)],
}
test_rule = table(CASES)


def test_solutions_solve_the_equations():
    r = complexes(N, 2)
    x = COMPLEX.solve(r)
    np.testing.assert_allclose(COMPLEX.y.conj().T @ x, 0, atol=1e-12)
    for j in range(2):
        rest = COMPLEX.a @ x[:, j] - COMPLEX.w[j] * x[:, j] - r[:, j]
        np.testing.assert_allclose(rest, COMPLEX.y @ (COMPLEX.y.conj().T @ rest), atol=1e-12)
    x_bar = complexes(N, 2, seed=3)
    np.testing.assert_allclose(np.vdot(x_bar, x), np.vdot(COMPLEX.solve_adjoint(x_bar), r))


def test_rules_of_what_moves():
    x, r = REAL.x, reals(N, 2)
    assert frule(moved, (None, None, None), x, r, REAL)[1] is None
    np.testing.assert_array_equal(frule(moved, (x, None, None), x, r, REAL)[1], x)
    np.testing.assert_array_equal(frule(moved, (x, r, None), x, r, REAL)[1], x - REAL.solve(r))
    y, back = rrule(moved, x, r, REAL)
    _, x_bar, r_bar, _ = back(r)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(x_bar, r)
    np.testing.assert_array_equal(r_bar, -REAL.solve_adjoint(r))


# ---- Hermitian matrices --------------------------------------------------------------------------

HERMITIAN = {
    "dense": lambda a: sl.eigsh(hermitian(a), 3, v0=V0),
    "sparse": lambda a: sl.eigsh(sparse.csr_array(hermitian(a)), 3, v0=V0),
    "sparse matrix": lambda a: sl.eigsh(sparse.csc_matrix(hermitian(a)), 2, v0=V0, which="SA"),
    "nearest": lambda a: sl.eigsh(sparse.csc_array(hermitian(a)), 3, sigma=0.3, v0=V0),
    "cayley": lambda a: sl.eigsh(hermitian(a), 3, sigma=0.3, mode="cayley", v0=V0),
    "operator": lambda a: sl.eigsh(sl.aslinearoperator(hermitian(a)), 3, v0=V0),
    "nearly all": lambda a: sl.eigsh(hermitian(a), N - 1, v0=V0),
}


@pytest.mark.parametrize("name", HERMITIAN)
@pytest.mark.filterwarnings("ignore")
def test_hermitian_matrices(name):
    find = HERMITIAN[name]
    check_reverse(lambda a: shown(find(a)), A, **CLOSE)
    y, y_dot = ad.pushforward(lambda a: shown(find(a)), (A,), (B,))
    h = 1e-6
    for part, minus, plus in zip(
        y_dot, shown(find(A - h * B)), shown(find(A + h * B)), strict=True
    ):
        np.testing.assert_allclose(part, (plus - minus) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_complex_hermitian_matrices():
    check_reverse(lambda a: shown(sl.eigsh(hermitian(a), 3, v0=V0)), Z, **CLOSE)
    check_reverse(
        lambda a: shown(sl.eigsh(sparse.csc_array(hermitian(a)), 2, sigma=0.3, v0=V0)), Z, **CLOSE
    )


def test_two_matrices():
    check_reverse(lambda a, b: shown(sl.eigsh(hermitian(a), 3, positive(b), v0=V0)), A, B, **CLOSE)
    check_reverse(
        lambda a, b: sl.eigsh(hermitian(a), 2, positive(b), 0.2, v0=V0, return_eigenvectors=False),
        A, B, **CLOSE,
    )  # fmt: skip
    a = sparse.csc_array(hermitian(A))
    check_reverse(lambda b: shown(sl.eigsh(a, 2, sparse.csc_array(positive(b)), v0=V0)), B, **CLOSE)


EXACTLY = {"tol": 1e-12, "maxiter": 300}
BLOCKS = {
    "dense": (A, lambda a, b: sl.lobpcg(a, np.eye(N, 1) + 0.1, **EXACTLY)),
    "sparse": (A, lambda a, b: sl.lobpcg(sparse.csr_array(a), np.eye(N, 1) + 0.1, **EXACTLY)),
    "function": (A, lambda a, b: sl.lobpcg(lambda x: a @ x, np.eye(N, 1) + 0.1, **EXACTLY)),
    "complex": (Z, lambda a, b: sl.lobpcg(a, np.eye(N, 1) + 0.1j, **EXACTLY)),
    "two": (A, lambda a, b: sl.lobpcg(a, np.eye(N, 1) + 0.1, b, **EXACTLY)),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_of_vectors_move_as_those_of_dense_matrices(name):
    point, block = BLOCKS[name]

    def of(find):
        def f(a, b):
            w, v = find(hermitian(a), positive(b))
            return w[-1] * np.sum(np.abs(v[:, -1]) ** 4)

        return ad.gradient(f, point, B), ad.pushforward(f, (point, B), (point[::-1], A))[1]

    whole = (lambda a, b: linalg.eigh(a, b)) if name == "two" else lambda a, b: linalg.eigh(a)
    (bars, dot), (expected, expected_dot) = of(block), of(whole)
    np.testing.assert_allclose(bars[0], expected[0], atol=1e-7)
    np.testing.assert_allclose(dot, expected_dot, atol=1e-7)
    if name == "two":
        np.testing.assert_allclose(bars[1], expected[1], atol=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_all_modes_and_second_derivatives():
    check_gradient(lambda a: shown(sl.eigsh(hermitian(a), 2, v0=V0)), A, **CLOSE)
    check_gradient(lambda a: shown(sl.eigs(a, 2, v0=V0)), A, **CLOSE)
    s = lambda a: sl.svds(a, 2, v0=np.ones(4), return_singular_vectors=False)
    check_gradient(s, A[:, :4], **CLOSE)


def test_second_derivatives_of_values_are_those_of_dense_ones():
    f = lambda find: lambda t: find(hermitian(A * t[0] + t[1] ** 2 * B))  # noqa: E731
    few = lambda a: sl.eigsh(a, 2, which="SA", v0=V0, return_eigenvectors=False).min()  # noqa: E731
    t = np.array([0.7, 1.3])
    np.testing.assert_allclose(
        ad.hessian(f(few), t), ad.hessian(f(lambda a: np.linalg.eigvalsh(a)[0]), t), rtol=1e-7
    )


def test_values_alone_come_in_their_own_order():
    find = lambda a, **named: sl.eigsh(hermitian(a), 4, which="BE", v0=V0, **named)  # noqa: E731
    alone, (w, _) = find(A, return_eigenvectors=False), find(A)
    np.testing.assert_allclose(np.sort(alone), np.sort(w))
    slopes = ad.jacobian(lambda a: find(a, return_eigenvectors=False), A)
    order = np.argsort(np.argsort(alone))
    np.testing.assert_allclose(slopes, ad.jacobian(lambda a: find(a)[0], A)[order], atol=1e-12)


def test_the_cotangent_of_a_hermitian_matrix_is_hermitian():
    bar = ad.gradient(lambda a: np.sum(sl.eigsh(a, 2, v0=V0)[1] ** 4), hermitian(A))[0]
    np.testing.assert_allclose(bar, bar.T, atol=1e-14)


def test_other_numbers():
    integers = np.diag(np.arange(1, 8))
    f = lambda a: sl.eigsh(a * 1.0, 1, v0=np.ones(7))[0][0]  # noqa: E731
    np.testing.assert_allclose(ad.gradient(f, integers)[0], np.diag(np.eye(7)[6]), atol=1e-12)
    single = hermitian(A).astype(np.float32)
    y, back = ad.pullback(lambda a: sl.eigsh(a, 2, v0=V0.astype(np.float32)), single)
    bar = back((np.ones_like(y[0]), np.ones_like(y[1])))[1]
    assert (y[0].dtype, y[1].dtype, bar.dtype) == (np.float32,) * 3
    w, v = np.linalg.eigh(single.astype(float))
    order = [int(np.argmin(np.abs(w - value))) for value in y[0]]
    bars = [np.zeros_like(w), np.zeros_like(v)]
    bars[0][order] = 1.0
    bars[1][:, order] = np.sign(np.sum(v[:, order] * y[1], 0))
    expected = ad.pullback(lambda a: np.linalg.eigh(hermitian(a) / 2), single.astype(float))[1]
    np.testing.assert_allclose(bar, expected(tuple(bars))[1], rtol=1e-3, atol=1e-3)


def test_generators_of_the_caller_are_drawn_from_once():
    if "rng" not in sl.eigsh.__doc__:
        pytest.skip("this version of SciPy takes none")
    first, second = np.random.default_rng(0), np.random.default_rng(0)
    find = lambda a, rng: sl.eigsh(a, 2, return_eigenvectors=False, rng=rng)  # noqa: E731
    find(hermitian(A), first)
    ad.gradient(lambda a: find(a, second).sum(), hermitian(A))
    assert first.uniform() == second.uniform()


# ---- general matrices ----------------------------------------------------------------------------

GENERAL = {
    "dense": lambda a: sl.eigs(a, 3, v0=V0),
    "sparse": lambda a: sl.eigs(sparse.csr_array(a), 3, v0=V0, which="SM"),
    "nearest": lambda a: sl.eigs(sparse.csc_array(a), 2, sigma=0.4, v0=V0),
    "operator": lambda a: sl.eigs(
        sl.LinearOperator((N, N), matvec=lambda x: a @ x + a[0, 0] * x, dtype=a.dtype), 3, v0=V0
    ),
    "two": lambda a: sl.eigs(a, 3, positive(B * a[0, 0]), v0=V0),
}


@pytest.mark.parametrize("name", GENERAL)
def test_general_matrices(name):
    find = GENERAL[name]
    check_reverse(lambda a: shown(find(a)), A, **CLOSE)
    check_reverse(lambda a: shown(find(a)), Z, **CLOSE)
    y, back = ad.pullback(lambda a: shown(find(a)), A)
    y_dot = ad.pushforward(lambda a: shown(find(a)), (A,), (B,))[1]
    y_bar = tuple(np.conj(part) * 0.7 + 1 for part in y)
    forward = sum(np.vdot(bar, dot).real for bar, dot in zip(y_bar, y_dot, strict=True))
    np.testing.assert_allclose(forward, np.vdot(back(y_bar)[1], B).real, rtol=1e-9)


def test_eigenvalues_of_a_general_matrix():
    f = lambda a: np.sort_complex(sl.eigs(a, 4, v0=V0, return_eigenvectors=False))  # noqa: E731
    check_reverse(f, A, **CLOSE)


# ---- singular values -----------------------------------------------------------------------------

SINGULAR = {
    "dense": lambda a: sl.svds(a, 3, v0=np.ones(5)),
    "sparse": lambda a: sl.svds(sparse.csr_array(a), 3, v0=np.ones(5)),
    "smallest": lambda a: sl.svds(a, 2, which="SM", v0=np.ones(5)),
    "operator": lambda a: sl.svds(sl.aslinearoperator(a), 2, v0=np.ones(5)),
    "block": lambda a: sl.svds(a, 2, solver="lobpcg", random_state=0, tol=1e-7, maxiter=300),
    "propack": lambda a: sl.svds(a, 2, solver="propack", v0=np.ones(len(a))),
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("shape", [(7, 5), (5, 7)])
@pytest.mark.filterwarnings("ignore")
def test_singular_values_and_vectors(name, shape):
    find, a = SINGULAR[name], reals(*shape, seed=4)
    check_reverse(lambda a: products(find(a)), a, **CLOSE)
    if name in ("dense", "operator"):
        check_reverse(lambda a: products(find(a)), a + 1j * reals(*shape, seed=5), **CLOSE)


@pytest.mark.parametrize("asked", [False, "u", "vh"])
def test_part_of_the_vectors(asked):
    a = reals(7, 5)

    def find(a):
        found = sl.svds(a, 2, v0=np.ones(5), return_singular_vectors=asked)
        if not asked:
            return found
        u, s, vh = found
        return (s, u * u[0]) if asked == "u" else (s, vh.T * vh[:, 0])

    check_reverse(find, a, **CLOSE)


@pytest.mark.parametrize("asked", ["u", "vh"])
@pytest.mark.parametrize("a", [reals(7, 5), reals(5, 7), complexes(7, 5)])
@pytest.mark.filterwarnings("ignore")
def test_part_of_the_vectors_has_the_phases_that_were_found(a, asked):
    """The search is asked again for the others, and may find another phase."""

    def slopes(vectors):
        v, back = ad.pullback(vectors, a)
        return back(v * np.arange(len(v))[:, None])[1]

    def whole(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return u[:, :2] if asked == "u" else vh.T[:, :2]

    expected = slopes(whole)
    for solver in ("arpack", "propack"):
        for seed in range(5):
            n = len(a) if solver == "propack" else min(a.shape)
            start = np.random.default_rng(seed).normal(size=n)
            for v0 in (start, None):
                named = {"solver": solver, "v0": v0, "return_singular_vectors": asked}

                def some(a):
                    u, _, vh = sl.svds(a, 2, **named)
                    return u if asked == "u" else vh.T

                np.testing.assert_allclose(slopes(some), expected, atol=1e-8)


# ---- refused -------------------------------------------------------------------------------------

TWICE = np.diag([3.0, 3.0, 1.0, -1.0, 5.0, 7.0, 2.0, 4.0, 8.0])
REFUSED = {
    "one of two equal eigenvalues": (
        lambda a: sl.eigsh(a, 1, sigma=2.95, v0=V0)[0].sum(), TWICE, "equal to one that was not",
    ),
    "one of two equal eigenvalues, alone": (
        lambda a: sl.eigsh(a, 1, sigma=2.95, v0=V0, return_eigenvectors=False).sum(),
        TWICE, "equal to one that was not",
    ),
    "one of two equal eigenvalues of a general matrix": (
        lambda a: sl.eigs(a, 1, sigma=2.95, v0=V0)[0].real.sum(), TWICE, "equal to one that was",
    ),
    "zero": (
        lambda a: sl.svds(a, 1, which="SM", v0=V0, return_singular_vectors=False).sum(),
        np.diag(np.arange(9.0)), "equal to one that was not",
    ),
    "of no symmetry": (lambda a: sl.eigsh(a, 2, v0=V0)[0].sum(), A, "not Hermitian"),
    "a search that was cut short": (
        lambda a: sl.lobpcg(hermitian(a), np.eye(N, 1) + 0.1, maxiter=1)[0].sum(),
        A, "not found well enough",
    ),
    "defective": (
        lambda a: sl.eigs(a, 2, v0=np.arange(9.0) + 1)[0].real.sum(),
        np.diag([9.0, 9, 1, 2, 3, 4, 5, 6, 7]) + np.diag(np.eye(8)[0], 1), "dependent",
    ),
    "buckling": (
        lambda a: sl.eigsh(positive(a), 2, TWICE, 0.1, mode="buckling")[0].sum(), A, "buckling",
    ),
    "constraints": (
        lambda a: sl.lobpcg(hermitian(a), np.eye(N, 1) + 0.1, Y=np.eye(N, 1))[0].sum(),
        A, "constraints",
    ),
    "history": (
        lambda a: sl.lobpcg(
            hermitian(a), np.eye(N, 1) + 0.1, tol=1e-9, maxiter=300, retLambdaHistory=True
        )[2][0].sum(),
        A, "how it has searched",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refused(name):
    f, a, why = REFUSED[name]
    with pytest.raises(NoDerivativeError, match=why):
        ad.gradient(f, a)
    with pytest.raises(NoDerivativeError, match=why):
        ad.pushforward(f, (a,), (A,))


def test_vectors_of_equal_values():
    find = lambda a: sl.eigsh(a, 2, sigma=2.95, v0=np.arange(9.0) + 1)  # noqa: E731
    both = ad.gradient(lambda a: find(a)[0].sum(), TWICE)[0]
    np.testing.assert_allclose(both, np.diag([1.0, 1, 0, 0, 0, 0, 0, 0, 0]), atol=1e-12)
    with pytest.raises(NoDerivativeError, match="vectors of equal values are used"):
        ad.gradient(lambda a: find(a)[1][0].sum(), TWICE)
    assert np.isnan(ad.pushforward(lambda a: find(a)[1][0].sum(), (TWICE,), (hermitian(A),))[1])


def test_a_phase_that_shows():
    for find in (lambda a: sl.eigsh(hermitian(a), 2, v0=V0)[1], lambda a: sl.eigs(a, 2, v0=V0)[1]):
        with pytest.raises(NoDerivativeError, match="the phase of a vector shows"):
            ad.gradient(lambda a: find(a).imag.sum(), Z)


def test_large_operators_and_large_matrices():
    n = 3500
    slopes = np.arange(float(n))

    def of_operator(t):
        operator = sl.LinearOperator(
            (n, n), matvec=lambda x: t * slopes * np.ravel(x), dtype=np.dtype(float)
        )
        return sl.eigsh(operator, 1, tol=1e-3, which="LM")[0][0]

    with pytest.raises(NoDerivativeError, match="more than 3000 rows: give it the matrix"):
        ad.gradient(of_operator, 1.0)
    of_matrix = lambda t: sl.eigsh(sparse.diags_array(slopes * t), 2, sigma=2e3)[0][1]  # noqa: E731
    value, (slope,) = ad.withgradient(of_matrix, 1.5)
    np.testing.assert_allclose(slope, value / 1.5)


def test_the_matrix_stays_as_it_is():
    a = sparse.csr_array(hermitian(A))
    data = a.data.copy()
    value, back = ad.pullback(lambda t: sl.eigsh(a * t, 2, v0=V0)[0], 1.0)
    np.testing.assert_array_equal(value, sl.eigsh(a, 2, v0=V0)[0])
    np.testing.assert_allclose(back(np.ones(2))[1], np.sum(value))
    np.testing.assert_array_equal(a.data, data)
