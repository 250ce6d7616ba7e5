"""`scipy.sparse` and `scipy.sparse.linalg`: functions, the methods of sparse arrays, solvers."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import expm
from scipy.sparse import linalg as sl

from tests.census.entries import Section, methods_of, public, via
from tests.rules.harness import reals

MASK = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]], bool)
X, Y = reals(3), reals(6, low=0.3)
A = sparse.csr_array(np.where(MASK, reals(3, 3, low=0.3), 0) + 3 * np.eye(3))
DATA, DENSE = A.data.copy(), reals(3, 3, low=0.3)
ROWS, COLUMNS = A.tocoo().coords
PLACES = np.array([0, 0, 1]), np.array([1, 2, 2])


def of(data, kind=sparse.csr_array):
    """An array of the pattern of A."""
    return kind((data, (ROWS, COLUMNS)), shape=A.shape)


def plain(y):
    y = y.toarray() if sparse.issparse(y) else y
    return np.asarray(y) if isinstance(y, np.matrix) else y


def one(f, data=DATA, **options):
    """A function of one sparse array."""
    return via(lambda data: plain(f(of(data))), data, **options)


def two(f, x=X):
    """A function of a sparse array and a dense one."""
    return via(lambda data, x: plain(f(of(data), x)), DATA, x)


def written(a, change):
    change(a)
    return a


def kinds(suffix):
    """The classes, made of data and places."""
    examples = {
        f"{format}_{suffix}": one(lambda a, format=format: a.asformat(format) @ X)
        for format in ("csr", "csc", "bsr", "dok", "lil")
    }
    coo, dia = getattr(sparse, f"coo_{suffix}"), getattr(sparse, f"dia_{suffix}")
    return examples | {
        f"coo_{suffix}": via(lambda data: of(data, coo) @ X, DATA),
        f"dia_{suffix}": via(lambda d: dia((d, [0, 1]), shape=(3, 3)) @ X, reals(2, 3)),
    }


FUNCTIONS = {
    **kinds("array"),
    **kinds("matrix"),
    "block_array": two(lambda a, x: sparse.block_array([[a, None], [None, x]]), DENSE),
    "block_diag": two(lambda a, x: sparse.block_diag([a, x]), DENSE),
    "bmat": two(lambda a, x: sparse.bmat([[a, None], [None, x]]), DENSE),
    "diags": via(lambda x, y: sparse.diags([x, y], [0, 1]).toarray(), X, X[:2]),
    "diags_array": via(lambda x: sparse.diags_array([x], offsets=[1]).toarray(), X),
    "expand_dims": one(lambda a: sparse.expand_dims(a.tocoo()[0], axis=0).toarray()),
    "find": one(lambda a: sparse.find(a)[2]),
    "hstack": two(lambda a, x: sparse.hstack([a, x]), DENSE),
    "kron": two(lambda a, x: sparse.kron(a, x), DENSE),
    "kronsum": one(lambda a: sparse.kronsum(a, a)),
    "permute_dims": one(lambda a: sparse.permute_dims(a.tocoo(), (1, 0))),
    "spdiags": via(lambda x: sparse.spdiags(x, [0], 3, 3).toarray(), X.reshape(1, 3)),
    "swapaxes": one(lambda a: sparse.swapaxes(a.tocoo(), 0, 1)),
    "tril": one(sparse.tril),
    "triu": one(sparse.triu),
    "vstack": two(lambda a, x: sparse.vstack([a, x]), DENSE),
}
ELEMENTWISE = """
    arcsin arcsinh arctan arctanh deg2rad expm1 log1p rad2deg sin sinh sqrt tan tanh
    conj conjugate copy transpose todense toarray tocsr tocsc tocoo todia tobsr todok tolil
""".split()
METHODS = {
    **{name: one(lambda a, name=name: getattr(a, name)(), DATA / 6) for name in ELEMENTWISE},
    "asformat": one(lambda a: a.asformat("csc").data),
    "astype": one(lambda a: a.astype(complex)),
    "diagonal": one(lambda a: a.diagonal()),
    "dot": two(lambda a, x: a.dot(x)),
    "max": one(lambda a: a.max(axis=0)),
    "maximum": two(lambda a, x: a.maximum(sparse.csr_array(x)), DENSE * 3),
    "mean": one(lambda a: a.mean(axis=1)),
    "min": one(lambda a: -((-a).max(axis=1))),
    "minimum": two(lambda a, x: a.minimum(-sparse.csr_array(x)), DENSE),
    "multiply": two(lambda a, x: a.multiply(x), DENSE),
    "nanmax": one(lambda a: a.nanmax()),
    "nanmin": one(lambda a: (-a).nanmin()),
    "power": one(lambda a: a.power(3)),
    "prune": one(lambda a: written(a, lambda a: a.prune())),
    "reshape": one(lambda a: a.reshape((1, 9))),
    "resize": one(lambda a: written(a, lambda a: a.resize((2, 3)))),
    "setdiag": two(lambda a, x: written(a, lambda a: a.setdiag(x))),
    "sort_indices": one(lambda a: written(a, lambda a: a.sort_indices())),
    "sorted_indices": one(lambda a: a.sorted_indices()),
    "sum": one(lambda a: a.sum(axis=0)),
    "sum_duplicates": one(lambda a: written(a, lambda a: a.sum_duplicates())),
    "trace": one(lambda a: a.trace()),
    "eliminate_zeros": one(lambda a: written(a, lambda a: a.eliminate_zeros())),
}


def iteration(name):
    """Of a positive definite matrix, to the end."""
    named = {"rtol": 1e-14} if name == "minres" else {"rtol": 1e-14, "atol": 0.0}
    solve = getattr(sl, name)
    return via(lambda data, x: solve(of(data).T @ of(data), x, **named)[0], DATA, X, rtol=1e-5)


LINALG = {
    **{
        name: iteration(name)
        for name in "bicg bicgstab cg cgs gcrotmk gmres lgmres minres qmr tfqmr".split()
    },
    "LinearOperator": two(
        lambda a, x: sl.LinearOperator((3, 3), matvec=lambda y: a @ y, dtype=float) @ x
    ),
    "SuperLU": two(lambda a, x: sl.splu(a.tocsc()).solve(x)),
    "aslinearoperator": two(lambda a, x: sl.aslinearoperator(a) @ x),
    "expm": one(lambda a: sl.expm(a.tocsc()), rtol=1e-5),
    "eigs": one(lambda a: sl.eigs(a, 1, v0=np.ones(3))[0].real),
    "eigsh": one(lambda a: sl.eigsh(a + a.T, 1, v0=np.ones(3))[0]),
    "expm_multiply": two(sl.expm_multiply),
    "factorized": two(lambda a, x: sl.factorized(a.tocsc())(x)),
    "funm_multiply_krylov": two(lambda a, x: sl.funm_multiply_krylov(expm, a, x)),
    "inv": one(lambda a: sl.inv(a.tocsc())),
    "lobpcg": one(lambda a: sl.lobpcg((a + a.T).toarray(), np.eye(3, 1) + 0.3, tol=1e-12)[0]),
    "lsmr": two(lambda a, x: sl.lsmr(a, x, atol=1e-15, btol=1e-15)[0]),
    "lsqr": two(lambda a, x: sl.lsqr(a, x, atol=1e-15, btol=1e-15)[0]),
    "matrix_power": one(lambda a: sl.matrix_power(a, 3)),
    "norm": one(sl.norm),
    "onenormest": one(sl.onenormest),
    "spilu": via(lambda x: sl.spilu(A.tocsc()).solve(x), X),
    "splu": two(lambda a, x: sl.splu(a.tocsc()).solve(x)),
    "spsolve": two(lambda a, x: sl.spsolve(a, x)),
    "spsolve_triangular": two(lambda a, x: sl.spsolve_triangular(sparse.tril(a).tocsr(), x)),
    "svds": one(lambda a: sl.svds(a, 2, v0=np.ones(3))[1]),
}

SECTIONS = [
    Section(
        "scipy.sparse",
        public(sparse),
        FUNCTIONS,
        {
            "constants": "eye eye_array identity",
            "random numbers": "rand random random_array",
            "files": "load_npz save_npz",
            "types": """
                get_index_dtype issparse isspmatrix isspmatrix_bsr isspmatrix_coo isspmatrix_csc
                isspmatrix_csr isspmatrix_dia isspmatrix_dok isspmatrix_lil safely_cast_index_arrays
                sparray spmatrix
            """,
        },
    ),
    Section(
        "scipy.sparse.csr_array",
        methods_of(sparse.csr_array),
        METHODS,
        {
            "places": "argmax argmin count_nonzero nonzero",
            "piecewise constant": "ceil floor rint sign trunc",
            "checks": "check_format",
        },
    ),
    Section(
        "scipy.sparse.linalg",
        public(sl),
        LINALG,
        {"of the pattern": "is_sptriangular spbandwidth", "a setting": "use_solver"},
        {
            "its matrix is a constant of so many points": "LaplacianNd",
        },
    ),
]
