"""The compiled functions of sparse arrays: products, sums of entries, pairs of arrays."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import _sparsetools as tools

from adjoint.errors import NoDerivativeError
from adjoint.rulekit.refusal import demand_entries
from adjoint.rulekit.registry import frule, lookup, rrule
from adjoint.rules.scipy.sparse.arrays import untraceable
from adjoint.rules.scipy.sparse.output_arrays import gathered, summed
from adjoint.rules.scipy.sparse.pairs import combined, unruled
from adjoint.rules.scipy.sparse.products import added_product, diagonal_product, multiplied
from adjoint.rules.scipy.sparse.sparsity import leaf
from adjoint.rules.scipy.sparse.zeros import nonzero_entries
from tests.rules.harness import complexes, reals, table

MASK = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]], bool)
A = np.where(MASK, reals(4, 3), 0)
B = np.where(np.roll(MASK, 1, 0), reals(4, 3, seed=1), 0)
CSR, CSC, COO = sparse.csr_array(A), sparse.csc_array(A), sparse.coo_array(A)
BSR = sparse.bsr_array(A, blocksize=(2, 1))
DIA = sparse.dia_array((reals(3, 4, low=0.5) + 1j * reals(3, 4, seed=2), [-1, 0, 2]), shape=(4, 3))
OTHER = sparse.csr_array(B)
SQUARE = sparse.csr_array(A @ A.T + np.eye(4))
TWICE = np.array([0, 3, 4]), np.array([1, 1, 0, 2]), reals(4)
X, Y, X2, Y2 = reals(3), reals(4), reals(3, 2), reals(4, 2)
ROWS = 4, 3, CSR.indptr, CSR.indices
COLUMNS = 4, 3, CSC.indptr, CSC.indices
PLACES = COO.nnz, COO.row, COO.col
BLOCKS = 2, 3, 2, 1, BSR.indptr, BSR.indices
DIAGONALS = 4, 3, 3, 4, DIA.offsets
NONE = ()
NOWHERE = np.zeros(0, np.int32)


def product(name, head, data, x, y):
    return (leaf(name), head, data, x, y)


def pair(name, a=CSR, b=OTHER, dtype=float):
    head = (4, 3, a.indptr, a.indices)
    return (leaf(f"csr_{name}_csr"), head, a.data, (b.indptr, b.indices), b.data, dtype)


OF_BLOCKS = sparse.bsr_array(B + MASK, blocksize=(2, 1))
CASES = {
    added_product: [
        product("csr_matvec", ROWS, CSR.data, X, Y),
        product("csr_matvec", ROWS, CSR.data, complexes(3), complexes(4)),
        product("csr_matvec", ROWS, CSR.data.astype(np.float32), *map(np.float32, (X, Y))),
        product("csr_matvec", (*ROWS[:3], np.append(CSR.indices, 2)), reals(CSR.nnz + 1), X, Y),
        product("csc_matvec", COLUMNS, CSC.data, X, Y),
        product("coo_matvec", PLACES, COO.data, X, Y),
        product("bsr_matvec", BLOCKS, BSR.data, X, Y),
        product("dia_matvec", DIAGONALS, DIA.data.real.copy(), X, Y),
        product("dia_matvec", DIAGONALS, DIA.data, X + 0j, Y + 0j),
        product("csr_matvecs", (4, 3, 2, *ROWS[2:]), CSR.data, X2.ravel(), Y2.ravel()),
        product("csc_matvecs", (4, 3, 2, *COLUMNS[2:]), CSC.data, X2.ravel(), Y2.ravel()),
        product("bsr_matvecs", (2, 3, 2, *BLOCKS[2:]), BSR.data, X2.ravel(), Y2.ravel()),
        product("csr_matvec", (4, 3, np.zeros(5, np.int32), NOWHERE), np.zeros(0), X, Y),
    ],
    gathered: [
        (tools.csr_todense, ROWS, CSR.data, NONE, reals(4, 3), NONE),
        (tools.coo_todense, (4, 3, *PLACES), COO.data, NONE, reals(12), (0,)),
        (tools.coo_todense, (4, 3, *PLACES), complexes(COO.nnz), NONE, complexes(12), (1,)),
        (tools.csr_diagonal, (0, *ROWS), CSR.data, NONE, np.zeros(3), NONE),
        (tools.csr_diagonal, (-1, *ROWS), CSR.data, NONE, np.zeros(3), NONE),
        (tools.csr_diagonal, (1, *ROWS), CSR.data, NONE, np.zeros(2), NONE),
        (tools.bsr_diagonal, (0, *BLOCKS), BSR.data.ravel(), NONE, np.zeros(3), NONE),
        (
            tools.csr_sample_values,
            (2, 3, *TWICE[:2]),
            TWICE[2],
            (4, np.array([0, 1, -2, 0], np.int32), np.array([1, 2, -2, 2], np.int32)),
            np.zeros(4),
            NONE,
        ),
    ],
    summed: [
        ((2, 3, *TWICE[:2]), TWICE[2]),
        (ROWS, complexes(CSR.nnz)),
    ],
    combined: [
        *(pair(name) for name in ("plus", "minus", "elmul", "maximum", "minimum")),
        pair("plus", CSR.astype(complex) * (1 + 2j), OTHER, complex),
        pair("eldiv", CSR, CSR + CSR),
        (
            tools.bsr_plus_bsr,
            BLOCKS,
            BSR.data.ravel(),
            (OF_BLOCKS.indptr, OF_BLOCKS.indices),
            OF_BLOCKS.data.ravel(),
            float,
        ),
    ],
    multiplied: [
        (
            tools.csr_matmat,
            (4, 3),
            (SQUARE.indptr, SQUARE.indices),
            SQUARE.data,
            (CSR.indptr, CSR.indices),
            CSR.data,
            (12, 12, float),
        ),
        (
            tools.csr_matmat,
            (4, 3),
            (SQUARE.indptr, SQUARE.indices),
            complexes(SQUARE.nnz),
            (CSR.indptr, CSR.indices),
            CSR.data,
            (12, 12, complex),
        ),
        (
            tools.bsr_matmat,
            (4, 2, 2, 2, 2, 1),
            (BSR.indptr, BSR.indices),
            BSR.data.ravel(),
            (np.array([0, 1, 3, 4], np.int32), np.array([0, 0, 1, 1], np.int32)),
            reals(8),
            (4, 16, float),
        ),
    ],
    nonzero_entries: [(reals(2, 3), np.array([4, 0]), NOWHERE)],  # others: the last test
    unruled: [(tools.expandptr, (4, CSR.indptr, np.zeros(CSR.nnz, np.int32)))],
    untraceable: [(reals(3), reals(3))],
}
if leaf("coo_matmat_dense") is not None:
    CASES[added_product] += [
        product("coo_matmat_dense", (COO.nnz, 2, *PLACES[1:]), COO.data, X2.ravel(), Y2)
    ]
if leaf("dia_matmat") is not None:
    CASES[diagonal_product] = [
        (DIAGONALS, DIA.data, (4, 2, 4, np.array([1, 0], DIA.offsets.dtype)), complexes(2, 4)),
    ]
if leaf("coo_todense_nd") is not None:
    CASES[gathered] += [
        (
            tools.coo_todense_nd,
            (np.array([1]), 2, 1, np.array([2, 0])),
            reals(2),
            NONE,
            reals(3),
            (0,),
        ),
    ]
test_rule = table(CASES)


@pytest.mark.parametrize("name", [name for name in dir(tools) if not name.startswith("_")])
def test_nothing_writes_unseen(name):
    """What a function of C writes is noticed only where it differs from what was there."""
    if name in ("cs_graph_components", "test_throw_error"):  # integers
        return
    rules = lookup(getattr(tools, name))
    assert rules is not None and (rules.substitute is not None or rules.inactive)


@pytest.mark.parametrize("name", ["plus", "minus"])
def test_entries_that_cancel_are_refused(name):
    b = sparse.csr_array(-A if name == "plus" else A)
    y, back = rrule(combined, *pair(name, CSR, b))
    assert y.size == 0 and back(y)[3] is not None
    far = sparse.csr_array(A + np.eye(4, 3) * 2)
    y, back = rrule(combined, *pair("minus", far, CSR))
    a_bar, b_bar = back(np.ones_like(y))[3::2]
    for bar in (a_bar, b_bar):
        with pytest.raises(NoDerivativeError, match="not stored"):
            demand_entries(bar)
    with pytest.raises(NoDerivativeError, match="not stored"):
        frule(
            combined,
            (None, None, np.ones(far.nnz), None, None, None),
            *pair("minus", far, CSR),
        )


def test_zeros_that_are_left_out_are_refused():
    x = reals(3) * [1, 0, 1]
    _, back = rrule(nonzero_entries, x, np.array([0, 2]), np.array([1]))
    bar = back(np.array([2.0, 3.0]))[1]
    np.testing.assert_array_equal(bar[[0, 2]], [2, 3])
    demand_entries(bar[[0, 2]])
    with pytest.raises(NoDerivativeError, match="not stored"):
        demand_entries(bar)
    dots = np.array([2.0, 0.0, 3.0]), None, None
    np.testing.assert_array_equal(
        frule(nonzero_entries, dots, x, np.array([0, 2]), np.array([1]))[1], [2, 3]
    )
    with pytest.raises(NoDerivativeError, match="not stored"):
        frule(nonzero_entries, (np.ones(3), None, None), x, np.array([0, 2]), np.array([1]))
