"""Sparse arrays and matrices of every format, against differences in their data."""

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.rules.harness import complexes, reals
from tests.support import check_reverse

MASK = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]], bool)
A = np.where(MASK, reals(4, 3, low=0.3), 0)
OTHER = np.where(np.roll(MASK, 1, 0), reals(4, 3, seed=1, low=0.3), 0)
SQUARE = np.where(np.eye(4, k=1) + np.eye(4, k=-2) > 0, reals(4, 4, seed=2), 0) + 3 * np.eye(4)
X, Y, X2, DENSE = reals(3), reals(4), reals(3, 2), reals(4, 3, seed=3)
FORMATS = ("csr", "csc", "coo", "dia", "bsr")
KINDS = ("array", "matrix")


def parts(format, kind, dense):
    """The data of a sparse array, and a function that makes it of such data."""
    cls = getattr(sparse, f"{format}_{kind}")
    a = cls(dense, blocksize=(2, 1)) if format == "bsr" else cls(dense)
    if format == "dia":
        a.data[a.data == 0] = 0.7 + abs(dense.sum())  # not stored, were it zero
    if format == "coo":
        return a.data, lambda data: cls((data, (a.row, a.col)), shape=a.shape)
    if format == "dia":
        return a.data, lambda data: cls((data, a.offsets), shape=a.shape)
    a.sort_indices()
    return a.data, lambda data: cls((data, a.indices.copy(), a.indptr.copy()), shape=a.shape)


def plain(y):
    """What the derivative is taken of: matrices and sparse arrays as arrays."""
    if sparse.issparse(y):
        y = y.toarray()
    return np.asarray(y) if isinstance(y, np.matrix) else y


def written(a, change):
    change(a)
    return a


UNARY = {
    "toarray": lambda a: a.toarray(),
    "toarray of columns": lambda a: a.toarray(order="F"),
    "todense": lambda a: a.todense(),
    "data": lambda a: a.data * 2,
    "copy": lambda a: a.copy(),
    "transpose": lambda a: a.T,
    "conjugate": lambda a: a.conj().T,
    "negative": lambda a: -a,
    "power": lambda a: a.power(2),
    "function": lambda a: a.sin().data,
    "ufunc": lambda a: np.sin(a).data,
    "abs": abs,
    "np.abs": np.abs,
    "sum": lambda a: a.sum(),
    "sum of columns": lambda a: a.sum(axis=0),
    "sum of rows": lambda a: a.sum(axis=1),
    "mean": lambda a: a.mean(axis=0),
    "astype": lambda a: a.astype(complex),
    "reshape": lambda a: a.reshape((2, 6)),
    "tocsr": lambda a: a.tocsr().data,
    "tocsc": lambda a: a.tocsc().data,
    "tocoo": lambda a: a.tocoo().data,
    "todia": lambda a: a.todia().data,
    "tobsr": lambda a: a.tobsr().data,
    "diagonal": lambda a: a.diagonal(),
    "diagonal below": lambda a: a.diagonal(-1),
    "product with its transpose": lambda a: a @ a.T,
    "tril": lambda a: sparse.tril(a),
    "triu": lambda a: sparse.triu(a, 1),
    "find": lambda a: sparse.find(a)[2],
}
BINARY = {
    "a @ x": (lambda a, x: a @ x, X),
    "a @ X": (lambda a, x: a @ x, X2),
    "x @ a": (lambda a, x: x @ a, Y),
    "a.T @ x": (lambda a, x: a.T @ x, Y),
    "a.dot": (lambda a, x: a.dot(x), X),
    "a * number": (lambda a, x: a * x, 1.5),
    "number * a": (lambda a, x: x * a, 1.5),
    "a / number": (lambda a, x: a / x, 1.5),
    "a + dense": (lambda a, x: a + x, DENSE),
    "dense - a": (lambda a, x: x - a, DENSE),
    "multiply": (lambda a, x: a.multiply(x), DENSE),
}
PAIRS = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "multiply": lambda a, b: a.multiply(b),
    "maximum": lambda a, b: a.maximum(b),
    "a @ b": lambda a, b: a @ b.T,
    "hstack": lambda a, b: sparse.hstack([a, b]),
    "vstack": lambda a, b: sparse.vstack((a, b), format="csr"),
    "bmat": lambda a, b: sparse.bmat([[a, None], [None, b]]),
    "block_diag": lambda a, b: sparse.block_diag([a, b]),
    "kron": lambda a, b: sparse.kron(a, b),
}
INDEXED = {
    "element": lambda a: a[0, 2],
    "no element": lambda a: a[0, 1] + a[2, 0],
    "rows": lambda a: a[1:3],
    "every second row": lambda a: a[::2],
    "columns": lambda a: a[:, 1:],
    "columns from the end": lambda a: a[:, ::-1],
    "some rows": lambda a: a[[2, 0, 2]],
    "some columns": lambda a: a[:, [2, 0, 2]],
    "elements": lambda a: a[[0, 1, 2, 1], [0, 1, 1, 2]],
    "mask": lambda a: a[MASK & (A > 0.5)],
    "window": lambda a: a[1:4, 0:2],
    "iteration": lambda a: sum(row.sum() * (i + 1) for i, row in enumerate(a.tocsr())),
}
WRITES = {
    "element": lambda a, x: written(a, lambda a: a.__setitem__((0, 2), x[0])),
    "elements": lambda a, x: written(a, lambda a: a.__setitem__(([0, 1, 2], [0, 1, 1]), x)),
    "diagonal": lambda a, x: written(a, lambda a: a.setdiag(x)),
    "data": lambda a, x: written(a, lambda a: a.data.__imul__(x[0])),
}


@pytest.mark.parametrize(
    "format, kind", [*((format, "array") for format in FORMATS), ("csr", "matrix")]
)
class TestFormats:
    @pytest.mark.parametrize("name", UNARY)
    def test_of_one(self, format, kind, name):
        if format == "bsr" and name == "find":
            return  # blocks hold zeros, which are left out
        data, of = parts(format, kind, A)
        check_reverse(lambda data: plain(UNARY[name](of(data))), data)

    @pytest.mark.parametrize("name", BINARY)
    def test_with_dense(self, format, kind, name):
        if kind == "matrix" and name == "multiply" and format == "dia":
            name = "a @ x"
        f, x = BINARY[name]
        data, of = parts(format, kind, A)
        check_reverse(lambda data, x: plain(f(of(data), x)), data, x)
        check_reverse(lambda x: plain(f(of(data), x)), x)

    @pytest.mark.parametrize("name", PAIRS)
    def test_of_two(self, format, kind, name):
        if format == "bsr" and name in ("multiply", "maximum"):
            return  # blocks hold zeros, which are left out
        (a, of_a), (b, of_b) = parts(format, kind, A), parts(format, kind, OTHER)
        check_reverse(lambda a, b: plain(PAIRS[name](of_a(a), of_b(b))), a, b)

    def test_square(self, format, kind):
        data, of = parts(format, kind, SQUARE)
        check_reverse(lambda data: of(data).trace(), data)
        check_reverse(lambda data: plain(of(data) @ of(data) @ of(data)), data)
        check_reverse(lambda data, x: of(data) @ x, data.astype(complex), complexes(4))
        check_reverse(lambda data, x: of(data) @ x, data.astype(complex), Y)
        check_reverse(lambda data, x: of(data) @ x, data, complexes(4))
        single = data.astype(np.float32)
        check_reverse(lambda data, x: of(data) @ x, single, Y.astype(np.float32))

    def test_at_zero(self, format, kind):
        """Where what is computed equals what was there before."""
        data, of = parts(format, kind, A)
        expected = of(data).toarray().sum(0)
        np.testing.assert_allclose(ad.gradient(lambda x: (of(data) @ x).sum(), X * 0)[0], expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc"])
class TestSubscripts:
    @pytest.mark.parametrize("name", INDEXED)
    def test_read(self, format, kind, name):
        data, of = parts(format, kind, A)
        check_reverse(lambda data: plain(INDEXED[name](of(data))), data)

    @pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
    @pytest.mark.parametrize("name", WRITES)
    def test_written(self, format, kind, name):
        data, of = parts(format, kind, A)
        check_reverse(lambda data, x: plain(WRITES[name](of(data.copy()), x)), data, X)


LISTS = sparse.lil_array(A)
COORDINATES = np.array([0, 0, 1, 1, 2, 0]), np.array([0, 0, 1, 2, 2, 0])
MADE = {
    "diags": (lambda a, b: sparse.diags([a, b], [0, 1]), Y, X),
    "diags of zeros": (lambda a: sparse.diags([a], [0]), np.array([1.0, 0.0, 2.0])),
    "spdiags": (lambda a: sparse.spdiags(a.reshape(1, 4), [0], 4, 4), Y),
    "eye": (lambda a: sparse.eye(3, format="csr") * a, 1.5),
    "kron": (lambda a: sparse.kron(sparse.csr_array(a.reshape(2, 2)), sparse.eye(2)), Y),
    "kronsum": (lambda a: sparse.kronsum(*[sparse.csr_array(a.reshape(2, 2))] * 2), Y),
    "dense": (lambda a: sparse.csr_array(a), DENSE),
    "dense, by columns": (lambda a: sparse.csc_matrix(a), DENSE),
    "dense block": (lambda a, b: sparse.hstack([sparse.csr_array(a), b]), DENSE, DENSE + 5),
    "twice": (lambda a: sparse.csr_array((a, COORDINATES)), reals(6)),
    "twice, added up": (
        lambda a: written(sparse.coo_array((a, COORDINATES)), lambda b: b.sum_duplicates()),
        reals(6),
    ),
    "not sorted": (
        lambda a: written(
            sparse.csr_array((a, np.array([2, 0, 0, 1]), np.array([0, 3, 4]))),
            lambda b: b.sum_duplicates(),
        ),
        Y,
    ),
    "lists, constant": (lambda x: LISTS @ x, X),
    "lists": (lambda a: sparse.csr_array(a).tolil().tocsr(), np.abs(A) + 0.5),
    "lists, of dense": (lambda a, x: sparse.lil_array(a) @ x, np.abs(A) + 0.5, X),
    "dict": (lambda a: sparse.csr_array(a).todok(), DENSE),
}


@pytest.mark.parametrize("name", MADE)
def test_made(name):
    f, *operands = MADE[name]
    check_reverse(lambda *xs: plain(f(*xs)), *operands)


@pytest.mark.parametrize("format", FORMATS)
def test_assembled(format):
    """Contributions to one entry are added up, as in finite elements."""
    check_reverse(
        lambda a, x: sparse.coo_array((a, COORDINATES), shape=(3, 3)).asformat(format) @ x,
        reals(6),
        X,
    )


def test_an_array_given_as_argument():
    """Its cotangent has its fields, that of the data on the pattern."""
    a = sparse.csr_array(A)
    a_bar, x_bar = ad.gradient(lambda a, x: (a @ x).sum(), a, X)
    rows, columns = a.nonzero()
    np.testing.assert_allclose(a_bar.data, X[columns])
    np.testing.assert_allclose(x_bar, A.sum(0))
    assert not a_bar.indices.any()


def test_a_pattern_that_is_not_kept_is_refused():
    a = sparse.csr_array(A)

    def of(data):
        return sparse.csr_array((data, a.indices.copy(), a.indptr.copy()), shape=a.shape)

    def difference(data):
        return (of(data) - a).data.sum()

    def without_zeros(data):
        return written(of(data), lambda a: a.eliminate_zeros()).sum()

    for f, x in (
        (lambda x: sparse.csr_array(x).sum(), A),
        (difference, a.data),
        (difference, a.data + (a.data > 1)),
        (without_zeros, a.data * (a.data > 1)),
    ):
        with pytest.raises(NoDerivativeError, match="zero here and are not stored"):
            ad.gradient(f, x)
    y = ad.gradient(lambda x: (sparse.csr_array(A) @ x).sum(), X)[0]  # of a constant it is not
    np.testing.assert_allclose(y, A.sum(0))


def test_blocks_that_cannot_be_followed_are_refused():
    data = reals(6)
    with pytest.raises(NoDerivativeError, match="the blocks"):
        ad.gradient(
            lambda a: sparse.hstack(
                [sparse.coo_array((a, COORDINATES)), sparse.eye(3)], format="csr"
            ).sum(),
            data,
        )


def test_more_than_two_axes_are_refused():
    if not hasattr(sparse.coo_array, "tensordot"):
        pytest.skip("arrays of two axes")
    coordinates = tuple(np.array(places) for places in ([0, 1], [1, 0], [0, 1]))

    def f(a, x):
        return (sparse.coo_array((a, coordinates), shape=(2, 2, 2)) @ x).sum()

    with pytest.raises(NoDerivativeError, match="more than two axes"):
        ad.gradient(f, X[:2] * 0, X[:2])
