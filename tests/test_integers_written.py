"""Integers in arrays that are written are real numbers: their derivatives are those of floats."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import adjoint as ad


def into_an_element(a):
    a[0] = a[1] * 2
    return a.sum() * 1.0


def in_place(a):
    a *= 3
    a[1:] += a[:-1].copy()
    return (a * a).sum()


def into_a_copy(a):
    b = a.copy()
    b[0] = b[1]
    return (b * b).sum()


def into_one_made_inside(a):
    b = np.empty_like(a)
    for i in range(3):
        b[i] = a[i] * a[i]
    return b.sum()


def by_a_ufunc(a):
    np.add(a, a, out=a)
    return a.sum()


def at_places(a):
    b = np.zeros(3, a.dtype)
    np.add.at(b, [0, 0, 2], a)
    return (b * b).sum()


def through_views(a):
    rows = np.zeros((2, 3), a.dtype)
    rows[1, ::-1] = a
    rows.T[0] = a[0]
    return (rows.ravel() * np.arange(6)).sum()


def sorted_in_place(a):
    a.sort()
    return a[0] * a[2]


def counted(a):
    counts = np.zeros(3, int)
    for k in (0, 2, 2):
        counts[k] += 1
    return (counts * a).sum()


FUNCTIONS = (
    into_an_element, in_place, into_a_copy, into_one_made_inside, by_a_ufunc, at_places,
    through_views, sorted_in_place, counted,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [int, np.int32, np.int16, np.uint8])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_floats(f, dtype):
    def at(dtype):
        return np.array([3, 1, 2], dtype)

    expected = ad.grad(f)(at(float))
    for tier in ("fast", "generic"):
        assert_array_equal(ad.grad(f, tier=tier)(at(dtype)), expected)
    moved = [ad.pushforward(f, (at(dtype),), (along,))[1] for along in np.eye(3)]
    assert_array_equal(moved, expected)


def test_a_number_written_among_integers():
    def f(n):
        b = np.zeros(3, int)
        b[1:] = n
        return (b * b).sum()

    assert ad.gradient(f, 3) == (12.0,)


def test_what_is_rounded_has_no_derivative():
    def f(n, x):
        b = np.zeros(3, int)
        b[:] = x
        b[1] += n
        return (b * b).sum()

    assert ad.gradient(f, 3, 1.7) == (8.0, 0.0)


def test_the_argument_is_left_as_the_function_left_it():
    a = np.array([3, 1, 2])
    _, back = ad.pullback(into_an_element, a)
    for _ in range(2):
        assert_array_equal(back(1.0)[1], [0.0, 3.0, 1.0])
        assert a.tolist() == [2, 1, 2]
