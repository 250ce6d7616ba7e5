"""Products of arrays and einsum."""

import numpy as np
import pytest

from adjoint.rulekit.registry import rrule
from adjoint.rules.numpy.einsum import parse
from adjoint.rules.numpy.products import core
from tests.rules.harness import case, complexes, reals, table

V = reals(4)
W = reals(4, seed=1)
A = reals(3, 4)
B = reals(4, 2, seed=1)
S = reals(4, 4, seed=2)
A3 = reals(2, 3, 4, seed=1)
B3 = reals(2, 4, 3, seed=2)
C = complexes(3, 4)
D = complexes(4, 2, seed=3)
SINGLE = reals(3, 4, dtype=np.float32)

CASES = {
    np.dot: [
        (V, W),
        (A, V),
        (reals(3), A),
        (A, B),
        (A3, V),
        (A3, B),
        (V, B3),
        (A, B3),
        (A3, B3),
        (2.0, 3.0),
        (2.0, A),
        (A, np.float64(2.0)),
        (C, D),
        (A, D),
        (complexes(4), complexes(4, seed=5)),
        (SINGLE, B.astype(np.float32)),
        (SINGLE, B),
        ([1.0, 2.0], [3.0, 4.0]),
        ([[1.0, 2.0]], [3.0, 4.0]),
        (np.asfortranarray(A), B.T[:, ::1].T),
        (np.zeros((0, 4)), B),
        (np.zeros((3, 0)), np.zeros((0, 2))),
        (np.arange(4), V),
        (np.array(2.0), V),
        (C, V),
        (reals(3), C),
    ],
    np.inner: [
        (V, W),
        (A, V),
        (V, A),
        (A, A + 1),
        (A3, A),
        (A3, A3 + 1),
        (2.0, A),
        (C, C + 1),
        ([1.0], [2.0]),
    ],
    np.outer: [
        (V, W),
        (A, V),
        (2.0, V),
        (C, V),
        ([1.0, 2.0], V),
        (SINGLE, SINGLE),
        (np.zeros(0), V),
    ],
    np.vdot: [
        (V, W),
        (A, A + 1),
        (C, C + 1j),
        (C, A),
        (A, C),
        (2.0, 3.0),
        ([1.0, 2.0], [3.0, 4.0]),
    ],
    np.tensordot: [
        (A, B, 1),
        (A, A + 1, 2),
        (A3, B3, ([1, 2], [2, 1])),
        (A3, B3, ((2, 0), (1, 0))),
        (A, V, 1),
        (V, W, 0),
        case(A3, reals(4, 3, 5), axes=([2, 1], [0, 1])),
        (C, D, 1),
        (A, A + 1),
        (A3, B, (-1, 0)),
        (A3, B3, ([0, 1, 2], [0, 2, 1])),
        (reals(2, 3, 2, 3), reals(3, 2, 2), ([3, 0], [0, 2])),
        ([1.0, 2.0], [3.0, 4.0], 1),
    ],
    np.kron: [
        (V, W),
        (A, B),
        (V, A),
        (A3, B),
        (2.0, A),
        (C, D),
        (A, 3.0),
        ([1.0, 2.0], V),
        (B, A3),
    ],
    np.cross: [
        (reals(3), reals(3, seed=1)),
        (reals(4, 3), reals(3, seed=1)),
        (reals(4, 3), reals(4, 3, seed=1)),
        case(reals(3, 4), reals(3, 4, seed=1), axis=0),
        case(reals(3, 4), reals(4, 3, seed=1), axisa=0, axisc=0),
        (complexes(3), complexes(3, seed=4)),
        (reals(1, 3), reals(5, 3, seed=1)),
        ([1.0, 2.0, 3.0], reals(3)),
        case(reals(2, 3, 4), reals(3, seed=1), axisa=1),
    ],
    np.convolve: [
        case(x, y, mode=mode)
        for mode in ("full", "same", "valid")
        for x, y in [
            (V, reals(3)),
            (reals(2), V),
            (V, W),
            (reals(5), reals(2)),
            (complexes(5), complexes(3, seed=4)),
        ]
    ]
    + [(V, [1.0, 2.0]), (V.astype(np.float32), W.astype(np.float32)), (V, 2.0), (C[0], V)],
    np.correlate: [
        case(x, y, mode=mode)
        for mode in ("full", "same", "valid")
        for x, y in [
            (V, reals(3)),
            (reals(2), V),
            (reals(3), V),
            (V, W),
            (reals(5), reals(2)),
            (reals(2), reals(5)),
            (complexes(5), complexes(3, seed=4)),
            (complexes(2), complexes(5, seed=4)),
        ]
    ]
    + [(V, [1.0, 2.0])],
    np.einsum: [
        ("ij,jk->ik", A, B),
        ("ij,jk", A, B),
        ("ji,jk", A, reals(3, 2)),
        ("ij->", A),
        ("ij->j", A),
        ("ij->ji", A),
        ("ij", A),
        ("ba", A),
        ("ii", S),
        ("ii->i", S),
        ("ii,i->i", S, V),
        ("iij->ij", reals(3, 3, 2)),
        ("iii->i", reals(3, 3, 3)),
        ("i,i", V, W),
        ("i,j->ij", V, W),
        ("i,j", V, W),
        (",i->i", 2.0, V),
        ("ij,ij->", A, A + 1),
        ("ij,ij->i", A, A + 1),
        ("...ij,...jk->...ik", A3, B3),
        ("...ij,jk->...ik", A3, B),
        ("...i,...i", A3, V),
        ("i...->...", A3),
        ("...ii->...i", reals(2, 3, 3)),
        ("...,...", A3, 2.5),
        ("...j,j...->...", A, reals(4, 3)),
        ("ij,j,i->", A, V, reals(3)),
        case("ij,jk,kl->il", A, B, reals(2, 3), optimize=True),
        case("ij->j", A, dtype=complex),
        case("ij,jk->k", A, B, dtype=complex, order="F"),
        case("ij->j", A, dtype=int, casting="unsafe"),
        case("ij,jk,kl->il", A, B, reals(2, 3), optimize="optimal"),
        ("ij,kj->ik", C, C + 1),
        ("ij,jk->ik", C, B),
        ("ij,ij->i", A, reals(3, 1)),
        ("ij,ij->j", reals(1, 4), A),
        (" i j , j k -> i k ", A, B),
        ("ik,jk->", A, A + 1),
        ("ij,k->ik", A, V),
        (A, [0, 1], B, [1, 2], [0, 2]),
        (A, [0, 1], B, [1, 2]),
        (A, [5, 1]),
        (S, [3, 3]),
        (A3, [Ellipsis, 1], V, [1], [Ellipsis]),
        ("ij,jk->ik", SINGLE, B.astype(np.float32)),
        ("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0]),
        ("ij,jk->ik", np.zeros((0, 4)), B),
        ("Ab,bC", A, B),
        ("bA,Cb", S, A),
        ("bij,bjk->bik", A3, B3),
    ],
}
CASES[core.multiarray.correlate] = [
    case(x, y, mode)
    for mode in (0, 1, 2, "full")
    for x, y in [(V, reals(3)), (V, reals(2)), (complexes(5), complexes(3, seed=4)), (V, V + 1)]
]
test_rule = table(CASES)


@pytest.mark.parametrize("f", [np.dot, np.outer, np.einsum])
def test_out_is_declined(f):
    operands = ("i,j", np.ones(2), np.ones(2)) if f is np.einsum else (np.ones(2), np.ones(2))
    assert rrule(f, *operands, out=np.zeros((2, 2))) is None


def test_labels():
    assert parse("ij,jk", [2, 2]) == ([[0, 1], [1, 2]], [0, 2])
    assert parse("...j,j", [3, 1]) == ([[1, 2, 0], [0]], [1, 2])
    assert parse("ba", [2]) == ([[1, 0]], [0, 1])


@pytest.mark.parametrize(
    "f, args",
    [
        (np.cross, (np.ones(3), np.ones(3), 4)),
        (np.einsum, ("ij,jk", np.ones(2), np.ones((2, 2)))),
        (np.tensordot, (np.ones((2, 3)), np.ones((2, 3)), ([0, 5], [0, 1]))),
        (np.dot, (np.ones(2), np.ones(3))),
        (np.kron, (np.ones(2), None)),
    ],
)
def test_errors_are_numpys_own(f, args):
    with pytest.raises(Exception) as expected:
        f(*args)
    try:
        applied = rrule(f, *args)
    except Exception as found:
        assert type(found) is expected.type and str(found) == str(expected.value)
    else:
        assert applied is None
