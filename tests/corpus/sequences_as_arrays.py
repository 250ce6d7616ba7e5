"""Ranges, deques, buffers and objects of list-like classes where NumPy takes an array."""

import array
import collections

import numpy as np

from tests.corpus.registry import case

X = 0.7


class Listed:
    """What NumPy takes for a list."""

    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


@case(X)
def ranges_written(x):
    a, b = np.zeros(3), np.zeros((2, 3))
    a[:] = range(3)
    b[0] = range(1, 4)
    np.copyto(b[1], range(3))
    return (a * x).sum() + (b * x * x).sum()


@case(X)
def ranges_of_ufuncs(x):
    y = np.add(range(3), x) * np.power(x, range(3)) + np.hypot(x, range(1, 4))
    y += range(3)
    return (y * np.maximum(range(3), x) * range(1, 4)).sum()


@case(X)
def ranges_in_lists(x):
    m = np.array([range(1, 3), [x, x * x]])
    return np.linalg.solve([range(1, 3), [x, x * x]], [1.0, 2.0]).sum() + np.mean(m * m)


@case(X)
def ranges_of_products(x):
    v = [x, x * x]
    return np.einsum("i,i", range(2), v) + np.dot(v, range(2)) * np.vdot(range(1, 3), v)


@case(X)
def ranges_of_functions(x):
    y = np.where([True, False], range(1, 3), x).sum() + np.concatenate([range(2), [x]]).sum()
    y = y + np.interp(x, range(3), [1, x, 2]) + np.bincount(range(3), weights=[x, 1, 2]).sum()
    y = y + np.choose(range(2), [[x, 1.0], [2.0, x * x]]).sum() + np.quantile(range(3), x)
    return (
        y + (np.broadcast_to(range(2), (2, 2)) * x).sum() * np.linspace(range(2), [x, x], 3).sum()
    )


@case(X)
def buffers(x):
    a = np.zeros(3)
    a[:] = array.array("d", [1.0, 2.0, 3.0])
    b = np.array([memoryview(np.arange(2.0)), [x, x * x]])
    return (a * x).sum() + (b * b).sum()


@case(X)
def deques_written(x):
    a = np.zeros((4, 3))
    a[0] = collections.deque([1.0, x, 3.0])
    a[1, [0, 2, 1]] = collections.deque([x, x * x, 2.0])
    a[2, np.array([True, False, True])] = collections.deque([1.0, x])
    np.copyto(a[3], collections.deque([x, x, 1.0]))
    return (a * a * x).sum()


@case(X)
def added_at_places(x):
    a = np.zeros(3) * x
    np.add.at(a, [0, 1, 1], collections.UserList([x, 1.0, x * x]))
    np.add.at(a, [0, 2, 1], Listed(x, 2.0, x * x))
    np.add.at(a, [2, 2, 1], collections.deque([x, 2.0, x * x]))
    np.subtract.at(a, [0, 0, 1], range(3))
    return (a * a).sum()


@case(X)
def deques_and_numpy_numbers(x):
    queue = collections.deque([x, 2.0])
    y = (queue - np.int64(2)).sum() * x + (np.float64(2) ** queue).sum() + sum(queue * np.int64(2))
    return y * (np.float64(x) + queue).sum() + (np.float64(x) * range(3)).sum()


class ListedNumber(Listed):
    def __float__(self):
        return 99.0


@case(X)
def listed_objects(x):
    m = np.array([ListedNumber(x, 2 * x), ListedNumber(x, x * x)], float)
    return (m * m).sum() * np.ones(2).dot(Listed(x, 2 * x))


@case(X)
def blocks_of_sequences(x):
    """Lists are places there, other sequences are arrays."""
    listed, user = Listed(x, 2.0 * x), collections.UserList([x * x, 1.0])
    queue = collections.deque([x, 2.0])
    y = np.block([listed, user, queue, range(2)])
    m = np.block([[user, listed], [queue, np.array([x, x])]])
    z = np.block(Listed(y, y))
    assert y.shape == (8,) and m.shape == (2, 4) and z.shape == (2, 8)
    return (y * y).sum() + (m[1] * m[0] * z[1, 4:]).sum()
