"""``x.flat`` of arrays of any layout."""

import operator

import numpy as np
import pytest

import adjoint as ad
from tests.support import Sample, check_sample

M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5]])


def read(m):
    t = m.T
    chosen = t.flat[[0, 5, 0]] + t.flat[np.array([1, 1, 2])] + t.flat[1:4]
    return np.sum(chosen) * t.flat[-1] + m.flat[2] * t.flat[t.flat[:] > 0.5].prod() + m.flat[...][3]


def iterated(m):
    total = 0.0
    for k, v in enumerate(m.T.flat):
        total += v * v * (k + 1)
    it = m.flat
    first, second = next(it), next(it)
    assert it.index == 2 and it.coords == (0, 2)
    return total * first * second + sum(it) + max(m.flat) + len(m.flat)


def written(m):
    a = m * 2.0
    before = a.sum()
    a.T.flat[1] = m[0, 0] * 3
    a.flat[2:5] = m[1] * a.flat[0]
    a.flat[[0, 5]] = m[0, 1:]
    a.T.flat[a.T.flat[:] > 1.0] = 0.5
    return before * np.sum(a * m) + a.flat[3] ** 2


def repeated_values(m):
    a = m * 1.0
    a.flat[::2] = m[0, :2]
    a.T.flat[:] = [m[1, 0], m[1, 1] * 2]
    a.flat[1::3] = m[0, 0]
    return np.sum(a * m)


def read_after_write(m):
    a = m * 1.0
    a[0] = m[1]
    total = a.flat[0] * a.T.flat[1]
    for v in a.flat:
        total = total + v * v
    return total


def put_back(m):
    """Subscripts move the iterator to the beginning."""
    a = m * 1.0
    it = a.flat
    next(it), next(it)
    total = it[1] * it[4]
    for v in it:
        total = total + v * v
    next_one = a.flat
    next(next_one)
    next_one[4] = m[0, 0] * m[1, 1]
    total = total * sum(next_one)
    sliced = a.flat
    next(sliced)
    part = sliced[1:3].sum()
    return total + part * sum(v * k for k, v in enumerate(sliced))


def left_behind(m):
    """What is written by a list of places leaves it where the last one is."""
    a = m * 1.0
    it = a.flat
    it[[2, 4]] *= m[0, 2]
    rest = sum(v * (k + 1) for k, v in enumerate(it))
    return rest * it.index + it.coords[0] * m[0, 0]


def as_array(m):
    a = m * 1.0
    flat = np.asarray(a.flat)
    flat[1] *= m[1, 2]
    return a.sum() * m[0, 0] + np.array(a.T.flat)[1] ** 2 + np.asarray(a.flat, dtype=float)[2]


def taken_for_an_array(m):
    a = m * 1.0
    it = a.T.flat
    next(it)
    total = np.sum(it) * np.max(a.flat) + np.dot(a.flat, np.arange(6.0)) * np.linalg.norm(it)
    it[3] = m[1, 1]
    return (total + np.multiply(a.flat, 2.0).sum() + np.concatenate([it, m[0]])[2] ** 2) * sum(it)


def diagonals(m):
    a = m @ m.T
    np.fill_diagonal(a.T, m[0])
    return np.sum(a * a)


def enumerated(m):
    return sum(v * v * (i + 2 * j) for (i, j), v in np.ndenumerate(m.T))


def special_methods(m):
    a = m * 1.0
    operator.setitem(a, 0, m[1])
    a.__setitem__(1, m[0])
    a.__iadd__(m)
    operator.imul(a, 2.0)
    return np.sum(a * m) * a.__getitem__((0, 1))


def attributes(m):
    z = m * 1j
    z.real = m * m
    z.imag[0] = m[1]
    a = m * 1.0
    a.flat = m[0] * 2
    return np.sum(z.real * z.imag * a)


def bases(m):
    a = m * 2.0
    total = np.sum(m.T.flat.base**2 * m.T)
    a.flat[0] = m[1, 1] ** 2
    a.flat.base[1] *= m[0, 0]
    one = np.sum(m * m).flat
    return total * np.sum(a * a) + one[0] * sum(one) + float(one.base)


@pytest.mark.parametrize(
    "f",
    [
        bases, read, iterated, written, repeated_values, read_after_write, diagonals, enumerated,
        special_methods, attributes, put_back, left_behind, as_array, taken_for_an_array,
    ],
)  # fmt: skip
def test_as_numpy_does(f):
    check_sample(Sample(f, (M,)))


@pytest.mark.parametrize("index", [9, -7, [0, 6], 1.5])
def test_refused_as_numpy_does(index):
    with pytest.raises((IndexError, TypeError)):
        ad.pullback(lambda m: m.flat[index], M)


@pytest.mark.parametrize(
    "x", [np.float64(1.3), np.float32(1.3), np.complex128(1.3 + 0.4j), np.array(1.3)]
)
def test_numbers_have_one_element(x):
    def f(x):
        y = x * 2.0
        it = x.flat
        return abs(sum(y.flat) * next(it)) + abs(list(x.flat)[0])

    value, (x_bar,) = ad.withgradient(f, x)
    plain, (expected,) = ad.withgradient(lambda x: abs(2.0 * x * x) + abs(x), x)
    assert value == plain and type(x_bar) is type(expected)
    np.testing.assert_allclose(x_bar, expected, rtol=1e-6)
