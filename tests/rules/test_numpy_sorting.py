"""Sorting, running sums and products, differences."""

import numpy as np
import pytest

from adjoint.rulekit.registry import rrule
from adjoint.testing import check_rule
from tests.rules.harness import case, complexes, reals, table

V = reals(6)
X = reals(3, 4)
X3 = reals(2, 3, 4, seed=1)
Z = complexes(3, 4)
SINGLE = reals(3, 4, dtype=np.float32)
HOLES = np.where(X > -0.5, X, np.nan)
ZEROS = np.array([[0.0, 2.0, 3.0], [1.5, 0.0, 0.0], [1.0, -2.0, 0.5]])
EMPTY = np.zeros((0, 3))

AXES = [
    (V,),
    (X,),
    (X, 0),
    (X, -1),
    case(X3, axis=1),
    (np.asfortranarray(X3)[:, ::2], 2),
    (Z, 0),
    (SINGLE, 1),
    ([1.0, 3.0, 2.0],),
    (EMPTY, 0),
    (2.5,),
    (np.arange(6).reshape(2, 3), 1),
]
SORTED = [
    (V,),
    (X,),
    (X, 0),
    case(X, axis=None),
    case(X3, axis=1),
    (Z,),
    (SINGLE,),
    ([3.0, 1.0, 2.0],),
    (EMPTY, 0),
    (np.array([3, 1, 2]),),
    case(V, kind="mergesort"),
]
CASES = {
    np.sort: SORTED,
    np.partition: [
        (V, 2),
        (X, 1),
        (X, 2, 0),
        case(X, 5, axis=None),
        (V, (1, 3)),
        (V, -1),
        ([3.0, 1.0, 2.0], 0),
    ],
    np.cumsum: [*AXES, case(SINGLE, dtype=np.float64)],
    np.cumprod: [*AXES, (ZEROS,), (ZEROS, 0), (ZEROS, 1), (np.where(Z.real > 0, Z, 0), 1)],
    np.nancumsum: [(HOLES,), (HOLES, 0), (X, 1)],
    np.nancumprod: [(HOLES,), (HOLES, 0), (X, 1)],
    np.diff: [
        (V,),
        case(np.zeros(0), append=np.zeros(0)),
        case(np.ones(2), n=3, append=np.ones(1)),
        (X,),
        (X, 2),
        (X, 1, 0),
        case(X3, n=2, axis=1),
        (Z,),
        (SINGLE,),
        ([1.0, 3.0, 2.0],),
        (V, 0),
        (V, 6),
        (V, 9),
        (X, 1, 0, 1.5),
        (X, 2, 1, X[:, :2], 2.5),
        (X, 1, -1, reals(3, 1, seed=3), X + 1),
        case(V, prepend=0.0),
        (V, 3, 0, [1.0], 2.0),
        (V, 0, -1, 1.0, 2.0),
    ],
    np.bincount: [
        (np.array([0, 2, 2, 1]), reals(4)),
        (np.array([0, 2]), [1.0, 2.0], 5),
        ([1, 0, 1],),
    ],
    np.histogram: [
        (V,),
        (V, 3),
        case(V, 4, weights=V * V),
        case(X, 3, weights=reals(3, 4, seed=5)),
        case(X, 3, weights=Z),
        case(np.float32([0.0, 1.0, 0.3, 0.7]), 2, weights=np.float32([1.0, 0.5, 2.0, 3.0])),
        case([1.0, 3.0, 2.0], [0.5, 1.5, 1.8, 2.5], weights=[1.0, 2.0, 4.0]),
        case(np.array([3, 1, 2, 5]), 3, weights=[1.0, 2.0, 4.0, 8.0]),
    ],
    np.ediff1d: [(V,), (X,), (V, 1.0), (V, [1.0, 2.0], 3.0), ([1.0, 4.0, 2.0],), (V, None, V + 1)],
}
if hasattr(np, "cumulative_sum"):
    CASES[np.cumulative_sum] = [
        (V,),
        case(X, axis=0),
        case(X3, axis=-1, include_initial=True),
        case(V, include_initial=True),
    ]
    CASES[np.cumulative_prod] = [
        (V,),
        case(ZEROS, axis=0),
        case(X3, axis=-1, include_initial=True),
        case(np.array(0.7), axis=0, include_initial=True),
    ]
test_rule = table(CASES)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("f", [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod])
def test_complex_numbers_cast_to_reals(f):
    check_rule(f, Z, dtype=np.float64)
    check_rule(f, Z, axis=1, dtype=np.float64)


def test_running_product_that_underflows():
    x = np.array([1e-200, 1e-200, 1e250])
    _, x_bar = rrule(np.cumprod, x)[1](np.ones(3))
    np.testing.assert_allclose(x_bar, [1 + 1e-200 + 1e50, 1e-200 + 1e50, 0.0], rtol=1e-12)


@pytest.mark.parametrize("f", [np.cumsum, np.cumprod])
def test_out_is_declined(f):
    assert rrule(f, np.ones(3), out=np.zeros(3)) is None


def test_equal_elements_keep_their_cotangents():
    _, x_bar = rrule(np.sort, np.array([2.0, 1.0, 2.0]))[1](np.array([10.0, 20.0, 30.0]))
    assert sorted(x_bar) == [10, 20, 30] and x_bar[1] == 10


def test_histograms_of_equal_elements():
    """Both ends are the common element, half a unit away."""
    _, back = rrule(np.histogram, np.ones(4), 2)
    _, bar, _ = back((None, np.array([1.0, 2.0, 4.0])))
    np.testing.assert_allclose(bar, np.full(4, 7 / 4))


def test_elements_at_the_edges_of_bins():
    edges, weights = np.array([0.0, 1.0, 2.0, 3.0]), np.arange(1.0, 7.0)
    a = np.array([0.0, 1.0, 1.5, 3.0, 2.0, -1.0])
    for bins, given in ((edges, a), (3, a[:5])):
        y, back = rrule(np.histogram, given, bins, weights=weights[: len(given)])
        bar = back((np.array([10.0, 20.0, 30.0]), None))[-1]["weights"]
        np.testing.assert_array_equal(bar, [10.0, 20.0, 20.0, 30.0, 30.0, 0.0][: len(given)])
        assert bar @ weights[: len(given)] == y[0] @ [10.0, 20.0, 30.0]
