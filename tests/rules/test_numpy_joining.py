"""Functions that join arrays into one, or split one into several."""

from collections import deque

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table

V = reals(6)
W = reals(3, seed=1)
X = reals(3, 4)
Y = reals(3, 4, seed=1)
X3 = reals(2, 3, 4, seed=2)
Z = complexes(3, 4)
SINGLE = reals(3, 4, dtype=np.float32)
TURNED = np.asfortranarray(X)

CASES = {
    np.concatenate: [
        ([V, W],),
        ((X, Y[:1]),),
        ([X, Y[:, :2]], 1),
        case([X3, X3[:, :, :1]], axis=-1),
        case([X, V], axis=None),
        ([Z, X],),
        ([SINGLE, SINGLE],),
        ([SINGLE, X],),
        (X3,),
        ([[1.0, 2.0], (3.0,)],),
        ([np.zeros((0, 4)), X],),
        case([X, TURNED], dtype=np.float64),
        ([np.arange(3), W],),
        ([np.arange(3), np.arange(2)],),
        ([X],),
        (([0, -1], [3]),),
        ([np.arange(2), [1, 2]],),
    ],
    np.stack: [
        ([V, V + 1],),
        ((X, Y), 1),
        case([X, Y], axis=-1),
        ([1.0, 2.5, np.float64(3.0)],),
        ([[1.0, 2.0], [3.0, 4.0]], 1),
        (X3, 1),
        ([Z, X],),
        ([SINGLE, SINGLE], -2),
    ],
    np.vstack: [
        ([V, V + 1],),
        ((X, X[0]),),
        ([1.0, 2.0],),
        (X3,),
        ([X, Z],),
        ([[1.0], [[2.0], [3.0]]],),
    ],
    np.hstack: [([V, W],), ((X, X[:, :1]),), ([1.0, 2.0],), (X3,), ([1.0, V],), ([X3, X3 + 1],)],
    np.dstack: [([V, V + 1],), ((X, Y),), ([1.0, 2.0],), ([X3, X3 + 1],), ([X[:, :, None], Y],)],
    np.column_stack: [
        ([W, X],),
        ((W, W + 1),),
        ([[1.0, 2.0], [3.0, 4.0]],),
        ([X, W, Y],),
        (X3[0],),
    ],
    np.block: [
        ([[X, W[:, None]], [Y[:1], np.array([[1.0]])]],),
        ([V, W],),
        ([1.0, V],),
        ([[1.0, 2.0], [3.0, 4.0]],),
        (X,),
        ([[X, Z]],),
    ],
    np.split: [(V, 3), (V, [1, 4]), (X, 2, 1), case(X3, [1], axis=2), (Z, 3), (SINGLE, 2, 1)],
    np.array_split: [(V, 4), (V, [1, 4]), (X, 3, 1), (X, 5)],
    np.hsplit: [(V, 3), (X, 2), (X, [1, 1, 3])],
    np.vsplit: [(X, 3), (X3, 2)],
    np.dsplit: [(X3, 2)],
    np.meshgrid: [
        (V, W),
        (V[:2], W, [1.0, 2.0]),
        case(V, W, indexing="ij"),
        case(V, W, sparse=True),
        case(V, W[:2], [1.0], sparse=True, indexing="ij"),
        (V,),
        (1.5, W),
        (X, W),
        case(V, W, copy=False),
    ],
}
if hasattr(np, "unstack"):
    CASES[np.unstack] = [(X,), case(X3, axis=1), (Z,), (V,)]
test_rule = table(CASES)


def test_lists_are_split_as_numpy_does():
    """It takes the length of a list for that of any axis."""

    def f(x):
        parts = np.array_split([[x, 2.0, 3 * x], [4.0, 5.0, 6.0]], 2, axis=-1)
        return sum(part.sum() for part in parts)

    assert ad.withgradient(f, 1.5) == (f(1.5), (1.0,))
    parts = ad.gradient(lambda x: np.array_split([x, 2.0, 3 * x], 2)[1].sum() * x, 1.5)
    assert parts == (9.0,)


def test_parts_without_cotangent():
    y, back = rrule(np.split, np.arange(6.0), 3)
    _, x_bar, none = back([None, np.array([1.0, 2.0]), None])
    np.testing.assert_array_equal(x_bar, [0, 0, 1, 2, 0, 0])
    assert none is None
    y, back = rrule(np.meshgrid, np.arange(2.0), np.arange(3.0))
    _, a_bar, b_bar = back([None, np.ones((3, 2))])
    assert a_bar is None
    np.testing.assert_array_equal(b_bar, [2, 2, 2])


def test_cotangents_of_numbers_are_numbers():
    _, back = rrule(np.stack, (1.0, 2, np.float32(3.0)))
    a_bar, b_bar, c_bar = back(np.ones(3))[1]
    assert type(a_bar) is float and type(b_bar) is float and type(c_bar) is np.float32


@pytest.mark.parametrize("f", [np.concatenate, np.stack])
def test_out_is_declined(f):
    assert rrule(f, [np.ones(2), np.ones(2)], out=np.zeros((2, 2))) is None


def test_generators_are_declined():
    assert rrule(np.stack, iter([np.ones(2)])) is None


def test_rounded_to_integers_it_has_no_slope():
    y, back = rrule(np.concatenate, [W, [1.5]], dtype=int, casting="unsafe")
    np.testing.assert_array_equal(y, [*W.astype(int), 1])
    assert not any(bar is not None for bar in back(np.ones(4)))


@pytest.mark.parametrize(
    "f", [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack]
)
def test_the_parts_may_stand_in_a_deque(f):
    def total(x):
        return (f(deque([x, x * x, np.ones(2)])) ** 2).sum()

    x, h = np.array([1.5, 2.0]), 1e-6
    slope = [(total(x + h * e) - total(x - h * e)) / (2 * h) for e in np.eye(2)]
    for found in (ad.grad(total)(x), ad.grad(total, tier="generic")(x)):
        np.testing.assert_allclose(found, slope, rtol=1e-8)
    np.testing.assert_allclose(ad.jacobian_forward(total, x), slope, rtol=1e-8)
    np.testing.assert_allclose(ad.hessian(total, x), np.diag(2.0 + 12.0 * x**2), rtol=1e-12)
