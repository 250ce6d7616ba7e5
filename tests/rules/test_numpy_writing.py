"""The substitutes of functions that write into arrays: each does what its function does."""

import copy

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError
from adjoint.rulekit.registry import lookup
from tests.rules.harness import reals
from tests.support import check_reverse

X = reals(3, 4)
V = reals(5)
MASK = X > 0
CALLS = [
    (np.copyto, (X, 2.5)),
    (np.copyto, (X, V[:4])),
    (np.copyto, (X, V[:4], "same_kind", MASK)),
    (np.copyto, (X, V[:4], "same_kind", [1, 0, 2, 0])),
    (np.copyto, (X, V[:4], "same_kind", 1)),
    (np.copyto, (X, np.arange(4))),
    (np.copyto, (np.arange(3), np.arange(3.0), "unsafe")),
    ((np.ndarray, "fill"), (X, 1.5)),
    ((np.ndarray, "sort"), (X,)),
    ((np.ndarray, "sort"), (X, 0)),
    ((np.ndarray, "partition"), (V, 2)),
    ((np.ndarray, "put"), (X, [0, 5, -1], [1.0, 2.0])),
    ((np.ndarray, "put"), (X.T, [[3, 5], [1, 2]], V)),
    ((np.ndarray, "put"), (X, 7, 2.5)),
    ((np.ndarray, "put"), (X, [13, -14, 3], V, "wrap")),
    ((np.ndarray, "put"), (X, [13, -14, 3], V, "clip")),
    (np.putmask, (X, MASK, V)),
    (np.putmask, (X, MASK, 2.0)),
    (np.place, (X, MASK, V[:2])),
    (np.place, (V, V > 0, [1.0])),
    (np.place, (V, V > 9, [])),
]


@pytest.mark.parametrize("key, args", CALLS)
def test_substitute_does_the_same(key, args):
    expected, got = copy.deepcopy(args), copy.deepcopy(args)
    if isinstance(key, tuple):
        getattr(*key)(*expected)
    else:
        key(*expected)
    assert lookup(key).substitute(*got) is None
    np.testing.assert_array_equal(got[0], expected[0])


@pytest.mark.parametrize(
    "key, args, error",
    [
        (np.copyto, (np.arange(3), np.arange(3.0)), TypeError),
        ((np.ndarray, "put"), (np.zeros(3), [3], 1.0), IndexError),
        ((np.ndarray, "put"), (np.zeros(3), [-4], 1.0), IndexError),
        (np.place, (np.zeros(3), np.ones(3), []), ValueError),
    ],
)
def test_substitute_refuses_the_same(key, args, error):
    for call in (getattr(*key) if isinstance(key, tuple) else key, lookup(key).substitute):
        with pytest.raises(error):
            call(*copy.deepcopy(args))


def test_clip_into():
    out = np.zeros(5)
    assert lookup((np.ndarray, "clip")).substitute(V, -0.5, 0.5, out=out) is out
    np.testing.assert_array_equal(out, V.clip(-0.5, 0.5))


def copied(x, y):
    z = x * 2
    np.copyto(z, y * y, where=y > 0)
    return z


def filled(x, y):
    z = x * y
    z[1:3].fill(y[0])
    return z * x


def sorted_in_place(x, y):
    z = x * y
    z.sort()
    return z * y


def put(x, y):
    z = x * 1
    z.put([0, -1], y * y)
    np.put(z, 1, x[2] * y[0])
    return z * z


def placed(x, y):
    z = x * y
    np.place(z, x > 0, y[:2])
    np.putmask(z, y > 1, x * x)
    return z * x


def along_axis(x, y):
    z = x * y
    np.put_along_axis(z, np.array([1, 3]), y[:2] * x[0], 0)
    return z * z


def diagonal(x, y):
    z = np.multiply.outer(x, y)
    np.fill_diagonal(z, x * x)
    return z * z


def clipped(x, y):
    z = x * y
    z.clip(-0.6, 0.6, out=z)
    return z * x


@pytest.mark.parametrize(
    "f", [copied, filled, sorted_in_place, put, placed, along_axis, diagonal, clipped]
)
def test_gradient(f):
    check_reverse(f, reals(5, seed=2), reals(5, seed=3))


def test_numpy_source_that_writes():
    x = np.linspace(0.3, 9.0, 6) ** 2
    check_reverse(np.unwrap, x)
    check_reverse(np.corrcoef, reals(3, 5))
    assert ad.gradient(lambda v: np.unwrap(v).sum(), x)[0].tolist() == [1.0] * 6


def square(row):
    return row * row.sum()


def test_numpy_source_that_converts_its_operands():
    check_reverse(lambda x: np.apply_along_axis(square, 1, x), X)
    check_reverse(lambda x: np.apply_along_axis(np.sum, 0, x), X)


def test_what_is_put_before_an_index_that_is_out_of_bounds():
    def f(x):
        v = x * np.ones((2, 3))
        try:
            v.put([1, -1, 9, 0], [x * x, 2.0])
        except IndexError as error:
            assert str(error) == "index 9 is out of bounds for axis 0 with size 6"
        try:
            np.put(v, [-7], 1.0)
        except IndexError as error:
            assert str(error) == "index -7 is out of bounds for axis 0 with size 6"
        return np.sum(v * v)

    assert f(3.0) == 4 * 9 + 81 + 4
    check_reverse(f, 3.0)
    assert ad.derivative(f)(3.0) == 4 * 6 + 4 * 27


def test_a_write_that_fails_half_way_is_refused():
    def f(x, values):
        v = x * np.ones(3)
        try:
            v[:] = values(x)
        except ValueError:
            pass
        return v.sum()

    for find in (ad.derivative, ad.grad):
        with pytest.raises(MutationError, match="changed some elements"):
            find(f)(0.7, lambda x: [x * x, "a", 1.0])
        assert find(f)(0.7, lambda x: ["a", x, 1.0]) == 3.0
        assert find(f)(0.7, lambda x: [x, x]) == 3.0
