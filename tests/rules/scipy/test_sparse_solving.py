"""`scipy.sparse.linalg`: linear equations by factors and by iteration, operators, norms."""

import inspect

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg as sl

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import frule, lookup, rrule
from adjoint.rules.scipy.sparse.solving import _superlu, unconverged, valued
from tests.rules.harness import case, complexes, reals, table
from tests.support import check_reverse

DENSE = np.where(reals(4, 4, seed=2) > 0.2, reals(4, 4), 0) + 4 * np.eye(4)
B, B2 = reals(4), reals(4, 2)
CSC, CSR = sparse.csc_array(DENSE), sparse.csr_array(DENSE)
FORMATS = {
    "csc": CSC,
    "csr": CSR,
    "csc_matrix": sparse.csc_matrix(DENSE),
    "coo": sparse.coo_array(DENSE),
}


def of(a, data):
    """An array of the pattern of another."""
    if a.format == "coo":
        return type(a)((data, (a.row, a.col)), shape=a.shape)
    return type(a)((data, a.indices.copy(), a.indptr.copy()), shape=a.shape)


def gssv(a, b, by_columns):
    return (4, a.nnz, a.data, a.indices, a.indptr, b, by_columns)


FACTORS = sl.splu(CSC)
COMPLEX = sl.splu(CSC * (1 + 2j))
CASES = {
    _superlu.gssv: [
        gssv(CSC, B, 1),
        gssv(CSR, B, 0),
        gssv(CSC, B2, 1),
        gssv(CSR * (1 + 2j), complexes(4, 2), 0),
        case(*gssv(CSC, B, 1), options={"ColPerm": "NATURAL"}),
    ],
    _superlu.gstrf: [
        case(4, CSC.nnz, CSC.data, CSC.indices, CSC.indptr, csc_construct_func=sparse.csc_array)
    ],
    # Factors cannot be copied, so that the table has none: see below.
    # The value is that of an iteration, which has no derivative by itself: see below.
    valued: [(np.zeros(0), np.zeros(0))],
    unconverged: [(reals(3), ())],
}
test_rule = table(CASES)
CASES[sl.SuperLU, "solve"] = [()]
SOLVED = [
    (FACTORS, B, "N"), (FACTORS, B2, "T"), (FACTORS, B2, "H"), (COMPLEX, complexes(4), "N"),
    (COMPLEX, complexes(4), "T"), (COMPLEX, complexes(4, 2), "H"),
]  # fmt: skip


@pytest.mark.parametrize("factors, b, trans", SOLVED)
def test_solve_with_constant_factors(factors, b, trans):
    key = (sl.SuperLU, "solve")
    _, back = rrule(key, factors, b, trans)
    b_dot, y_bar = b[::-1] * 0.7, np.conj(b) + 1
    _, y_dot = frule(key, (None, b_dot, None), factors, b, trans)
    np.testing.assert_allclose(y_dot, factors.solve(b_dot, trans))
    forward, backward = np.vdot(y_bar, y_dot).real, np.vdot(back(y_bar)[2], b_dot).real
    np.testing.assert_allclose(forward, backward, rtol=1e-12)
    check_reverse(lambda b: factors.solve(b, trans), b)


def test_factors_in_forward_mode():
    args = (4, CSC.nnz, CSC.data, CSC.indices, CSC.indptr)
    named = {"csc_construct_func": sparse.csc_array}
    _, y_dot = frule(_superlu.gstrf, (None,) * 5, *args, **named)
    assert y_dot is None
    with pytest.raises(NoDerivativeError, match="reverse mode only"):
        frule(_superlu.gstrf, (None, None, CSC.data, None, None), *args, **named)


SOLVERS = {
    "spsolve": lambda a, b: sl.spsolve(a, b),
    "spsolve of the transpose": lambda a, b: sl.spsolve(a.T.tocsr(), b),
    "splu": lambda a, b: sl.splu(a.tocsc()).solve(b),
    "splu, transposed": lambda a, b: sl.splu(a.tocsc()).solve(b, "T"),
    "splu, adjoint": lambda a, b: sl.splu(a.tocsc()).solve(b, "H"),
    "factorized": lambda a, b: sl.factorized(a.tocsc())(b),
    "triangle below": lambda a, b: sl.spsolve_triangular(sparse.tril(a).tocsr(), b),
    "triangle above": lambda a, b: sl.spsolve_triangular(sparse.triu(a).tocsr(), b, False),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("format", FORMATS)
def test_equations(format, name):
    a, solve = FORMATS[format], SOLVERS[name]
    check_reverse(lambda data, b: solve(of(a, data), b), a.data, B)
    check_reverse(lambda data, b: solve(of(a, data), b), a.data, B2)
    data = a.data * complexes(a.nnz)
    check_reverse(lambda data, b: solve(of(a, data), b), data + 1, complexes(4))
    check_reverse(lambda b: solve(a, b), B)
    if "splu" not in name and name != "factorized":
        check_reverse(lambda data, b: solve(of(a, data), b), data + 1, B)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", ["splu", "splu, transposed", "splu, adjoint", "factorized"])
def test_factors_in_all_modes(name):
    solve, h, x = SOLVERS[name], 1e-3, 1.2
    for data, b in ((lambda t: CSC.data * t, B), (lambda t: CSC.data * (t + 1j), complexes(4))):
        f = lambda t: np.sum(np.abs(solve(of(CSC, data(t)), b * t * t)) ** 2)  # noqa: B023, E731
        slope = lambda t: ad.gradient(f, t)[0]  # noqa: B023, E731
        first, second = (
            (8 * (g(x + h) - g(x - h)) - g(x + 2 * h) + g(x - 2 * h)) / (12 * h) for g in (f, slope)
        )
        y, y_dot = ad.pushforward(f, (x,), (1.0,))
        assert y == f(x)
        np.testing.assert_allclose(y_dot, first, rtol=1e-8)
        np.testing.assert_allclose(slope(x), first, rtol=1e-8)
        np.testing.assert_allclose(ad.gradient(slope, x)[0], second, rtol=1e-8)
        np.testing.assert_allclose(ad.pushforward(slope, (x,), (1.0,))[1], second, rtol=1e-8)


def test_parts_of_factors_in_forward_mode():
    with pytest.raises(NoDerivativeError):
        ad.pushforward(lambda t: sl.splu(of(CSC, CSC.data * t)).L.sum(), (1.0,), (1.0,))
    with pytest.raises(NoDerivativeError, match="incomplete|reverse mode only"):
        ad.pushforward(lambda t: sl.spilu(of(CSC, CSC.data * t)).solve(B).sum(), (1.0,), (1.0,))


def test_factors_used_twice():
    def f(data, b):
        factors = sl.splu(of(CSC, data))
        return factors.solve(b) + factors.solve(factors.solve(b), "T")

    check_reverse(f, CSC.data, B)
    outside = sl.splu(CSC)
    check_reverse(lambda b: outside.solve(b) * outside.solve(b * b), B)


def test_an_incomplete_factorization():
    check_reverse(lambda b: sl.spilu(CSC).solve(b), B)
    with pytest.raises(NoDerivativeError, match="incomplete factorization"):
        ad.gradient(lambda data: sl.spilu(of(CSC, data)).solve(B).sum(), CSC.data)
    with pytest.raises(NoDerivativeError):
        ad.gradient(lambda data: sl.splu(of(CSC, data)).L.sum(), CSC.data)


ITERATIONS = "bicg bicgstab cg cgs gcrotmk gmres lgmres minres qmr tfqmr".split()


def exactly(name):
    known = inspect.signature(getattr(sl, name)).parameters
    named = {"rtol" if "rtol" in known else "tol": 1e-14}
    return named | {"atol": 0.0} if "atol" in known else named


@pytest.mark.parametrize("name", ITERATIONS)
def test_iterations(name):
    solve = getattr(sl, name)

    def f(data, b):
        a = of(CSR, data)
        x, info = solve(a.T @ a, b, **exactly(name))
        assert info == 0
        return x

    check_reverse(f, CSR.data, B, rtol=1e-5)
    check_reverse(lambda b: solve(CSR.T @ CSR, b, **exactly(name))[0], B, rtol=1e-5)
    check_reverse(lambda a, b: solve(a.T @ a, b, **exactly(name))[0], DENSE, B, rtol=1e-5)


def test_the_value_is_that_of_the_iteration():
    b = B + 1
    x, back = ad.pullback(lambda b: sl.gmres(CSR, b, rtol=1e-2)[0], b)
    np.testing.assert_array_equal(x, sl.gmres(CSR, b, rtol=1e-2)[0])
    np.testing.assert_allclose(back(B)[1], np.linalg.solve(DENSE.T, B))


def test_iterations_that_do_not_converge_are_refused():
    with pytest.raises(NoDerivativeError, match="did not come to solve"):
        ad.gradient(lambda b: sl.gmres(CSR, b, maxiter=1, restart=1)[0].sum(), B)


OTHERS = {
    "inv": lambda a: sl.inv(a.tocsc()).toarray(),
    "expm": lambda a: sl.expm(a.tocsc()).toarray(),
    "expm_multiply": lambda a: sl.expm_multiply(a, B),
    "norm": lambda a: sl.norm(a),
    "norm of columns": lambda a: sl.norm(a, axis=0),
    "largest column": lambda a: sl.norm(sparse.csr_matrix(a), 1),
    "largest row": lambda a: sl.norm(sparse.csr_matrix(a), np.inf),
    "operator": lambda a: sl.aslinearoperator(a) @ B,
    "adjoint of an operator": lambda a: sl.aslinearoperator(a).H @ B,
    "operators": lambda a: (2 * sl.aslinearoperator(a) + sl.aslinearoperator(a).T).matvec(B),
    "own operator": lambda a: sl.LinearOperator((4, 4), matvec=lambda x: a @ x, dtype=float) @ B,
    "with a sparse right-hand side": lambda a: sl.spsolve(a.tocsc(), a.tocsc().T).toarray(),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_functions_of_one_array(name):
    check_reverse(lambda data: OTHERS[name](of(CSR, data)), CSR.data, rtol=1e-5)


def test_rules_are_found_by_factors_that_were_made_outside():
    """Their class does not say whose it is."""
    assert lookup((sl.SuperLU, "solve")) is not None
