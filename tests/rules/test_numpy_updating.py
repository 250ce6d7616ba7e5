"""What changes an array where it stands: ``ufunc.at``, shuffles."""

import random

import numpy as np
import pytest

import adjoint as ad
from tests.support import Sample, check_sample

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])


def check(f, *args):
    check_sample(Sample(f, args))


def added(x):
    y = x * x
    before = y.sum()
    np.add.at(y, [0, 1, 0, 2, 0], np.sin(np.append(x, x[0])))
    np.subtract.at(y, np.array([3, 3]), x[:2])
    np.add.at(y, slice(None, 2), x[3])
    return before * np.sum(y**3)


def added_in_place_to_the_argument(x):
    np.add.at(x, [1, 1, 2], x[0] * 2)
    return np.sum(x * x)


def added_to_a_view(m):
    a = m * 2.0
    np.add.at(a.T, ([0, 0, 2], [1, 1, 2]), m[1])
    np.add.at(a[1], a[0] > 0, [m[0, 0], m[0, 1]])
    np.add.at(a, (slice(None), [0, 0]), m[:, :2])
    np.add.at(a, 1, m[2])
    return np.sum(a * m)


def added_list(x):
    y = np.zeros(3)
    np.add.at(y, [0, 2], [x[0], x[1] * x[2]])
    np.add.at(y, [0, 2], 2.0)
    return np.sum(y**2)


def added_written(x):
    y, z = x.copy(), np.zeros(4)
    y[0] = x[1] * x[2]
    np.add.at(z, [0, 0, 1, 3], y)
    y[1] = 7.0
    return np.sum(z * z) + y[1]


def counted(x):
    counts = np.zeros(3, int)
    total = 0.0
    for k in (0, 2, 2):
        np.add.at(counts, [k, k], 1)
        total += (counts * x[:3]).sum() * x[3]
    return total


def multiplied(x):
    y = x + 2.0
    np.multiply.at(y, [0, 1, 0, 0], x)
    np.divide.at(y, [2, 2], np.exp(x[:2]))
    np.maximum.at(y, [3, 3, 1], [x[0], x[1] * 3, -5.0])
    np.power.at(y, [0], 2.0)
    np.negative.at(y, [1, 1, 2])
    return np.sum(y * x)


def multiplied_everywhere(m):
    a = m.copy()
    np.multiply.at(a, (slice(None), [0, 2, 0]), m)
    return np.sum(a * a)


@pytest.mark.parametrize(
    "f", [added, added_in_place_to_the_argument, added_list, added_written, counted, multiplied]
)
def test_at(f):
    check(f, X)


@pytest.mark.parametrize("f", [added_to_a_view, multiplied_everywhere])
def test_at_of_matrix(f):
    check(f, M)


def test_complex():
    def f(z):
        w = z * z
        np.add.at(w, [0, 0, 1], z[1:] * 1j)
        np.add.at(w.real, [1], np.abs(z[:1]))
        return np.sum(np.abs(w) ** 2)

    check(f, X * 1j + X[::-1])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add.at(x, [7], 1.0),
        lambda x: np.multiply.at(x, [7], 1.0),
        lambda x: np.add.at(x, [0, 1], np.ones(3)),
    ],
)
def test_refused_as_numpy_does(f):
    with pytest.raises((TypeError, ValueError, IndexError)) as expected:
        f(X.copy())
    with pytest.raises(expected.type):
        ad.pullback(f, X)


# ---- shuffles ------------------------------------------------------------------------------------


def shuffled(x):
    rng = np.random.default_rng(5)
    y = x * x
    rng.shuffle(y)
    return np.sum(y * x) + rng.random() * x[0]


def shuffled_axis(m):
    rng = np.random.default_rng(5)
    a = m * 2.0
    rng.shuffle(a, axis=1)
    rng.shuffle(a)
    return np.sum(a * m)


def shuffled_list(x):
    xs = [x[0], x[1] * 2, x[2], x[3]]
    np.random.default_rng(5).shuffle(xs)
    random.Random(3).shuffle(xs)
    return xs[0] * xs[1] + xs[2]


def shuffled_ragged(x):
    parts = [x[:1], x[1:], x * x[0], [x[2], x[1]]]
    np.random.default_rng(5).shuffle(parts)
    np.random.RandomState(5).shuffle(parts)
    first, second, third, fourth = map(np.sum, parts)
    return first * second**2 + third * np.sin(fourth)


def shuffled_the_old_way(x):
    state = np.random.RandomState(4)
    y = np.outer(x, x)
    state.shuffle(y)
    np.random.seed(4)  # noqa: NPY002
    z = x.copy()
    np.random.shuffle(z)  # noqa: NPY002
    random.seed(4)
    xs = list(z)
    random.shuffle(xs)
    return np.sum(y[1] * z) + xs[0] * xs[1]


def permuted(m):
    rng = np.random.default_rng(5)
    y = rng.permuted(m, axis=1)
    rng.permuted(m * m, out=y[:])
    return np.sum(y * m) + rng.permuted(m).ravel()[0] ** 2


@pytest.mark.parametrize("f", [shuffled, shuffled_list, shuffled_ragged, shuffled_the_old_way])
def test_shuffle(f):
    check(f, X)


def test_lists_are_shuffled_along_no_other_axis():
    def f(x):
        rows = [x, x * 2.0]
        np.random.default_rng(5).shuffle(rows, axis=1)
        return rows[0][0]

    with pytest.raises(NotImplementedError):
        f(X)
    with pytest.raises(NotImplementedError):
        ad.gradient(f, X)


@pytest.mark.parametrize("f", [shuffled_axis, permuted])
def test_shuffle_matrix(f):
    check(f, M)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.resize(2, 2),
        lambda a: a.byteswap(inplace=True),
        lambda a: a.byteswap(True),
        lambda a: a.setfield(1, np.int64),
    ],
)
def test_refused(change):
    def f(x):
        y = x * x
        change(y)
        return y.sum()

    with pytest.raises(ad.AdjointError):
        ad.gradient(f, X)


def test_flags():
    def f(x):
        y = x * x
        y.setflags(write=False)
        y.flags.writeable = True
        y[0] = x[1]
        return np.sum(y * y)

    check(f, X)
