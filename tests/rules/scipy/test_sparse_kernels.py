"""`adjoint.rules.scipy.sparse.kernels`: products and equations, of the stored numbers."""

import numpy as np
from scipy import sparse

from adjoint.rules.scipy.sparse.kernels import (
    diagonal_entries,
    diagonal_product,
    entry_products,
    product,
    solution,
    turned_diagonal_product,
)
from tests.rules.harness import complexes, reals, table

M, N = 4, 5
FULL = np.where(reals(M, N, seed=2) > -0.3, 1.0, 0.0)
SQUARE = np.where(reals(6, 6, seed=2) > 0.2, reals(6, 6), 0) + 4 * np.eye(6)
OFFSETS = np.array([1, 0, -2, 4, -3], np.int32)


def places(kind):
    """The two arrays of places of an array of each format."""
    a = getattr(sparse, f"{kind}_array")(FULL)
    return (a.row, a.col) if kind == "coo" else (a.indptr, a.indices)


def products(left, right, kinds=("csr", "csc", "coo")):
    """Of the entries and a vector or a matrix."""
    return [
        (left(len(places(kind)[1])), right(N, *more, seed=1), *places(kind), M, N, kind)
        for kind in kinds
        for more in ((), (3,), (1,))
    ]


def entries(draw, kinds=("csr", "csc", "coo")):
    return [
        (draw(M, *more), draw(N, *more, seed=1), *places(kind), M, N, kind)
        for kind in kinds
        for more in ((), (3,))
    ]


def unused(kind):
    """Places with space that is not used."""
    first, second = places(kind)
    return first, np.concatenate([second, second[:2]])


def solved(kind, draw, order, *more):
    a = getattr(sparse, f"{kind}_array")(SQUARE)
    data = a.data * (1 + 0.3j) if draw is complexes else a.data
    return data, draw(6, *more, seed=1), a.indptr, a.indices, 6, kind, order


def strips(draw, length, inner):
    """Operands of products with an array of diagonals, some of which lie outside."""
    return [
        (draw(len(OFFSETS), length), draw(inner, *more, seed=1), OFFSETS, M, N)
        for more in ((), (3,))
    ]


CASES = {
    product: [
        *products(reals, reals),
        *products(complexes, complexes),
        *products(reals, complexes, ("csr",)),
        *products(complexes, reals, ("coo",)),
        *((reals(len(unused(kind)[1])), reals(N, 2, seed=1), *unused(kind), M, N, kind)
          for kind in ("csr", "csc")),
    ],
    entry_products: [
        *entries(reals),
        *entries(complexes),
        (reals(M, 3), complexes(N, 3), *places("csc"), M, N, "csc"),
        *((reals(M, 2), reals(N, 2, seed=1), *unused(kind), M, N, kind) for kind in ("csr", "csc")),
    ],
    solution: [
        solved("csr", reals, None),
        solved("csc", reals, "COLAMD"),
        solved("csc", reals, "NATURAL", 2),
        solved("csr", reals, None, 3),
        solved("csr", complexes, None),
        solved("csc", complexes, "COLAMD", 2),
        (solved("csc", complexes, None)[0], *solved("csc", reals, None)[1:]),
        (solved("csc", reals, None)[0], *solved("csc", complexes, None)[1:]),
    ],
    diagonal_product: [
        *(call for n in (N, N - 2, N + 1) for call in strips(reals, n, N)),
        *strips(complexes, N, N),
    ],
    turned_diagonal_product: [
        *(call for n in (N, N - 2, N + 1) for call in strips(reals, n, M)),
        *strips(complexes, N, M),
    ],
    diagonal_entries: [
        (draw(M, *more), draw(N, *more, seed=1), OFFSETS, M, N, length)
        for draw in (reals, complexes)
        for length in (N, N - 2, N + 1)
        for more in ((), (3,))
    ],
}  # fmt: skip
test_rule = table(CASES)
